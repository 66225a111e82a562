//! A model as the simulator and the solvers see it: names resolved to indices, expressions evaluated, all times in
//! seconds, all sizes in bytes. [`crate::language`] makes one from TOML.
//!
//! Terms: a *machine* has cores and a scheduler; a *pool* is a queue and the threads that serve it, on a machine; an
//! *entry* is what a pool can be asked to do, with the program that its threads run for it; a *station* is a queue and
//! servers without threads (a disk, a foreign system); a *resource* is what can be held: mutex, read-write lock,
//! semaphore, connections; a *class* is a kind of request, with the program of the client that issues it; a *source*
//! makes requests of one or several classes.

mod step;

pub use step::{KeepAlive, Mode, Step};

use loadline_arrivals::Schedule;
use loadline_stats::random::Dist;
use std::collections::BTreeMap;
use std::sync::Arc;

/// No bound on a number of servers, threads or waiting places.
pub const UNLIMITED: u32 = u32::MAX;

/// A whole model.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// File it came from, for messages.
    pub file: String,
    /// What it is, in the author's words.
    pub title: String,
    /// How exact its answers are to be where nobody says: relative half width of the 95% intervals.
    pub precision: Option<f64>,
    /// Parameters as used, in the order of their names.
    pub parameters: BTreeMap<String, String>,
    /// Those parameters that were fitted and not set: with their intervals.
    pub uncertain: Vec<Uncertain>,
    /// Machines.
    pub machines: Vec<Machine>,
    /// Thread pools.
    pub pools: Vec<Pool>,
    /// Entries of all pools.
    pub entries: Vec<Entry>,
    /// Stations, including those that stand for links.
    pub stations: Vec<Station>,
    /// Locks, semaphores, connection pools.
    pub resources: Vec<Resource>,
    /// Condition variables, by name.
    pub conditions: Vec<String>,
    /// Connections that clients keep alive, by name.
    pub connections: Vec<String>,
    /// Groups of pools: a process, a cgroup, an application.
    pub groups: Vec<Group>,
    /// Garbage-collected heaps.
    pub heaps: Vec<Heap>,
    /// Admission guards.
    pub guards: Vec<Guard>,
    /// CPU managers.
    pub managers: Vec<Manager>,
    /// Request classes.
    pub classes: Vec<Class>,
    /// Sources of requests.
    pub sources: Vec<Source>,
    /// Names of the phases that programs mark.
    pub phases: Vec<String>,
    /// What is suspicious but not wrong.
    pub warnings: Vec<String>,
}

/// A parameter that is known only so well.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertain {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Half the width of its 95% interval.
    pub ci95: f64,
    /// What it may be.
    pub range: Option<(f64, f64)>,
}

/// Cores and a scheduler.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Name.
    pub name: String,
    /// Number of cores; [`UNLIMITED`] for a machine that is never short of them.
    pub cores: u32,
    /// How much faster than the machine on which demands were measured.
    pub speed: f64,
    /// Who runs next.
    pub scheduler: Scheduler,
    /// CPU seconds that a core spends on switching to another thread.
    pub switch_cost: f64,
    /// How demands change with its load.
    pub contention: Option<Contention>,
}

/// CPU demands that depend on how busy their machine is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// By what share demands grow from an idle machine to a full one; below 0 they shrink.
    pub growth: f64,
    /// The utilization at which they are as written.
    pub at: f64,
    /// Seconds over which utilization is taken.
    pub over: f64,
}

/// How a machine divides its cores among runnable threads. Times in seconds.
#[derive(Debug, Clone, PartialEq)]
pub enum Scheduler {
    /// All at once, each with an equal share and at most one core.
    ProcessorSharing,
    /// In turn; an infinite quantum is first come, first served.
    RoundRobin {
        /// How long one may run before the next.
        quantum: f64,
    },
    /// The thread of highest priority first, first come first served among equals.
    Priority {
        /// Whether a woken thread of higher priority interrupts a running one at once.
        preemptive: bool,
    },
    /// Linux 2.4: ticks of remaining time slice decide; recalculated when all that can run have used theirs.
    Linux24 {
        /// Length of a timer tick.
        tick: f64,
        /// Ticks that a recalculation adds to half of what was left.
        slice_ticks: u32,
        /// Least lead in ticks with which a woken thread interrupts a running one.
        preempt_lead: u32,
        /// Whether CPU time is charged to whoever runs when the timer ticks (as the kernel did) or exactly.
        sampled: bool,
        /// Whether a tick takes the core from a thread whose counter has fallen behind a ready one's, and not only from
        /// one that has used its slice.
        compare_at_ticks: bool,
    },
    /// Linux 2.6.23 to 6.5: least virtual run time first.
    Cfs {
        /// Period in which each runnable thread should run once.
        latency: f64,
        /// Least time slice.
        granularity: f64,
        /// Lead in virtual time with which a woken thread interrupts a running one.
        wakeup_granularity: f64,
    },
    /// Linux 6.6 and later: earliest eligible virtual deadline first.
    Eevdf {
        /// Time slice.
        slice: f64,
    },
}

