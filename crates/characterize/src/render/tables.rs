//! Tables of the page.

use crate::guarded::{Guarded, REASONS};
use crate::measured::{Handshakes, Point};
use crate::plan::Parameters;
use crate::result::Count;
use crate::search::{Judged, Judgement};
use crate::traced::{CAUSES, Side};
use crate::words::{figure, ms, percent};
use loadline_plot::escape;

fn cell(text: &str) -> String {
    format!("<td>{text}</td>")
}

fn header(names: &[&str]) -> String {
    let cells: String = names.iter().map(|n| format!("<th>{n}</th>")).collect();
    format!("<thead><tr>{cells}</tr></thead>")
}

/// All points of a CPU count.
pub fn points(count: &Count, p: &Parameters) -> String {
    let judged = count
        .curve
        .as_ref()
        .map(|c| c.judged.as_slice())
        .unwrap_or_default();
    let any = |of: fn(&Point) -> bool| count.points.iter().any(of);
    let there = Columns {
        tls: any(|p| p.load.handshakes != Handshakes::default()),
        refused: any(|p| p.load.refused() > 0),
    };
    let rows: String = count
        .points
        .iter()
        .map(|p| {
            let how = judged.iter().find(|j| j.rate == p.rate).copied();
            let clicks = count.probe.as_ref().map_or(1.0, |p| p.clicks);
            row(p, how, clicks, there)
        })
        .collect();
    let load = loadline_plot::escape(&p.load_unit());
    let names: Vec<&str> = COLUMNS
        .into_iter()
        .filter(|name| there.has(name))
        .map(|name| {
            if name == COLUMNS[0] {
                load.as_str()
            } else {
                name
            }
        })
        .collect();
    format!(
        "<table class=points>{}<tbody>{rows}</tbody></table>",
        header(&names)
    )
}

const COLUMNS: [&str; 17] = [
    "sessions/s",
    "throughput/s",
    "goodput/s",
    "of offered",
    "mean",
    "p50",
    "p95",
    "p99",
    "completed",
    "refused/s",
    "timeouts/s",
    "errors/s",
    "full",
    "resumed",
    "server CPU",
    "generator",
    "",
];

/// Which of the columns have something to say of a server.
#[derive(Clone, Copy)]
struct Columns {
    /// It has TLS.
    tls: bool,
    /// It refused somebody.
    refused: bool,
}

impl Columns {
    fn has(self, name: &str) -> bool {
        match name {
            "full" | "resumed" => self.tls,
            "refused/s" => self.refused,
            _ => true,
        }
    }
}

fn row(p: &Point, how: Option<Judged>, clicks: f64, there: Columns) -> String {
    let l = &p.load;
    let share = |s: Option<f64>| s.map_or("-".into(), percent);
    let time = |t: f64| {
        if l.response.count > 0 {
            ms(t)
        } else {
            "-".into()
        }
    };
    let limit = l.generator_limit();
    let remark = match (&limit, how) {
        (Some(why), _) => format!(
            "<span class=doubt title=\"{}\">the generator's limit</span>",
            escape(why)
        ),
        (None, Some(j)) => {
            let class = match j.how {
                Judgement::Holds => "holds",
                // No failure: what is let in is served as it should be.
                Judgement::Refused => "doubt",
                _ => "fails",
            };
            let runs = if j.runs > 1 {
                format!(" in {} runs together", j.runs)
            } else {
                String::new()
            };
            let doubt = if j.sure {
                ""
            } else {
                ", <span class=doubt title=\"within the 95% interval\">not sure</span>"
            };
            format!("<span class={class}>{}</span>{runs}{doubt}", short(j.how))
        }
        (None, None) => String::new(),
    };
    let cells: String = [
        figure(p.rate),
        figure(l.throughput()),
        figure(l.replies_per_s),
        percent(l.goodput_share(clicks)),
        time(l.response.mean_ms),
        time(l.response.p50_ms),
        time(l.response.p95_ms),
        time(l.response.p99_ms),
        share(l.completed_share()),
        figure(l.refused_per_s()),
        figure(l.timeouts_per_s()),
        figure(l.errors_per_s()),
        l.handshakes.full.to_string(),
        l.handshakes.resumed.to_string(),
        share(p.cpu.as_ref().map(|c| c.server / f64::from(p.cpus.max(1)))),
        percent(l.generator.cpu_share),
    ]
    .iter()
    .zip(COLUMNS)
    .filter(|(_, name)| there.has(name))
    .map(|(t, _)| cell(t))
    .collect();
    let class = if p.search { " class=search" } else { "" };
    format!("<tr{class}>{cells}<td class=remark>{remark}</td></tr>")
}

