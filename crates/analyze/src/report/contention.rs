//! What was waited for: locks, pools, statements, collections.

use anyhow::Result;
use loadline_trace::Meta;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::load::Cpu;
use super::table::{class, clip, duration, grouped, percent};
use super::{row, rows};
use crate::diagnose::figures::Other;

/// Waits for monitors, or owned locks, of one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Monitor {
    /// Class of the object.
    pub class: String,
    /// monitor or lock (of `java.util.concurrent`).
    pub kind: String,
    /// How many waits.
    pub waits: u64,
    /// All together.
    pub total_ms: f64,
    /// Mean.
    pub mean_ms: f64,
    /// Longest.
    pub max_ms: f64,
    /// Thread that most of them waited for.
    pub owner: Option<String>,
    /// Part of the time that others waited in which its owners ran.
    pub owner_running: Option<f64>,
    /// Part in which they were runnable and had no CPU.
    pub owner_runnable: Option<f64>,
}

pub(super) fn monitors(db: &Connection) -> Result<Vec<Monitor>> {
    rows(
        db,
        "WITH owners AS (SELECT class, sum(held_ns) AS held, sum(running_ns) AS running, sum(runnable_ns) AS runnable FROM lock_owners GROUP BY class)
         SELECT coalesce(w.class, '(unknown class)'), if(w.kind = 'park', 'lock', 'monitor'), count(*),
                sum(ms(w.end_ns - w.begin_ns)), avg(ms(w.end_ns - w.begin_ns)), max(ms(w.end_ns - w.begin_ns)),
                mode(o.name ORDER BY o.name), any_value(s.running / s.held), any_value(s.runnable / s.held)
         FROM lock_waits w LEFT JOIN threads o ON o.id = w.owner LEFT JOIN owners s ON s.class = w.class AND s.held > 0
         GROUP BY ALL ORDER BY 4 DESC LIMIT 6",
        |r| {
            Ok(Monitor {
                class: r.get(0)?,
                kind: r.get(1)?,
                waits: r.get::<_, i64>(2)? as u64,
                total_ms: r.get(3)?,
                mean_ms: r.get(4)?,
                max_ms: r.get(5)?,
                owner: r.get(6)?,
                owner_running: r.get(7)?,
                owner_runnable: r.get(8)?,
            })
        },
    )
}

/// A pool of connections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Connections asked for.
    pub asked: u64,
    /// Of them, waited for longer than 1 ms.
    pub waited: u64,
    /// Mean wait.
    pub mean_wait_ms: f64,
    /// Longest wait.
    pub max_wait_ms: f64,
    /// Mean time that a connection was kept.
    pub mean_use_ms: f64,
    /// Most connections in use at a time.
    pub most_used: u64,
    /// Most threads waiting at a time.
    pub most_waiting: u64,
    /// Connections that it may have, if it says so.
    pub limit: Option<u64>,
}

impl Pool {
    /// Most connections in use at a time, of those that it may have.
    pub(super) fn used(&self) -> String {
        let limit = self.limit.map(|l| format!(" of {}", grouped(l)));
        grouped(self.most_used) + &limit.unwrap_or_default()
    }
}

pub(super) fn pools(db: &Connection) -> Result<Vec<Pool>> {
    rows(
        db,
        // Where a span begins one more is open; where it ends, one less. Ends come first.
        "WITH s AS (SELECT name, kind, begin_ns, end_ns, ms(end_ns - begin_ns) AS ms
                    FROM spans WHERE kind IN ('pool_wait', 'pool_use')),
              e AS (SELECT name, kind, begin_ns AS ts, 1 AS step FROM s WHERE kind = 'pool_use' OR ms > 1
                    UNION ALL SELECT name, kind, end_ns, -1 FROM s WHERE kind = 'pool_use' OR ms > 1),
              o AS (SELECT name, kind, sum(step) OVER (PARTITION BY name, kind ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS open FROM e),
              m AS (SELECT name, max(open) FILTER (kind = 'pool_use') AS used, max(open) FILTER (kind = 'pool_wait') AS waiting FROM o GROUP BY name)
         SELECT s.name, count(*) FILTER (kind = 'pool_wait'), count(*) FILTER (kind = 'pool_wait' AND ms > 1),
                coalesce(avg(ms) FILTER (kind = 'pool_wait'), 0), coalesce(max(ms) FILTER (kind = 'pool_wait'), 0),
                coalesce(avg(ms) FILTER (kind = 'pool_use'), 0),
                coalesce(any_value(m.used), 0)::BIGINT, coalesce(any_value(m.waiting), 0)::BIGINT, any_value(l.most)
         FROM s LEFT JOIN m ON m.name = s.name LEFT JOIN pool_limits l ON l.pool = s.name GROUP BY s.name ORDER BY 2 DESC LIMIT 5",
        |r| {
            let n = |i: usize| r.get::<_, i64>(i).map(|n| n.max(0) as u64);
            Ok(Pool {
                name: r.get(0)?,
                asked: n(1)?,
                waited: n(2)?,
                mean_wait_ms: r.get(3)?,
                max_wait_ms: r.get(4)?,
                mean_use_ms: r.get(5)?,
                most_used: n(6)?,
                most_waiting: n(7)?,
                limit: r.get::<_, Option<i64>>(8)?.map(|n| n.max(0) as u64),
            })
        },
    )
}

