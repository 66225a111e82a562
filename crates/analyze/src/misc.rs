//! Tables that need no thought: counters and marks.

use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::procfs::Line;
use loadline_trace::tables::{Counter, Mark};

use crate::model::NONE;

/// Counters as they were read, cut to the recording.
pub fn counters(proc: &[Line], begin: i64, end: i64) -> impl Iterator<Item = Counter> + '_ {
    proc.iter()
        .filter_map(move |line| match line {
            Line::Counters { ts, scope, values } => Some(((*ts).clamp(begin, end), scope, values)),
            _ => None,
        })
        .flat_map(|(ts_ns, scope, values)| {
            let scope: Arc<str> = scope.as_str().into();
            values.iter().map(move |(name, value)| Counter {
                ts_ns,
                scope: scope.clone(),
                name: name.as_str().into(),
                value: *value,
            })
        })
}

/// The application's events.
pub fn marks(
    events: &[Event],
    actors: &[u32],
    begin: i64,
    end: i64,
    text: &dyn Fn(u32) -> Option<Arc<str>>,
) -> Vec<Mark> {
    events
        .iter()
        .zip(actors)
        .filter(|(e, thread)| e.kind == ev::APP_EVENT && **thread != NONE)
        .map(|(e, &thread)| Mark {
            ts_ns: e.ts.clamp(begin, end),
            thread: i64::from(thread),
            kind: text(e.c).unwrap_or_else(|| "event".into()),
            value: e.a as i64,
            text: None,
        })
        .collect()
}
