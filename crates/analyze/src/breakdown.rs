//! Where the time of connections, handshakes and requests went: a partition by phase and cause.
//!
//! The *phase* at a moment is the innermost of handshake, request, service, pool wait,
//! statement and call of another service that is open on the connection; idle if none is. A call whose answer comes to whichever
//! thread is the phase only while nothing but its answer is waited for. The *cause* is that of the thread
//! which serves the connection at that moment. Between two visits no thread does, and the time has
//! the cause that there is evidence for:
//!
//! | between two visits | cause |
//! | --- | --- |
//! | outside handshakes and requests | idle |
//! | from the queueing of the connection to the visit | queue |
//! | between the guard's marks | admission |
//! | who queued it then is blocked in its poll: nothing has come from the peer | socket |
//! | … is runnable | runnable |
//! | … is running: it is busy with others | queue |
//! | … is blocked otherwise: its own cause, or, if that is idle | other |
//! | it was queued by a thread that polls nothing | other |
//! | nobody queued it, or what that thread did is not known: in a handshake; in a request | socket; other |
//! | … in a request that has asked another service, which has not answered | socket |
//!
//! Invariant: the durations of a span's rows add up to the span's.

use std::cell::Cell;

use loadline_trace::tables::Breakdown;

use crate::bounded::{Grouped, List, Room, Sorter};
use crate::intervals::{Places, flatten, union};
use crate::model::{Cause, Interval, State};
use crate::spans::finish::{BySpan, within};
use crate::spans::gaps::{Gap, With};
use crate::spans::{Kind, Name, Output, Part, Span};

/// What a connection is at, in the order of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Phase {
    Call,
    Idle,
    PoolWait,
    Request,
    Service,
    Sql,
    TlsFailed,
    TlsFull,
    TlsResumed,
    TlsUnknown,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Call => "call",
            Phase::Idle => "idle",
            Phase::PoolWait => "pool_wait",
            Phase::Request => "request",
            Phase::Service => "service",
            Phase::Sql => "sql",
            Phase::TlsFailed => "tls_failed",
            Phase::TlsFull => "tls_full",
            Phase::TlsResumed => "tls_resumed",
            Phase::TlsUnknown => "tls_unknown",
        }
    }

    /// The phase that a span is, if it is one inside connections and requests.
    fn of(s: &Span) -> Option<Phase> {
        Some(match s.kind {
            Kind::TlsHandshake => Phase::of_handshake(s),
            Kind::Request => Phase::Request,
            Kind::Service => Phase::Service,
            Kind::PoolWait => Phase::PoolWait,
            Kind::Sql => Phase::Sql,
            Kind::Call => Phase::Call,
            _ => return None,
        })
    }

    fn of_handshake(s: &Span) -> Phase {
        match (s.name, s.resumed) {
            (Name::FAILED, _) => Phase::TlsFailed,
            (_, Some(true)) => Phase::TlsResumed,
            (_, Some(false)) => Phase::TlsFull,
            (_, None) => Phase::TlsUnknown,
        }
    }

    /// The cause of time in it without any evidence.
    fn presumed(self) -> Cause {
        match self {
            Phase::Idle => Cause::Idle,
            Phase::TlsFailed | Phase::TlsFull | Phase::TlsResumed | Phase::TlsUnknown => {
                Cause::Socket
            }
            _ => Cause::Other,
        }
    }
}

/// What threads did.
pub struct Doings<'a> {
    /// States of each thread, gapless.
    pub states: &'a Grouped<Interval>,
    /// Of each thread, whether it waits for descriptors on behalf of others.
    pub pollers: &'a [bool],
    /// Whether a blocked interval was spent in a poll.
    pub polls: &'a dyn Fn(&Interval) -> bool,
    /// Of `states`, where the last look-ups ended.
    pub places: &'a Places,
    /// How many states were looked at.
    pub looked: Cell<usize>,
}

