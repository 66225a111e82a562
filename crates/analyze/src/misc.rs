//! Tables that need no thought: counters and marks.

use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::procfs::Line;
use loadline_trace::tables::{Counter, Mark};

use crate::bounded::{Room, Sorter};
use crate::model::NONE;

/// Counters as they were read, cut to the recording, and the CPU time of everybody else.
pub fn counters(proc: &[Line], begin: i64, end: i64) -> Vec<Counter> {
    let mut out = Vec::new();
    let mut reading = Reading::default();
    for line in proc {
        let Line::Counters { ts, scope, values } = line else {
            continue;
        };
        let ts_ns = (*ts).clamp(begin, end);
        let scope: Arc<str> = scope.as_str().into();
        out.extend(values.iter().map(|(name, value)| Counter {
            ts_ns,
            scope: scope.clone(),
            name: name.as_str().into(),
            value: *value,
        }));
        if let Some(value) = reading.others(&scope, values) {
            out.push(Counter {
                ts_ns,
                scope: "machine".into(),
                name: "others_seconds".into(),
                value,
            });
        }
    }
    out
}

/// CPU seconds in one reading, whose lines come in the order target, machine, recorder.
#[derive(Default)]
struct Reading {
    target: Option<f64>,
    machine: Option<f64>,
}

impl Reading {
    /// Takes a line; after the last of a reading, what neither the target nor the recorder used.
    fn others(&mut self, scope: &str, values: &[(String, f64)]) -> Option<f64> {
        let value = |name| values.iter().find(|v| v.0 == name).map(|v| v.1);
        match scope {
            "process" => {
                *self = Reading {
                    target: value("cpu_seconds"),
                    machine: None,
                };
                None
            }
            "machine" => {
                self.machine = value("busy_seconds");
                None
            }
            "recorder" => {
                let Reading { target, machine } = std::mem::take(self);
                Some((machine? - target? - value("cpu_seconds")?).max(0.0))
            }
            _ => None,
        }
    }
}

/// Marks on the target's main thread where its CPUs changed: in thousandths of a CPU, what a CPU manager assigned, and
/// without one how many its mask has.
pub fn cpu_changes(proc: &[Line], main: Option<u32>, begin: i64, end: i64) -> Vec<Mark> {
    let Some(main) = main else {
        return Vec::new();
    };
    let mut marks = Vec::new();
    let mut before: Option<f64> = None;
    for line in proc {
        let Line::Counters { ts, scope, values } = line else {
            continue;
        };
        let value = |name| values.iter().find(|v| v.0 == name).map(|v| v.1);
        if scope != "process" {
            continue;
        }
        let Some(now) = value("assigned_cpus").or_else(|| value("allowed_cpus")) else {
            continue;
        };
        if let Some(was) = before.filter(|was| *was != now) {
            marks.push(Mark {
                ts_ns: (*ts).clamp(begin, end),
                thread: i64::from(main),
                kind: "cpus".into(),
                value: (now * 1000.0).round() as i64,
                text: Some(format!("from {was} to {now}").into()),
            });
        }
        before = Some(now);
    }
    marks
}

/// A mark of the application.
#[derive(Debug, Clone, Copy)]
pub struct Noted {
    ts_ns: i64,
    value: i64,
    thread: u32,
    /// String id of its kind.
    kind: u32,
}

impl Noted {
    /// The mark that an event of the application is.
    pub fn of(e: &Event, thread: u32, begin: i64, end: i64) -> Option<Noted> {
        // Those from before the recording are there for what connections were at.
        (e.kind == ev::APP_EVENT && e.ts >= begin && thread != NONE).then(|| Noted {
            ts_ns: e.ts.clamp(begin, end),
            value: e.a as i64,
            thread,
            kind: e.c,
        })
    }

    fn row(&self, text: &dyn Fn(u32) -> Option<Arc<str>>) -> Mark {
        Mark {
            ts_ns: self.ts_ns,
            thread: i64::from(self.thread),
            kind: text(self.kind).unwrap_or_else(|| "event".into()),
            value: self.value,
            text: None,
        }
    }
}

/// Marks of the application by time.
pub type ByTime = Sorter<Noted, fn(&Noted) -> i64>;

/// No mark yet.
pub fn no_marks(room: &Room) -> ByTime {
    Sorter::new(room, |n| n.ts_ns)
}

/// Marks of the application and others, these by time, as one table.
pub fn marks<'a>(
    noted: ByTime,
    others: Vec<Mark>,
    text: &'a dyn Fn(u32) -> Option<Arc<str>>,
) -> impl Iterator<Item = Mark> + 'a {
    let (mut noted, mut others) = (noted.sorted().peekable(), others.into_iter().peekable());
    std::iter::from_fn(move || {
        let next = noted.peek().map(|n| n.ts_ns);
        let other = others.next_if(|o| next.is_none_or(|ts| o.ts_ns < ts));
        other.or_else(|| noted.next().map(|n| n.row(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ts: i64, scope: &str, name: &str, value: f64) -> Line {
        Line::Counters {
            ts,
            scope: scope.into(),
            values: vec![(name.into(), value)],
        }
    }

    #[test]
    fn what_neither_the_target_nor_the_recorder_used_is_the_others_time() {
        let read = [
            line(1, "process", "cpu_seconds", 2.0),
            line(2, "machine", "busy_seconds", 10.0),
            line(3, "cpu 0", "busy_seconds", 10.0),
            line(4, "recorder", "cpu_seconds", 0.5),
            // The target has ended: nobody can tell.
            line(5, "machine", "busy_seconds", 11.0),
            line(6, "recorder", "cpu_seconds", 0.6),
        ];
        let rows = counters(&read, 0, 9);
        let others: Vec<_> = rows
            .iter()
            .filter(|c| &*c.name == "others_seconds")
            .collect();
        assert_eq!(others.len(), 1);
        assert_eq!((others[0].ts_ns, others[0].value), (4, 7.5));
        assert_eq!(rows.len(), read.len() + 1);
    }

    #[test]
    fn a_change_of_the_cpus_is_a_mark() {
        let managed = |ts, has: f64| Line::Counters {
            ts,
            scope: "process".into(),
            values: vec![("allowed_cpus".into(), 2.0), ("assigned_cpus".into(), has)],
        };
        let read = [
            line(1, "process", "allowed_cpus", 2.0),
            line(2, "process", "cpu_seconds", 1.0),
            line(3, "cpu 0", "allowed_cpus", 7.0),
            managed(4, 2.0),
            managed(5, 1.3),
            managed(6, 1.3),
            line(7, "process", "allowed_cpus", 2.0),
        ];
        let marks = cpu_changes(&read, Some(5), 0, 6);
        let seen: Vec<_> = marks.iter().map(|m| (m.ts_ns, m.thread, m.value)).collect();
        assert_eq!(seen, [(5, 5, 1300), (6, 5, 2000)]);
        assert_eq!(marks[0].text.as_deref(), Some("from 2 to 1.3"));
        assert!(cpu_changes(&read, None, 0, 9).is_empty());
    }
}