/// Why, in the words that fit a table.
fn short(how: Judgement) -> &'static str {
    match how {
        Judgement::Holds => "holds",
        Judgement::Goodput => "goodput below 95%",
        Judgement::Refused => "more than 5% refused",
        Judgement::Slow => "too slow",
        Judgement::Generator => "the generator's limit",
    }
}

/// What the guard did at each point; none without a guard.
pub fn guarded(count: &Count, p: &Parameters) -> Option<String> {
    let points: Vec<(&Point, &Guarded)> = count
        .points
        .iter()
        .filter_map(|p| Some((p, p.guard.as_ref()?)))
        .collect();
    if points.is_empty() {
        return None;
    }
    let reasons: Vec<&str> = REASONS
        .into_iter()
        .map(|(_, words)| words)
        .filter(|words| points.iter().any(|(_, g)| g.refused.contains_key(*words)))
        .collect();
    let load = escape(&p.load_unit());
    let mut names = vec![load.as_str(), "mode", "let in", "of them completed", "p95"];
    names.extend(&reasons);
    names.push("");
    let share = |s: Option<f64>| s.map_or("-".into(), percent);
    let rows: String = points
        .iter()
        .map(|(p, g)| {
            let l = &p.load;
            let mut cells = vec![
                figure(p.rate),
                escape(&format!("{} {}", g.mode, g.objective)),
                share(l.refused_share().map(|refused| 1.0 - refused)),
                share(l.kept_share()),
                if l.response.count > 0 {
                    ms(l.response.p95_ms)
                } else {
                    "-".into()
                },
            ];
            cells.extend(reasons.iter().map(|words| match g.refused.get(*words) {
                Some(n) => figure(*n as f64),
                None => "-".into(),
            }));
            let remark = match (&g.not_told, g.stalled, g.errors) {
                (Some(why), ..) => escape(&format!("it did not say: {why}")),
                (None, true, _) => "it let everybody in: its loop did not run".to_owned(),
                (None, false, 0) => String::new(),
                (None, false, n) => format!("{n} errors inside of it: see the server's log"),
            };
            let cells: String = cells.iter().map(|t| cell(t)).collect();
            let class = if p.search { " class=search" } else { "" };
            format!("<tr{class}>{cells}<td class=remark>{remark}</td></tr>")
        })
        .collect();
    Some(format!(
        "<table class=points>{}<tbody>{rows}</tbody></table>",
        header(&names)
    ))
}

/// Mean time per connection by phase, below against above.
pub fn phases(below: Option<&Side>, above: Option<&Side>, p: &Parameters) -> String {
    let mut labels: Vec<&str> = Vec::new();
    for phase in [below, above].into_iter().flatten().flat_map(|s| &s.phases) {
        if !labels.contains(&phase.label.as_str()) {
            labels.push(&phase.label);
        }
    }
    labels.sort_by_key(|label| crate::traced::order(label));
    let of = |side: Option<&Side>, label: &str| {
        let side = side?;
        Some(
            side.phases
                .iter()
                .find(|p| p.label == label)
                .map_or(0.0, |p| p.total()),
        )
    };
    let show = |t: Option<f64>| t.map_or("-".into(), |t| if t > 0.0 { ms(t) } else { "-".into() });
    let rows: String = labels
        .iter()
        .map(|label| {
            let (a, b) = (of(below, label), of(above, label));
            let times = match (a, b) {
                (Some(a), Some(b)) if a > 0.0 && b > 0.0 => format!("{} ×", figure(b / a)),
                _ => "-".into(),
            };
            format!(
                "<tr><th>{}</th>{}{}{}</tr>",
                escape(label),
                cell(&show(a)),
                cell(&show(b)),
                cell(&times)
            )
        })
        .collect();
    format!(
        "<table>{}<tbody>{rows}</tbody></table>",
        header(&[
            match p.units {
                Some(_) => "time per unit of work",
                None => "time per connection",
            },
            "below",
            "above",
            ""
        ])
    )
}