/// Order of service in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// First in, first out.
    Fifo,
    /// Last in, first out.
    Lifo,
    /// Highest priority first, first in first out among equals.
    Priority,
    /// Highest priority first, interrupting whoever is of lower (stations only).
    Preemptive,
    /// All at once, in equal shares (stations only).
    Sharing,
}

/// What happens to one that comes to a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// The request fails.
    Reject,
    /// The sender waits for a place.
    Block,
}

/// A waiting room.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Order of service.
    pub discipline: Discipline,
    /// Places for those who wait; [`UNLIMITED`] for no bound.
    pub capacity: u32,
    /// What to do with one too many.
    pub when_full: WhenFull,
    /// How long one waits before giving up.
    pub patience: Option<Dist>,
}

/// A queue and the threads that serve it.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Name.
    pub name: String,
    /// Where its threads run; a pool without one uses no CPU.
    pub machine: Option<usize>,
    /// Threads that always exist.
    pub min_threads: u32,
    /// Threads at most; [`UNLIMITED`] for no bound.
    pub max_threads: u32,
    /// Seconds after which an idle thread beyond the minimum ends.
    pub idle_timeout: f64,
    /// CPU that a new thread uses before its first job.
    pub create_cpu: Option<Dist>,
    /// CPU that a thread uses to end.
    pub destroy_cpu: Option<Dist>,
    /// CPU that a thread of another pool uses to wake an idle one of these when it sends a job.
    pub wake_cpu: Option<Dist>,
    /// Delay between asking for a thread and the thread's being runnable.
    pub start_delay: Option<Dist>,
    /// Where jobs wait.
    pub queue: Queue,
    /// Whether the thread that became idle last takes the next job (else the one idle for longest).
    pub wake_last: bool,
    /// Whether a job that finds others waiting wakes nobody, and whoever takes a job wakes the next thread if there are more
    /// (`java.util.concurrent.LinkedBlockingQueue`); else each job wakes a thread.
    pub in_turn: bool,
    /// Whether each client has a thread and a queue of its own (client number modulo threads).
    pub keyed: bool,
    /// Weight under CFS and EEVDF (1024 is nice 0), in shares.
    pub weight: f64,
    /// Priority of its threads; higher goes first.
    pub priority: i32,
    /// Cores that its threads may use, as bits; all by default.
    pub affinity: u128,
    /// The group it belongs to.
    pub group: Option<usize>,
    /// The heap its threads allocate from, and which stops them while it collects.
    pub heap: Option<usize>,
}

/// What a pool can be asked to do.
#[derive(Debug, Clone)]
pub struct Entry {
    /// `pool.entry`.
    pub name: String,
    /// The pool whose threads run it.
    pub pool: usize,
    /// What they do.
    pub program: Vec<Step>,
}

/// A queue and servers without threads.
#[derive(Debug, Clone)]
pub struct Station {
    /// Name.
    pub name: String,
    /// Number of servers; [`UNLIMITED`] for a pure delay.
    pub servers: u32,
    /// Where requests wait.
    pub queue: Queue,
}

/// What can be held.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Name.
    pub name: String,
    /// Units there are: 1 of a mutex.
    pub units: u32,
    /// Whether who came last is served first.
    pub lifo: bool,
    /// Kind.
    pub kind: ResourceKind,
}

/// Kinds of resources.
#[derive(Debug, Clone, PartialEq)]
pub enum ResourceKind {
    /// Held by one at a time.
    Mutex,
    /// Held by one writer or any number of readers.
    ReadWrite {
        /// Whether readers pass writers that wait.
        prefer_readers: bool,
    },
    /// Any of its units may be held; whoever acquired need not be who releases.
    Semaphore,
    /// A pool of connections: opened when first needed.
    Connections {
        /// How long opening one takes.
        connect: Option<Dist>,
        /// Seconds unused after which one is closed.
        idle: f64,
        /// Uses after which one is closed.
        uses: u32,
    },
}

/// Pools that belong together: one process or cgroup.
#[derive(Debug, Clone)]
pub struct Group {
    /// Name.
    pub name: String,
    /// CPU seconds per period, and the period in seconds.
    pub quota: Option<(f64, f64)>,
    /// What it is worth to a CPU manager.
    pub priority: f64,
}

/// A heap that is collected when what was allocated since the last collection reaches its size.
#[derive(Debug, Clone)]
pub struct Heap {
    /// Name.
    pub name: String,
    /// Bytes that may be allocated between collections.
    pub young_bytes: f64,
    /// Where the collector runs.
    pub machine: usize,
    /// CPU seconds of one collection, over all its threads.
    pub cpu: Dist,
    /// Threads of the collector.
    pub threads: u32,
    /// Whether the application goes on meanwhile; it stops if it fills the heap before the collection has ended.
    pub concurrent: bool,
    /// For a concurrent one: the occupancy at which a collection starts, 0 to 1.
    pub start_at: f64,
    /// How a collection's CPU grows with the rate of allocation.
    pub growth: Option<HeapGrowth>,
    /// What becomes old in it; without, all that a collection finds is garbage.
    pub aging: Option<Aging>,
}

