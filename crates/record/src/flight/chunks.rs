//! The chunks of the agent's ring: what in them is older than the horizon, which may come back, and copies.
//!
//! What always holds: a chunk comes back only when all that it says lies before the horizon and nobody writes to it any
//! more: it is full, its writer has left it, or its writer is dead.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use loadline_trace::private;
use loadline_trace::spool::agent::{
    self, CHUNK, CHUNK_MAGIC, EVENT, Event, VERSION, at, chunk_at, chunk_kind, state,
};
use loadline_trace::spool::carry::Carry;
use loadline_trace::spool::frames;

use crate::agent::AgentSpool;
use crate::sys::now_ns;

const EVENTS: usize = CHUNK / EVENT - 1;

/// How far a chunk was read.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    event: usize,
    speaker: u64,
}

struct Live {
    place: u64,
    chunk: u32,
    /// When it was known to be claimed.
    since_ns: i64,
    /// Behind what is older than the horizon.
    folded: Cursor,
    /// Behind what was looked at as it came.
    looked: Cursor,
}

/// The chunks that were claimed, and what was carried on out of those that came back.
pub struct Chunks {
    spool: Arc<AgentSpool>,
    live: Vec<Live>,
    carry: Carry,
}

impl Chunks {
    /// Of a ring.
    pub fn new(spool: Arc<AgentSpool>) -> Chunks {
        Chunks {
            spool,
            live: Vec::new(),
            carry: Carry::new(),
        }
    }

    fn learn(&mut self) {
        let now = now_ns();
        let claimed = self.spool.claimed().into_iter();
        self.live.extend(claimed.map(|(place, chunk)| Live {
            place,
            chunk,
            since_ns: now,
            folded: Cursor::default(),
            looked: Cursor::default(),
        }));
    }

    /// Takes what was said before `horizon` out of the chunks, has the events that still matter stored, and only then
    /// gives back the chunks that say nothing else. `lives` knows threads by their ids in the target's namespace, as they
    /// were at `seen_ns` or later: who claimed a chunk after that is not known to it.
    pub fn fold(
        &mut self,
        horizon: i64,
        seen_ns: i64,
        lives: &dyn Fn(u32) -> bool,
        store: &mut dyn FnMut(&[Event]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.learn();
        let mut events = Vec::new();
        for live in &mut self.live {
            let (chunk, mut cursor) = (Chunk::of(&self.spool, live.chunk), live.folded);
            if !chunk.is(chunk_kind::EVENTS) {
                continue;
            }
            while let Some((e, next)) = chunk.next(cursor)
                && e.ts < horizon
            {
                events.push(e);
                cursor = next;
            }
            live.folded = cursor;
        }
        events.sort_by_key(|e| e.ts); // stable: one writer's keep their order
        for e in &events {
            self.carry.take(e);
        }
        self.carry.settle(horizon, lives);
        store(&self.carry.events(lives))?;
        let spool = &self.spool;
        self.live.retain(|live| {
            let chunk = Chunk::of(spool, live.chunk);
            let may_be_dead = |tid: u32| live.since_ns < seen_ns && !lives(tid);
            let spent = chunk.is(chunk_kind::EVENTS) && chunk.is_spent(live.folded, &may_be_dead);
            if spent {
                spool.give_back(live.chunk);
            }
            !spent
        });
        Ok(())
    }

    /// Tells what was said since the last call and is of one of these kinds, by time.
    pub fn look(&mut self, kinds: &[u32]) -> Vec<Event> {
        self.learn();
        let mut events = Vec::new();
        for live in &mut self.live {
            let chunk = Chunk::of(&self.spool, live.chunk);
            if !chunk.is(chunk_kind::EVENTS) {
                continue;
            }
            while let Some((e, next)) = chunk.next(live.looked) {
                live.looked = next;
                if kinds.contains(&e.kind) {
                    events.push(e);
                }
            }
        }
        events.sort_by_key(|e| e.ts);
        events
    }

    /// Writes all that the chunks say into a spool that is none of a ring and has ended; returns its size.
    pub fn copy(&mut self, to: &Path, end: i64) -> io::Result<u64> {
        self.learn();
        self.live.sort_by_key(|l| l.place);
        let mut file = private::create_new(to)?;
        let mut head = self.spool.first_chunk();
        head[at::TABLE..].fill(0);
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        put(at::VERSION, &VERSION.to_le_bytes());
        put(at::RING, &0u32.to_le_bytes());
        put(at::CAPACITY, &0u64.to_le_bytes());
        put(at::STATE, &state::STOPPED.to_le_bytes());
        put(at::END, &end.to_le_bytes());
        let size = (CHUNK * (1 + self.live.len())) as u64;
        put(at::NEXT, &(size | 1).to_le_bytes());
        file.write_all(&head)?;
        let mut buffer = vec![0; CHUNK];
        for live in &self.live {
            Chunk::of(&self.spool, live.chunk).copy(&mut buffer);
            file.write_all(&buffer)?;
            // A copy of hundreds of megabytes takes a while, in which the agent goes on.
            self.spool.keep_ahead()?;
        }
        Ok(size)
    }
}

/// A chunk, which its writer may be writing to.
struct Chunk<'a> {
    spool: &'a AgentSpool,
    chunk: u32,
}

