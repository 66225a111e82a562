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
//!               "unseen": [codes of what hooks do not see], "lacks_methods": true if they have no probes} (agent writes)
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

pub use chunks::{Chunks, Events, Kinds};

use super::frames::Frame;

/// Magic of the file.
pub const MAGIC: &[u8; 8] = b"LLAGENT1";
/// Version of the layout.
pub const VERSION: u32 = 1;
/// Version of the layout of a ring: an agent that does not know it refuses it.
pub const RING_VERSION: u32 = 2;
/// Entries of a ring's table: as many as there is room for before the first chunk.
pub const RING_ENTRIES: u32 = 15_360;
/// Size of a chunk; the first begins at this offset too.
pub const CHUNK: usize = 64 * 1024;
/// Size of an event, and of a chunk's header.
pub const EVENT: usize = 32;
/// "LLCK", little-endian.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"LLCK");

/// Offsets in the header.
pub mod at {
    /// See the module's table.
    pub const VERSION: usize = 8;
    /// See the module's table.
    pub const CHUNK: usize = 12;
    /// See the module's table.
    pub const CAPACITY: usize = 16;
    /// See the module's table.
    pub const NEXT: usize = 24;
    /// See the module's table.
    pub const LOST: usize = 32;
    /// See the module's table.
    pub const LOST_STRINGS: usize = 40;
    /// See the module's table.
    pub const STATE: usize = 48;
    /// See the module's table.
    pub const LEVELS: usize = 52;
    /// See the module's table.
    pub const BEGIN: usize = 56;
    /// See the module's table.
    pub const END: usize = 64;
    /// See the module's table.
    pub const RECORDER_PID: usize = 72;
    /// See the module's table.
    pub const MODE: usize = 76;
    /// See the module's table.
    pub const RING: usize = 80;
    /// See the module's table.
    pub const STACKS: usize = 88;
    /// See the module's table.
    pub const LOST_STACKS: usize = 96;
    /// See the module's table.
    pub const SPARED_STACKS: usize = 104;
    /// See the module's table.
    pub const SAMPLES: usize = 112;
    /// See the module's table.
    pub const LOST_SAMPLES: usize = 120;
    /// See the module's table.
    pub const SPARED_SAMPLES: usize = 128;
    /// See the module's table.
    pub const METHOD_SHORTEST: usize = 136;
    /// See the module's table.
    pub const METHOD_CPU: usize = 144;
    /// See the module's table.
    pub const CALLS_LEFT_OUT: usize = 152;
    /// See the module's table.
    pub const ALLOCATIONS: usize = 160;
    /// See the module's table.
    pub const SPARED_ALLOCATIONS: usize = 168;
    /// See the module's table.
    pub const VM_LOG: usize = 176;
    /// See the module's table.
    pub const METHODS: usize = 192;
    /// Length of that text.
    pub const METHODS_TEXT: usize = 832;
    /// See the module's table.
    pub const LIBRARY: usize = 1024;
    /// See the module's table.
    pub const MESSAGE: usize = 2048;
    /// See the module's table.
    pub const INFO: usize = 3072;
    /// Length of each of the three texts.
    pub const TEXT: usize = 1024;
    /// The ring's table.
    pub const TABLE: usize = 4096;
}

/// What was lost, each counted at one of these offsets of the header: events, strings, stacks, samples.
pub const LOSSES: [usize; 4] = [
    at::LOST,
    at::LOST_STRINGS,
    at::LOST_STACKS,
    at::LOST_SAMPLES,
];

/// Offsets in a chunk's header.
pub mod chunk_at {
    /// See the module's table.
    pub const KIND: usize = 4;
    /// See the module's table.
    pub const TID: usize = 8;
    /// See the module's table.
    pub const LEFT: usize = 12;
    /// See the module's table.
    pub const JAVA_ID: usize = 16;
    /// See the module's table.
    pub const PLACE: usize = 24;
}

/// What a chunk holds: values of `kind` in its header.
pub mod chunk_kind {
    /// Events.
    pub const EVENTS: u32 = 1;
    /// Strings.
    pub const STRINGS: u32 = 2;
    /// Frames of stacks, see [`super::super::frames`].
    pub const FRAMES: u32 = 3;
}

