//! An answer or a sweep as one self-contained page: tables, and plots as SVG.

use super::{Answer, answer_text, sweep_text};
use crate::sweep::Sweep;
use loadline_plot::{Chart, Drawing, Mark, NEUTRAL, STYLE, Series, escape};

/// Above it dots would hide the line.
const MOST_DOTS: usize = 40;

/// A self-contained page around some HTML, with the plots' style.
pub fn frame(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <title>{0}</title><style>{STYLE}body{{background:var(--ground);color:var(--text);font:15px/1.5 system-ui,sans-serif;\
         max-width:60rem;margin:2rem auto;padding:0 1rem}}pre{{overflow-x:auto;font-size:13px}}svg{{margin:1.4rem 0}}</style>\
         <h1>{0}</h1>{1}</html>\n",
        escape(title),
        body
    )
}

fn chart(title: &str, unit: &str, x_label: &str) -> Chart {
    Chart {
        title: title.into(),
        unit: unit.into(),
        x_label: x_label.into(),
        from_smallest: true,
        ..Chart::default()
    }
}

fn line(name: &str, points: Vec<(f64, f64)>) -> Series {
    let few = points.len() <= MOST_DOTS;
    let line = Series::line(name, points);
    if few { line.dotted() } else { line }
}

/// Plots of a load that changes; nothing of one that does not.
fn over_time(answer: &Answer) -> String {
    let of = |y: &dyn Fn(&super::Interval) -> f64| -> Vec<(f64, f64)> {
        let points = answer
            .over_time
            .iter()
            .map(|i| (0.5 * (i.from + i.to), y(i)));
        points.filter(|p| p.1.is_finite()).collect()
    };
    if answer.over_time.is_empty() {
        return String::new();
    }
    let requests = chart("requests over time", "per second", "simulated seconds")
        .with(line("offered", of(&|i| i.offered)))
        .with(line("completed", of(&|i| i.throughput.value)));
    let times = chart("response time over time", "seconds", "simulated seconds")
        .with(line("mean", of(&|i| i.mean)))
        .with(line("95th percentile", of(&|i| i.p95)));
    requests.svg() + &times.svg()
}

/// A page for one answer.
pub fn page(answer: &Answer, drawing: &Drawing) -> String {
    let text = escape(&answer_text(answer));
    let mut body = format!("<pre>{text}</pre>{}", drawing.inline());
    for (name, class) in &answer.classes.0 {
        let cells = &class.response_time.histogram;
        let total: u64 = cells.iter().map(|c| c.2).sum();
        if total > 0 {
            let points = cells
                .iter()
                .map(|(a, b, n)| (0.5 * (a + b), *n as f64 / total as f64));
            let title = format!("response time of {name}");
            let chart = chart(&title, "share of requests", "seconds");
            body += &chart.with(Series::area("share", points)).svg();
        }
    }
    body += &over_time(answer);
    if let Some(run) = answer.run.as_ref().filter(|r| r.curve.len() > 2) {
        // From 0: the warm-up may end before the first point.
        let mut chart = Chart {
            from_smallest: false,
            ..chart("transient", "mean response, seconds", "simulated seconds")
        }
        .with(line("response", run.curve.clone()));
        chart.marks.extend(run.warm_up_seconds.map(|x| Mark {
            x,
            label: "end of the warm-up".into(),
            colour: NEUTRAL,
        }));
        body += &chart.svg();
    }
    frame(&answer.title, &body)
}

/// A page for a sweep.
pub fn sweep_page(sweep: &Sweep) -> String {
    let title = sweep
        .points
        .first()
        .map(|p| p.answer.title.clone())
        .unwrap_or_default();
    let mut body = format!("<pre>{}</pre>", escape(&sweep_text(sweep)));
    if let [name] = &sweep.names[..] {
        let x = |i: usize| {
            sweep.points[i].values[0]
                .1
                .parse::<f64>()
                .unwrap_or(i as f64)
        };
        let mut throughput = chart("throughput", "requests per second", name);
        let mut response = chart("response time", "seconds", name);
        let classes = sweep.points.first().map_or(0, |p| p.answer.classes.0.len());
        for c in 0..classes {
            let at = |i: usize| &sweep.points[i].answer.classes.0[c].1;
            let class = &sweep.points[0].answer.classes.0[c].0;
            let n = sweep
                .points
                .iter()
                .take_while(|p| p.answer.classes.0.len() == classes)
                .count();
            let curve = |f: &dyn Fn(usize) -> f64| (0..n).map(|i| (x(i), f(i))).collect::<Vec<_>>();
            throughput = throughput.with(line(class, curve(&|i| at(i).throughput.value)));
            response = response
                .with(line(
                    &format!("{class} mean"),
                    curve(&|i| at(i).response_time.mean.value),
                ))
                .with(line(
                    &format!("{class} p95"),
                    curve(&|i| at(i).response_time.p95),
                ));
        }
        body += &throughput.svg();
        body += &response.svg();
    }
    frame(&title, &body)
}
