//! When a server has warmed up: its CPU time per reply no longer falls.
//!
//! A JVM interprets at first, compiles while it is loaded, and so needs less and less CPU for a reply. Looks of equal length
//! at the same load are compared in pairs, which evens out a collection or a compilation that falls into one of them.

use crate::words::{ms, seconds};

/// A pair of looks this much cheaper than the pair before is still falling. The JIT halves the cost within a minute
/// and more; noise between pairs of looks at saturation is one or two percent. At half of it noise prolongs the warm-up
/// to its limit, at double the last tenth of the fall is measured as the server's.
const FALLS: f64 = 0.03;

/// What the looks say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warmth {
    /// All looks together, seconds.
    pub seconds: f64,
    /// CPU of a reply in the first look, ms.
    pub first_ms: f64,
    /// In the last two.
    pub last_ms: f64,
    /// Whether it no longer falls.
    pub settled: bool,
}

/// The state after these looks: CPU seconds per reply of each, in order. `None` of fewer than four.
pub fn warmth(cpu_s_per_reply: &[f64], look_s: f64) -> Option<Warmth> {
    let n = cpu_s_per_reply.len();
    if n < 4 {
        return None;
    }
    let pair = |from: usize| 0.5 * (cpu_s_per_reply[from] + cpu_s_per_reply[from + 1]);
    let (before, last) = (pair(n - 4), pair(n - 2));
    Some(Warmth {
        seconds: n as f64 * look_s,
        first_ms: 1e3 * cpu_s_per_reply[0],
        last_ms: 1e3 * last,
        settled: last >= (1.0 - FALLS) * before,
    })
}

impl std::fmt::Display for Warmth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (time, first, last) = (seconds(self.seconds), ms(self.first_ms), ms(self.last_ms));
        if self.settled {
            write!(
                f,
                "warmed up for {time}, until its CPU time per reply no longer fell: from {first} to {last}"
            )
        } else {
            write!(
                f,
                "after {time} of warming up its CPU time per reply was still falling (from {first} to {last}): the first points may be of a colder server than the last"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks until it has settled, at most 60, at a server whose cost falls from 3 ms to 1 ms.
    fn looks(fall_per_look: f64, noise: f64) -> Vec<f64> {
        let mut all = Vec::new();
        for i in 0..60 {
            let wobble = noise * [0.0, 1.0, -1.0, 0.5, -0.5][i % 5];
            all.push((1.0 + 2.0 * fall_per_look.powi(i as i32)) * (1.0 + wobble) * 1e-3);
            if warmth(&all, 5.0).is_some_and(|w| w.settled) {
                break;
            }
        }
        all
    }

    #[test]
    fn a_server_is_warm_when_its_cpu_per_reply_no_longer_falls() {
        let all = looks(0.8, 0.0);
        let w = warmth(&all, 5.0).expect("enough");
        assert!(w.settled && w.last_ms < 1.1, "{w:?} after {}", all.len());
        assert!(w.to_string().starts_with("warmed up for"), "{w}");
    }

    #[test]
    fn a_server_that_was_warm_needs_four_looks() {
        assert_eq!(looks(0.0, 0.005).len(), 5);
        assert_eq!(warmth(&[1.0, 1.0, 1.0], 5.0), None);
    }

    #[test]
    fn one_noisy_look_does_not_end_it() {
        // The sixth look has a collection in it: half as much again.
        let mut all: Vec<f64> = (0..6).map(|i| 3e-3 * 0.85f64.powi(i)).collect();
        all[5] *= 1.3;
        assert!(!warmth(&all, 5.0).expect("enough").settled);
    }

    #[test]
    fn what_still_falls_in_the_end_is_said() {
        let falling: Vec<f64> = (0..10).map(|i| 1e-2 * 0.9f64.powi(i)).collect();
        let w = warmth(&falling, 5.0).expect("enough");
        assert!(!w.settled && w.to_string().contains("still falling"), "{w}");
    }
}
