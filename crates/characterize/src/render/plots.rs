//! Which charts the page shows, from the result.

use crate::curve::GOODPUT;
use crate::measured::Point;
use crate::result::{Count, Result};
use crate::traced::{CAUSES, Side};
use crate::words::{cpus, figure, ms};
use loadline_plot as plot;
use loadline_plot::{Bar, Chart, Mark, Part, Series, Size};

/// A curve over the offered load.
fn curve(
    name: impl Into<String>,
    colour: usize,
    points: &[Point],
    y: impl Fn(&Point) -> Option<f64>,
) -> Series {
    let doubt = |p: &Point| p.load.generator_limit().map(|_| "the generator's limit");
    let points = points.iter().filter_map(|p| {
        Some(plot::Point {
            x: p.rate,
            y: y(p)?,
            doubt: doubt(p),
        })
    });
    Series::line(name, points).coloured(colour).dotted()
}

fn chart(r: &Result, title: impl Into<String>, unit: &str) -> Chart {
    let load = r.parameters.load_unit();
    Chart {
        title: title.into(),
        unit: unit.into(),
        x_label: match r.parameters.units {
            Some(_) => load.clone(),
            None => "new sessions offered per second".into(),
        },
        x_unit: format!(" {load}"),
        size: Size::Half,
        ..Chart::default()
    }
}

/// One curve per CPU count, with the load lines.
fn over_load(
    r: &Result,
    title: &str,
    unit: &str,
    y: impl Fn(&Point) -> Option<f64> + Copy,
) -> Chart {
    let series = r
        .counts
        .iter()
        .enumerate()
        .map(|(i, c)| curve(name(c), i, &c.points, y))
        .collect();
    let marks = r.counts.iter().enumerate().filter_map(|(i, c)| {
        let line = c.curve.as_ref()?.load_line.as_ref()?;
        Some(Mark {
            x: line.sessions_per_s,
            label: format!("load line {}", figure(line.sessions_per_s)),
            colour: i,
        })
    });
    Chart {
        series,
        marks: marks.collect(),
        ..chart(r, title, unit)
    }
}

fn name(c: &Count) -> String {
    if c.cpus == 0 {
        "as it is".into()
    } else {
        cpus(c.cpus)
    }
}

/// The charts of the first part, in order.
pub fn curves(r: &Result) -> Vec<String> {
    let mut out = if r.parameters.units.is_some() {
        let of = |p: &Point| Some(p.load.replies_per_s);
        vec![over_load(r, "Throughput", "units of work per second", of)]
    } else {
        goodput(r)
    };
    for (i, c) in r.counts.iter().enumerate() {
        out.push(response(r, c, i));
    }
    out.push(Chart {
        percent: true,
        ..over_load(r, "Sessions completed", "share of those that ended", |p| {
            p.load.completed_share()
        })
    });
    let mut failures = over_load(r, "Timeouts and errors", "per second", |p| {
        Some(p.load.timeouts_per_s())
    });
    failures.series.clear();
    for (i, c) in r.counts.iter().enumerate() {
        let timeouts = format!("{} timeouts", name(c));
        failures.series.push(curve(timeouts, i, &c.points, |p| {
            Some(p.load.timeouts_per_s())
        }));
        let (errors, colour) = (format!("{} errors", name(c)), i + r.counts.len());
        failures.series.push(curve(errors, colour, &c.points, |p| {
            Some(p.load.errors_per_s())
        }));
    }
    // The driver of a closed program says itself, by failing, that something went wrong.
    if r.parameters.units.is_none() {
        out.push(failures);
    }
    out.push(Chart {
        percent: true,
        ..over_load(
            r,
            "Resumed handshakes",
            "share of those that succeeded",
            |p| p.load.resumed_share(),
        )
    });
    let mut cpu = over_load(r, "CPU of the server", "share of its CPUs", |p| {
        Some(p.cpu.as_ref()?.server / f64::from(p.cpus.max(1)))
    });
    cpu.percent = true;
    for (i, c) in r.counts.iter().enumerate() {
        let (generator, colour) = (format!("generator ({})", name(c)), i + r.counts.len());
        cpu.series.push(curve(generator, colour, &c.points, |p| {
            Some(p.load.generator.cpu_share)
        }));
    }
    out.push(cpu);
    out.iter()
        .map(Chart::svg)
        .filter(|s| !s.is_empty())
        .collect()
}

