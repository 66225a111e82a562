//! The end of the recording, nesting made true, and the pieces of handshakes and requests.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Builder, Kind, Output, Part, Span};

impl Builder<'_> {
    /// Cuts what is open, and puts everything in order.
    pub fn finish(mut self) -> Output {
        let end = self.cx.end;
        self.at_the_end = true;
        let mut keys: Vec<u64> = self.connections.keys().copied().collect();
        keys.sort_unstable_by_key(|k| self.connections[k].span);
        for key in keys {
            let thread = self.spans[self.connections[&key].span as usize].thread;
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
            let thread = self.spans[id as usize].thread;
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
        segments.extend(untouched(&self.spans, &pieces));
        segments.extend(self.visits);
        self.gaps.sort_by_key(|g| (g.connection, g.begin));
        let methods = self.methods.finish(&self.spans);
        without_what_lies_outside(
            Output {
                spans: self.spans,
                names: self.names,
                segments,
                visits,
                pieces,
                gaps: self.gaps,
                methods,
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
        kept += u32::from(!outside(s));
    }
    if kept as usize == out.spans.len() {
        return out;
    }
    out.spans.retain(|s| !outside(s));
    for s in &mut out.spans {
        s.renumber(|id| ids[id as usize]);
    }
    let new = |id: u32| ids[id as usize];
    for list in [&mut out.segments, &mut out.visits, &mut out.pieces] {
        list.retain_mut(|p| new(p.span).map(|id| p.span = id).is_some());
    }
    out.methods.renumber(new);
    out.gaps
        .retain_mut(|g| new(g.connection).map(|id| g.connection = id).is_some());
    out
}

/// Whether it is made in a request, where requests are seen.
fn is_call(s: &Span) -> bool {
    matches!(s.kind, Kind::Service | Kind::PoolWait | Kind::Sql)
}

/// Moves each span up to the nearest ancestor that it lies in; a call that was cut is cut to the
/// request that it was made in. What lies in no connection belongs to none. Parents come before their children, so one pass is enough.
fn nest(spans: &mut [Span]) {
    for at in 0..spans.len() {
        if is_call(&spans[at])
            && !spans[at].complete
            && let Some(p) = spans[at].parent()
        {
            let within = spans[p as usize].end_ns;
            if within < spans[at].end_ns {
                spans[at].end_ns = within.max(spans[at].begin_ns);
                spans[at].open = false;
            }
        }
        let (begin, end) = (spans[at].begin_ns, spans[at].end_ns);
        let mut parent = spans[at].parent();
        while let Some(p) = parent {
            let p = &spans[p as usize];
            if p.begin_ns <= begin && end <= p.end_ns {
                break;
            }
            parent = p.parent();
        }
        let (before, rest) = spans.split_at_mut(at);
        rest[0].put_into(parent, before);
    }
}

/// A call in no request, on a thread that serves requests, was made in one whose begin came before the
/// probes were placed: it is true in itself, and part of something that is not complete.
fn mark_what_began_unseen(spans: &mut [Span]) {
    let serving: FxHashSet<u32> = spans
        .iter()
        .filter(|s| s.kind == Kind::Request)
        .map(|s| s.thread)
        .collect();
    for at in 0..spans.len() {
        let s = &spans[at];
        let inside = match s.parent().map(|p| &spans[p as usize]) {
            Some(p) => p.kind != Kind::Connection,
            None => false,
        };
        if is_call(s) && !inside && serving.contains(&s.thread) {
            spans[at].complete = false;
        }
    }
}

/// Visits of one connection made to follow each other: a later one begins where the one before
/// ended. Sorted by connection and begin.
pub fn without_overlap(mut visits: Vec<Part>) -> Vec<Part> {
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
fn pieces_of_requests(pieces: Vec<Part>, spans: &[Span]) -> Vec<Part> {
    let mut pieces = without_overlap(pieces);
    for p in &mut pieces {
        let s = &spans[p.span as usize];
        p.begin_ns = p.begin_ns.clamp(s.begin_ns, s.end_ns);
        p.end_ns = p.end_ns.clamp(p.begin_ns, s.end_ns);
        p.not_queued_before(s.begin_ns);
    }
    pieces.retain(|p| p.end_ns > p.begin_ns);
    pieces
}

/// Of each request that nobody worked on once it had begun (its visit ended in the same moment, and it with its
/// connection), a part without length: one that has no segment was its thread's from begin to end.
fn untouched(spans: &[Span], pieces: &[Part]) -> Vec<Part> {
    let touched: FxHashSet<u32> = pieces.iter().map(|p| p.span).collect();
    let alone = |(s, id): &(&Span, u32)| {
        s.kind == Kind::Request && s.end_ns > s.begin_ns && !touched.contains(id)
    };
    let requests = spans.iter().zip(0..).filter(alone);
    requests
        .map(|(s, id)| Part::new(id, s.thread, s.begin_ns, s.begin_ns, None))
        .collect()
}

/// Whether one thread, the span's own, worked on it from its begin to its end: that needs no segment.
fn is_whole(pieces: &[Part], s: &Span) -> bool {
    matches!(pieces, [p] if (p.thread, p.begin_ns, p.end_ns) == (s.thread, s.begin_ns, s.end_ns))
}

/// Handshakes are worked on in their connections' visits.
fn pieces_of_handshakes(spans: &[Span], visits: &[Part]) -> Vec<Part> {
    let of = by_span(visits);
    let mut out = Vec::new();
    let handshakes = spans
        .iter()
        .zip(0..)
        .filter(|(s, _)| s.kind == Kind::TlsHandshake);
    for (s, id) in handshakes {
        let visits = s
            .connection()
            .and_then(|c| of.get(&c).copied())
            .unwrap_or_default();
        out.extend(
            within(visits, s.begin_ns, s.end_ns)
                .into_iter()
                .map(|v| v.of(id)),
        );
    }
    out
}

/// Groups of segments that are sorted by span.
pub fn by_span(segments: &[Part]) -> FxHashMap<u32, &[Part]> {
    segments
        .chunk_by(|a, b| a.span == b.span)
        .map(|group| (group[0].span, group))
        .collect()
}

/// The parts of sorted, disjoint visits that lie within `[begin, end)`.
pub fn within(visits: &[Part], begin: i64, end: i64) -> Vec<Part> {
    let from = visits.partition_point(|v| v.end_ns <= begin);
    visits[from..]
        .iter()
        .take_while(|v| v.begin_ns < end)
        .filter(|v| v.end_ns > v.begin_ns)
        .map(|v| {
            let from = v.begin_ns.max(begin);
            // One that began before was queued before, too.
            let queued = v.queued_ns().filter(|&q| q >= begin && v.begin_ns >= begin);
            Part::new(v.span, v.thread, from, v.end_ns.min(end), queued)
        })
        .collect()
}
