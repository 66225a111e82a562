//! Names of thread states, causes and phases, so that nobody misspells them.

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

/// Of a carrier: a virtual thread is on it, whose states say what it does.
pub const CARRYING: &str = "carrying";

/// Causes of a state; see `states.cause`.
pub const CAUSES: [&str; 13] = [
    RUNNING, RUNNABLE, LOCK, POOL, SOCKET, FILE, GC, SAFEPOINT, ADMISSION, CARRYING, IDLE, OTHER,
    UNKNOWN,
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
/// Held back by admission control: a handshake or a request that waits for the guard's turn.
pub const ADMISSION: &str = "admission";
/// Waiting for work: a worker without a task, a timer, a sleeping thread.
pub const IDLE: &str = "idle";
/// Blocked for a reason that is known to be none of these, or not known.
pub const OTHER: &str = "other";

/// Phases of a connection; see `breakdown.phase`.
pub const PHASES: [&str; 10] = [
    "tls_full",
    "tls_resumed",
    "tls_failed",
    "tls_unknown",
    "request",
    "service",
    "pool_wait",
    "sql",
    "call",
    "idle",
];