/// A statement, or another service.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Callee {
    /// Normalised text of a statement; where a service is.
    pub text: String,
    /// Calls.
    pub count: u64,
    /// Mean.
    pub mean_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// All together.
    pub total_ms: f64,
}

/// What was called by spans of this kind, what took most first.
pub(super) fn called(db: &Connection, kind: &str) -> Result<Vec<Callee>> {
    rows(
        db,
        &format!(
            "SELECT name, count(*), avg(ms), quantile_cont(ms, 0.95), sum(ms)
             FROM (SELECT name, ms(end_ns - begin_ns) AS ms FROM spans WHERE kind = '{kind}')
             GROUP BY name ORDER BY 5 DESC LIMIT 6"
        ),
        |r| {
            Ok(Callee {
                text: r.get(0)?,
                count: r.get::<_, i64>(1)? as u64,
                mean_ms: r.get(2)?,
                p95_ms: r.get(3)?,
                total_ms: r.get(4)?,
            })
        },
    )
}

/// Pauses of the collector.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Gc {
    /// How many.
    pub pauses: u64,
    /// All together.
    pub total_ms: f64,
    /// Longest.
    pub max_ms: f64,
    /// Share of the recording.
    pub share: f64,
}

pub(super) fn gc(db: &Connection, meta: &Meta) -> Result<Gc> {
    row(
        db,
        "SELECT count(*), coalesce(sum(ms(end_ns - begin_ns)), 0), coalesce(max(ms(end_ns - begin_ns)), 0)
         FROM vm WHERE kind = 'gc'",
        |r| {
            let total_ms: f64 = r.get(1)?;
            let share = total_ms * 1e6 / meta.duration_ns().max(1) as f64;
            Ok(Gc { pauses: r.get::<_, i64>(0)? as u64, total_ms, max_ms: r.get(2)?, share })
        },
    )
}

/// A share that is not worth a line.
const LEAST_SHARE: f64 = 0.005;

/// Something that handshakes and requests waited for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitedFor {
    /// cpu, lock, pool, database, service, client, worker, admission, file, gc, safepoint or other.
    pub what: &'static str,
    /// In words.
    pub label: String,
    /// Share of the time of handshakes and requests.
    pub share: f64,
    /// More about it.
    pub detail: String,
}

