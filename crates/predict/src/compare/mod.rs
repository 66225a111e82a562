//! Predictions beside measurements: throughput, utilization, mean and 95th percentile of response time, and the load line.
//!
//! Measured is what `characterize` wrote (its folder, or `result.json`), or what `loadline load --json` printed. The model
//! is evaluated at the same offered load, on as many CPUs.

mod read;
mod show;

use anyhow::{Result, anyhow, bail};
use loadline_model::language::Setting;
use loadline_model::run::in_parallel;
use serde::Serialize;

use crate::whatif::{LoadLine, Question};
pub use read::{MeasuredLine, read};
pub use show::{page, text};

/// One measured load.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measured {
    /// CPUs of the server, if known.
    pub cpus: Option<u32>,
    /// New sessions per second; of a closed program its load: rooms, warehouses.
    pub load: f64,
    /// Replies, or units of work, per second.
    pub throughput: f64,
    /// Share of its CPUs that the server used, if known.
    pub utilization: Option<f64>,
    /// Mean response time, in seconds.
    pub mean: f64,
    /// Its 95th percentile, in seconds.
    pub p95: f64,
}

/// A figure of both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Both {
    /// By the model.
    pub predicted: f64,
    /// Half the width of the prediction's 95% interval, by the intervals of what was fitted.
    pub ci95: f64,
    /// On the server.
    pub measured: f64,
    /// Predicted over measured, less 1; of a utilization the difference.
    pub error: f64,
}

/// One load, predicted and measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// CPUs, if known.
    pub cpus: Option<u32>,
    /// New sessions per second.
    pub load: f64,
    /// Replies per second.
    pub throughput: Both,
    /// Share of the CPUs in use.
    pub utilization: Option<Both>,
    /// Mean response time, in seconds.
    pub mean: Both,
    /// 95th percentile, in seconds.
    pub p95: Both,
    /// Why the model has no steady state there.
    pub problem: Option<String>,
}

/// A load line, predicted and measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lines {
    /// CPUs.
    pub cpus: u32,
    /// By the model, with the measurement's objective.
    pub predicted: Option<LoadLine>,
    /// New sessions per second, by `characterize`.
    pub measured: Option<f64>,
    /// The interval of that.
    pub interval: Option<(f64, f64)>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The model's title.
    pub title: String,
    /// What was measured.
    pub measured: String,
    /// What the load is counted in.
    pub load_unit: String,
    /// By CPUs and load.
    pub rows: Vec<Row>,
    /// By CPUs.
    pub load_lines: Vec<Lines>,
}

/// Evaluates the model at every measured load.
pub fn compare(
    q: &Question,
    measured: &[Measured],
    lines: &[MeasuredLine],
    what: &str,
) -> Result<Comparison> {
    let model = q.model(&[])?;
    for name in std::iter::once(q.load.as_str())
        .chain(measured.iter().any(|m| m.cpus.is_some()).then_some("cpus"))
    {
        if !model.parameters.contains_key(name) {
            bail!(
                "{}: the model has no parameter `{name}`, without which it cannot be held against this",
                q.file
            );
        }
    }
    let rows = in_parallel(measured.len(), q.workers, |i| row(q, &measured[i]))
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let mut load_lines = Vec::new();
    for &(cpus, objective, line, interval) in lines {
        let values = if cpus > 0 {
            vec![("cpus".to_owned(), cpus.to_string())]
        } else {
            Vec::new()
        };
        let asked = Question {
            p95: Some(objective),
            ..q.clone()
        };
        load_lines.push(Lines {
            cpus,
            predicted: asked.cell(values)?.load_line,
            measured: line,
            interval,
        });
    }
    Ok(Comparison {
        title: model.title,
        measured: what.to_owned(),
        load_unit: match q.load.as_str() {
            "rate" => "sessions/s".into(),
            name => name.to_owned(),
        },
        rows,
        load_lines,
    })
}

/// Models drawn within the intervals of what was fitted, for those of a prediction.
const DRAWS: usize = 6;

