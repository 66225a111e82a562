//! The chunks of a spool, and their events as one stream in the order of time, without holding them all.
//!
//! A chunk is one writer's, and in the order of time but for an event that was made within another. It is opened
//! when the stream has come to its earliest event, so that about as many are open as there are writers. Events of one
//! time come in the order in which their chunks were claimed.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::slice::ChunksExact;

use crate::spool::frames::{self, Frame};

use super::{CHUNK, CHUNK_MAGIC, EVENT, Event, chunk_at, chunk_kind, event, u32_at, u64_at};

/// What lies in a spool.
#[derive(Debug, Default)]
pub struct Chunks<'a> {
    /// By earliest event, then by claim.
    events: Vec<Chunk<'a>>,
    strings: Vec<&'a [u8]>,
    frames: Vec<&'a [u8]>,
}

/// A chunk of events.
#[derive(Debug)]
struct Chunk<'a> {
    /// Those that were written.
    bytes: &'a [u8],
    tid: u32,
    earliest: i64,
    latest: i64,
    /// Its place among all chunks, by claim.
    claim: u32,
    in_order: bool,
    kinds: Kinds,
}

/// A set of kinds of events; of those from 127 on one stands for all.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u128);

impl Kinds {
    /// Whatever there is.
    pub const ALL: Kinds = Kinds(u128::MAX);

    /// These.
    pub fn of(kinds: &[u32]) -> Kinds {
        kinds.iter().fold(Kinds::default(), |mut set, kind| {
            set.add(*kind);
            set
        })
    }

    fn add(&mut self, kind: u32) {
        self.0 |= 1 << kind.min(127);
    }

    fn has(self, kind: u32) -> bool {
        (self.0 >> kind.min(127)) & 1 > 0
    }
}

impl<'a> Chunks<'a> {
    /// Of a spool's bytes, header included.
    pub fn of(spool: &'a [u8]) -> Chunks<'a> {
        Chunks::read(spool, &mut || {})
    }

    /// The same; `read` is called for each chunk that is looked at, twice for all of them.
    pub fn read(spool: &'a [u8], read: &mut dyn FnMut()) -> Chunks<'a> {
        let mut claimed: Vec<(Option<u64>, &[u8])> = spool
            .get(CHUNK..)
            .unwrap_or_default()
            .chunks(CHUNK)
            // Else claimed by a thread that died before it wrote, or never claimed.
            .filter_map(|chunk| {
                read();
                let is_chunk = u32_at(chunk, 0) == Some(CHUNK_MAGIC);
                is_chunk.then(|| (u64_at(chunk, chunk_at::PLACE), chunk))
            })
            .collect();
        claimed.sort_by_key(|chunk| chunk.0); // stable: early versions have them as they lie
        let mut chunks = Chunks::default();
        for (claim, (_, bytes)) in (0..).zip(claimed) {
            read();
            match u32_at(bytes, chunk_at::KIND) {
                Some(chunk_kind::EVENTS) => chunks.events.extend(Chunk::of(bytes, claim)),
                Some(chunk_kind::STRINGS) => chunks.strings.push(bytes),
                Some(chunk_kind::FRAMES) => chunks.frames.push(bytes),
                _ => {}
            }
        }
        chunks
            .events
            .sort_unstable_by_key(|c| (c.earliest, c.claim));
        chunks
    }

    /// The events, by time; those of one writer and one time keep their order.
    pub fn events(&self) -> Events<'_> {
        self.some(i64::MIN, Kinds::ALL)
    }

    /// Of the events from `since` on those of these kinds, and of each chunk the first, of whatever kind. A chunk without any
    /// of these kinds is not read any further.
    pub fn some(&self, since: i64, kinds: Kinds) -> Events<'_> {
        Events {
            since,
            kinds,
            waiting: &self.events,
            open: Vec::new(),
            closed: Vec::new(),
            heads: BinaryHeap::new(),
        }
    }

    /// When the last event was, if there is one.
    pub fn latest(&self) -> Option<i64> {
        self.events.iter().map(|c| c.latest).max()
    }

