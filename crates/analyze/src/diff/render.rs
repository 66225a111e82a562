//! The comparison as text.

use super::judge::{Change, ENOUGH, Verdict};
use super::measures::{CODE, WAITING};
use super::{Diff, Lone};
use crate::report::page::wrap;
use crate::report::table::{Align, Table, fit, ms};

/// Widest name in the table; longer ones are shortened at the side that tells less.
const NAME: usize = 46;
/// Changes that are listed although they are noise.
const NOISE: usize = 5;
/// A relative change that nobody takes for noise.
const LARGE: f64 = 1.0;
/// What one side alone has, at most.
const LONE: usize = 5;
/// Columns of a line.
const LINE: usize = 98;

/// From the most to the least specific: what a change is named after when several are sure.
const SPECIFIC: [&str; 10] = [
    "sql",
    "service called",
    "lock",
    CODE,
    WAITING,
    "handshake",
    "vm",
    "endpoint",
    "phase",
    "cause",
];

/// A relative change; `any` where it has no end.
pub fn percent(change: f64) -> String {
    if change.is_infinite() {
        return "any".into();
    }
    if change >= 9.995 {
        return format!("×{:.0}", change + 1.0);
    }
    let p = change * 100.0;
    let digits = if p.abs() < 9.95 { 1 } else { 0 };
    format!("{p:+.digits$}%")
}

/// What changed, in one sentence.
pub fn summary(verdict: &Verdict, only: &[Vec<Lone>; 2]) -> String {
    changed(verdict) + &alone(only)
}

/// The code, the statement or the lock of one side only that takes most: what is new, or no longer there, is no change of a mean.
fn alone(only: &[Vec<Lone>; 2]) -> String {
    let of = |side: usize| {
        only[side]
            .iter()
            .filter(|l| [CODE, "sql", "lock"].contains(&l.kind))
            .map(move |l| (side, l))
    };
    let most = of(0)
        .chain(of(1))
        .max_by(|(_, a), (_, b)| a.total_ms.total_cmp(&b.total_ms));
    let Some((side, of)) = most else {
        return String::new();
    };
    let is = if of.kind == "lock" {
        "is waited for"
    } else {
        "runs"
    };
    format!(
        "; {} {is} only {}, {} {}",
        fit(&of.name, 60),
        ["before", "now"][side],
        ms(of.mean),
        of.unit
    )
}

fn changed(verdict: &Verdict) -> String {
    let mut real: Vec<&Change> = verdict.real().collect();
    let common = if (verdict.common - 1.0).abs() >= 0.03 && verdict.changes.len() >= 8 {
        format!(
            "most of what was compared changed by {}, the host's speed or the load; besides, ",
            percent(verdict.common - 1.0)
        )
    } else {
        String::new()
    };
    let rank = |c: &Change| {
        SPECIFIC
            .iter()
            .position(|k| *k == c.kind)
            .unwrap_or(SPECIFIC.len())
    };
    real.sort_by(|a, b| {
        let amount = |c: &Change| (c.change * c.weight).abs();
        rank(a).cmp(&rank(b)).then(amount(b).total_cmp(&amount(a)))
    });
    let Some(first) = real.first() else {
        return format!("{common}nothing changed by more than noise");
    };
    let others = match real.len() - 1 {
        0 => String::new(),
        1 => ", and one more change that is more than noise".into(),
        n => format!(", and {n} more changes that are more than noise"),
    };
    let [low, high] = first.interval;
    format!(
        "{common}{} {} takes {} ({} to {}): {} {} before, {} now{others}",
        first.kind,
        fit(&first.name, 60),
        percent(first.change),
        percent(low),
        percent(high),
        ms(first.before),
        first.unit.split(" per ").next().unwrap_or_default(),
        ms(first.now),
    )
}

