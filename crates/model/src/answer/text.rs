//! An answer as text for a terminal: what matters first, times in the unit that fits.

use super::{Answer, StationAnswer};
use crate::sweep::Sweep;
use loadline_stats::Estimate;
use std::fmt::Write;

/// A time in the unit that fits.
fn time(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-".into();
    }
    let (value, unit) = match seconds.abs() {
        0.0 => return "0".into(),
        s if s < 1e-6 => (seconds * 1e9, "ns"),
        s if s < 1e-3 => (seconds * 1e6, "µs"),
        s if s < 1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    format!("{} {unit}", short(value))
}

/// Four significant digits at most.
fn short(x: f64) -> String {
    if !x.is_finite() {
        return "-".into();
    }
    match x.abs() {
        a if a >= 1000.0 => format!("{x:.0}"),
        a if a >= 100.0 => format!("{x:.1}"),
        a if a >= 1.0 => format!("{x:.2}"),
        a if a >= 0.001 || a == 0.0 => format!("{x:.4}"),
        _ => format!("{x:.2e}"),
    }
}

fn with_interval(e: &Estimate, show: impl Fn(f64) -> String) -> String {
    if e.ci95 > 0.0 && e.ci95.is_finite() {
        format!("{} ±{:.1}%", show(e.value), 100.0 * e.relative())
    } else {
        show(e.value)
    }
}

fn optional(e: &Option<Estimate>) -> String {
    e.as_ref().map_or_else(|| "-".into(), |e| time(e.value))
}

/// An answer as a page of text.
pub fn answer_text(answer: &Answer) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(format!("  {}", answer.title));
    if !answer.parameters.is_empty() {
        let list: Vec<String> = answer
            .parameters
            .0
            .iter()
            .map(|(k, v)| format!("{k} {v}"))
            .collect();
        line(format!("  {}", list.join("   ")));
    }
    line(match &answer.run {
        None => format!("  by {}", answer.solver),
        Some(run) => {
            let warm = run.warm_up_seconds.map_or_else(
                || "no end of warm-up found".into(),
                |w| format!("warm-up {} cut off", time(w)),
            );
            format!(
                "  by {}: {} requests in {} simulated, {warm}, seed {}{}",
                answer.solver,
                run.requests,
                time(run.simulated_seconds),
                run.seed,
                if run.replications > 1 {
                    format!(", {} replications", run.replications)
                } else {
                    String::new()
                },
            )
        }
    });
    if let Some(problem) = &answer.problem {
        line(String::new());
        line(format!("  {}", problem.replace('\n', "\n  ")));
        line("  what follows describes the run until then, not a steady state".into());
    }
    line(String::new());
    let header = [
        "class",
        "throughput/s",
        "response",
        "p50",
        "p95",
        "p99",
        "in system",
    ];
    line(columns(
        &header.map(String::from),
        &[16, 18, 18, 10, 10, 10, 10],
    ));
    for (name, c) in &answer.classes.0 {
        let r = &c.response_time;
        let row = [
            name.clone(),
            with_interval(&c.throughput, short),
            with_interval(&r.mean, time),
            time(r.p50),
            time(r.p95),
            time(r.p99),
            short(c.in_system.value),
        ];
        line(columns(&row, &[16, 18, 18, 10, 10, 10, 10]));
        if !c.failures.is_empty() {
            let list: Vec<String> = c
                .failures
                .0
                .iter()
                .map(|(k, v)| format!("{} {}/s", k.replace('_', " "), short(*v)))
                .collect();
            line(format!(
                "  {:16}offered {}/s, {}",
                "",
                short(c.offered),
                list.join(", ")
            ));
        }
    }
    line(String::new());
    let header = [
        "where",
        "kind",
        "used",
        "per s",
        "queueing",
        "1st phase",
        "holding",
        "waiting",
    ];
    let longest = answer
        .stations
        .0
        .iter()
        .map(|(n, _)| n.chars().count())
        .max()
        .unwrap_or(0);
    let widths = [longest.max(14) + 2, 9, 8, 10, 10, 10, 10, 9];
    line(columns(&header.map(String::from), &widths));
    for (name, s) in &answer.stations.0 {
        line(columns(&station_row(name, s), &widths));
        if !s.more.is_empty() {
            let list: Vec<String> = s
                .more
                .0
                .iter()
                .map(|(k, v)| format!("{} {}", k.replace('_', " "), short(*v)))
                .collect();
            line(format!("  {:16}{}", "", list.join(", ")));
        }
    }
    if !answer.over_time.is_empty() {
        over_time(&mut line, answer);
    }
    for (name, p) in &answer.phases.0 {
        line(format!(
            "  phase {name}: {} each, {}/s",
            with_interval(&p.time, time),
            short(p.throughput.value)
        ));
    }
    for warning in &answer.warnings {
        line(format!("  warning: {warning}"));
    }
    out
}

