//! Line plots as inline SVG: no script, no fonts, readable in light and dark.
//!
//! Colours are CSS classes (`c0` to `c4`) of the page's palette, which is safe for colour-blind eyes.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;
/// A point a pixel is as much as can be seen.
const MAX_POINTS: usize = 800;

/// One line of a plot.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) points: Vec<(f64, f64)>,
    /// Filled down to the axis.
    pub(super) area: bool,
}

/// How an axis counts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scale {
    Linear,
    /// From the smallest value to the largest, by powers of ten.
    Log,
}

pub(super) struct Plot<'a> {
    pub(super) title: &'a str,
    pub(super) unit: &'a str,
    pub(super) x_name: &'a str,
    /// Texts of the ticks of the x axis, where given; otherwise they are numbers.
    pub(super) x_ticks: Option<Vec<(f64, String)>>,
    pub(super) y: Scale,
    pub(super) lines: Vec<Line<'a>>,
}

impl Plot<'_> {
    /// A `<figure>`.
    pub(super) fn svg(&self) -> String {
        let mut out = String::new();
        self.write(&mut out).expect("a String takes everything");
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let all = || self.lines.iter().flat_map(|l| l.points.iter().copied());
        let x_max = all().map(|p| p.0).fold(0.0, f64::max);
        let x_min = all().map(|p| p.0).fold(x_max, f64::min).min(x_max);
        let x_min = if self.x_ticks.is_some() { x_min } else { 0.0 };
        let y_max = all().map(|p| p.1).fold(0.0, f64::max);
        let (low, high, ticks) = match self.y {
            Scale::Linear => {
                let step = nice(y_max / 4.0);
                let high = (y_max / step).ceil().max(1.0) * step;
                let count = (high / step).round() as usize;
                let ticks = (0..=count).map(|n| n as f64 * step).collect::<Vec<_>>();
                (0.0, high, ticks)
            }
            Scale::Log => {
                let least = all()
                    .map(|p| p.1)
                    .filter(|&v| v > 0.0)
                    .fold(y_max, f64::min);
                let low = 10f64.powf(least.max(1e-3).log10().floor());
                let high = 10f64.powf(y_max.max(low * 10.0).log10().ceil());
                let decades = (high / low).log10().round() as i32;
                let ticks = (0..=decades).map(|d| low * 10f64.powi(d)).collect();
                (low, high, ticks)
            }
        };
        let at_x = |x: f64| {
            LEFT + (WIDTH - LEFT - RIGHT) * (x - x_min) / (x_max - x_min).max(f64::MIN_POSITIVE)
        };
        let at_y = |y: f64| {
            let share = match self.y {
                Scale::Linear => y / high,
                Scale::Log => (y.max(low) / low).log10() / (high / low).log10(),
            };
            TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)
        };
        write!(out, "<figure><figcaption><b>{}</b>", self.title)?;
        for (n, line) in self.lines.iter().enumerate() {
            write!(out, " <span class=\"key c{n}\">{}</span>", line.name)?;
        }
        writeln!(
            out,
            "</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            self.title
        )?;
        for (n, tick) in ticks.iter().enumerate() {
            let y = at_y(*tick);
            let unit = if n + 1 == ticks.len() { self.unit } else { "" };
            writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}{unit}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                number(*tick)
            )?;
        }
        let x_ticks = self.x_ticks.clone().unwrap_or_else(|| {
            let step = nice(x_max / 8.0);
            let count = (x_max / step).floor() as usize;
            (0..=count)
                .map(|n| (n as f64 * step, number(n as f64 * step)))
                .collect()
        });
        for (x, text) in &x_ticks {
            writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                at_x(*x),
                HEIGHT - BOTTOM + 16.0
            )?;
        }
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" class=\"axis\">{}</text>",
            WIDTH - RIGHT,
            HEIGHT - 2.0,
            self.x_name
        )?;
        for (n, line) in self.lines.iter().enumerate() {
            let step = line.points.len().div_ceil(MAX_POINTS).max(1);
            let mut path = String::new();
            for chunk in line.points.chunks(step) {
                // Of what shares a pixel the highest is shown: a stall must not vanish.
                let (x, y) = chunk
                    .iter()
                    .copied()
                    .fold((chunk[0].0, 0.0), |(x, high), p| (x, f64::max(high, p.1)));
                let letter = if path.is_empty() { 'M' } else { 'L' };
                write!(path, "{letter}{:.1} {:.1}", at_x(x), at_y(y))?;
            }
            if line.area
                && let (Some(first), Some(last)) = (line.points.first(), line.points.last())
            {
                let floor = HEIGHT - BOTTOM;
                writeln!(
                    out,
                    "<path class=\"area c{n}\" d=\"{path}L{:.1} {floor}L{:.1} {floor}Z\"/>",
                    at_x(last.0),
                    at_x(first.0)
                )?;
            }
            writeln!(out, "<path class=\"line c{n}\" d=\"{path}\"/>")?;
        }
        writeln!(out, "</svg></figure>")
    }
}

/// 1, 2 or 5 times a power of ten, not less than `least`.
fn nice(least: f64) -> f64 {
    if !(least > 0.0 && least.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|n| n * power)
        .find(|&n| n >= least * 0.999)
        .unwrap_or(10.0 * power)
}

/// Few digits: 0.5, 20, 1.5k.
fn number(n: f64) -> String {
    let text = |n: f64| {
        let rounded = (n * 1000.0).round() / 1000.0;
        format!("{rounded}")
    };
    if n >= 10_000.0 {
        format!("{}k", text(n / 1000.0))
    } else {
        text(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        for (least, expected) in [
            (0.9, 1.0),
            (1.1, 2.0),
            (33.0, 50.0),
            (0.0, 1.0),
            (6.0, 10.0),
        ] {
            assert_eq!(nice(least), expected, "{least}");
        }
        assert_eq!(
            (number(0.1 + 0.2), number(25_000.0)),
            ("0.3".into(), "25k".into())
        );
    }

    #[test]
    fn a_plot_shows_its_highest_point_however_many_there_are() {
        let mut points: Vec<(f64, f64)> = (0..5000).map(|n| (f64::from(n), 1.0)).collect();
        points[2501].1 = 100.0;
        let plot = Plot {
            title: "t",
            unit: " ms",
            x_name: "s",
            x_ticks: None,
            y: Scale::Linear,
            lines: vec![Line {
                name: "p95",
                points,
                area: true,
            }],
        };
        let svg = plot.svg();
        // 100 is the highest tick, at the top.
        assert!(svg.contains(&format!(" {TOP:.1}L")), "{svg:.600}");
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn a_plot_of_nothing_is_still_a_plot() {
        for y in [Scale::Linear, Scale::Log] {
            let line = Line {
                name: "x",
                points: vec![(0.0, 0.0)],
                area: false,
            };
            let plot = Plot {
                title: "t",
                unit: "",
                x_name: "",
                x_ticks: None,
                y,
                lines: vec![line],
            };
            let svg = plot.svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
