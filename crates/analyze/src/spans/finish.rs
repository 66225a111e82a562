//! The end of the recording, nesting made true, and the pieces of handshakes and requests.

use loadline_trace::tables::{Segment, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Builder, Output, kind};

impl Builder<'_> {
    /// Cuts what is open, and puts everything in order.
    pub fn finish(mut self) -> Output {
        let end = self.cx.end;
        self.at_the_end = true;
        let mut keys: Vec<u64> = self.connections.keys().copied().collect();
        keys.sort_unstable_by_key(|k| self.connections[k].span);
        for key in keys {
            let thread = self.spans[self.connections[&key].span as usize].thread as u32;
            // What was heard of a connection after its end ends where it was last heard of.
            let end = self.connections[&key].reborn_until().unwrap_or(end);
            self.end_connection(key, thread, end, false);
        }
        let working: Vec<(u32, super::Request)> = self
            .actors
            .iter_mut()
            .zip(0..)
            .filter_map(|(a, thread)| Some((thread, a.request.take()?)))
            .collect();
        for (thread, r) in working {
            self.piece(r, thread, end); // outside any visit that was seen
        }
        for id in 0..self.spans.len() as u32 {
            let thread = self.spans[id as usize].thread as u32;
            self.close(id, thread, end, false);
        }
        for s in &mut self.spans {
            // Cut to the recording: how much of it came before is not in the trace.
            s.complete &= s.begin_ns > self.cx.begin;
        }
        nest(&mut self.spans);
        mark_what_began_unseen(&mut self.spans);
        let pieces = pieces_of_requests(self.pieces, &self.spans);
        let visits = without_overlap(self.visits.clone());
        let mut segments = pieces_of_handshakes(&self.spans, &visits);
        for group in pieces.chunk_by(|a, b| a.span == b.span) {
            if !is_whole(group, &self.spans[group[0].span as usize]) {
                segments.extend_from_slice(group);
            }
        }
        segments.extend(self.visits);
        self.gaps.sort_by_key(|g| (g.connection, g.begin));
        without_what_lies_outside(
            Output {
                spans: self.spans,
                segments,
                visits,
                pieces,
                gaps: self.gaps,
            },
            self.cx.begin,
            end,
        )
    }
}

/// Drops the spans that ended before the recording began, or began after it ended: cut to the
/// recording they have no length, and counted they would be requests that nobody recorded.
/// What lies in such a span lies outside too. Ids stay dense.
fn without_what_lies_outside(mut out: Output, begin: i64, end: i64) -> Output {
    let outside = |s: &Span| s.begin_ns == s.end_ns && (s.end_ns == begin || s.begin_ns == end);
    let mut ids = Vec::with_capacity(out.spans.len()); // old id to new
    let mut kept = 0;
    for s in &out.spans {
        ids.push((!outside(s)).then_some(kept));
        kept += i64::from(!outside(s));
    }
    if kept == out.spans.len() as i64 {
        return out;
    }
    let new = |id: i64| ids[id as usize];
    out.spans.retain_mut(|s| {
        s.parent = s.parent.and_then(new);
        s.connection = s.connection.and_then(new);
        new(s.id).map(|id| s.id = id).is_some()
    });
    for list in [&mut out.segments, &mut out.visits, &mut out.pieces] {
        list.retain_mut(|p| new(p.span).map(|id| p.span = id).is_some());
    }
    out.gaps
        .retain_mut(|g| new(g.connection).map(|id| g.connection = id).is_some());
    out
}

/// Whether it is made in a request, where requests are seen.
fn is_call(s: &Span) -> bool {
    matches!(s.kind, kind::SERVICE | kind::POOL_WAIT | kind::SQL)
}

/// Moves each span up to the nearest ancestor that it lies in; a call that was cut is cut to the
/// request that it was made in. What lies in no connection belongs to none. Parents come before their children, so one pass is enough.
fn nest(spans: &mut [Span]) {
    for at in 0..spans.len() {
        if is_call(&spans[at])
            && !spans[at].complete
            && let Some(p) = spans[at].parent
        {
            let within = spans[p as usize].end_ns;
            if within < spans[at].end_ns {
                spans[at].end_ns = within.max(spans[at].begin_ns);
                spans[at].open = false;
            }
        }
        let (begin, end) = (spans[at].begin_ns, spans[at].end_ns);
        let mut parent = spans[at].parent;
        while let Some(p) = parent {
            let p = &spans[p as usize];
            if p.begin_ns <= begin && end <= p.end_ns {
                break;
            }
            parent = p.parent;
        }
        spans[at].parent = parent;
        spans[at].connection = parent.and_then(|p| match spans[p as usize].kind {
            kind::CONNECTION => Some(p),
            _ => spans[p as usize].connection,
        });
    }
}