    /// Frames of stacks, in the order in which they were written.
    pub fn frames(&self) -> Vec<Frame> {
        let mut read = Vec::new();
        for chunk in &self.frames {
            frames::read(chunk, &mut read);
        }
        read
    }

    /// Texts by id.
    pub fn strings(&self) -> HashMap<u32, String> {
        let mut strings = HashMap::new();
        for chunk in &self.strings {
            read_strings(chunk, &mut strings);
        }
        strings
    }
}

impl<'a> Chunk<'a> {
    /// `None` if nothing was written.
    fn of(bytes: &'a [u8], claim: u32) -> Option<Chunk<'a>> {
        let tid = u32_at(bytes, chunk_at::TID).unwrap_or(0);
        let bytes = bytes.get(EVENT..).unwrap_or_default();
        let (mut earliest, mut latest, mut in_order, mut written) = (i64::MAX, i64::MIN, true, 0);
        let mut kinds = Kinds::default();
        for e in bytes.chunks_exact(EVENT) {
            match u32_at(e, 8)? {
                0 => break,
                kind => kinds.add(kind),
            }
            let ts = u64_at(e, 0)? as i64;
            in_order &= ts >= latest;
            (earliest, latest) = (earliest.min(ts), latest.max(ts));
            written += EVENT;
        }
        (written > 0).then(|| Chunk {
            bytes: &bytes[..written],
            tid,
            earliest,
            latest,
            claim,
            in_order,
            kinds,
        })
    }

    /// Its events from `since` on: the first, then those of these kinds.
    fn open(&self, since: i64, kinds: Kinds) -> Option<(Open<'a>, Event)> {
        let mut events = self.all();
        let first = loop {
            let e = events.next(Kinds::ALL)?;
            if e.ts >= since {
                break e;
            }
        };
        if self.kinds.0 & kinds.0 == 0 {
            events = Open::Sorted(Vec::new().into_iter());
        }
        Some((events, first))
    }

    fn all(&self) -> Open<'a> {
        let events = Written {
            bytes: self.bytes.chunks_exact(EVENT),
            tid: self.tid,
            virtual_id: 0,
        };
        if self.in_order {
            return Open::AsWritten(events);
        }
        let mut events: Vec<Event> = events.collect();
        events.sort_by_key(|e| e.ts);
        Open::Sorted(events.into_iter())
    }
}

/// Events of one chunk, as they were written.
struct Written<'a> {
    bytes: ChunksExact<'a, u8>,
    tid: u32,
    virtual_id: u64,
}

impl Iterator for Written<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        event(self.bytes.next()?, self.tid, &mut self.virtual_id)
    }
}

/// What is left of a chunk that was begun.
enum Open<'a> {
    AsWritten(Written<'a>),
    Sorted(std::vec::IntoIter<Event>),
}

impl Open<'_> {
    /// The next of these kinds.
    #[inline]
    fn next(&mut self, kinds: Kinds) -> Option<Event> {
        match self {
            Open::AsWritten(events) => events.find(|e| kinds.has(e.kind)),
            Open::Sorted(events) => events.find(|e| kinds.has(e.kind)),
        }
    }
}

/// The next event of an open chunk; they compare by when they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    ts: i64,
    claim: u32,
    /// Index into `open`.
    of: u32,
}

/// See [`Chunks::events`].
pub struct Events<'a> {
    since: i64,
    kinds: Kinds,
    waiting: &'a [Chunk<'a>],
    /// Chunks that were begun, each with its next event.
    open: Vec<(Open<'a>, Event)>,
    /// Places in `open` that can be taken again.
    closed: Vec<u32>,
    heads: BinaryHeap<Reverse<Head>>,
}

