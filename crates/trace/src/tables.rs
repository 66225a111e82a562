//! The tables of a trace, schema version [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).
//!
//! Ids are dense from 0 within one trace. Every `*_ns` that is not a duration is CLOCK_MONOTONIC.
//! An interval is half-open, `[begin_ns, end_ns)`, and is cut to the recording.
//!
//! Tables and columns that no recording of this version fills say so in their description; they are
//! there so that what fills them needs no other schema. What an older schema lacks is in
//! [`schema1`](crate::schema1).

mod counters;
pub mod names;

pub use counters::{COUNTERS, CounterInfo};

use std::sync::Arc;

use crate::table;
use crate::table::{Column, Row};

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
        /// Thread that started it; null if it began before the recording, and for virtual threads.
        parent: Option<i64>,
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
        /// running, runnable, preempted, blocked, uninterruptible or unknown: what the kernel says; a carrier with a virtual thread on it is carrying, and that thread has the states.
        state: &'static str,
        /// Why: running, runnable, lock, pool, socket, file, gc, safepoint, carrying (a carrier, see `state`), idle, other or unknown; in `breakdown` also admission (the guard lets a handshake wait for its turn).
        cause: &'static str,
        /// CPU it ran on; null unless running.
        cpu: Option<i32>,
        /// Thread that ended a blocked interval by waking it, if it is in `threads`.
        waker: Option<i64>,
        /// Kernel's id of the thread that woke it; 0 is an interrupt.
        waker_tid: Option<i32>,
        /// System call that it was blocked in.
        syscall: Option<Arc<str>>,
        /// File descriptor that it was blocked on.
        fd: Option<i32>,
        /// The wait (in `waits`) that says why.
        wait: Option<i64>,
        /// Of a blocked interval that was ended by a wake-up: whether an interrupt woke it (a packet, a timer, a disk) and no thread did. Null if that is not known.
        interrupt: Option<bool>,
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

macro_rules! is_connection {
    () => {
        "kind = 'connection' AND NOT regexp_matches(name, '^stream( |$)')"
    };
}

/// In SQL, whether a row of `spans` is a connection that may have several requests: what stands for that of one alone is named so.
pub const IS_CONNECTION: &str = is_connection!();

/// In SQL, the rows of `spans` to count connections by: where none was seen, what stands for that of one request each.
pub const CONNECTIONS: &str = concat!(
    "(FROM spans WHERE kind = 'connection' AND (",
    is_connection!(),
    " OR NOT EXISTS (FROM spans WHERE ",
    is_connection!(),
    ")))"
);

/// Whether a connection's name says that it stands for that of one request alone.
pub fn is_stream(name: &str) -> bool {
    name == "stream" || name.starts_with("stream ")
}

table! {
    /// An interval with a meaning.
    Span in "spans" sorted by begin_ns {
        /// Id in this trace.
        id: i64,
        /// Span that it lies in.
        parent: Option<i64>,
        /// connection, tls_handshake, request, service, pool_wait, pool_use, sql, call (of another service), app_state, user or method (only when recorded with --methods).
        kind: &'static str,
        /// Of a request `GET /path`, of SQL its normalised text, of a service the servlet, of a call the other service, of a connection its peer, behind `stream ` if it stands for that of one request alone (a stream of HTTP/2, or a request whose connection is not seen).
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
        /// Of a handshake: whether it resumed a session; null if that is not known, as where the recording cut it, it failed, or OpenSSL's engines do not say.
        resumed: Option<bool>,
        /// Of a connection: port of the peer.
        peer_port: Option<i32>,
        /// Of a connection: address of the peer.
        peer: Option<Arc<str>>,
        /// False if the recording saw only a part of it.
        complete: bool,
        /// True if it was still open when the recording ended, or was cut off by a crash: `end_ns` is that moment.
        open: bool,
        /// CPU time of its thread in it, where that is known: of methods with the kernel level or --method-cpu.
        cpu_ns: Option<i64>,
    }
}

