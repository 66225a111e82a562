//! Series over one x axis, with marks and a legend.

use crate::scale::Axis;
use crate::{COLOURS, Drawing, NEUTRAL, escape, short};

const LEFT: f64 = 58.0;
const RIGHT: f64 = 18.0;
/// Of the area between the axes.
const HEIGHT: f64 = 188.0;
const ROW: f64 = 17.0;
/// Mean widths of a character, of texts and of titles.
const CHAR: f64 = 6.3;
const TITLE_CHAR: f64 = 7.8;
/// A point a pixel is as much as can be seen.
const MAX_POINTS: usize = 800;
/// So large that arithmetic on it is no longer sure to stay finite.
const LARGEST: f64 = 1e300;

/// One point of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Along the axis; a point with a value that is not finite is left out.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// Why it is not to be relied on: its dot is hollow, and the tooltip says it.
    pub doubt: Option<&'static str>,
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Point {
        Point { x, y, doubt: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Line,
    Area,
    Reference,
    Dots,
}

/// Points with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    name: String,
    points: Vec<Point>,
    kind: Kind,
    dots: bool,
    colour: Option<usize>,
}

impl Series {
    fn new<P: Into<Point>>(
        kind: Kind,
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        Series {
            name: name.into(),
            points: points.into_iter().map(P::into).collect(),
            dots: kind == Kind::Dots,
            colour: (kind == Kind::Reference).then_some(NEUTRAL),
            kind,
        }
    }

    /// Joined by a line.
    pub fn line<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        Series::new(Kind::Line, name, points)
    }

    /// A line, filled down to the axis.
    pub fn area<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        Series::new(Kind::Area, name, points)
    }

    /// What was not measured but is to be compared with: dashed, neutral, without dots.
    pub fn reference<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        Series::new(Kind::Reference, name, points)
    }

    /// Dots only, with tooltips.
    pub fn dots<P: Into<Point>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = P>,
    ) -> Series {
        Series::new(Kind::Dots, name, points)
    }

    /// With a dot and a tooltip at each point of the line.
    pub fn dotted(self) -> Series {
        Series { dots: true, ..self }
    }

    /// In this colour instead of the one of its place.
    pub fn coloured(self, colour: usize) -> Series {
        Series {
            colour: Some(colour),
            ..self
        }
    }
}

/// A vertical line; left out where the points do not reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// Beside it.
    pub label: String,
    /// One of the palette's.
    pub colour: usize,
}

/// How much of a page a chart takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Size {
    /// Its width: 860 units.
    #[default]
    Wide,
    /// Half of it, beside another one: 560 units.
    Half,
}

/// What is to be drawn. Start from `Chart::default()` and set what is wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Of the values; beside the title.
    pub unit: String,
    /// What x is, with its unit.
    pub x_label: String,
    /// Behind x in tooltips, with its space.
    pub x_unit: String,
    /// Ticks of the x axis; round numbers if there are none.
    pub x_ticks: Vec<(f64, String)>,
    /// The x axis starts at the smallest x instead of 0.
    pub from_smallest: bool,
    /// Values as powers of ten; those not above 0 are left out.
    pub log: bool,
    /// Values are shares of 1, written as percentages.
    pub percent: bool,
    /// How much room it takes.
    pub size: Size,
    /// In the order of legend and colours; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
    /// Vertical lines.
    pub marks: Vec<Mark>,
}

/// Where things are, in units of the drawing.
struct Frame {
    x: Axis,
    y: Axis,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn at(&self, p: &Point) -> (f64, f64) {
        (self.px(p.x), self.py(p.y))
    }

    fn px(&self, x: f64) -> f64 {
        LEFT + self.x.share(x) * (self.right - LEFT)
    }

    fn py(&self, y: f64) -> f64 {
        self.bottom - self.y.share(y) * HEIGHT
    }
}

impl Chart {
    /// With one more series.
    pub fn with(mut self, series: Series) -> Chart {
        self.series.push(series);
        self
    }

    /// The drawing for a page that includes [`STYLE`](crate::STYLE); empty if there is nothing to draw.
    pub fn svg(&self) -> String {
        self.drawing().map(|d| d.inline()).unwrap_or_default()
    }