impl Chunk<'_> {
    fn of(spool: &AgentSpool, chunk: u32) -> Chunk<'_> {
        Chunk { spool, chunk }
    }

    fn word(&self, offset: usize) -> u32 {
        // SAFETY: an aligned word within the chunk, which writers store as an atomic or before one.
        unsafe { &*self.spool.chunk(self.chunk).add(offset).cast::<AtomicU32>() }
            .load(Ordering::Acquire)
    }

    /// What it holds; none if nobody has claimed it yet.
    fn kind(&self) -> Option<u32> {
        (self.word(0) == CHUNK_MAGIC).then(|| self.word(chunk_at::KIND))
    }

    fn is(&self, kind: u32) -> bool {
        self.kind() == Some(kind)
    }

    /// The event at a place, if it was finished, and the place behind it.
    fn next(&self, at: Cursor) -> Option<(Event, Cursor)> {
        let offset = EVENT * (1 + at.event);
        if at.event == EVENTS || self.word(offset + 8) == 0 {
            return None;
        }
        let mut bytes = [0; EVENT];
        // SAFETY: an event within the chunk; its type was stored last, and nobody changes a finished one.
        unsafe {
            let from = self.spool.chunk(self.chunk).add(offset);
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), EVENT);
        }
        let mut speaker = at.speaker;
        let e = agent::event(&bytes, self.word(chunk_at::TID), &mut speaker)?;
        let event = at.event + 1;
        Some((e, Cursor { event, speaker }))
    }

    /// Whether nothing stands behind this place, or ever will.
    fn is_spent(&self, at: Cursor, is_dead: &dyn Fn(u32) -> bool) -> bool {
        if at.event == EVENTS {
            return true;
        }
        let tid = self.word(chunk_at::TID);
        // First whether its writer is gone: what it wrote before is then to be seen.
        let left = self.word(chunk_at::LEFT) != 0 || (tid != 0 && is_dead(tid));
        left && self.next(at).is_none()
    }

    /// What was finished, and zeros.
    fn copy(&self, to: &mut [u8]) {
        let written = match self.kind() {
            Some(chunk_kind::EVENTS) => {
                let finished = (0..EVENTS).take_while(|n| self.word(EVENT * (1 + n) + 8) != 0);
                EVENT * (1 + finished.count())
            }
            Some(chunk_kind::STRINGS) => self.strings(),
            Some(chunk_kind::FRAMES) => frames::end(CHUNK, |at| self.word(at)),
            _ => 0,
        };
        fence(Ordering::Acquire);
        // SAFETY: within the chunk; what was finished does not change.
        unsafe {
            std::ptr::copy_nonoverlapping(self.spool.chunk(self.chunk), to.as_mut_ptr(), written)
        };
        to[written..].fill(0);
    }

    /// Where the finished strings end.
    fn strings(&self) -> usize {
        let mut at = EVENT;
        while at + 8 <= CHUNK && self.word(at) != 0 {
            let end = at + 8 + self.word(at + 4) as usize;
            if end > CHUNK {
                break;
            }
            at = end.next_multiple_of(8);
        }
        at.min(CHUNK)
    }
}