table! {
    /// An invocation of a method that was recorded (only with --methods): what its span does not say. It began and ended within the recording.
    Call in "calls" sorted by begin_ns {
        /// Its span.
        span: i64,
        /// Begin.
        begin_ns: i64,
        /// How long it took.
        wall_ns: i64,
        /// CPU time of its thread in it: from when the kernel let it run, or, without the kernel level, from the thread's clock (--method-cpu; not of virtual threads). Else null.
        cpu_ns: Option<i64>,
        /// The recorded methods that it was called through, itself the innermost (`stacks.id`).
        stack: i64,
        /// Whether an exception ended it.
        threw: bool,
        /// Recorded invocations that were made in it, and in those.
        below: i64,
        /// Calls of methods with a probe that were left out in it and in those, by a filter or because they were short.
        left_out: i64,
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
        /// Type: of an application event, the name that it was given; cpus: the CPUs of the target changed (on its main thread, in thousandths).
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
        /// Where in the code it was (`stacks.id`): of waits of 10 ms and longer, or as --stacks says.
        stack: Option<i64>,
    }
}

table! {
    /// Work of the virtual machine that stops or slows the program.
    Vm in "vm" sorted by begin_ns {
        /// gc (a pause of a garbage collection) or safepoint (another stop of all threads); with --vm also gc_phase, compilation, deoptimization and class_load.
        kind: &'static str,
        /// Collector; of a safepoint its operation, of the others the phase, the method or the class.
        name: Arc<str>,
        /// Why it ran; of a gc_phase the one that it lies in, or its collection's number; of a compilation compiler and level; of a deoptimization reason and action; of a class_load where it came from.
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
    /// A time in which a virtual thread was mounted on a carrier; while it is on none it is either blocked or waits for a carrier.
    Mount in "mounts" sorted by begin_ns {
        /// The virtual thread.
        thread: i64,
        /// The carrier.
        carrier: i64,
        /// When it was mounted, or the recording began.
        begin_ns: i64,
        /// When it was unmounted or ended, or the recording did.
        end_ns: i64,
        /// Time of it in which the virtual thread was blocked and kept its carrier (pinned); 0 if it never was.
        pinned_ns: i64,
    }
}

table! {
    /// A frame of a deduplicated call stack, as a tree: a stack is named by its innermost frame, and `parent` leads to the caller's.
    Stack in "stacks" sorted by id {
        /// Id in this trace; a parent's is smaller than its children's.
        id: i64,
        /// The caller's frame; null for the outermost.
        parent: Option<i64>,
        /// Frames below it: 0 for the outermost.
        depth: i32,
        /// java, native (also what stands for frames that could not be seen, in parentheses) or kernel.
        kind: &'static str,
        /// `package.Class.method`, or the symbol.
        name: Arc<str>,
        /// Source file, else the shared object.
        file: Option<Arc<str>>,
        /// Line in it.
        line: Option<i32>,
    }
}

table! {
    /// A stack that was seen at a moment, and what the sample stands for: recorded with --samples or --allocations, or imported.
    Sample in "samples" sorted by ts_ns {
        /// When.
        ts_ns: i64,
        /// The thread.
        thread: i64,
        /// cpu (it was running) or alloc (it allocated).
        kind: &'static str,
        /// What it stands for: ns of CPU time, or bytes.
        weight: i64,
        /// Of an allocation: the class.
        class: Option<Arc<str>>,
        /// The stack (`stacks.id`).
        stack: i64,
        /// Of an allocation: bytes of the object, where that is known.
        size: Option<i64>,
    }
}

table! {
    /// An object of a class that was chosen with --allocation-of, from its allocation to where the collector found it dead.
    Object in "objects" sorted by begin_ns {
        /// When it was allocated.
        begin_ns: i64,
        /// When it was found dead, by a collection some time after its last use; null if it was not, by the end of the recording.
        freed_ns: Option<i64>,
        /// Thread that allocated it.
        thread: i64,
        /// Its class.
        class: Arc<str>,
        /// Its size in bytes.
        size: i64,
        /// Where in the code (`stacks.id`); null where stacks would have cost too much.
        stack: Option<i64>,
    }
}

table! {
    /// A value that was read at a time; which there are is listed below.
    Counter in "counters" sorted by ts_ns {
        /// When it was read.
        ts_ns: i64,
        /// process (the target), heap (its), recorder, machine, network (the target's namespace), `pool P`, `executor E`, `cpu N`, or `role R`: what the target's threads of a role counted, with R one of workers, gc, jit, rest and ended.
        scope: Arc<str>,
        /// Name, which ends in its unit.
        name: Arc<str>,
        /// Value.
        value: f64,
    }
}

table! {
    /// What a thread counted between two readings (only when recorded with --counters); what counted nothing has no row.
    ThreadCounter in "thread_counters" sorted by begin_ns {
        /// The thread.
        thread: i64,
        /// One reading.
        begin_ns: i64,
        /// The next.
        end_ns: i64,
        /// Counter, as in scope `role R` of `counters`.
        name: Arc<str>,
        /// How much of it.
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
        /// tls_full, tls_resumed, tls_failed, tls_unknown (cut by the recording, or of OpenSSL's), request (outside the service), service, pool_wait, sql, call or idle.
        phase: &'static str,
        /// As in `states.cause`; between visits of a thread: idle, socket (nothing has come from the peer), runnable or queue (the server does not get to it), admission (it waits for its turn) or other (a suspended request).
        cause: &'static str,
        /// Duration.
        duration_ns: i64,
    }
}

table! {
    /// Time of one thread in one cause, within one of the 1,024 equal parts that a recording is cut into; a state as long as a part and longer has a row of its own. They add up to `states`: what an overview of a long recording is drawn of.
    StateSum in "state_sums" sorted by begin_ns {
        /// The thread.
        thread: i64,
        /// Begin of the part, or of the state.
        begin_ns: i64,
        /// End of the part, or of the state.
        end_ns: i64,
        /// As `states.cause`; of a state that is preempted: preempted.
        cause: &'static str,
        /// Time in it.
        duration_ns: i64,
        /// States that began in it.
        states: i64,
    }
}

table! {
    /// Time of one thread in spans of one kind that lie at one depth of nesting, within one part of the recording (see `state_sums`); a span, or its piece on the thread, that is as long as a part has a row of its own. Of what is nested deeper than six on a thread there is nothing, and of connections only visits.
    SpanSum in "span_sums" sorted by begin_ns {
        /// The thread.
        thread: i64,
        /// Spans of the thread that it lies in.
        depth: i32,
        /// Begin of the part, or of the span.
        begin_ns: i64,
        /// End of the part, or of the span.
        end_ns: i64,
        /// As `spans.kind`.
        kind: &'static str,
        /// As `spans.resumed`.
        resumed: Option<bool>,
        /// Time in it.
        duration_ns: i64,
        /// Spans, or their pieces, that began in it.
        spans: i64,
        /// The span, where the row is of one.
        span: Option<i64>,
        /// Its name.
        name: Option<Arc<str>>,
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
        info::<Call>(),
        info::<Segment>(),
        info::<Mark>(),
        info::<Wait>(),
        info::<Vm>(),
        info::<Mount>(),
        info::<Stack>(),
        info::<Sample>(),
        info::<Object>(),
        info::<Counter>(),
        info::<ThreadCounter>(),
        info::<Breakdown>(),
        info::<StateSum>(),
        info::<SpanSum>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_count_for_connections_only_where_no_connection_was_seen() {
        let db = duckdb::Connection::open_in_memory().expect("a database");
        let counts = || -> (i64, i64) {
            let sql = format!(
                "SELECT (SELECT count(*) FROM {CONNECTIONS}), (SELECT count(*) FROM spans WHERE {IS_CONNECTION})"
            );
            db.query_row(&sql, [], |r| Ok((r.get(0)?, r.get(1)?)))
                .expect("two numbers")
        };
        db.execute_batch(
            "CREATE TABLE spans AS FROM (VALUES ('connection', 'stream'), ('connection', 'stream 10.0.0.5:1'), ('request', 'GET /'))
             t(kind, name)",
        )
        .expect("a table");
        assert_eq!(counts(), (2, 0));
        db.execute_batch("INSERT INTO spans VALUES ('connection', '10.0.0.5:1'), ('connection', 'streams.test:1')")
            .expect("two rows");
        assert_eq!(counts(), (2, 2));
    }
}
