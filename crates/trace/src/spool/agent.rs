//! `raw/agent.events`: one sparse file that the agent's threads write through a shared mapping.
//!
//! The recorder creates it with its header; the agent maps it whole. A kernel thread that has
//! something to say claims a chunk of 64 KiB by moving `next` forward (compare and swap), and is
//! its only writer. `capacity` may grow while recording: the recorder allocates the file's blocks
//! ahead of `next`, so that a full disk can never turn a store into SIGBUS in the JVM. A claim
//! reads `capacity` afresh; if `next` + chunk would pass it, `next` stays and the event is lost.
//! Everything is little-endian and written in place, so what was written before a crash is there.
//!
//! ```text
//! file header (4096 bytes; the first chunk begins at 65536)
//!      0  u64  magic "LLAGENT1"
//!      8  u32  version (1; 2 of a ring, see below)
//!     12  u32  chunk size (65536)
//!     16  u64  capacity: bytes that may be written now; grows up to the file's size, which is mapped whole
//!     24  u64  next: offset of the next free chunk (compare and swap; never past capacity);
//!                 odd once the recorder has closed the file, so that no claim can succeed any more
//!     32  u64  events lost because the file was full (atomic)
//!     40  u64  strings lost because the dictionary was full (atomic)
//!     48  u32  state: 0 created, 1 agent starting, 2 recording, 3 stopped, 4 failed
//!     52  u32  levels wanted: bit 0 jvm, bit 1 server, bit 2 app
//!     56  u64  when the agent began to record
//!     64  u64  when it stopped
//!     72  u32  pid of the recorder in the target's pid namespace, 0 if not visible there
//!     76  u32  what may be done to the program: bits of [`mode`]
//!     80  u32  entries of the ring's table; 0 if the file is none
//!     88  u64  from how long a wait on its stack is wanted, in ns; 0: never
//!     96  u64  stacks lost because the file or the dictionary of frames was full (atomic)
//!    104  u64  stacks not taken, because they would have cost too much (atomic)
//!    112  u64  after how much CPU time of a thread on its stack is wanted (a sample), in ns; 0: never
//!    120  u64  samples lost because there was no room for them (atomic)
//!    128  u64  samples not taken, because they would have cost too much (atomic); the next one stands for them too
//!    136  u64  invocations of methods that are shorter are counted only, in ns
//!    144  u64  whether invocations have their CPU time: 0 or 1
//!    152  u64  calls of methods that filters left out, outside of any that was recorded
//!    160  u64  after how many bytes that a thread allocates, on average, the allocation is sampled; 0: never
//!    168  u64  samples of allocations not taken, because they would have cost too much (atomic); the next one of the thread stands for them too
//!    176  u64  what more the JVM's log is to say: bits of [`vm_log`]
//!    192  text  filters of methods, a line each; of threads with a tab in front; with a `+` in front classes each of whose objects is wanted,
//!               all that begin so if it ends with a `*`; 832 bytes; empty: no methods
//!   1024  text  path of the agent's native library, NUL-terminated (recorder writes)
//!   2048  text  agent's message: an error when failed, else warnings a line each (agent writes)
//!   3072  text  JSON {"jvm": …, "java": 17, "server": …, "name": …, "server_by": "probes" or "hooks",
//!               "unseen": [codes of what hooks do not see], "lacks_methods": true if they have no probes,
//!               "names_threads": true if a THREAD of each thread that there was has the kernel's id} (agent writes)
//!
//!   4096  u32[]  the ring's table
//!
//! chunk header (32 bytes)
//!      0  u32  magic "LLCK"        4  u32  kind: 1 events, 2 strings, 3 frames (see [`super::frames`])
//!      8  u32  kernel tid of the writer, in the target's pid namespace
//!     12  u32  1 once its writer has left it for another
//!     16  u64  Java thread id of the writer, 0 if not a Java thread
//!     24  u64  what `next` was when it was claimed (0 of early versions: where it lies)
//!
//! event (32 bytes)                            u64 ts; u32 type; u32 c; u64 a; u64 b
//! string (8 bytes + text, padded to 8)        u32 id; u32 length in bytes; UTF-8
//! ```
//!
//! An event's `type` and a string's `id` are stored last, with release order: 0 ends a chunk.
//! String ids: the Java half counts from 1, the native half from 0x8000_0001.
//!
//! **A ring** ([`RING_VERSION`]) is a spool of bounded size. `next` and `capacity` count on as if the file had no end;
//! where the chunk with claim number `n = next / chunk` lies is said by entry `n % entries` of the table: its offset in
//! chunks. The recorder writes an entry before it raises `capacity` past it. It takes a chunk back, zeroes it and hands
//! it out again once its writer has left it, or is dead, and what it says is older than what is kept. Chunks of strings
//! stay. There are never more chunks than entries less one, so that an entry that a claim reads before it moves `next`
//! is the one it gets. What was said before and still matters is beside it, in a spool of the same layout
//! (`agent.carry`, see [`super::carry`]).

