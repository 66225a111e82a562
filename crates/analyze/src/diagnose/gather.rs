//! Figures from a trace: runs the queries, and nothing more. It judges nothing.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use loadline_trace::Meta;
use loadline_trace::duckdb::{Connection, Row};

use super::figures::*;
use super::queries::sql;

/// All rows of a query.
fn rows<T>(
    db: &Connection,
    name: &str,
    of: impl FnMut(&Row) -> loadline_trace::duckdb::Result<T>,
) -> Result<Vec<T>> {
    crate::report::rows(db, sql(name), of).with_context(|| format!("the query {name:?}"))
}

/// The first row of a query that always has one.
fn row<T: Default>(
    db: &Connection,
    name: &str,
    of: impl FnMut(&Row) -> loadline_trace::duckdb::Result<T>,
) -> Result<T> {
    Ok(rows(db, name, of)?.into_iter().next().unwrap_or_default())
}

fn count(r: &Row, i: usize) -> loadline_trace::duckdb::Result<u64> {
    r.get::<_, Option<i64>>(i)
        .map(|n| n.unwrap_or(0).max(0) as u64)
}

fn number(r: &Row, i: usize) -> loadline_trace::duckdb::Result<f64> {
    r.get::<_, Option<f64>>(i).map(|n| n.unwrap_or(0.0))
}

fn limit(r: &Row, i: usize) -> loadline_trace::duckdb::Result<Option<u64>> {
    Ok(r.get::<_, Option<i64>>(i)?.map(|n| n.max(0) as u64))
}