/// A heap whose objects grow old, as G1 has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aging {
    /// Bytes of the whole heap.
    pub most: f64,
    /// Bytes that are old from the start, and stay.
    pub old: f64,
    /// CPU seconds of marking it when it is full; in proportion to what is in use.
    pub mark_cpu: f64,
}

/// Collections that take longer the faster the application allocates: less of what they find has had the time to die.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeapGrowth {
    /// By what share a collection's CPU grows when the rate doubles from `at`; in proportion elsewhere.
    pub growth: f64,
    /// Bytes per second at which it is as written.
    pub at: f64,
}

/// Admission by the formula N(k) of [`crate::admission`].
#[derive(Debug, Clone)]
pub struct Guard {
    /// Name.
    pub name: String,
    /// Seconds between decisions.
    pub interval: f64,
    /// CPUs to fill.
    pub cpus: f64,
    /// CPU seconds of a new connection over its life.
    pub cost_new: f64,
    /// CPU seconds of a resumed connection over its life.
    pub cost_resumed: f64,
}

/// A CPU manager that divides a machine among groups.
#[derive(Debug, Clone)]
pub struct Manager {
    /// The machine.
    pub machine: usize,
    /// How.
    pub policy: loadline_policy::Policy,
    /// Seconds between decisions.
    pub interval: f64,
    /// The groups it manages.
    pub groups: Vec<usize>,
}

/// A kind of request.
#[derive(Debug, Clone)]
pub struct Class {
    /// Name.
    pub name: String,
    /// Priority in queues of that discipline; higher goes first.
    pub priority: i32,
    /// What its client does.
    pub program: Vec<Step>,
    /// How long the client waits for the whole of it.
    pub timeout: Option<Dist>,
    /// How often a client tries again after a failure or timeout.
    pub retries: u32,
    /// Pause before a retry.
    pub backoff: Option<Dist>,
    /// Factor by which the pause grows with each retry.
    pub backoff_growth: f64,
    /// Work that nobody waits for: left out of what is said of all requests, and of the load line.
    pub background: bool,
}

/// Where requests come from.
#[derive(Debug, Clone)]
pub struct Source {
    /// Name.
    pub name: String,
    /// When its sessions begin.
    pub arrivals: Arrivals,
    /// Class of a session's first request, by probability.
    pub start: Vec<(usize, f64)>,
    /// For each class: class of the next request, by probability; what is missing to 1 ends the session.
    pub next: Vec<Vec<(usize, f64)>>,
    /// Pause between requests of one session, and of a closed client between sessions.
    pub think: Option<Dist>,
    /// Whether a request that fails ends its session, as visitors leave who do not get their page.
    pub leaves: bool,
    /// When closed clients have done their work and leave.
    pub quota: Option<Quota>,
}

/// The work of each client of a benchmark run: so many requests, and on until so much time has passed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// Requests at least.
    pub requests: u32,
    /// Seconds from the beginning of the run at least.
    pub seconds: f64,
}

impl Model {
    /// Whether a run comes to an end of its own: when all clients that have a quota have left, or the load's time is over.
    pub fn terminates(&self) -> bool {
        self.length().is_some() || self.sources.iter().any(|s| s.quota.is_some())
    }

    /// Has a schedule change the rate at which requests and sessions come, but for the background's.
    pub fn vary(&mut self, schedule: &Schedule) -> Result<(), String> {
        let mut varied = false;
        for source in &mut self.sources {
            let asked = source
                .start
                .iter()
                .any(|(c, _)| !self.classes[*c].background);
            if let (true, Arrivals::Open(Dist::Exponential(mean))) = (asked, &source.arrivals) {
                source.arrivals = Arrivals::Varying {
                    rate: 1.0 / mean,
                    schedule: schedule.clone(),
                };
                varied = true;
            }
        }
        if varied {
            Ok(())
        } else {
            Err(format!(
                "{}: nothing in the model comes at a `rate` that could change",
                self.file
            ))
        }
    }

    /// How long a run lasts whose load changes over it, in seconds.
    pub fn length(&self) -> Option<f64> {
        let of = |s: &Source| match &s.arrivals {
            Arrivals::Varying { schedule, .. } if !schedule.repeats() => Some(schedule.length()),
            Arrivals::Replay(times) => times.last().copied(),
            _ => None,
        };
        self.sources.iter().filter_map(of).reduce(f64::max)
    }
}

/// When sessions begin.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// At intervals drawn from a distribution.
    Open(Dist),
    /// Poisson at a rate that a Markov chain switches: (rate, mean time in the state), states in turn.
    Modulated(Vec<(f64, f64)>),
    /// At these instants, over and over.
    Trace(Arc<[f64]>),
    /// Poisson at a rate that a schedule changes.
    Varying {
        /// Sessions per second at level 1.
        rate: f64,
        /// The level.
        schedule: Schedule,
    },
    /// At these instants, once.
    Replay(Arc<[f64]>),
    /// A fixed number of clients, each with one session after the other.
    Closed(u32),
}
