//! An answer or a sweep as one self-contained page: tables, and plots as SVG.

use super::{Answer, answer_text, sweep_text};
use crate::plot::{Plot, Series};
use crate::sweep::Sweep;

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn frame(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <title>{0}</title><style>:root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;max-width:60rem;\
         margin:2rem auto;padding:0 1rem}}pre{{overflow-x:auto;font-size:13px}}svg{{max-width:100%;height:auto}}</style>\
         <h1>{0}</h1>{1}</html>\n",
        escape(title),
        body
    )
}

/// A page for one answer.
pub fn page(answer: &Answer, drawing: &str) -> String {
    let mut body = format!("<pre>{}</pre>{drawing}", escape(&answer_text(answer)));
    for (name, class) in &answer.classes.0 {
        let cells = &class.response_time.histogram;
        let total: u64 = cells.iter().map(|c| c.2).sum();
        if total > 0 {
            let points = cells
                .iter()
                .map(|(a, b, n)| (0.5 * (a + b), *n as f64 / total as f64))
                .collect();
            let plot = Plot::new(
                &format!("response time of {name}"),
                "seconds",
                "share of requests",
            )
            .with(Series::line("share", points));
            body += &plot.svg();
        }
    }
    if let Some(run) = answer.run.as_ref().filter(|r| r.curve.len() > 2) {
        let mut plot = Plot::new("transient", "simulated seconds", "mean response, seconds")
            .with(Series::line("response", run.curve.clone()));
        if let Some(warm) = run.warm_up_seconds {
            plot = plot.with_mark(warm, "end of the warm-up");
        }
        body += &plot.svg();
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
        let mut throughput = Plot::new("throughput", name, "requests per second");
        let mut response = Plot::new("response time", name, "seconds");
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
            throughput = throughput.with(Series::line(class, curve(&|i| at(i).throughput.value)));
            response = response
                .with(Series::line(
                    &format!("{class} mean"),
                    curve(&|i| at(i).response_time.mean.value),
                ))
                .with(Series::line(
                    &format!("{class} p95"),
                    curve(&|i| at(i).response_time.p95),
                ));
        }
        body += &throughput.svg();
        body += &response.svg();
    }
    frame(&title, &body)
}