use std::collections::HashMap;

mod chunks;
mod layout;

pub use chunks::{Chunks, Events, Kinds};
pub use layout::*;

use super::frames::Frame;

/// One event, with its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, CLOCK_MONOTONIC.
    pub ts: i64,
    /// One of [`kind`].
    pub kind: u32,
    /// See [`kind`].
    pub a: u64,
    /// See [`kind`].
    pub b: u64,
    /// See [`kind`].
    pub c: u32,
    /// Kernel tid of the writer, in the target's pid namespace.
    pub tid: u32,
    /// Java id of the virtual thread it speaks of; 0 = the writer itself.
    pub virtual_id: u64,
}

/// What the header says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// One of [`state`].
    pub state: u32,
    /// Bits of [`level`].
    pub levels: u32,
    /// Whether it is a ring.
    pub ring: bool,
    /// Offset of the next free chunk; in a ring, as if it had no end.
    pub next: u64,
    /// Events lost.
    pub lost: u64,
    /// Strings lost.
    pub lost_strings: u64,
    /// Stacks lost.
    pub lost_stacks: u64,
    /// Stacks not taken for what they cost.
    pub spared_stacks: u64,
    /// Samples lost.
    pub lost_samples: u64,
    /// Samples not taken for what they cost.
    pub spared_samples: u64,
    /// Samples of allocations not taken for what they cost.
    pub spared_allocations: u64,
    /// Calls of methods that filters left out, outside of any that was recorded.
    pub calls_left_out: u64,
    /// When the agent began.
    pub begin: i64,
    /// When it stopped, 0 if it did not.
    pub end: i64,
    /// Error or warnings.
    pub message: String,
    /// The agent's JSON.
    pub info: String,
}

/// What a recorder asks of the agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// Bits of [`level`].
    pub levels: u32,
    /// Bits of [`mode`].
    pub mode: u32,
    /// Whether it is a ring.
    pub ring: bool,
    /// From how long a wait on its stack is wanted, in ns; 0: never.
    pub stacks_ns: u64,
    /// After how much CPU time of a thread on its stack is wanted, in ns; 0: never.
    pub samples_ns: u64,
    /// After how many bytes that a thread allocates, on average, the allocation is sampled; 0: never.
    pub allocations_bytes: u64,
    /// Bits of [`vm_log`].
    pub vm_log: u64,
    /// Filters of methods and threads, and classes, as the header has them, in [`at::METHODS_TEXT`] bytes at most; empty: no methods.
    pub methods: &'a str,
    /// Whether the thread's clock is read where invocations begin and end.
    pub method_cpu: bool,
    /// Invocations that are shorter are counted only, in ns.
    pub method_shortest_ns: u64,
    /// The recorder's process id as the target sees it, or 0.
    pub recorder_pid: u32,
    /// Path of the agent's native library.
    pub library: &'a str,
}

