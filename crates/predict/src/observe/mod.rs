//! What a trace says that a model needs: requests and handshakes with the CPU time of their parts, what threads used
//! besides, collections, pools, locks.
//!
//! Terms: a *visit* is the time in which a worker serves a connection; a *piece* is the part of a handshake in one visit;
//! a *dispatcher* is a thread that hands connections to workers (Tomcat's poller). Times are seconds from the recording's
//! beginning, durations and CPU seconds.
//!
//! [`read`] asks the trace, `threads` what its threads did; [`cpu`] adds up CPU time between two moments of a thread, without I/O.

pub mod cpu;
mod locks;
mod read;
mod several;
mod threads;

pub use read::read;
pub use several::end_to_end;

/// Over which time a mean of a CPU's use tells what a request costs on it, in seconds. By shorter means cost goes up and down
/// with the steps of a visit (the dispatcher, then the worker); by means over 5 ms and more less of it is told.
pub const RECENT: f64 = 0.003;

/// What was recorded, and how much of it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct About {
    /// The trace's folder.
    pub trace: String,
    /// Name of the target.
    pub name: String,
    /// Its JVM.
    pub jvm: String,
    /// Its server.
    pub server: String,
    /// The machine's CPU and kernel.
    pub machine: String,
    /// CPUs that it might use.
    pub cpus: u32,
    /// Length of the recording.
    pub seconds: f64,
}

/// One recording's place in what was observed: several are laid end to end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// When it begins.
    pub begin: f64,
    /// Its length.
    pub seconds: f64,
    /// Its first second in [`Others::seconds`], and how many of them it has.
    pub rows: (usize, usize),
}

/// A request that was seen from its beginning to its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// `GET /path`, as recorded.
    pub name: String,
    /// When it began.
    pub begin: f64,
    /// When it ended.
    pub end: f64,
    /// How busy its CPU had just been when it began, by [`RECENT`].
    pub busy: f64,
    /// Its connection, if that is known.
    pub connection: Option<Connection>,
    /// CPU outside of its service: reading, writing, the container.
    pub container: f64,
    /// CPU in its service while it held no pooled connection.
    pub service: f64,
    /// CPU while it held one, statements left out.
    pub held: f64,
    /// CPU in statements.
    pub sql: f64,
    /// Statements.
    pub statements: u32,
    /// Calls of other services.
    pub calls: u32,
    /// Pooled connections that it asked for.
    pub acquisitions: u32,
    /// The pool that it asked for most of them.
    pub pool: Option<String>,
    /// How many pools it asked.
    pub pools: u32,
    /// In statements neither running nor kept from it: waiting for the database.
    pub sql_wait: f64,
    /// The same in calls of other services: waiting for their answers.
    pub service_wait: f64,
    /// Elsewhere waiting for something that is no CPU, lock, pool or collection.
    pub other_wait: f64,
    /// Waiting for locks.
    pub lock: f64,
    /// Waiting for a pooled connection.
    pub pool_wait: f64,
}

/// A connection, and how much of it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection {
    /// Its id.
    pub id: i64,
    /// It was opened while recording.
    pub opened: bool,
    /// When it was closed, if that was while recording, ns.
    pub closed: Option<i64>,
}

/// A handshake that was seen whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Handshake {
    /// Whether it resumed a session; `None`: nobody says, as of engines of OpenSSL's.
    pub resumed: Option<bool>,
    /// When it began.
    pub begin: f64,
    /// How busy its CPU had just been when its first piece began, by [`RECENT`].
    pub busy: f64,
    /// Its pieces: time since the one before ended, until the connection was ready for a worker; and CPU.
    pub pieces: Vec<(f64, f64)>,
}

impl Handshake {
    /// Whether it is known to have resumed a session: where that is not known all are of one kind.
    pub fn has_resumed(&self) -> bool {
        self.resumed == Some(true)
    }
}

/// What threads used that serve connections, besides requests and handshakes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overheads {
    /// Visits of workers.
    pub visits: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Of workers in visits, outside of requests and handshakes, per visit.
    pub visit: Vec<f64>,
    /// Of workers between two visits without having slept.
    pub awake: Vec<f64>,
    /// Of workers between two visits, having slept: going to sleep and being woken.
    pub slept: Vec<f64>,
    /// Of dispatchers: CPU of each time of being awake, and how many connections it handed to workers.
    pub dispatcher: Vec<(f64, u32)>,
    /// Waits of dispatchers for a lock.
    pub dispatcher_locked: u64,
    /// Workers that are threads of the kernel: they take their work from a queue, virtual ones are made for it.
    pub pooled: usize,
    /// Of the threads that accept connections.
    pub acceptor: f64,
}

