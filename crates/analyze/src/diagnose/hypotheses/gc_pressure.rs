//! The program allocates, or keeps, more than the collector can clear away in passing.
//!
//! Evidence: the part of the recording in pauses, or of the requests' time that stood still for them, or of
//! the target's CPU time that the collector's threads took; and how much each request left behind.

use crate::diagnose::finding::{Hypothesis, Judgement, REQUESTS_TIME};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::{duration, percent};

/// Part of the target's CPU time in the collector's threads that is no longer in passing.
const OF_CPU: f64 = 0.25;
/// CPUs that are used by a target that does something: of what an idle one takes, the collector's looking after itself is much.
const AT_WORK: f64 = 0.1;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "gc-pressure",
    claim: "garbage collection takes the time",
    limit: "gc",
    queries: &["gc", "time", "cpu"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.jvm {
        return Judgement::lacking("the jvm level, which has the collections");
    }
    let stopped = f.time.cause("gc");
    let of_cpu = if f.levels.kernel {
        f.cpu.kind("gc")
    } else {
        0.0
    };
    let pauses = format!(
        "{} pauses, {} of the recording, up to {}",
        f.gc.pauses,
        percent(f.gc.share),
        duration(f.gc.longest_ms)
    );
    let per_request = f.gc.freed / f.requests.count.max(1) as f64 / 1024.0;
    let freed = format!(
        "{} of the requests' time stood still for them; they freed {per_request:.0} kB a request",
        percent(stopped)
    );
    let threads = format!(
        "the collector's threads took {} of the target's CPU time",
        percent(of_cpu)
    );
    let is_at_work = f
        .cpu
        .utilization
        .is_none_or(|used| used * f.cpus >= AT_WORK);
    // A request is late by a pause whether it began before it or came in the midst of it.
    let paused = stopped.max(f.gc.share);
    let taken = if of_cpu > OF_CPU && is_at_work {
        of_cpu
    } else {
        0.0
    };
    let share = paused.max(taken);
    if share < NOTABLE {
        return Judgement::refuted(pauses).fact(freed).fact(threads);
    }
    let (of, most) = if taken > paused {
        ("the target's CPU time", &threads)
    } else if f.gc.share > stopped {
        ("the recording", &pauses)
    } else {
        (REQUESTS_TIME, &pauses)
    };
    let judged = Judgement::confirmed(
        share,
        format!("garbage collection is the limit: {most}; {freed}"),
    )
    .of(of)
    .fact(pauses)
    .fact(freed)
    .fact(threads);
    if f.gc.pauses == 0 {
        return judged; // there is no place to look at
    }
    judged.at(f.gc.longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{outcome, sound};

    #[test]
    fn pauses_and_collectors_threads_both_count() {
        let mut f = sound();
        f.gc.share = 0.3;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        let mut f = sound();
        f.cpu.by_kind.insert("gc".into(), 2.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }

    #[test]
    fn its_share_is_told_as_one_of_what_it_is() {
        let mut f = sound();
        f.gc.share = 0.3;
        assert_eq!(judge(&f).share_of, "the recording");
        f.cpu.by_kind.insert("gc".into(), 2.0);
        let by_cpu = judge(&f);
        assert_eq!(by_cpu.share_of, "the target's CPU time");
        let told = format!(
            "the limit: the collector's threads took {}",
            percent(by_cpu.share)
        );
        assert!(by_cpu.verdict.contains(&told), "{}", by_cpu.verdict);
    }

    #[test]
    fn a_collector_that_looks_after_itself_in_an_idle_jvm_is_no_limit() {
        let mut f = sound();
        f.cpu.by_kind = [("gc".into(), 0.03), ("vm".into(), 0.02)].into();
        f.cpu.utilization = Some(0.003);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
        f.cpus = 64.0; // the same part of many is work
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }
}
