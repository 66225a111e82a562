//! Bars made of parts, one under the other.

use crate::{Drawing, escape};

const WIDTH: f64 = 860.0;
const LABEL: f64 = 200.0;
const VALUE: f64 = 76.0;
const ROW: f64 = 26.0;
/// The narrowest part that has room for its percentage.
const ROOM: f64 = 34.0;

/// A part of a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// For its tooltip.
    pub name: String,
    /// Class of its fill: `f0` to `f9`, or one of the page's own. The text on it has the class `on-`
    /// and this.
    pub class: String,
    /// How long it is; what is not above 0 is left out.
    pub value: f64,
}

/// A bar that is made of parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// In front of it.
    pub label: String,
    /// From left to right.
    pub parts: Vec<Part>,
}

impl Bar {
    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts
            .iter()
            .filter(|p| p.value > 0.0 && p.value.is_finite())
    }

    fn total(&self) -> f64 {
        self.parts().map(|p| p.value).sum()
    }
}

/// Bars on one scale if `shared`, else each filling the width; `text` writes a value with its unit.
/// None if there is nothing to show.
pub fn bars(bars: &[Bar], shared: bool, text: impl Fn(f64) -> String) -> Option<Drawing> {
    let most = bars.iter().map(Bar::total).fold(0.0, f64::max);
    if !(most > 0.0 && most.is_finite()) {
        return None;
    }
    let mut body = String::new();
    for (i, bar) in bars.iter().enumerate() {
        let (total, y) = (bar.total(), ROW * i as f64);
        let of = if shared { most } else { total };
        body += &format!(
            "<text class=\"key end\" x=\"{}\" y=\"{}\">{}</text>",
            LABEL - 8.0,
            y + 17.0,
            escape(&bar.label)
        );
        let mut x = LABEL;
        for part in bar.parts() {
            let width = part.value / of * (WIDTH - LABEL - VALUE);
            let percent = 100.0 * part.value / total;
            let class = escape(&part.class);
            body += &format!(
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{}\" width=\"{width:.1}\" height=\"18\"><title>{}: {} ({percent:.0}%)</title></rect>",
                y + 4.0,
                escape(&part.name),
                escape(&text(part.value)),
            );
            if width > ROOM {
                body += &format!(
                    "<text class=\"in on-{class}\" x=\"{:.1}\" y=\"{}\">{percent:.0}%</text>",
                    x + 0.5 * width,
                    y + 17.0
                );
            }
            x += width;
        }
        body += &format!(
            "<text x=\"{:.1}\" y=\"{}\">{}</text>",
            x + 7.0,
            y + 17.0,
            escape(&text(total))
        );
    }
    let names: Vec<&str> = bars.iter().map(|b| b.label.as_str()).collect();
    Some(Drawing {
        wide: true,
        ..Drawing::new(&names.join("; "), WIDTH, ROW * bars.len() as f64, body)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, values: &[f64]) -> Bar {
        let part = |(i, value): (usize, &f64)| Part {
            name: format!("part<{i}>"),
            class: format!("f{i}"),
            value: *value,
        };
        Bar {
            label: label.into(),
            parts: values.iter().enumerate().map(part).collect(),
        }
    }

    fn widths(svg: &str) -> Vec<f64> {
        svg.split("<rect")
            .skip(1)
            .map(|r| r.split(" width=\"").nth(1).unwrap())
            .map(|r| r.split('"').next().unwrap().parse().unwrap())
            .collect()
    }

    #[test]
    fn bars_share_a_scale_or_fill_the_width() {
        let all = [bar("a&b", &[10.0, 30.0]), bar("c", &[20.0])];
        let shared = bars(&all, true, |v| format!("{v} ms")).unwrap().inline();
        assert_eq!(widths(&shared), [146.0, 438.0, 292.0]);
        let own = bars(&all, false, |v| format!("{v} ms")).unwrap().inline();
        assert_eq!(widths(&own), [146.0, 438.0, 584.0]);
        for part in ["a&amp;b", "part&lt;1&gt;: 30 ms (75%)", ">40 ms</text>"] {
            assert!(own.contains(part), "no {part:?} in {own}");
        }
    }

    #[test]
    fn bars_of_nothing_are_not_drawn() {
        assert_eq!(bars(&[], true, |_| String::new()), None);
        let odd = [bar("x", &[0.0, f64::NAN, -1.0, f64::INFINITY])];
        assert_eq!(bars(&odd, true, |_| String::new()), None);
        let with_odd = [bar("x", &[f64::NAN, 2.0]), bar("y", &[])];
        let svg = bars(&with_odd, false, crate::short).unwrap().inline();
        assert_eq!(widths(&svg), [584.0]);
        assert!(!svg.contains("NaN"), "{svg}");
    }
}
