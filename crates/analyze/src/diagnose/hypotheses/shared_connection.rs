//! One database connection used by several threads at once.
//!
//! Servlets that keep their connection in a field (Guitart 2005, 3.4.2.2): drivers either let one statement
//! after the other through, so that threads wait for the connection's lock inside their statements, or mix
//! them up, and pages fail.
//!
//! Evidence: more statements run at a time than connections of the pool are in use, or a connection goes to a thread before
//! another has given it back, or, where no pool is known, any; and inside statements several threads wait for one lock.

use crate::diagnose::Figures;
use crate::diagnose::figures::Lock;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::report::table::percent;

/// Statements that began while more ran than connections were in use, or connections that went on before they were given back,
/// whichever are more, as a part of all statements. The first moments of a recording, which does not know who has a connection
/// already, make a few.
const OVER: f64 = 0.05;
/// Part of a lock's waits that lay inside statements.
const IN_SQL: f64 = 0.5;
/// Statements below which nothing is said.
const FEW: u64 = 50;
/// Waits below which a lock says nothing: classes that are loaded, drivers that start.
const WAITS: u64 = 5;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "shared-connection",
    claim: "several threads use one database connection at once",
    limit: "database",
    queries: &["sql_use", "locks", "time"],
    judge,
};

/// The lock of a shared connection, if there seems to be one.
pub fn lock(f: &Figures) -> Option<&Lock> {
    let shared = f.sql.over.max(f.sql.not_given_back) as f64;
    let over = f.pools.is_empty() || shared > OVER * f.sql.calls as f64;
    let inside = |l: &&Lock| l.in_sql >= IN_SQL && l.waiters >= 2 && l.waits >= WAITS;
    if over && f.sql.calls >= FEW && f.sql.at_once >= 2 {
        f.locks.iter().find(inside)
    } else {
        None
    }
}

fn judge(f: &Figures) -> Judgement {
    if !f.levels.server || !f.levels.jvm {
        return Judgement::lacking("the server and the jvm level");
    }
    if f.sql.calls < FEW {
        return Judgement::lacking(
            "statements: start the JVM with -javaagent, or `loadline arm` it",
        )
        .fact(format!("{} statements were seen", f.sql.calls));
    }
    let s = &f.sql;
    let use_ = format!(
        "{} threads ran {} statements, up to {} at a time; {} began while more ran than connections of a pool were in use; {} times a connection went to a thread before another had given it back",
        s.threads, s.calls, s.at_once, s.over, s.not_given_back
    );
    let Some(lock) = lock(f) else {
        return Judgement::refuted(use_).fact("no lock is waited for inside statements by threads that have no connection of their own");
    };
    let share = f.time.share(|p, c| p == "sql" && c == "lock");
    let waits = format!(
        "{} threads waited {} times for one {} inside their statements, {} of the requests' time",
        lock.waiters,
        lock.waits,
        lock.class,
        percent(share)
    );
    let errors = format!("{} requests failed", f.requests.server_errors);
    Judgement::confirmed(
        share,
        format!(
            "one database connection is used by {} threads at once: {waits}; {errors}",
            s.threads
        ),
    )
    .fact(use_)
    .fact(waits)
    .fact(errors)
    .at(lock.longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn a_lock_inside_statements_without_a_pool_is_a_shared_connection() {
        let mut f = sound();
        f.sql.over = f.sql.calls / 2;
        f.locks = vec![Lock {
            class: "a.Session".into(),
            waits: 700,
            waiters: 9,
            in_sql: 0.95,
            part: 0.9,
            wait_ms: 900.0,
            ..Lock::default()
        }];
        add(&mut f, "sql", "lock", 900);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.sql.over = 0;
        assert_eq!(
            outcome(HYPOTHESIS, &f),
            Outcome::Refuted,
            "each thread has its own"
        );
        f.sql.not_given_back = f.sql.calls / 4;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.sql.calls = 3;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::NotEnoughData);
    }
}
