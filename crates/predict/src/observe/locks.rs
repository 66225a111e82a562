//! Waits for locks, with the requests that they were in, and what owners did meanwhile.

use anyhow::Result;
use loadline_trace::Meta;
use loadline_trace::duckdb::Connection;

use super::read::{SECOND, rows};
use super::{Lock, LockWait, Owners};

/// Locks that were waited for, those of the longest waits first. The views of `loadline-analyze` must be there.
pub(super) fn read(db: &Connection, meta: &Meta) -> Result<Vec<Lock>> {
    // A waiter has the lock from when it is woken; until it runs, it waits for a CPU.
    let within = |kind: &str| {
        format!(
            "ASOF LEFT JOIN (SELECT thread, begin_ns, end_ns FROM spans WHERE kind = '{kind}') {kind} \
             ON w.thread = {kind}.thread AND w.begin_ns >= {kind}.begin_ns"
        )
    };
    let waits = rows(
        db,
        &format!(
            "WITH woken AS (SELECT wait, max(end_ns) AS ns FROM states
                            WHERE wait IS NOT NULL AND state IN ('blocked', 'uninterruptible') GROUP BY wait),
                  w AS (SELECT l.*, least(l.end_ns, coalesce(k.ns, l.end_ns)) AS free_ns
                        FROM lock_waits l LEFT JOIN woken k ON k.wait = l.id WHERE l.outcome <> 'cut')
             SELECT coalesce(w.class, '(unknown class)'), coalesce(w.object, 0), w.begin_ns, w.free_ns,
                    CASE WHEN w.begin_ns < r.end_ns THEN r.name END,
                    CASE WHEN w.begin_ns < sql.end_ns THEN 'sql' WHEN w.begin_ns < pool_use.end_ns THEN 'held'
                         WHEN w.begin_ns < service.end_ns THEN 'service' ELSE 'container' END
             FROM w ASOF LEFT JOIN request_pieces r ON w.thread = r.thread AND w.begin_ns >= r.begin_ns {} {} {} ORDER BY w.begin_ns",
            within("sql"),
            within("pool_use"),
            within("service")
        ),
        |r| {
            Ok((
                r.get::<_, String>(0)?,
                r.get::<_, i64>(1)?,
                r.get::<_, i64>(2)?,
                r.get::<_, i64>(3)?,
                r.get::<_, Option<String>>(4)?,
                r.get::<_, String>(5)?,
            ))
        },
    )?;
    let mut locks: Vec<Lock> = Vec::new();
    for (class, object, begin, end, request, part) in waits {
        let at = locks
            .iter()
            .position(|l| l.class == class && l.object == object);
        let i = at.unwrap_or_else(|| {
            locks.push(Lock {
                class,
                object,
                waits: Vec::new(),
                owners: Owners::default(),
            });
            locks.len() - 1
        });
        locks[i].waits.push(LockWait {
            begin: (begin - meta.begin_ns) as f64 * SECOND,
            seconds: (end - begin).max(0) as f64 * SECOND,
            request,
            part: super::PARTS
                .into_iter()
                .find(|p| *p == part)
                .unwrap_or("container"),
        });
    }
    let owners = rows(
        db,
        "SELECT coalesce(class, '(unknown class)'), coalesce(object, 0), held_ns, running_ns, runnable_ns + lock_ns, io_ns + other_ns FROM lock_owners",
        |r| {
            let s = |i: usize| r.get::<_, i64>(i).map(|ns| ns as f64 * SECOND);
            let owners = Owners {
                held: s(2)?,
                running: s(3)?,
                kept: s(4)?,
                waiting: s(5)?,
            };
            Ok((r.get::<_, String>(0)?, r.get::<_, i64>(1)?, owners))
        },
    )?;
    for (class, object, owners) in owners {
        if let Some(l) = locks
            .iter_mut()
            .find(|l| l.class == class && l.object == object)
        {
            l.owners = owners;
        }
    }
    let sum = |l: &Lock| l.waits.iter().map(|w| w.seconds).sum::<f64>();
    locks.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    Ok(locks)
}
