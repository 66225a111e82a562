//! What threads did: how long they ran, what they are for, and what serving cost beside requests and handshakes.

use std::collections::HashMap;

use anyhow::Result;
use loadline_trace::Meta;
use loadline_trace::duckdb::Connection;
use loadline_trace::tables::CONNECTIONS;

use super::cpu::Thread;
use super::read::{SECOND, rows};
use super::{Others, Overheads};

/// What each thread ran and slept, by id.
pub(super) fn threads(db: &Connection) -> Result<HashMap<i64, Thread>> {
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
pub(super) enum Use {
    Worker,
    Dispatcher,
    Acceptor,
    Gc,
    Compiler,
    Other,
}

/// What each thread is for, by id.
pub(super) fn kinds(db: &Connection) -> Result<HashMap<i64, Use>> {
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

/// What serving cost beside requests and handshakes.
pub(super) fn overheads(
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
        &format!("SELECT count(*) FROM {CONNECTIONS} WHERE complete"),
        [],
        |r| r.get::<_, i64>(0).map(|n| n as u64),
    )?;
    Ok(o)
}

/// CPU of the threads that serve no connection, by what they are for.
pub(super) fn others(
    meta: &Meta,
    threads: &HashMap<i64, Thread>,
    known: &HashMap<i64, Use>,
) -> Vec<Others> {
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