/// Shares of the time of all handshakes and requests, the largest first, down to half a per cent.
pub(super) fn waited_for(
    db: &Connection,
    cpu: &Cpu,
    monitors: &[Monitor],
    pools: &[Pool],
    sql: &[Callee],
    services: &[Callee],
    others: &[Other],
) -> Result<Vec<WaitedFor>> {
    let shares = rows(
        db,
        "WITH b AS (SELECT CASE
                WHEN cause = 'runnable' THEN 'cpu'
                WHEN cause = 'socket' AND phase = 'sql' THEN 'database'
                WHEN cause = 'socket' AND phase = 'call' THEN 'service'
                WHEN cause = 'socket' AND phase LIKE 'tls%' THEN 'client'
                WHEN cause = 'socket' THEN 'socket'
                WHEN cause = 'queue' THEN 'worker'
                ELSE cause END AS what, sum(duration_ns) AS ns
             FROM breakdown WHERE kind IN ('request', 'tls_handshake') GROUP BY 1)
         SELECT what, ns / (SELECT sum(ns) FROM b) AS share, (SELECT ms(sum(ns)) FROM b) AS all_ms FROM b",
        |r| Ok((r.get::<_, String>(0)?, r.get::<_, f64>(1)?, r.get::<_, f64>(2)?)),
    )?;
    let all_ms = shares.first().map_or(0.0, |s| s.2);
    let told = other_waits(others, all_ms);
    let of_told: f64 = told.iter().map(|w| w.share).sum();
    let name = |what: &'static str, label: &str, share: f64, detail: String| WaitedFor {
        what,
        label: label.into(),
        share,
        detail,
    };
    let queue = most_queued(db)?;
    let top = |called: &[Callee]| {
        called.first().map_or(String::new(), |s| {
            format!(
                "{}   {} calls, {}",
                clip(&s.text, 34),
                grouped(s.count),
                duration(s.mean_ms)
            )
        })
    };
    let found = shares
        .into_iter()
        .map(|(what, share, _)| match what.as_str() {
            "other" => (what, share - of_told),
            _ => (what, share),
        })
        .filter(|(_, share)| *share >= LEAST_SHARE)
        .filter_map(|(what, share)| {
            Some(match what.as_str() {
                "cpu" => {
                    let busy = cpu
                        .utilization
                        .map(|u| format!("the target used {} of its CPUs", percent(u)));
                    name("cpu", "a CPU", share, busy.unwrap_or_default())
                }
                "lock" => {
                    let top = monitors.first().map(|m| {
                        format!(
                            "{}   {} waits, {}",
                            class(&m.class, 34),
                            grouped(m.waits),
                            duration(m.mean_ms)
                        )
                    });
                    name("lock", "a lock", share, top.unwrap_or_default())
                }
                "pool" => {
                    let top = pools.first().map(|p| {
                        format!(
                            "up to {} in use, up to {} threads waiting",
                            p.used(),
                            p.most_waiting
                        )
                    });
                    let label = pools
                        .first()
                        .map_or("a pool".into(), |p| format!("pool {}", clip(&p.name, 20)));
                    name("pool", &label, share, top.unwrap_or_default())
                }
                "database" => name("database", "the database", share, top(sql)),
                "service" => name("service", "another service", share, top(services)),
                "client" => name("client", "the client, in handshakes", share, String::new()),
                "socket" => name(
                    "client",
                    "a peer, in requests",
                    share,
                    "the client, or a service that is called otherwise than we know".into(),
                ),
                "worker" => name("worker", "a worker thread", share, queue.clone()),
                "admission" => name(
                    "admission",
                    "admission",
                    share,
                    "handshakes that waited for their turn".into(),
                ),
                "file" => name("file", "a file", share, String::new()),
                "gc" => name("gc", "garbage collection", share, String::new()),
                "safepoint" => name(
                    "safepoint",
                    "a safepoint",
                    share,
                    "the virtual machine stopped the program, not for a collection".into(),
                ),
                "other" => name(
                    "other",
                    "something else",
                    share,
                    "another thread, a timer".into(),
                ),
                _ => return None, // running and unknown are not waiting
            })
        });
    let mut found: Vec<WaitedFor> = found.chain(told).collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    Ok(found)
}

/// Which threads' queue, the server's or an executor's, handshakes and requests lay in longest.
fn most_queued(db: &Connection) -> Result<String> {
    let most = rows(
        db,
        "SELECT regexp_replace(t.name, '[0-9]+([.][0-9]+)*', '#', 'g') AS whose, count(*), avg(ms(g.begin_ns - g.queued_ns))
         FROM segments g JOIN threads t ON t.id = g.thread JOIN spans s ON s.id = g.span
         WHERE g.queued_ns IS NOT NULL AND s.kind IN ('request', 'tls_handshake')
         GROUP BY whose ORDER BY sum(g.begin_ns - g.queued_ns) DESC, whose LIMIT 1",
        |r| {
            let (whose, waits, mean): (String, i64, f64) = (r.get(0)?, r.get(1)?, r.get(2)?);
            Ok(format!(
                "{}   {} waits, {}",
                clip(&whose, 34),
                grouped(waits.max(0) as u64),
                duration(mean)
            ))
        },
    )?;
    Ok(most
        .into_iter()
        .next()
        .unwrap_or_else(|| "in the server's queue".into()))
}

/// What no thread owns by its class, as far as it is worth a line.
fn other_waits(others: &[Other], all_ms: f64) -> Vec<WaitedFor> {
    let mut found: Vec<(String, Vec<&Other>)> = Vec::new();
    for o in others {
        let label = o.what(26);
        match found.iter_mut().find(|(l, _)| *l == label) {
            Some((_, of)) => of.push(o),
            None => found.push((label, vec![o])),
        }
    }
    let told = found.into_iter().map(|(label, of)| {
        let ms: f64 = of.iter().map(|o| o.wait_ms).sum();
        let waits: u64 = of.iter().map(|o| o.waits).sum();
        let most = of[0];
        let ended = most
            .waker
            .as_ref()
            .map(|w| format!("ended by {}", clip(w, 25)));
        let place = most.code.as_ref().map(|c| class(c, 34)).or(ended);
        let figures = format!(
            "{} waits, {}",
            grouped(waits),
            duration(ms / waits.max(1) as f64)
        );
        WaitedFor {
            what: "other",
            label,
            share: ms / all_ms.max(1e-9),
            detail: place.map_or(figures.clone(), |p| format!("{p}   {figures}")),
        }
    });
    told.filter(|w| w.share >= LEAST_SHARE).collect()
}