/// Hands on the rows of every connection, handshake and request, by span, until one is refused.
pub fn rows<E>(
    from: &Output,
    doings: &Doings,
    room: &Room,
    mut out: impl FnMut(Breakdown) -> Result<(), E>,
) -> Result<(), E> {
    let spans = &from.spans;
    let mut inside = inside(spans, room).peekable();
    let visits = BySpan::new(&from.visits, |v| v.span);
    let gaps = BySpan::new(&from.gaps, |g| g.connection);
    let pieces_of = BySpan::new(&from.pieces, |p| p.span);
    let mut over: Vec<(i64, i64, At)> = Vec::new();
    let mut asked: Vec<(i64, i64)> = Vec::new();
    for (id, s) in (0u32..).zip(spans.iter()) {
        if id.is_multiple_of(LET_GO_AFTER) {
            from.let_go();
        }
        let base = match s.kind {
            Kind::Connection => Phase::Idle,
            Kind::TlsHandshake => Phase::of_handshake(s),
            Kind::Request => Phase::Request,
            _ => continue,
        };
        over.clear();
        while let Some((_, i)) = inside.next_if(|(outer, _)| *outer == id) {
            let s = &spans[i as usize];
            match Phase::of(s) {
                Some(phase) => over.push((s.begin_ns, s.end_ns, (phase, false))),
                None => asked.push((s.begin_ns, s.end_ns)),
            }
        }
        let phases = flatten(s.begin_ns, s.end_ns, (base, false), &over);
        let phases = with_asked(phases, union(std::mem::take(&mut asked)));
        let within_it = |pieces: &[Part]| within(pieces, s.begin_ns, s.end_ns);
        let pieces = match (s.kind, s.connection()) {
            (Kind::Connection, _) => within_it(visits.get(id)),
            (Kind::Request, _) => within_it(pieces_of.get(id)),
            (_, Some(connection)) => within_it(visits.get(connection)),
            // A handshake outside any connection, on one thread.
            (_, None) => vec![Part::new(id, s.thread, s.begin_ns, s.end_ns, None)],
        };
        let connection = match s.kind {
            Kind::Connection => Some(id),
            _ => s.connection(),
        };
        let gaps = connection.map_or(&[][..], |c| gaps.get(c));
        for ((phase, cause), duration_ns) in partition(&phases, &pieces, gaps, doings) {
            out(Breakdown {
                span: i64::from(id),
                kind: s.kind.name(),
                phase: phase.name(),
                cause: cause.name(),
                duration_ns,
            })?;
        }
    }
    Ok(())
}

/// After so many spans the pages that were touched are let go.
const LET_GO_AFTER: u32 = 1 << 15;

/// The spans that are phases, or may be, inside each connection and each request: pairs of ids, sorted.
fn inside(spans: &List<Span>, room: &Room) -> impl Iterator<Item = (u32, u32)> {
    let mut pairs = Sorter::new(room, |pair: &(u32, u32)| *pair);
    for at in 0..spans.len() {
        spans.pace(at);
        each_around(spans, at, |outer| pairs.push((outer, at as u32)));
    }
    pairs.sorted()
}

/// Each connection or request in which a span lies that is a phase, or may be.
fn each_around(spans: &[Span], at: usize, mut each: impl FnMut(u32)) {
    if Phase::of(&spans[at]).is_none() && spans[at].kind != Kind::Asked {
        return;
    }
    let mut up = spans[at].parent();
    while let Some(p) = up {
        let outer = &spans[p as usize];
        if matches!(outer.kind, Kind::Request | Kind::Connection) {
            each(p);
        }
        up = outer.parent();
    }
}

/// A phase, and whether there are calls that were asked for and not answered.
type At = (Phase, bool);

/// Phases cut where calls were asked for and answered, which are disjoint.
fn with_asked(phases: Vec<(i64, i64, At)>, asked: Vec<(i64, i64)>) -> Vec<(i64, i64, At)> {
    if asked.is_empty() {
        return phases;
    }
    let mut out = Vec::with_capacity(phases.len() + 2 * asked.len());
    let mut next = 0;
    for (begin, end, (phase, _)) in phases {
        let mut at = begin;
        while at < end {
            while asked.get(next).is_some_and(|a| a.1 <= at) {
                next += 1;
            }
            let (to, open) = match asked.get(next) {
                Some(a) if a.0 <= at => (a.1.min(end), true),
                Some(a) => (a.0.min(end), false),
                None => (end, false),
            };
            out.push((at, to, (phase, open)));
            at = to;
        }
    }
    out
}

/// What time counts as that has been found to be of a phase for a cause: while an answer has been asked for, waiting for what
/// comes by a socket, or for nothing that is known, is waiting for that.
fn counted((phase, asked): At, cause: Cause, presumed: bool) -> (Phase, Cause) {
    let awaits = cause == Cause::Socket || presumed && cause == Cause::Other;
    match phase {
        Phase::Request | Phase::Service if asked && awaits => (Phase::Call, Cause::Socket),
        _ => (phase, cause),
    }
}

