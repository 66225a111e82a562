//! What the first picture of a large trace is drawn of, while the rest is being read: the sums that were written with it.
//!
//! A lane is made of a mixture for each part of the recording, but for states that are as long as a part; a row of spans
//! likewise. Whoever asks for less than that to a pixel has to wait for states and spans themselves.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use loadline_trace::Trace;
use loadline_trace::duckdb::Connection;
use loadline_trace::duckdb::arrow::array::{Array, AsArray, RecordBatch, StringArray};
use loadline_trace::duckdb::arrow::datatypes::{Int32Type, Int64Type};
use loadline_trace::tables::IS_CONNECTION;

use super::{base, rows};
use crate::lane::{ABSENT, CLASSES, DRAWN_AS, IDLE, Lane, UNKNOWN};
use crate::model::{Answered, Model, Span};
use crate::spans::{KINDS, Piece, Row, Sum, kind_index};

/// Of more rows than these the sums are read first. These take a second.
const MANY: u64 = 3_000_000;

/// Whether a trace is so large that there should be a picture before all of it is read, and can be.
pub fn is_for(trace: &Trace) -> bool {
    let rows = |table: &str| trace.meta.tables.get(table).copied();
    let has_sums = rows("state_sums").is_some() && rows("span_sums").is_some();
    let all: u64 = ["states", "spans", "waits"]
        .into_iter()
        .filter_map(rows)
        .sum();
    has_sums && all > MANY
}

