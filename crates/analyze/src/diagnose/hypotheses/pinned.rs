//! Virtual threads are pinned: they block without leaving their carrier, and other virtual threads find
//! none.
//!
//! A virtual thread that blocks with a native frame on its stack (a class initializer, a native call), or up
//! to JDK 23 inside `synchronized` (JEP 491), keeps its carrier. There are as many carriers as CPUs, so a few
//! of them stop the site.
//!
//! Evidence: the part of their time in which carriers were blocked with a virtual thread mounted
//! (`mounts.pinned_ns`), or in the midst of work of their own, which a carrier that can give its virtual thread up is
//! not: it takes the next one, or is idle.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Share of the carriers' time. File I/O pins too, for moments.
const BLOCKED: f64 = 2.0 * NOTABLE;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "pinned",
    claim: "virtual threads are pinned to their carriers",
    limit: "worker",
    queries: &["carriers"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.kernel || !f.levels.jvm {
        return Judgement::lacking("the kernel and the jvm level");
    }
    let Some(c) = &f.carriers else {
        return Judgement::refuted("no virtual threads are used");
    };
    let blocked = c.pinned.unwrap_or(0.0).max(c.blocked);
    let fact = format!(
        "its {} carrier{} blocked in the midst of work {} of the time, running {}, idle {}",
        c.threads,
        if c.threads == 1 { " was" } else { "s were" },
        percent(blocked),
        percent(c.running),
        percent(c.idle)
    );
    if blocked < BLOCKED && c.pinned.is_none() {
        return Judgement::lacking(
            "mounts of virtual threads (table mounts, which this trace has none in)",
        )
        .fact(fact);
    }
    if blocked < BLOCKED {
        return Judgement::refuted(fact);
    }
    Judgement::confirmed(blocked, format!("virtual threads are pinned: {fact}; -Djdk.tracePinnedThreads=full (JDK 21 to 23) or the event jdk.VirtualThreadPinned says where")).fact(fact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::Carriers;
    use crate::diagnose::hypotheses::tests::{outcome, sound};

    fn carriers(blocked: f64, pinned: Option<f64>) -> Figures {
        Figures {
            carriers: Some(Carriers {
                threads: 1,
                blocked,
                running: 0.2,
                idle: 0.1,
                pinned,
            }),
            ..sound()
        }
    }

    #[test]
    fn carriers_that_are_blocked_with_a_thread_mounted_are_pinned() {
        assert_eq!(
            outcome(HYPOTHESIS, &carriers(0.0, Some(0.7))),
            Outcome::Confirmed
        );
        assert_eq!(
            outcome(HYPOTHESIS, &carriers(0.7, None)),
            Outcome::Confirmed
        );
        assert_eq!(
            outcome(HYPOTHESIS, &carriers(0.02, Some(0.01))),
            Outcome::Refuted
        );
    }

    #[test]
    fn without_mounts_nobody_can_tell() {
        assert_eq!(
            outcome(HYPOTHESIS, &carriers(0.02, None)),
            Outcome::NotEnoughData
        );
    }
}
