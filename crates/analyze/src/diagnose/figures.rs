//! What hypotheses are judged by: figures of a trace, without any judgement.
//!
//! Terms: the *requests' time* is the time of all handshakes and requests, and that in which a
//! connection lay in the workers' queue; shares are of it unless something else is said. A *worker*
//! is a thread that serves requests.

use std::collections::BTreeMap;

use serde::Serialize;

/// All of them. `None` where the trace does not hold what a figure needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Length of the recording.
    pub seconds: f64,
    /// CPUs that the target might use.
    pub cpus: f64,
    /// Version of its JDK; 0 if not known.
    pub java: u32,
    /// Levels that were recorded.
    pub levels: Levels,
    /// Requests.
    pub requests: Requests,
    /// The requests' time.
    pub time: Time,
    /// CPU time.
    pub cpu: Cpu,
    /// Connections and handshakes.
    pub doors: Doors,
    /// Locks, the most waited-for first.
    pub locks: Vec<Lock>,
    /// What no thread owns, the most waited-for first.
    pub others: Vec<Other>,
    /// Pools of connections, the most waited-for first.
    pub pools: Vec<Pool>,
    /// Waits for a pool while connections of it were free, the longest first.
    pub forgotten: Vec<Forgotten>,
    /// Statements, the most expensive first.
    pub statements: Vec<Statement>,
    /// Other services that were called, what took most first.
    pub services: Vec<Service>,
    /// Use of database connections.
    pub sql: SqlUse,
    /// Collections.
    pub gc: Gc,
    /// Workers.
    pub workers: Workers,
    /// Carriers of virtual threads.
    pub carriers: Option<Carriers>,
    /// Reads of a single byte; none without system calls.
    pub tiny_reads: Option<TinyReads>,
    /// Service times per worker, for symptoms.
    pub outlier: Option<Outlier>,
    /// Endpoints, the most expensive first.
    pub endpoints: Vec<Endpoint>,
}

/// Another service, as it was called.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Service {
    /// Where it is.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Mean time of a call.
    pub mean_ms: f64,
    /// When the longest began.
    pub longest_ns: i64,
}

/// What was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Levels {
    /// Thread states.
    pub kernel: bool,
    /// System calls.
    pub syscalls: bool,
    /// Locks, parks and collections.
    pub jvm: bool,
    /// Connections, requests, pools, SQL.
    pub server: bool,
    /// Statements are among them.
    pub sql: bool,
}

/// Requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Requests {
    /// That began and ended in the recording.
    pub count: u64,
    /// Per second.
    pub per_s: f64,
    /// Response time, ms.
    pub p50_ms: f64,
    /// Its 95th percentile.
    pub p95_ms: f64,
    /// Its 99th percentile.
    pub p99_ms: f64,
    /// Answered with 500 and more.
    pub server_errors: u64,
    /// Unanswered at the end of the recording, for a second and more.
    pub hanging: u64,
    /// When the slowest began.
    pub slowest_ns: Option<i64>,
}

/// The requests' time by phase and cause, ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Time {
    /// Phase (as in `breakdown`), cause, ns.
    pub cells: Vec<(String, String, i64)>,
}

impl Time {
    /// All of it, ns.
    pub fn total(&self) -> f64 {
        self.sum(|_, _| true)
    }

    /// Time of the cells that are chosen, ns.
    pub fn sum(&self, chosen: impl Fn(&str, &str) -> bool) -> f64 {
        let of = |c: &(String, String, i64)| if chosen(&c.0, &c.1) { c.2 as f64 } else { 0.0 };
        self.cells.iter().map(of).sum()
    }

    /// Share of the cells that are chosen; 0 if there is no time at all.
    pub fn share(&self, chosen: impl Fn(&str, &str) -> bool) -> f64 {
        let total = self.total();
        if total > 0.0 {
            self.sum(chosen) / total
        } else {
            0.0
        }
    }

    /// Share of one cause.
    pub fn cause(&self, cause: &str) -> f64 {
        self.share(|_, c| c == cause)
    }

    /// Share of one phase.
    pub fn phase(&self, phase: &str) -> f64 {
        self.share(|p, _| p == phase)
    }
}

