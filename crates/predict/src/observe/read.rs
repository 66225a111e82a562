//! The queries.

use std::collections::HashMap;

use anyhow::Result;
use loadline_trace::duckdb::{Connection, Row};
use loadline_trace::tables::CONNECTIONS;
use loadline_trace::{Meta, Trace};

use super::cpu::{Recent, Thread};
use super::threads::{kinds, others, overheads, threads};
use super::{About, Handshake, Observed, Outlived, Pause, Pool, RECENT, Request};

/// Part of the requests' time from which waiting for something else than locks and pools is said.
const NOTABLE: f64 = 0.01;

/// Reads what a model needs.
pub fn read(trace: &Trace) -> Result<Observed> {
    let db = loadline_analyze::views::open(trace)?;
    let meta = &trace.meta;
    let threads = threads(&db)?;
    let known = kinds(&db)?;
    let spans = requests_and_handshakes(&db, meta, &threads)?;
    let in_requests_ms = 1e3 * spans.0.iter().map(|r| r.end - r.begin).sum::<f64>();
    let (counted, cpu_where_counted) = counted(&db)?;
    let number = |sql: &str| -> Result<f64> { Ok(db.query_row(sql, [], |r| r.get(0))?) };
    Ok(Observed {
        about: about(trace),
        several: Vec::new(),
        overheads: overheads(&db, &threads, &known)?,
        others: others(meta, &threads, &known),
        pauses: pauses(&db, meta)?,
        outlived: outlived(&db)?,
        pools: pools(&db)?,
        locks: super::locks::read(&db, meta)?,
        shared: loadline_analyze::diagnose::others(&db)?
            .into_iter()
            .filter(|o| o.is_shared() && o.wait_ms >= NOTABLE * in_requests_ms)
            .map(|o| (o.what(60), o.waits))
            .collect(),
        most_workers: number(
            "SELECT coalesce(max(n), 0)::DOUBLE FROM (SELECT sum(step) OVER (ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS n
             FROM (SELECT g.begin_ns AS ts, 1 AS step FROM segments g JOIN spans s ON s.id = g.span WHERE s.kind = 'connection'
                   UNION ALL SELECT g.end_ns, -1 FROM segments g JOIN spans s ON s.id = g.span WHERE s.kind = 'connection'))",
        )? as u64,
        workers: db.query_row(
            "SELECT CASE WHEN count(most) = count(*) THEN sum(most)::BIGINT END FROM workers",
            [],
            |r| Ok(r.get::<_, Option<i64>>(0)?.map(|n| n as u64)),
        )?,
        cpu: threads.values().map(Thread::total_ns).sum::<i64>() as f64 * 1e-9,
        counted,
        cpu_where_counted,
        others_on_machine: db.query_row(
            "SELECT (arg_max(value, ts_ns) - arg_min(value, ts_ns)) / nullif(max(ts_ns) - min(ts_ns), 0) * 1e9
             FROM counters WHERE scope = 'machine' AND name = 'others_seconds'",
            [],
            |r| r.get(0),
        )?,
        switches: number("SELECT count(*)::DOUBLE FROM states WHERE state = 'running'")? as u64,
        agent_events: meta.events.saturating_sub(3 * meta.tables.get("states").copied().unwrap_or(0) / 2),
        requests: spans.0,
        handshakes: spans.1,
    })
}

fn about(trace: &Trace) -> About {
    let meta = &trace.meta;
    About {
        trace: trace.dir.display().to_string(),
        name: meta.target.name.clone(),
        jvm: meta.target.jvm.clone(),
        server: meta.target.server.clone().unwrap_or_default(),
        machine: format!("{}, Linux {}", meta.machine.cpu_model, meta.machine.kernel),
        cpus: if meta.machine.target_cpus > 0 {
            meta.machine.target_cpus
        } else {
            meta.machine.cpus.max(1)
        },
        seconds: meta.seconds(),
    }
}

pub(super) fn rows<T>(
    db: &Connection,
    sql: &str,
    of: impl FnMut(&Row) -> loadline_trace::duckdb::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) const SECOND: f64 = 1e-9;

