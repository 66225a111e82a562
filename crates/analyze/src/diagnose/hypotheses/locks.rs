//! A contended monitor or lock, of the application (`hot-lock`) or inside the JDK or a framework
//! (`library-lock`).
//!
//! Evidence: the part of the requests' time that was waited for one lock, and what its owners did
//! meanwhile. Owners that run make it a matter of what is done under the lock; owners that are runnable
//! have lost their CPU with the lock in hand (a convoy), and the CPUs are a cause too; owners that wait
//! for I/O or for another lock hold it for longer than they need. Owners that the collector has stopped, or left waiting
//! for room, make it the collector's (`gc-pressure`).
//!
//! A lock that is waited for inside statements by one connection's users belongs to `shared-connection`,
//! one inside waits for a pool to the pool.

use crate::diagnose::figures::Lock;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::hypotheses::shared_connection;
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

/// Packages of the JDK and of common frameworks, servers and drivers. The locks of java.util.concurrent are the
/// JDK's in name only: they are whoever's made them.
const LIBRARIES: [&str; 23] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "jakarta.",
    "org.apache.",
    "org.springframework.",
    "org.hibernate.",
    "org.eclipse.",
    "org.jboss.",
    "io.netty.",
    "io.undertow.",
    "io.helidon.",
    "com.zaxxer.",
    "ch.qos.logback.",
    "org.slf4j.",
    "com.fasterxml.",
    "org.h2.",
    "org.postgresql.",
    "org.mariadb.",
    "com.mysql.",
    "oracle.",
];
const ANYBODYS: [&str; 3] = [
    "java.util.concurrent.locks.",
    "java.lang.Object",
    "java.lang.Class",
];
/// Part of the time that others waited, in which the owners were stopped by the collector, that makes it the collector's.
const STOPPED: f64 = 0.5;
/// Part of the waits inside a statement, or a wait for a pool, that makes a lock the database's or the pool's.
const INSIDE: f64 = 0.5;

pub const HOT_LOCK: Hypothesis = Hypothesis {
    name: "hot-lock",
    claim: "requests wait for a lock of the application",
    limit: "lock",
    queries: &["locks", "time"],
    judge: |f| judge(f, false),
};

pub const LIBRARY_LOCK: Hypothesis = Hypothesis {
    name: "library-lock",
    claim: "requests wait for a lock inside the JDK or a framework",
    limit: "lock",
    queries: &["locks", "time"],
    judge: |f| judge(f, true),
};

fn is_library(class: &str) -> bool {
    !ANYBODYS.iter().any(|p| class.starts_with(p)) && LIBRARIES.iter().any(|p| class.starts_with(p))
}

fn judge(f: &Figures, library: bool) -> Judgement {
    if !f.levels.jvm {
        return Judgement::lacking("the jvm level, which has the locks");
    }
    let shared = shared_connection::lock(f);
    let of_time = f.time.cause("lock");
    let candidate = f
        .locks
        .iter()
        .filter(|l| {
            is_library(&l.class) == library
                && l.in_pool < INSIDE
                && !shared.is_some_and(|s| std::ptr::eq(s, *l))
        })
        .max_by(|a, b| a.wait_ms.total_cmp(&b.wait_ms));
    let Some(lock) = candidate else {
        return Judgement::refuted(format!(
            "no such lock was waited for; {} of the requests' time waits for any",
            percent(of_time)
        ));
    };
    let share = of_time * lock.part;
    let waits = format!(
        "{} of the requests' time waits for {} ({} waits by {} threads, up to {} at a time)",
        percent(share),
        lock.class,
        lock.waits,
        lock.waiters,
        lock.convoy
    );
    // While collections take much of the time, what owners wait for otherwise is room.
    let for_room = f.gc.share >= NOTABLE;
    let stopped = lock
        .owners
        .map_or(0.0, |did| did[4] + if for_room { did[5] } else { 0.0 });
    let j = if share < NOTABLE || stopped > STOPPED {
        Judgement::refuted(waits)
    } else {
        let owners = owners(lock).map(|o| format!("; {o}")).unwrap_or_default();
        let held = lock
            .owner
            .as_ref()
            .map(|o| format!(", held most often by {o}"))
            .unwrap_or_default();
        Judgement::confirmed(
            share,
            format!("one lock is the limit: {waits}{held}{owners}"),
        )
        .fact(waits)
    };
    let j = match owners(lock) {
        Some(did) => j.fact(did),
        None => j,
    };
    j.at(lock.longest_ns)
}

