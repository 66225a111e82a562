//! The queries.

use std::collections::HashMap;

use anyhow::Result;
use loadline_trace::duckdb::{Connection, Row};
use loadline_trace::{Meta, Trace};

use super::cpu::{Recent, Thread};
use super::{
    About, Handshake, Observed, Others, Outlived, Overheads, Pause, Pool, RECENT, Request,
};

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

fn threads(db: &Connection) -> Result<HashMap<i64, Thread>> {
    let mut threads: HashMap<i64, Thread> = HashMap::new();
    let mut statement = db.prepare(
        "SELECT thread, begin_ns, end_ns, state = 'running', state IN ('blocked', 'uninterruptible'), coalesce(cpu, -1)
         FROM states ORDER BY thread, begin_ns",
    )?;
    let mut rows = statement.query([])?;
    while let Some(r) = rows.next()? {
        let thread = threads.entry(r.get(0)?).or_default();
        let (begin, end) = (r.get(1)?, r.get(2)?);
        if r.get(3)? {
            thread.ran(begin, end, r.get(5)?);
        } else if r.get(4)? {
            thread.was_asleep(begin, end);
        }
    }
    Ok(threads)
}

/// What a thread is for, as far as this module tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Worker,
    Dispatcher,
    Acceptor,
    Gc,
    Compiler,
    Other,
}

