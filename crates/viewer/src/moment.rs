//! Everything known about one interval of one thread.

use serde::Serialize;

use crate::lane::CLASSES;
use crate::model::{GC_LANE, Mark, Model, NONE, Pause, Resource, Thread, Wait};
use crate::spans::KINDS;

/// Marks that are told at most.
const MAX_MARKS: usize = 50;

/// An interval of a thread and what was around it. Times are ns since the recording began.
#[derive(Debug, Serialize)]
pub struct Moment {
    thread: i64,
    name: String,
    tid: Option<i32>,
    begin: i64,
    end: i64,
    /// What the kernel says.
    state: String,
    /// What it is drawn as.
    class: &'static str,
    cpu: Option<i16>,
    waker: Option<Waker>,
    syscall: Option<String>,
    fd: Option<i32>,
    resource: Option<Resource>,
    wait: Option<Wait>,
    owner_name: Option<String>,
    notifier_name: Option<String>,
    /// Where in the program's code it waited; of what ran, where it was seen.
    code: Option<String>,
    /// The whole stack, the innermost frame first.
    stack: Vec<String>,
    spans: Vec<SpanAt>,
    marks: Vec<Mark>,
    pause: Option<Pause>,
}

/// Who ended a blocked interval.
#[derive(Debug, Serialize)]
struct Waker {
    /// Its id in the trace, if it is in it.
    thread: Option<i64>,
    /// Its name, or what its kernel id means.
    name: String,
    tid: i32,
}

/// A span that goes on at the time asked for.
#[derive(Debug, Serialize)]
pub struct SpanAt {
    id: i64,
    kind: &'static str,
    name: String,
    begin: i64,
    end: i64,
    status: Option<i32>,
    peer: Option<String>,
    complete: bool,
}

impl SpanAt {
    /// `spans.id`.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// One of [`KINDS`].
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What thread `id` did at `t`; none if there is no such thread, or it had no state then.
pub fn moment(model: &Model, id: i64, t: i64) -> Option<Moment> {
    let index = *model.thread_index.get(&id)?;
    let thread = &model.threads[index];
    let i = thread.lane.at(t)?;
    let (begin, end, class) = thread.lane.state(i);
    let detail = thread.details[i];
    let wait = model.waits.get(detail.wait).cloned();
    let seen_in = match &wait {
        Some(wait) => wait.stack,
        None => sampled(model, index, (begin, end), t),
    };
    let name_of = |id: Option<i64>| id.and_then(|id| model.thread_name(id)).map(String::from);
    let overlaps = |p: &&Pause| p.begin < end && p.end > begin;
    Some(Moment {
        thread: id,
        name: thread.name_at(t).into(),
        tid: thread.tid,
        begin,
        end,
        state: model.states[detail.state as usize].clone(),
        class: CLASSES[class as usize],
        cpu: (detail.cpu as i32 != NONE).then_some(detail.cpu),
        waker: waker(model, detail.waker, detail.waker_tid, end),
        syscall: usize::try_from(detail.syscall)
            .ok()
            .map(|s| model.syscalls[s].clone()),
        fd: (detail.fd != NONE).then_some(detail.fd),
        resource: model.resource(detail.fd, begin).cloned(),
        owner_name: name_of(wait.as_ref().and_then(|w| w.owner)),
        notifier_name: name_of(wait.as_ref().and_then(|w| w.notifier)),
        code: seen_in.and_then(|id| model.code.get(&id)).cloned(),
        stack: frames(model, seen_in),
        wait,
        spans: stack(model, thread, t),
        marks: marks(model, index, begin, end),
        pause: (CLASSES[class as usize] == "gc")
            .then(|| model.pauses.iter().find(overlaps).cloned())
            .flatten(),
    })
}

/// The pause of the collector at `t`, or the stretch between two.
pub fn gc_moment(model: &Model, t: i64) -> Option<Moment> {
    let i = model.gc.at(t)?;
    let (begin, end, class) = model.gc.state(i);
    Some(Moment {
        thread: GC_LANE,
        name: "GC pauses".into(),
        tid: None,
        begin,
        end,
        state: if CLASSES[class as usize] == "gc" {
            "stopped"
        } else {
            "no pause"
        }
        .into(),
        class: CLASSES[class as usize],
        cpu: None,
        waker: None,
        syscall: None,
        fd: None,
        resource: None,
        wait: None,
        owner_name: None,
        notifier_name: None,
        code: None,
        stack: Vec::new(),
        spans: Vec::new(),
        marks: Vec::new(),
        pause: model
            .pauses
            .iter()
            .find(|p| p.begin <= t && t < p.end)
            .cloned(),
    })
}

/// The stack of a thread's sample within an interval that is nearest to `t`.
fn sampled(model: &Model, thread: usize, (begin, end): (i64, i64), t: i64) -> Option<i64> {
    let samples = model.samples.get(&thread)?;
    let from = samples.partition_point(|(at, _)| *at < begin);
    let within = samples[from..].iter().take_while(|(at, _)| *at < end);
    let nearest = within.min_by_key(|(at, _)| at.abs_diff(t))?;
    Some(nearest.1)
}

/// Frames of a stack, the innermost first.
fn frames(model: &Model, stack: Option<i64>) -> Vec<String> {
    let mut frames = Vec::new();
    let mut next = stack;
    while let Some((parent, name)) = next.and_then(|id| model.frames.get(&id)) {
        frames.push(name.clone());
        next = parent.filter(|p| Some(*p) < next); // as it should be; a trace may be anybody's
    }
    frames
}

fn waker(model: &Model, index: i32, tid: i32, at: i64) -> Option<Waker> {
    let thread = usize::try_from(index).ok().map(|i| &model.threads[i]);
    match (thread, tid) {
        (Some(t), tid) => Some(Waker {
            thread: Some(t.id),
            name: t.name_at(at).into(),
            tid: t.tid.unwrap_or(tid),
        }),
        (None, NONE) => None,
        (None, 0) => Some(Waker {
            thread: None,
            name: "an interrupt".into(),
            tid: 0,
        }),
        (None, tid) => Some(Waker {
            thread: None,
            name: format!("a thread outside of the process (tid {tid})"),
            tid,
        }),
    }
}

/// The innermost span that a thread is in at `t`.
pub fn innermost(model: &Model, thread: &Thread, t: i64) -> Option<SpanAt> {
    stack(model, thread, t).pop()
}

fn stack(model: &Model, thread: &Thread, t: i64) -> Vec<SpanAt> {
    thread
        .rows
        .iter()
        .filter_map(|row| row.at(t))
        .map(|piece| span_at(model, piece.span))
        .collect()
}

/// A span as the page tells it.
pub fn span_at(model: &Model, index: u32) -> SpanAt {
    let span = &model.spans[index as usize];
    SpanAt {
        id: span.id,
        kind: KINDS[span.kind as usize],
        name: model.names[span.name as usize].clone(),
        begin: span.begin,
        end: span.end,
        status: span.status,
        peer: span.peer.clone(),
        complete: span.complete,
    }
}

fn marks(model: &Model, thread: usize, begin: i64, end: i64) -> Vec<Mark> {
    let Some(marks) = model.marks.get(&thread) else {
        return Vec::new();
    };
    let from = marks.partition_point(|m| m.at < begin);
    marks[from..]
        .iter()
        .take_while(|m| m.at < end)
        .take(MAX_MARKS)
        .cloned()
        .collect()
}