fn requests_and_handshakes(
    db: &Connection,
    meta: &Meta,
    threads: &HashMap<i64, Thread>,
) -> Result<(Vec<Request>, Vec<Handshake>)> {
    let t = |ns: i64| (ns - meta.begin_ns) as f64 * SECOND;
    // Statements, pooled connections and calls lie in the request that their thread was at.
    let inner = "SELECT s.kind AS kind, s.name AS name, s.begin_ns AS begin_ns, s.end_ns AS end_ns, s.thread AS thread, r.request AS request, r.end_ns AS until
         FROM (SELECT * FROM spans WHERE kind IN ('sql', 'pool_use', 'pool_wait', 'call')) s
         ASOF JOIN request_pieces r ON s.thread = r.thread AND s.begin_ns >= r.begin_ns";
    let mut held: HashMap<i64, f64> = HashMap::new();
    for (request, thread, begin, end) in rows(
        db,
        &format!(
            "SELECT request, thread, begin_ns, least(end_ns, until) FROM ({inner}) WHERE kind = 'pool_use' AND begin_ns < until"
        ),
        |r| {
            Ok((
                r.get::<_, i64>(0)?,
                r.get::<_, i64>(1)?,
                r.get::<_, i64>(2)?,
                r.get::<_, i64>(3)?,
            ))
        },
    )? {
        *held.entry(request).or_default() +=
            threads.get(&thread).map_or(0.0, |t| t.between(begin, end));
    }
    let recent = Recent::new(threads.values(), RECENT);
    let busy = |thread: i64, ts: i64| {
        let cpu = threads.get(&thread).and_then(|t| t.cpu_at(ts));
        cpu.map_or(0.0, |cpu| recent.at(ts, cpu))
    };
    let keeps_from =
        "'running', 'runnable', 'lock', 'pool', 'gc', 'safepoint', 'admission', 'unknown'";
    let requests = rows(
        db,
        &format!(
            "WITH b AS (SELECT span,
                    sum(duration_ns) FILTER (cause = 'running' AND phase = 'request') AS container,
                    sum(duration_ns) FILTER (cause = 'running' AND phase IN ('service', 'pool_wait', 'call')) AS service,
                    sum(duration_ns) FILTER (cause = 'running' AND phase = 'sql') AS sql,
                    sum(duration_ns) FILTER (cause NOT IN ({keeps_from}) AND phase = 'sql') AS sql_wait,
                    sum(duration_ns) FILTER (cause NOT IN ({keeps_from}, 'queue') AND phase = 'call') AS service_wait,
                    sum(duration_ns) FILTER (cause NOT IN ({keeps_from}, 'queue') AND phase NOT IN ('sql', 'call')) AS other_wait,
                    sum(duration_ns) FILTER (cause = 'lock') AS lock,
                    sum(duration_ns) FILTER (cause = 'pool') AS pool
                  FROM breakdown WHERE kind = 'request' GROUP BY span),
                  i AS (SELECT request, count(*) FILTER (kind = 'sql') AS statements, count(*) FILTER (kind = 'call') AS calls, count(*) FILTER (kind = 'pool_use') AS acquisitions,
                         mode(name ORDER BY name) FILTER (kind = 'pool_use') AS pool, count(DISTINCT name) FILTER (kind = 'pool_use') AS pools
                        FROM ({inner}) WHERE begin_ns < until GROUP BY request)
             SELECT s.id, s.name, s.begin_ns, s.end_ns, s.connection,
                    coalesce(b.container, 0)::BIGINT, coalesce(b.service, 0)::BIGINT, coalesce(b.sql, 0)::BIGINT,
                    coalesce(b.sql_wait, 0)::BIGINT, coalesce(b.other_wait, 0)::BIGINT, coalesce(b.lock, 0)::BIGINT, coalesce(b.pool, 0)::BIGINT,
                    coalesce(i.statements, 0)::INTEGER, coalesce(i.acquisitions, 0)::INTEGER, s.thread, coalesce(b.service_wait, 0)::BIGINT,
                    c.begin_ns, c.end_ns, i.pool, coalesce(i.pools, 0)::INTEGER, coalesce(i.calls, 0)::INTEGER
             FROM spans s JOIN b ON b.span = s.id LEFT JOIN i ON i.request = s.id
                  LEFT JOIN spans c ON c.id = s.connection
             WHERE s.kind = 'request' AND s.complete ORDER BY s.begin_ns"
        ),
        |r| {
            let s = |i: usize| r.get::<_, i64>(i).map(|ns| ns as f64 * SECOND);
            let (service, sql) = (s(6)?, s(7)?);
            let held = (held.get(&r.get(0)?).copied().unwrap_or(0.0) - sql).clamp(0.0, service);
            Ok(Request {
                name: r.get(1)?,
                begin: t(r.get(2)?),
                end: t(r.get(3)?),
                busy: busy(r.get(14)?, r.get(2)?),
                connection: connection(r, meta)?,
                container: s(5)?,
                service: service - held,
                held,
                sql,
                sql_wait: s(8)?,
                service_wait: s(15)?,
                other_wait: s(9)?,
                lock: s(10)?,
                pool_wait: s(11)?,
                statements: r.get::<_, i32>(12)? as u32,
                acquisitions: r.get::<_, i32>(13)? as u32,
                pool: r.get(18)?,
                pools: r.get::<_, i32>(19)? as u32,
                calls: r.get::<_, i32>(20)? as u32,
            })
        },
    )?;
    let mut handshakes: Vec<Handshake> = Vec::new();
    let mut last: Option<(i64, i64)> = None;
    for (id, resumed, span_begin, thread, begin, end, queued) in rows(
        db,
        "SELECT s.id, s.resumed, s.begin_ns, g.thread, g.begin_ns, g.end_ns, g.queued_ns
         FROM segments g JOIN spans s ON s.id = g.span
         WHERE s.kind = 'tls_handshake' AND s.complete AND s.name IN ('full', 'resumed', 'unknown') ORDER BY s.begin_ns, s.id, g.begin_ns",
        |r| {
            Ok((
                r.get::<_, i64>(0)?,
                r.get::<_, Option<bool>>(1)?,
                r.get::<_, i64>(2)?,
                r.get::<_, i64>(3)?,
                r.get::<_, i64>(4)?,
                r.get::<_, i64>(5)?,
                r.get::<_, Option<i64>>(6)?,
            ))
        },
    )? {
        let before = match last {
            Some((span, ended)) if span == id => ended,
            _ => {
                handshakes.push(Handshake {
                    resumed,
                    begin: t(span_begin),
                    busy: busy(thread, begin),
                    pieces: Vec::new(),
                });
                span_begin
            }
        };
        last = Some((id, end));
        let pause = (queued.unwrap_or(begin) - before).max(0) as f64 * SECOND;
        let cpu = threads.get(&thread).map_or(0.0, |t| t.between(begin, end));
        if let Some(h) = handshakes.last_mut() {
            h.pieces.push((pause, cpu));
        }
    }
    Ok((requests, handshakes))
}

