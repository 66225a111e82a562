//! A trace in memory, in the shape in which the page asks for it.
//!
//! States are kept in columns per thread, spans in one list with their rows per thread. Times are
//! ns since the recording began, so that they fit into the page's numbers.

use std::collections::HashMap;
use std::sync::Arc;

use loadline_trace::Meta;
use serde::{Serialize, Serializer};

use crate::counters::Counters;
use crate::lane::Lane;
use crate::spans::{KINDS, Row};
use crate::virtuals::Virtual;

/// Stands for a thread where the lane of GC pauses is meant.
pub const GC_LANE: i64 = -1;

/// No value, in a column that would otherwise be optional.
pub const NONE: i32 = -1;

/// What is known of a state besides its time and class.
#[derive(Debug, Clone, Copy)]
pub struct Detail {
    /// Index into [`Model::states`].
    pub state: u8,
    /// CPU, or [`NONE`].
    pub cpu: i16,
    /// Index into [`Model::syscalls`], or [`NONE`].
    pub syscall: i16,
    /// File descriptor, or [`NONE`].
    pub fd: i32,
    /// Index into [`Model::threads`] of the waker, or [`NONE`].
    pub waker: i32,
    /// Kernel's id of the waker, or [`NONE`].
    pub waker_tid: i32,
    /// `waits.id`, or -1.
    pub wait: i64,
}

/// A thread, its states and its spans.
#[derive(Debug, Default)]
pub struct Thread {
    /// `threads.id`.
    pub id: i64,
    /// Kernel's thread id.
    pub tid: Option<i32>,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// Index into [`loadline_analyze::role::ROLES`].
    pub role: usize,
    /// Its states.
    pub lane: Lane,
    /// One per state.
    pub details: Vec<Detail>,
    /// Pieces of spans by depth.
    pub rows: Vec<Row>,
    /// Requests that ended on it.
    pub requests: u32,
    /// How many states it has.
    pub states: usize,
    /// Of a lane of virtual threads: these, by begin. Empty of any other thread.
    pub virtuals: Vec<Virtual>,
}

impl Thread {
    /// Its name; of a lane of virtual threads, of the one that lived then.
    pub fn name_at(&self, t: i64) -> &str {
        let after = self.virtuals.partition_point(|v| v.begin <= t);
        let then = after.checked_sub(1).map(|i| &self.virtuals[i]);
        then.filter(|v| t <= v.end).map_or(&self.name, |v| &v.name)
    }
}

/// A span; see the trace's table.
#[derive(Debug, Clone)]
pub struct Span {
    /// `spans.id`.
    pub id: i64,
    /// Id of the span that it lies in.
    pub parent: Option<i64>,
    /// Index into [`crate::spans::KINDS`].
    pub kind: u8,
    /// Index into [`Model::names`].
    pub name: u32,
    /// Index into [`Model::threads`] of its worker: of those that it was handed to the one that had the longest piece of it, else the
    /// thread that ended it.
    pub worker: usize,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// HTTP status.
    pub status: Option<i32>,
    /// `address:port` of the peer.
    pub peer: Option<String>,
    /// Whether the recording saw all of it.
    pub complete: bool,
}

/// A wait; see the trace's table. Its texts are few, and shared by all that have them.
#[derive(Debug, Clone, Serialize)]
pub struct Wait {
    /// `waits.id`.
    #[serde(skip)]
    pub id: i64,
    /// Thread that waited; of a virtual thread, its lane.
    pub thread: i64,
    /// monitor_enter, monitor_wait or park.
    #[serde(serialize_with = "text")]
    pub kind: Arc<str>,
    /// Class of what was waited on.
    #[serde(serialize_with = "optional_text")]
    pub class: Option<Arc<str>>,
    /// Its identity hash.
    pub object: Option<i64>,
    /// Thread id of the owner.
    pub owner: Option<i64>,
    /// Thread id of who ended it.
    pub notifier: Option<i64>,
    /// How it ended.
    #[serde(serialize_with = "text")]
    pub outcome: Arc<str>,
    /// Its stack, in [`Model::frames`].
    #[serde(skip)]
    pub stack: Option<i64>,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
}

fn text<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    text.as_ref().serialize(to)
}

fn optional_text<S: Serializer>(text: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(to)
}

/// All waits, in the order of time.
#[derive(Debug, Default)]
pub struct Waits {
    list: Vec<Wait>,
    index: ById,
}

impl Waits {
    /// These.
    pub fn new(list: Vec<Wait>) -> Waits {
        let index = list.iter().zip(0..).map(|(w, i)| (w.id, i)).collect();
        Waits { list, index }
    }

    /// The wait with this id.
    pub fn get(&self, id: i64) -> Option<&Wait> {
        Some(&self.list[*self.index.get(&id)? as usize])
    }