fn kinds(db: &Connection) -> Result<HashMap<i64, Use>> {
    let list = rows(
        db,
        "SELECT t.id, t.kind, t.name, EXISTS (SELECT 1 FROM segments g WHERE g.thread = t.id) FROM threads t",
        |r| {
            let (id, kind, name): (i64, String, String) = (r.get(0)?, r.get(1)?, r.get(2)?);
            let works: bool = r.get(3)?;
            Ok((
                id,
                match (works, kind.as_str()) {
                    (true, _) => Use::Worker,
                    (_, "gc") => Use::Gc,
                    (_, "compiler") => Use::Compiler,
                    _ if name.ends_with("-Poller") => Use::Dispatcher,
                    _ if name.ends_with("-Acceptor") => Use::Acceptor,
                    _ => Use::Other,
                },
            ))
        },
    )?;
    Ok(list.into_iter().collect())
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
         WHERE s.kind = 'tls_handshake' AND s.complete AND s.name IN ('full', 'resumed') ORDER BY s.begin_ns, s.id, g.begin_ns",
        |r| {
            Ok((
                r.get::<_, i64>(0)?,
                r.get::<_, bool>(1)?,
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

fn overheads(
    db: &Connection,
    threads: &HashMap<i64, Thread>,
    known: &HashMap<i64, Use>,
) -> Result<Overheads> {
    let mut o = Overheads::default();
    let visits = rows(
        db,
        "SELECT g.thread, g.begin_ns, g.end_ns FROM segments g JOIN spans s ON s.id = g.span
         WHERE s.kind = 'connection' ORDER BY g.thread, g.begin_ns",
        |r| {
            Ok((
                r.get::<_, i64>(0)?,
                r.get::<_, i64>(1)?,
                r.get::<_, i64>(2)?,
            ))
        },
    )?;
    // Requests and pieces of handshakes, which a visit's own CPU leaves out.
    let within = rows(
        db,
        "SELECT thread, begin_ns, end_ns FROM request_pieces
         UNION ALL SELECT g.thread, g.begin_ns, g.end_ns FROM segments g JOIN spans s ON s.id = g.span WHERE s.kind = 'tls_handshake'
         ORDER BY 1, 2",
        |r| Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?, r.get::<_, i64>(2)?)),
    )?;
    let mut inside = within.into_iter().peekable();
    let mut before: Option<(i64, i64)> = None;
    for &(id, begin, end) in &visits {
        let Some(thread) = threads.get(&id) else {
            continue;
        };
        o.visits += 1;
        if let Some((_, ended)) = before.filter(|b| b.0 == id) {
            let cpu = thread.between(ended, begin);
            if thread.slept(ended, begin) {
                o.slept.push(cpu);
            } else {
                o.awake.push(cpu);
            }
        }
        before = Some((id, end));
        let mut own = thread.between(begin, end);
        while inside.next_if(|s| (s.0, s.2) <= (id, begin)).is_some() {}
        while let Some(s) = inside.next_if(|s| s.0 == id && s.1 < end) {
            own -= thread.between(s.1.max(begin), s.2.min(end));
        }
        o.visit.push(own.max(0.0));
    }
    let mut handed = rows(
        db,
        "SELECT g.queued_ns FROM segments g JOIN spans s ON s.id = g.span
         WHERE s.kind = 'connection' AND g.queued_ns IS NOT NULL ORDER BY 1",
        |r| r.get::<_, i64>(0),
    )?;
    handed.dedup();
    for (id, thread) in threads {
        match known.get(id) {
            Some(Use::Dispatcher) => {
                for (begin, end) in thread.awake() {
                    let from = handed.partition_point(|&q| q < begin);
                    let to = handed.partition_point(|&q| q <= end);
                    o.dispatcher
                        .push((thread.between(begin, end), (to - from) as u32));
                }
            }
            Some(Use::Acceptor) => o.acceptor += thread.total_ns() as f64 * SECOND,
            _ => {}
        }
    }
    let of = |wanted: Use, sql: &str| -> Result<usize> {
        let list = rows(db, sql, |r| r.get::<_, i64>(0))?;
        Ok(list
            .iter()
            .filter(|id| known.get(id) == Some(&wanted))
            .count())
    };
    o.dispatcher_locked = of(Use::Dispatcher, "SELECT thread FROM lock_waits")? as u64;
    o.pooled = of(
        Use::Worker,
        "SELECT id FROM threads WHERE kind = 'platform'",
    )?;
    o.connections = db.query_row(
        "SELECT count(*) FROM spans WHERE kind = 'connection' AND complete",
        [],
        |r| r.get::<_, i64>(0).map(|n| n as u64),
    )?;
    Ok(o)
}

fn others(meta: &Meta, threads: &HashMap<i64, Thread>, known: &HashMap<i64, Use>) -> Vec<Others> {
    let seconds = (meta.seconds().floor() as usize).max(1);
    [
        ("gc", Use::Gc),
        ("compiler", Use::Compiler),
        ("other", Use::Other),
    ]
    .into_iter()
    .map(|(kind, wanted)| {
        let mut sum = Others {
            kind,
            seconds: vec![0.0; seconds],
            bursts: Vec::new(),
        };
        let of = |id: &i64| known.get(id).copied().unwrap_or(Use::Other);
        // In the order of ids, so that sums are the same to the last bit.
        let mut ids: Vec<&i64> = threads.keys().filter(|id| of(id) == wanted).collect();
        ids.sort_unstable();
        for thread in ids.into_iter().filter_map(|id| threads.get(id)) {
            for (all, own) in sum
                .seconds
                .iter_mut()
                .zip(thread.by_second(meta.begin_ns, seconds))
            {
                *all += own;
            }
            sum.bursts.extend(
                thread
                    .awake()
                    .into_iter()
                    .map(|(b, e)| thread.between(b, e)),
            );
        }
        sum
    })
    .collect()
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
        "WITH c AS (SELECT ts_ns, lag(ts_ns) OVER (ORDER BY ts_ns) AS before, survivors, old, most
                    FROM (PIVOT (FROM counters WHERE scope = 'heap') ON name IN ('survivors_bytes' AS survivors, 'old_bytes' AS old,
                          'max_bytes' AS most) USING max(value) GROUP BY ts_ns)
                    WHERE EXISTS (FROM vm WHERE name LIKE 'G1 %'))
         SELECT any_value(survivors), any_value(old), any_value(most), count(s.id), count(*) FILTER (s.begin_ns > before)
         FROM c LEFT JOIN spans s ON s.kind = 'connection' AND s.begin_ns <= ts_ns AND s.end_ns > ts_ns
         WHERE before IS NOT NULL GROUP BY ts_ns ORDER BY ts_ns",
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
