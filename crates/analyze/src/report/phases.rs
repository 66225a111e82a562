//! Where time went: by phase, by request type, and, without requests, by thread.

use anyhow::Result;
use loadline_trace::duckdb::{Connection, Row};
use serde::Serialize;

use super::rows;

/// Milliseconds by cause. They add up to the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Times {
    /// All.
    pub total: f64,
    /// On a CPU.
    pub running: f64,
    /// Waiting for one.
    pub runnable: f64,
    /// Waiting for a lock.
    pub lock: f64,
    /// Waiting for a pool.
    pub pool: f64,
    /// Waiting for a peer.
    pub socket: f64,
    /// Waiting for a file.
    pub file: f64,
    /// Stopped by a collection.
    pub gc: f64,
    /// Waiting in the queue for a worker.
    pub queue: f64,
    /// Held back by the guard.
    pub admission: f64,
    /// Nothing to do.
    pub idle: f64,
    /// Something else.
    pub other: f64,
    /// Not known.
    pub unknown: f64,
}

/// Columns of [`Times`] summed over rows of `cause` and `ns`, in ms.
const SUMS: &str = "coalesce(sum(ns), 0)/1e6,
    coalesce(sum(ns) FILTER (cause = 'running'), 0)/1e6, coalesce(sum(ns) FILTER (cause = 'runnable'), 0)/1e6,
    coalesce(sum(ns) FILTER (cause = 'lock'), 0)/1e6, coalesce(sum(ns) FILTER (cause = 'pool'), 0)/1e6,
    coalesce(sum(ns) FILTER (cause = 'socket'), 0)/1e6, coalesce(sum(ns) FILTER (cause = 'file'), 0)/1e6,
    coalesce(sum(ns) FILTER (cause = 'gc'), 0)/1e6, coalesce(sum(ns) FILTER (cause = 'queue'), 0)/1e6,
    coalesce(sum(ns) FILTER (cause = 'idle'), 0)/1e6, coalesce(sum(ns) FILTER (cause IN ('other', 'safepoint')), 0)/1e6,
    coalesce(sum(ns) FILTER (cause = 'unknown'), 0)/1e6, coalesce(sum(ns) FILTER (cause = 'admission'), 0)/1e6";

impl Times {
    fn of(r: &Row, from: usize) -> loadline_trace::duckdb::Result<Times> {
        let at = |i: usize| r.get::<_, f64>(from + i);
        Ok(Times {
            total: at(0)?,
            running: at(1)?,
            runnable: at(2)?,
            lock: at(3)?,
            pool: at(4)?,
            socket: at(5)?,
            file: at(6)?,
            gc: at(7)?,
            queue: at(8)?,
            idle: at(9)?,
            other: at(10)?,
            unknown: at(11)?,
            admission: at(12)?,
        })
    }

    fn per(self, n: u64) -> Times {
        let by = 1.0 / n.max(1) as f64;
        Times {
            total: self.total * by,
            running: self.running * by,
            runnable: self.runnable * by,
            lock: self.lock * by,
            pool: self.pool * by,
            socket: self.socket * by,
            file: self.file * by,
            gc: self.gc * by,
            queue: self.queue * by,
            admission: self.admission * by,
            idle: self.idle * by,
            other: self.other * by,
            unknown: self.unknown * by,
        }
    }
}

/// Mean time of one phase per occurrence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// What it is called.
    pub label: &'static str,
    /// What it is per.
    pub per: &'static str,
    /// How many of those.
    pub count: u64,
    /// Mean times, ms.
    pub ms: Times,
    /// Whether it is a part of the row above that is not.
    pub part: bool,
}

/// Rows of the breakdown: label, per what, spans counted (SQL over `spans`), time summed (SQL over `breakdown`).
const PHASES: [(&str, &str, &str, &str, bool); 10] = [
    (
        "TLS handshake, full",
        "handshake",
        "kind = 'tls_handshake' AND name = 'full'",
        "true",
        false,
    ),
    (
        "TLS handshake, resumed",
        "handshake",
        "kind = 'tls_handshake' AND name = 'resumed'",
        "true",
        false,
    ),
    (
        "TLS, full or resumed", // OpenSSL's
        "handshake",
        "kind = 'tls_handshake' AND name = 'unknown' AND complete",
        "true",
        false,
    ),
    (
        "TLS handshake, failed",
        "handshake",
        "kind = 'tls_handshake' AND name = 'failed'",
        "true",
        false,
    ),
    (
        "request, no service",
        "request",
        "kind = 'request'",
        "phase = 'request'",
        false,
    ),
    (
        "service",
        "request",
        "kind = 'request'",
        "phase IN ('service', 'pool_wait', 'sql', 'call')",
        false,
    ),
    (
        "waiting for the pool",
        "request",
        "kind = 'request'",
        "phase = 'pool_wait'",
        true,
    ),
    ("SQL", "request", "kind = 'request'", "phase = 'sql'", true),
    (
        "calls of services",
        "request",
        "kind = 'request'",
        "phase = 'call'",
        true,
    ),
    (
        "connection, idle",
        "connection",
        "kind = 'connection'",
        "phase = 'idle'",
        false,
    ),
];

