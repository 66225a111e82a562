//! Line charts and stacked bars as SVG. Colours are classes of the page's style sheet, so that one
//! drawing serves light and dark.

use crate::words::figure;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 66.0;

/// Text made safe for markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// One point of a series.
#[derive(Debug, Clone, Copy)]
pub struct Dot {
    /// Offered load.
    pub x: f64,
    /// Value; what is not finite is left out.
    pub y: f64,
    /// Drawn hollow: not to be taken for the server's.
    pub doubtful: bool,
}

/// Points joined by a line.
#[derive(Debug, Clone)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// Class of its colour: `s0`, `s1`, …
    pub colour: usize,
    /// A reference and not a measurement: dashed, without dots.
    pub dashed: bool,
    /// Its points by x.
    pub dots: Vec<Dot>,
}

/// A chart over the offered load.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// Values as powers of ten.
    pub log: bool,
    /// Values are shares of 1.
    pub percent: bool,
    /// Curves.
    pub series: Vec<Series>,
    /// Vertical lines with their label and colour.
    pub marks: Vec<(f64, String, usize)>,
}

impl Chart {
    /// The drawing.
    pub fn svg(&self) -> String {
        let dots = || {
            self.series
                .iter()
                .flat_map(|s| &s.dots)
                .filter(|d| d.x.is_finite() && d.y.is_finite() && (!self.log || d.y > 0.0))
        };
        if dots().next().is_none() {
            return String::new();
        }
        let largest_x = dots().map(|d| d.x).fold(0.0, f64::max);
        let largest = dots().map(|d| d.y).fold(0.0, f64::max);
        let smallest = dots().map(|d| d.y).fold(f64::INFINITY, f64::min);
        let ticks_x = ticks(largest_x);
        let top_x = largest_x.max(f64::MIN_POSITIVE);
        let (ticks_y, low, high) = self.scale(smallest, largest);
        let px = |x: f64| LEFT + x / top_x * (WIDTH - LEFT - RIGHT);
        let height = HEIGHT - TOP - BOTTOM;
        let py = |y: f64| {
            let share = if self.log {
                (y.max(low).log10() - low.log10()) / (high.log10() - low.log10())
            } else {
                (y - low) / (high - low)
            };
            HEIGHT - BOTTOM - share.clamp(0.0, 1.0) * height
        };
        let mut out = format!(
            "<svg class=chart viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img aria-label=\"{0}\"><text class=title x={LEFT} y=18>{0}</text><text class=unit x={LEFT} y=33>{1}</text>",
            escape(&self.title),
            escape(&self.unit)
        );
        for y in &ticks_y {
            let text = if self.percent {
                format!("{:.0}%", 100.0 * y)
            } else {
                figure(*y)
            };
            out += &format!(
                "<path class=grid d=\"M{LEFT} {0:.1}H{1}\"/><text class=\"tick end\" x={2} y={3:.1}>{text}</text>",
                py(*y),
                WIDTH - RIGHT,
                LEFT - 7.0,
                py(*y) + 4.0
            );
        }
        for x in &ticks_x {
            out += &format!(
                "<text class=\"tick middle\" x={:.1} y={}>{}</text>",
                px(*x),
                HEIGHT - BOTTOM + 16.0,
                figure(*x)
            );
        }
        out += &format!(
            "<text class=\"unit end\" x={} y={}>new sessions offered per second</text>",
            WIDTH - RIGHT,
            HEIGHT - BOTTOM + 33.0
        );
        for (i, (x, label, colour)) in self.marks.iter().enumerate().filter(|(_, m)| m.0 <= top_x) {
            let at = px(*x);
            // A label near the right edge stands to the left of its line.
            let (class, beside) = if at > WIDTH * 0.7 {
                ("end", -4.0)
            } else {
                ("start", 4.0)
            };
            out += &format!(
                "<path class=\"mark s{colour}\" d=\"M{at:.1} {TOP}V{}\"/><text class=\"label {class} f{colour}\" x={:.1} y={}>{}</text>",
                HEIGHT - BOTTOM,
                at + beside,
                TOP + 9.0 + 13.0 * i as f64,
                escape(label)
            );
        }
        for s in &self.series {
            out += &self.curve(s, &px, &py);
        }
        out + &legend(&self.series) + "</svg>"
    }

    fn curve(&self, s: &Series, px: &dyn Fn(f64) -> f64, py: &dyn Fn(f64) -> f64) -> String {
        let dots: Vec<&Dot> = s
            .dots
            .iter()
            .filter(|d| d.x.is_finite() && d.y.is_finite() && (!self.log || d.y > 0.0))
            .collect();
        let path: Vec<String> = dots
            .iter()
            .map(|d| format!("{:.1} {:.1}", px(d.x), py(d.y)))
            .collect();
        let dash = if s.dashed { " dashed" } else { "" };
        let mut out = format!(
            "<path class=\"line s{}{dash}\" d=\"M{}\"/>",
            s.colour,
            path.join("L")
        );
        for d in dots.iter().filter(|_| !s.dashed) {
            let class = if d.doubtful { "hollow s" } else { "dot f" };
            let value = if self.percent {
                format!("{:.1}%", 100.0 * d.y)
            } else {
                figure(d.y)
            };
            out += &format!(
                "<circle class=\"{class}{}\" cx={:.1} cy={:.1} r=3.2><title>{}: {value} at {} sessions/s{}</title></circle>",
                s.colour,
                px(d.x),
                py(d.y),
                escape(&s.name),
                figure(d.x),
                if d.doubtful {
                    " (the generator's limit)"
                } else {
                    ""
                }
            );
        }
        out
    }

