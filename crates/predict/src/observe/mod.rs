//! What a trace says that a model needs: requests and handshakes with the CPU time of their parts, what threads used
//! besides, collections, pools, locks.
//!
//! Terms: a *visit* is the time in which a worker serves a connection; a *piece* is the part of a handshake in one visit;
//! a *dispatcher* is a thread that hands connections to workers (Tomcat's poller). Times are seconds from the recording's
//! beginning, durations and CPU seconds.
//!
//! [`read`] asks the trace; [`cpu`] adds up CPU time between two moments of a thread, without I/O.

pub mod cpu;
mod read;

pub use read::read;

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

/// A request that was seen from its beginning to its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// `GET /path`, as recorded.
    pub name: String,
    /// When it began.
    pub begin: f64,
    /// When it ended.
    pub end: f64,
    /// Its connection, if that was seen whole.
    pub connection: Option<i64>,
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
    /// Pooled connections that it asked for.
    pub acquisitions: u32,
    /// In statements neither running nor kept from it: waiting for the database.
    pub sql_wait: f64,
    /// Elsewhere waiting for something that is no CPU, lock, pool or collection.
    pub other_wait: f64,
    /// Waiting for locks.
    pub lock: f64,
    /// Waiting for a pooled connection.
    pub pool_wait: f64,
}

/// A handshake that was seen whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Handshake {
    /// Whether it resumed a session.
    pub resumed: bool,
    /// When it began.
    pub begin: f64,
    /// Its pieces: time since the one before ended, until the connection was ready for a worker; and CPU.
    pub pieces: Vec<(f64, f64)>,
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

/// A pool of connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Connections asked for.
    pub asked: u64,
    /// Most in use at a time.
    pub most_used: u64,
}

/// Waits for a lock.
#[derive(Debug, Clone, PartialEq)]
pub struct Lock {
    /// Class of the object.
    pub class: String,
    /// How many.
    pub waits: u64,
    /// All together, in seconds.
    pub seconds: f64,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// What was recorded.
    pub about: About,
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
    /// Pools.
    pub pools: Vec<Pool>,
    /// Locks that were waited for.
    pub locks: Vec<Lock>,
    /// Most workers busy at a time.
    pub most_workers: u64,
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
