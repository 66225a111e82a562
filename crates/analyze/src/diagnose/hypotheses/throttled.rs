//! The cgroup's CPU quota is used up: the kernel lets none of its threads run until the next period.
//!
//! Evidence: `cpu.stat` of the cgroup (or of an ancestor) counts the periods in which that happened, and
//! for how long. The threads look as if they waited for a CPU, though CPUs are idle.

use crate::diagnose::Figures;
use crate::diagnose::finding::{Hypothesis, Judgement, REQUESTS_TIME};
use crate::report::table::percent;

/// Share of the periods that were cut short. A collection or a burst of compiling uses up a period now and
/// then: below a twentieth it moves no percentile that anybody watches.
const PERIODS: f64 = 0.05;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "throttled",
    claim: "its cgroup's CPU quota stops it",
    limit: "cpu",
    queries: &["counters", "time"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    let (Some(periods), Some(seconds)) = (f.cpu.throttled_share, f.cpu.throttled_seconds) else {
        return Judgement::lacking(
            "cpu.stat of its cgroup, which the recorder could not read (counters throttled_periods, quota_periods)",
        );
    };
    let Some(quota) = f.cpu.quota.filter(|_| periods > 0.0) else {
        return Judgement::refuted(match f.cpu.quota {
            Some(q) => format!("its quota of {q:.2} CPUs was never used up"),
            None => "its cgroup has no CPU quota".into(),
        });
    };
    let fact = format!(
        "its quota of {quota:.2} CPUs was used up in {} of the periods",
        percent(periods)
    );
    let stood = format!("it stood still for {seconds:.1} s of {:.1} s", f.seconds);
    if periods < PERIODS {
        return Judgement::refuted(fact).fact(stood);
    }
    // Who is stopped by it looks runnable; without the kernel level only the time itself is known.
    let still = seconds / f.seconds / f.cpus.max(1.0);
    let runnable = match f.levels.kernel {
        true => f.time.cause("runnable"),
        false => 0.0,
    };
    let (share, of) = match runnable >= still {
        true => (runnable, REQUESTS_TIME),
        false => (still, "the recording"),
    };
    Judgement::confirmed(
        share,
        format!("the cgroup's CPU quota is the limit: {fact}, and {stood}"),
    )
    .of(of)
    .fact(fact)
    .fact(stood)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{outcome, sound};

    #[test]
    fn a_quota_counts_when_it_is_used_up() {
        let mut f = sound();
        f.cpu.quota = Some(0.5);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
        f.cpu.throttled_share = Some(0.6);
        f.cpu.throttled_seconds = Some(2.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.levels.kernel = false; // then nobody knows who was runnable meanwhile
        assert_eq!(judge(&f).share_of, "the recording");
        f.cpu.throttled_share = Some(0.02);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
    }
}