/// The connection of a row of `requests`.
fn connection(r: &Row, meta: &Meta) -> loadline_trace::duckdb::Result<Option<super::Connection>> {
    let (id, begin, end) = (
        r.get(4)?,
        r.get::<_, Option<i64>>(16)?,
        r.get::<_, Option<i64>>(17)?,
    );
    let (Some(id), Some(begin), Some(end)) = (id, begin, end) else {
        return Ok(None);
    };
    Ok(Some(super::Connection {
        id,
        opened: begin > meta.begin_ns,
        closed: (end < meta.end_ns).then_some(end - meta.begin_ns),
    }))
}

fn pauses(db: &Connection, meta: &Meta) -> Result<Vec<Pause>> {
    rows(
        db,
        "SELECT begin_ns, end_ns - begin_ns, heap_before, heap_after FROM vm WHERE kind = 'gc' ORDER BY begin_ns",
        |r| {
            let heap = r.get::<_, Option<i64>>(2)?.zip(r.get::<_, Option<i64>>(3)?);
            Ok(Pause {
                begin: (r.get::<_, i64>(0)? - meta.begin_ns) as f64 * SECOND,
                length: r.get::<_, i64>(1)? as f64 * SECOND,
                heap: heap.map(|(before, after)| (before as f64, after as f64)),
            })
        },
    )
}