/// Sums by phase and cause, sorted. `phases` and `pieces` sorted and disjoint; `phases` gapless.
fn partition(
    phases: &[(i64, i64, At)],
    pieces: &[Part],
    gaps: &[Gap],
    doings: &Doings,
) -> Vec<((Phase, Cause), i64)> {
    let mut sums: Vec<((Phase, Cause), i64)> = Vec::new();
    let mut add = |what: (Phase, Cause), ns: i64| {
        if ns > 0 {
            match sums.iter_mut().find(|s| s.0 == what) {
                Some(sum) => sum.1 += ns,
                None => sums.push((what, ns)),
            }
        }
    };
    let mut next = 0;
    let mut awaits_since = i64::MAX;
    for &(begin, end, what) in phases {
        let phase = what.0;
        let mut at = begin;
        while at < end {
            match pieces.get(next) {
                Some(p) if p.end_ns <= at => next += 1,
                Some(p) if p.begin_ns <= at => {
                    let to = p.end_ns.min(end);
                    // Unknown where the thread has no state.
                    doings.intervals(p.thread as usize, at, to, |i, ns| {
                        let (cause, since) =
                            i.map_or((Cause::Unknown, end), |i| (i.cause, i.begin));
                        // Who began to wait for an answer waits for it until it runs again.
                        let asked = what.1 || since == awaits_since;
                        let what = counted((phase, asked), cause, false);
                        if asked && what.0 != phase {
                            awaits_since = since;
                        }
                        add(what, ns);
                    });
                    at = to;
                }
                Some(p) => {
                    let to = p.begin_ns.min(end);
                    let queued = p.queued_ns().unwrap_or(to).clamp(at, to);
                    doings.between(phase, at, queued, gaps, |cause, ns| {
                        add(counted(what, cause, true), ns);
                    });
                    add((phase, Cause::Queue), to - queued);
                    at = to;
                }
                None => {
                    doings.between(phase, at, end, gaps, |cause, ns| {
                        add(counted(what, cause, true), ns);
                    });
                    at = end;
                }
            }
        }
    }
    sums.sort_unstable();
    sums
}

impl Doings<'_> {
    /// The intervals of one thread within `[begin, end)`, and the time of each in it; none where the
    /// thread has no state.
    fn intervals(
        &self,
        thread: usize,
        begin: i64,
        end: i64,
        mut each: impl FnMut(Option<&Interval>, i64),
    ) {
        let states = self.states.get(thread).unwrap_or_default();
        let mut at = begin;
        let from = self.places.first(thread, states, |i| i.end > begin);
        for i in states[from..].iter().take_while(|i| i.begin < end) {
            self.looked.set(self.looked.get() + 1);
            self.states.pace(self.looked.get());
            let (b, e) = (i.begin.max(at), i.end.min(end));
            each(None, b - at);
            each(Some(i), e - b);
            at = e.max(at);
        }
        each(None, end - at);
    }

    /// Causes of a connection's time between two visits, within `[begin, end)`; `gaps` are its own.
    fn between(
        &self,
        phase: Phase,
        begin: i64,
        end: i64,
        gaps: &[Gap],
        mut add: impl FnMut(Cause, i64),
    ) {
        let presumed = phase.presumed();
        if phase == Phase::Idle {
            return add(presumed, end - begin);
        }
        let mut at = begin;
        let from = gaps.partition_point(|g| g.end <= begin);
        for g in gaps[from..].iter().take_while(|g| g.begin < end) {
            let (b, e) = (g.begin.clamp(at, end), g.end.clamp(at, end));
            add(presumed, b - at);
            match g.with {
                With::Admission => add(Cause::Admission, e - b),
                With::Thread(thread) => self.waited_for(thread, b, e, presumed, &mut add),
            }
            at = e;
        }
        add(presumed, end - at);
    }

    /// Causes of waiting for a thread that was to queue the connection.
    fn waited_for(
        &self,
        thread: u32,
        begin: i64,
        end: i64,
        presumed: Cause,
        mut add: impl FnMut(Cause, i64),
    ) {
        let thread = thread as usize;
        let polls = self.pollers.get(thread) == Some(&true);
        self.intervals(thread, begin, end, |i, ns| {
            let cause = match i.map(|i| (i, i.state)) {
                None | Some((_, State::Unknown)) => presumed,
                Some(_) if !polls => Cause::Other,
                Some((_, State::Running)) => Cause::Queue,
                Some((_, State::Runnable | State::Preempted)) => Cause::Runnable,
                Some((i, _)) if (self.polls)(i) => Cause::Socket,
                Some((i, _)) if i.cause == Cause::Idle => Cause::Other,
                Some((i, _)) => i.cause,
            };
            add(cause, ns);
        });
    }
}

#[cfg(test)]
mod tests;
