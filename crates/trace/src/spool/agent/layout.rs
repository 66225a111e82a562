//! The numbers of the agent's spool: offsets, sizes, kinds of events. `agent` tells what they mean together. The agent's Java and C
//! halves repeat those that they need, and a test holds them to these.

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
    /// See the table of [`agent`](super).
    pub const VERSION: usize = 8;
    /// See the table of [`agent`](super).
    pub const CHUNK: usize = 12;
    /// See the table of [`agent`](super).
    pub const CAPACITY: usize = 16;
    /// See the table of [`agent`](super).
    pub const NEXT: usize = 24;
    /// See the table of [`agent`](super).
    pub const LOST: usize = 32;
    /// See the table of [`agent`](super).
    pub const LOST_STRINGS: usize = 40;
    /// See the table of [`agent`](super).
    pub const STATE: usize = 48;
    /// See the table of [`agent`](super).
    pub const LEVELS: usize = 52;
    /// See the table of [`agent`](super).
    pub const BEGIN: usize = 56;
    /// See the table of [`agent`](super).
    pub const END: usize = 64;
    /// See the table of [`agent`](super).
    pub const RECORDER_PID: usize = 72;
    /// See the table of [`agent`](super).
    pub const MODE: usize = 76;
    /// See the table of [`agent`](super).
    pub const RING: usize = 80;
    /// See the table of [`agent`](super).
    pub const STACKS: usize = 88;
    /// See the table of [`agent`](super).
    pub const LOST_STACKS: usize = 96;
    /// See the table of [`agent`](super).
    pub const SPARED_STACKS: usize = 104;
    /// See the table of [`agent`](super).
    pub const SAMPLES: usize = 112;
    /// See the table of [`agent`](super).
    pub const LOST_SAMPLES: usize = 120;
    /// See the table of [`agent`](super).
    pub const SPARED_SAMPLES: usize = 128;
    /// See the table of [`agent`](super).
    pub const METHOD_SHORTEST: usize = 136;
    /// See the table of [`agent`](super).
    pub const METHOD_CPU: usize = 144;
    /// See the table of [`agent`](super).
    pub const CALLS_LEFT_OUT: usize = 152;
    /// See the table of [`agent`](super).
    pub const ALLOCATIONS: usize = 160;
    /// See the table of [`agent`](super).
    pub const SPARED_ALLOCATIONS: usize = 168;
    /// See the table of [`agent`](super).
    pub const VM_LOG: usize = 176;
    /// See the table of [`agent`](super).
    pub const METHODS: usize = 192;
    /// Length of that text.
    pub const METHODS_TEXT: usize = 832;
    /// See the table of [`agent`](super).
    pub const LIBRARY: usize = 1024;
    /// See the table of [`agent`](super).
    pub const MESSAGE: usize = 2048;
    /// See the table of [`agent`](super).
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
    /// See the table of [`agent`](super).
    pub const KIND: usize = 4;
    /// See the table of [`agent`](super).
    pub const TID: usize = 8;
    /// See the table of [`agent`](super).
    pub const LEFT: usize = 12;
    /// See the table of [`agent`](super).
    pub const JAVA_ID: usize = 16;
    /// See the table of [`agent`](super).
    pub const PLACE: usize = 24;
}

/// What a chunk holds: values of `kind` in its header.
pub mod chunk_kind {
    /// Events.
    pub const EVENTS: u32 = 1;
    /// Strings.
    pub const STRINGS: u32 = 2;
    /// Frames of stacks, see [`frames`](crate::spool::frames).
    pub const FRAMES: u32 = 3;
}

/// What a handshake's end says of whether it resumed a session.
pub mod resumption {
    /// It did if no [`TLS_KEY`](super::kind::TLS_KEY) came.
    pub const BY_KEY: u64 = 0;
    /// It did not.
    pub const FULL: u64 = 1;
    /// It did.
    pub const RESUMED: u64 = 2;
    /// Nobody knows.
    pub const UNKNOWN: u64 = 3;
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

/// What the JVM's log says beside safepoints ([`vmlog`](super::super::vmlog)): bits of `vm log` in the header.
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
    /// b as of UNPARKED. Of no thread, when a recording begins: mounts are told from here on.
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
    /// Back from park. The upper half of b is its stack ([`frames`](crate::spool::frames)), 0 if none was taken.
    pub const UNPARKED: u32 = 15;
    /// The writer lets the virtual thread a go on, which parks or waits: it wants a carrier from here on.
    pub const GOES_ON: u32 = 16;
    /// A thread was running: a = its kernel tid in the target's pid namespace. The upper half of b is its stack
    /// ([`frames`](crate::spool::frames)), the lower the CPU time that the sample stands for, in microseconds.
    pub const SAMPLE: u32 = 17;
    /// The writer allocated an object, and was sampled: c = its class, a = bytes that the sample stands for. The upper half of b is
    /// its stack ([`frames`](crate::spool::frames)), the lower the object's size in units of 8 bytes.
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
    /// After a collection, where there are survivor spaces: a = survivors << 32 | old generation, b = most that the heap may be,
    /// in units of 4 KiB.
    pub const GC_GENERATIONS: u32 = 24;

    /// A connection was accepted: a = its key, b = peer port, and [`ONE_REQUEST`] perhaps, c = peer address.
    pub const CONN_OPEN: u32 = 30;
    /// Beside the port: it stands for the connection of one request alone, a stream of HTTP/2 or one whose connection is not seen.
    pub const ONE_REQUEST: u64 = 65_536;
    /// It was closed: a.
    pub const CONN_CLOSE: u32 = 31;
    /// It was handed to the workers' queue: a.
    pub const QUEUED: u32 = 32;
    /// A worker begins to serve it: a = key; b = 0, or of a task that goes on with a request that another may still be at, when
    /// it was made, c = how long before that the first task of that request was, in units of 1024 ns.
    pub const VISIT_BEGIN: u32 = 33;
    /// The worker leaves it: a = key.
    pub const VISIT_END: u32 = 34;
    /// A step of the TLS handshake begins, within a visit.
    pub const TLS_ENTER: u32 = 35;
    /// The step ends: b = 0 done, -1 failed, else more to come; a = whether it resumed a session, see [`resumption`](super::resumption).
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
    /// An executor whose threads have a number behind this name may have so many: c = the name, a = how many. Told again now and then.
    pub const THREADS_LIMIT: u32 = 44;

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
    /// Another service is called: c = which, a = 0 if its thread waits for the answer, else the call's number.
    pub const CALL_BEGIN: u32 = 55;
    /// It has answered, or failed, or nobody waits for it any more: a as in its begin, on whichever thread if that is a number.
    pub const CALL_END: u32 = 56;
    /// A pool may have so many connections: c = pool, a = how many. Told again now and then.
    pub const POOL_LIMIT: u32 = 57;

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
