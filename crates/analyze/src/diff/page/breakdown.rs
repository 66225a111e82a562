//! The breakdown of both sides: for each phase a bar of before and one of now, in parts by cause; those of requests
//! on one scale, those of handshakes on another.

use std::fmt::Write as _;

use loadline_plot::{Bar, Part, bars, escape};

use crate::diff::breakdown::{PHASES, Portion};
use crate::report::table::ms;

/// Causes in the order in which they are drawn, and the colours of the viewer's classes that they have.
const CAUSES: [(&str, &str); 13] = [
    ("running", "running"),
    ("runnable", "runnable"),
    ("queue", "runnable"),
    ("lock", "lock"),
    ("pool", "pool"),
    ("socket", "socket"),
    ("file", "file"),
    ("gc", "gc"),
    ("safepoint", "gc"),
    ("admission", "other"),
    ("other", "other"),
    ("idle", "unknown"),
    ("unknown", "unknown"),
];

/// Both sides, phase by phase; nothing where no phase was recorded.
pub fn html(sides: &[Vec<Portion>; 2]) -> String {
    let of = |side: usize, phase: &str, cause: &str| {
        let mut found = sides[side]
            .iter()
            .filter(|p| p.phase == phase && p.cause == cause);
        found.next().map_or(0.0, |p| p.ms)
    };
    let bar = |side: usize, label: String, phase: &str| Bar {
        label,
        parts: CAUSES
            .iter()
            .map(|(cause, class)| Part {
                name: (*cause).into(),
                class: format!("c-{class}"),
                value: of(side, phase, cause),
            })
            .collect(),
    };
    // A full handshake takes as long as hundreds of requests: each has a scale of its own.
    let drawn = |per: &str| {
        let mut all = Vec::new();
        for (phase, title, _) in PHASES.iter().filter(|p| p.2 == per) {
            if sides
                .iter()
                .flatten()
                .any(|p| p.phase == *phase && p.ms > 0.0)
            {
                all.push(bar(0, format!("{title} · before"), phase));
                all.push(bar(1, "now".into(), phase));
            }
        }
        let drawing = bars(&all, true, |v| format!("{} ms", ms(v)))?;
        Some(format!("<h3>Mean {per}</h3>{}", drawing.inline()))
    };
    let panels: String = ["per request", "per handshake"]
        .into_iter()
        .filter_map(drawn)
        .collect();
    if panels.is_empty() {
        return panels;
    }
    format!(
        "<h2>Where the time of requests and handshakes went</h2><div class=\"panel breakdown\">{}{panels}</div>",
        legend(sides)
    )
}

/// What the colours are, of those that occur.
fn legend(sides: &[Vec<Portion>; 2]) -> String {
    let mut out = String::from("<p class=legend>");
    for (cause, class) in CAUSES {
        if sides
            .iter()
            .flatten()
            .any(|p| p.cause == cause && p.ms > 0.0)
        {
            let _ = write!(
                out,
                "<span><i class=\"c-{class}\"></i>{}</span>",
                escape(cause)
            );
        }
    }
    out + "</p>"
}
