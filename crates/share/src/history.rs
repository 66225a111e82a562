//! The accounting over time, as a CSV file: a row for each application and interval. Rows add up to a bill.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use loadline_plot::{Chart, Series};
use loadline_policy::Cpus;

use crate::ShareError;
use crate::account::Account;
use crate::applications::App;

const HEADER: &str = "time,application,id,priority,wants,has,seconds,assigned_cpu_s,used_cpu_s,waited_cpu_s,lacked_cpu_s,goodput,p95_ms";

/// One application over one interval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Its end, in seconds since 1970.
    pub time: f64,
    pub application: String,
    pub id: u32,
    pub priority: f64,
    /// At its end.
    pub wants: f64,
    pub has: f64,
    /// Within it.
    pub account: Account,
    pub goodput: Option<f64>,
    pub p95_ms: Option<f64>,
}

impl Row {
    pub(crate) fn of(app: &App, wants: Cpus) -> Row {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Row {
            time: now.map_or(0.0, |d| d.as_secs_f64()),
            application: app.name.clone(),
            id: app.id,
            priority: app.demand.priority,
            wants: wants.as_f64(),
            has: app.has.lane.told.as_f64(),
            account: app.account.since(&app.told_history),
            goodput: app.reported.goodput,
            p95_ms: app.reported.p95_ms,
        }
    }
}

pub(crate) fn row(r: &Row) -> String {
    let or_empty = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
    let a = &r.account;
    format!(
        "{:.3},{},{},{},{},{},{:.3},{:.3},{:.3},{:.3},{:.3},{},{}\n",
        r.time,
        r.application,
        r.id,
        r.priority,
        r.wants,
        r.has,
        a.seconds,
        a.assigned,
        a.used,
        a.waited,
        a.lacked,
        or_empty(r.goodput),
        or_empty(r.p95_ms)
    )
}

/// Whether a file can be appended to: a new one gets its header, one that is something else is refused.
pub(crate) fn check(path: &Path) -> Result<(), ShareError> {
    match fs::read_to_string(path) {
        Ok(text) if text.is_empty() || text.starts_with(HEADER) => {}
        Ok(_) => {
            return Err(ShareError::failed(format!(
                "{} is no history of this version: name another file",
                path.display()
            )));
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(ShareError::on(path)(e)),
    }
    append(path, "")
}

pub(crate) fn append(path: &Path, rows: &str) -> Result<(), ShareError> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(ShareError::on(path))?;
    let empty = file.metadata().map_err(ShareError::on(path))?.len() == 0;
    let text = if empty {
        format!("{HEADER}\n{rows}")
    } else {
        rows.to_owned()
    };
    file.write_all(text.as_bytes())
        .map_err(ShareError::on(path))
}

/// A history that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    rows: Vec<Row>,
}

/// What an application had over the whole of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    /// Its name.
    pub application: String,
    /// Its sums.
    pub account: Account,
}

impl History {
    /// Of a file, from `since` (seconds since 1970) on. Errors name the line.
    pub fn read(path: &Path, since: f64) -> Result<History, ShareError> {
        let text = fs::read_to_string(path).map_err(ShareError::on(path))?;
        let mut rows = Vec::new();
        if text.lines().next() != Some(HEADER) {
            return Err(ShareError::failed(format!(
                "{} is no history of this version",
                path.display()
            )));
        }
        for (i, line) in text.lines().enumerate().skip(1) {
            let row = parse(line).ok_or_else(|| {
                ShareError::failed(format!("{}:{}: no row of a history", path.display(), i + 1))
            })?;
            if row.time >= since {
                rows.push(row);
            }
        }
        Ok(History { rows })
    }

    /// Sums by application, in the order of names.
    pub fn totals(&self) -> Vec<Totals> {
        let mut by_name: BTreeMap<&str, Account> = BTreeMap::new();
        for row in &self.rows {
            let a = by_name.entry(&row.application).or_default();
            a.seconds += row.account.seconds;
            a.assigned += row.account.assigned;
            a.used += row.account.used;
            a.waited += row.account.waited;
            a.lacked += row.account.lacked;
        }
        let totals = |(name, account): (&str, Account)| Totals {
            application: name.into(),
            account,
        };
        by_name.into_iter().map(totals).collect()
    }

