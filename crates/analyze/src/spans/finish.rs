//! The end of the recording, nesting made true, and the pieces of handshakes and requests.

use rustc_hash::FxHashSet;

use super::gaps::Gap;
use super::{Builder, Kind, Output, Part, Span};
use crate::bounded::{List, Room, Sorter};
use crate::intervals::Places;
use crate::model::NONE;

impl Builder<'_> {
    /// Cuts what is open, and puts everything in order.
    pub fn finish(mut self) -> Output {
        let (end, room) = (self.cx.end, self.cx.room);
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
            self.spans.pace(id as usize);
            let thread = self.spans[id as usize].thread;
            self.close(id, thread, end, false);
            // Cut to the recording: how much of it came before is not in the trace.
            let s = &mut self.spans[id as usize];
            s.complete &= s.begin_ns > self.cx.begin;
        }
        let mut spans = self.spans;
        nest(&mut spans);
        mark_what_began_unseen(&mut spans);
        let pieces = pieces_of_requests(&self.pieces, &spans, room);
        drop(self.pieces);
        let visits = without_overlap(&self.visits, room);
        let mut segments = List::new(room);
        pieces_of_handshakes(&spans, &visits, &mut segments);
        let (mut at, mut groups) = (0, 0);
        while let Some(p) = pieces.get(at) {
            groups += 1;
            pieces.pace(groups);
            spans.pace(groups);
            let group = &pieces[at..];
            let group = &group[..group.iter().take_while(|q| q.span == p.span).count()];
            at += group.len();
            if !is_whole(group, &spans[p.span as usize]) {
                segments.extend_from_slice(group);
            }
        }
        untouched(&spans, &pieces, &mut segments);
        if self.has_asked {
            pieces_of_asked(&spans, &pieces, &mut segments);
        }
        segments.extend(paced(&self.visits));
        drop(self.visits);
        let mut gaps = List::new(room);
        let mut by_connection = Sorter::new(room, |g: &Gap| (g.connection, g.begin));
        by_connection.extend(paced(&self.gaps));
        gaps.extend(by_connection.sorted());
        let methods = self.methods.finish(&spans);
        let out = Output {
            spans,
            names: self.names,
            segments,
            visits,
            pieces,
            gaps,
            has_asked: self.has_asked,
            methods,
        };
        without_what_lies_outside(out, self.cx.begin, end, room)
    }
}

/// A walk over a list.
fn paced<T: Copy>(list: &List<T>) -> impl Iterator<Item = T> {
    (0..list.len()).map(|at| {
        list.pace(at);
        list[at]
    })
}

/// Drops the spans that ended before the recording began, or began after it ended: cut to the
/// recording they have no length, and counted they would be requests that nobody recorded.
/// What lies in such a span lies outside too. Ids stay dense.
fn without_what_lies_outside(mut out: Output, begin: i64, end: i64, room: &Room) -> Output {
    let outside = |s: &Span| s.begin_ns == s.end_ns && (s.end_ns == begin || s.begin_ns == end);
    if !paced(&out.spans).any(|s| outside(&s)) {
        return out;
    }
    let mut ids = List::new(room); // old id to new
    let mut kept = 0;
    for s in paced(&out.spans) {
        ids.push(if outside(&s) { NONE } else { kept });
        kept += u32::from(!outside(&s));
    }
    let new = |id: u32| Some(ids[id as usize]).filter(|id| *id != NONE);
    out.spans.retain_mut(|s| {
        let keep = !outside(s);
        if keep {
            s.renumber(new);
        }
        keep
    });
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
    matches!(
        s.kind,
        Kind::Service | Kind::PoolWait | Kind::Sql | Kind::Call | Kind::Asked
    )
}