    /// The class of what a wait was for.
    pub fn class(&self, id: i64) -> Option<String> {
        self.get(id)?.class.as_deref().map(String::from)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Wait> {
        self.list.iter()
    }
}

/// What a descriptor was.
#[derive(Debug, Clone, Serialize)]
pub struct Resource {
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// First seen.
    pub begin: i64,
    /// Last seen.
    pub end: i64,
}

/// A mark.
#[derive(Debug, Clone, Serialize)]
pub struct Mark {
    /// When.
    pub at: i64,
    /// Type.
    pub kind: String,
    /// Value.
    pub value: i64,
    /// Text.
    pub text: Option<String>,
}

/// A pause.
#[derive(Debug, Clone, Serialize)]
pub struct Pause {
    /// Collector.
    pub name: String,
    /// Why.
    pub cause: String,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Heap before, bytes.
    pub heap_before: Option<i64>,
    /// Heap after, bytes.
    pub heap_after: Option<i64>,
}

/// Where things are, by their ids in the trace, which are dense.
#[derive(Debug, Default)]
pub struct ById(Vec<u32>);

impl ById {
    /// Place of nothing.
    const NOWHERE: u32 = u32::MAX;

    /// The place of what has this id.
    pub fn get(&self, id: &i64) -> Option<&u32> {
        let place = self.0.get(usize::try_from(*id).ok()?)?;
        (*place != ById::NOWHERE).then_some(place)
    }
}

impl FromIterator<(i64, u32)> for ById {
    fn from_iter<I: IntoIterator<Item = (i64, u32)>>(items: I) -> ById {
        let mut places = Vec::new();
        for (id, place) in items {
            let at = id as usize;
            if places.len() <= at {
                places.resize(at + 1, ById::NOWHERE);
            }
            places[at] = place;
        }
        ById(places)
    }
}

/// What the top of the page counts.
#[derive(Debug, Default)]
pub struct Answered {
    /// Of each complete request, its end and how long it took.
    pub requests: Vec<(i64, i64)>,
    /// Handshakes that began a session.
    pub full_handshakes: usize,
    /// Handshakes that resumed one.
    pub resumed_handshakes: usize,
    /// Those that failed, and those of which it is not known.
    pub other_handshakes: usize,
    /// Connections.
    pub connections: usize,
}

impl Answered {
    /// Counts so many spans of a kind, of those that are counted.
    pub fn count(&mut self, kind: u8, spans: usize) {
        match KINDS[kind as usize] {
            "tls_full" => self.full_handshakes += spans,
            "tls_resumed" => self.resumed_handshakes += spans,
            "tls_unknown" => self.other_handshakes += spans,
            "connection" => self.connections += spans,
            _ => {}
        }
    }
}

/// Everything of a trace that the page asks for often.
#[derive(Debug)]
pub struct Model {
    /// `trace.json`.
    pub meta: Meta,
    /// Threads, by index.
    pub threads: Vec<Thread>,
    /// Index of a thread by its id; of a virtual thread, of its lane.
    pub thread_index: HashMap<i64, usize>,
    /// Names of kernel states.
    pub states: Vec<String>,
    /// Names of system calls.
    pub syscalls: Vec<String>,
    /// Names of spans.
    pub names: Vec<String>,
    /// Spans by begin.
    pub spans: Vec<Span>,
    /// Of them, what is counted.
    pub answered: Answered,
    /// Index of a span by its id.
    pub span_index: ById,
    /// Waits by id.
    pub waits: Waits,
    /// Frames of stacks by id: the caller's, and what it is called.
    pub frames: HashMap<i64, (Option<i64>, String)>,
    /// What a stack's code is, as a frame is called; see the view `stack_code`.
    pub code: HashMap<i64, String>,
    /// Samples of what ran, by thread index: times and stacks, sorted by time.
    pub samples: HashMap<usize, Vec<(i64, i64)>>,
    /// Resources by descriptor.
    pub resources: HashMap<i32, Vec<Resource>>,
    /// Marks by thread index, sorted by time.
    pub marks: HashMap<usize, Vec<Mark>>,
    /// Pauses by begin.
    pub pauses: Vec<Pause>,
    /// The pauses as a lane: `gc`, and `idle` between them.
    pub gc: Lane,
    /// What threads counted, by role; empty if that was not recorded.
    pub counters: Counters,
    /// CPU seconds of the process over time, from `/proc`: `(ns, seconds)`.
    pub cpu_seconds: Vec<(i64, f64)>,
    /// CPUs at hand over time: what a CPU manager assigned, else how many the mask has; as `(ns, CPUs)`, each value until
    /// the next.
    pub cpus_at_hand: Vec<(i64, f64)>,
}

impl Model {
    /// Length of the recording, ns.
    pub fn duration(&self) -> i64 {
        self.meta.duration_ns()
    }

    /// CPUs that the process could use.
    pub fn cpus(&self) -> u32 {
        match self.meta.machine.target_cpus {
            0 => self.meta.machine.cpus.max(1),
            n => n,
        }
    }

    /// Name of a thread by its id.
    pub fn thread_name(&self, id: i64) -> Option<&str> {
        let thread = &self.threads[*self.thread_index.get(&id)?];
        let own = thread.virtuals.iter().find(|v| v.id == id);
        Some(own.map_or(&thread.name, |v| &v.name))
    }

    /// What a descriptor was at `t`: the resource that was seen then, else the nearest in time.
    pub fn resource(&self, fd: i32, t: i64) -> Option<&Resource> {
        let distance = |r: &&Resource| (r.begin - t).max(t - r.end).max(0);
        self.resources.get(&fd)?.iter().min_by_key(distance)
    }
}
