//! Where the time of connections, handshakes and requests went: a partition by phase and cause.
//!
//! The *phase* at a moment is the innermost of handshake, request, service, pool wait and
//! statement that is open on the connection; idle if none is. The *cause* is that of the thread
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

use std::collections::HashMap;

use loadline_trace::tables::{Breakdown, Segment, Span};

use crate::intervals::flatten;
use crate::model::{Cause, Interval, State};
use crate::spans::finish::{within, without_overlap};
use crate::spans::gaps::{Gap, With};
use crate::spans::{Output, kind};

const REQUEST: &str = "request";
const IDLE: &str = "idle";

/// What threads did.
pub struct Doings<'a> {
    /// States of each thread, gapless.
    pub states: &'a [Vec<Interval>],
    /// Of each thread, whether it waits for descriptors on behalf of others.
    pub pollers: &'a [bool],
    /// Whether a blocked interval was spent in a poll.
    pub polls: &'a dyn Fn(&Interval) -> bool,
}

/// Hands on the rows of every connection, handshake and request, by span, until one is refused.
pub fn rows<E>(
    from: &Output,
    doings: &Doings,
    mut out: impl FnMut(Breakdown) -> Result<(), E>,
) -> Result<(), E> {
    let spans = &from.spans;
    let inner = Inner::of(spans);
    let is_visit = |s: &&Segment| spans[s.span as usize].kind == kind::CONNECTION;
    let visits = without_overlap(from.segments.iter().filter(is_visit).cloned().collect());
    let visits = by_span(&visits);
    let of_requests = by_span(&from.pieces);
    let gaps: HashMap<i64, &[Gap]> = from
        .gaps
        .chunk_by(|a, b| a.connection == b.connection)
        .map(|group| (group[0].connection, group))
        .collect();
    for s in spans {
        let base = match s.kind {
            kind::CONNECTION => IDLE,
            kind::TLS_HANDSHAKE => tls_phase(s),
            kind::REQUEST => REQUEST,
            _ => continue,
        };
        let phases = flatten(s.begin_ns, s.end_ns, base, inner.phases(s));
        let of = |all: &HashMap<i64, &[Segment]>, id: i64| {
            within(
                all.get(&id).copied().unwrap_or_default(),
                s.begin_ns,
                s.end_ns,
            )
        };
        let pieces = match (s.kind, s.connection) {
            (kind::CONNECTION, _) => of(&visits, s.id),
            (kind::REQUEST, _) => of(&of_requests, s.id),
            (_, Some(connection)) => of(&visits, connection),
            // A handshake outside any connection, on one thread.
            (_, None) => vec![Segment {
                span: s.id,
                thread: s.thread,
                begin_ns: s.begin_ns,
                end_ns: s.end_ns,
                queued_ns: None,
            }],
        };
        let connection = match s.kind {
            kind::CONNECTION => Some(s.id),
            _ => s.connection,
        };
        let gaps = connection
            .and_then(|c| gaps.get(&c).copied())
            .unwrap_or_default();
        for ((phase, cause), duration_ns) in partition(&phases, &pieces, gaps, doings) {
            out(Breakdown {
                span: s.id,
                kind: s.kind,
                phase,
                cause: cause.name(),
                duration_ns,
            })?;
        }
    }
    Ok(())
}

/// Groups of segments that are sorted by span.
fn by_span(segments: &[Segment]) -> HashMap<i64, &[Segment]> {
    segments
        .chunk_by(|a, b| a.span == b.span)
        .map(|group| (group[0].span, group))
        .collect()
}

fn tls_phase(s: &Span) -> &'static str {
    match (&*s.name, s.resumed) {
        ("failed", _) => "tls_failed",
        (_, Some(true)) => "tls_resumed",
        (_, Some(false)) => "tls_full",
        (_, None) => "tls_unknown",
    }
}