impl Events<'_> {
    fn begin_next_chunk(&mut self) {
        let Some((chunk, waiting)) = self.waiting.split_first() else {
            return;
        };
        self.waiting = waiting;
        let Some((events, first)) = chunk.open(self.since, self.kinds) else {
            return;
        };
        let of = match self.closed.pop() {
            Some(of) => {
                self.open[of as usize] = (events, first);
                of
            }
            None => {
                self.open.push((events, first));
                self.open.len() as u32 - 1
            }
        };
        self.heads.push(Reverse(Head {
            ts: first.ts,
            claim: chunk.claim,
            of,
        }));
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while let Some(next) = self.waiting.first()
            && self.heads.peek().is_none_or(|h| next.earliest <= h.0.ts)
        {
            self.begin_next_chunk();
        }
        let mut head = self.heads.peek_mut()?;
        let (rest, event) = &mut self.open[head.0.of as usize];
        let taken = *event;
        match rest.next(self.kinds) {
            Some(following) => {
                *event = following;
                head.0.ts = following.ts;
            }
            None => {
                self.closed.push(head.0.of);
                PeekMut::pop(head);
            }
        }
        Some(taken)
    }
}

fn read_strings(chunk: &[u8], strings: &mut HashMap<u32, String>) {
    let mut at = EVENT;
    while let (Some(id), Some(len)) = (u32_at(chunk, at), u32_at(chunk, at + 4)) {
        let end = at + 8 + len as usize;
        if id == 0 || end > chunk.len() {
            return;
        }
        strings.insert(
            id,
            String::from_utf8_lossy(&chunk[at + 8..end]).into_owned(),
        );
        at = end.next_multiple_of(8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::agent::{chunks_of, kind};

    fn event(ts: i64, tid: u32, a: u64) -> Event {
        Event {
            ts,
            kind: kind::APP_EVENT,
            a,
            b: 0,
            c: 0,
            tid,
            virtual_id: 0,
        }
    }

    #[test]
    fn the_stream_is_what_sorting_all_chunks_by_time_gives() {
        // Three writers in chunks of their own, the second time claimed in another order; one is not in order itself.
        let mut spool = vec![0; CHUNK];
        let mut all = Vec::new();
        for (claim, tid, times) in [
            (0, 1, vec![10, 20, 20, 40]),
            (1, 2, vec![20, 15, 30]),
            (2, 3, vec![5, 20]),
            (3, 2, vec![30, 31]),
            (4, 1, vec![40, 90]),
        ] {
            let events: Vec<Event> = (0..).zip(times).map(|(n, ts)| event(ts, tid, n)).collect();
            spool.extend(chunks_of(&events, claim));
            all.extend(events);
        }
        all.sort_by_key(|e| e.ts);
        let chunks = Chunks::of(&spool);
        assert_eq!(chunks.events().collect::<Vec<_>>(), all);
        assert_eq!(chunks.latest(), Some(90));
    }

    #[test]
    fn some_events_are_those_of_their_kinds_and_each_chunks_first() {
        let of = |ts, kind, tid| Event {
            kind,
            ..event(ts, tid, 0)
        };
        let mut spool = vec![0; CHUNK];
        let chunk = |events: &[Event], claim| chunks_of(events, claim);
        spool.extend(chunk(
            &[
                of(1, kind::PARK, 1),
                of(2, kind::MOUNT, 1),
                of(9, kind::PARK, 1),
            ],
            0,
        ));
        spool.extend(chunk(&[of(4, kind::APP_POP, 2), of(5, kind::PARK, 2)], 1));
        // Not in order, and across the time from which on events are asked for.
        spool.extend(chunk(
            &[
                of(8, kind::PARK, 3),
                of(3, kind::MOUNT, 3),
                of(6, kind::MOUNT, 3),
            ],
            2,
        ));
        let chunks = Chunks::of(&spool);
        let told = |since| -> Vec<(i64, u32)> {
            let some = chunks.some(since, Kinds::of(&[kind::MOUNT]));
            some.map(|e| (e.ts, e.tid)).collect()
        };
        assert_eq!(told(0), [(1, 1), (2, 1), (3, 3), (4, 2), (6, 3)]);
        assert_eq!(told(4), [(4, 2), (6, 3), (9, 1)]);
        assert!(told(10).is_empty());
    }
}
