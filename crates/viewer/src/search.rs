//! Finding what somebody has a word for: threads, paths, services, statements, locks.
//!
//! What always holds: a *hit* leads somewhere, to the longest of what it names; hits of one kind come in the order of what
//! they took, those that begin with the word first.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::lane::IDLE;
use crate::model::Model;
use crate::spans::KINDS;

/// Hits of a kind at most.
const MAX_OF_KIND: usize = 8;

/// Kinds of spans that are looked for, in the order in which they are told.
const SPANS: [&str; 6] = ["request", "service", "sql", "call", "user", "pool_wait"];

/// Something of that name, and where its longest lies. Times are ns, moments since the recording began.
#[derive(Debug, Serialize)]
pub struct Hit {
    /// thread, a kind of spans, lock or wait.
    kind: &'static str,
    name: String,
    count: usize,
    total: i64,
    thread: i64,
    begin: i64,
    end: i64,
    /// If it is a request.
    request: Option<i64>,
}

/// What is known of all things of one name.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: usize,
    total: i64,
    longest: i64,
    /// Index of the longest.
    at: usize,
}

impl Sum {
    fn add(&mut self, ns: i64, at: usize) {
        if self.count == 0 || ns > self.longest {
            (self.longest, self.at) = (ns, at);
        }
        self.count += 1;
        self.total += ns;
    }
}

/// Everything that has a name, by kind; made once.
#[derive(Debug, Default)]
pub struct Names {
    /// By kind and name, as indexes of the model.
    spans: HashMap<(u8, u32), Sum>,
    /// By class and whether it was held by somebody; the longest by its id.
    waits: HashMap<(Arc<str>, bool), Sum>,
}

impl Names {
    /// Reads the names of a trace.
    pub fn of(model: &Model) -> Names {
        let mut names = Names::default();
        for (i, span) in model.spans.iter().enumerate() {
            if SPANS.contains(&KINDS[span.kind as usize]) {
                let sum = names.spans.entry((span.kind, span.name)).or_default();
                sum.add(span.end - span.begin, i);
            }
        }
        for wait in model.waits.iter() {
            if let Some(class) = &wait.class {
                let held = match &*wait.kind {
                    "monitor_enter" => true,
                    "park" => wait.owner.is_some(),
                    _ => false,
                };
                let sum = names.waits.entry((class.clone(), held)).or_default();
                sum.add(wait.end - wait.begin, wait.id as usize);
            }
        }
        names
    }

    /// What has `word` in its name, whatever its case.
    pub fn find(&self, model: &Model, word: &str) -> Vec<Hit> {
        let word = word.trim().to_lowercase();
        if word.is_empty() {
            return Vec::new();
        }
        let mut hits = first(threads(model, &word), &word);
        for kind in SPANS {
            hits.extend(first(self.spans(model, kind, &word), &word));
        }
        let (held, others): (Vec<Hit>, Vec<Hit>) = self
            .waits(model, &word)
            .into_iter()
            .partition(|h| h.kind == "lock");
        hits.extend(first(held, &word));
        hits.extend(first(others, &word));
        hits
    }

    fn spans(&self, model: &Model, kind: &'static str, word: &str) -> Vec<Hit> {
        let hit = |(&(of, name), sum): (&(u8, u32), &Sum)| {
            let name = &model.names[name as usize];
            let span = &model.spans[sum.at];
            (KINDS[of as usize] == kind && name.to_lowercase().contains(word)).then(|| Hit {
                kind,
                name: name.clone(),
                count: sum.count,
                total: sum.total,
                thread: model.threads[span.worker].id,
                begin: span.begin,
                end: span.end,
                request: (kind == "request").then_some(span.id),
            })
        };
        self.spans.iter().filter_map(hit).collect()
    }

    fn waits(&self, model: &Model, word: &str) -> Vec<Hit> {
        let hit = |((class, held), sum): (&(Arc<str>, bool), &Sum)| {
            let found = class.to_lowercase().contains(word);
            let wait = found.then(|| model.waits.get(sum.at as i64)).flatten()?;
            Some(Hit {
                kind: if *held { "lock" } else { "wait" },
                name: class.to_string(),
                count: sum.count,
                total: sum.total,
                thread: wait.thread,
                begin: wait.begin,
                end: wait.end,
                request: None,
            })
        };
        self.waits.iter().filter_map(hit).collect()
    }
}

/// Threads of that name, where each was longest at something.
fn threads(model: &Model, word: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    for thread in &model.threads {
        let (begin, end) = thread.lane.extent();
        let times = thread.lane.times(begin, end);
        if thread.name.to_lowercase().contains(word) {
            hits.push(Hit {
                kind: "thread",
                name: thread.name.clone(),
                count: thread.requests as usize,
                total: times[..IDLE].iter().sum(),
                thread: thread.id,
                begin,
                end,
                request: None,
            });
        }
        let lived = thread
            .virtuals
            .iter()
            .filter(|v| v.name.to_lowercase().contains(word));
        hits.extend(lived.take(MAX_OF_KIND).map(|v| Hit {
            kind: "thread",
            name: v.name.clone(),
            count: 0,
            total: 0,
            thread: thread.id,
            begin: v.begin,
            end: v.end,
            request: None,
        }));
    }
    hits
}

/// The first of a kind: the very name, then what begins with the word, then what took longest.
fn first(mut hits: Vec<Hit>, word: &str) -> Vec<Hit> {
    hits.sort_by_cached_key(|h| {
        let name = h.name.to_lowercase();
        // A class is known by its own name, not by its package's.
        let own = name.rsplit(['.', ' ', '/']).next().unwrap_or_default();
        let far = match (
            name == word || own == word,
            name.starts_with(word) || own.starts_with(word),
        ) {
            (true, _) => 0,
            (false, true) => 1,
            _ => 2,
        };
        (far, -h.total, h.name.clone())
    });
    hits.truncate(MAX_OF_KIND);
    hits
}