/// A call in no request, on a thread that serves requests, was made in one whose begin came before the
/// probes were placed: it is true in itself, and part of something that is not complete.
fn mark_what_began_unseen(spans: &mut [Span]) {
    let serving: FxHashSet<i64> = spans
        .iter()
        .filter(|s| s.kind == kind::REQUEST)
        .map(|s| s.thread)
        .collect();
    for at in 0..spans.len() {
        let s = &spans[at];
        let inside = match s.parent.map(|p| &spans[p as usize]) {
            Some(p) => p.kind != kind::CONNECTION,
            None => false,
        };
        if is_call(s) && !inside && serving.contains(&s.thread) {
            spans[at].complete = false;
        }
    }
}

/// Visits of one connection made to follow each other: a later one begins where the one before
/// ended. Sorted by connection and begin.
pub fn without_overlap(mut visits: Vec<Segment>) -> Vec<Segment> {
    visits.sort_by_key(|v| (v.span, v.begin_ns, v.end_ns));
    for at in 1..visits.len() {
        let (before, v) = visits.split_at_mut(at);
        let (before, v) = (&before[at - 1], &mut v[0]);
        if before.span == v.span {
            v.begin_ns = v.begin_ns.max(before.end_ns);
            v.end_ns = v.end_ns.max(v.begin_ns);
        }
    }
    visits
}

/// Pieces cut to their requests, without those that are empty then.
fn pieces_of_requests(pieces: Vec<Segment>, spans: &[Span]) -> Vec<Segment> {
    let mut pieces = without_overlap(pieces);
    for p in &mut pieces {
        let s = &spans[p.span as usize];
        p.begin_ns = p.begin_ns.clamp(s.begin_ns, s.end_ns);
        p.end_ns = p.end_ns.clamp(p.begin_ns, s.end_ns);
        p.queued_ns = p.queued_ns.filter(|&q| q >= s.begin_ns);
    }
    pieces.retain(|p| p.end_ns > p.begin_ns);
    pieces
}

/// Whether one thread, the span's own, worked on it from its begin to its end: that needs no segment.
fn is_whole(pieces: &[Segment], s: &Span) -> bool {
    matches!(pieces, [p] if (p.thread, p.begin_ns, p.end_ns) == (s.thread, s.begin_ns, s.end_ns))
}

/// Handshakes are worked on in their connections' visits.
fn pieces_of_handshakes(spans: &[Span], visits: &[Segment]) -> Vec<Segment> {
    let of = by_span(visits);
    let mut out = Vec::new();
    for s in spans.iter().filter(|s| s.kind == kind::TLS_HANDSHAKE) {
        let visits = s
            .connection
            .and_then(|c| of.get(&c).copied())
            .unwrap_or_default();
        out.extend(
            within(visits, s.begin_ns, s.end_ns)
                .into_iter()
                .map(|v| Segment { span: s.id, ..v }),
        );
    }
    out
}

/// Groups of segments that are sorted by span.
pub fn by_span(segments: &[Segment]) -> FxHashMap<i64, &[Segment]> {
    segments
        .chunk_by(|a, b| a.span == b.span)
        .map(|group| (group[0].span, group))
        .collect()
}

/// The parts of sorted, disjoint visits that lie within `[begin, end)`.
pub fn within(visits: &[Segment], begin: i64, end: i64) -> Vec<Segment> {
    let from = visits.partition_point(|v| v.end_ns <= begin);
    visits[from..]
        .iter()
        .take_while(|v| v.begin_ns < end)
        .filter(|v| v.end_ns > v.begin_ns)
        .map(|v| Segment {
            begin_ns: v.begin_ns.max(begin),
            end_ns: v.end_ns.min(end),
            queued_ns: v.queued_ns.filter(|&q| q >= begin && v.begin_ns >= begin),
            ..v.clone()
        })
        .collect()
}
