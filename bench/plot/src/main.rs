//! Reads a chart as JSON from the standard input and writes it as an SVG file to the standard output.
//! `bench/lib/plots.py` calls it; the fields are those of [`loadline_plot::Chart`].

use std::io::Read;
use std::process::ExitCode;

use loadline_plot::{Chart, Series, Size};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    title: String,
    #[serde(default)]
    unit: String,
    x_label: String,
    #[serde(default)]
    half: bool,
    #[serde(default)]
    log: bool,
    #[serde(default)]
    percent: bool,
    #[serde(default)]
    from_smallest: bool,
    series: Vec<Curve>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
    kind: Kind,
    /// In place of the colour of its place.
    colour: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Line,
    /// A line with a dot at each point.
    Dotted,
    Dots,
    Reference,
}

impl From<Curve> for Series {
    fn from(curve: Curve) -> Series {
        let series = match curve.kind {
            Kind::Line => Series::line(curve.name, curve.points),
            Kind::Dotted => Series::line(curve.name, curve.points).dotted(),
            Kind::Dots => Series::dots(curve.name, curve.points),
            Kind::Reference => Series::reference(curve.name, curve.points),
        };
        match curve.colour {
            Some(colour) => series.coloured(colour),
            None => series,
        }
    }
}

fn drawn(spec: Spec) -> Result<String, String> {
    let title = spec.title.clone();
    let chart = Chart {
        title: spec.title,
        unit: spec.unit,
        x_label: spec.x_label,
        size: if spec.half { Size::Half } else { Size::Wide },
        log: spec.log,
        percent: spec.percent,
        from_smallest: spec.from_smallest,
        series: spec.series.into_iter().map(Series::from).collect(),
        ..Chart::default()
    };
    let drawing = chart.drawing();
    Ok(drawing.ok_or(format!("'{title}' has no point"))?.file())
}

fn main() -> ExitCode {
    let mut text = String::new();
    let answer = std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| e.to_string())
        .and_then(|_| serde_json::from_str(&text).map_err(|e| format!("the chart's JSON: {e}")))
        .and_then(drawn);
    match answer {
        Ok(svg) => {
            print!("{svg}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("bench-plot: {message}");
            ExitCode::from(2)
        }
    }
}