fn row(q: &Question, m: &Measured) -> Result<Row> {
    let mut values: Vec<Setting> = Vec::new();
    if let Some(cpus) = m.cpus {
        values.push(("cpus".into(), cpus.to_string()));
    }
    let figures = |values: &[Setting]| -> Result<([f64; 4], Option<String>)> {
        let answer = q.at(values, m.load)?;
        let all = answer
            .all
            .as_ref()
            .ok_or_else(|| anyhow!("{}: no answer", q.file))?;
        let machine = answer.stations.0.iter().find(|s| s.1.kind == "machine");
        let used = machine
            .and_then(|s| s.1.utilization)
            .map_or(f64::NAN, |u| u.value);
        let r = &all.response_time;
        Ok((
            [all.throughput.value, used, r.mean.value, r.p95],
            answer.problem,
        ))
    };
    let (central, problem) = figures(&values)?;
    let mut drawn = Vec::new();
    for draw in q.draws(&values, DRAWS)? {
        drawn.push(figures(&draw)?.0);
    }
    let both = |i: usize, measured: f64| {
        let n = drawn.len() as f64;
        let mean = drawn.iter().map(|d| d[i]).sum::<f64>() / n.max(1.0);
        let variance =
            drawn.iter().map(|d| (d[i] - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        Both {
            predicted: central[i],
            ci95: 1.96 * variance.sqrt(),
            measured,
            error: if i == 1 {
                central[i] - measured
            } else {
                central[i] / measured - 1.0
            },
        }
    };
    Ok(Row {
        cpus: m.cpus,
        load: m.load,
        throughput: both(0, m.throughput),
        utilization: m.utilization.map(|u| both(1, u)),
        mean: both(2, m.mean),
        p95: both(3, m.p95),
        problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "[parameters]\nrate = 10\ncpus = 1\n[stations.s]\nservers = \"cpus\"\n[classes.r]\nrate = \"rate\"\nprogram = [ { visit = \"s\", time = \"exp(10ms)\" } ]\n";

    fn question() -> Question {
        Question {
            text: MODEL.into(),
            file: "m.toml".into(),
            settings: Vec::new(),
            load: "rate".into(),
            schedule: None,
            p95: None,
            over: Vec::new(),
            sensitivities: false,
            find: None,
            requests: 60_000,
            seed: 1,
            workers: 2,
        }
    }

    /// M/M/1 with 10 ms at 50/s: 20 ms on average, and 20 ln 20 = 59.9 ms for 95%.
    #[test]
    fn errors_are_those_of_the_prediction_beside_what_was_measured() {
        let measured = [Measured {
            cpus: Some(1),
            load: 50.0,
            throughput: 50.0,
            mean: 0.025,
            p95: 0.0599,
            ..Measured::default()
        }];
        let c = compare(&question(), &measured, &[], "t").expect("compares");
        let row = &c.rows[0];
        assert!(
            (row.mean.error + 0.2).abs() < 0.03 && row.p95.error.abs() < 0.05,
            "{row:?}"
        );
        assert!(row.throughput.error.abs() < 0.02 && row.utilization.is_none());
        assert!(
            text(&c).contains("-20") || text(&c).contains("-19") || text(&c).contains("-21"),
            "{}",
            text(&c)
        );
        assert!(page(&c).contains("<svg"));
    }

    #[test]
    fn a_load_of_another_kind_is_called_by_its_parameter() {
        let closed = MODEL
            .replace("rate = 10", "users = 1")
            .replace("rate = \"rate\"", "clients = \"users\"");
        let asked = Question {
            text: closed,
            load: "users".into(),
            ..question()
        };
        let measured = [Measured {
            load: 4.0,
            throughput: 100.0,
            mean: 0.04,
            p95: 0.08,
            ..Measured::default()
        }];
        let c = compare(&asked, &measured, &[], "t").expect("compares");
        // Four users of one server without thinking: 100/s, and each waits for all four.
        assert!(c.rows[0].throughput.error.abs() < 0.02 && c.rows[0].mean.error.abs() < 0.05);
        let said = text(&c);
        assert!(
            said.contains("users") && !said.contains("sessions/s"),
            "{said}"
        );
    }

    #[test]
    fn what_is_no_measurement_is_refused_by_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("x.json");
        std::fs::write(&file, "{\"a\": 1}").expect("written");
        let e = read(&file).expect_err("refused").to_string();
        assert!(
            e.contains("x.json") && e.contains("loadline load --json"),
            "{e}"
        );
        std::fs::write(&file, "{\"counts\": [], \"format\": 1}").expect("written");
        assert!(
            read(&file)
                .expect_err("refused")
                .to_string()
                .contains("format 1")
        );
        let load = "{\"seconds\": 10, \"sessions\": {\"started\": 50}, \"replies_per_s\": 45, \"response\": {\"mean_ms\": 2, \"p95_ms\": 5}}";
        std::fs::write(&file, load).expect("written");
        let (points, lines) = read(&file).expect("read");
        assert_eq!(
            (points[0].load, points[0].p95, lines.len()),
            (5.0, 0.005, 0)
        );
    }
}
