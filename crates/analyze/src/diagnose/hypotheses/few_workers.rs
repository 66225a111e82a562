//! Too few worker threads: connections wait for a worker while the CPUs have time left.
//!
//! Evidence: the part of the requests' time in the workers' queue, with all workers busy for a good part of
//! the recording and the CPUs not saturated. On saturated CPUs more workers would only wait in another
//! place; where their executor may have more than it has, it is not them that lack.

use super::cpu::SATURATED;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Share of the recording in which all workers were busy.
const ALL_BUSY: f64 = 0.3;
/// Use of the target's CPUs by all up to which they have time left.
pub const LEFT: f64 = SATURATED - 0.05;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "few-workers",
    claim: "there are too few worker threads",
    limit: "worker",
    queries: &["workers", "time", "cpu"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    let Some(used) = f.cpu.utilization.filter(|_| f.levels.server) else {
        return Judgement::lacking("the server level, and the kernel level or CPU time from /proc");
    };
    let all = used + f.cpu.others.unwrap_or(0.0);
    let w = &f.workers;
    let share = f.time.cause("queue");
    let waits = format!(
        "{} of the requests' time was in the queue for a worker",
        percent(share)
    );
    let more = w.limit.filter(|&most| most > w.threads);
    let busy = format!(
        "all {} workers{} were busy {} of the time; the target used {} of its CPUs",
        w.threads,
        more.map_or(String::new(), |most| format!(
            " of {most} that there may be"
        )),
        percent(w.all_busy),
        percent(used)
    );
    if share < NOTABLE || w.all_busy < ALL_BUSY || all > LEFT || more.is_some() {
        return Judgement::refuted(waits).fact(busy);
    }
    Judgement::confirmed(
        share,
        format!("there are too few worker threads: {waits}, {busy}"),
    )
    .fact(waits)
    .fact(busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn workers_are_too_few_only_while_cpus_have_time_left() {
        let mut f = sound();
        add(&mut f, "idle", "queue", 5000);
        f.workers.all_busy = 0.8;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.workers.limit = Some(f.workers.threads);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.workers.limit = Some(f.workers.threads + 1);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "there may be more"
        );
        f.workers.limit = None;
        f.cpu.utilization = Some(0.97);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
    }
}