/// Values of `state` in the header.
pub mod state {
    /// The agent has not seen the file yet.
    pub const CREATED: u32 = 0;
    /// It is placing its probes.
    pub const STARTING: u32 = 1;
    /// It records.
    pub const RECORDING: u32 = 2;
    /// It has removed its probes and is dormant.
    pub const STOPPED: u32 = 3;
    /// It could not start; the message says why.
    pub const FAILED: u32 = 4;
}

/// Bits of `levels` in the header.
pub mod level {
    /// JVM level.
    pub const JVM: u32 = 1;
    /// Server level.
    pub const SERVER: u32 = 2;
    /// Application level.
    pub const APP: u32 = 4;
}

/// Bits of `mode` in the header. Without any, no class of the program is redefined.
pub mod mode {
    /// Loaded classes may be redefined, to place probes; these stay, dormant.
    pub const MAY_REDEFINE: u32 = 1;
    /// Probes are taken out at the end, which redefines the classes again.
    pub const RESTORE: u32 = 2;
    /// Probes are placed (or, with [`RESTORE`], taken out), and nothing is recorded.
    pub const ONLY_ARM: u32 = 4;
}

/// What the JVM's log says beside safepoints ([`super::vmlog`]): bits of `vm log` in the header.
pub mod vm_log {
    /// Phases of garbage collections.
    pub const GC_PHASES: u64 = 1;
    /// Methods that are compiled.
    pub const COMPILATIONS: u64 = 2;
    /// Compiled code that turned out to rest on a wrong assumption, and was left for the interpreter.
    pub const DEOPTIMIZATIONS: u64 = 4;
    /// Classes that are loaded.
    pub const CLASS_LOADS: u64 = 8;
    /// All of these.
    pub const ALL: u64 = 15;
}

/// Why a virtual thread leaves its carrier: `b` of [`kind::UNMOUNT`].
pub mod left {
    /// Not known: an agent that did not tell.
    pub const UNKNOWN: u64 = 0;
    /// It parks.
    pub const PARKS: u64 = 1;
    /// It ends.
    pub const ENDED: u64 = 2;
    /// It yields: it wants to go on.
    pub const YIELDS: u64 = 3;
    /// It waits for a monitor, or in `Object.wait`.
    pub const MONITOR: u64 = 4;
}

/// Types of events. `c` is a string id unless said otherwise; 0 is no string.
pub mod kind {
    /// A Java thread: a = Java id, b = kernel tid (0: the chunk's), c = name. Repeated when renamed.
    pub const THREAD: u32 = 1;
    /// A Java thread ends: a = Java id.
    pub const THREAD_END: u32 = 2;
    /// From here on the chunk speaks of virtual thread a, until the next; a = 0: of the carrier itself.
    /// Its name is c, followed by the number b - 1 if b is not 0.
    pub const SWITCH_TO: u32 = 3;
    /// The virtual thread that the chunk speaks of is on this carrier from here on; what it parked for is over.
    /// b as of UNPARKED.
    pub const MOUNT: u32 = 4;
    /// It leaves the carrier; b = why, one of [`super::left`]. If it parks, a [`PARK`] says so just before.
    pub const UNMOUNT: u32 = 5;

    /// Contended monitor: waits to enter. a = identity hash, c = class, b = Java id of a virtual thread or 0.
    pub const MONITOR_ENTER: u32 = 10;
    /// It has entered. a as before, b as of UNPARKED.
    pub const MONITOR_ENTERED: u32 = 11;
    /// Object.wait. a = identity hash, c = class, b = timeout in ms.
    pub const MONITOR_WAIT: u32 = 12;
    /// Back from Object.wait. Of b the lower half is 1 if it timed out, the upper as of UNPARKED.
    pub const MONITOR_WAITED: u32 = 13;
    /// LockSupport.park. a = identity hash of the blocker, b = Java id of its owner or 0, c = its class.
    pub const PARK: u32 = 14;
    /// Back from park. The upper half of b is its stack ([`super::super::frames`]), 0 if none was taken.
    pub const UNPARKED: u32 = 15;
    /// The writer lets the virtual thread a go on, which parks or waits: it wants a carrier from here on.
    pub const GOES_ON: u32 = 16;
    /// A thread was running: a = its kernel tid in the target's pid namespace. The upper half of b is its stack
    /// ([`super::super::frames`]), the lower the CPU time that the sample stands for, in microseconds.
    pub const SAMPLE: u32 = 17;
    /// The writer allocated an object, and was sampled: c = its class, a = bytes that the sample stands for. The upper half of b is
    /// its stack ([`super::super::frames`]), the lower the object's size in units of 8 bytes.
    pub const ALLOCATION: u32 = 18;
    /// The writer allocated an object of a chosen class: c = its class, a = its number. b as of [`ALLOCATION`]; without a stack if that is 0.
    pub const OBJECT_NEW: u32 = 19;