/// What the owners did while others waited: the two largest parts.
pub fn owners(lock: &Lock) -> Option<String> {
    let said = [
        "running",
        "runnable, not running",
        "waiting for another lock",
        "waiting for I/O",
        "stopped by the collector",
        "blocked otherwise",
    ];
    let mut parts: Vec<(f64, &str)> = lock.owners?.into_iter().zip(said).collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let told: Vec<String> = parts
        .iter()
        .take(2)
        .filter(|p| p.0 >= 0.05)
        .map(|(share, what)| format!("{} {what}", percent(*share)))
        .collect();
    (!told.is_empty())
        .then(|| format!("while others waited its owners were {}", told.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    fn with(class: &str) -> Figures {
        let mut f = sound();
        add(&mut f, "service", "lock", 3000);
        f.locks = vec![Lock {
            class: class.into(),
            waits: 900,
            waiters: 10,
            wait_ms: 3000.0,
            part: 0.99,
            convoy: 7,
            owners: Some([0.25, 0.7, 0.0, 0.0, 0.0, 0.05]),
            ..Lock::default()
        }];
        f
    }

    #[test]
    fn a_lock_whose_owners_the_collector_stops_is_the_collectors() {
        let mut f = with("com.example.shop.Statistics");
        assert_eq!(outcome(HOT_LOCK, &f), Outcome::Confirmed);
        f.locks[0].owners = Some([0.1, 0.1, 0.0, 0.0, 0.8, 0.0]);
        assert_eq!(outcome(HOT_LOCK, &f), Outcome::Refuted);
        f.locks[0].owners = Some([0.0, 0.0, 0.0, 0.0, 0.25, 0.75]);
        assert_eq!(outcome(HOT_LOCK, &f), Outcome::Confirmed);
        f.gc.share = 0.4;
        assert_eq!(outcome(HOT_LOCK, &f), Outcome::Refuted);
    }

    #[test]
    fn a_lock_is_the_applications_or_a_librarys() {
        let own = with("com.example.shop.Statistics");
        assert_eq!(outcome(HOT_LOCK, &own), Outcome::Confirmed);
        assert_eq!(outcome(LIBRARY_LOCK, &own), Outcome::Refuted);
        let theirs = with("org.springframework.boot.loader.net.protocol.jar.UrlJarFiles$Cache");
        assert_eq!(outcome(HOT_LOCK, &theirs), Outcome::Refuted);
        assert_eq!(outcome(LIBRARY_LOCK, &theirs), Outcome::Confirmed);
        let anybodys = with("java.util.concurrent.locks.ReentrantLock$NonfairSync");
        assert_eq!(outcome(HOT_LOCK, &anybodys), Outcome::Confirmed);
    }

    #[test]
    fn what_the_owners_did_is_said() {
        let j = (HOT_LOCK.judge)(&with("a.B"));
        assert!(
            j.verdict
                .contains("its owners were 70% runnable, not running and 25% running"),
            "{}",
            j.verdict
        );
    }

    #[test]
    fn a_pools_own_lock_is_not_the_limit() {
        let mut f = with("a.Pool");
        f.locks[0].in_pool = 0.9;
        assert_eq!(outcome(HOT_LOCK, &f), Outcome::Refuted);
    }
}