/// Of G1 alone: what other collectors make of what they find is not modelled. The first has none before it.
fn outlived(db: &Connection) -> Result<Vec<Outlived>> {
    rows(
        db,
        &format!("WITH c AS (SELECT ts_ns, lag(ts_ns) OVER (ORDER BY ts_ns) AS before, survivors, old, most
                    FROM (PIVOT (FROM counters WHERE scope = 'heap') ON name IN ('survivors_bytes' AS survivors, 'old_bytes' AS old,
                          'max_bytes' AS most) USING max(value) GROUP BY ts_ns)
                    WHERE EXISTS (FROM vm WHERE name LIKE 'G1 %'))
         SELECT any_value(survivors), any_value(old), any_value(most), count(s.id), count(*) FILTER (s.begin_ns > before)
         FROM c LEFT JOIN {CONNECTIONS} s ON s.begin_ns <= ts_ns AND s.end_ns > ts_ns
         WHERE before IS NOT NULL GROUP BY ts_ns ORDER BY ts_ns"),
        |r| {
            Ok(Outlived {
                survivors: r.get(0)?,
                old: r.get(1)?,
                most: r.get(2)?,
                open: r.get::<_, i64>(3)? as u32,
                new: r.get::<_, i64>(4)? as u32,
            })
        },
    )
}

fn pools(db: &Connection) -> Result<Vec<Pool>> {
    rows(
        db,
        "WITH e AS (SELECT name, begin_ns AS ts, 1 AS step FROM spans WHERE kind = 'pool_use'
                    UNION ALL SELECT name, end_ns, -1 FROM spans WHERE kind = 'pool_use'),
              o AS (SELECT name, sum(step) OVER (PARTITION BY name ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS open FROM e)
         SELECT s.name, s.n, (SELECT max(open) FROM o WHERE o.name = s.name)::BIGINT, (SELECT most FROM pool_limits l WHERE l.pool = s.name)
         FROM (SELECT name, count(*) AS n FROM spans WHERE kind = 'pool_use' GROUP BY name) s ORDER BY 2 DESC",
        |r| {
            Ok(Pool {
                name: r.get(0)?,
                asked: r.get::<_, i64>(1)? as u64,
                most_used: r.get::<_, i64>(2)? as u64,
                limit: r.get::<_, Option<i64>>(3)?.map(|n| n as u64),
            })
        },
    )
}

/// CPU from `/proc` between its first and last reading, with how long that was, and CPU from states in the same time.
fn counted(db: &Connection) -> Result<(Option<(f64, f64)>, f64)> {
    let read = "FROM counters WHERE scope = 'process' AND name = 'cpu_seconds'";
    let counted: (Option<f64>, Option<i64>, Option<i64>) = db.query_row(
        &format!(
            "SELECT arg_max(value, ts_ns) - arg_min(value, ts_ns), min(ts_ns), max(ts_ns) {read}"
        ),
        [],
        |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
    )?;
    let (Some(cpu), Some(from), Some(to)) = counted else {
        return Ok((None, 0.0));
    };
    if to <= from {
        return Ok((None, 0.0));
    }
    let ran: i64 = db.query_row(
        &format!(
            "SELECT coalesce(sum(least(end_ns, {to}) - greatest(begin_ns, {from})), 0)::BIGINT FROM states
             WHERE state = 'running' AND end_ns > {from} AND begin_ns < {to}"
        ),
        [],
        |r| r.get(0),
    )?;
    Ok((
        Some((cpu, (to - from) as f64 * SECOND)),
        ran as f64 * SECOND,
    ))
}