    /// The drawing; None if no point can be drawn.
    pub fn drawing(&self) -> Option<Drawing> {
        let width = match self.size {
            Size::Wide => 860.0,
            Size::Half => 560.0,
        };
        let title = TITLE_CHAR * self.title.chars().count() as f64;
        let unit = CHAR * self.unit.chars().count() as f64;
        let beside = LEFT + title + 10.0 + unit < width - RIGHT;
        let top = if beside { 32.0 } else { 47.0 };
        let frame = self.frame(width - RIGHT, top)?;
        let mut body = if beside {
            format!(
                "<text class=\"title\" x=\"{LEFT}\" y=\"17\">{}<tspan class=\"unit\" dx=\"10\">{}</tspan></text>",
                escape(&self.title),
                escape(&self.unit)
            )
        } else {
            format!(
                "<text class=\"title\" x=\"{LEFT}\" y=\"17\">{}</text><text class=\"unit\" x=\"{LEFT}\" y=\"33\">{}</text>",
                escape(&self.title),
                escape(&self.unit)
            )
        };
        body += &self.axes(&frame);
        for (n, series) in self.series.iter().enumerate() {
            body += &self.curve(series, colour(series, n), &frame);
        }
        body += &self.marks(&frame);
        let (legend, rows) = self.legend(&frame);
        body += &legend;
        let height = frame.bottom + 24.0 + ROW * rows as f64;
        Some(Drawing {
            wide: true,
            ..Drawing::new(&self.title, width, height, body)
        })
    }

