//! The report's page: self-contained, light and dark.

use super::plots;
use super::tables;
use super::text::{far_multiple, interval, load_line, peak_figure};
use crate::plan::Parameters;
use crate::result::{Count, Result};
use crate::search::Judgement;
use crate::traced::{CAUSES, Side};
use crate::words::{cpus, figure, ms, percent};
use loadline_plot::{STYLE, escape};

/// The whole page.
pub fn page(r: &Result) -> String {
    let charts: String = plots::curves(r)
        .iter()
        .map(|c| format!("<figure>{c}</figure>"))
        .collect();
    let counts: String = r
        .counts
        .iter()
        .map(|c| section(c, &r.parameters, r.counts.len() > 1))
        .collect();
    let heads: String = r
        .counts
        .iter()
        .enumerate()
        .map(|(i, c)| head(i, c, &r.parameters))
        .collect();
    let warnings: String = [
        r.failure.as_ref().map(|f| format!("It ended early: {f}")),
        r.partial.then(|| "Partial: not everything that was planned is done. The same command goes on where it stopped.".to_owned()),
    ]
    .iter()
    .flatten()
    .map(|w| format!("<p class=warn>{}</p>", escape(w)))
    .collect();
    format!(
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}{}{}</style><main><h1>{title}</h1><p class=about>{}</p>{warnings}\
         <p class=say>{}</p><div class=heads>{heads}</div><h2>From light load to far beyond saturation</h2>\
         <div class=charts>{charts}</div>\
         <p class=note>Hollow dots: the load generator may have been the limit there, not the server. A load holds if goodput is at least 95% of what is offered and the objective on response time is met; the load line is the largest that does.</p>\
         {counts}</main></html>\n",
        include_str!("page.css"),
        causes(),
        escape(&about(r)),
        escape(&sentence(&r.conclusion)),
        title = escape(&format!("Load line of {}", name(&r.parameters.server))),
    )
}

/// `shop.jar` for `java -jar target/shop.jar --port 0`; else what was given.
fn name(server: &str) -> &str {
    server
        .split([' ', '\'', '"'])
        .find(|word| word.ends_with(".jar"))
        .map_or(server, |jar| jar.rsplit('/').next().unwrap_or(jar))
}

/// Classes of the causes' colours: `c-NAME` in drawings and `b-NAME` elsewhere.
fn causes() -> String {
    CAUSES
        .iter()
        .map(|c| format!(".c-{c}{{fill:var(--{c})}}.b-{c}{{background:var(--{c})}}"))
        .collect()
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|c| c.to_uppercase().collect::<String>() + chars.as_str())
        .unwrap_or_default()
}