/// The header of a new spool, [`CHUNK`] bytes long.
pub fn new_header(capacity: u64, asked: &Asked) -> Vec<u8> {
    let mut h = vec![0u8; CHUNK];
    let mut put = |at: usize, bytes: &[u8]| h[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, MAGIC);
    let (version, entries) = match asked.ring {
        true => (RING_VERSION, RING_ENTRIES),
        false => (VERSION, 0),
    };
    put(at::VERSION, &version.to_le_bytes());
    put(at::RING, &entries.to_le_bytes());
    put(at::CHUNK, &(CHUNK as u32).to_le_bytes());
    put(at::CAPACITY, &capacity.to_le_bytes());
    put(at::NEXT, &(CHUNK as u64).to_le_bytes());
    put(at::LEVELS, &asked.levels.to_le_bytes());
    put(at::MODE, &asked.mode.to_le_bytes());
    put(at::STACKS, &asked.stacks_ns.to_le_bytes());
    put(at::SAMPLES, &asked.samples_ns.to_le_bytes());
    put(at::ALLOCATIONS, &asked.allocations_bytes.to_le_bytes());
    put(at::VM_LOG, &asked.vm_log.to_le_bytes());
    put(at::METHOD_SHORTEST, &asked.method_shortest_ns.to_le_bytes());
    put(at::METHOD_CPU, &u64::from(asked.method_cpu).to_le_bytes());
    let methods = asked.methods.as_bytes();
    put(at::METHODS, &methods[..methods.len().min(at::METHODS_TEXT)]);
    put(at::RECORDER_PID, &asked.recorder_pid.to_le_bytes());
    let library = asked.library.as_bytes();
    put(at::LIBRARY, &library[..library.len().min(at::TEXT - 1)]);
    h
}

/// Reads a header; `None` if these are not the first bytes of an agent's spool of this version.
pub fn header(bytes: &[u8]) -> Option<Header> {
    let known = bytes.len() >= at::TABLE && &bytes[..8] == MAGIC;
    if !known || !matches!(u32_at(bytes, at::VERSION)?, VERSION | RING_VERSION) {
        return None;
    }
    Some(Header {
        ring: u32_at(bytes, at::VERSION)? == RING_VERSION,
        state: u32_at(bytes, at::STATE)?,
        levels: u32_at(bytes, at::LEVELS)?,
        next: u64_at(bytes, at::NEXT)?,
        lost: u64_at(bytes, at::LOST)?,
        lost_strings: u64_at(bytes, at::LOST_STRINGS)?,
        lost_stacks: u64_at(bytes, at::LOST_STACKS)?,
        spared_stacks: u64_at(bytes, at::SPARED_STACKS)?,
        lost_samples: u64_at(bytes, at::LOST_SAMPLES)?,
        spared_samples: u64_at(bytes, at::SPARED_SAMPLES)?,
        spared_allocations: u64_at(bytes, at::SPARED_ALLOCATIONS)?,
        calls_left_out: u64_at(bytes, at::CALLS_LEFT_OUT)?,
        begin: u64_at(bytes, at::BEGIN)? as i64,
        end: u64_at(bytes, at::END)? as i64,
        message: text_at(bytes, at::MESSAGE),
        info: text_at(bytes, at::INFO),
    })
}

impl Header {
    /// How much of a spool of this length was written: a ring's chunks lie anywhere.
    pub fn extent(&self, length: u64) -> u64 {
        match self.ring {
            true => length,
            false => length.min(self.next & !1).max(CHUNK as u64).min(length),
        }
    }

    /// What the agent warns of, oldest first. One that failed warns of nothing: its message is why.
    pub fn warnings(&self) -> Vec<String> {
        let lines = self.message.lines().filter(|l| !l.is_empty());
        match self.state {
            state::FAILED => Vec::new(),
            _ => lines.map(Into::into).collect(),
        }
    }
}

