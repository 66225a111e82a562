//! Charts as SVG: no script, no fonts, no dependencies; one look for every page of Loadline.
//!
//! Terms: a [`Chart`] has [`Series`] of [`Point`]s over one x axis; [`bars`] are stacked parts under
//! each other; both give a [`Drawing`], and a caller with shapes of its own can make one too.
//!
//! A drawing has two forms. *Inline* it belongs to an HTML page that includes [`STYLE`] once. As a
//! *file* it carries its colours with it. Either follows the reader's preference for light or dark.
//!
//! What always holds: all text of callers is escaped; values that are not finite are left out, never
//! drawn; where nothing is left there is no drawing at all; the highest of many points is shown.
//!
//! Colours are classes: `sN` strokes and `fN` fills, N from 0 to 9. 0 to 5 are those of Okabe and Ito
//! ("Color Universal Design", 2008), which colour-blind eyes tell apart, as dark as lines on white
//! have to be; [`NEUTRAL`] is for what was not measured.

mod bars;
mod chart;
mod scale;

pub use bars::{Bar, Part, bars};
pub use chart::{Chart, Mark, Point, Series, Size};
pub use scale::short;

/// Style sheet of a page with drawings. Its variables are the page's to use: `--ground`, `--text`,
/// `--muted`, `--rule`, `--s0` to `--s9`.
pub const STYLE: &str = include_str!("style.css");

/// Colour of references.
pub const NEUTRAL: usize = 9;

/// How many colours there are.
const COLOURS: usize = 10;

/// Text made safe for HTML and XML, in attributes too. What XML cannot hold becomes U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Shapes with a size, in the classes of [`STYLE`].
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    name: String,
    width: f64,
    height: f64,
    /// As wide as the page lets it, instead of its own width at most.
    wide: bool,
    body: String,
}

impl Drawing {
    /// Of shapes that the caller wrote: SVG elements whose texts are escaped. `name` is read aloud.
    pub fn new(name: &str, width: f64, height: f64, body: String) -> Drawing {
        Drawing {
            name: name.into(),
            width,
            height,
            wide: false,
            body,
        }
    }

    /// An `<svg>` for an HTML page that includes [`STYLE`].
    pub fn inline(&self) -> String {
        if self.wide {
            self.element(" wide", "", "")
        } else {
            self.element("", &self.size(), "")
        }
    }

    /// A whole `.svg` file.
    pub fn file(&self) -> String {
        let attributes = format!(" xmlns=\"http://www.w3.org/2000/svg\"{}", self.size());
        let style = format!("<style>{}</style>", plain_style());
        self.element("", &attributes, &style) + "\n"
    }

    fn size(&self) -> String {
        format!(" width=\"{:.0}\" height=\"{:.0}\"", self.width, self.height)
    }

    fn element(&self, class: &str, attributes: &str, style: &str) -> String {
        let Drawing {
            width,
            height,
            body,
            ..
        } = self;
        format!(
            "<svg{attributes} class=\"plot{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">{style}{body}</svg>",
            escape(&self.name)
        )
    }
}

/// The style sheet without variables, which few readers of SVG files but browsers know; those that
/// do not know media queries either see the light one.
fn plain_style() -> String {
    let mut lines = STYLE.lines();
    let light = lines.next().unwrap_or_default();
    let dark = lines.next().unwrap_or_default();
    let rules = lines.collect::<Vec<_>>().join("\n") + "\nsvg.plot{background:var(--ground)}";
    let with = |values: &str| {
        values
            .split(['{', '}', ';'])
            .filter_map(|v| v.split_once(':'))
            .filter(|(name, _)| name.starts_with("--"))
            .fold(rules.clone(), |rules, (name, value)| {
                rules.replace(&format!("var({name})"), value)
            })
    };
    format!(
        "{}\n@media(prefers-color-scheme:dark){{\n{}\n}}",
        with(light),
        with(dark)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(
            escape("a<b> & \"c\" 'd'\u{1}é"),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\u{fffd}é"
        );
    }

    #[test]
    fn a_file_is_complete_and_an_inline_drawing_leaves_its_style_to_the_page() {
        let drawing = Drawing::new("a \"b\"", 200.0, 100.0, "<path class=\"s0\"/>".into());
        let (inline, file) = (drawing.inline(), drawing.file());
        assert!(!inline.contains("xmlns") && !inline.contains("<style"));
        assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\""));
        for text in [&inline, &file] {
            assert!(text.contains("aria-label=\"a &quot;b&quot;\""), "{text}");
        }
        // Both palettes are in it, and no variable is left.
        assert!(file.contains("stroke:#0072b2") && file.contains("stroke:#4ba3dd"));
        assert!(!file.contains("var("), "{file}");
    }

    #[test]
    fn every_colour_has_both_classes_and_both_themes() {
        for n in 0..COLOURS {
            assert_eq!(STYLE.matches(&format!("--s{n}:#")).count(), 2, "{n}");
            assert!(STYLE.contains(&format!(".s{n}{{stroke:var(--s{n})}}")));
            assert!(STYLE.contains(&format!(".f{n}{{fill:var(--s{n})}}")));
        }
    }
}