    /// A garbage collection stops the program.
    pub const GC_START: u32 = 20;
    /// It goes on.
    pub const GC_END: u32 = 21;
    /// After a collection: c = collector, a = string id of the cause, b = heap before << 32 | after, in units of 4 KiB.
    pub const GC_INFO: u32 = 22;
    /// The collector found an object of a chosen class dead: a = its number.
    pub const OBJECT_FREED: u32 = 23;

    /// A connection was accepted: a = its key, b = peer port, c = peer address.
    pub const CONN_OPEN: u32 = 30;
    /// It was closed: a.
    pub const CONN_CLOSE: u32 = 31;
    /// It was handed to the workers' queue: a.
    pub const QUEUED: u32 = 32;
    /// A worker begins to serve it: a = key.
    pub const VISIT_BEGIN: u32 = 33;
    /// The worker leaves it: a = key.
    pub const VISIT_END: u32 = 34;
    /// A step of the TLS handshake begins, within a visit.
    pub const TLS_ENTER: u32 = 35;
    /// The step ends: b = 0 done, -1 failed, else more to come.
    pub const TLS_EXIT: u32 = 36;
    /// The server sends its certificate, as only a full handshake does; may repeat within one.
    pub const TLS_KEY: u32 = 37;
    /// A request reached the container: c = "METHOD /path".
    pub const REQUEST: u32 = 38;
    /// The container answered: b = status.
    pub const STATUS: u32 = 39;
    /// The request is over and its response is out.
    pub const REQUEST_END: u32 = 40;
    /// The servlet's service begins: c = servlet.
    pub const SERVICE_BEGIN: u32 = 41;
    /// It ends.
    pub const SERVICE_END: u32 = 42;
    /// The parser looks for a request's first byte, within a visit; also after each request on a kept connection.
    pub const REQUEST_PARSE: u32 = 43;

    /// A connection is asked of a pool: c = pool.
    pub const POOL_WAIT_BEGIN: u32 = 50;
    /// It has it: a = the connection's identity, 0 if it got none.
    pub const POOL_WAIT_END: u32 = 51;
    /// A pooled connection is given back: a.
    pub const POOL_RELEASE: u32 = 52;
    /// A statement begins: c = SQL.
    pub const SQL_BEGIN: u32 = 53;
    /// It ends.
    pub const SQL_END: u32 = 54;

    /// The thread's application state becomes c.
    pub const APP_STATE: u32 = 60;
    /// It becomes c, and the old one is kept.
    pub const APP_PUSH: u32 = 61;
    /// The old one is back.
    pub const APP_POP: u32 = 62;
    /// An application event: c = type, a = value.
    pub const APP_EVENT: u32 = 63;
    /// A named span begins: c = name, a = its id.
    pub const SPAN_BEGIN: u32 = 64;
    /// A named span ends, perhaps on another thread: a = its id.
    pub const SPAN_END: u32 = 65;

    /// An invocation of a method has ended: c = method, a = how long it was in ns, b as [`super::method`] says. Where it was called
    /// is told by depths: in the next that ends on the same thread and is less deep.
    pub const METHOD: u32 = 70;
    /// Calls that filters left out in an invocation whose [`METHOD`] follows: c = its method, a = how many.
    pub const METHOD_LEFT_OUT: u32 = 71;
}

/// What `b` of [`kind::METHOD`] is made of: below the depth the CPU time in ns.
pub mod method {
    /// Lowest bit of the depth: recorded invocations that the thread was in then.
    pub const DEPTH_SHIFT: u32 = 48;
    /// What is deeper is told to be as deep as this.
    pub const DEEPEST: u64 = 16_383;
    /// Bit that says whether there is a CPU time.
    pub const HAS_CPU_SHIFT: u32 = 62;
    /// Bit that says whether an exception ended it.
    pub const THREW_SHIFT: u32 = 63;

