//! Requests wait for something that other requests have, and that no thread owns: permits of a semaphore (a bulkhead), or pooled
//! objects behind a condition.
//!
//! Evidence: the part of the requests' time that waits for one such object, and that threads end those waits which wait for it as
//! well: a result or a message comes from elsewhere. What is waited for inside statements is the database's. What those threads did
//! meanwhile says what is done with a permit; on saturated CPUs more of them would only wait in another place.

use super::few_workers::LEFT;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "few-permits",
    claim: "requests wait for each other at a semaphore or a pool of objects",
    limit: "permits",
    queries: &["others", "time", "cpu"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.jvm || !f.levels.server {
        return Judgement::lacking("the jvm level, which has the waits, and the server level");
    }
    let Some(used) = f.cpu.utilization.filter(|_| f.levels.kernel) else {
        return Judgement::lacking("the kernel level, which tells who ended a wait");
    };
    let Some(o) = f.others.iter().find(|o| o.is_shared()) else {
        return Judgement::refuted("no request waited for something that another had");
    };
    let share = o.share(f);
    let code = o.code.as_ref().map(|c| format!(", in {c}"));
    let waits = format!(
        "{} of the requests' time waits for {} ({} waits by {} threads, up to {} at a time{})",
        percent(share),
        o.what(60),
        o.waits,
        o.waiters,
        o.convoy,
        code.unwrap_or_default()
    );
    let all = used + f.cpu.others.unwrap_or(0.0);
    let did = o.computing.map(|c| {
        format!(
            "the threads that ended those waits had been running, or runnable, for {} of their time; the target used {} of its CPUs",
            percent(c),
            percent(used)
        )
    });
    let j = if share < NOTABLE || all > LEFT {
        Judgement::refuted(waits)
    } else {
        let did = did.as_ref().map(|d| format!("; {d}"));
        let verdict = format!(
            "requests wait for each other: {waits}{}",
            did.unwrap_or_default()
        );
        Judgement::confirmed(share, verdict).fact(waits)
    };
    match did {
        Some(did) => j.fact(did),
        None => j,
    }
    .at(o.longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::Other;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    fn semaphore() -> Figures {
        let mut f = sound();
        add(&mut f, "service", "other", 4000);
        f.others = vec![Other {
            kind: "park".into(),
            class: "java.util.concurrent.Semaphore$NonfairSync".into(),
            goes_round: true,
            wait_ms: 4000.0,
            by_peers: 0.95,
            computing: Some(0.2),
            ..Other::default()
        }];
        f
    }

    #[test]
    fn permits_that_other_requests_give_back_are_too_few() {
        let f = semaphore();
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }

    #[test]
    fn what_others_end_or_a_database_or_saturated_cpus_is_no_lack_of_permits() {
        let with = |change: fn(&mut Figures)| {
            let mut f = semaphore();
            change(&mut f);
            outcome(HYPOTHESIS, &f)
        };
        assert_eq!(with(|f| f.others[0].by_peers = 0.2), Outcome::Refuted);
        assert_eq!(with(|f| f.others[0].goes_round = false), Outcome::Refuted);
        assert_eq!(with(|f| f.others[0].in_sql = 0.9), Outcome::Refuted);
        assert_eq!(with(|f| f.cpu.utilization = Some(0.97)), Outcome::Refuted);
        assert_eq!(with(|f| f.others[0].wait_ms = 50.0), Outcome::Refuted);
    }
}
