//! The tables of a trace, schema version [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).
//!
//! Ids are dense from 0 within one trace. Every `*_ns` that is not a duration is CLOCK_MONOTONIC.
//! An interval is half-open, `[begin_ns, end_ns)`, and is cut to the recording.

use std::sync::Arc;

use crate::table;
use crate::table::{Column, Row};

/// Names of thread states and causes, so that nobody misspells them.
pub mod names {
    /// On a CPU.
    pub const RUNNING: &str = "running";
    /// Woken, and waiting for a CPU.
    pub const RUNNABLE: &str = "runnable";
    /// Taken off its CPU while it wanted to go on.
    pub const PREEMPTED: &str = "preempted";
    /// Blocked, interruptibly.
    pub const BLOCKED: &str = "blocked";
    /// Blocked, uninterruptibly (disk I/O and page faults, mostly).
    pub const UNINTERRUPTIBLE: &str = "uninterruptible";
    /// Not known: the kernel level was not recorded, or an event was lost.
    pub const UNKNOWN: &str = "unknown";

    /// Causes of a state; see `states.cause`.
    pub const CAUSES: [&str; 11] = [
        RUNNING, RUNNABLE, LOCK, POOL, SOCKET, FILE, GC, SAFEPOINT, IDLE, OTHER, UNKNOWN,
    ];
    /// Blocked on a monitor or an owned synchronizer that another thread holds.
    pub const LOCK: &str = "lock";
    /// Blocked until a pool hands out a connection.
    pub const POOL: &str = "pool";
    /// Blocked until a peer sends, or takes, bytes.
    pub const SOCKET: &str = "socket";
    /// Blocked on a file or a device.
    pub const FILE: &str = "file";
    /// Stopped by a garbage collection.
    pub const GC: &str = "gc";
    /// Stopped by the virtual machine at a safepoint that was no collection.
    pub const SAFEPOINT: &str = "safepoint";
    /// Waiting for work: a worker without a task, a timer, a sleeping thread.
    pub const IDLE: &str = "idle";
    /// Blocked for a reason that is known to be none of these, or not known.
    pub const OTHER: &str = "other";

    /// Phases of a connection; see `breakdown.phase`.
    pub const PHASES: [&str; 9] = [
        "tls_full",
        "tls_resumed",
        "tls_failed",
        "tls_unknown",
        "request",
        "service",
        "pool_wait",
        "sql",
        "idle",
    ];
}

table! {
    /// A thread that existed during the recording.
    Thread in "threads" sorted by begin_ns {
        /// Id of the thread in this trace.
        id: i64,
        /// Kernel's thread id in the recorder's pid namespace; null for a virtual thread.
        tid: Option<i32>,
        /// Process that it belongs to.
        pid: i32,
        /// `Thread.threadId()`; null for a thread that is not Java's.
        java_id: Option<i64>,
        /// Java's name of it, else the kernel's.
        name: String,
        /// platform, carrier, virtual, gc, compiler, vm or native.
        kind: &'static str,
        /// When it began, or the recording did.
        begin_ns: i64,
        /// When it ended, or the recording did.
        end_ns: i64,
    }
}

table! {
    /// An interval in which one thread was in one state; gapless per thread.
    State in "states" sorted by begin_ns {
        /// The thread.
        thread: i64,
        /// Begin.
        begin_ns: i64,
        /// End.
        end_ns: i64,
        /// running, runnable, preempted, blocked, uninterruptible or unknown: what the kernel says.
        state: &'static str,
        /// Why: running, runnable, lock, pool, socket, file, gc, safepoint, idle, other or unknown.
        cause: &'static str,
        /// CPU it ran on; null unless running.
        cpu: Option<i32>,
        /// Thread that ended a blocked interval by waking it, if it is in `threads`.
        waker: Option<i64>,
        /// Kernel's id of the thread that woke it (0 is an interrupt or a timer on an idle CPU).
        waker_tid: Option<i32>,
        /// System call that it was blocked in.
        syscall: Option<Arc<str>>,
        /// File descriptor that it was blocked on.
        fd: Option<i32>,
        /// The wait (in `waits`) that says why.
        wait: Option<i64>,
    }
}

table! {
    /// A system call (only when recorded with --syscalls).
    Syscall in "syscalls" sorted by begin_ns {
        /// The thread.
        thread: i64,
        /// Entry.
        begin_ns: i64,
        /// Return.
        end_ns: i64,
        /// Its name.
        name: Arc<str>,
        /// File descriptor, if its first argument is one.
        fd: Option<i32>,
        /// What the descriptor was (`resources.id`).
        resource: Option<i64>,
        /// Bytes asked for, for calls that move bytes.
        size: Option<i64>,
        /// What it returned; negative is -errno.
        result: i64,
    }
}

table! {
    /// What a file descriptor was, for a time.
    Resource in "resources" sorted by begin_ns {
        /// Id in this trace.
        id: i64,
        /// File descriptor.
        fd: i32,
        /// file, socket, pipe, eventfd, epoll or other.
        kind: &'static str,
        /// Path, or `local -> remote`.
        name: String,
        /// Local address of a socket.
        local: Option<String>,
        /// Remote address of a connected socket.
        remote: Option<String>,
        /// Kernel's inode number.
        inode: Option<i64>,
        /// First seen.
        begin_ns: i64,
        /// Last seen.
        end_ns: i64,
    }
}

