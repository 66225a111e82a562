//! A layered queueing network as data: what both directions have between XML and model.

/// The whole network.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Document {
    pub name: String,
    /// What readers should know, as comments.
    pub remarks: Vec<String>,
    pub processors: Vec<Processor>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Processor {
    pub line: u32,
    pub name: String,
    /// `None`: as many as there is work for.
    pub multiplicity: Option<u32>,
    pub scheduling: Scheduling,
    /// Seconds of a time slice; 0 where there are none.
    pub quantum: f64,
    pub speed: f64,
    pub tasks: Vec<Task>,
}

/// Who runs next on a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheduling {
    Fcfs,
    Sharing,
    Infinite,
    Preemptive,
    HeadOfLine,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Task {
    pub line: u32,
    pub name: String,
    pub kind: TaskKind,
    pub multiplicity: Option<u32>,
    /// Seconds between the requests of a reference task's client.
    pub think: f64,
    pub priority: i32,
    /// Places for open arrivals; 0 for no bound.
    pub queue_length: u32,
    pub entries: Vec<Entry>,
    pub activities: Vec<Activity>,
    pub precedences: Vec<Precedence>,
    /// Entries, and after which activities each is replied to.
    pub replies: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskKind {
    Reference,
    Fcfs,
    Infinite,
    HeadOfLine,
    Semaphore,
    ReadWrite,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Entry {
    pub line: u32,
    pub name: String,
    pub open_rate: Option<f64>,
    /// Where its requests go on to, and how many of them.
    pub forwarding: Vec<(String, f64)>,
    /// Phases by number; none where activities of the task say what it does.
    pub phases: Vec<(u32, Activity)>,
    pub lock: Option<Lock>,
}

/// What an entry does to the semaphore or lock that its task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    Wait,
    Signal,
    Read,
    UnlockRead,
    Write,
    UnlockWrite,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Activity {
    pub line: u32,
    pub name: String,
    /// Seconds of the processor, in all.
    pub demand: f64,
    /// Its squared coefficient of variation.
    pub cvsq: f64,
    /// Seconds before it begins.
    pub think: f64,
    /// Exactly as many calls as said, not on average.
    pub deterministic: bool,
    pub calls: Vec<Call>,
    /// The entry that begins with it.
    pub bound: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub line: u32,
    pub dest: String,
    pub mean: f64,
    /// Whether the caller waits for the reply.
    pub waits: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Precedence {
    pub line: u32,
    pub pre: Pre,
    pub post: Option<Post>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pre {
    One(String),
    Or(Vec<String>),
    /// With the number that is enough, where it is not all.
    And(Vec<String>, Option<u32>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Post {
    One(String),
    Or(Vec<(String, f64)>),
    And(Vec<String>),
    /// First activities of bodies with their mean counts, and where it goes on.
    Loop(Vec<(String, f64)>, Option<String>),
}
