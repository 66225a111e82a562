//! The comparison as a page: both sides beside each other; self-contained, light and dark.

mod breakdown;

use loadline_plot::{Drawing, STYLE, escape};

use super::judge::Change;
use super::render::percent;
use super::{Diff, Lone, Recording};
use crate::report::table::ms;

/// The two sides, as they are called.
const SIDES: [&str; 2] = ["before", "now"];
/// Width and height of the drawings in a row.
const WIDTH: f64 = 180.0;
const HEIGHT: f64 = 18.0;
/// How far a change is drawn: to a quarter, and to four times as long.
const REACH: f64 = 4.0;

impl Diff {
    /// As a page that needs nothing else: what [`Diff::render`] says, with every measure, and drawn.
    pub fn html(&self) -> String {
        let v = &self.verdict;
        let (real, noise): (Vec<&Change>, Vec<&Change>) = v.changes.iter().partition(|c| c.real);
        let mut page = format!(
            "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
             <title>loadline diff</title><style>{STYLE}{}</style><main><h1>{}</h1>{}",
            include_str!("page.css"),
            escape(&self.summary),
            sides(|side| recordings(&self.recordings[side])),
        );
        for line in &self.circumstances {
            page += &format!("<p class=note>Differs: {}</p>", escape(line));
        }
        if (v.common - 1.0).abs() >= 0.005 {
            page += &format!(
                "<p class=note>Common to most: {}, the host's speed or the load. It is taken out of every change below.</p>",
                percent(v.common - 1.0)
            );
        }
        page += "<h2>Changes that are more than noise</h2>";
        page += &match real.is_empty() {
            true => "<p class=note>None.</p>".into(),
            false => format!("<div class=panel>{}</div>", table(&real)),
        };
        page += &breakdown::html(&self.breakdown);
        if !noise.is_empty() {
            page += &format!(
                "<h2>Not told from noise</h2><details class=panel><summary>{} measures, the surest first</summary>{}</details>",
                noise.len(),
                table(&noise)
            );
        }
        if self.only.iter().any(|side| !side.is_empty()) {
            page += "<h2>On one side only</h2>";
            page += &sides(|side| lone(&self.only[side]));
        }
        if v.too_few > 0 {
            page += &format!(
                "<p class=note>Too few occurrences to compare: {}.</p>",
                v.too_few
            );
        }
        page + "<p class=note>Whiskers are 95% intervals of the change, from a quarter to four times as long; \
                docs/diff.md says how they are made.</p></main></html>\n"
    }
}

fn sides(of: impl Fn(usize) -> String) -> String {
    let panel = |side: usize| {
        format!(
            "<section class=\"panel side{side}\"><h3>{}</h3>{}</section>",
            SIDES[side],
            of(side)
        )
    };
    format!("<div class=sides>{}{}</div>", panel(0), panel(1))
}

fn recordings(side: &[Recording]) -> String {
    let share = |s: Option<f64>| s.map_or("?".into(), |s| format!("{:.0}%", s * 100.0));
    let rows: String = side
        .iter()
        .map(|r| {
            format!(
                "<tr><th>{}</th><td>{:.1}</td><td>{:.0}</td><td>{}</td><td>{}</td></tr>",
                escape(&r.trace),
                r.seconds,
                r.requests_per_s,
                share(r.others),
                share(r.steal)
            )
        })
        .collect();
    format!(
        "<table><thead><tr><th>recording</th><th>s</th><th>requests/s</th><th>others' CPU</th><th>stolen</th></tr></thead><tbody>{rows}</tbody></table>"
    )
}

fn lone(side: &[Lone]) -> String {
    if side.is_empty() {
        return "<p class=note>nothing</p>".into();
    }
    let rows: String = side
        .iter()
        .map(|l| {
            format!(
                "<tr>{}<td>{}</td><td class=left>{}</td></tr>",
                what(l.kind, &l.name),
                ms(l.mean),
                escape(l.unit)
            )
        })
        .collect();
    format!(
        "<table><thead><tr><th>what</th><th>mean</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
    )
}

fn what(kind: &str, name: &str) -> String {
    format!("<th><small>{}</small>{}</th>", escape(kind), escape(name))
}

fn table(changes: &[&Change]) -> String {
    let row = |c: &&Change| {
        let [low, high] = c.interval;
        let class = match (c.real, c.change > 0.0) {
            (false, _) => "",
            (true, true) => " class=longer",
            (true, false) => " class=shorter",
        };
        let median = if c.rare { ", median" } else { "" };
        format!(
            "<tr>{}<td>{}</td><td>{}</td><td>{}</td><td class=left>{}{median}</td><td{class}>{}</td><td class=ci>{} to {}</td><td>{}</td></tr>",
            what(c.kind, &c.name),
            ms(c.before),
            ms(c.now),
            both(c.before, c.now),
            escape(c.unit),
            percent(c.change),
            percent(low),
            percent(high),
            whisker(c),
        )
    };
    let rows: String = changes.iter().map(row).collect();
    format!(
        "<table><thead><tr><th>what</th><th>before</th><th>now</th><th></th><th></th><th>change</th><th>95% interval</th><th></th></tr></thead>\
         <tbody>{rows}</tbody></table>"
    )
}