/// Reads what the first picture is drawn of: no state, and no span but long ones and requests' times.
pub fn first(trace: &Trace) -> Result<Model> {
    let db = loadline_analyze::views::open(trace)?;
    let mut model = base(trace, &db)?;
    let index = model.thread_index.clone();
    let told = std::thread::scope(|scope| {
        let told = scope.spawn(|| answered(&trace.sql()?, trace.meta.begin_ns, &index));
        lanes(&db, &mut model)?;
        spans(&db, &mut model)?;
        match told.join() {
            Ok(told) => told,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    for (at, requests) in told.by_thread {
        model.threads[at].requests = requests;
    }
    model.answered = told.all;
    Ok(model)
}

/// What was counted, and of each thread the requests that ended on it.
#[derive(Default)]
struct Told {
    all: Answered,
    by_thread: HashMap<usize, u32>,
}

/// A lane while its rows come.
#[derive(Default)]
struct Sums {
    /// By begin, the end of a part and the times in it.
    parts: BTreeMap<i64, (i64, [i64; ABSENT])>,
    /// Begin, end and class of what is long.
    long: Vec<(i64, i64, u8)>,
    states: usize,
}

fn lanes(db: &Connection, model: &mut Model) -> Result<()> {
    let begin = model.meta.begin_ns;
    let part = loadline_analyze::part_ns(model.duration());
    let mut sums: HashMap<usize, Sums> = HashMap::new();
    let sql = format!(
        "SELECT thread, begin_ns - {begin}, end_ns - {begin}, cause, duration_ns, states FROM state_sums"
    );
    for batch in db.prepare(&sql)?.query_arrow([])? {
        let long = |i: usize| batch.column(i).as_primitive::<Int64Type>();
        let (thread, from, to, ns, states) = (long(0), long(1), long(2), long(4), long(5));
        let cause: &StringArray = batch.column(3).as_string();
        for i in 0..batch.num_rows() {
            let Some(&lane) = model.thread_index.get(&thread.value(i)) else {
                continue;
            };
            let (from, to, class) = (from.value(i), to.value(i), class(cause.value(i)));
            let lane = sums.entry(lane).or_default();
            lane.states += states.value(i) as usize;
            // A part begins at a multiple of its length; a state that happens to do so covers all of it.
            if ns.value(i) == to - from && to - from >= part {
                lane.long.push((from, to, class as u8));
            } else {
                let times = &mut lane.parts.entry(from).or_insert((to, [0; ABSENT])).1;
                times[class] += ns.value(i);
            }
        }
    }
    for (at, sums) in sums {
        model.threads[at].states = sums.states;
        model.threads[at].lane = lane(sums);
    }
    Ok(())
}

fn class(cause: &str) -> usize {
    let other = DRAWN_AS.iter().find(|(c, _)| *c == cause);
    let drawn = other.map_or(cause, |(_, class)| class);
    CLASSES.iter().position(|c| *c == drawn).unwrap_or(UNKNOWN)
}

/// Puts what is long at its place, and mixtures of the rest between.
fn lane(mut sums: Sums) -> Lane {
    sums.long.sort_unstable();
    let mut long = sums.long.into_iter().peekable();
    let mut lane = Lane::default();
    let put_long = |lane: &mut Lane, (begin, end, class): (i64, i64, u8)| {
        idle_until(lane, begin);
        lane.push(lane.extent().1.max(begin), end.max(lane.extent().1), class);
    };
    for (begin, (end, times)) in sums.parts {
        while let Some(state) = long.next_if(|l| l.0 <= begin) {
            put_long(&mut lane, state);
        }
        // What is left of the part: up to the next long one, or its end.
        let to = long.peek().map_or(end, |l| l.0.min(end));
        let have: i64 = times.iter().sum();
        let first = lane.is_empty();
        let from = match first {
            // Its thread began in it.
            true => (to - have).max(begin),
            false => begin.max(lane.extent().1),
        };
        if !first {
            idle_until(&mut lane, from);
        }
        let until = match long.peek() {
            Some(_) => to,
            None => to.min(from + have), // it may have ended in it
        };
        if until > from {
            lane.push_mixture(from, until, times);
        }
    }
    for state in long {
        put_long(&mut lane, state);
    }
    lane
}

/// Of a lane of virtual threads, nobody lived on it until then.
fn idle_until(lane: &mut Lane, until: i64) {
    let end = lane.extent().1;
    if !lane.is_empty() && until > end {
        lane.push(end, until, IDLE as u8);
    }
}

fn spans(db: &Connection, model: &mut Model) -> Result<()> {
    let begin = model.meta.begin_ns;
    let sql = format!(
        "SELECT thread, depth, begin_ns - {begin}, end_ns - {begin}, kind, resumed, duration_ns, span, name FROM span_sums"
    );
    let mut read = Read::default();
    for batch in db.prepare(&sql)?.query_arrow([])? {
        read.take(model, &batch);
    }
    for (at, rows) in read.rows {
        model.threads[at].rows = rows
            .into_iter()
            .map(|(long, parts)| {
                Row::summed(
                    long,
                    parts
                        .into_iter()
                        .map(|(begin, (end, times))| Sum { begin, end, times })
                        .collect(),
                )
            })
            .collect();
    }
    (model.spans, model.names) = (read.spans, read.names);
    Ok(())
}

type Parts = BTreeMap<i64, (i64, [i64; KINDS.len()])>;

#[derive(Default)]
struct Read {
    spans: Vec<Span>,
    names: Vec<String>,
    known: HashMap<String, u32>,
    /// Of each thread, by depth.
    rows: HashMap<usize, Vec<(Vec<Piece>, Parts)>>,
}

impl Read {
    fn take(&mut self, model: &Model, batch: &RecordBatch) {
        let long = |i: usize| batch.column(i).as_primitive::<Int64Type>();
        let (thread, from, to, ns, span) = (long(0), long(2), long(3), long(6), long(7));
        let depth = batch.column(1).as_primitive::<Int32Type>();
        let kind: &StringArray = batch.column(4).as_string();
        let resumed = batch.column(5).as_boolean();
        let name: &StringArray = batch.column(8).as_string();
        for i in 0..batch.num_rows() {
            let Some(&at) = model.thread_index.get(&thread.value(i)) else {
                continue;
            };
            let resumed = resumed.is_valid(i).then(|| resumed.value(i));
            let kind = kind_index(kind.value(i), resumed);
            let rows = self.rows.entry(at).or_default();
            let depth = depth.value(i) as usize;
            if rows.len() <= depth {
                rows.resize_with(depth + 1, Default::default);
            }
            let (begin, end) = (from.value(i), to.value(i));
            if span.is_null(i) {
                let part = rows[depth]
                    .1
                    .entry(begin)
                    .or_insert((end, Default::default()));
                part.1[kind as usize] += ns.value(i);
                continue;
            }
            rows[depth].0.push(Piece {
                begin,
                end,
                span: self.spans.len() as u32,
                kind,
            });
            let name = name.value(i);
            let known = self.known.get(name).copied().unwrap_or_else(|| {
                self.names.push(name.into());
                self.known.insert(name.into(), self.names.len() as u32 - 1);
                self.names.len() as u32 - 1
            });
            self.spans.push(Span {
                id: span.value(i),
                parent: None,
                kind,
                name: known,
                worker: at,
                begin,
                end,
                status: None,
                peer: None,
                complete: true,
            });
        }
    }
}

fn answered(db: &Connection, begin: i64, threads: &HashMap<i64, usize>) -> Result<Told> {
    let mut told = Told::default();
    let sql = format!(
        "SELECT end_thread, end_ns - {begin}, end_ns - begin_ns, complete FROM spans WHERE kind = 'request'"
    );
    for batch in db.prepare(&sql)?.query_arrow([])? {
        let long = |i: usize| batch.column(i).as_primitive::<Int64Type>();
        let (thread, end, ns) = (long(0), long(1), long(2));
        let complete = batch.column(3).as_boolean();
        for i in 0..batch.num_rows() {
            if let Some(&at) = threads.get(&thread.value(i)) {
                *told.by_thread.entry(at).or_default() += 1;
            }
            if complete.value(i) {
                told.all.requests.push((end.value(i), ns.value(i)));
            }
        }
    }
    let sql = format!(
        "SELECT kind, resumed, count(*) FROM spans WHERE ({IS_CONNECTION}) OR kind = 'tls_handshake' GROUP BY ALL"
    );
    for (kind, resumed, count) in rows(db, &sql, |r| {
        Ok((
            r.get::<_, String>(0)?,
            r.get::<_, Option<bool>>(1)?,
            r.get::<_, i64>(2)?,
        ))
    })? {
        told.all.count(kind_index(&kind, resumed), count as usize);
    }
    Ok(told)
}

#[cfg(test)]
mod tests;
