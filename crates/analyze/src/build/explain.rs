//! Why threads were in their states: the evidence put together, and what threads were at when.

use std::sync::Arc;

use loadline_trace::tables;

use crate::bounded::{Grouped, List, Room, Sorter};
use crate::causes;
use crate::intervals;
use crate::model::Interval;
use crate::resources::Resources;
use crate::spans::{self, Kind, Span};
use crate::syscalls::{Class, Names};
use crate::threads::Threads;
use crate::waits::Wait;

/// So many states are explained before their pages are let go.
const STRIDE: usize = 1 << 16;

/// Of each thread, its waits.
pub fn by_thread(waits: &List<Wait>, threads: usize, room: &Room) -> Grouped<u32> {
    let mut own = Sorter::new(room, |of: &(u32, u32)| *of);
    for (at, w) in waits.iter().enumerate() {
        waits.pace(at);
        own.push((w.thread, at as u32));
    }
    Grouped::of(room, threads, own.sorted(), |grouped, id| grouped.push(id))
}

/// What states are explained by.
pub struct Evidence<'a> {
    pub threads: &'a Threads,
    pub waits: &'a List<Wait>,
    /// Of each thread, its waits.
    pub own: &'a Grouped<u32>,
    pub spans: &'a spans::Output,
    pub pauses: &'a [tables::Vm],
    /// Of each thread, see [`pollers`].
    pub pollers: &'a [bool],
    /// The thread of a kernel's id at a time.
    pub who: &'a dyn Fn(u32, i64) -> Option<u32>,
    /// Text of a string id.
    pub text: &'a dyn Fn(u32) -> Option<Arc<str>>,
    pub names: &'a Names,
    pub resources: &'a Resources,
    pub room: &'a Room,
}

/// Gives all states their causes.
pub fn all(states: &mut Grouped<Interval>, evidence: &Evidence) {
    let Evidence {
        threads,
        waits,
        own,
        spans,
        pauses,
        pollers,
        who,
        text,
        names,
        resources,
        room,
    } = *evidence;
    let [work, pool, calls, asked] = work(spans, threads.list.len(), room);
    let pauses = intervals::union(pauses.iter().map(|p| (p.begin_ns, p.end_ns)).collect());
    let vm_thread = threads
        .list
        .iter()
        .find(|t| t.comm.as_deref() == Some("VM Thread"))
        .and_then(|t| t.tid);
    let mut explained = 0;
    for id in 0..states.len() {
        let facts = causes::Facts {
            waits,
            text,
            own: &own[id],
            work: &work[id],
            pool: &pool[id],
            calls: &calls[id],
            asked: &asked[id],
            pauses: &pauses,
            vm_thread,
            is_poller: &|waker, ts| who(waker, ts).is_some_and(|t| pollers[t as usize]),
            is_program: matches!(threads.list[id].kind(), "platform" | "carrier" | "virtual"),
            names,
            resource: &|fd, ts| resources.at(fd, ts).map(|r| r.kind),
        };
        let mut explainer = causes::Explainer::new(&facts);
        for from in (0..states[id].len()).step_by(STRIDE) {
            let to = (from + STRIDE).min(states[id].len());
            explainer.explain(&mut states[id][from..to]);
            explained += to - from;
            if explained >= STRIDE {
                explained = 0;
                states.let_go();
                waits.let_go();
                work.let_go();
            }
        }
    }
}

/// Begins of their names, up to 25.
const JDKS_POLLERS: [&str; 4] = ["Read-Poller", "Write-Poller", "SubPoller-", "MasterPoller"];

pub fn is_poll(i: &Interval, names: &Names) -> bool {
    i.syscall > 0 && names.class(u32::from(i.syscall) - 1) == Class::Poll
}

