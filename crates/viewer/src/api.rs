//! What the page may ask, and the answers: everything below `/api`, apart from HTTP itself.
//!
//! Times are ns since the recording began. Answers are JSON, except `/api/lanes` and `/api/spans`, which are bytes
//! (see [`picture`]) because a screen of either is a million numbers.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Result;
use loadline_trace::Trace;
use serde::Serialize;
use serde_json::{Value, json};

use crate::chain::chain;
use crate::confined::{Client, Sql};
use crate::counters;
use crate::failure::Failure;
use crate::lane::{CLASSES, Lane};
use crate::load;
use crate::locks::{By, locks};
use crate::model::{GC_LANE, Model, Thread};
use crate::moment::{gc_moment, moment, span_at};
use crate::params::Params;
use crate::picture;
use crate::search::Names;
use crate::spans::KINDS;
use crate::summary::{figures, overview};
use crate::tables::{self, Sort};
use crate::waterfall::waterfall;
use loadline_analyze::part_ns;
use loadline_analyze::role::{ROLES, natural_key};

/// An answer.
pub enum Answer {
    /// JSON text.
    Json(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A trace, ready to answer.
pub struct Api {
    /// What a picture of all of a large trace is drawn of until the rest has been read.
    first: Option<Model>,
    /// All of it, or why it cannot be had; a large trace is read while its first picture is looked at.
    model: Arc<OnceLock<Result<Model, String>>>,
    /// Lets that begin: not before the first picture is there, which would have to share the CPUs with it.
    begin: Sender<()>,
    sql: Sql,
    trace: Trace,
    /// As JSON, once somebody asked.
    diagnosis: OnceLock<String>,
    /// Of the whole trace, by class and by object, as JSON, once somebody asked.
    locks: [OnceLock<String>; 2],
    /// Once somebody searched.
    names: OnceLock<Names>,
}

impl Api {
    /// Reads the trace.
    pub fn open(trace: &Trace) -> Result<Api> {
        let model = Arc::new(OnceLock::new());
        let (begin, wanted) = channel();
        let first = load::has_first(trace)
            .then(|| load::first(trace))
            .transpose()?;
        if first.is_some() {
            let (model, trace) = (model.clone(), trace.clone());
            let read = move || {
                // However this ends, it is time.
                let _ = wanted.recv_timeout(PICTURE);
                // Whoever waits for it must be told, whatever happens.
                let read = std::panic::catch_unwind(|| load::load(&trace));
                let read =
                    read.unwrap_or_else(|_| Err(anyhow::anyhow!("reading the trace (a bug)")));
                model.get_or_init(|| read.map_err(|e| format!("{e:#}")));
            };
            std::thread::Builder::new()
                .name("load".into())
                .spawn(read)?;
        } else {
            let read = load::load(trace)?;
            model.get_or_init(|| Ok(read));
        }
        Ok(Api {
            first,
            model,
            begin,
            sql: Sql::open(trace)?,
            trace: trace.clone(),
            diagnosis: OnceLock::new(),
            locks: [OnceLock::new(), OnceLock::new()],
            names: OnceLock::new(),
        })
    }

    /// Answers `GET path?query`, as long as this client waits for it.
    pub fn answer(&self, path: &str, query: &str, client: &Client) -> Result<Answer, Failure> {
        let params = Params::parse(query);
        let model = self.model(path, &params)?;
        let sql = self.sql.session(client);
        let duration = model.duration();
        match path {
            "/api/trace" => json(trace(model, self.model.get().is_some())),
            "/api/whole" => json(true),
            "/api/overview" => json(overview(
                model,
                params.number_within("bins", 400, 1, 4_000)?,
            )),
            "/api/lanes" => {
                let window = params.window(duration)?;
                let lanes: Result<Vec<_>, _> = params
                    .list("threads")?
                    .into_iter()
                    .map(|id| Ok((id, lane(model, id)?)))
                    .collect();
                Ok(Answer::Bytes(picture::lanes(&lanes?, window)))
            }
            "/api/spans" => {
                let window = params.window(duration)?;
                let threads: Result<Vec<_>, _> = params
                    .list("threads")?
                    .into_iter()
                    .map(|id| thread(model, id))
                    .collect();
                let told = picture::spans(model, &threads?, window);
                told.map(Answer::Bytes)
                    .map_err(|e| Failure::internal(&e.into()))
            }
            "/api/at" => {
                let (id, t) = (params.number("thread")?, params.number("t")?);
                let moment = if id == GC_LANE {
                    gc_moment(model, t)
                } else {
                    thread(model, id)?;
                    moment(model, id, t)
                };
                json(moment.ok_or_else(|| {
                    Failure::not_found(format!("thread {id} has no state at {t} ns"))
                })?)
            }
            "/api/span" => {
                let id = params.number("id")?;
                let index = model.span_index.get(&id);
                let index =
                    index.ok_or_else(|| Failure::not_found(format!("there is no span {id}")))?;
                let span = &model.spans[*index as usize];
                json(
                    json!({"span": span_at(model, *index), "thread": model.threads[span.worker].id, "parent": span.parent}),
                )
            }
            "/api/requests" => {
                let (begin, end) = params.range(duration)?;
                let sort = match params.text("sort").unwrap_or("duration") {
                    "duration" => Sort::Duration,
                    "begin" => Sort::Begin,
                    "name" => Sort::Name,
                    "thread" => Sort::Thread,
                    other => {
                        return Err(Failure::bad(format!(
                            "parameter sort is {other:?}; it must be duration, begin, name or thread"
                        )));
                    }
                };
                let limit = params.number_within("limit", 100, 1, 500)?;
                json(
                    tables::requests(
                        model,
                        sql,
                        (begin, end),
                        sort,
                        limit,
                        params.text_or_none("filter"),
                    )
                    .map_err(|e| Failure::internal(&e))?,
                )
            }
            "/api/matrix" => {
                let (begin, end) = params.range(duration)?;
                json(tables::matrix(model, sql, begin, end).map_err(|e| Failure::internal(&e))?)
            }
            "/api/counters" => json(
                model
                    .counters
                    .lanes(params.number_within("bins", 1_000, 1, 4_000)?),
            ),
            "/api/request_counters" => json(
                counters::of_request(model, sql, params.number("id")?)
                    .map_err(|e| Failure::internal(&e))?,
            ),
            "/api/waterfall" => {
                let id = params.number("id")?;
                let found = waterfall(model, sql, id).map_err(|e| Failure::internal(&e))?;
                json(found.ok_or_else(|| Failure::not_found(format!("there is no request {id}")))?)
            }
            "/api/chain" => json(chain(model, params.number("thread")?, params.number("t")?)),
            "/api/locks" => {
                let by = match params.text("by").unwrap_or("class") {
                    "class" => By::Class,
                    "object" => By::Object,
                    other => {
                        return Err(Failure::bad(format!(
                            "parameter by is {other:?}; it must be class or object"
                        )));
                    }
                };
                let (begin, end) = params.range(duration)?;
                if begin > 0 || end < duration {
                    let told = locks(model, sql, by, (begin, end));
                    return json(told.map_err(|e| Failure::internal(&e))?);
                }
                // Of the whole trace, and seconds of SQL where it is large: worked out once.
                let known = &self.locks[by as usize];
                if let Some(text) = known.get() {
                    return Ok(Answer::Json(text.clone()));
                }
                let told =
                    locks(model, sql, by, (0, duration)).map_err(|e| Failure::internal(&e))?;
                let text =
                    serde_json::to_string(&told).map_err(|e| Failure::internal(&e.into()))?;
                Ok(Answer::Json(known.get_or_init(|| text).clone()))
            }
            "/api/search" => json(
                self.names
                    .get_or_init(|| Names::of(model))
                    .find(model, params.text("q")?),
            ),
            "/api/diagnosis" => self.diagnosis().map(Answer::Json),
            "/api/query" => {
                let answer = sql.user(params.text("sql")?);
                json(answer.map_err(|e| Failure::bad(readable(&format!("{e:#}"))))?)
            }
            _ => Err(Failure::not_found(format!("there is no {path}"))),
        }
    }

    /// The same for all who ask, and some tenths of a second of SQL: worked out once.
    fn diagnosis(&self) -> Result<String, Failure> {
        if let Some(known) = self.diagnosis.get() {
            return Ok(known.clone());
        }
        let found =
            loadline_analyze::diagnose::diagnose(&self.trace).map_err(|e| Failure::internal(&e))?;
        let text = serde_json::to_string(&found).map_err(|e| Failure::internal(&e.into()))?;
        Ok(self.diagnosis.get_or_init(|| text).clone())
    }

    /// The trace as far as it must have been read for an answer: waits for all of it where the sums of a first picture
    /// do not tell.
    fn model(&self, path: &str, params: &Params) -> Result<&Model, Failure> {
        let first = self.first.as_ref().filter(|_| self.model.get().is_none());
        if let Some(first) = first {
            let enough = match path {
                "/api/trace" | "/api/overview" | "/api/counters" => true,
                // They ask SQL alone.
                "/api/diagnosis" | "/api/query" => true,
                "/api/lanes" | "/api/spans" => {
                    let window = params.window(first.duration())?;
                    window.ns_per_px() * PARTS_A_PIXEL >= part_ns(first.duration()) as f64
                }
                _ => false,
            };
            // Spans are what a picture asks for last. Nobody listens any more once all is being read.
            if path == "/api/spans" || !enough {
                let _ = self.begin.send(());
            }
            if enough {
                return Ok(first);
            }
        }
        let read = self.model.wait().as_ref();
        read.map_err(|why| Failure::internal(&anyhow::anyhow!("{why}")))
    }
}

/// A page gets so long for its first picture before the rest is read in any case.
const PICTURE: Duration = Duration::from_secs(5);

/// A picture of sums may be stretched so far that one of them is as many pixels wide.
const PARTS_A_PIXEL: f64 = 4.0;

fn thread(model: &Model, id: i64) -> Result<&Thread, Failure> {
    let index = model.thread_index.get(&id);
    index
        .map(|&i| &model.threads[i])
        .ok_or_else(|| Failure::not_found(format!("there is no thread {id}")))
}

fn lane(model: &Model, id: i64) -> Result<&Lane, Failure> {
    if id == GC_LANE {
        Ok(&model.gc)
    } else {
        Ok(&thread(model, id)?.lane)
    }
}

fn json(value: impl Serialize) -> Result<Answer, Failure> {
    serde_json::to_string(&value)
        .map(Answer::Json)
        .map_err(|e| Failure::internal(&e.into()))
}

/// DuckDB's message without the function that the query was wrapped in.
fn readable(message: &str) -> String {
    message
        .lines()
        .filter(|l| !l.contains("FROM query('") && !l.trim_start().starts_with('^'))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_string()
}

/// What the page needs once.
fn trace(model: &Model, whole: bool) -> Value {
    let mut order: Vec<&Thread> = model.threads.iter().collect();
    order.sort_by_cached_key(|t| (t.role, natural_key(&t.name)));
    let (begin, end) = (0, model.duration());
    let threads: Vec<Value> = order
        .into_iter()
        .map(|t| {
            json!({
                "id": t.id, "name": t.name, "kind": t.kind, "tid": t.tid, "role": t.role, "requests": t.requests,
                "states": t.states, "depth": t.rows.len(), "times": t.lane.times(begin, end),
            })
        })
        .collect();
    json!({
        "meta": model.meta, "duration": end, "cpus": model.cpus(), "figures": figures(model),
        "classes": CLASSES, "kinds": KINDS, "roles": ROLES, "threads": threads, "pauses": model.pauses.len(), "whole": whole,
    })
}
