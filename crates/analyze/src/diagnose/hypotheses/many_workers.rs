//! Too many worker threads: more of them are at work than the CPUs can run, and they stop each other in the
//! middle of what they do.
//!
//! A request that has begun then waits for all others that have begun as well, with whatever it holds: a
//! connection of the pool, a lock. Fewer workers carry as much, and each request is quicker once begun.
//! Whether they also answer sooner, one recording cannot tell: what a request waits for a CPU is what it
//! would wait for a worker.
//!
//! Evidence: locks whose owners are runnable while others wait for them, with many workers to a CPU. This
//! is what a smaller pool of workers would do away with.

use super::cpu::SATURATED;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Workers at work to a CPU, on average, above which they are many.
const PER_CPU: f64 = 8.0;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "many-workers",
    claim: "there are too many worker threads",
    limit: "worker",
    queries: &["workers", "locks", "cpu"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    let Some(used) = f
        .cpu
        .utilization
        .filter(|_| f.levels.server && f.levels.kernel && f.levels.jvm)
    else {
        return Judgement::lacking("the kernel, the jvm and the server level");
    };
    let per_cpu = f.workers.mean_busy / f.cpus.max(1.0);
    // Of the time that is waited for locks, that in which the owner had no CPU.
    let convoy: f64 = f
        .locks
        .iter()
        .filter_map(|l| Some(l.part * l.owners?[1]))
        .sum::<f64>()
        * f.time.cause("lock");
    let busy = format!(
        "{:.1} workers to a CPU were at work on average; the target used {} of its CPUs",
        per_cpu,
        percent(used)
    );
    let waits = format!(
        "{} of the requests' time waits for locks whose owners wait for a CPU",
        percent(convoy)
    );
    if per_cpu < PER_CPU || used < SATURATED || convoy < NOTABLE {
        return Judgement::refuted(busy).fact(waits);
    }
    Judgement::confirmed(
        convoy,
        format!("there are too many worker threads: {busy}, and {waits}"),
    )
    .fact(busy)
    .fact(waits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::Lock;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn owners_without_a_cpu_among_many_workers_are_too_many() {
        let mut f = sound();
        f.cpu.utilization = Some(0.98);
        f.workers.mean_busy = 40.0;
        add(&mut f, "service", "lock", 4000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "owners run");
        f.locks = vec![Lock {
            part: 1.0,
            owners: Some([0.2, 0.8, 0.0, 0.0, 0.0, 0.0]),
            ..Lock::default()
        }];
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }
}