    fn shown<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = &'a Point> {
        let usable = |v: f64| v.abs() < LARGEST;
        series
            .points
            .iter()
            .filter(move |p| usable(p.x) && usable(p.y) && (!self.log || p.y > 1.0 / LARGEST))
    }

    fn frame(&self, right: f64, top: f64) -> Option<Frame> {
        let all = || self.series.iter().flat_map(|s| self.shown(s));
        all().next()?;
        let least = |of: fn(&Point) -> f64| all().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&Point) -> f64| all().map(of).fold(f64::NEG_INFINITY, f64::max);
        let (x_least, x_most) = (least(|p| p.x), most(|p| p.x));
        let (y_least, y_most) = (least(|p| p.y), most(|p| p.y));
        let x_low = if self.from_smallest {
            x_least
        } else {
            x_least.min(0.0)
        };
        Some(Frame {
            x: Axis::between(x_low, x_most, ((right - LEFT) / 75.0) as usize),
            y: match (self.log, self.percent) {
                (true, _) => Axis::decades(y_least, y_most),
                (_, true) => Axis::shares(y_least, y_most),
                _ => Axis::covering(y_least, y_most),
            },
            right,
            top,
            bottom: top + HEIGHT,
        })
    }

    fn axes(&self, frame: &Frame) -> String {
        let mut out = String::new();
        for tick in &frame.y.ticks {
            let y = frame.py(*tick);
            out += &format!(
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{}\"/><text class=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                frame.right,
                LEFT - 7.0,
                y + 4.0,
                frame.y.text(*tick, self.percent)
            );
        }
        let tick = |x: f64, text: &str| {
            format!(
                "<text class=\"middle\" x=\"{:.1}\" y=\"{}\">{}</text>",
                frame.px(x),
                frame.bottom + 16.0,
                escape(text)
            )
        };
        if self.x_ticks.is_empty() {
            let ticks = frame.x.ticks.iter();
            out.extend(ticks.map(|x| tick(*x, &frame.x.text(*x, false))));
        } else {
            let inside = |x: f64| (frame.x.low..=frame.x.high).contains(&x);
            let ticks = self.x_ticks.iter().filter(|t| inside(t.0));
            out.extend(ticks.map(|(x, text)| tick(*x, text)));
        }
        out
    }

    fn curve(&self, series: &Series, colour: usize, frame: &Frame) -> String {
        let points = thinned(self.shown(series).copied().collect());
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return String::new();
        };
        let at: Vec<String> = points
            .iter()
            .map(|p| frame.at(p))
            .map(|(x, y)| format!("{x:.1} {y:.1}"))
            .collect();
        let path = at.join("L");
        let mut out = String::new();
        if series.kind == Kind::Area {
            out += &format!(
                "<path class=\"area f{colour}\" d=\"M{path}L{:.1} {2}L{:.1} {2}Z\"/>",
                frame.px(last.x),
                frame.px(first.x),
                frame.bottom
            );
        }
        if series.kind != Kind::Dots {
            out += &format!(
                "<path class=\"line s{colour}{}\" d=\"M{path}\"/>",
                dash(series)
            );
        }
        if series.dots {
            out.extend(
                points
                    .iter()
                    .map(|p| self.dot(series, p, colour, frame.at(p))),
            );
        }
        out
    }

    fn dot(&self, series: &Series, p: &Point, colour: usize, (x, y): (f64, f64)) -> String {
        let class = if p.doubt.is_some() { "hollow s" } else { "f" };
        let radius = if series.kind == Kind::Dots { 4.0 } else { 3.2 };
        let value = if self.percent {
            short(100.0 * p.y) + "%"
        } else {
            short(p.y)
        };
        let doubt = p.doubt.map_or(String::new(), |why| format!(" ({why})"));
        let tip = format!(
            "{}: {value} at {}{}{doubt}",
            series.name,
            short(p.x),
            self.x_unit
        );
        format!(
            "<circle class=\"{class}{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            escape(&tip)
        )
    }

    fn marks(&self, frame: &Frame) -> String {
        let inside = |x: f64| (frame.x.low..=frame.x.high).contains(&x);
        let mut out = String::new();
        for (i, mark) in self.marks.iter().filter(|m| inside(m.x)).enumerate() {
            let (x, colour) = (frame.px(mark.x), mark.colour % COLOURS);
            // A label near the right end stands to the left of its line.
            let (class, beside) = if x > LEFT + 0.7 * (frame.right - LEFT) {
                (" end", -4.0)
            } else {
                ("", 4.0)
            };
            out += &format!(
                "<path class=\"mark s{colour}\" d=\"M{x:.1} {}V{}\"/><text class=\"label f{colour}{class}\" x=\"{:.1}\" y=\"{}\">{}</text>",
                frame.top,
                frame.bottom,
                x + beside,
                frame.top + 11.0 + 13.0 * i as f64,
                escape(&mark.label)
            );
        }
        out
    }

    /// The legend and, at the right of its first row, what x is; and how many rows these take.
    fn legend(&self, frame: &Frame) -> (String, usize) {
        let mut out = String::new();
        let mut room = frame.right;
        let mut row = 0;
        if !self.x_label.is_empty() {
            out += &format!(
                "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>",
                frame.right,
                frame.bottom + 35.0,
                escape(&self.x_label)
            );
            room -= CHAR * self.x_label.chars().count() as f64 + 14.0;
        }
        let mut x = LEFT;
        for (n, series) in self.series.iter().enumerate() {
            let width = 20.0 + CHAR * series.name.chars().count() as f64;
            if x + width > room && (x > LEFT || room < frame.right) {
                (x, row, room) = (LEFT, row + 1, frame.right);
            }
            let (y, colour) = (frame.bottom + 35.0 + ROW * row as f64, colour(series, n));
            let sample = if series.kind == Kind::Dots {
                format!(
                    "<circle class=\"f{colour}\" cx=\"{}\" cy=\"{}\" r=\"4\"/>",
                    x + 8.0,
                    y - 4.0
                )
            } else {
                format!(
                    "<path class=\"line s{colour}{}\" d=\"M{x:.0} {}h16\"/>",
                    dash(series),
                    y - 4.0
                )
            };
            out += &format!(
                "{sample}<text class=\"key\" x=\"{:.0}\" y=\"{y}\">{}</text>",
                x + 20.0,
                escape(&series.name)
            );
            x += width + 14.0;
        }
        let rows = if out.is_empty() { 0 } else { row + 1 };
        (out, rows)
    }
}

/// Its own colour or, of those before the neutral one, that of its place.
fn colour(series: &Series, place: usize) -> usize {
    series
        .colour
        .map_or(place % NEUTRAL, |colour| colour % COLOURS)
}

fn dash(series: &Series) -> &'static str {
    if series.kind == Kind::Reference {
        " dashed"
    } else {
        ""
    }
}

/// At most `MAX_POINTS` and the two ends: of what shares a pixel the highest stays, so that a stall
/// does not vanish.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let share = points.len().div_ceil(MAX_POINTS);
    if share <= 1 {
        return points;
    }
    let highest = points
        .chunks(share)
        .filter_map(|chunk| chunk.iter().max_by(|a, b| a.y.total_cmp(&b.y)));
    let ends = (points.first(), points.last());
    let mut kept: Vec<Point> = ends.0.into_iter().chain(highest).copied().collect();
    kept.extend(ends.1);
    kept.dedup();
    kept
}

#[cfg(test)]
#[path = "chart_tests.rs"]
mod tests;