/// Goodput beside what was offered, and throughput.
fn goodput(r: &Result) -> Vec<Chart> {
    let mut goodput = over_load(r, "Goodput", "right replies in time per second", |p| {
        Some(p.load.replies_per_s)
    });
    goodput.series.insert(0, offered(r));
    let throughput = over_load(r, "Throughput", "replies per second, right or wrong", |p| {
        Some(p.load.throughput())
    });
    vec![goodput, throughput]
}

/// What would be carried if nothing were ever lost: the line that goodput leaves at the saturation.
/// It ends a little above the highest peak, so that the curves keep their room.
fn offered(r: &Result) -> Series {
    let probe = r.counts.iter().filter_map(|c| c.probe.as_ref()).next_back();
    let clicks = probe.map_or(0.0, |p| p.clicks);
    let peak = r
        .counts
        .iter()
        .flat_map(|c| &c.points)
        .map(|p| p.load.replies_per_s)
        .fold(0.0, f64::max);
    let until = if clicks > 0.0 {
        1.05 * peak / clicks
    } else {
        0.0
    };
    let name = format!(
        "offered (the load line needs {:.0}% of it)",
        100.0 * GOODPUT
    );
    Series::reference(name, [0.0, until].map(|x| (x, x * clicks)))
}

fn response(r: &Result, c: &Count, i: usize) -> Chart {
    let quantile = |name: &str, colour: usize, of: fn(&Point) -> f64| {
        curve(name, colour, &c.points, |p| {
            (p.load.response.count > 0).then(|| of(p))
        })
    };
    let mut series = vec![
        quantile("mean", 3, |p| p.load.response.mean_ms),
        quantile("p50", 2, |p| p.load.response.p50_ms),
        quantile("p95", 0, |p| p.load.response.p95_ms),
        quantile("p99", 1, |p| p.load.response.p99_ms),
    ];
    let objective = c.curve.as_ref().and_then(|k| k.objective);
    if let (Some(o), Some(first), Some(last)) = (objective, c.points.first(), c.points.last()) {
        let ends = [first.rate, last.rate].map(|x| (x, o.ms));
        series.push(Series::reference("objective", ends));
    }
    let on = if r.counts.len() > 1 {
        format!(" on {}", name(c))
    } else {
        String::new()
    };
    let what = match r.parameters.units {
        Some(_) => "ms, of a unit of work",
        None => "ms, of right replies",
    };
    let line = c.curve.as_ref().and_then(|k| k.load_line.as_ref());
    let mark = line.map(|l| Mark {
        x: l.sessions_per_s,
        label: "load line".into(),
        colour: i,
    });
    Chart {
        log: true,
        series,
        marks: mark.into_iter().collect(),
        ..chart(r, format!("Response time{on}"), what)
    }
}

fn parts(ms: &crate::traced::ByCause) -> Vec<Part> {
    let part = |cause: &str| Part {
        name: cause.into(),
        class: format!("c-{cause}"),
        value: ms.get(cause).copied().unwrap_or(0.0),
    };
    CAUSES.iter().map(|cause| part(cause)).collect()
}

/// Thread states inside the handshake phase, below against above: shares, so that both can be read.
pub fn handshake_states(below: Option<&Side>, above: Option<&Side>) -> String {
    let all: Vec<Bar> = [("below", below), ("above", above)]
        .into_iter()
        .filter_map(|(which, side)| {
            let side = side?;
            let label = format!("{which}, {} sessions/s", figure(side.rate));
            Some(Bar {
                label,
                parts: parts(&side.handshake().ms),
            })
        })
        .collect();
    plot::bars(&all, false, ms)
        .map(|d| d.inline())
        .unwrap_or_default()
}

/// Colours of the causes that occur, with their names.
pub fn causes_legend(sides: &[&Side]) -> String {
    CAUSES
        .iter()
        .filter(|c| {
            sides.iter().any(|s| {
                s.phases
                    .iter()
                    .any(|p| p.ms.get(**c).is_some_and(|ms| *ms > 0.0))
            })
        })
        .map(|c| format!("<span class=key><i class=\"b-{c}\"></i>{c}</span>"))
        .collect()
}
