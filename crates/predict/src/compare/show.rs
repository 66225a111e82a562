//! A comparison in a terminal, and as a page.

use loadline_analyze::report::table::{Align, Table};
use loadline_plot::{Chart, Mark, Series, escape};

use super::{Both, Comparison, Row};

/// The comparison in a terminal.
pub fn text(c: &Comparison) -> String {
    let mut out = format!("  {}\n  beside {}\n\n", c.title, c.measured);
    let right = |name| (name, Align::Right);
    let mut table = Table::new([
        right("CPUs"),
        right(c.load_unit.as_str()),
        right("replies/s"),
        right("measured"),
        right("error"),
        right("CPU"),
        right("measured"),
        right("mean, ms"),
        right("measured"),
        right("error"),
        right("p95, ms"),
        right("measured"),
        right("error"),
    ]);
    let percent = |x: f64| format!("{:+.1}%", 100.0 * x);
    let ms = |b: &Both| format!("{:.2} ±{:.2}", 1e3 * b.predicted, 1e3 * b.ci95);
    for r in &c.rows {
        let used = |f: fn(&Both) -> f64| {
            r.utilization
                .as_ref()
                .map_or("-".into(), |u| format!("{:.0}%", 100.0 * f(u)))
        };
        table.row([
            r.cpus.map_or("-".into(), |n| n.to_string()),
            format!("{:.1}", r.load),
            format!("{:.0}", r.throughput.predicted),
            format!("{:.0}", r.throughput.measured),
            percent(r.throughput.error),
            used(|u| u.predicted),
            used(|u| u.measured),
            ms(&r.mean),
            format!("{:.2}", 1e3 * r.mean.measured),
            percent(r.mean.error),
            ms(&r.p95),
            format!("{:.2}", 1e3 * r.p95.measured),
            percent(r.p95.error),
        ]);
    }
    out += &table.render("  ");
    for l in &c.load_lines {
        let predicted = l
            .predicted
            .as_ref()
            .map_or("none".into(), |p| format!("{:.1} ±{:.1}", p.load, p.ci95));
        let measured = l.measured.map_or("none".into(), |m| format!("{m:.1}"));
        let interval = l.interval.map_or(String::new(), |(low, high)| {
            format!(" ({low:.1} to {high:.1})")
        });
        let error = l
            .predicted
            .as_ref()
            .zip(l.measured)
            .map_or(String::new(), |(p, m)| {
                format!("   {}", percent(p.load / m - 1.0))
            });
        out += &format!(
            "\n  load line, {} CPUs   predicted {predicted}   measured {measured}{interval}{error}",
            l.cpus
        );
    }
    let unsteady = c.rows.iter().filter(|r| r.problem.is_some()).count();
    if unsteady > 0 {
        out += &format!(
            "\n  at {unsteady} of these loads the model has no steady state: its figures there are those of a run that was still growing"
        );
    }
    out.push('\n');
    out
}

/// The comparison as a page with plots.
pub fn page(c: &Comparison) -> String {
    let mut body = format!("<pre>{}</pre>", escape(&text(c)));
    let mut counts: Vec<Option<u32>> = c.rows.iter().map(|r| r.cpus).collect();
    counts.dedup();
    type Pick = fn(&Row) -> Option<Both>;
    let charts: [(&str, &str, f64, Pick); 4] = [
        ("Replies", "per second", 1.0, |r| Some(r.throughput)),
        ("CPU", "% of the server's", 100.0, |r| r.utilization),
        ("Response time, mean", "ms", 1e3, |r| Some(r.mean)),
        ("Response time, 95th percentile", "ms", 1e3, |r| Some(r.p95)),
    ];
    for (title, unit, scale, pick) in charts {
        let mut series = Vec::new();
        for (i, cpus) in counts.iter().enumerate() {
            let points = |of: fn(&Both) -> f64| -> Vec<(f64, f64)> {
                let rows = c.rows.iter().filter(|r| r.cpus == *cpus);
                rows.filter_map(|r| Some((r.load, scale * of(&pick(r)?))))
                    .collect()
            };
            let name = cpus.map_or(String::new(), |n| format!(", {n} CPUs"));
            series.push(
                Series::line(format!("predicted{name}"), points(|b| b.predicted)).coloured(2 * i),
            );
            series.push(
                Series::line(format!("measured{name}"), points(|b| b.measured))
                    .coloured(2 * i + 1)
                    .dotted(),
            );
        }
        let marks = c.load_lines.iter().filter_map(|l| {
            Some(Mark {
                x: l.measured?,
                label: "measured load line".into(),
                colour: loadline_plot::NEUTRAL,
            })
        });
        body += &Chart {
            title: title.into(),
            unit: unit.into(),
            x_label: match c.load_unit.as_str() {
                "sessions/s" => "new sessions offered per second".into(),
                name => name.to_owned(),
            },
            series,
            marks: marks.collect(),
            ..Chart::default()
        }
        .svg();
    }
    loadline_model::answer::frame(&c.title, &body)
}
