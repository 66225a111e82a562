//! One request over the threads that worked on it: its spans, and the path that decided when it ended.
//!
//! Terms: a *bar* is a span of the request, with its pieces on threads; a *step* is a stretch of its critical path in
//! which thread and cause stay the same; what is *meanwhile* is what the request's own thread waited for during a step of
//! another thread.
//!
//! What always holds: the steps follow each other without gap or overlap, and are as long together as the request.

use std::collections::HashMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use crate::confined::Session;
use crate::lane::CLASSES;
use crate::model::{Model, NONE, Span};
use crate::moment::innermost;
use crate::spans::KINDS;

/// Spans that are told at most; a request with more is a loop, and the first tell of it.
const MAX_BARS: usize = 300;

/// A request, taken apart. Times are ns since the recording began.
#[derive(Debug, Serialize)]
pub struct Waterfall {
    id: i64,
    name: String,
    thread: i64,
    thread_name: String,
    begin: i64,
    end: i64,
    status: Option<i32>,
    peer: Option<String>,
    complete: bool,
    /// The handshake of its connection if it was the first on it, the request, and what lies in it.
    bars: Vec<Bar>,
    /// Spans of the request that are not told.
    left_out: usize,
    path: Vec<Step>,
    /// Whether the path has more steps than are told.
    more_steps: bool,
    /// Threads of bars and path, in the order of their first part.
    threads: Vec<Lane>,
}

#[derive(Debug, Serialize)]
struct Lane {
    id: i64,
    name: String,
}

/// A span and where it lies.
#[derive(Debug, Serialize)]
struct Bar {
    id: i64,
    kind: &'static str,
    name: String,
    depth: usize,
    begin: i64,
    end: i64,
    complete: bool,
    /// Thread, begin, end.
    pieces: Vec<(i64, i64, i64)>,
}

