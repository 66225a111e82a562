//! A leak: what requests leave on the heap stays there, collection after collection.
//!
//! Evidence: the heap in use after each collection rises from one to the next, by so much for each request
//! served. Caches that fill and classes that load do the same for a while; what they keep per request is
//! small. What rises and then falls is no leak: it was only waiting for an old collection.

use crate::diagnose::Figures;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::report::table::percent;

/// Collections below which a rise may be chance.
const COLLECTIONS: usize = 5;
/// Part of all pairs of collections in which the later one left more: 0.5 is chance, 1 a steady rise. A full collection
/// that finds what the others left to it costs a leak some of them (0.78 with nine of forty after it).
const RISING: f64 = 0.75;
/// Kept for each request, bytes. Sessions of a sound site keep 1 to 3 kB of each while they live.
const PER_REQUEST: f64 = 12_000.0;
/// Rise below which nothing is said, bytes: classes that load and buffers that grow make a few million.
const LEAST: f64 = 16e6;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "leak",
    claim: "the heap after collections grows: a leak",
    limit: "gc",
    queries: &["gc", "requests"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.jvm {
        return Judgement::lacking("the jvm level, which has the collections");
    }
    let after = &f.gc.after;
    if after.len() < COLLECTIONS {
        return Judgement::lacking(format!(
            "at least {COLLECTIONS} collections: record longer, or under more load"
        ))
        .fact(format!("{} collections were seen", after.len()));
    }
    let rising = rising(after);
    let (seconds, bytes) = match (after.first(), after.last()) {
        (Some(a), Some(b)) => (b.0 - a.0, b.1 - a.1),
        _ => (0.0, 0.0),
    };
    let requests = f.requests.per_s * seconds;
    let each = bytes / requests.max(1.0);
    let fact = format!(
        "after {} collections the heap went from {:.0} to {:.0} MB, rising in {} of the pairs: {:.0} kB a request",
        after.len(),
        after[0].1 / 1e6,
        (after[0].1 + bytes) / 1e6,
        percent(rising),
        each / 1e3
    );
    if rising < RISING || each < PER_REQUEST || bytes < LEAST {
        return Judgement::refuted(fact);
    }
    // What it costs today is what collections cost; what it will cost is the process.
    let share = f.time.cause("gc").max(f.gc.share);
    Judgement::confirmed(share, format!("the heap leaks: {fact}")).fact(fact)
}

/// Part of all pairs in which the later value is the larger (Kendall's statistic, without ties).
fn rising(values: &[(f64, f64)]) -> f64 {
    let n = values.len();
    let up = (0..n)
        .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
        .filter(|&(i, j)| values[j].1 > values[i].1)
        .count();
    up as f64 / (n * n.saturating_sub(1) / 2).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{outcome, sound};

    #[test]
    fn a_steady_rise_by_much_for_each_request_is_a_leak() {
        let mut f = sound();
        f.gc.after = (0..7)
            .map(|i| (f64::from(i), 4e7 + f64::from(i) * 19e6))
            .collect();
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.gc.after = (0..7)
            .map(|i| (f64::from(i), 4e7 + f64::from(i) * 0.5e6))
            .collect();
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "sessions are kept for a while"
        );
        f.gc.after = (0..7)
            .map(|i| (f64::from(i), 4e7 + f64::from(i) * 0.5e6))
            .collect();
        f.requests.per_s = 3.0;
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "much a request, but hardly any requests"
        );
        f.gc.after.truncate(3);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::NotEnoughData);
    }

    #[test]
    fn what_falls_again_is_none() {
        let mut f = sound();
        f.gc.after = [1.0, 3.0, 5.0, 1.0, 3.0, 5.5]
            .iter()
            .enumerate()
            .map(|(i, v)| (i as f64, v * 4e7))
            .collect();
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
    }

    #[test]
    fn rising_is_the_part_of_the_pairs_that_rise() {
        assert_eq!(rising(&[(0.0, 1.0), (1.0, 3.0), (2.0, 2.0)]), 2.0 / 3.0);
        assert_eq!(rising(&[]), 0.0);
    }
}
