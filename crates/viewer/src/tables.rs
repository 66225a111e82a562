//! The tables below the timeline: requests, and the matrix of phases and causes.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use crate::confined::Session;
use crate::model::{Model, Span};
use crate::moment::innermost;
use crate::spans::KINDS;

/// Order of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Slowest first.
    Duration,
    /// Earliest first.
    Begin,
    /// By name, then slowest first.
    Name,
    /// By thread, then earliest first.
    Thread,
}

/// Requests of a range.
#[derive(Debug, Serialize)]
pub struct Requests {
    /// How many there are in the range, whether told or not.
    pub total: usize,
    /// The first of them.
    pub requests: Vec<Request>,
}

/// One request.
#[derive(Debug, Serialize)]
pub struct Request {
    id: i64,
    name: String,
    thread: i64,
    thread_name: String,
    begin: i64,
    end: i64,
    status: Option<i32>,
    complete: bool,
    /// Cause and ns, largest first.
    causes: Vec<(String, i64)>,
}

/// Requests that overlap `[begin, end)` and pass `filter` (see [`having`]): the first `limit` in this order.
pub fn requests(
    model: &Model,
    sql: Session<'_>,
    (begin, end): (i64, i64),
    sort: Sort,
    limit: usize,
    filter: &str,
) -> Result<Requests> {
    let having = having(model, filter);
    let wanted = |s: &&Span| having.as_ref().is_none_or(|ids| ids.contains(&s.id));
    let mut found: Vec<_> = model
        .spans
        .iter()
        .filter(|s| KINDS[s.kind as usize] == "request" && s.begin < end && s.end > begin)
        .filter(wanted)
        .collect();
    let total = found.len();
    match sort {
        Sort::Duration => found.sort_by_key(|s| s.begin - s.end),
        Sort::Begin => {}
        Sort::Name => {
            found.sort_by_key(|s| (model.names[s.name as usize].as_str(), s.begin - s.end))
        }
        Sort::Thread => found.sort_by_key(|s| (s.worker, s.begin)),
    }
    found.truncate(limit);
    let ids: Vec<i64> = found.iter().map(|s| s.id).collect();
    let mut causes = causes(sql, &ids)?;
    let request = |s: &Span| {
        let thread = &model.threads[s.worker];
        Request {
            id: s.id,
            name: model.names[s.name as usize].clone(),
            thread: thread.id,
            thread_name: thread.name_at(s.begin).into(),
            begin: s.begin,
            end: s.end,
            status: s.status,
            complete: s.complete,
            causes: causes.remove(&s.id).unwrap_or_default(),
        }
    };
    Ok(Requests {
        total,
        requests: found.into_iter().map(request).collect(),
    })
}

/// The requests that have `word` in their path, their worker's name, a statement or another span of theirs, or the class of
/// what they waited for, whatever its case, or have this status; none if there is no word.
fn having(model: &Model, word: &str) -> Option<HashSet<i64>> {
    let word = word.trim().to_lowercase();
    if word.is_empty() {
        return None;
    }
    let has = |text: &str| text.to_lowercase().contains(&word);
    // Names are few, spans are many.
    let named: Vec<bool> = model.names.iter().map(|n| has(n)).collect();
    let mut found = HashSet::new();
    for span in &model.spans {
        let request = KINDS[span.kind as usize] == "request";
        let itself = request
            && (span.status.is_some_and(|s| s.to_string() == word)
                || has(model.threads[span.worker].name_at(span.begin)));
        if itself || named[span.name as usize] {
            found.extend(request_of(model, span));
        }
    }
    let mut classes: HashMap<&str, bool> = HashMap::new();
    for wait in model.waits.iter() {
        let Some(class) = &wait.class else { continue };
        if !*classes.entry(class).or_insert_with(|| has(class)) {
            continue;
        }
        let thread = model.thread_index.get(&wait.thread);
        let within = thread.and_then(|&i| innermost(model, &model.threads[i], wait.begin));
        found.extend(within.and_then(|s| {
            request_of(
                model,
                &model.spans[*model.span_index.get(&s.id())? as usize],
            )
        }));
    }
    Some(found)
}

/// The request that a span lies in, or is.
fn request_of(model: &Model, span: &Span) -> Option<i64> {
    let mut span = span;
    while KINDS[span.kind as usize] != "request" {
        span = &model.spans[*model.span_index.get(&span.parent?)? as usize];
    }
    Some(span.id)
}

fn causes(sql: Session<'_>, ids: &[i64]) -> Result<HashMap<i64, Vec<(String, i64)>>> {
    let mut causes: HashMap<i64, Vec<(String, i64)>> = HashMap::new();
    if ids.is_empty() {
        return Ok(causes);
    }
    let list: Vec<String> = ids.iter().map(i64::to_string).collect();
    let answer = sql.own(&format!(
        "SELECT span, cause, sum(duration_ns)::BIGINT FROM breakdown
         WHERE span IN ({}) GROUP BY ALL ORDER BY span, 3 DESC",
        list.join(",")
    ))?;
    for row in answer.rows {
        if let [Value::Number(span), Value::String(cause), Value::Number(ns)] = &row[..] {
            let entry = causes.entry(span.as_i64().unwrap_or_default()).or_default();
            entry.push((cause.clone(), ns.as_i64().unwrap_or_default()));
        }
    }
    Ok(causes)
}

/// Time by phase and cause of the requests and handshakes that overlap `[begin, end)`.
#[derive(Debug, Serialize)]
pub struct Matrix {
    /// Phase, cause, ns.
    pub cells: Vec<(String, String, i64)>,
    /// Phase, and how many requests or handshakes passed through it.
    pub counts: Vec<(String, i64)>,
}

/// The matrix of a range.
pub fn matrix(model: &Model, sql: Session<'_>, begin: i64, end: i64) -> Result<Matrix> {
    let zero = model.meta.begin_ns;
    let chosen = format!(
        "FROM breakdown b JOIN spans s ON s.id = b.span
         WHERE b.kind IN ('request', 'tls_handshake') AND s.begin_ns < {} AND s.end_ns > {}",
        zero.saturating_add(end),
        zero.saturating_add(begin)
    );
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let number = |v: &Value| v.as_i64().unwrap_or_default();
    let cells = sql.own(&format!(
        "SELECT phase, cause, sum(duration_ns)::BIGINT {chosen} GROUP BY ALL"
    ))?;
    let counts = sql.own(&format!(
        "SELECT phase, count(DISTINCT span) {chosen} GROUP BY ALL"
    ))?;
    Ok(Matrix {
        cells: cells
            .rows
            .iter()
            .map(|r| (text(&r[0]), text(&r[1]), number(&r[2])))
            .collect(),
        counts: counts
            .rows
            .iter()
            .map(|r| (text(&r[0]), number(&r[1])))
            .collect(),
    })
}
