//! The accept queue overflows: the kernel drops connections before the server sees them.
//!
//! A listening socket keeps a queue of connections that the server has not accepted yet (`acceptCount`, backlog).
//! When it is full the kernel drops what comes; clients try again after 1, 3, 7 s, or give up. Nothing of that
//! is in any request's time.
//!
//! Evidence: the kernel's counter of such drops, of the network namespace, while connections wait in the queue
//! of one of the target's sockets.

use crate::diagnose::Figures;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::report::table::percent;

/// Drops of all attempts (a client's second try counts again) that are worth naming.
const DROPPED: f64 = 0.01;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "accept-overflow",
    claim: "the queue of connections to accept overflows",
    limit: "accept",
    queries: &["counters", "doors"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    let Some(dropped) = f.doors.overflows else {
        return Judgement::lacking(
            "/proc/PID/net/netstat, which the recorder could not read (counter listen_overflows)",
        );
    };
    if dropped == 0 {
        return Judgement::refuted("no connection was dropped for a full accept queue");
    }
    let share = dropped as f64 / (dropped + f.doors.opened) as f64;
    let fact = format!(
        "{dropped} connections were dropped for a full accept queue, {} of the attempts; {} were accepted",
        percent(share),
        f.doors.opened
    );
    match f.doors.accept_queue {
        Some(n) if n > 0.0 && share >= DROPPED => {
            let queue = format!("up to {n:.0} connections waited to be accepted");
            Judgement::confirmed(share, format!("the accept queue overflows: {fact}; clients try again after a second or give up")).fact(fact).fact(queue)
        }
        Some(_) => Judgement::refuted(fact)
            .fact("no connection waited to be accepted by the target: another process's socket"),
        None => {
            Judgement::lacking("the length of its accept queue (counter accept_queue)").fact(fact)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{outcome, sound};

    #[test]
    fn drops_count_if_the_targets_own_queue_is_filled() {
        let mut f = sound();
        f.doors.overflows = Some(90);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::NotEnoughData);
        f.doors.accept_queue = Some(0.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "somebody else's");
        f.doors.accept_queue = Some(2.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }
}
