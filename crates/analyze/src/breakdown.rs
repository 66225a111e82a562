//! Where the time of connections, handshakes and requests went: a partition by phase and cause.
//!
//! The *phase* at a moment is the innermost of handshake, request, service, pool wait and
//! statement that is open on the connection; idle if none is. The *cause* is that of the thread
//! which serves the connection at that moment. Between two visits no thread does: the time from
//! the queueing of the connection to the next visit is `queue`, and what is before that is
//! waiting: for the peer inside a handshake (`socket`), for whoever suspended it inside a request
//! (`other`), and for nothing in particular elsewhere (`idle`).
//!
//! Invariant: the durations of a span's rows add up to the span's.

use std::collections::HashMap;

use loadline_trace::tables::{Breakdown, Segment, Span};

use crate::intervals::flatten;
use crate::model::{Cause, Interval};
use crate::spans::finish::{within, without_overlap};
use crate::spans::{Output, kind};

const REQUEST: &str = "request";
const IDLE: &str = "idle";

/// Hands on the rows of every connection, handshake and request, by span, until one is refused.
pub fn rows<E>(
    from: &Output,
    states: &[Vec<Interval>],
    mut out: impl FnMut(Breakdown) -> Result<(), E>,
) -> Result<(), E> {
    let spans = &from.spans;
    let inner = Inner::of(spans);
    let is_visit = |s: &&Segment| spans[s.span as usize].kind == kind::CONNECTION;
    let visits = without_overlap(from.segments.iter().filter(is_visit).cloned().collect());
    let visits = by_span(&visits);
    let of_requests = by_span(&from.pieces);
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
        for ((phase, cause), duration_ns) in partition(&phases, &pieces, states) {
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
    states: &[Vec<Interval>],
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
                    let of = states.get(p.thread as usize).map_or(&[][..], Vec::as_slice);
                    causes(of, at, to, |cause, ns| add(phase, cause, ns));
                    at = to;
                }
                Some(p) => {
                    let to = p.begin_ns.min(end);
                    let queued = p.queued_ns.unwrap_or(to).clamp(at, to);
                    add(phase, between_visits(phase), queued - at);
                    add(phase, Cause::Queue, to - queued);
                    at = to;
                }
                None => {
                    add(phase, between_visits(phase), end - at);
                    at = end;
                }
            }
        }
    }
    sums.sort_unstable();
    sums
}

fn between_visits(phase: &str) -> Cause {
    match phase {
        IDLE => Cause::Idle,
        p if p.starts_with("tls") => Cause::Socket,
        _ => Cause::Other,
    }
}

/// The causes of one thread within `[begin, end)`, unknown where the thread has no state.
fn causes(states: &[Interval], begin: i64, end: i64, mut add: impl FnMut(Cause, i64)) {
    let mut at = begin;
    let from = states.partition_point(|i| i.end <= begin);
    for i in states[from..].iter().take_while(|i| i.begin < end) {
        let (b, e) = (i.begin.max(at), i.end.min(end));
        add(Cause::Unknown, b - at);
        add(i.cause, e - b);
        at = e.max(at);
    }
    add(Cause::Unknown, end - at);
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
        let sums = partition(&phases, &visits, &states);
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
        let sums = partition(&[(0, 10, "request")], &[visit(0, 10, None)], &[]);
        assert_eq!(sums, [(("request", Cause::Unknown), 10)]);
    }
}