table! {
    /// An interval with a meaning.
    Span in "spans" sorted by begin_ns {
        /// Id in this trace.
        id: i64,
        /// Span that it lies in.
        parent: Option<i64>,
        /// connection, tls_handshake, request, service, pool_wait, pool_use, sql, app_state or user.
        kind: &'static str,
        /// Of a request `GET /path`, of SQL its normalised text, of a service the servlet.
        name: Arc<str>,
        /// Thread that began it.
        thread: i64,
        /// Thread that ended it; another one only where it was handed over (see `segments`).
        end_thread: i64,
        /// Begin.
        begin_ns: i64,
        /// End.
        end_ns: i64,
        /// Connection that it belongs to (a span's id).
        connection: Option<i64>,
        /// HTTP status of a request.
        status: Option<i32>,
        /// Of a handshake: whether it resumed a session.
        resumed: Option<bool>,
        /// Of a connection: port of the peer.
        peer_port: Option<i32>,
        /// Of a connection: address of the peer.
        peer: Option<Arc<str>>,
        /// False if the recording saw only a part of it.
        complete: bool,
    }
}

table! {
    /// A piece of a span that is worked on by several threads, or by none for a while.
    Segment in "segments" sorted by begin_ns {
        /// The span.
        span: i64,
        /// Thread that worked on it.
        thread: i64,
        /// Begin.
        begin_ns: i64,
        /// End.
        end_ns: i64,
        /// When the work was handed to the thread's queue, if that was seen.
        queued_ns: Option<i64>,
    }
}

table! {
    /// A point with a type and a value.
    Mark in "marks" sorted by ts_ns {
        /// When.
        ts_ns: i64,
        /// The thread.
        thread: i64,
        /// Type: of an application event, the name that it was given.
        kind: Arc<str>,
        /// Value.
        value: i64,
        /// Text, if it has one.
        text: Option<Arc<str>>,
    }
}

table! {
    /// A wait on a monitor, a condition or a parked synchronizer.
    Wait in "waits" sorted by begin_ns {
        /// Id in this trace.
        id: i64,
        /// Thread that waited.
        thread: i64,
        /// Begin.
        begin_ns: i64,
        /// End.
        end_ns: i64,
        /// monitor_enter (contended), monitor_wait (Object.wait) or park (LockSupport).
        kind: &'static str,
        /// Class of the monitor, or of the synchronizer that was parked on.
        class: Option<Arc<str>>,
        /// Identity hash of that object.
        object: Option<i64>,
        /// Thread that held it when the wait began (parks) or that released it (monitors).
        owner: Option<i64>,
        /// Thread that ended the wait by waking the waiter, from the kernel level.
        notifier: Option<i64>,
        /// acquired, notified, timeout, unparked, or cut (still waiting at the end).
        outcome: &'static str,
    }
}

table! {
    /// Work of the virtual machine that stops or slows the program.
    Vm in "vm" sorted by begin_ns {
        /// gc (a pause of a garbage collection).
        kind: &'static str,
        /// Collector.
        name: Arc<str>,
        /// Why it ran.
        cause: Arc<str>,
        /// Begin.
        begin_ns: i64,
        /// End.
        end_ns: i64,
        /// Heap used before, bytes.
        heap_before: Option<i64>,
        /// Heap used after, bytes.
        heap_after: Option<i64>,
    }
}

table! {
    /// A value that was read at a time.
    Counter in "counters" sorted by ts_ns {
        /// When it was read.
        ts_ns: i64,
        /// process, machine, or `cpu N`.
        scope: Arc<str>,
        /// Name, with its unit: `cpu_seconds`, `rss_bytes`.
        name: Arc<str>,
        /// Value.
        value: f64,
    }
}

table! {
    /// Time of one connection, handshake or request in one phase and for one cause; sums to its duration.
    Breakdown in "breakdown" sorted by span {
        /// The connection, tls_handshake or request (`spans.id`).
        span: i64,
        /// Its kind: connection, tls_handshake or request.
        kind: &'static str,
        /// tls_full, tls_resumed, tls_failed, tls_unknown (cut by the recording), request (outside the service), service, pool_wait, sql or idle.
        phase: &'static str,
        /// As in `states.cause`; between visits of a thread: idle, socket (for the peer), other (a suspended request) or queue (for a worker).
        cause: &'static str,
        /// Duration.
        duration_ns: i64,
    }
}

/// A table's name, meaning and columns.
#[derive(Debug, Clone)]
pub struct TableInfo {
    /// Name, and name of the file without `.parquet`.
    pub name: &'static str,
    /// What one row is.
    pub doc: &'static str,
    /// Columns in order.
    pub columns: Vec<Column>,
}

fn info<R: Row>() -> TableInfo {
    TableInfo {
        name: R::TABLE,
        doc: R::DOC.trim_ascii(),
        columns: R::columns(),
    }
}

/// Every table of the schema.
pub fn all() -> Vec<TableInfo> {
    vec![
        info::<Thread>(),
        info::<State>(),
        info::<Syscall>(),
        info::<Resource>(),
        info::<Span>(),
        info::<Segment>(),
        info::<Mark>(),
        info::<Wait>(),
        info::<Vm>(),
        info::<Counter>(),
        info::<Breakdown>(),
    ]
}
