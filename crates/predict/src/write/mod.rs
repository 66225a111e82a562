//! The model's file: a fit as text in the model language, commented with where each number comes from and how sure it is.

mod numbers;
mod parameters;
mod programs;
mod shared;
mod visitors;

use std::fmt::Write;

use crate::fit::{Fit, Handshake};
use numbers::time;
use parameters::parameters;
use programs::{machines, pools};
use visitors::visitors;

/// What the recording does not tell and the model needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Assumed {
    /// Connections of each pool.
    pub pool: Option<u32>,
    /// Worker threads.
    pub workers: Option<u32>,
}

/// The file's text.
pub fn text(fit: &Fit, assumed: &Assumed) -> String {
    let mut out = head(fit);
    parameters(&mut out, fit, assumed);
    machines(&mut out, fit);
    pools(&mut out, fit);
    visitors(&mut out, fit);
    out
}

fn head(fit: &Fit) -> String {
    let about = &fit.about;
    let mut out = String::new();
    let mut line = |text: &str| {
        for part in wrapped(text, 116) {
            let _ = writeln!(out, "# {part}");
        }
    };
    line(&format!(
        "Fitted by loadline {} to {}",
        env!("CARGO_PKG_VERSION"),
        about.trace
    ));
    line(&format!(
        "  {} on {}, {}, {} CPU{}; {}",
        about.name,
        about.jvm,
        about.server,
        about.cpus,
        if about.cpus == 1 { "" } else { "s" },
        about.machine
    ));
    line(&format!(
        "  {:.1} s, {} requests, {} full and {} resumed handshakes, {:.0}% of its CPUs used",
        about.seconds,
        fit.classes.iter().map(|c| c.count).sum::<usize>(),
        fit.full.as_ref().map_or(0, |h| h.count),
        fit.resumed.as_ref().map_or(0, |h| h.count),
        100.0 * fit.used / f64::from(about.cpus)
    ));
    for (i, r) in fit.recordings.iter().enumerate() {
        line(&format!(
            "  [{}] {}: {:.1} s, {} requests, {:.0}% of the CPUs used; a request of the common mix took {} ±{} of CPU; \
             utilization law {:+.1}%, {:+.1}% from its first half to its second",
            i + 1,
            r.trace,
            r.seconds,
            r.requests,
            100.0 * r.utilization,
            time(r.cpu),
            time(r.ci95),
            100.0 * r.law,
            100.0 * r.drift
        ));
    }
    line("How sure it is");
    line(&format!(
        "  utilization law: all demands together are {:+.1}% off what was used{}",
        100.0 * fit.law,
        fit.counters.map_or(String::new(), |c| format!(
            "; /proc counted {:+.1}%",
            100.0 * c
        ))
    ));
    line(&format!(
        "  CPU per request: {:+.1}% from the first half of the recording to the second",
        100.0 * fit.drift
    ));
    line(&format!(
        "  recording cost {:.1}% of the CPU that was used, which demands leave out",
        100.0 * fit.recording
    ));
    line("Not determined by this recording");
    for open in &fit.open {
        line(&format!("  {open}"));
    }
    line(
        "What ci95 is: half of the width of the 95% interval of a mean, by batches; loadline whatif carries it into what it predicts.",
    );
    let _ = writeln!(
        out,
        "title = \"{}, fitted to {}\"\n",
        plain(&about.name),
        plain(&about.trace)
    );
    out
}

/// Text that may stand between quotes.
fn plain(text: &str) -> String {
    text.replace(['"', '\\'], "'")
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut lines = vec![indent.clone()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].trim().is_empty() {
            lines[last].push_str(word);
        } else if lines[last].len() + word.len() < width {
            lines[last].push(' ');
            lines[last].push_str(word);
        } else {
            lines.push(format!("{indent}  {word}"));
        }
    }
    lines
}

fn pool_name(i: usize) -> String {
    if i == 0 {
        "pool".into()
    } else {
        format!("pool_{}", i + 1)
    }
}

fn kinds(fit: &Fit) -> impl Iterator<Item = (&'static str, &Handshake)> {
    [("full", &fit.full), ("resumed", &fit.resumed)]
        .into_iter()
        .filter_map(|(name, h)| Some((name, h.as_ref()?)))
}

/// What was fitted, in a few lines for whoever asked for it.
pub fn summary(fit: &Fit) -> String {
    let one = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let pools = match fit.pools.len() {
        0 => String::new(),
        n => format!(", {}", one(n, "pool")),
    };
    let mut out = format!(
        "  {} of requests{pools}; the utilization law holds within {:.1}%; the server used {:.0}% of its CPUs\n",
        if fit.classes.len() == 1 {
            "1 class".into()
        } else {
            format!("{} classes", fit.classes.len())
        },
        100.0 * fit.law.abs(),
        100.0 * fit.used / f64::from(fit.about.cpus)
    );
    if let Some(c) = &fit.contention {
        let _ = writeln!(
            out,
            "  CPU demands {} by {:.0} ±{:.0}% from idle CPUs to full ones, by {}",
            if c.growth.growth < 0.0 {
                "shrink"
            } else {
                "grow"
            },
            100.0 * c.growth.growth.abs(),
            100.0 * c.growth.ci95,
            if c.of_requests() {
                "what requests cost after idle time and after none".into()
            } else {
                format!("{} recordings", fit.recordings.len())
            }
        );
    }
    for open in &fit.open {
        for (i, line) in wrapped(open, 90).iter().enumerate() {
            let lead = if i == 0 {
                "not determined by this trace: "
            } else {
                "    "
            };
            let _ = writeln!(out, "  {lead}{}", line.trim());
        }
    }
    out
}
