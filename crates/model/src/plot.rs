//! Line and point plots as SVG: enough for load lines and comparisons, readable in light and dark, by the colour-blind.

use std::fmt::Write;

const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888",
];
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 62.0;

/// Points with a name.
#[derive(Debug, Clone)]
pub struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    dots: bool,
}

impl Series {
    /// Joined by a line.
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series {
            name: name.into(),
            points,
            dots: false,
        }
    }

    /// Dots only: what was measured.
    pub fn dots(name: &str, points: Vec<(f64, f64)>) -> Series {
        Series {
            name: name.into(),
            points,
            dots: true,
        }
    }
}

/// A plot.
#[derive(Debug, Clone)]
pub struct Plot {
    title: String,
    x: String,
    y: String,
    series: Vec<Series>,
    marks: Vec<(f64, String)>,
}

impl Plot {
    /// Without series yet; axes are labelled with what they show and its unit.
    pub fn new(title: &str, x: &str, y: &str) -> Plot {
        Plot {
            title: title.into(),
            x: x.into(),
            y: y.into(),
            series: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// With one more series.
    pub fn with(mut self, series: Series) -> Plot {
        self.series.push(series);
        self
    }

    /// With a vertical line at `x`.
    pub fn with_mark(mut self, x: f64, label: &str) -> Plot {
        self.marks.push((x, label.into()));
        self
    }

    /// The drawing.
    pub fn svg(&self) -> String {
        let finite = || {
            self.series
                .iter()
                .flat_map(|s| s.points.iter().copied())
                .filter(|p| p.0.is_finite() && p.1.is_finite())
        };
        let (mut x0, mut x1, mut y1) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
        for (x, y) in finite() {
            x0 = x0.min(x);
            x1 = x1.max(x);
            y1 = y1.max(y);
        }
        if x1 <= x0 {
            x1 = x0 + 1.0;
        }
        let (ticks_x, ticks_y) = (ticks(x0, x1), ticks(0.0, if y1 > 0.0 { y1 } else { 1.0 }));
        let top = ticks_y.last().copied().unwrap_or(1.0).max(y1);
        let px = |x: f64| LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
        let py = |y: f64| HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM);
        let mut out = format!(
            "<svg viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' xmlns='http://www.w3.org/2000/svg' \
             font-family='sans-serif' font-size='12' fill='#777'><text x='{LEFT}' y='18' font-size='14'>{}</text>",
            self.title
        );
        for y in &ticks_y {
            let _ = write!(
                out,
                "<path d='M{LEFT} {0:.1}H{1}' stroke='#8884'/><text x='{2}' y='{3:.1}' text-anchor='end'>{4}</text>",
                py(*y),
                WIDTH - RIGHT,
                LEFT - 6.0,
                py(*y) + 4.0,
                label(*y)
            );
        }
        for x in &ticks_x {
            let _ = write!(
                out,
                "<text x='{:.1}' y='{}' text-anchor='middle'>{}</text>",
                px(*x),
                HEIGHT - BOTTOM + 16.0,
                label(*x)
            );
        }
        let _ = write!(
            out,
            "<text x='{}' y='{}' text-anchor='end'>{}</text>",
            WIDTH - RIGHT,
            HEIGHT - BOTTOM + 32.0,
            self.x
        );
        let _ = write!(
            out,
            "<text x='{}' y='18' text-anchor='end'>{}</text>",
            WIDTH - RIGHT,
            self.y
        );
        for (x, text) in &self.marks {
            let _ = write!(
                out,
                "<path d='M{0:.1} {TOP}V{1}' stroke='#888' stroke-dasharray='4 3'/><text x='{2:.1}' y='{3}'>{text}</text>",
                px(*x),
                HEIGHT - BOTTOM,
                px(*x) + 4.0,
                TOP + 12.0
            );
        }
        let mut legend = LEFT;
        for (i, s) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let points: Vec<(f64, f64)> = s
                .points
                .iter()
                .filter(|p| p.0.is_finite() && p.1.is_finite())
                .map(|p| (px(p.0), py(p.1)))
                .collect();
            if !s.dots {
                let path: Vec<String> = points
                    .iter()
                    .map(|p| format!("{:.1} {:.1}", p.0, p.1))
                    .collect();
                let _ = write!(
                    out,
                    "<path d='M{}' fill='none' stroke='{colour}' stroke-width='2'/>",
                    path.join("L")
                );
            }
            if s.dots || points.len() <= 40 {
                for p in &points {
                    let _ = write!(
                        out,
                        "<circle cx='{:.1}' cy='{:.1}' r='{}' fill='{colour}'/>",
                        p.0,
                        p.1,
                        if s.dots { 4 } else { 2 }
                    );
                }
            }
            let _ = write!(
                out,
                "<circle cx='{}' cy='{}' r='4' fill='{colour}'/><text x='{}' y='{}'>{}</text>",
                legend + 4.0,
                HEIGHT - 10.0,
                legend + 12.0,
                HEIGHT - 6.0,
                s.name
            );
            legend += 24.0 + 6.8 * s.name.chars().count() as f64;
        }
        out.push_str("</svg>\n");
        out
    }
}

/// Round numbers that cover the range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .iter()
        .map(|f| f * power)
        .find(|s| *s >= rough)
        .unwrap_or(power * 10.0);
    let mut ticks = Vec::new();
    let mut x = (low / step).ceil() * step;
    while x <= high + step * 1e-9 && ticks.len() < 20 {
        ticks.push(x);
        x += step;
    }
    ticks
}

fn label(x: f64) -> String {
    let text = format!("{:.6}", x);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}