/// Of each thread, whether it waits for descriptors on behalf of others: it blocks in polls, or is one
/// of the JDK's for virtual threads, and does no work of its own.
pub fn pollers(
    states: &Grouped<Interval>,
    spans: &spans::Output,
    threads: &Threads,
    names: &Names,
) -> Vec<bool> {
    let mut looked = 0;
    let mut polls = |own: &[Interval]| {
        own.iter().any(|i| {
            states.pace(looked);
            looked += 1;
            is_poll(i, names)
        })
    };
    let mut pollers: Vec<bool> = states
        .iter()
        .zip(&threads.list)
        .map(|(states, t)| {
            let of_jdk = |name: &str| JDKS_POLLERS.iter().any(|begin| name.starts_with(begin));
            t.name.as_deref().is_some_and(of_jdk) || polls(states)
        })
        .collect();
    for (at, v) in spans.segments.iter().enumerate() {
        spans.segments.pace(at);
        pollers[v.thread as usize] = false;
    }
    for (at, s) in spans.spans.iter().enumerate() {
        spans.spans.pace(at);
        if on_one_thread(s) {
            pollers[s.thread as usize] = false;
        }
    }
    pollers
}

/// Of each thread times, sorted and disjoint.
type Times = Grouped<(i64, i64)>;

/// A thread, begin and end.
type Time = (u32, i64, i64);

/// Times of threads in about their order, of which those that touch become one.
struct Union<'a> {
    /// Of each thread, the last.
    last: Vec<(i64, i64)>,
    /// Those before.
    before: Sorter<Time, fn(&Time) -> Time>,
    room: &'a Room,
}

impl Union<'_> {
    fn new(threads: usize, room: &Room) -> Union<'_> {
        Union {
            last: vec![(0, 0); threads],
            before: Sorter::new(room, |time| *time),
            room,
        }
    }

    fn add(&mut self, thread: u32, begin: i64, end: i64) {
        let last = &mut self.last[thread as usize];
        if last.0 <= begin && begin <= last.1 && last.1 > last.0 {
            last.1 = last.1.max(end);
        } else if end > begin {
            let (begin, end) = std::mem::replace(last, (begin, end));
            if end > begin {
                self.before.push((thread, begin, end));
            }
        }
    }

    fn times(mut self) -> Times {
        for (thread, &(begin, end)) in (0..).zip(&self.last) {
            if end > begin {
                self.before.push((thread, begin, end));
            }
        }
        let all = self
            .before
            .sorted()
            .map(|(t, begin, end)| (t, (begin, end)));
        Grouped::of(
            self.room,
            self.last.len(),
            all,
            |times, (begin, end)| match times.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => times.push((begin, end)),
            },
        )
    }
}

/// When each thread was at work, when it waited for a pool, when it called another service, and when it was at a request that
/// had asked one.
fn work(spans: &spans::Output, threads: usize, room: &Room) -> [Times; 4] {
    let [mut work, mut pool, mut calls, mut asked] = [(); 4].map(|()| Union::new(threads, room));
    for (at, v) in spans.segments.iter().enumerate() {
        spans.segments.pace(at);
        work.add(v.thread, v.begin_ns, v.end_ns);
        if spans.has_asked {
            spans.spans.pace(at);
            if spans.spans[v.span as usize].kind == Kind::Asked {
                asked.add(v.thread, v.begin_ns, v.end_ns);
            }
        }
    }
    for (at, s) in spans.spans.iter().enumerate() {
        spans.spans.pace(at);
        if on_one_thread(s) {
            work.add(s.thread, s.begin_ns, s.end_ns);
        }
        if s.kind == Kind::PoolWait {
            pool.add(s.thread, s.begin_ns, s.end_ns);
        }
        if s.kind == Kind::Call {
            calls.add(s.thread, s.begin_ns, s.end_ns);
        }
    }
    [work.times(), pool.times(), calls.times(), asked.times()]
}

fn on_one_thread(s: &Span) -> bool {
    match s.kind {
        Kind::Service | Kind::Sql | Kind::Call | Kind::PoolWait => true,
        // Those of a connection are worked on in its visits.
        Kind::Request | Kind::TlsHandshake => s.connection().is_none(),
        Kind::User => s.thread == s.end_thread,
        _ => false,
    }
}
