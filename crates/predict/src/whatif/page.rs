//! The answer as a page with plots.

use loadline_plot::{Chart, Mark, Series, escape};

use super::{Cell, WhatIf, text};

/// A self-contained page.
pub fn page(w: &WhatIf) -> String {
    let name = |c: &Cell| {
        let words: Vec<String> = c.values.iter().map(|(n, v)| format!("{n} {v}")).collect();
        if words.is_empty() {
            "the model".into()
        } else {
            words.join(", ")
        }
    };
    // More curves than colours tell nothing.
    let shown: Vec<&Cell> = w.cells.iter().take(6).collect();
    let chart = |title: &str, unit: &str, y: &dyn Fn(&super::Point) -> f64| {
        let series = shown.iter().enumerate().map(|(i, c)| {
            let points = c
                .points
                .iter()
                .filter(|p| y(p).is_finite())
                .map(|p| (p.load, y(p)));
            Series::line(name(c), points.collect::<Vec<_>>())
                .coloured(i)
                .dotted()
        });
        let marks = shown.iter().enumerate().filter_map(|(i, c)| {
            let line = c.load_line.as_ref()?;
            Some(Mark {
                x: line.load,
                label: format!("load line {:.1}", line.load),
                colour: i,
            })
        });
        Chart {
            title: title.into(),
            unit: unit.into(),
            x_label: w.load.clone(),
            series: series.collect(),
            marks: marks.collect(),
            ..Chart::default()
        }
        .svg()
    };
    let drawings = [
        chart("Goodput", "requests per second", &|p| p.goodput),
        chart("Response time, 95th percentile", "ms", &|p| 1e3 * p.p95),
        chart("Response time, mean", "ms", &|p| 1e3 * p.mean),
    ];
    let body = format!("<pre>{}</pre>{}", escape(&text(w)), drawings.concat());
    loadline_model::answer::frame(&w.title, &body)
}