/// CPU of a kind of thread that serves no connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Others {
    /// `gc`, `compiler`, or `other`.
    pub kind: &'static str,
    /// CPU in each second of the recording.
    pub seconds: Vec<f64>,
    /// CPU of each time of being awake.
    pub bursts: Vec<f64>,
}

/// A pause of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Pause {
    /// When it began.
    pub begin: f64,
    /// How long it was.
    pub length: f64,
    /// Heap before and after, in bytes.
    pub heap: Option<(f64, f64)>,
}

/// What a collection of G1 left, and the connections that were open then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlived {
    /// Young still, bytes.
    pub survivors: f64,
    /// The old generation, bytes.
    pub old: f64,
    /// The heap's bound, bytes.
    pub most: f64,
    /// Connections that were open.
    pub open: u32,
    /// Of them, those that were opened since the collection before.
    pub new: u32,
}

/// A pool of connections.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Connections asked for.
    pub asked: u64,
    /// Most in use at a time.
    pub most_used: u64,
    /// Connections that it may have, if it says so.
    pub limit: Option<u64>,
}

/// Parts of a request's CPU, by what its thread is at.
pub const PARTS: [&str; 4] = ["container", "service", "held", "sql"];

/// A lock that was waited for.
#[derive(Debug, Clone, PartialEq)]
pub struct Lock {
    /// Class of the object.
    pub class: String,
    /// The object's identity in the trace.
    pub object: i64,
    /// Waits by their beginning.
    pub waits: Vec<LockWait>,
    /// What those did who had it.
    pub owners: Owners,
}

/// A wait for a lock.
#[derive(Debug, Clone, PartialEq)]
pub struct LockWait {
    /// When it began.
    pub begin: f64,
    /// Until whoever had the lock let go of it.
    pub seconds: f64,
    /// The request that waited, if it was one.
    pub request: Option<String>,
    /// Which of [`PARTS`] it was at.
    pub part: &'static str,
}

/// What the owners of a lock did while others waited for it, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Owners {
    /// All of it.
    pub held: f64,
    /// They had a CPU.
    pub running: f64,
    /// They were kept from one, or waited for another lock.
    pub kept: f64,
    /// They waited for anything else.
    pub waiting: f64,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// What was recorded.
    pub about: About,
    /// The recordings, if there are several.
    pub several: Vec<Stretch>,
    /// Requests by their beginning.
    pub requests: Vec<Request>,
    /// Handshakes by their beginning.
    pub handshakes: Vec<Handshake>,
    /// What serving cost besides.
    pub overheads: Overheads,
    /// What the rest of the process used.
    pub others: Vec<Others>,
    /// Collections.
    pub pauses: Vec<Pause>,
    /// What collections left, where they tell.
    pub outlived: Vec<Outlived>,
    /// Pools.
    pub pools: Vec<Pool>,
    /// Locks that were waited for.
    pub locks: Vec<Lock>,
    /// What requests gave each other and no thread owns, permits of semaphores, in words, and how often one waited for it.
    pub shared: Vec<(String, u64)>,
    /// Most workers busy at a time.
    pub most_workers: u64,
    /// Workers that there may be, if their executors say so.
    pub workers: Option<u64>,
    /// CPU of all threads of the process, from their states.
    pub cpu: f64,
    /// The same from `/proc`, over the part of the recording between two readings: CPU and seconds.
    pub counted: Option<(f64, f64)>,
    /// CPU of the process from its states in the same part of the recording.
    pub cpu_where_counted: f64,
    /// CPU that others used on the machine, per second.
    pub others_on_machine: Option<f64>,
    /// Times threads were switched to.
    pub switches: u64,
    /// Events that the agent wrote.
    pub agent_events: u64,
}

impl Observed {
    /// The recordings that this is made of.
    pub fn stretches(&self) -> Vec<Stretch> {
        if !self.several.is_empty() {
            return self.several.clone();
        }
        vec![Stretch {
            begin: 0.0,
            seconds: self.about.seconds,
            rows: (0, self.others.first().map_or(0, |o| o.seconds.len())),
        }]
    }
}

impl Stretch {
    /// Whether a moment lies in it.
    pub fn has(&self, at: f64) -> bool {
        at >= self.begin && at < self.begin + self.seconds
    }

    /// The row of a moment's second; none of one that is not whole.
    pub fn row(&self, at: f64) -> Option<usize> {
        let second = (at - self.begin) as usize;
        (self.has(at) && second < self.rows.1).then_some(self.rows.0 + second)
    }
}