/// Moves each span up to the nearest ancestor that it lies in; a call that was cut is cut to the
/// request that it was made in. What lies in no connection belongs to none. Parents come before their children, so one pass is enough.
fn nest(spans: &mut List<Span>) {
    for at in 0..spans.len() {
        spans.pace(at);
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
fn mark_what_began_unseen(spans: &mut List<Span>) {
    let serving: FxHashSet<u32> = paced(spans)
        .filter(|s| s.kind == Kind::Request)
        .map(|s| s.thread)
        .collect();
    for at in 0..spans.len() {
        spans.pace(at);
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
fn without_overlap(visits: &List<Part>, room: &Room) -> List<Part> {
    let mut by_span = Sorter::new(room, |v: &Part| (v.span, v.begin_ns, v.end_ns));
    by_span.extend(paced(visits));
    let mut out: List<Part> = List::new(room);
    for mut v in by_span.sorted() {
        if let Some(before) = out.last().filter(|before| before.span == v.span) {
            v.begin_ns = v.begin_ns.max(before.end_ns);
            v.end_ns = v.end_ns.max(v.begin_ns);
        }
        out.push(v);
    }
    out
}

/// Pieces cut to their requests, without those that are empty then.
fn pieces_of_requests(pieces: &List<Part>, spans: &List<Span>, room: &Room) -> List<Part> {
    let mut pieces = without_overlap(pieces, room);
    let mut seen = 0;
    pieces.retain_mut(|p| {
        spans.pace(seen);
        seen += 1;
        let s = &spans[p.span as usize];
        p.begin_ns = p.begin_ns.clamp(s.begin_ns, s.end_ns);
        p.end_ns = p.end_ns.clamp(p.begin_ns, s.end_ns);
        p.not_queued_before(s.begin_ns);
        p.end_ns > p.begin_ns
    });
    pieces
}

/// Of each request that nobody worked on once it had begun (its visit ended in the same moment, and it with its
/// connection), a part without length: one that has no segment was its thread's from begin to end.
fn untouched(spans: &List<Span>, pieces: &List<Part>, out: &mut List<Part>) {
    let mut touched = paced(pieces).map(|p| p.span).peekable(); // sorted
    for (s, id) in paced(spans).zip(0..) {
        if s.kind == Kind::Request && s.end_ns > s.begin_ns {
            while touched.next_if(|t| *t < id).is_some() {}
            if touched.peek() != Some(&id) {
                out.push(Part::new(id, s.thread, s.begin_ns, s.begin_ns, None));
            }
        }
    }
}

/// A call whose answer comes to whichever thread lies where its request was worked on meanwhile, if anywhere. In no request, it
/// has no segment: it was its thread's.
fn pieces_of_asked(spans: &List<Span>, pieces: &List<Part>, out: &mut List<Part>) {
    let of = BySpan::new(pieces, |p| p.span);
    for (s, id) in paced(spans).zip(0..) {
        if s.kind != Kind::Asked {
            continue;
        }
        let Some(request) = request_around(spans, &s) else {
            continue;
        };
        let mut own = within(of.get(request), s.begin_ns, s.end_ns);
        if own.is_empty() {
            own.push(Part::new(id, s.thread, s.begin_ns, s.begin_ns, None));
        }
        for p in own {
            out.push(Part::new(id, p.thread, p.begin_ns, p.end_ns, None));
        }
    }
}

/// The request that a span lies in.
fn request_around(spans: &[Span], s: &Span) -> Option<u32> {
    let mut up = s.parent();
    while let Some(p) = up {
        let outer = &spans[p as usize];
        if outer.kind == Kind::Request {
            return Some(p);
        }
        up = outer.parent();
    }
    None
}

/// Whether one thread, the span's own, worked on it from its begin to its end: that needs no segment.
fn is_whole(pieces: &[Part], s: &Span) -> bool {
    matches!(pieces, [p] if (p.thread, p.begin_ns, p.end_ns) == (s.thread, s.begin_ns, s.end_ns))
}

/// After so many handshakes the pages of the visits that they were looked up in are let go.
const LET_GO_AFTER: u32 = 4096;

/// Handshakes are worked on in their connections' visits.
fn pieces_of_handshakes(spans: &List<Span>, visits: &List<Part>, out: &mut List<Part>) {
    let of = BySpan::new(visits, |v| v.span);
    let mut handshakes = 0;
    for (s, id) in paced(spans).zip(0..) {
        if s.kind == Kind::TlsHandshake
            && let Some(connection) = s.connection()
        {
            handshakes += 1;
            if handshakes % LET_GO_AFTER == 0 {
                visits.let_go();
            }
            let visits = within(of.get(connection), s.begin_ns, s.end_ns);
            visits.into_iter().for_each(|v| out.push(v.of(id)));
        }
    }
}

/// Groups of items that are sorted by span; to ask for them in about the order of spans is quick.
pub struct BySpan<'a, T> {
    items: &'a [T],
    span: fn(&T) -> u32,
    places: Places,
}

impl<'a, T> BySpan<'a, T> {
    /// `span` tells whose an item is.
    pub fn new(items: &'a [T], span: fn(&T) -> u32) -> BySpan<'a, T> {
        BySpan {
            items,
            span,
            places: Places::new(2),
        }
    }

    /// The items of a span.
    pub fn get(&self, span: u32) -> &'a [T] {
        let of = self.span;
        let begin = self.places.first(0, self.items, |i| of(i) >= span);
        let end = self.places.first(1, self.items, |i| of(i) > span);
        &self.items[begin..end]
    }
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