    /// Its rows as they were written, with the header.
    pub fn csv(&self) -> String {
        let rows: String = self.rows.iter().map(row).collect();
        format!("{HEADER}\n{rows}")
    }

    /// CPUs assigned and used over time, as an SVG file's text; None if there is nothing to draw.
    pub fn plot(&self) -> Option<String> {
        let first = self
            .rows
            .iter()
            .map(|r| r.time - r.account.seconds)
            .reduce(f64::min)?;
        let mut names: Vec<&str> = self.rows.iter().map(|r| r.application.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut series = Vec::new();
        for (colour, name) in names.iter().enumerate() {
            let rows = || {
                self.rows
                    .iter()
                    .filter(|r| r.application == **name && r.account.seconds > 0.0)
            };
            let at = |f: fn(&Account) -> f64| {
                rows()
                    .map(move |r| (r.time - first, f(&r.account) / r.account.seconds))
                    .collect::<Vec<_>>()
            };
            series.push(
                Series::line(format!("{name}: assigned"), at(|a| a.assigned)).coloured(colour % 6),
            );
            series.push(Series::area(format!("{name}: used"), at(|a| a.used)).coloured(colour % 6));
        }
        let chart = Chart {
            title: "CPUs by application".into(),
            unit: "CPUs".into(),
            x_label: "seconds".into(),
            x_unit: " s".into(),
            series,
            ..Chart::default()
        };
        Some(chart.drawing()?.file())
    }
}

fn parse(line: &str) -> Option<Row> {
    let mut f = line.split(',');
    let mut next = || f.next();
    let number = |text: Option<&str>| text?.parse::<f64>().ok().filter(|v| v.is_finite());
    let or_none = |text: &str| {
        if text.is_empty() {
            Some(None)
        } else {
            number(Some(text)).map(Some)
        }
    };
    Some(Row {
        time: number(next())?,
        application: next()?.to_owned(),
        id: next()?.parse().ok()?,
        priority: number(next())?,
        wants: number(next())?,
        has: number(next())?,
        account: Account {
            seconds: number(next())?,
            assigned: number(next())?,
            used: number(next())?,
            waited: number(next())?,
            lacked: number(next())?,
        },
        goodput: or_none(next()?)?,
        p95_ms: or_none(next()?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(time: f64, application: &str, assigned: f64) -> Row {
        Row {
            time,
            application: application.into(),
            id: 1,
            priority: 2.0,
            wants: 1.5,
            has: 1.0,
            account: Account {
                seconds: 10.0,
                assigned,
                used: 4.0,
                waited: 0.5,
                lacked: 5.0,
            },
            goodput: Some(41.5),
            p95_ms: None,
        }
    }

    #[test]
    fn rows_are_read_as_they_were_written_and_add_up() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("history.csv");
        check(&path).expect("new");
        let rows = [
            sample(100.0, "shop", 10.0),
            sample(110.0, "shop", 20.0),
            sample(110.0, "batch", 7.0),
        ];
        for r in &rows {
            append(&path, &row(r)).expect("appended");
        }
        check(&path).expect("ours");
        let history = History::read(&path, 0.0).expect("read");
        assert_eq!(history.rows, rows);
        let totals = history.totals();
        assert_eq!(
            (totals[0].application.as_str(), totals[0].account.assigned),
            ("batch", 7.0)
        );
        assert_eq!(
            (totals[1].account.assigned, totals[1].account.seconds),
            (30.0, 20.0)
        );
        assert_eq!(History::read(&path, 105.0).expect("read").rows.len(), 2);
        assert_eq!(
            history.csv(),
            std::fs::read_to_string(&path).expect("readable")
        );
        let plot = history.plot().expect("a plot");
        assert!(
            plot.starts_with("<svg") && plot.contains("shop: assigned"),
            "{plot}"
        );
    }

    #[test]
    fn what_is_no_history_is_refused_with_its_line() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.csv");
        std::fs::write(&path, "a,b\n").expect("written");
        assert!(check(&path).is_err() && History::read(&path, 0.0).is_err());
        std::fs::write(&path, format!("{HEADER}\n1,shop,x\n")).expect("written");
        let e = History::read(&path, 0.0)
            .expect_err("a broken row")
            .to_string();
        assert!(e.contains("x.csv:2"), "{e}");
    }
}
