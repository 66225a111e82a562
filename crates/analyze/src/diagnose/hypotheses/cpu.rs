//! The CPUs are saturated: what the server has to do takes all the CPU time that it can get.
//!
//! Evidence: the target used nearly all of its CPUs, or most of them and others the rest, and its requests spent a good part of their time
//! waiting for one, or for a worker, all of which wait for one. Use alone is no reason to be slow: a
//! server whose CPUs are full of other work while its requests wait for a lock is limited by the lock.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Share of its CPUs above which nothing is left. At 0.8 a site with bursts passes for saturated; 0.95 is
/// missed where the kernel's own work on a CPU is not the target's.
pub const SATURATED: f64 = 0.9;

/// Share of its CPUs that is most of them: it saturates what others leave. At half, a neighbour that takes the other half would
/// pass for its own work.
const MOST: f64 = 0.75;
/// Use by all at which others have left nothing.
const FULL: f64 = 0.97;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "cpu",
    claim: "its own work saturates its CPUs",
    limit: "cpu",
    queries: &["cpu", "time"],
    judge,
};

/// Share of the requests' time spent waiting for a CPU, or for a worker that does.
pub fn waiting(f: &Figures) -> f64 {
    f.time.cause("runnable") + f.time.cause("queue")
}

fn judge(f: &Figures) -> Judgement {
    let Some(used) = f.cpu.utilization else {
        return Judgement::lacking("the kernel level, or CPU time from /proc");
    };
    let others = f.cpu.others.unwrap_or(0.0);
    let has_the_rest = used > MOST && used + others > FULL;
    let busy = match used <= SATURATED && has_the_rest {
        true => format!(
            "the target used {} of its CPUs, and others {}",
            percent(used),
            percent(others)
        ),
        false => format!("the target used {} of its CPUs", percent(used)),
    };
    if used <= SATURATED && !has_the_rest {
        return Judgement::refuted(busy);
    }
    if f.time.total() == 0.0 {
        return Judgement::confirmed(used, format!("the CPUs are the limit: {busy}"))
            .of("its CPUs");
    }
    if !f.levels.kernel {
        return Judgement::lacking(
            "the kernel level: whether requests wait for a CPU is not known",
        )
        .fact(busy);
    }
    let waiting = waiting(f);
    let waits = format!(
        "requests and handshakes spent {} of their time waiting for one",
        percent(waiting)
    );
    if waiting < NOTABLE {
        return Judgement::refuted(busy).fact(waits);
    }
    let verdict = format!("the CPUs are the limit: {busy}, and {waits}");
    Judgement::confirmed(waiting, verdict)
        .fact(busy)
        .fact(waits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn full_cpus_that_requests_wait_for_are_the_limit() {
        let mut f = sound();
        f.cpu.utilization = Some(0.97);
        add(&mut f, "service", "runnable", 2000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }

    #[test]
    fn what_others_leave_is_saturated_as_well() {
        let mut f = sound();
        add(&mut f, "service", "runnable", 2000);
        f.cpu.utilization = Some(0.81);
        f.cpu.others = Some(0.05);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
        f.cpu.others = Some(0.19);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.cpu.utilization = Some(0.45);
        f.cpu.others = Some(0.55);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "others took them"
        );
    }

    #[test]
    fn full_cpus_are_no_limit_while_requests_wait_for_a_lock() {
        // As found on a site whose requests spent 94% of their time waiting for one lock.
        let mut f = sound();
        f.cpu.utilization = Some(0.96);
        add(&mut f, "service", "lock", 40_000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
    }

    #[test]
    fn a_program_without_requests_is_limited_by_cpus_that_it_fills() {
        let mut f = Figures {
            cpus: 2.0,
            ..Figures::default()
        };
        f.cpu.utilization = Some(0.95);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }
}
