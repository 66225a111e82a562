//! What limits a model at a load, in a sentence.

use loadline_model::answer::{Answer, StationAnswer};
use serde::Serialize;

/// Above this utilization a part is the limit, whatever else waits.
const FULL: f64 = 0.9;
/// The same of a machine, whose queue grows long before it never idles.
const FULL_MACHINE: f64 = 0.8;
/// What waiting for a part must be of a response before the part is named as what slows it.
const MATTERS: f64 = 0.1;

/// What limits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The part's name in the model; empty if none stands out.
    pub part: String,
    /// machine, pool, resource or station.
    pub kind: String,
    /// Its utilization.
    pub utilization: f64,
    /// The sentence.
    pub sentence: String,
}

/// How much of it is in use; nothing of what has no bound.
fn used(part: &StationAnswer) -> Option<f64> {
    let share = part.utilization?.value;
    (share.is_finite() && share <= 1.0 + 1e-6).then_some(share.min(1.0))
}

/// The parts that requests come to: a compiler's thread, which only work of the background comes to, holds nobody up.
fn parts<'a>(
    answer: &'a Answer,
    background: &'a [String],
) -> impl Iterator<Item = (&'a String, &'a StationAnswer, f64)> {
    let theirs = |part: &StationAnswer| {
        let classes = &part.classes.0;
        !classes.is_empty() && classes.iter().all(|(name, _)| background.contains(name))
    };
    answer
        .stations
        .0
        .iter()
        .filter(move |(_, part)| !theirs(part))
        .filter_map(|(name, part)| Some((name, part, used(part)?)))
}

/// The part that is busiest, and how busy it is. `background`: classes that are no requests.
pub(super) fn busiest(answer: &Answer, background: &[String]) -> Option<(String, f64)> {
    parts(answer, background)
        .map(|(name, _, used)| (name.clone(), used))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// What limits at this load: the busiest part if it is full; else what requests wait for most. `background` as in [`busiest`].
pub(super) fn of(answer: &Answer, background: &[String]) -> Limit {
    let none = Limit {
        part: String::new(),
        kind: String::new(),
        utilization: 0.0,
        sentence: "nothing stands out: times are those of requests that hardly wait".into(),
    };
    let mean = answer
        .all
        .as_ref()
        .map_or(f64::NAN, |a| a.response_time.mean.value);
    let requests = answer.all.as_ref().map_or(f64::NAN, |a| a.throughput.value);
    // By Little's law: how long a request waits there, of its time.
    let waiting = |part: &StationAnswer| {
        let share = part.queue_length.unwrap_or(0.0) / requests / mean;
        if share.is_finite() { share } else { 0.0 }
    };
    // Threads of a full machine are all in use as well: machines come first.
    let bound = |part: &StationAnswer| {
        if part.kind == "machine" {
            FULL_MACHINE
        } else {
            FULL
        }
    };
    let mut full: Vec<_> = parts(answer, background)
        .filter(|(_, part, used)| *used >= bound(part))
        .collect();
    full.sort_by_key(|(_, part, _)| part.kind != "machine");
    if let Some((name, part, used)) = full.first() {
        return limit(name, part, *used, "is the limit");
    }
    // A thread that waits for a CPU is the machine's matter: pools come after what they run on.
    let slowest = parts(answer, background)
        .map(|(name, part, used)| (name, part, used, waiting(part)))
        .max_by(|a, b| a.3.total_cmp(&b.3));
    match slowest.filter(|s| s.3 >= MATTERS) {
        Some((name, part, used, share)) => limit(
            name,
            part,
            used,
            &format!(
                "is what requests wait for, {:.0}% of their time",
                100.0 * share.min(1.0)
            ),
        ),
        None => none,
    }
}

fn limit(name: &str, part: &StationAnswer, used: f64, verb: &str) -> Limit {
    let what = match part.kind.as_str() {
        "machine" => format!("the CPU of {name}"),
        "pool" => format!("the threads of {name}"),
        "resource" => format!("the pool or lock {name}"),
        _ => name.to_owned(),
    };
    Limit {
        part: name.to_owned(),
        kind: part.kind.clone(),
        utilization: used,
        sentence: format!("{what} {verb}: {:.0}% of it is in use", 100.0 * used),
    }
}