type Phase = (i64, i64, &'static str);

/// Phases inside each connection and each request, in the order of their spans.
struct Inner(HashMap<i64, Vec<Phase>>);

impl Inner {
    fn of(spans: &[Span]) -> Inner {
        let mut inner: HashMap<i64, Vec<Phase>> = HashMap::new();
        for s in spans {
            let phase = match s.kind {
                kind::TLS_HANDSHAKE => tls_phase(s),
                kind::REQUEST => REQUEST,
                kind::SERVICE => "service",
                kind::POOL_WAIT => "pool_wait",
                kind::SQL => "sql",
                _ => continue,
            };
            let mut up = s.parent;
            while let Some(p) = up {
                let p = &spans[p as usize];
                if p.kind == kind::REQUEST || p.kind == kind::CONNECTION {
                    inner
                        .entry(p.id)
                        .or_default()
                        .push((s.begin_ns, s.end_ns, phase));
                }
                up = p.parent;
            }
        }
        Inner(inner)
    }

    fn phases(&self, s: &Span) -> &[Phase] {
        self.0.get(&s.id).map_or(&[], Vec::as_slice)
    }
}

/// Sums by phase and cause, sorted. `phases` and `pieces` sorted and disjoint; `phases` gapless.
fn partition(
    phases: &[Phase],
    pieces: &[Segment],
    gaps: &[Gap],
    doings: &Doings,
) -> Vec<((&'static str, Cause), i64)> {
    let mut sums: Vec<((&'static str, Cause), i64)> = Vec::new();
    let mut add = |phase: &'static str, cause: Cause, ns: i64| {
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
                    causes(doings.of(p.thread as usize), at, to, |cause, ns| {
                        add(phase, cause, ns)
                    });
                    at = to;
                }
                Some(p) => {
                    let to = p.begin_ns.min(end);
                    let queued = p.queued_ns.unwrap_or(to).clamp(at, to);
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

/// Without any evidence.
fn presumed(phase: &str) -> Cause {
    match phase {
        IDLE => Cause::Idle,
        p if p.starts_with("tls") => Cause::Socket,
        _ => Cause::Other,
    }
}

impl Doings<'_> {
    fn of(&self, thread: usize) -> &[Interval] {
        self.states.get(thread).map_or(&[][..], Vec::as_slice)
    }

    /// Causes of a connection's time between two visits, within `[begin, end)`; `gaps` are its own.
    fn between(
        &self,
        phase: &str,
        begin: i64,
        end: i64,
        gaps: &[Gap],
        mut add: impl FnMut(Cause, i64),
    ) {
        let presumed = presumed(phase);
        if phase == IDLE {
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
        intervals(self.of(thread), begin, end, |i, ns| {
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

/// The causes of one thread within `[begin, end)`, unknown where the thread has no state.
fn causes(states: &[Interval], begin: i64, end: i64, mut add: impl FnMut(Cause, i64)) {
    intervals(states, begin, end, |i, ns| {
        add(i.map_or(Cause::Unknown, |i| i.cause), ns);
    });
}

/// The intervals of one thread within `[begin, end)`, and the time of each in it; none where the
/// thread has no state.
fn intervals<'a>(
    states: &'a [Interval],
    begin: i64,
    end: i64,
    mut each: impl FnMut(Option<&'a Interval>, i64),
) {
    let mut at = begin;
    let from = states.partition_point(|i| i.end <= begin);
    for i in states[from..].iter().take_while(|i| i.begin < end) {
        let (b, e) = (i.begin.max(at), i.end.min(end));
        each(None, b - at);
        each(Some(i), e - b);
        at = e.max(at);
    }
    each(None, end - at);
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

    fn visit(begin: i64, end: i64, queued: Option<i64>) -> Segment {
        Segment {
            span: 0,
            thread: 0,
            begin_ns: begin,
            end_ns: end,
            queued_ns: queued,
        }
    }

    #[test]
    fn time_in_visits_has_the_threads_cause_and_time_between_them_its_own() {
        let states = vec![vec![
            state(0, 30, Cause::Running),
            state(30, 100, Cause::Socket),
        ]];
        let phases = [(0, 50, "tls_full"), (50, 100, "idle")];
        let visits = [
            visit(10, 20, Some(8)),
            visit(40, 60, Some(35)),
            visit(90, 95, None),
        ];
        let sums = partition(&phases, &visits, &[], &doings(&states));
        use Cause::*;
        assert_eq!(
            sums,
            [
                (("idle", Socket), 15),
                (("idle", Idle), 35),
                (("tls_full", Running), 10),
                (("tls_full", Socket), 8 + 15 + 10),
                (("tls_full", Queue), 2 + 5),
            ]
        );
    }

    #[test]
    fn a_thread_without_states_is_unknown() {
        let sums = partition(
            &[(0, 10, "request")],
            &[visit(0, 10, None)],
            &[],
            &doings(&[]),
        );
        assert_eq!(sums, [(("request", Cause::Unknown), 10)]);
    }

    const IN_POLL: u16 = 7;

    /// Thread 0 serves; thread 1 polls.
    fn doings(states: &[Vec<Interval>]) -> Doings<'_> {
        Doings {
            states,
            pollers: &[false, true],
            polls: &|i| i.syscall == IN_POLL,
        }
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
            let mut sums = partition(&[(10, 70, phase)], &pieces, &gaps, &doings(&states));
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
        assert_eq!(sums("tls_full", With::Thread(1)), shared);
        assert_eq!(sums("request", With::Thread(1)), shared);
        // Queued by a thread that polls nothing: something else was waited for.
        let of_other = [(Queue, 10), (Other, 50)];
        assert_eq!(sums("request", With::Thread(0)), [(Queue, 10), (Other, 50)]);
        let states = [vec![of(State::Running, 0, 80, Running, 0)], vec![]];
        let gaps = [gap(10, 60, With::Thread(0))];
        let sums = partition(&[(10, 70, "tls_full")], &pieces, &gaps, &doings(&states));
        assert_eq!(
            sums.iter().map(|s| (s.0.1, s.1)).collect::<Vec<_>>(),
            of_other
        );
    }

    #[test]
    fn between_the_guards_marks_a_handshake_waits_for_its_turn() {
        let gaps = [gap(10, 50, With::Admission)];
        let pieces = [visit(0, 10, None), visit(70, 80, Some(60))];
        let phases = [(10, 70, "tls_full")];
        let sums = partition(&phases, &pieces, &gaps, &doings(&[]));
        let of = |cause| (("tls_full", cause), 10);
        assert_eq!(
            sums,
            [
                of(Cause::Socket),
                (("tls_full", Cause::Admission), 40),
                of(Cause::Queue)
            ]
        );
    }
}