/// The breakdown. Handshakes and requests count if they are complete, connections always, since
/// few of them begin and end within a recording.
pub(super) fn breakdown(db: &Connection) -> Result<Vec<Phase>> {
    let mut out = Vec::new();
    for (label, per, spans, time, part) in PHASES {
        let which = format!("{spans} AND (complete OR kind = 'connection')");
        let found = rows(
            db,
            &format!(
                "WITH s AS (SELECT id FROM spans WHERE {which})
                 SELECT (SELECT count(*) FROM s), {SUMS}
                 FROM (SELECT cause, duration_ns AS ns FROM breakdown
                       WHERE {time} AND span IN (SELECT id FROM s))"
            ),
            |r| Ok((r.get::<_, i64>(0)? as u64, Times::of(r, 1)?)),
        )?;
        out.extend(
            found
                .into_iter()
                .filter(|(n, t)| *n > 0 && t.total > 0.0)
                .map(|(count, t)| Phase {
                    label,
                    per,
                    count,
                    ms: t.per(count),
                    part,
                }),
        );
    }
    Ok(out)
}

/// Requests of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequestType {
    /// Method and path; numbers in the path are `#`.
    pub name: String,
    /// How many were complete.
    pub count: u64,
    /// Mean response time.
    pub mean_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// Mean times by cause, ms.
    pub ms: Times,
    /// Mean time in statements, whatever the cause, ms.
    pub sql_ms: f64,
    /// Mean time in calls of other services, likewise.
    pub call_ms: f64,
}

/// Request types by their 95th percentile.
pub(super) fn request_types(db: &Connection) -> Result<Vec<RequestType>> {
    rows(
        db,
        &format!(
            "WITH r AS (SELECT id, request_type(name) AS type, ms(end_ns - begin_ns) AS ms
                        FROM spans WHERE kind = 'request' AND complete),
                  t AS (SELECT type, count(*) AS n, avg(ms) AS mean, quantile_cont(ms, 0.95) AS p95 FROM r GROUP BY type),
                  b AS (SELECT r.type, b.cause, b.phase, b.duration_ns AS ns FROM breakdown b JOIN r ON r.id = b.span)
             SELECT type, any_value(n), any_value(mean), any_value(p95),
                    coalesce(sum(ns) FILTER (phase = 'sql'), 0)/1e6,
                    coalesce(sum(ns) FILTER (phase = 'call'), 0)/1e6, {SUMS}
             FROM b JOIN t USING (type) GROUP BY type ORDER BY any_value(p95) DESC LIMIT 8"
        ),
        |r| {
            let count = r.get::<_, i64>(1)? as u64;
            let each = |ms: f64| ms / count.max(1) as f64;
            Ok(RequestType {
                name: r.get(0)?,
                count,
                mean_ms: r.get(2)?,
                p95_ms: r.get(3)?,
                sql_ms: each(r.get(4)?),
                call_ms: each(r.get(5)?),
                ms: Times::of(r, 6)?.per(count),
            })
        },
    )
}

/// What a thread did, or several whose names differ in the number at their end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadTime {
    /// Name; of several with # for the number.
    pub name: String,
    /// How many there are.
    pub count: u64,
    /// Their kind.
    pub kind: String,
    /// Times, ms.
    pub ms: Times,
}

/// Threads that ran most (without the kernel level: that waited least), those of a name as one: of 200 handlers of a server
/// ten that ran most are no news.
pub(super) fn threads(db: &Connection) -> Result<Vec<ThreadTime>> {
    rows(
        db,
        &format!(
            "SELECT CASE count(DISTINCT thread) WHEN 1 THEN any_value(t.name) ELSE alike END, count(DISTINCT thread), t.kind, {SUMS}
             FROM (SELECT thread, cause, end_ns - begin_ns AS ns FROM states)
             JOIN (SELECT *, regexp_replace(name, '#?[0-9]+$', '#') AS alike FROM threads) t ON t.id = thread
             GROUP BY alike, t.kind
             ORDER BY coalesce(sum(ns) FILTER (cause = 'running'), 0) DESC, coalesce(sum(ns) FILTER (cause = 'unknown'), 0) DESC
             LIMIT 10"
        ),
        |r| Ok(ThreadTime { name: r.get(0)?, count: r.get::<_, i64>(1)? as u64, kind: r.get(2)?, ms: Times::of(r, 3)? }),
    )
}