/// Connections and handshakes, below against above; the client's view of a handshake beside it.
pub fn connections(below: Option<&Side>, above: Option<&Side>, p: &Parameters) -> String {
    let offered = format!("offered, {}", loadline_plot::escape(&p.load_unit()));
    type Figure = fn(&Side) -> String;
    let all: [(&str, Figure); 9] = [
        (&offered, |s| figure(s.rate)),
        ("recorded", |s| crate::words::seconds(s.seconds)),
        ("connections seen", |s| figure(s.connections as f64)),
        ("full handshakes", |s| share(s.full, s.full + s.resumed)),
        ("resumed handshakes", |s| {
            share(s.resumed, s.full + s.resumed)
        }),
        ("failed handshakes", |s| figure(s.failed as f64)),
        ("full handshake, at the client (p50)", |s| {
            time(&s.load.phases.tls_full)
        }),
        ("resumed handshake, at the client (p50)", |s| {
            time(&s.load.phases.tls_resumed)
        }),
        ("CPUs of the server", |s| {
            s.utilization.map_or("-".into(), percent)
        }),
    ];
    let tls = [below, above]
        .into_iter()
        .flatten()
        .any(|s| s.full + s.resumed + s.failed > 0 || s.load.handshakes != Handshakes::default());
    let show = |side: Option<&Side>, f: Figure| side.map_or("-".into(), f);
    let rows: String = all
        .iter()
        .filter(|(label, _)| tls || !label.contains("handshake"))
        .filter(|(label, _)| p.units.is_none() || *label != "connections seen")
        .map(|(label, f)| {
            format!(
                "<tr><th>{label}</th>{}{}</tr>",
                cell(&show(below, *f)),
                cell(&show(above, *f))
            )
        })
        .collect();
    format!(
        "<table>{}<tbody>{rows}</tbody></table>",
        header(&["", "below", "above"])
    )
}

fn share(n: u64, of: u64) -> String {
    if of == 0 {
        "-".into()
    } else {
        format!("{n} ({})", percent(n as f64 / of as f64))
    }
}

fn time(q: &crate::measured::Quantiles) -> String {
    if q.count == 0 {
        "-".into()
    } else {
        ms(q.p50_ms)
    }
}

/// Causes inside the handshake phase, ms per connection, below against above.
pub fn handshake(below: Option<&Side>, above: Option<&Side>) -> String {
    let sides = [below, above].map(|s| s.map(Side::handshake));
    let of = |i: usize, cause: &str| {
        let ms = sides[i].as_ref()?.ms.get(cause).copied().unwrap_or(0.0);
        Some(ms)
    };
    let rows: String = CAUSES
        .iter()
        .filter(|c| (0..2).any(|i| of(i, c).is_some_and(|ms| ms > 0.0)))
        .map(|cause| {
            let cells: String = (0..2)
                .map(|i| {
                    let total = sides[i].as_ref().map_or(0.0, |s| s.total());
                    let text = match of(i, cause) {
                        Some(t) if total > 0.0 => {
                            format!("{} <small>{}</small>", ms(t), percent(t / total))
                        }
                        _ => "-".into(),
                    };
                    cell(&text)
                })
                .collect();
            format!(
                "<tr><th><span class=key><i class=\"b-{cause}\"></i>{cause}</span></th>{cells}</tr>"
            )
        })
        .collect();
    format!(
        "<table>{}<tbody>{rows}</tbody></table>",
        header(&["handshake phase, per connection", "below", "above"])
    )
}
