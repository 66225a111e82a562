//! Every hypothesis, one file each.
//!
//! A file says how the thing comes about, what shows it, what its constants are and why, and what to
//! record where data are lacking. Its `judge` is a function of figures alone.

mod accept_overflow;
mod code_thrown_away;
mod cpu;
mod cpu_neighbour;
mod disk;
mod few_permits;
mod few_workers;
mod gc_pressure;
mod handshake_storm;
mod leak;
mod locks;
mod lost_notify;
mod many_workers;
mod pinned;
mod safepoints;
mod shared_connection;
mod slow_database;
mod slow_service;
mod slow_sql;
mod slow_static;
mod small_pool;
mod throttled;

use super::finding::{Finding, Hypothesis, Outcome};

/// All, in no order that matters.
pub const ALL: &[Hypothesis] = &[
    cpu::HYPOTHESIS,
    cpu_neighbour::HYPOTHESIS,
    throttled::HYPOTHESIS,
    handshake_storm::HYPOTHESIS,
    locks::HOT_LOCK,
    locks::LIBRARY_LOCK,
    small_pool::HYPOTHESIS,
    shared_connection::HYPOTHESIS,
    lost_notify::HYPOTHESIS,
    slow_database::HYPOTHESIS,
    slow_service::HYPOTHESIS,
    slow_sql::HYPOTHESIS,
    gc_pressure::HYPOTHESIS,
    safepoints::HYPOTHESIS,
    leak::HYPOTHESIS,
    code_thrown_away::HYPOTHESIS,
    few_permits::HYPOTHESIS,
    few_workers::HYPOTHESIS,
    many_workers::HYPOTHESIS,
    pinned::HYPOTHESIS,
    accept_overflow::HYPOTHESIS,
    disk::HYPOTHESIS,
    slow_static::HYPOTHESIS,
];

/// (what follows, from what): where both are confirmed, the first is no reason of its own.
const FOLLOWS: [(&str, &str); 20] = [
    // Who is forgotten waits longer than for a connection.
    ("small-pool", "lost-notify"),
    // A statement that takes long, or all of them, keep connections in use, and others wait for one.
    ("small-pool", "slow-sql"),
    ("small-pool", "slow-database"),
    ("small-pool", "slow-service"),
    // While a quota lets nobody run, nobody gives one back.
    ("small-pool", "throttled"),
    // Who waits for a connection, for a permit, or for a carrier, keeps its worker.
    ("few-workers", "few-permits"),
    ("few-workers", "small-pool"),
    ("few-workers", "pinned"),
    ("few-workers", "lost-notify"),
    // What one thread at a time has, more workers would wait for as well.
    ("few-workers", "hot-lock"),
    ("few-workers", "library-lock"),
    ("few-workers", "shared-connection"),
    // A disk, a database, a service or a quota serves no more of them at a time.
    ("few-workers", "slow-database"),
    ("few-workers", "slow-service"),
    ("few-workers", "slow-sql"),
    ("few-workers", "disk"),
    ("few-workers", "throttled"),
    // Whoever holds a lock waits for the CPUs that handshakes have.
    ("many-workers", "handshake-storm"),
    ("library-lock", "handshake-storm"),
    // The lock that they hold without a CPU is the connection's.
    ("many-workers", "shared-connection"),
];

/// Refutes what only follows from something else, which takes over its share.
pub fn drop_consequences(findings: &mut [Finding]) {
    for (effect, cause) in FOLLOWS {
        let at = |name: &str| {
            let confirmed = |f: &Finding| f.name == name && f.outcome == Outcome::Confirmed;
            findings.iter().position(confirmed)
        };
        let (Some(effect), Some(reason)) = (at(effect), at(cause)) else {
            continue;
        };
        let share = findings[effect].share;
        findings[reason].share = (findings[reason].share + share).min(1.0);
        let f = &mut findings[effect];
        f.outcome = Outcome::Refuted;
        f.evidence.insert(0, format!("it follows from {cause}"));
        f.share = 0.0;
        f.verdict.clear();
    }
}

/// Figures of a sound site below its load line, for the tests of each hypothesis.
#[cfg(test)]
pub mod tests {
    use super::super::figures::*;
    use super::*;