/// Two bars, as long as each mean is of the larger.
fn both(before: f64, now: f64) -> String {
    let longest = before.max(now).max(f64::MIN_POSITIVE);
    let bar = |y: f64, mean: f64, class: &str| {
        format!(
            "<rect x=\"0\" y=\"{y}\" width=\"{:.1}\" height=\"6\" rx=\"1\" class=\"{class}\"/>",
            mean / longest * WIDTH
        )
    };
    let bars = bar(2.0, before, "f9") + &bar(10.0, now, "f0");
    let name = format!("{} before, {} now", ms(before), ms(now));
    Drawing::new(&name, WIDTH, HEIGHT, bars).inline()
}

/// The change and its interval on a scale of ratios, with no change in the middle. What lies outside ends at the edge.
fn whisker(c: &Change) -> String {
    let x = |change: f64| {
        let ratio = (1.0 + change).clamp(1.0 / REACH, REACH);
        (ratio.ln() / REACH.ln() + 1.0) / 2.0 * (WIDTH - 8.0) + 4.0
    };
    let colour = match (c.real, c.change > 0.0) {
        (false, _) => 9,
        (true, true) => 1,
        (true, false) => 2,
    };
    let [low, high] = c.interval.map(x);
    let (middle, at, none) = (HEIGHT / 2.0, x(c.change), x(0.0));
    let body = format!(
        "<path class=\"grid\" d=\"M{none:.1},0V{HEIGHT}\"/><path class=\"s{colour}\" stroke-width=\"2\" d=\"M{low:.1},{middle}H{high:.1}\"/>\
         <circle cx=\"{at:.1}\" cy=\"{middle}\" r=\"3.5\" class=\"f{colour}\"/>"
    );
    let name = format!(
        "{}, 95% interval {} to {}",
        percent(c.change),
        percent(c.interval[0]),
        percent(c.interval[1])
    );
    Drawing::new(&name, WIDTH, HEIGHT, body).inline()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Portion, Verdict};

    fn change(name: &str, change: f64, interval: [f64; 2], real: bool) -> Change {
        Change {
            kind: "sql",
            name: name.into(),
            unit: "ms per call",
            before: 1.0,
            now: 1.0 + change,
            rare: false,
            change,
            interval,
            p: 0.0,
            real,
            weight: 1.0,
        }
    }

    fn portion(phase: &str, cause: &str, ms: f64) -> Portion {
        Portion {
            phase: phase.into(),
            cause: cause.into(),
            ms,
        }
    }

    #[test]
    fn the_page_has_both_sides_and_every_measure_and_needs_nothing_else() {
        let recording = |trace: &str| Recording {
            trace: trace.into(),
            seconds: 12.0,
            requests_per_s: 300.0,
            others: Some(0.25),
            steal: None,
        };
        let diff = Diff {
            recordings: [vec![recording("a & b.trace")], vec![recording("c.trace")]],
            circumstances: vec!["JVM: 17 before, 25 now".into()],
            verdict: Verdict {
                common: 1.1,
                drift: 0.06,
                changes: vec![
                    change("SELECT <x>", 0.5, [0.4, f64::INFINITY], true),
                    change("UPDATE y", -1.0, [-1.0, -0.9], true),
                    change("SELECT z", 0.01, [-0.1, 0.1], false),
                ],
                too_few: 3,
            },
            only: [
                vec![],
                vec![Lone {
                    kind: "endpoint",
                    name: "GET /new".into(),
                    unit: "ms per request",
                    mean: 7.0,
                    total_ms: 700.0,
                }],
            ],
            breakdown: [
                vec![
                    portion("service", "running", 2.0),
                    portion("sql", "socket", 4.0),
                ],
                vec![
                    portion("service", "running", 2.0),
                    portion("sql", "socket", 6.0),
                ],
            ],
            summary: "sql SELECT <x> takes +50%".into(),
        };
        let page = diff.html();
        for part in [
            "<h1>sql SELECT &lt;x&gt; takes +50%</h1>",
            "a &amp; b.trace",
            "c.trace",
            "JVM: 17 before, 25 now",
            "+10%, the host",
            "class=longer>+50%",
            "+40% to any",
            "class=shorter>-100%",
            "1 measures",
            "GET /new",
            "compare: 3.",
            "SQL · before",
            "Mean per request",
            ">6.00 ms<",
            "class=\"c-socket\"",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        for never in ["NaN", "inf", "http", "<script"] {
            assert!(!page.contains(never), "{never}");
        }
    }

    #[test]
    fn a_whisker_ends_at_the_edge_and_no_change_is_in_the_middle() {
        let drawn = whisker(&change("x", 0.0, [-1.0, f64::INFINITY], false));
        assert!(drawn.contains("M4.0,9H176.0"), "{drawn}");
        assert!(drawn.contains("cx=\"90.0\""), "{drawn}");
    }
}
