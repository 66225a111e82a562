//! A lost notification: a thread waits for a connection, connections are free, and nobody wakes it.
//!
//! A pool that notifies a waiter only when it was empty forgets the second of two waiters if two connections
//! come back before the first has run (Guitart 2005, 3.4.2.3). One worker's services take many times as
//! long as its peers'; it waits for no statement and no socket.
//!
//! Evidence: waits for a pool during which connections of it were free, and others were given back, while
//! the waiter stayed blocked (time in which it was awake and waited for a CPU does not count, nor the part of it in
//! which a quota or the collector let nobody run who could have woken it, nor what came before all connections had
//! been seen in use: those that were taken before the recording began look free until they are given back). A
//! connection is not free either while somebody who waited for one is awake and has not got back yet: it is that one's.

use crate::diagnose::Figures;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::report::table::{duration, percent};

/// Blocked beside a free connection for so long, ms, nobody is on the way: a hand-over takes microseconds, and on
/// a saturated CPU a few turns of the scheduler.
const FORGOTTEN_MS: f64 = 100.0;
/// As many turns, as long as they are in this recording: who gives a connection back and who gets it may each wait for
/// one, and again for the lock between them.
const TURNS: f64 = 4.0;
/// Part of the requests' time. Among thousands of waits there is one that the others overtook again and again.
const OF_TIME: f64 = 0.01;
/// Connections given back meanwhile: each was a chance to wake the waiter.
const CHANCES: u64 = 2;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "lost-notify",
    claim: "a thread waits for a connection that is free, and nobody wakes it",
    limit: "pool",
    queries: &["forgotten", "pools", "services", "starved", "gc"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.server || !f.levels.kernel {
        return Judgement::lacking("the server level, which has the pools, and the kernel level");
    }
    let stood = f.cpu.throttled_seconds.unwrap_or(0.0) / f.seconds.max(1e-9) / f.cpus.max(1.0);
    let ran = (1.0 - stood.clamp(0.0, 1.0)) * (1.0 - f.gc.share);
    let turns = TURNS * f.cpu.turn_ms.unwrap_or(0.0);
    let lost: Vec<_> = f
        .forgotten
        .iter()
        .filter(|w| w.free_ms * ran >= FORGOTTEN_MS.max(turns) && w.released >= CHANCES)
        .collect();
    let all: f64 = lost.iter().map(|w| w.free_ms).sum();
    let share = all * 1e6 / f.time.total().max(1.0);
    let Some(worst) = lost.first().filter(|_| share >= OF_TIME) else {
        let longest = f.forgotten.iter().map(|w| w.free_ms).fold(0.0, f64::max);
        return Judgement::refuted(if f.pools.is_empty() {
            "no pool was used".to_owned()
        } else {
            format!(
                "nobody was blocked for more than {} beside a free connection; a thread waits up to {} for its turn on a CPU",
                duration(longest.max(0.001)),
                duration(turns / TURNS)
            )
        });
    };
    let many = format!(
        "{} such wait{}, {} in all, {} of the requests' time",
        lost.len(),
        if lost.len() == 1 { "" } else { "s" },
        duration(all),
        percent(share)
    );
    let one = format!(
        "{} waited {} for the pool {}, {} of it while connections were free; {} were given back meanwhile and none woke it{}",
        worst.thread,
        duration(worst.wait_ms),
        worst.pool,
        duration(worst.free_ms),
        worst.released,
        if worst.open { "; it waits still" } else { "" }
    );
    Judgement::confirmed(share, format!("a notification is lost: {one}"))
        .fact(one)
        .fact(many)
        .at(worst.begin_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::Forgotten;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn who_is_blocked_beside_free_connections_was_forgotten() {
        let mut f = sound();
        let wait = Forgotten {
            pool: "Pool".into(),
            thread: "exec-9".into(),
            wait_ms: 900.0,
            free_ms: 800.0,
            released: 40,
            ..Forgotten::default()
        };
        f.forgotten = vec![wait];
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.forgotten[0].free_ms = 300.0;
        f.cpu.throttled_seconds = Some(6.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "nobody ran");
        f.cpu.throttled_seconds = None;
        f.gc.share = 0.7;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "nor here");
        f.gc.share = 0.0;
        f.cpu.turn_ms = Some(80.0);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "all wait so long for a CPU"
        );
        f.cpu.turn_ms = Some(8.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        add(&mut f, "service", "lock", 60_000);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "one of very many"
        );
        f.time.cells.pop();
        f.forgotten[0].free_ms = 30.0;
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "a hand-over under way"
        );
        f.forgotten[0].free_ms = 800.0;
        f.forgotten[0].released = 0;
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "nobody could have woken it"
        );
    }
}
