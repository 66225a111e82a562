//! `raw/proc.jsonl`: what `/proc` and the attach socket said, one JSON object a line.

use serde::{Deserialize, Serialize};

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Line {
    /// The target's threads at one moment.
    Threads {
        /// When the directory was read; each thread has its own time too.
        ts: i64,
        /// The threads.
        threads: Vec<ThreadSeen>,
    },
    /// Open descriptors at one moment (only those that were not in the last such line as they are).
    Fds {
        /// When.
        ts: i64,
        /// Descriptors that are new or have changed.
        opened: Vec<FdSeen>,
        /// Descriptors that are gone.
        closed: Vec<i32>,
    },
    /// Reply of the JVM to `threaddump`: names, Java ids and kernel ids of Java threads.
    JavaThreads {
        /// When it was asked for.
        ts: i64,
        /// The text, whole.
        dump: String,
    },
    /// Values.
    Counters {
        /// When.
        ts: i64,
        /// `process`, `machine`, `cpu N`.
        scope: String,
        /// Name with unit, value.
        values: Vec<(String, f64)>,
    },
    /// CPU time of each thread at the end, for checks (`/proc/PID/task/TID/schedstat`).
    CpuTime {
        /// When.
        ts: i64,
        /// (tid, ns on CPU, ns runnable).
        threads: Vec<(i32, u64, u64)>,
    },
}

/// A thread in `/proc/PID/task`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ThreadSeen {
    /// Kernel id in the recorder's pid namespace.
    pub tid: i32,
    /// Kernel id in the target's pid namespace.
    pub nstid: i32,
    /// The kernel's name of it (cut at 15 characters).
    pub comm: String,
    /// State letter of `/proc/PID/task/TID/stat`: R, S, D, …
    pub state: char,
    /// When that letter was read, CLOCK_MONOTONIC.
    pub ts: i64,
    /// System call that it is blocked in (`/proc/PID/task/TID/syscall`), if readable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syscall: Option<i32>,
    /// Its first argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fd: Option<i64>,
}

/// A descriptor in `/proc/PID/fd`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FdSeen {
    /// Number.
    pub fd: i32,
    /// What the link says: a path, `socket:[inode]`, `anon_inode:[eventpoll]`.
    pub link: String,
    /// Of a TCP or UDP socket: local address and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// Of a connected one: remote address and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// Lines of the spool; a torn last line, and a line of a kind that is not known, are passed over.
pub fn lines(text: &str) -> impl Iterator<Item = Line> + '_ {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}
