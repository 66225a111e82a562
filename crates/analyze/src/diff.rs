//! What changed between two sets of recordings, and whether it is more than noise.
//!
//! Terms: a *measure* is a mean that both sides have (time of an endpoint per request, of a statement per call, of a cause
//! or of a method's code per request); a *part* is its sum and count over one of some consecutive stretches of a recording; the *common factor*
//! is what most measures changed by alike: the host's speed, or a load that differs.
//!
//! The way: [`measures`] reads parts with SQL, [`mod@pair`] puts the two sides together, [`judge`](mod@judge) says which
//! changes are more than noise, and [`Diff::render`] prints, [`Diff::html`] draws. Only the first touches files.

mod breakdown;
pub mod judge;
mod measures;
mod page;
mod pair;
mod render;

use anyhow::{Result, bail};
use loadline_trace::Trace;
use serde::Serialize;

pub use breakdown::Portion;
pub use judge::{Change, Measure, Part, Side, Verdict};
pub use pair::Lone;

/// The comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Diff {
    /// The recordings of the first side, and of the second.
    pub recordings: [Vec<Recording>; 2],
    /// What differs in what was recorded: machine, JVM, CPUs, load. In sentences.
    pub circumstances: Vec<String>,
    /// Changes and their judgement, the surest first.
    pub verdict: Verdict,
    /// What only the first side has, and what only the second, the longest first.
    pub only: [Vec<Lone>; 2],
    /// Where the time of handshakes and requests went, of each side.
    pub breakdown: [Vec<Portion>; 2],
    /// In one sentence.
    pub summary: String,
}

/// A recording that is compared.
#[derive(Debug, Clone, Serialize)]
pub struct Recording {
    /// Its directory.
    pub trace: String,
    /// Its length, s.
    pub seconds: f64,
    /// Requests that ended in it, per second.
    pub requests_per_s: f64,
    /// CPU time of everybody else on its machine, as a share of the machine; unknown if it was not read.
    pub others: Option<f64>,
    /// Time that the hypervisor gave to others, likewise.
    pub steal: Option<f64>,
}

/// Compares recordings `a` with recordings `b`.
pub fn diff(a: &[Trace], b: &[Trace]) -> Result<Diff> {
    if a.is_empty() || b.is_empty() {
        bail!("a side without a recording cannot be compared");
    }
    let read = |side: &[Trace]| -> Result<Vec<_>> { side.iter().map(measures::read).collect() };
    let (of_a, of_b) = (read(a)?, read(b)?);
    let circumstances = circumstances(a, b, &of_a, &of_b);
    let recordings = [&of_a, &of_b].map(|s| s.iter().map(|r| r.recording.clone()).collect());
    let breakdown = [&of_a, &of_b].map(|s| breakdown::means(s.iter().map(|r| &r.breakdown)));
    let (measures, only) = pair::pair(of_a, of_b);
    let verdict = judge::judge(&measures);
    if verdict.changes.is_empty() {
        bail!(
            "the two sides have nothing in common that could be compared: no request, statement, lock or thread of one is in the \
             other often enough"
        );
    }
    let summary = render::summary(&verdict, &only);
    Ok(Diff {
        recordings,
        circumstances,
        verdict,
        only,
        breakdown,
        summary,
    })
}

/// What differs in what was recorded, before anything is compared.
fn circumstances(
    a: &[Trace],
    b: &[Trace],
    of_a: &[measures::Read],
    of_b: &[measures::Read],
) -> Vec<String> {
    let mut said = Vec::new();
    let mut differs = |what: &str, of: &dyn Fn(&Trace) -> String| {
        let all = |side: &[Trace]| {
            let mut all: Vec<String> = side.iter().map(of).collect();
            all.sort();
            all.dedup();
            all.join(", ")
        };
        let (x, y) = (all(a), all(b));
        if x != y {
            said.push(format!("{what}: {x} before, {y} now"));
        }
    };
    differs("host", &|t| t.meta.machine.host.clone());
    differs("CPU", &|t| t.meta.machine.cpu_model.clone());
    differs("CPUs", &|t| t.meta.machine.target_cpus.to_string());
    differs("kernel", &|t| t.meta.machine.kernel.clone());
    differs("JVM", &|t| t.meta.target.jvm.clone());
    differs("server", &|t| {
        t.meta.target.server.clone().unwrap_or_default()
    });
    differs("levels recorded", &|t| {
        let levels = t.meta.levels.iter().filter(|(_, l)| l.recorded);
        levels
            .map(|(n, _)| n.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    });
    let mean = |side: &[measures::Read], of: &dyn Fn(&Recording) -> Option<f64>| {
        let known: Vec<f64> = side.iter().filter_map(|r| of(&r.recording)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let mut share = |what: &str, of: &dyn Fn(&Recording) -> Option<f64>| {
        if let (Some(x), Some(y)) = (mean(of_a, of), mean(of_b, of))
            && (x - y).abs() > 0.02
        {
            said.push(format!(
                "{what}: {:.0}% of the machine before, {:.0}% now",
                x * 100.0,
                y * 100.0
            ));
        }
    };
    share("other processes", &|r| r.others);
    share("stolen by the hypervisor", &|r| r.steal);
    if let (Some(x), Some(y)) = (
        mean(of_a, &|r| Some(r.requests_per_s)),
        mean(of_b, &|r| Some(r.requests_per_s)),
    ) && x > 0.0
        && (y / x - 1.0).abs() > 0.05
    {
        said.push(format!("load: {x:.0} requests/s before, {y:.0} now"));
    }
    said
}