    /// Ticks, lowest and highest value.
    fn scale(&self, smallest: f64, largest: f64) -> (Vec<f64>, f64, f64) {
        if !self.log {
            let ticks = if self.percent && largest > 0.5 && largest <= 1.05 {
                vec![0.0, 0.25, 0.5, 0.75, 1.0]
            } else {
                ticks(largest)
            };
            let high = ticks.last().copied().unwrap_or(1.0).max(largest);
            return (ticks, 0.0, if high > 0.0 { high } else { 1.0 });
        }
        let low = smallest.log10().floor() as i32;
        let high = (largest.log10().ceil() as i32).max(low + 1);
        let ticks = (low..=high).map(|e| 10f64.powi(e)).collect();
        (ticks, 10f64.powi(low), 10f64.powi(high))
    }
}

fn legend(series: &[Series]) -> String {
    let mut out = String::new();
    let mut x = LEFT;
    for s in series {
        let dash = if s.dashed { " dashed" } else { "" };
        out += &format!(
            "<path class=\"line s{}{dash}\" d=\"M{x:.0} {1}h16\"/><text class=legend x={2:.0} y={3}>{4}</text>",
            s.colour,
            HEIGHT - 12.0,
            x + 20.0,
            HEIGHT - 8.0,
            escape(&s.name)
        );
        x += 34.0 + 6.3 * s.name.chars().count() as f64;
    }
    out
}

/// Round numbers from 0 that reach `high`, at most seven.
fn ticks(high: f64) -> Vec<f64> {
    if !(high > 0.0 && high.is_finite()) {
        return vec![0.0];
    }
    let rough = high / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .iter()
        .map(|f| f * power)
        .find(|s| *s >= rough * 0.999)
        .unwrap_or(power * 10.0);
    (0..=(high / step + 1e-9) as usize)
        .map(|i| i as f64 * step)
        .collect()
}

/// A bar that is made of parts: label, and parts of class and value.
pub struct Bar {
    /// In front of it.
    pub label: String,
    /// Class and value of each part, in ms.
    pub parts: Vec<(&'static str, f64)>,
}

/// Bars one under the other, on one scale if `shared`, else each filling the width.
pub fn bars(bars: &[Bar], shared: bool) -> String {
    const LABEL: f64 = 200.0;
    const VALUE: f64 = 76.0;
    const ROW: f64 = 26.0;
    const ALL: f64 = 860.0;
    let total = |b: &Bar| b.parts.iter().map(|p| p.1).sum::<f64>();
    let most = bars.iter().map(total).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let mut out = format!(
        "<svg class=bars viewBox=\"0 0 {ALL} {:.0}\" role=img>",
        ROW * bars.len() as f64
    );
    for (i, bar) in bars.iter().enumerate() {
        let (sum, y) = (total(bar), ROW * i as f64);
        let scale = (ALL - LABEL - VALUE)
            / if shared {
                most
            } else {
                sum.max(f64::MIN_POSITIVE)
            };
        out += &format!(
            "<text class=\"legend end\" x={} y={:.0}>{}</text>",
            LABEL - 8.0,
            y + 17.0,
            escape(&bar.label)
        );
        let mut x = LABEL;
        for (class, value) in bar.parts.iter().filter(|p| p.1 > 0.0) {
            let width = value * scale;
            out += &format!(
                "<rect class=\"c-{class}\" x={x:.1} y={:.0} width={width:.1} height=18><title>{class}: {} ({:.0}%)</title></rect>",
                y + 4.0,
                crate::words::ms(*value),
                100.0 * value / sum
            );
            if width > 34.0 {
                out += &format!(
                    "<text class=\"in i-{class}\" x={:.1} y={:.0}>{:.0}%</text>",
                    x + 0.5 * width,
                    y + 17.0,
                    100.0 * value / sum
                );
            }
            x += width;
        }
        out += &format!(
            "<text class=tick x={:.1} y={:.0}>{}</text>",
            x + 7.0,
            y + 17.0,
            crate::words::ms(sum)
        );
    }
    out + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(41.0), vec![0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(ticks(0.0), vec![0.0]);
        for high in [0.03, 1.0, 7.7, 352.0, 1e6] {
            let t = ticks(high);
            assert!((3..=7).contains(&t.len()), "{high}: {t:?}");
        }
    }

    #[test]
    fn a_chart_leaves_out_what_is_not_finite() {
        let dots = [(1.0, 5.0), (2.0, f64::NAN), (3.0, 0.0)].map(|(x, y)| Dot {
            x,
            y,
            doubtful: false,
        });
        let series = Series {
            name: "a<b".into(),
            colour: 0,
            dashed: false,
            dots: dots.to_vec(),
        };
        let chart = Chart {
            log: true,
            series: vec![series.clone()],
            ..Chart::default()
        };
        let svg = chart.svg();
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(
            !svg.contains("NaN") && !svg.contains("inf") && svg.contains("a&lt;b"),
            "{svg}"
        );
        let empty = Chart {
            series: vec![Series {
                dots: Vec::new(),
                ..series
            }],
            ..Chart::default()
        };
        assert_eq!(empty.svg(), "");
    }
}