/// A stretch of the critical path.
#[derive(Debug, Serialize, PartialEq)]
struct Step {
    begin: i64,
    end: i64,
    thread: i64,
    thread_name: String,
    /// As `states.cause`; preempted where it lost its CPU.
    cause: String,
    hops: i64,
    /// Class of the lock or synchronizer that the thread waited for.
    waited_on: Option<String>,
    /// The peer or the file that it waited for.
    resource: Option<String>,
    /// Kind and name of the innermost span that the thread was in: a statement, a pool, another request.
    inside: Option<(&'static str, String)>,
    meanwhile: Option<Meanwhile>,
}

#[derive(Debug, Serialize, PartialEq)]
struct Meanwhile {
    class: &'static str,
    waited_on: Option<String>,
}

/// Takes a request apart; none if no request has this id.
pub fn waterfall(model: &Model, sql: Session<'_>, id: i64) -> Result<Option<Waterfall>> {
    let Some(&index) = model.span_index.get(&id) else {
        return Ok(None);
    };
    let request = &model.spans[index as usize];
    if KINDS[request.kind as usize] != "request" {
        return Ok(None);
    }
    let mut found = handshake(model, index as usize)
        .map(|s| (0, s))
        .into_iter()
        .chain([(0, request)])
        .collect::<Vec<_>>();
    found.extend(inner(model, index as usize));
    let left_out = found.len().saturating_sub(MAX_BARS);
    found.truncate(MAX_BARS);
    let bars = bars(model, sql, &found)?;
    let own: Vec<(i64, i64, i64)> = bars
        .iter()
        .find(|b| b.id == id)
        .map(|b| b.pieces.clone())
        .unwrap_or_default();
    let (path, more_steps) = path(model, sql, id, &own)?;
    let thread = &model.threads[request.worker];
    Ok(Some(Waterfall {
        id,
        name: model.names[request.name as usize].clone(),
        thread: thread.id,
        thread_name: thread.name_at(request.begin).into(),
        begin: request.begin,
        end: request.end,
        status: request.status,
        peer: request.peer.clone(),
        complete: request.complete,
        threads: threads(model, &bars, &path),
        bars,
        left_out,
        path,
        more_steps,
    }))
}

/// The handshake of the request's connection, if no other request came between.
fn handshake(model: &Model, request: usize) -> Option<&Span> {
    let connection = model.spans[request].parent?;
    let begin = model.spans[*model.span_index.get(&connection)? as usize].begin;
    let from = model.spans.partition_point(|s| s.begin < begin);
    let before = model.spans[from..request]
        .iter()
        .rfind(|s| s.parent == Some(connection))?;
    KINDS[before.kind as usize]
        .starts_with("tls_")
        .then_some(before)
}

/// The spans within a request and how deep they lie, in the order of their begins.
fn inner(model: &Model, request: usize) -> Vec<(usize, &Span)> {
    let (id, end) = (model.spans[request].id, model.spans[request].end);
    let depth = |span: &Span| {
        let (mut depth, mut parent) = (1, span.parent);
        while let Some(p) = parent {
            if p == id {
                return Some(depth);
            }
            parent = model.spans[*model.span_index.get(&p)? as usize].parent;
            depth += 1;
        }
        None
    };
    let from = model
        .spans
        .partition_point(|s| s.begin < model.spans[request].begin);
    let mut found: Vec<_> = model.spans[from..]
        .iter()
        .take_while(|s| s.begin < end)
        .filter_map(|s| Some((depth(s)?, s)))
        .collect();
    found.sort_by_key(|(depth, s)| (s.begin, *depth));
    found
}

fn bars(model: &Model, sql: Session<'_>, spans: &[(usize, &Span)]) -> Result<Vec<Bar>> {
    let ids: Vec<String> = spans.iter().map(|(_, s)| s.id.to_string()).collect();
    let zero = model.meta.begin_ns;
    let segments = sql.own(&format!(
        "SELECT span, thread, begin_ns - {zero}, end_ns - {zero} FROM segments WHERE span IN ({}) ORDER BY begin_ns",
        ids.join(",")
    ))?;
    let mut pieces: HashMap<i64, Vec<(i64, i64, i64)>> = HashMap::new();
    for row in &segments.rows {
        let n = |i: usize| row[i].as_i64().unwrap_or_default();
        let of_span = pieces.entry(n(0)).or_default();
        of_span.push((lane_of(model, n(1)), n(2), n(3)));
    }
    Ok(spans
        .iter()
        .map(|(depth, s)| Bar {
            id: s.id,
            kind: KINDS[s.kind as usize],
            name: model.names[s.name as usize].clone(),
            depth: *depth,
            begin: s.begin,
            end: s.end,
            complete: s.complete,
            pieces: pieces
                .remove(&s.id)
                .unwrap_or_else(|| vec![(model.threads[s.worker].id, s.begin, s.end)]),
        })
        .collect())
}

/// The id under which the page knows a thread: of a virtual thread, that of its lane.
fn lane_of(model: &Model, thread: i64) -> i64 {
    let index = model.thread_index.get(&thread);
    index.map_or(thread, |&i| model.threads[i].id)
}

fn path(
    model: &Model,
    sql: Session<'_>,
    request: i64,
    own: &[(i64, i64, i64)],
) -> Result<(Vec<Step>, bool)> {
    let zero = model.meta.begin_ns;
    let answer = sql.own(&format!(
        "SELECT begin_ns - {zero}, end_ns - {zero}, thread, thread_name, cause, hops, \"wait\" FROM critical_path({request}) ORDER BY 1"
    ))?;
    let mut steps: Vec<Step> = Vec::new();
    for row in &answer.rows {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let number = |v: &Value| v.as_i64().unwrap_or_default();
        let step = step(
            model,
            own,
            Step {
                begin: number(&row[0]),
                end: number(&row[1]),
                thread: lane_of(model, number(&row[2])),
                thread_name: text(&row[3]),
                cause: text(&row[4]),
                hops: number(&row[5]),
                waited_on: None,
                resource: None,
                inside: None,
                meanwhile: None,
            },
            row[6].as_i64(),
        );
        match steps.last_mut() {
            Some(last) if goes_on(last, &step) => last.end = step.end,
            _ => steps.push(step),
        }
    }
    Ok((steps, answer.more))
}

/// Whether a step says the same as the last one.
fn goes_on(last: &Step, next: &Step) -> bool {
    last.end == next.begin
        && (last.thread, &last.cause, last.hops) == (next.thread, &next.cause, next.hops)
        && (&last.waited_on, &last.resource) == (&next.waited_on, &next.resource)
        && (&last.inside, &last.meanwhile) == (&next.inside, &next.meanwhile)
}

/// A step with what is known of its thread then.
fn step(model: &Model, own: &[(i64, i64, i64)], mut step: Step, wait: Option<i64>) -> Step {
    step.waited_on = wait.and_then(|wait| model.waits.class(wait));
    let Some(&index) = model.thread_index.get(&step.thread) else {
        return step;
    };
    let thread = &model.threads[index];
    step.inside = innermost(model, thread, step.begin)
        .filter(|s| s.kind() != "connection")
        .map(|s| (s.kind(), s.name().to_owned()));
    if let Some(i) = thread.lane.at(step.begin) {
        // As the timeline draws it.
        if step.cause == "runnable" && CLASSES[thread.lane.state(i).2 as usize] == "preempted" {
            step.cause = "preempted".into();
        }
        let fd = thread.details[i].fd;
        let blocked = fd != NONE && matches!(step.cause.as_str(), "socket" | "file");
        step.resource = blocked
            .then(|| model.resource(fd, step.begin))
            .flatten()
            .map(|r| r.name.clone());
    }
    if step.hops > 0 {
        step.meanwhile = own
            .iter()
            .find(|(_, begin, end)| *begin <= step.begin && step.begin < *end)
            .and_then(|(thread, ..)| {
                let own = &model.threads[*model.thread_index.get(thread)?];
                let i = own.lane.at(step.begin)?;
                Some(Meanwhile {
                    class: CLASSES[own.lane.state(i).2 as usize],
                    waited_on: model.waits.class(own.details[i].wait),
                })
            });
    }
    step
}

fn threads(model: &Model, bars: &[Bar], path: &[Step]) -> Vec<Lane> {
    let ids = bars
        .iter()
        .flat_map(|b| b.pieces.iter().map(|p| p.0))
        .chain(path.iter().map(|s| s.thread));
    let mut lanes: Vec<Lane> = Vec::new();
    for id in ids {
        if lanes.iter().all(|l| l.id != id)
            && let Some(&i) = model.thread_index.get(&id)
        {
            let name = model.threads[i].name.clone();
            lanes.push(Lane { id, name });
        }
    }
    lanes
}