/// CPU time. Shares are of the CPUs that the target might use.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cpu {
    /// Used by the target.
    pub utilization: Option<f64>,
    /// Used by others on the CPUs on which the target ran.
    pub others: Option<f64>,
    /// While threads of the target waited for a CPU: the share of its CPUs that ran none of them, though one waited for
    /// it. Its own threads were not in the way there. None without waiting.
    pub starved: Option<f64>,
    /// How long a thread of the target waits for its turn on a CPU, ms: all but one wait in a thousand are shorter.
    pub turn_ms: Option<f64>,
    /// Given to other virtual machines by the hypervisor, of all CPUs.
    pub steal: Option<f64>,
    /// Seconds of the target by kind of thread: request threads are `platform`, `carrier`.
    pub by_kind: BTreeMap<String, f64>,
    /// Of the target's CPU time, what it spent in the kernel.
    pub kernel_share: Option<f64>,
    /// Periods in which the quota was used up, of those in which it ran.
    pub throttled_share: Option<f64>,
    /// Time in which it stood still for that, on each CPU, s.
    pub throttled_seconds: Option<f64>,
    /// CPUs of the quota.
    pub quota: Option<f64>,
    /// CPU time of workers per request in the first and in the last third of the recording, ms.
    pub per_request_ms: Option<(f64, f64)>,
    /// Share of the target's CPU time that compilers took in the first and in the last third.
    pub compilers: Option<(f64, f64)>,
}

impl Cpu {
    /// Seconds of the target in all.
    pub fn seconds(&self) -> f64 {
        self.by_kind.values().sum()
    }

    /// Share of the target's CPU time that threads of one kind took.
    pub fn kind(&self, kind: &str) -> f64 {
        self.by_kind.get(kind).copied().unwrap_or(0.0) / self.seconds().max(1e-9)
    }
}

/// Connections and handshakes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Doors {
    /// Connections that were opened.
    pub opened: u64,
    /// Full handshakes.
    pub full: u64,
    /// Resumed ones.
    pub resumed: u64,
    /// Failed ones.
    pub failed: u64,
    /// Those of which it is not known whether they were full ones, as of OpenSSL's.
    pub unknown: u64,
    /// Dropped because a queue of connections to accept was full; none if not recorded.
    pub overflows: Option<u64>,
    /// Most connections that waited to be accepted by the target, where connections were dropped.
    pub accept_queue: Option<f64>,
}

/// A lock that was waited for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Lock {
    /// Class of the object.
    pub class: String,
    /// Waits.
    pub waits: u64,
    /// Threads that waited.
    pub waiters: u64,
    /// All waits together, ms.
    pub wait_ms: f64,
    /// Its part of all time that was waited for locks.
    pub part: f64,
    /// Most threads that waited at a time.
    pub convoy: u64,
    /// Part of its waits that lay inside statements.
    pub in_sql: f64,
    /// Part of its waits that lay inside waits for a pool.
    pub in_pool: f64,
    /// Thread that most waited for.
    pub owner: Option<String>,
    /// When its longest wait began.
    pub longest_ns: i64,
    /// What its owners did while others waited: running, runnable, waiting for another lock, I/O, stopped by the collector or
    /// at a safepoint, other; sum 1. None if unknown.
    pub owners: Option<[f64; 6]>,
}

/// Something that requests waited for and no thread owns: permits of a semaphore, a latch, a future, a condition.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Other {
    /// park, monitor_wait or sleep.
    pub kind: String,
    /// Class of the object, or empty.
    pub class: String,
    /// Whether it may be what those who wait for it hand round, as permits and pooled objects are; then it is one object, else all
    /// of the class.
    pub goes_round: bool,
    /// Waits.
    pub waits: u64,
    /// Threads that waited.
    pub waiters: u64,
    /// Most that waited at a time.
    pub convoy: u64,
    /// All waits together, ms.
    pub wait_ms: f64,
    /// Part of it that a thread ended which waits for it as well.
    pub by_peers: f64,
    /// Part of it inside statements.
    pub in_sql: f64,
    /// Part of it that a timer ended.
    pub timed: f64,
    /// Part of it in which those threads ran, or were runnable.
    pub computing: Option<f64>,
    /// The code that most waited in, where stacks were taken.
    pub code: Option<String>,
    /// Thread that ended most.
    pub waker: Option<String>,
    /// When the longest began.
    pub longest_ns: i64,
}

impl Other {
    const MOST: f64 = 0.5;

    /// Of the requests' time.
    pub fn share(&self, f: &Figures) -> f64 {
        self.wait_ms * 1e6 / f.time.total().max(1.0)
    }

    /// Whether it is something that requests give each other, outside of statements: who ends a wait for a result, a message or a
    /// slow client waits for none.
    pub fn is_shared(&self) -> bool {
        self.goes_round && self.by_peers >= Other::MOST && self.in_sql < Other::MOST
    }

    /// In words of at most so many letters.
    pub fn what(&self, width: usize) -> String {
        if self.class.is_empty() && self.timed >= Other::MOST {
            return "time to pass".into();
        }
        crate::synchronizers::what(&self.kind, &self.class, width)
    }
}

/// A pool of connections.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Connections asked for.
    pub asked: u64,
    /// Of them, waited for longer than 1 ms.
    pub waited: u64,
    /// All waits together, ms.
    pub wait_ms: f64,
    /// Mean time that a connection was kept, ms.
    pub mean_use_ms: f64,
    /// Most connections in use at a time.
    pub size: u64,
    /// Connections that it may have, if it says so.
    pub limit: Option<u64>,
    /// Share of the recording in which so many were in use.
    pub full: f64,
    /// Most threads that waited at a time.
    pub waiting: u64,
    /// When its longest wait began.
    pub longest_ns: i64,
}