/// Everything.
pub fn gather(db: &Connection, meta: &Meta) -> Result<Figures> {
    let seconds = meta.seconds().max(1e-9);
    let cpus = f64::from(crate::report::cpus(meta));
    let kernel = meta.has("kernel");
    let counters = Counters::read(db)?;
    let statements = statements(db)?;
    let requests = row(db, "requests", |r| {
        Ok(Requests {
            count: count(r, 0)?,
            per_s: count(r, 0)? as f64 / seconds,
            p50_ms: number(r, 1)?,
            p95_ms: number(r, 2)?,
            p99_ms: number(r, 3)?,
            server_errors: count(r, 4)?,
            hanging: count(r, 5)?,
            slowest_ns: r.get(6)?,
        })
    })?;
    Ok(Figures {
        seconds,
        cpus,
        java: meta.target.java,
        levels: Levels {
            kernel,
            syscalls: meta.has("syscalls"),
            jvm: meta.has("jvm"),
            server: meta.has("server"),
            sql: !statements.is_empty(),
        },
        time: Time {
            cells: rows(db, "time", |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?,
        },
        cpu: cpu(db, &counters, cpus, seconds, kernel)?,
        doors: doors(db, &counters)?,
        locks: locks(db)?,
        others: others(db)?,
        pools: pools(db)?,
        forgotten: forgotten(db)?,
        services: rows(db, "calls", |r| {
            Ok(Service {
                name: r.get(0)?,
                calls: count(r, 1)?,
                mean_ms: number(r, 2)?,
                longest_ns: r.get(3)?,
            })
        })?,
        sql: sql_use(db)?,
        gc: gc(db, meta)?,
        workers: row(db, "workers", |r| {
            Ok(Workers {
                threads: count(r, 0)?,
                most_busy: count(r, 1)?,
                mean_busy: number(r, 2)?,
                all_busy: number(r, 3)?,
                limit: limit(r, 4)?,
            })
        })?,
        carriers: carriers(db)?,
        tiny_reads: if meta.has("syscalls") {
            Some(row(db, "tiny_reads", |r| {
                Ok(TinyReads {
                    count: count(r, 0)?,
                    total_ms: number(r, 1)?,
                    file: r.get(2)?,
                })
            })?)
        } else {
            None
        },
        outlier: outlier(db)?,
        endpoints: endpoints(db)?,
        requests,
        statements,
    })
}

/// What each counter gained, and its last value.
struct Counters(BTreeMap<(String, String), (f64, f64, f64, f64)>);

impl Counters {
    fn read(db: &Connection) -> Result<Counters> {
        let all = rows(db, "counters", |r| {
            let key: (String, String) = (r.get(0)?, r.get(1)?);
            Ok((
                key,
                (number(r, 2)?, number(r, 3)?, number(r, 4)?, number(r, 5)?),
            ))
        })?;
        Ok(Counters(all.into_iter().collect()))
    }

    fn get(&self, scope: &str, name: &str) -> Option<&(f64, f64, f64, f64)> {
        self.0.get(&(scope.to_owned(), name.to_owned()))
    }

    /// What it gained.
    fn gained(&self, scope: &str, name: &str) -> Option<f64> {
        self.get(scope, name).map(|c| c.0)
    }

    /// What it gained per second.
    fn rate(&self, scope: &str, name: &str) -> Option<f64> {
        self.get(scope, name)
            .filter(|c| c.1 > 0.0)
            .map(|c| c.0 / c.1)
    }
}

fn cpu(db: &Connection, counters: &Counters, cpus: f64, seconds: f64, kernel: bool) -> Result<Cpu> {
    let mut by_kind: BTreeMap<String, f64> = BTreeMap::new();
    let mut by_cpu: BTreeMap<i32, f64> = BTreeMap::new();
    for (kind, cpu, s) in rows(db, "cpu", |r| {
        Ok((
            r.get::<_, String>(0)?,
            r.get::<_, Option<i32>>(1)?,
            number(r, 2)?,
        ))
    })? {
        *by_kind.entry(kind).or_default() += s;
        *by_cpu.entry(cpu.unwrap_or(-1)).or_default() += s;
    }
    let used = if kernel {
        Some(by_kind.values().sum::<f64>() / seconds)
    } else {
        counters.rate("process", "cpu_seconds")
    };
    // The CPUs on which it ran for more than a moment: a thread that starts elsewhere is none of them.
    let own: Vec<(i32, f64)> = by_cpu
        .into_iter()
        .filter(|&(cpu, s)| cpu >= 0 && s > 0.01 * seconds)
        .collect();
    let others = own
        .iter()
        .map(|(cpu, s)| Some(counters.rate(&format!("cpu {cpu}"), "busy_seconds")? - s / seconds))
        .collect::<Option<Vec<f64>>>()
        .filter(|o| !o.is_empty())
        .map(|o| o.iter().sum::<f64>().max(0.0) / o.len() as f64);
    let all = counters
        .rate("machine", "busy_seconds")
        .zip(counters.rate("machine", "idle_seconds"))
        .map(|(b, i)| b + i);
    let steal = counters.rate("machine", "steal_seconds");
    let thirds = rows(db, "thirds", |r| {
        Ok((
            r.get::<_, i32>(0)?,
            number(r, 1)?,
            number(r, 2)?,
            number(r, 3)?,
            count(r, 4)?,
        ))
    })?;
    let ends = match thirds[..] {
        [a, _, c] if kernel => Some((a, c)),
        _ => None,
    };
    let starved = row(db, "starved", |r| {
        Ok((number(r, 0)?, number(r, 1)?, number(r, 2)?))
    })?;
    let periods = counters.gained("process", "quota_periods");
    Ok(Cpu {
        utilization: used.map(|u| u / cpus),
        others,
        steal: steal
            .zip(all)
            .filter(|(_, all)| *all > 0.0)
            .map(|(s, all)| s / (s + all)),
        by_kind,
        starved: (kernel && starved.0 > 0.0).then(|| (starved.1 / starved.0).min(1.0)),
        turn_ms: kernel.then_some(starved.2),
        kernel_share: counters
            .gained("process", "kernel_seconds")
            .zip(counters.gained("process", "cpu_seconds"))
            .filter(|(_, all)| *all > 0.0)
            .map(|(k, all)| (k / all).clamp(0.0, 1.0)),
        throttled_share: counters
            .gained("process", "throttled_periods")
            .zip(periods)
            .map(|(t, p)| if p > 0.0 { t / p } else { 0.0 }),
        throttled_seconds: counters.gained("process", "throttled_seconds"),
        quota: counters.get("process", "quota_cpus").map(|c| c.2),
        per_request_ms: ends
            .filter(|(a, c)| a.4 > 0 && c.4 > 0)
            .map(|(a, c)| (1e3 * a.1 / a.4 as f64, 1e3 * c.1 / c.4 as f64)),
        compilers: ends.map(|(a, c)| (a.2 / a.3.max(1e-9), c.2 / c.3.max(1e-9))),
    })
}

fn doors(db: &Connection, counters: &Counters) -> Result<Doors> {
    let overflows = counters.gained("network", "listen_overflows");
    row(db, "doors", |r| {
        Ok(Doors {
            opened: count(r, 0)?,
            full: count(r, 1)?,
            resumed: count(r, 2)?,
            failed: count(r, 3)?,
            unknown: count(r, 4)?,
            overflows: overflows.map(|n| n.max(0.0) as u64),
            accept_queue: counters.get("process", "accept_queue").map(|c| c.3),
        })
    })
}

fn locks(db: &Connection) -> Result<Vec<Lock>> {
    rows(db, "locks", |r| {
        let held = r.get::<_, Option<i64>>(10)?;
        let state = |i| r.get::<_, Option<i64>>(i).map(|n| n.unwrap_or(0) as f64);
        let states = [
            state(11)?,
            state(12)?,
            state(13)?,
            state(14)?,
            state(15)?,
            state(16)?,
        ];
        Ok(Lock {
            class: r.get(0)?,
            waits: count(r, 1)?,
            waiters: count(r, 2)?,
            wait_ms: number(r, 3)?,
            part: number(r, 4)?,
            convoy: count(r, 5)?,
            in_sql: number(r, 6)?,
            in_pool: number(r, 7)?,
            owner: r.get(8)?,
            longest_ns: r.get(9)?,
            owners: held
                .filter(|h| *h > 0)
                .map(|h| states.map(|s| s / h as f64)),
        })
    })
}

/// What requests waited for and no thread owns.
pub fn others(db: &Connection) -> Result<Vec<Other>> {
    rows(db, "others", |r| {
        Ok(Other {
            kind: r.get(0)?,
            class: r.get(1)?,
            goes_round: r.get::<_, Option<bool>>(2)?.unwrap_or(false),
            waits: count(r, 3)?,
            waiters: count(r, 4)?,
            convoy: count(r, 5)?,
            wait_ms: number(r, 6)?,
            by_peers: number(r, 7)?,
            in_sql: number(r, 8)?,
            timed: number(r, 9)?,
            computing: r.get(10)?,
            code: r.get(11)?,
            waker: r.get(12)?,
            longest_ns: r.get(13)?,
        })
    })
}

fn pools(db: &Connection) -> Result<Vec<Pool>> {
    rows(db, "pools", |r| {
        Ok(Pool {
            name: r.get(0)?,
            asked: count(r, 1)?,
            waited: count(r, 2)?,
            wait_ms: number(r, 3)?,
            mean_use_ms: number(r, 4)?,
            size: count(r, 5)?,
            full: number(r, 6)?,
            waiting: count(r, 7)?,
            longest_ns: r.get::<_, Option<i64>>(8)?.unwrap_or(0),
            limit: limit(r, 9)?,
        })
    })
}

fn forgotten(db: &Connection) -> Result<Vec<Forgotten>> {
    rows(db, "forgotten", |r| {
        Ok(Forgotten {
            pool: r.get(0)?,
            thread: r.get(1)?,
            begin_ns: r.get(2)?,
            wait_ms: number(r, 3)?,
            free_ms: number(r, 4)?,
            released: count(r, 5)?,
            open: r.get(6)?,
        })
    })
}

fn statements(db: &Connection) -> Result<Vec<Statement>> {
    rows(db, "statements", |r| {
        Ok(Statement {
            text: r.get(0)?,
            calls: count(r, 1)?,
            p50_ms: number(r, 2)?,
            work_ms: number(r, 3)?,
            total_ms: number(r, 4)?,
            longest_ns: r.get(5)?,
        })
    })
}

fn sql_use(db: &Connection) -> Result<SqlUse> {
    row(db, "sql_use", |r| {
        Ok(SqlUse {
            calls: count(r, 0)?,
            outside_pool: count(r, 1)?,
            threads: count(r, 2)?,
            at_once: count(r, 3)?,
            overlapping: number(r, 4)?,
            over: count(r, 5)?,
            not_given_back: count(r, 6)?,
        })
    })
}

fn gc(db: &Connection, meta: &Meta) -> Result<Gc> {
    let pauses = rows(db, "gc", |r| {
        Ok((
            r.get::<_, i64>(0)?,
            r.get::<_, i64>(1)?,
            r.get::<_, Option<i64>>(2)?,
            r.get::<_, Option<i64>>(3)?,
        ))
    })?;
    let longest = pauses.iter().max_by_key(|p| p.1 - p.0);
    let stopped: i64 = pauses.iter().map(|p| p.1 - p.0).sum();
    let heaps = pauses.iter().filter_map(|p| p.2.zip(p.3));
    Ok(Gc {
        pauses: pauses.len() as u64,
        share: stopped as f64 / meta.duration_ns().max(1) as f64,
        longest_ms: longest.map_or(0.0, |p| (p.1 - p.0) as f64 / 1e6),
        longest_ns: longest.map_or(0, |p| p.0),
        after: pauses
            .iter()
            .filter_map(|p| Some(((p.1 - meta.begin_ns) as f64 / 1e9, p.3? as f64)))
            .collect(),
        freed: heaps
            .map(|(before, after)| (before - after).max(0))
            .sum::<i64>() as f64,
    })
}

fn carriers(db: &Connection) -> Result<Option<Carriers>> {
    let found = row(db, "carriers", |r| {
        let threads = count(r, 0)?;
        let ns = count(r, 1)? as f64;
        let share = |i| count(r, i).map(|n| n as f64 / ns.max(1.0));
        Ok((threads > 0 && ns > 0.0).then_some(Carriers {
            threads,
            blocked: share(2)?,
            running: share(3)?,
            idle: share(4)?,
            pinned: r.get::<_, Option<i64>>(5)?.map(|p| p as f64 / ns.max(1.0)),
        }))
    })?;
    Ok(found)
}

fn outlier(db: &Connection) -> Result<Option<Outlier>> {
    let found = rows(db, "services", |r| {
        Ok(Outlier {
            thread: r.get(0)?,
            mean_ms: number(r, 2)?,
            peers_ms: number(r, 3)?,
            at_ns: r.get(4)?,
        })
    })?;
    Ok(found.into_iter().next().filter(|o| o.peers_ms > 0.0))
}

fn endpoints(db: &Connection) -> Result<Vec<Endpoint>> {
    rows(db, "endpoints", |r| {
        Ok(Endpoint {
            name: r.get(0)?,
            count: count(r, 1)?,
            p50_ms: number(r, 2)?,
            running_ms: number(r, 3)?,
            share: number(r, 4)?,
            longest_ns: r.get(5)?,
        })
    })
}