    /// Its CPU time in ns, if there is one.
    pub fn cpu(b: u64) -> Option<u64> {
        (b >> HAS_CPU_SHIFT & 1 == 1).then_some(b & ((1 << DEPTH_SHIFT) - 1))
    }

    /// Its depth.
    pub fn depth(b: u64) -> u16 {
        (b >> DEPTH_SHIFT & DEEPEST) as u16
    }

    /// Whether an exception ended it.
    pub fn threw(b: u64) -> bool {
        b >> THREW_SHIFT == 1
    }
}

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
    /// Whether invocations have their CPU time.
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
mod tests {
    use super::*;

    fn all_levels() -> Asked<'static> {
        Asked {
            levels: 7,
            library: "/lib/x.so",
            ..Asked::default()
        }
    }

    fn chunk(kind: u32, tid: u32) -> Vec<u8> {
        let mut c = CHUNK_MAGIC.to_le_bytes().to_vec();
        c.extend(kind.to_le_bytes());
        c.extend(tid.to_le_bytes());
        c.resize(EVENT, 0);
        c
    }

    fn event(chunk: &mut Vec<u8>, ts: u64, kind: u32, a: u64) {
        chunk.extend(ts.to_le_bytes());
        chunk.extend(kind.to_le_bytes());
        chunk.extend(0u32.to_le_bytes());
        chunk.extend(a.to_le_bytes());
        chunk.extend(0u64.to_le_bytes());
    }

    fn spool(chunks: Vec<Vec<u8>>) -> Vec<u8> {
        let mut s = new_header(1 << 20, &all_levels());
        for mut c in chunks {
            c.resize(CHUNK, 0);
            s.extend(c);
        }
        s
    }

    #[test]
    fn events_of_all_chunks_come_sorted_by_time_with_their_writer() {
        let (mut x, mut y) = (chunk(1, 11), chunk(1, 22));
        event(&mut x, 5, kind::PARK, 1);
        event(&mut x, 9, kind::UNPARKED, 1);
        event(&mut y, 7, kind::APP_POP, 0);
        let events = read(&spool(vec![x, y])).events;
        let seen: Vec<_> = events.iter().map(|e| (e.ts, e.tid)).collect();
        assert_eq!(seen, [(5, 11), (7, 22), (9, 11)]);
    }

    #[test]
    fn an_event_whose_type_was_never_stored_ends_its_chunk() {
        let mut x = chunk(1, 11);
        event(&mut x, 5, kind::APP_POP, 0);
        event(&mut x, 6, 0, 0);
        event(&mut x, 7, kind::APP_POP, 0);
        assert_eq!(read(&spool(vec![x])).events.len(), 1);
    }

    #[test]
    fn events_after_a_switch_belong_to_the_virtual_thread() {
        let mut x = chunk(1, 11);
        event(&mut x, 1, kind::APP_POP, 0);
        event(&mut x, 2, kind::SWITCH_TO, 77);
        event(&mut x, 3, kind::APP_POP, 0);
        event(&mut x, 4, kind::SWITCH_TO, 0);
        event(&mut x, 5, kind::APP_POP, 0);
        let of: Vec<_> = read(&spool(vec![x]))
            .events
            .iter()
            .map(|e| e.virtual_id)
            .collect();
        assert_eq!(of, [0, 77, 77, 0, 0]);
    }

    #[test]
    fn strings_are_read_until_the_first_that_was_not_finished() {
        let mut s = chunk(2, 0);
        for (id, text) in [(1u32, "abc"), (2, "defghijk"), (0, "zz")] {
            s.extend(id.to_le_bytes());
            s.extend((text.len() as u32).to_le_bytes());
            s.extend(text.as_bytes());
            s.resize(s.len().next_multiple_of(8), 0);
        }
        let strings = read(&spool(vec![s])).strings;
        assert_eq!(strings.len(), 2);
        assert_eq!(strings[&2], "defghijk");
    }

    #[test]
    fn a_header_of_another_version_is_refused() {
        let mut s = new_header(1 << 20, &all_levels());
        assert_eq!(header(&s).expect("a header").levels, 7);
        s[8] = 9;
        assert_eq!(header(&s), None);
    }
}