    /// 8 s of 300 requests/s on one CPU, 30% busy.
    pub fn sound() -> Figures {
        let cell = |phase: &str, cause: &str, ms: i64| (phase.into(), cause.into(), ms * 1_000_000);
        Figures {
            seconds: 8.0,
            cpus: 1.0,
            java: 17,
            levels: Levels {
                kernel: true,
                syscalls: false,
                jvm: true,
                server: true,
                sql: true,
            },
            requests: Requests {
                count: 2400,
                per_s: 300.0,
                p50_ms: 0.5,
                p95_ms: 2.0,
                p99_ms: 6.0,
                ..Requests::default()
            },
            time: Time {
                cells: vec![
                    cell("tls_full", "running", 250),
                    cell("tls_full", "socket", 60),
                    cell("tls_full", "runnable", 15),
                    cell("request", "running", 300),
                    cell("service", "running", 800),
                    cell("service", "runnable", 60),
                    cell("sql", "running", 400),
                    cell("sql", "lock", 5),
                    cell("service", "gc", 10),
                ],
            },
            cpu: Cpu {
                utilization: Some(0.3),
                others: Some(0.02),
                starved: Some(0.1),
                turn_ms: Some(5.0),
                steal: Some(0.0),
                by_kind: [("platform", 2.0), ("compiler", 0.3), ("vm", 0.1)]
                    .map(|(k, s)| (k.to_owned(), s))
                    .into(),
                kernel_share: Some(0.2),
                throttled_share: Some(0.0),
                throttled_seconds: Some(0.0),
                quota: None,
                per_request_ms: Some((0.8, 0.75)),
                compilers: Some((0.15, 0.1)),
            },
            doors: Doors {
                opened: 120,
                full: 120,
                overflows: Some(0),
                ..Doors::default()
            },
            pools: vec![Pool {
                name: "shop".into(),
                asked: 2000,
                size: 3,
                mean_use_ms: 0.6,
                full: 0.001,
                ..Pool::default()
            }],
            statements: vec![
                Statement {
                    text: "SELECT a".into(),
                    calls: 2000,
                    p50_ms: 0.1,
                    work_ms: 0.06,
                    total_ms: 240.0,
                    longest_ns: 0,
                },
                Statement {
                    text: "SELECT b".into(),
                    calls: 900,
                    p50_ms: 0.15,
                    work_ms: 0.1,
                    total_ms: 160.0,
                    longest_ns: 0,
                },
            ],
            sql: SqlUse {
                calls: 2900,
                threads: 10,
                at_once: 3,
                overlapping: 0.1,
                ..SqlUse::default()
            },
            gc: Gc {
                pauses: 6,
                share: 0.004,
                longest_ms: 8.0,
                after: (0..6)
                    .map(|i| (f64::from(i), 4e7 + f64::from(i % 2) * 1e6))
                    .collect(),
                freed: 8e8,
                ..Gc::default()
            },
            workers: Workers {
                threads: 10,
                most_busy: 6,
                mean_busy: 0.5,
                all_busy: 0.0,
                limit: None,
            },
            endpoints: vec![Endpoint {
                name: "GET /item".into(),
                count: 800,
                p50_ms: 0.6,
                running_ms: 0.5,
                share: 0.3,
                longest_ns: 0,
            }],
            ..Figures::default()
        }
    }

    /// Adds time to a cell, ms.
    pub fn add(f: &mut Figures, phase: &str, cause: &str, ms: i64) {
        f.time
            .cells
            .push((phase.into(), cause.into(), ms * 1_000_000));
    }

    /// What became of a hypothesis.
    pub fn outcome(h: Hypothesis, f: &Figures) -> Outcome {
        (h.judge)(f).outcome
    }

    #[test]
    fn on_a_sound_site_nothing_is_confirmed() {
        for h in ALL {
            let j = (h.judge)(&sound());
            assert_ne!(j.outcome, Outcome::Confirmed, "{}: {j:?}", h.name);
        }
    }

    #[test]
    fn without_data_nothing_is_confirmed_or_refuted_and_each_says_what_to_record() {
        let blind = Figures {
            seconds: 8.0,
            cpus: 1.0,
            ..Figures::default()
        };
        for h in ALL {
            let j = (h.judge)(&blind);
            assert_eq!(j.outcome, Outcome::NotEnoughData, "{}: {j:?}", h.name);
            assert!(!j.record.is_empty(), "{} says what to record", h.name);
        }
    }

    #[test]
    fn names_are_unique_and_every_query_is_there() {
        for (i, h) in ALL.iter().enumerate() {
            assert!(ALL[..i].iter().all(|o| o.name != h.name), "{}", h.name);
            for q in h.queries {
                assert!(
                    super::super::queries::number(q).is_some(),
                    "{}: {q}",
                    h.name
                );
            }
        }
        for (effect, cause) in FOLLOWS {
            assert!(
                [effect, cause]
                    .iter()
                    .all(|n| ALL.iter().any(|h| h.name == *n))
            );
        }
    }

    #[test]
    fn what_follows_from_another_gives_it_its_share() {
        let of = |name, share| Finding {
            name,
            hypothesis: "",
            outcome: Outcome::Confirmed,
            share,
            share_of: "",
            limit: "",
            evidence: Vec::new(),
            queries: Vec::new(),
            at_s: None,
            verdict: "it is".into(),
            record: String::new(),
        };
        let mut both = [of("small-pool", 0.5), of("slow-sql", 0.3)];
        drop_consequences(&mut both);
        assert_eq!((both[0].outcome, both[1].share), (Outcome::Refuted, 0.8));
        let mut alone = [of("small-pool", 0.5)];
        drop_consequences(&mut alone);
        assert_eq!(alone[0].outcome, Outcome::Confirmed);
    }
}
