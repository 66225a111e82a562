//! The database is slow, not the application: requests wait for its answers, whatever they ask.
//!
//! Evidence: the part of the requests' time that waits for a socket inside statements, or for a connection that others keep
//! so long for that, or for a worker behind either, and how long even the ordinary statement works for. If one statement
//! takes most of that time and the others are quick, it is that statement (`slow-sql`).

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::{duration, percent};

/// What an ordinary statement takes at least, ms, of a slow database: one on the same network answers within a
/// few tenths.
const SLOW_MS: f64 = 1.0;
/// Part of the requests' time that waits for the database.
const OF_TIME: f64 = 2.0 * NOTABLE;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "slow-database",
    claim: "the database is slow, not the application",
    limit: "database",
    queries: &["statements", "time"],
    judge,
};

/// Work of the ordinary statement: the median over all calls, ms.
pub fn ordinary_ms(f: &Figures) -> f64 {
    let mut all: Vec<(f64, u64)> = f.statements.iter().map(|s| (s.work_ms, s.calls)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let calls: u64 = all.iter().map(|s| s.1).sum();
    let mut so_far = 0;
    for (ms, n) in all {
        so_far += n;
        if 2 * so_far >= calls {
            return ms;
        }
    }
    0.0
}

fn judge(f: &Figures) -> Judgement {
    if !f.levels.server || !f.levels.kernel {
        return Judgement::lacking("the kernel level and the server level");
    }
    if !f.levels.sql {
        return Judgement::lacking(
            "statements: start the JVM with -javaagent, or `loadline arm` it",
        );
    }
    let waits = f.time.share(|p, c| p == "sql" && c == "socket");
    let own = f.time.share(|p, c| p != "sql" && c == "running");
    let ordinary = ordinary_ms(f);
    let socket_ms = f.time.sum(|p, c| p == "sql" && c == "socket") / 1e6;
    let all = f.with_those_behind(waits, socket_ms);
    let split = format!(
        "requests spent {} of their time waiting for the database, {} with those who waited behind them, and {} running the application",
        percent(waits),
        percent(all),
        percent(own)
    );
    let quick = format!(
        "the ordinary statement takes {}, not held up by anything here",
        duration(ordinary)
    );
    if all < OF_TIME || ordinary < SLOW_MS {
        return Judgement::refuted(split).fact(quick);
    }
    let j = Judgement::confirmed(
        all,
        format!("the database is slow, not the application: {split}; {quick}"),
    )
    .fact(split)
    .fact(quick);
    match f.statements.first() {
        Some(s) => j.at(s.longest_ns),
        None => j,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn a_database_is_slow_if_all_its_statements_are() {
        let mut f = sound();
        add(&mut f, "sql", "socket", 6000);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "many quick calls"
        );
        f.statements.iter_mut().for_each(|s| s.work_ms = 4.0);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }

    #[test]
    fn those_who_wait_for_its_connections_wait_for_it() {
        let mut f = sound();
        f.statements.iter_mut().for_each(|s| s.work_ms = 4.0);
        add(&mut f, "sql", "socket", 1000);
        add(&mut f, "pool_wait", "pool", 40_000);
        f.pools[0].mean_use_ms = 10.0;
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "kept for something else"
        );
        f.pools[0].mean_use_ms = 0.6;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }

    #[test]
    fn those_who_wait_for_workers_that_it_holds_up_wait_for_it() {
        let mut f = sound();
        f.statements.iter_mut().for_each(|s| s.work_ms = 4.0);
        add(&mut f, "sql", "socket", 300);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
        add(&mut f, "request", "queue", 100_000);
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "a small part of what workers do, whatever the queue"
        );
        add(&mut f, "sql", "socket", 5000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }

    #[test]
    fn the_ordinary_statement_is_that_of_the_median_call() {
        assert_eq!(ordinary_ms(&sound()), 0.06);
        assert_eq!(ordinary_ms(&Figures::default()), 0.0);
    }
}
