//! The pool of database connections is too small: threads wait for one while all are in use.
//!
//! Evidence: the part of the requests' time inside waits for the pool, with all connections that were ever
//! in use in use. If connections lay free meanwhile, the pool has forgotten somebody (`lost-notify`); if
//! those that have one spend their time in one slow statement, or a slow database, that is the reason and
//! this follows from it.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::{duration, percent};

/// Part of the waiting during which connections were free, above which the pool's size is not the reason.
const FREE: f64 = 0.5;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "small-pool",
    claim: "the pool of database connections is too small",
    limit: "pool",
    queries: &["pools", "time", "forgotten"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.server {
        return Judgement::lacking("the server level, which has the pools");
    }
    let Some(pool) = f.pools.first() else {
        return if f.levels.sql {
            Judgement::lacking(
                "a pool that the recorder knows (HikariCP, Tomcat's, or a DataSource that the agent saw at start): statements ran, and no pool was seen",
            )
        } else {
            Judgement::refuted("no pool was used")
        };
    };
    let share = f.time.phase("pool_wait");
    let free: f64 = f.forgotten.iter().map(|w| w.free_ms).sum();
    let free = free / pool.wait_ms.max(1e-9);
    let waits = format!(
        "{} of the requests' time waits for the pool {}: {} of {} had to, up to {} at a time",
        percent(share),
        pool.name,
        pool.waited,
        pool.asked,
        pool.waiting
    );
    // Connections that were taken before the recording and never given back are seen by nobody.
    let unseen = pool.limit.filter(|&most| most > pool.size);
    let uses = format!(
        "{} {} connection{} all in use {} of the time, kept {} each{}",
        if unseen.is_some() { "at most" } else { "its" },
        pool.size,
        if pool.size == 1 { " was" } else { "s were" },
        percent(pool.full),
        duration(pool.mean_use_ms),
        unseen.map_or(String::new(), |most| format!(
            "; the pool may have {most}: the others were being made, or taken before the recording and not given back"
        ))
    );
    if share < NOTABLE {
        return Judgement::refuted(waits).fact(uses);
    }
    if free > FREE {
        return Judgement::refuted(waits).fact(format!(
            "in {} of that time connections were free",
            percent(free.min(1.0))
        ));
    }
    Judgement::confirmed(
        share,
        format!("the pool {} is too small: {}; {waits}", pool.name, uses),
    )
    .fact(waits)
    .fact(uses)
    .at(pool.longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::Forgotten;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn waiting_while_all_are_in_use_is_a_small_pool() {
        let mut f = sound();
        add(&mut f, "pool_wait", "pool", 4000);
        f.pools[0].wait_ms = 4000.0;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.forgotten = vec![Forgotten {
            free_ms: 3500.0,
            ..Forgotten::default()
        }];
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "connections were free"
        );
    }

    #[test]
    fn statements_without_a_pool_leave_it_open() {
        let mut f = sound();
        f.pools.clear();
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::NotEnoughData);
    }
}
