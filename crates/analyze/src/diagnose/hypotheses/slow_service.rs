//! Another service takes the time, not the application: requests wait for its answers.
//!
//! Evidence: the part of the requests' time that waits for an answer inside calls of other services, or for a connection or
//! a worker that others keep for that long; which service, how often a request calls it, and how long a call takes.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::{duration, grouped, percent};

/// Part of the requests' time that waits for other services.
const OF_TIME: f64 = 2.0 * NOTABLE;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "slow-service",
    claim: "another service takes the time, not the application",
    limit: "service",
    queries: &["calls", "time"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.server || !f.levels.kernel {
        return Judgement::lacking("the kernel level and the server level");
    }
    let Some(most) = f.services.first() else {
        return Judgement::refuted("no call of another service was seen");
    };
    let waits_for_it = |p: &str, c: &str| p == "call" && c == "socket";
    let waits = f.time.share(waits_for_it);
    let all = f.with_those_behind(waits, f.time.sum(waits_for_it) / 1e6);
    let split = format!(
        "requests spent {} of their time waiting for other services, {} with those who waited behind them, and {} running",
        percent(waits),
        percent(all),
        percent(f.time.cause("running"))
    );
    let which = format!(
        "{} was called {} times, {:.1} times a request, {} each",
        most.name,
        grouped(most.calls),
        most.calls as f64 / f.requests.count.max(1) as f64,
        duration(most.mean_ms)
    );
    // Who computes for longer than it waits has another limit first.
    if all < OF_TIME || all < f.time.cause("running") {
        return Judgement::refuted(split).fact(which);
    }
    Judgement::confirmed(
        all,
        format!("another service takes the time, not the application: {which}; {split}"),
    )
    .fact(split)
    .fact(which)
    .at(most.longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::Service;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn a_service_takes_the_time_if_requests_wait_for_its_answers() {
        let mut f = sound();
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "no call");
        f.services.push(Service {
            name: "http://stock:8080".into(),
            calls: 2400,
            mean_ms: 12.0,
            longest_ns: 7,
        });
        add(&mut f, "call", "running", 6000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "its own work");
        add(&mut f, "call", "socket", 26_000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        add(&mut f, "service", "running", 60_000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "computes longer");
    }
}