impl Figures {
    /// A share of the requests' time, and that of those who wait behind it: for a connection that is kept for it so long,
    /// in ms of all their uses together, and for a worker. Behind a slow statement most wait for a connection, and few for
    /// the statement; and in a queue for workers one waits for all that holds them up.
    pub fn with_those_behind(&self, share: f64, kept_ms: f64) -> f64 {
        let held_up = share + self.behind_pool(kept_ms);
        let at_workers = 1.0 - self.time.cause("queue");
        if held_up > 0.0 {
            held_up / at_workers.max(held_up)
        } else {
            0.0
        }
    }

    fn behind_pool(&self, ms: f64) -> f64 {
        let kept: f64 = self
            .pools
            .iter()
            .map(|p| p.mean_use_ms * p.asked as f64)
            .sum();
        if kept > 0.0 {
            self.time.phase("pool_wait") * (ms / kept).min(1.0)
        } else {
            0.0
        }
    }
}

/// A long wait for a pool.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Forgotten {
    /// The pool.
    pub pool: String,
    /// Who waited.
    pub thread: String,
    /// When it began.
    pub begin_ns: i64,
    /// How long, ms.
    pub wait_ms: f64,
    /// Of that, while connections were free, ms.
    pub free_ms: f64,
    /// Connections that were given back meanwhile.
    pub released: u64,
    /// Whether it went on when the recording ended.
    pub open: bool,
}

/// A statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Statement {
    /// Normalised text.
    pub text: String,
    /// Calls.
    pub calls: u64,
    /// Median, ms.
    pub p50_ms: f64,
    /// Median of the time in which nothing held it up, ms: without waiting for a CPU, a lock or the JVM.
    pub work_ms: f64,
    /// All calls together, ms.
    pub total_ms: f64,
    /// When the longest began.
    pub longest_ns: i64,
}

/// Use of database connections.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SqlUse {
    /// Statements.
    pub calls: u64,
    /// Of them, those that ran while their thread had no connection from a pool.
    pub outside_pool: u64,
    /// Threads that ran statements.
    pub threads: u64,
    /// Most that ran at a time.
    pub at_once: u64,
    /// Share of statements that began while another thread's was running.
    pub overlapping: f64,
    /// Statements that began while more statements ran than connections of pools were in use.
    pub over: u64,
    /// Connections that a pool handed to a thread before another had given them back.
    pub not_given_back: u64,
}

/// Collections.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Gc {
    /// Pauses.
    pub pauses: u64,
    /// Share of the recording in pauses.
    pub share: f64,
    /// Longest pause, ms.
    pub longest_ms: f64,
    /// When it began.
    pub longest_ns: i64,
    /// Heap after each collection: seconds since the beginning, bytes.
    pub after: Vec<(f64, f64)>,
    /// Bytes that were freed by all.
    pub freed: f64,
}

/// Workers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Workers {
    /// Threads that served a connection.
    pub threads: u64,
    /// Most that did so at a time.
    pub most_busy: u64,
    /// Mean that did so.
    pub mean_busy: f64,
    /// Share of the recording in which all that were ever busy were busy.
    pub all_busy: f64,
    /// Threads that there may be, if their executors say so.
    pub limit: Option<u64>,
}

/// Carriers of virtual threads.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Carriers {
    /// How many.
    pub threads: u64,
    /// Share of their time in which they were blocked in the midst of work.
    pub blocked: f64,
    /// Share of their time in which they ran.
    pub running: f64,
    /// Share of their time in which they had nothing to do.
    pub idle: f64,
    /// Share of their time in which a pinned virtual thread kept them blocked; none if mounts were not recorded.
    pub pinned: Option<f64>,
}

/// Reads of a single byte.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TinyReads {
    /// How many.
    pub count: u64,
    /// Time in them, ms.
    pub total_ms: f64,
    /// The file that most were from.
    pub file: String,
}

/// A worker whose services take longer than its peers'.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outlier {
    /// Its name.
    pub thread: String,
    /// Mean of its services, ms.
    pub mean_ms: f64,
    /// Median of its peers' means, ms.
    pub peers_ms: f64,
    /// When its longest service began.
    pub at_ns: i64,
}

/// A type of request.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Endpoint {
    /// Name, without what follows a query mark.
    pub name: String,
    /// Requests.
    pub count: u64,
    /// Median, ms.
    pub p50_ms: f64,
    /// Mean time on a CPU, ms.
    pub running_ms: f64,
    /// Share of the requests' time.
    pub share: f64,
    /// When the longest began.
    pub longest_ns: i64,
}
