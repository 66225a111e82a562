//! Where the time of connections, handshakes and requests went: a partition by phase and cause.
//!
//! The *phase* at a moment is the innermost of handshake, request, service, pool wait,
//! statement and call of another service that is open on the connection; idle if none is. The *cause* is that of the thread
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
//!
//! Invariant: the durations of a span's rows add up to the span's.

use std::cell::Cell;

use loadline_trace::tables::Breakdown;

use crate::bounded::{Grouped, List, Room, Sorter};
use crate::intervals::{Places, flatten};
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
    let mut over: Vec<(i64, i64, Phase)> = Vec::new();
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
            over.extend(Phase::of(s).map(|phase| (s.begin_ns, s.end_ns, phase)));
        }
        let phases = flatten(s.begin_ns, s.end_ns, base, &over);
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

/// The spans that are phases inside each connection and each request: pairs of ids, sorted.
fn inside(spans: &List<Span>, room: &Room) -> impl Iterator<Item = (u32, u32)> {
    let mut pairs = Sorter::new(room, |pair: &(u32, u32)| *pair);
    for at in 0..spans.len() {
        spans.pace(at);
        each_around(spans, at, |outer| pairs.push((outer, at as u32)));
    }
    pairs.sorted()
}

/// Each connection or request in which a span lies that is a phase.
fn each_around(spans: &[Span], at: usize, mut each: impl FnMut(u32)) {
    if Phase::of(&spans[at]).is_none() {
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

/// Sums by phase and cause, sorted. `phases` and `pieces` sorted and disjoint; `phases` gapless.
fn partition(
    phases: &[(i64, i64, Phase)],
    pieces: &[Part],
    gaps: &[Gap],
    doings: &Doings,
) -> Vec<((Phase, Cause), i64)> {
    let mut sums: Vec<((Phase, Cause), i64)> = Vec::new();
    let mut add = |phase: Phase, cause: Cause, ns: i64| {
        if ns > 0 {
            match sums.iter_mut().find(|s| s.0 == (phase, cause)) {
                Some(sum) => sum.1 += ns,
                None => sums.push(((phase, cause), ns)),
            }
        }
    };
    let mut next = 0;
    for &(begin, end, phase) in phases {
        let mut at = begin;
        while at < end {
            match pieces.get(next) {
                Some(p) if p.end_ns <= at => next += 1,
                Some(p) if p.begin_ns <= at => {
                    let to = p.end_ns.min(end);
                    // Unknown where the thread has no state.
                    doings.intervals(p.thread as usize, at, to, |i, ns| {
                        add(phase, i.map_or(Cause::Unknown, |i| i.cause), ns);
                    });
                    at = to;
                }
                Some(p) => {
                    let to = p.begin_ns.min(end);
                    let queued = p.queued_ns().unwrap_or(to).clamp(at, to);
                    doings.between(phase, at, queued, gaps, |cause, ns| add(phase, cause, ns));
                    add(phase, Cause::Queue, to - queued);
                    at = to;
                }
                None => {
                    doings.between(phase, at, end, gaps, |cause, ns| add(phase, cause, ns));
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
mod tests {
    use super::*;

    fn state(begin: i64, end: i64, cause: Cause) -> Interval {
        Interval {
            cause,
            ..Interval::new(begin, end, crate::model::State::Running)
        }
    }

    fn visit(begin: i64, end: i64, queued: Option<i64>) -> Part {
        Part::new(0, 0, begin, end, queued)
    }

    #[test]
    fn phases_are_in_the_order_of_their_names_and_all_documented() {
        use Phase::*;
        let all = [
            Call, Idle, PoolWait, Request, Service, Sql, TlsFailed, TlsFull, TlsResumed, TlsUnknown,
        ];
        assert!(all.is_sorted() && all.is_sorted_by_key(|p| p.name()));
        let mut known = loadline_trace::tables::names::PHASES;
        known.sort_unstable();
        assert_eq!(all.map(Phase::name), known);
    }

    #[test]
    fn time_in_visits_has_the_threads_cause_and_time_between_them_its_own() {
        let states = vec![vec![
            state(0, 30, Cause::Running),
            state(30, 100, Cause::Socket),
        ]];
        let phases = [(0, 50, Phase::TlsFull), (50, 100, Phase::Idle)];
        let visits = [
            visit(10, 20, Some(8)),
            visit(40, 60, Some(35)),
            visit(90, 95, None),
        ];
        let sums = parts(&phases, &visits, &[], &states);
        use Cause::*;
        assert_eq!(
            sums,
            [
                ((Phase::Idle, Socket), 15),
                ((Phase::Idle, Idle), 35),
                ((Phase::TlsFull, Running), 10),
                ((Phase::TlsFull, Socket), 8 + 15 + 10),
                ((Phase::TlsFull, Queue), 2 + 5),
            ]
        );
    }

    #[test]
    fn a_thread_without_states_is_unknown() {
        let sums = parts(&[(0, 10, Phase::Request)], &[visit(0, 10, None)], &[], &[]);
        assert_eq!(sums, [((Phase::Request, Cause::Unknown), 10)]);
    }

    const IN_POLL: u16 = 7;

    /// Thread 0 serves; thread 1 polls.
    fn parts(
        phases: &[(i64, i64, Phase)],
        pieces: &[Part],
        gaps: &[Gap],
        states: &[Vec<Interval>],
    ) -> Vec<((Phase, Cause), i64)> {
        let doings = Doings {
            states: &states.into(),
            pollers: &[false, true],
            polls: &|i| i.syscall == IN_POLL,
            places: &Places::new(states.len()),
            looked: Cell::default(),
        };
        partition(phases, pieces, gaps, &doings)
    }

    fn gap(begin: i64, end: i64, with: With) -> Gap {
        Gap {
            connection: 0,
            begin,
            end,
            with,
        }
    }

    #[test]
    fn only_while_the_poller_is_blocked_in_its_poll_has_nothing_come_from_the_peer() {
        use Cause::*;
        let of = |state, begin, end, cause, syscall| Interval {
            syscall,
            cause,
            ..Interval::new(begin, end, state)
        };
        let poller = vec![
            of(State::Blocked, 0, 40, Idle, IN_POLL),
            of(State::Runnable, 40, 45, Runnable, 0),
            of(State::Running, 45, 52, Running, 0),
            of(State::Blocked, 52, 54, Lock, 0),
            of(State::Blocked, 54, 55, Idle, 0),
            of(State::Running, 55, 60, Running, 0),
        ];
        let states = [vec![], poller];
        // Visits from 0 to 10 and from 70 on; queued at 60 by the poller.
        let pieces = [visit(0, 10, None), visit(70, 80, Some(60))];
        let sums = |phase, with| {
            let gaps = [gap(10, 60, with)];
            let mut sums = parts(&[(10, 70, phase)], &pieces, &gaps, &states);
            sums.retain(|s| s.0.1 != Unknown);
            sums.into_iter()
                .map(|((_, cause), ns)| (cause, ns))
                .collect::<Vec<_>>()
        };
        let shared = [
            (Runnable, 5),
            (Lock, 2),
            (Socket, 30),
            (Queue, 12 + 10),
            (Other, 1),
        ];
        assert_eq!(sums(Phase::TlsFull, With::Thread(1)), shared);
        assert_eq!(sums(Phase::Request, With::Thread(1)), shared);
        // Queued by a thread that polls nothing: something else was waited for.
        let of_other = [(Queue, 10), (Other, 50)];
        assert_eq!(
            sums(Phase::Request, With::Thread(0)),
            [(Queue, 10), (Other, 50)]
        );
        let states = [vec![of(State::Running, 0, 80, Running, 0)], vec![]];
        let gaps = [gap(10, 60, With::Thread(0))];
        let sums = parts(&[(10, 70, Phase::TlsFull)], &pieces, &gaps, &states);
        assert_eq!(
            sums.iter().map(|s| (s.0.1, s.1)).collect::<Vec<_>>(),
            of_other
        );
    }

    #[test]
    fn between_the_guards_marks_a_handshake_waits_for_its_turn() {
        let gaps = [gap(10, 50, With::Admission)];
        let pieces = [visit(0, 10, None), visit(70, 80, Some(60))];
        let phases = [(10, 70, Phase::TlsFull)];
        let sums = parts(&phases, &pieces, &gaps, &[]);
        let of = |cause| ((Phase::TlsFull, cause), 10);
        assert_eq!(
            sums,
            [
                of(Cause::Socket),
                ((Phase::TlsFull, Cause::Admission), 40),
                of(Cause::Queue)
            ]
        );
    }
}