impl Diff {
    /// For people: the sentence, what else differs, then changes and what is not one.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for line in wrap(&self.summary, LINE) {
            out += &line;
            out.push('\n');
        }
        for (side, label) in self.recordings.iter().zip(["before", "now"]) {
            for r in side {
                out += &format!(
                    "  {label:<7} {}   {:.1} s, {:.0} requests/s\n",
                    r.trace, r.seconds, r.requests_per_s
                );
            }
        }
        for line in &self.circumstances {
            out += &format!("  differs  {line}\n");
        }
        let v = &self.verdict;
        if (v.common - 1.0).abs() >= 0.005 {
            out += &format!(
                "  common   {}: taken out of every change below\n",
                percent(v.common - 1.0)
            );
        }
        let real = v.real().count();
        if real > 0 {
            out += "\nchanges that are more than noise\n";
            out += &table(v.real()).render("  ");
        }
        let noise: Vec<&Change> = v.changes.iter().filter(|c| !c.real).take(NOISE).collect();
        if !noise.is_empty() {
            out += &format!(
                "\nnot told from noise: {} more{}\n",
                v.changes.len() - real,
                if v.changes.len() - real > noise.len() {
                    ", the surest of them"
                } else {
                    ""
                }
            );
            let large = noise.iter().any(|c| c.change.abs() >= LARGE);
            out += &table(noise.into_iter()).render("  ");
            if large && self.recordings.iter().any(|side| side.len() < ENOUGH) {
                out += "  What two recordings differ by anyway is guessed from all changes here; three of each side measure it.\n";
            }
        }
        for (lone, side) in self.only.iter().zip(["before", "now"]) {
            if lone.is_empty() {
                continue;
            }
            out += &format!("\nonly {side}\n");
            let mut table = Table::new([
                ("what", Align::Left),
                ("", Align::Left),
                ("mean", Align::Right),
                ("unit", Align::Left),
            ]);
            for l in lone.iter().take(LONE) {
                table.row([
                    l.kind.to_owned(),
                    fit(&l.name, NAME),
                    ms(l.mean),
                    l.unit.to_owned(),
                ]);
            }
            out += &table.render("  ");
            if lone.len() > LONE {
                out += &format!("  and {} more\n", lone.len() - LONE);
            }
        }
        if v.too_few > 0 {
            out += &format!("\ntoo few occurrences to compare: {}\n", v.too_few);
        }
        out
    }
}

fn table<'a>(changes: impl Iterator<Item = &'a Change>) -> Table {
    let mut table = Table::new([
        ("what", Align::Left),
        ("", Align::Left),
        ("before", Align::Right),
        ("now", Align::Right),
        ("change", Align::Right),
        ("95% interval", Align::Right),
        ("unit", Align::Left),
    ]);
    for c in changes {
        let [low, high] = c.interval;
        table.row([
            c.kind.to_owned(),
            fit(&c.name, NAME),
            ms(c.before),
            ms(c.now),
            percent(c.change),
            format!("{} to {}", percent(low), percent(high)),
            if c.rare {
                format!("{}, median", c.unit)
            } else {
                c.unit.to_owned()
            },
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_of_a_statement_that_only_one_side_has() {
        let lone = |kind, name: &str, mean, total_ms| Lone {
            kind,
            name: name.into(),
            unit: "ms per call",
            mean,
            total_ms,
        };
        let nothing = Verdict {
            common: 1.0,
            drift: 0.0,
            changes: Vec::new(),
            too_few: 0,
        };
        let now = vec![
            lone(WAITING, "pool.borrow", 9.0, 9000.0),
            lone("sql", "SELECT said FROM reminder", 45.0, 4500.0),
            lone("sql", "SELECT 1", 0.1, 10.0),
        ];
        assert_eq!(
            summary(&nothing, &[Vec::new(), now]),
            "nothing changed by more than noise; SELECT said FROM reminder runs only now, 45.0 ms per call"
        );
        let before = vec![lone("lock", "shop.Stock", 12.0, 12_000.0)];
        assert!(
            summary(&nothing, &[before, Vec::new()])
                .ends_with("; shop.Stock is waited for only before, 12.0 ms per call")
        );
    }
}