/// What a spool says.
#[derive(Debug, Default)]
pub struct Said {
    /// Events sorted by time; those of one writer keep their order.
    pub events: Vec<Event>,
    /// Strings by their ids.
    pub strings: HashMap<u32, String>,
    /// Frames of stacks, in the order in which they were written.
    pub frames: Vec<Frame>,
}

/// Everything in a spool.
pub fn read(bytes: &[u8]) -> Said {
    let chunks = Chunks::of(bytes);
    Said {
        events: chunks.events().collect(),
        strings: chunks.strings(),
        frames: chunks.frames(),
    }
}

/// One event of a chunk whose writer is `tid` and which spoke of `virtual_id` until now; `None` at the chunk's end.
pub fn event(bytes: &[u8], tid: u32, virtual_id: &mut u64) -> Option<Event> {
    let kind = u32_at(bytes, 8).filter(|k| *k != 0)?;
    let a = u64_at(bytes, 16)?;
    if kind == self::kind::SWITCH_TO {
        *virtual_id = a;
    }
    Some(Event {
        ts: u64_at(bytes, 0)? as i64,
        kind,
        a,
        b: u64_at(bytes, 24)?,
        c: u32_at(bytes, 12)?,
        tid,
        virtual_id: *virtual_id,
    })
}

/// Chunks that say these events, each of one writer's, from claim number `first` on. Events of a virtual thread are said
/// to be its own; the caller sees to names. The order of one writer's events is kept.
pub fn chunks_of(events: &[Event], first: u64) -> Vec<u8> {
    let mut writers: std::collections::BTreeMap<u32, Vec<&Event>> = Default::default();
    for e in events {
        writers.entry(e.tid).or_default().push(e);
    }
    let mut out = Vec::new();
    let mut place = first * CHUNK as u64;
    let mut open: Option<usize> = None; // where the chunk that is being filled ends
    for (tid, events) in writers {
        let mut speaker = 0;
        for e in events {
            let switches = e.kind != kind::SWITCH_TO && e.virtual_id != speaker;
            let need = EVENT * (1 + usize::from(switches));
            if open.is_none_or(|end| out.len() + need > end) {
                if let Some(end) = open {
                    out.resize(end, 0);
                }
                open = Some(out.len() + CHUNK);
                out.extend(CHUNK_MAGIC.to_le_bytes());
                out.extend(1u32.to_le_bytes());
                out.extend(tid.to_le_bytes());
                out.extend(1u32.to_le_bytes());
                out.extend(0u64.to_le_bytes());
                out.extend(place.to_le_bytes());
                place += CHUNK as u64;
                speaker = 0;
            }
            if e.kind != kind::SWITCH_TO && e.virtual_id != speaker {
                put_event(&mut out, e.ts, kind::SWITCH_TO, 0, e.virtual_id, 0);
            }
            speaker = match e.kind {
                kind::SWITCH_TO => e.a,
                _ => e.virtual_id,
            };
            put_event(&mut out, e.ts, e.kind, e.c, e.a, e.b);
        }
        if let Some(end) = open.take() {
            out.resize(end, 0);
        }
    }
    out
}

fn put_event(out: &mut Vec<u8>, ts: i64, kind: u32, c: u32, a: u64, b: u64) {
    out.extend(ts.to_le_bytes());
    out.extend(kind.to_le_bytes());
    out.extend(c.to_le_bytes());
    out.extend(a.to_le_bytes());
    out.extend(b.to_le_bytes());
}

fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(b: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(b.get(at..at + 8)?.try_into().ok()?))
}

fn text_at(b: &[u8], at: usize) -> String {
    let field = &b[at..at + self::at::TEXT];
    let end = field.iter().position(|&c| c == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

#[cfg(test)]
mod tests;
