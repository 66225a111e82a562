//! The CPUs are saturated: what the server has to do takes all the CPU time that it can get.
//!
//! Evidence: the target used nearly all of its CPUs, and its requests spent a good part of their time
//! waiting for one, or for a worker, all of which wait for one. Use alone is no reason to be slow: a
//! server whose CPUs are full of other work while its requests wait for a lock is limited by the lock.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Share of its CPUs above which nothing is left. At 0.8 a site with bursts passes for saturated; 0.95 is
/// missed where the kernel's own work on a CPU is not the target's.
pub const SATURATED: f64 = 0.9;

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
    let busy = format!("the target used {} of its CPUs", percent(used));
    if used <= SATURATED {
        return Judgement::refuted(busy);
    }
    if f.time.total() == 0.0 {
        return Judgement::confirmed(used, format!("the CPUs are the limit: {busy}"));
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
