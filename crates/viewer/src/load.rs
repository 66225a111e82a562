//! Reading a trace into a [`Model`], by SQL over its Parquet files.
//!
//! Tables are read in the order in which they lie, which is that of time: sorting them again would take longer
//! than all the rest. States and spans, which are many, are read at the same time.

mod first;
mod spans;
mod waits;

pub use first::{first, is_for as has_first};

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use loadline_trace::Trace;
use loadline_trace::duckdb::arrow::array::{Array, AsArray, RecordBatch};
use loadline_trace::duckdb::arrow::datatypes::{Int16Type, Int32Type, Int64Type};
use loadline_trace::duckdb::{Connection, Row};
use loadline_trace::tables::is_stream;

use crate::counters::Counters;
use crate::lane::{CLASSES, DRAWN_AS, IDLE, Lane, UNKNOWN};
use crate::model::{Answered, ById, Detail, Mark, Model, NONE, Pause, Resource, Thread, Waits};
use crate::spans::KINDS;
use crate::virtuals::{self, Virtual};
use loadline_analyze::role::role;

/// State of a lane of virtual threads while nobody is on it.
const NOBODY: &str = "nobody";

/// Reads all of a trace that the page asks for often.
pub fn load(trace: &Trace) -> Result<Model> {
    let db = loadline_analyze::views::open(trace)?;
    let mut model = base(trace, &db)?;
    let begin = trace.meta.begin_ns;
    model.states = column(&db, "SELECT DISTINCT state FROM states ORDER BY 1")?;
    model.syscalls = column(
        &db,
        "SELECT DISTINCT syscall FROM states WHERE syscall IS NOT NULL ORDER BY 1",
    )?;
    model.waits = waits::read(&db, &model).context("reading waits.parquet")?;
    model.frames = frames(&db)?;
    model.code = code(&db)?;
    model.samples = samples(&db, &model)?;
    model.states.push(NOBODY.into());
    let (index, threads): (ById, usize) = (
        (model.thread_index.iter().map(|(id, i)| (*id, *i as u32))).collect(),
        model.threads.len(),
    );
    let spans = std::thread::scope(|scope| -> Result<spans::Spans> {
        let spans = scope.spawn(|| {
            spans::read(&trace.sql()?, begin, &index, threads).context("reading spans.parquet")
        });
        states(&db, &mut model, &index).context("reading states.parquet")?;
        match spans.join() {
            Ok(spans) => spans,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    (model.spans, model.span_index, model.names) = (spans.list, spans.index, spans.names);
    for s in &model.spans {
        if KINDS[s.kind as usize] != "connection" || !is_stream(&model.names[s.name as usize]) {
            model.answered.count(s.kind, 1);
        }
        if KINDS[s.kind as usize] == "request" && s.complete {
            model.answered.requests.push((s.end, s.end - s.begin));
        }
    }
    for (i, thread) in model.threads.iter_mut().enumerate() {
        thread.requests = spans.requests[i];
        thread.states = thread.lane.len();
    }
    for (thread, rows) in model.threads.iter_mut().zip(spans.rows) {
        thread.rows = rows;
    }
    for (fd, resource) in resources(&db, begin)? {
        model.resources.entry(fd).or_default().push(resource);
    }
    for (thread, mark) in marks(&db, begin)? {
        if let Some(&index) = model.thread_index.get(&thread) {
            model.marks.entry(index).or_default().push(mark);
        }
    }
    Ok(model)
}

/// What is small in every trace.
fn base(trace: &Trace, db: &Connection) -> Result<Model> {
    let begin = trace.meta.begin_ns;
    let (threads, thread_index) = with_lanes(threads(db)?, virtuals(db, begin)?);
    let mut model = Model {
        meta: trace.meta.clone(),
        threads,
        thread_index,
        states: Vec::new(),
        syscalls: Vec::new(),
        names: Vec::new(),
        spans: Vec::new(),
        answered: Answered::default(),
        span_index: ById::default(),
        waits: Waits::default(),
        frames: HashMap::new(),
        code: HashMap::new(),
        samples: HashMap::new(),
        resources: HashMap::new(),
        marks: HashMap::new(),
        pauses: pauses(db, begin)?,
        gc: Lane::default(),
        counters: Counters::default(),
        cpu_seconds: rows(
            db,
            "SELECT ts_ns, value FROM counters WHERE scope = 'process' AND name = 'cpu_seconds' ORDER BY 1",
            |r| Ok((r.get::<_, i64>(0)? - begin, r.get(1)?)),
        )?,
        cpus_at_hand: rows(
            db,
            "SELECT ts_ns, coalesce(max(value) FILTER (WHERE name = 'assigned_cpus'), max(value)) FROM counters \
             WHERE scope = 'process' AND name IN ('assigned_cpus', 'allowed_cpus') GROUP BY ts_ns ORDER BY 1",
            |r| Ok((r.get::<_, i64>(0)? - begin, r.get(1)?)),
        )?,
    };
    counters(db, &mut model).context("reading counters.parquet")?;
    model.gc = gc_lane(&model.pauses, model.duration());
    Ok(model)
}

fn counters(db: &Connection, model: &mut Model) -> Result<()> {
    let begin = model.meta.begin_ns;
    let sql = "SELECT ts_ns, scope[6:], name, value FROM counters WHERE scope LIKE 'role %' ORDER BY ts_ns, list_position(['workers', 'gc', 'jit', 'rest', 'ended'], scope[6:])";
    for (at, role, name, value) in rows(db, sql, |r| {
        Ok((
            r.get::<_, i64>(0)? - begin,
            r.get::<_, String>(1)?,
            r.get::<_, String>(2)?,
            r.get(3)?,
        ))
    })? {
        model.counters.push(at, &role, &name, value);
    }
    Ok(())
}

fn rows<T>(
    db: &Connection,
    sql: &str,
    row: impl FnMut(&Row<'_>) -> loadline_trace::duckdb::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], row)?.collect::<Result<_, _>>()?;
    Ok(rows)
}

fn column(db: &Connection, sql: &str) -> Result<Vec<String>> {
    rows(db, sql, |r| r.get(0))
}

fn threads(db: &Connection) -> Result<Vec<Thread>> {
    rows(
        db,
        "SELECT id, tid, name, kind FROM threads WHERE kind <> 'virtual' ORDER BY id",
        |r| {
            let (name, kind): (String, String) = (r.get(2)?, r.get(3)?);
            Ok(Thread {
                id: r.get(0)?,
                tid: r.get(1)?,
                role: role(&name, &kind),
                name,
                kind,
                ..Thread::default()
            })
        },
    )
}

fn virtuals(db: &Connection, begin: i64) -> Result<Vec<Virtual>> {
    let sql = "SELECT id, name, begin_ns, end_ns FROM threads WHERE kind = 'virtual'";
    rows(db, sql, |r| {
        Ok(Virtual {
            id: r.get(0)?,
            name: r.get(1)?,
            begin: r.get::<_, i64>(2)? - begin,
            end: r.get::<_, i64>(3)? - begin,
        })
    })
}

/// Threads, with lanes of virtual threads among them, and where each thread is.
fn with_lanes(
    mut threads: Vec<Thread>,
    virtuals: Vec<Virtual>,
) -> (Vec<Thread>, HashMap<i64, usize>) {
    let mut index: HashMap<i64, usize> = HashMap::new();
    index.extend(threads.iter().enumerate().map(|(i, t)| (t.id, i)));
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for lane in virtuals::lanes(virtuals) {
        let group = virtuals::group(&lane[0].name);
        let number = numbers.entry(group.into()).or_default();
        *number += 1;
        index.extend(lane.iter().map(|t| (t.id, threads.len())));
        threads.push(Thread {
            id: lane[0].id,
            role: role(group, "virtual"),
            name: format!("{group}… {number}"),
            kind: "virtual".into(),
            virtuals: lane,
            ..Thread::default()
        });
    }
    (threads, index)
}

/// Each as `package.Class.method:line`.
fn frames(db: &Connection) -> Result<HashMap<i64, (Option<i64>, String)>> {
    let sql = "SELECT id, parent, name || coalesce(':' || line, '') FROM stacks";
    let frames = rows(db, sql, |r| Ok((r.get(0)?, (r.get(1)?, r.get(2)?))))?;
    Ok(frames.into_iter().collect())
}

/// Of the stacks of waits and samples.
fn code(db: &Connection) -> Result<HashMap<i64, String>> {
    let sql = "SELECT stack, code || coalesce(':' || line, '') FROM stack_code \
               WHERE stack IN (SELECT stack FROM waits UNION ALL SELECT stack FROM samples)";
    Ok(rows(db, sql, |r| Ok((r.get(0)?, r.get(1)?)))?
        .into_iter()
        .collect())
}

fn samples(db: &Connection, model: &Model) -> Result<HashMap<usize, Vec<(i64, i64)>>> {
    let begin = model.meta.begin_ns;
    let mut samples: HashMap<usize, Vec<(i64, i64)>> = HashMap::new();
    let sql = "SELECT thread, ts_ns, stack FROM samples WHERE kind = 'cpu' ORDER BY ts_ns";
    for (thread, ts, stack) in rows(db, sql, |r| {
        Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?, r.get(2)?))
    })? {
        if let Some(&index) = model.thread_index.get(&thread) {
            samples.entry(index).or_default().push((ts - begin, stack));
        }
    }
    Ok(samples)
}

fn pauses(db: &Connection, begin: i64) -> Result<Vec<Pause>> {
    let sql = "SELECT name, cause, begin_ns, end_ns, heap_before, heap_after FROM vm WHERE kind = 'gc' ORDER BY begin_ns";
    rows(db, sql, |r| {
        Ok(Pause {
            name: r.get(0)?,
            cause: r.get(1)?,
            begin: r.get::<_, i64>(2)? - begin,
            end: r.get::<_, i64>(3)? - begin,
            heap_before: r.get(4)?,
            heap_after: r.get(5)?,
        })
    })
}

/// Pauses and what lies between them; a pause that overlaps the last counts from its end.
fn gc_lane(pauses: &[Pause], duration: i64) -> Lane {
    const GC: u8 = 7;
    let mut lane = Lane::default();
    let mut t = 0;
    for pause in pauses {
        let (begin, end) = (pause.begin.max(t), pause.end.min(duration));
        if begin < end {
            lane.push(t, begin, IDLE as u8);
            lane.push(begin, end, GC);
            t = end;
        }
    }
    lane.push(t, duration.max(t), IDLE as u8);
    lane
}

fn resources(db: &Connection, begin: i64) -> Result<Vec<(i32, Resource)>> {
    rows(
        db,
        "SELECT fd, kind, name, begin_ns, end_ns FROM resources",
        |r| {
            let resource = Resource {
                kind: r.get(1)?,
                name: r.get(2)?,
                begin: r.get::<_, i64>(3)? - begin,
                end: r.get::<_, i64>(4)? - begin,
            };
            Ok((r.get(0)?, resource))
        },
    )
}

fn marks(db: &Connection, begin: i64) -> Result<Vec<(i64, Mark)>> {
    rows(
        db,
        "SELECT thread, ts_ns, kind, value, text FROM marks ORDER BY ts_ns",
        |r| {
            let mark = Mark {
                at: r.get::<_, i64>(1)? - begin,
                kind: r.get(2)?,
                value: r.get(3)?,
                text: r.get(4)?,
            };
            Ok((r.get(0)?, mark))
        },
    )
}

/// An SQL list of texts.
fn list(texts: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = texts
        .iter()
        .map(|t| format!("'{}'", t.as_ref().replace('\'', "''")))
        .collect();
    format!("[{}]::VARCHAR[]", quoted.join(", "))
}

fn states(db: &Connection, model: &mut Model, index: &ById) -> Result<()> {
    let begin = model.meta.begin_ns;
    let sql = format!(
        "SELECT thread, begin_ns - {begin}, end_ns - {begin},
           coalesce(CASE WHEN state = 'preempted' THEN 3 ELSE list_position({classes}, CASE cause {drawn_as} ELSE cause END) END - 1, {UNKNOWN})::SMALLINT,
           (list_position({states}, state) - 1)::SMALLINT,
           coalesce(cpu, {NONE})::SMALLINT,
           coalesce(list_position({syscalls}, syscall) - 1, {NONE})::SMALLINT,
           coalesce(fd, {NONE})::INTEGER, coalesce(waker, {NONE})::BIGINT,
           coalesce(waker_tid, {NONE})::INTEGER, coalesce(\"wait\", {NONE})::BIGINT
         FROM states",
        classes = list(&CLASSES),
        drawn_as = DRAWN_AS
            .map(|(cause, class)| format!("WHEN '{cause}' THEN '{class}'"))
            .join(" "),
        states = list(&model.states),
        syscalls = list(&model.syscalls),
    );
    let mut statement = db.prepare(&sql)?;
    for batch in statement.query_arrow([])? {
        add_states(model, index, &batch)?;
    }
    Ok(())
}

fn add_states(model: &mut Model, index: &ById, batch: &RecordBatch) -> Result<()> {
    let long = |i: usize| batch.column(i).as_primitive::<Int64Type>();
    let int = |i: usize| batch.column(i).as_primitive::<Int32Type>();
    let short = |i: usize| batch.column(i).as_primitive::<Int16Type>();
    for column in batch.columns() {
        if column.null_count() > 0 {
            bail!("a column that cannot be null is");
        }
    }
    let (thread, begin, end) = (long(0), long(1), long(2));
    let (class, state, cpu, syscall) = (short(3), short(4), short(5), short(6));
    let (fd, waker, waker_tid, wait) = (int(7), long(8), int(9), long(10));
    for i in 0..batch.num_rows() {
        let id = thread.value(i);
        let Some(&place) = index.get(&id) else {
            bail!("thread {id} has states but is not in threads.parquet");
        };
        let t = &mut model.threads[place as usize];
        if !t.virtuals.is_empty() && t.lane.extent().1 < begin.value(i) {
            nobody(t, begin.value(i), model.states.len() - 1);
        }
        if !t
            .lane
            .push(begin.value(i), end.value(i), class.value(i) as u8)
        {
            bail!(
                "states of thread {id} ({}) are not gapless at {:.6} s: one ends at {} ns, the next begins at {} ns",
                t.name,
                begin.value(i) as f64 / 1e9,
                t.lane.extent().1,
                begin.value(i),
            );
        }
        t.details.push(Detail {
            state: state.value(i) as u8,
            cpu: cpu.value(i),
            syscall: syscall.value(i),
            fd: fd.value(i),
            waker: index.get(&waker.value(i)).map_or(NONE, |&w| w as i32),
            waker_tid: waker_tid.value(i),
            wait: wait.value(i),
        });
    }
    Ok(())
}

/// Nobody lived on a lane of virtual threads until `until`.
fn nobody(t: &mut Thread, until: i64, state: usize) {
    t.lane.push(t.lane.extent().1, until, IDLE as u8);
    t.details.push(Detail {
        state: state as u8,
        cpu: NONE as i16,
        syscall: NONE as i16,
        fd: NONE,
        waker: NONE,
        waker_tid: NONE,
        wait: NONE.into(),
    });
}
