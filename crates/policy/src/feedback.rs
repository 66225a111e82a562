//! Weights corrected by what applications got.

use crate::Slot;

/// How far a correction goes, as a factor either way.
const MOST: f64 = 16.0;
/// Change of the logarithm per second and unit of difference: at half it takes 2 s; at three times, with samples of 0.2 s, it
/// swings.
const GAIN: f64 = 1.5;
/// Part of what they have, used by the fuller of two, from which it says something about their weights: below, the shared
/// CPU idles at times.
const PRESSED: f64 = 0.8;
/// An application that uses little is as good as one that uses this part: its weight matters only when it has work.
const LEAST: f64 = 0.5;
/// Seconds in which a correction that is not called for fades to a third.
const FADES_S: f64 = 10.0;

/// What one has, and got of late.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Got {
    /// CPUs that it has.
    pub owned: f64,
    /// CPUs in use.
    pub used: f64,
}

/// The logarithms of factors on [`crate::weights`], from those of `seconds` before.
///
/// A weight divides a CPU exactly among threads that always run. Threads that run for a millisecond and wait are put
/// back where they were last, or where it is idle: an application of 1.2 CPUs stays on the CPU that it has alone, while
/// who has 0.8 of the other takes all of it (measured: 0.82 and 0.87 CPUs). So of two who share a CPU, who gets less of
/// what it has than the other, while one of them gets all or more, gains weight against it.
pub fn corrections(slots: &[Vec<Slot>], got: &[Got], before: &[f64], seconds: f64) -> Vec<f64> {
    let limit = MOST.ln();
    let part = |g: &Got| {
        if g.owned > 0.0 {
            (g.used / g.owned).clamp(LEAST, 1.5)
        } else {
            1.0
        }
    };
    let shares = |i: usize, j: usize| {
        let on = |s: &Slot| slots[j].iter().any(|o| o.cpu == s.cpu);
        slots[i].iter().any(on)
    };
    let fade = (-seconds / FADES_S).exp();
    (0..slots.len())
        .map(|i| {
            let beside: Vec<f64> = (0..slots.len())
                .filter(|&j| j != i && shares(i, j))
                .map(|j| part(&got[j]))
                .collect();
            if beside.is_empty() {
                return 0.0;
            }
            let mine = part(&got[i]);
            let theirs = beside.iter().sum::<f64>() / beside.len() as f64;
            if mine.max(theirs) < PRESSED {
                return before[i] * fade;
            }
            (before[i] * fade + GAIN * (theirs - mine) * seconds).clamp(-limit, limit)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cpus, weights};

    fn slots(list: &[(u32, u32)]) -> Vec<Slot> {
        let slot = |&(cpu, part)| Slot {
            cpu,
            part: Cpus::thousandths(part),
        };
        list.iter().map(slot).collect()
    }

    /// One that has 1.2 CPUs, of which its threads use the second as if they had only `eager` of their weight there, and one
    /// that has 0.8 of that. Both want more. What each gets after some seconds.
    fn settled(eager: f64, corrected: bool) -> (f64, f64) {
        let all = [slots(&[(0, 1000), (1, 200)]), slots(&[(1, 800)])];
        let (mut logs, mut got) = (vec![0.0_f64; 2], (1.2, 0.8));
        for _ in 0..200 {
            let w = weights(&all);
            let (wide, home) = (eager * w[0] * logs[0].exp() / 2.0, w[1] * logs[1].exp());
            let of_second = wide / (wide + home);
            got = (1.0 + of_second, 1.0 - of_second);
            if corrected {
                let of = |owned, used| Got { owned, used };
                logs = corrections(&all, &[of(1.2, got.0), of(0.8, got.1)], &logs, 0.1);
            }
        }
        got
    }

    #[test]
    fn what_the_scheduler_keeps_from_one_is_made_up_for() {
        let without = settled(0.1, false);
        assert!(without.0 < 1.03 && without.1 > 0.97, "{without:?}");
        let with = settled(0.1, true);
        assert!((with.0 - 1.2).abs() < 0.06, "{with:?}");
        assert!((with.1 - 0.8).abs() < 0.06, "{with:?}");
    }

    #[test]
    fn weights_that_are_right_are_left_alone() {
        let got = settled(1.0, true);
        assert!((got.0 - 1.2).abs() < 0.02, "{got:?}");
    }

    #[test]
    fn who_shares_no_cpu_or_uses_little_of_it_is_not_corrected() {
        let of = |owned, used| Got { owned, used };
        let apart = [slots(&[(0, 1000)]), slots(&[(1, 1000)])];
        assert_eq!(
            corrections(&apart, &[of(1.0, 0.2), of(1.0, 1.0)], &[1.0, -1.0], 0.1),
            [0.0, 0.0]
        );
        let both = [slots(&[(0, 500)]), slots(&[(0, 500)])];
        let faded = corrections(&both, &[of(0.5, 0.1), of(0.5, 0.3)], &[1.0, -1.0], 10.0);
        assert!(
            (faded[0] - 0.368).abs() < 0.01 && (faded[1] + 0.368).abs() < 0.01,
            "{faded:?}"
        );
    }

    #[test]
    fn a_correction_is_bounded_and_turns_back() {
        let of = |owned, used| Got { owned, used };
        let both = [slots(&[(0, 500)]), slots(&[(0, 500)])];
        let mut logs = vec![0.0; 2];
        for _ in 0..1000 {
            logs = corrections(&both, &[of(0.5, 0.3), of(0.5, 0.7)], &logs, 0.1);
        }
        assert_eq!(logs, [MOST.ln(), -MOST.ln()]);
        for _ in 0..30 {
            logs = corrections(&both, &[of(0.5, 0.7), of(0.5, 0.3)], &logs, 0.1);
        }
        assert!(logs[0] < 0.0 && logs[1] > 0.0, "{logs:?}");
    }
}
