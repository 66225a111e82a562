//! One pass over what the agent said: waits, pauses, spans and marks out of the same stream of events.

use std::sync::Arc;

use loadline_trace::tables::{Counter, Object, Sample, Vm};
use rustc_hash::FxHashMap;

use crate::bounded::{List, Room};
use crate::input::Said;
use crate::misc::Noted;
use crate::mounts::Mounts;
use crate::objects::Objects;
use crate::spans;
use crate::threads::Threads;
use crate::waits::Wait;
use crate::{limits, misc, samples, vm, waits};

/// Texts by their ids.
pub type Strings = FxHashMap<u32, Arc<str>>;

/// What the events mean.
pub struct Heard {
    /// By begin.
    pub waits: List<Wait>,
    /// Of the collector, by begin.
    pub pauses: Vec<Vm>,
    /// What the heap's generations held after them, and limits of pools and executors.
    pub counters: Vec<Counter>,
    pub spans: spans::Output,
    /// By time.
    pub marks: misc::ByTime,
    /// By time; their stacks are ids of frames in the spool, as those of waits.
    pub samples: Vec<Sample>,
    /// How many events there were.
    pub events: u64,
    /// By begin; their stacks likewise.
    pub objects: Vec<Object>,
}

/// Hears all events.
pub fn hear(
    said: &Said,
    threads: &Threads,
    mounts: &Mounts,
    (begin, end): (i64, i64),
    strings: &Strings,
    room: &Room,
) -> Heard {
    let text = |id: u32| strings.get(&id).cloned();
    let life = |t: u32| {
        let known = threads.list.get(t as usize);
        known.map_or((begin, end), |t| (t.begin, t.end))
    };
    let by_java = |id| threads.by_java(id);
    let of_waits = waits::Context {
        begin,
        end,
        life: &life,
        by_java: &by_java,
        room,
    };
    let of_spans = spans::Context {
        begin,
        end,
        text: &text,
        room,
    };
    let mut waits = waits::Pairing::new(&of_waits);
    let mut pauses = vm::Pauses::new(begin, end, &text);
    let mut spans = spans::Builder::new(&of_spans);
    let mut marks = misc::no_marks(room);
    let mut sampled = Vec::new();
    let mut events = 0;
    let mut objects = Objects::default();
    let mut counters = Vec::new();
    for e in said.events() {
        events += 1;
        let thread = threads.actor(&e);
        waits.event(&e, thread);
        pauses.event(&e);
        spans.event(&e, thread);
        marks.extend(Noted::of(&e, thread, begin, end));
        let time = (begin, end);
        sampled.extend(samples::sample(&e, thread, threads, mounts, time, &text));
        objects.event(&e, thread, time, &text);
        counters.extend(limits::counter(&e, time, text));
    }
    let (pauses, heap) = pauses.finish();
    counters.extend(heap);
    Heard {
        waits: waits.finish(),
        pauses,
        counters,
        spans: spans.finish(),
        marks,
        samples: sampled,
        events,
        objects: objects.finish(),
    }
}