fn about(r: &Result) -> String {
    let p = &r.parameters;
    let mut parts = vec![
        p.server.clone(),
        match &p.units {
            Some(units) if units.command == p.server => String::new(),
            Some(units) => format!("driven by {}", units.command),
            None => format!("scenario {}", p.scenario),
        },
        format!(
            "{} points of {}",
            p.points,
            crate::words::seconds(p.duration_s)
        ),
        format!("warm-up {} each", crate::words::seconds(p.warmup_s)),
        match p.units {
            Some(_) => String::new(),
            None => format!("seed {}", p.seed),
        },
        format!(
            "{} ({}), Linux {}",
            r.machine.model,
            cpus(r.machine.cpus),
            r.machine.kernel
        ),
        r.date.clone(),
    ];
    parts.extend(p.think_s.map(|t| format!("think time {}", ms(1e3 * t))));
    parts.extend(
        p.timeout_s
            .map(|t| format!("client timeout {}", ms(1e3 * t))),
    );
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// The figures of one CPU count that matter most.
fn head(i: usize, c: &Count, p: &Parameters) -> String {
    let (load, work) = (p.load_unit(), p.work_unit());
    let name = if c.cpus == 0 {
        "as it is".to_owned()
    } else {
        cpus(c.cpus)
    };
    let Some(curve) = &c.curve else {
        return format!(
            "<div class=head style=\"--c:var(--s{i})\"><h3>{name}</h3><p>nothing measured yet</p></div>"
        );
    };
    let big = match &curve.load_line {
        Some(l) => {
            let at_least = match l.because {
                Some(Judgement::Generator) | None => "≥ ",
                _ => "",
            };
            format!(
                "{at_least}{} <small>{}: the load line</small>",
                figure(l.sessions_per_s),
                escape(&load)
            )
        }
        None => format!("<small>{}</small>", escape(&load_line(curve, p))),
    };
    let mut facts: Vec<(&str, String)> = Vec::new();
    if let Some(l) = &curve.load_line {
        let sure = interval(l);
        if !sure.is_empty() {
            facts.push(("95% interval", sure.trim_start_matches(", ").to_owned()));
        }
        facts.push((
            "there",
            format!("{} {work}, p95 {}", figure(l.replies_per_s), ms(l.p95_ms)),
        ));
        if let (Some(at), Some(why)) = (l.fails_at, l.because) {
            facts.push(("beyond", format!("at {} {}", figure(at), why.words())));
        }
    }
    if let Some(o) = curve.objective {
        facts.push(("objective", o.to_string()));
    }
    if let Some(peak) = curve.peak {
        facts.push((
            "peak",
            format!(
                "{} {work} at {} {load}",
                peak_figure(peak),
                figure(peak.sessions_per_s)
            ),
        ));
    }
    if let Some(level) = curve.levels_off {
        let at = format!(
            "at {} {load}: {} {work}",
            figure(level.sessions_per_s),
            figure(level.replies_per_s)
        );
        facts.push(("levels off", at));
    }
    if let Some(knee) = curve.knee {
        facts.push(("knee", format!("{} {load}", figure(knee.sessions_per_s))));
    }
    if let Some(far) = curve.far {
        let sessions = far
            .sessions()
            .map(|said| format!(", {said}"))
            .unwrap_or_default();
        facts.push((
            "far end",
            format!(
                "at {}x: {} of the peak{sessions}",
                far_multiple(far.multiple),
                percent(far.of_peak)
            ),
        ));
    }
    let facts: String = facts
        .iter()
        .map(|(k, v)| format!("<dt>{k}</dt><dd>{}</dd>", escape(v)))
        .collect();
    let verdict = c
        .verdict
        .as_ref()
        .map(|v| format!("<p>{}.</p>", escape(&sentence(&v.text))))
        .unwrap_or_default();
    format!(
        "<div class=head style=\"--c:var(--s{i})\"><h3>{name}</h3><div class=big>{big}</div><dl>{facts}</dl>{verdict}</div>"
    )
}

/// Everything else about one CPU count: below against above, and the points.
fn section(c: &Count, p: &Parameters, several: bool) -> String {
    let on = if several {
        format!(" on {}", cpus(c.cpus))
    } else {
        String::new()
    };
    let notes: String = c
        .notes
        .iter()
        .map(|n| format!("<p class=note>{}</p>", escape(n)))
        .collect();
    format!(
        "{}{}<h2>Every point{on}</h2>{notes}<div class=panel>{}</div>",
        sides(c, p, &on),
        guarded(c, p, &on),
        tables::points(c, p)
    )
}

/// What the guard did, if there is one.
fn guarded(c: &Count, p: &Parameters, on: &str) -> String {
    let Some(table) = tables::guarded(c, p) else {
        return String::new();
    };
    let observed = c
        .points
        .iter()
        .flat_map(|p| &p.guard)
        .any(|g| g.mode == "observe");
    let said = if observed {
        "It observes: it refused nobody, and the reasons count those whom it would have refused."
    } else {
        "Reasons are the guard's own counts of connections and requests; all else is what the visitors saw. Response times are of those who were let in."
    };
    format!("<h2>What the guard did{on}</h2><div class=panel>{table}<p class=note>{said}</p></div>")
}

fn sides(c: &Count, p: &Parameters, on: &str) -> String {
    let (below, above) = (c.below.as_ref(), c.above.as_ref());
    let both: Vec<&Side> = below.into_iter().chain(above).collect();
    if both.is_empty() {
        return String::new();
    }
    let remarks: String = [("below", below), ("above", above)]
        .iter()
        .filter_map(|(which, side)| Some((which, (*side)?)))
        .map(|(which, s)| {
            let lost = if s.lost > 0 {
                format!(" {} events were lost.", s.lost)
            } else {
                String::new()
            };
            let notes: String = s.notes.iter().map(|n| format!(" {n}.")).collect();
            format!(
                "<p class=note>{}: {}{} Look closer: <code>loadline open traces/{}</code></p>",
                sentence(which),
                escape(&s.verdict),
                escape(&(lost + &notes)),
                escape(&s.trace)
            )
        })
        .collect();
    let blind = both.iter().any(|s| !s.has_kernel);
    let states = if blind {
        "<p class=note>Without the kernel level a thread that runs cannot be told from one that waits for a CPU.</p>".to_owned()
    } else {
        String::new()
    };
    let panel = |content: String| format!("<div class=panel>{content}</div>");
    let mut out = format!(
        "<h2>Below the load line against above it{on}</h2><div class=two>{}{}</div>",
        panel(tables::phases(below, above, p)),
        panel(tables::connections(below, above, p)),
    );
    // A server without TLS has no handshakes to show.
    if both.iter().any(|s| s.handshake().total() > 0.0) {
        out += &format!(
            "<h3>Thread states inside the handshake phase</h3><div class=panel>{}<p class=note>{}</p>{states}</div>\
             <div class=two><div class=panel>{}</div><div>{remarks}</div></div>",
            plots::handshake_states(below, above),
            plots::causes_legend(&both),
            tables::handshake(below, above),
        );
    } else {
        out += &format!("{states}{remarks}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text::tests::result;

    #[test]
    fn the_page_is_self_contained_and_shows_everything() {
        let page = page(&result());
        for part in [
            "Load line of shop.jar",
            "Goodput",
            "Throughput",
            "Response time on 2 CPUs",
            "Sessions completed",
            "Timeouts and errors",
            "Resumed handshakes",
            "CPU of the server",
            "Below the load line against above it on 1 CPU",
            "connection (no request)",
            "Thread states inside the handshake phase",
            "Every point on 2 CPUs",
            "a &lt;note&gt; &amp; more",
        ] {
            assert!(page.contains(part), "no {part:?}");
        }
        for foreign in ["http://", "https://", "<script", "NaN", "inf "] {
            assert!(!page.contains(foreign), "{foreign:?} is in it");
        }
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    }

    #[test]
    fn a_server_without_tls_gets_no_cards_about_handshakes() {
        let mut r = result();
        for c in &mut r.counts {
            c.points
                .iter_mut()
                .for_each(|p| p.load.handshakes = Default::default());
            for side in [&mut c.below, &mut c.above].into_iter().flatten() {
                (side.full, side.resumed, side.failed) = (0, 0, 0);
                side.load.handshakes = Default::default();
                side.phases.retain(|p| !p.label.starts_with("TLS"));
            }
        }
        let page = page(&r);
        for gone in [
            "inside the handshake phase",
            "handshake phase, per connection",
            "full handshakes",
            "<th>resumed</th>",
            "Resumed handshakes",
        ] {
            assert!(!page.contains(gone), "{gone:?} is still there");
        }
        assert!(page.contains("time per connection") && page.contains("connections seen"));
    }

    #[test]
    fn an_empty_result_is_a_page_too() {
        let mut r = result();
        r.partial = true;
        r.failure = Some("the server ended".into());
        for c in &mut r.counts {
            (c.points, c.curve, c.verdict, c.below, c.above) = (Vec::new(), None, None, None, None);
        }
        let page = page(&r);
        assert!(
            page.contains("nothing measured yet") && page.contains("the server ended"),
            "{page}"
        );
    }
}