/// The load as it changed, and what became of it.
fn over_time(line: &mut impl FnMut(String), answer: &Answer) {
    line(String::new());
    let widths = [12, 12, 14, 12, 12, 20];
    let header = [
        "from",
        "offered/s",
        "throughput/s",
        "response",
        "p95",
        "busiest",
    ];
    line(columns(&header.map(String::from), &widths));
    for i in &answer.over_time {
        let busiest = i.utilization.0.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let row = [
            time(i.from),
            short(i.offered),
            short(i.throughput.value),
            time(i.mean),
            time(i.p95),
            busiest.map_or_else(String::new, |(name, u)| format!("{name} {:.0}%", 100.0 * u)),
        ];
        line(columns(&row, &widths));
    }
}

fn station_row(name: &str, s: &StationAnswer) -> [String; 8] {
    [
        name.to_string(),
        s.kind.clone(),
        s.utilization.map_or_else(
            || "-".into(),
            |u| {
                if u.value > 1.0 + 1e-9 {
                    short(u.value)
                } else {
                    format!("{:.1}%", 100.0 * u.value)
                }
            },
        ),
        s.throughput.map_or_else(|| "-".into(), |t| short(t.value)),
        optional(&s.queueing_time),
        optional(&s.first_phase_time),
        optional(&s.holding_time),
        s.queue_length.map_or_else(|| "-".into(), short),
    ]
}

fn columns(cells: &[String], widths: &[usize]) -> String {
    let mut out = String::from("  ");
    for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let pad = width.saturating_sub(cell.chars().count());
        // Names to the left, figures to the right.
        if i == 0 || (i == 1 && cells.len() == 8) {
            let _ = write!(out, "{cell}{}", " ".repeat(pad));
        } else {
            let _ = write!(out, "{}{cell}", " ".repeat(pad.max(1)));
        }
    }
    out
}

/// A sweep as a table, with its load line.
pub fn sweep_text(sweep: &Sweep) -> String {
    let mut out = String::new();
    let classes: Vec<&str> = sweep
        .points
        .first()
        .map(|p| p.answer.classes.0.iter().map(|c| c.0.as_str()).collect())
        .unwrap_or_default();
    let mut header: Vec<String> = sweep.names.clone();
    for class in &classes {
        let prefix = if classes.len() > 1 {
            format!("{class} ")
        } else {
            String::new()
        };
        header.extend(["throughput/s", "response", "p95"].map(|h| format!("{prefix}{h}")));
    }
    header.push("busiest".into());
    let widths: Vec<usize> = header.iter().map(|h| h.chars().count().max(12)).collect();
    let _ = writeln!(out, "{}", columns(&header, &widths).trim_end());
    for point in &sweep.points {
        let mut row: Vec<String> = point.values.iter().map(|(_, v)| v.clone()).collect();
        for (_, c) in &point.answer.classes.0 {
            let r = &c.response_time;
            row.extend([short(c.throughput.value), time(r.mean.value), time(r.p95)]);
        }
        row.push(match &point.answer.problem {
            Some(problem) => problem
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(40)
                .collect(),
            None => busiest(&point.answer)
                .map_or_else(String::new, |(n, u)| format!("{n} {:.0}%", 100.0 * u)),
        });
        let _ = writeln!(out, "{}", columns(&row, &widths).trim_end());
    }
    if let Some(l) = &sweep.load_line {
        let _ = writeln!(
            out,
            "\n  load line: {} requests/s ({} = {}), p95 {}; not at {}",
            short(l.offered),
            l.parameter,
            l.value,
            time(l.p95),
            short(l.fails_at)
        );
    }
    if let Some(why) = &sweep.no_load_line {
        let _ = writeln!(out, "\n  no load line: {why}");
    }
    if let Some(k) = &sweep.knee {
        let _ = writeln!(
            out,
            "  knee: {} = {} (throughput levels off at {}/s)",
            k.parameter,
            short(k.value),
            short(k.throughput)
        );
    }
    out
}

fn busiest(answer: &Answer) -> Option<(&str, f64)> {
    answer
        .stations
        .0
        .iter()
        .filter(|(_, s)| matches!(s.kind.as_str(), "station" | "machine" | "resource"))
        .filter_map(|(n, s)| Some((n.as_str(), s.utilization?.value)))
        .filter(|(_, u)| *u <= 1.0 + 1e-6)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}
