//! What a recording is asked for, and what it tells while it runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use loadline_trace::meta::{Level, NotRecorded};
use loadline_trace::spool::agent::{level, mode};

use crate::counters::Counting;
use crate::flight::{Flight, Kept};

/// What is to be recorded.
#[derive(Debug, Clone)]
pub enum Target {
    /// A running process.
    Pid(i32),
    /// A command that we start, and that is or becomes a JVM.
    Command(Vec<OsString>),
}

/// Levels that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// Thread states from the scheduler.
    pub kernel: bool,
    /// System calls: these cost every process of the machine a little.
    pub syscalls: bool,
    /// Monitors, waits, thread names, garbage collection.
    pub jvm: bool,
    /// Connections, handshakes, requests, services, pools, SQL.
    pub server: bool,
    /// The application's own states, events and spans.
    pub app: bool,
}

impl Default for Levels {
    /// All but system calls.
    fn default() -> Levels {
        Levels {
            kernel: true,
            syscalls: false,
            jvm: true,
            server: true,
            app: true,
        }
    }
}

impl Levels {
    /// Names, as in the trace, and whether they are wanted.
    pub fn all(&self) -> [(&'static str, bool); 5] {
        [
            ("kernel", self.kernel),
            ("syscalls", self.syscalls),
            ("jvm", self.jvm),
            ("server", self.server),
            ("app", self.app),
        ]
    }

    /// Bits of those that the agent records; 0 needs no agent.
    pub(crate) fn of_agent(&self) -> u32 {
        let bit = |wanted, bit| if wanted { bit } else { 0 };
        bit(self.jvm, level::JVM) | bit(self.server, level::SERVER) | bit(self.app, level::APP)
    }
}

/// The agent's two halves.
#[derive(Debug, Clone)]
pub struct AgentFiles {
    /// `loadline-agent.jar`.
    pub jar: PathBuf,
    /// `libloadline-agent.so`.
    pub library: PathBuf,
}

/// Whether loaded classes of a JVM that was started without the agent may be redefined, which up to
/// JDK 21 throws all of its compiled code away, once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Redefinition {
    /// No class is redefined; what is seen comes from hooks.
    #[default]
    Never,
    /// Probes are placed if there are none, and stay, dormant.
    Allowed,
    /// They are taken out again at the end.
    AndRestored,
}

impl Redefinition {
    pub(crate) fn mode(self) -> u32 {
        match self {
            Redefinition::Never => 0,
            Redefinition::Allowed => mode::MAY_REDEFINE,
            Redefinition::AndRestored => mode::MAY_REDEFINE | mode::RESTORE,
        }
    }
}

/// Which methods are recorded, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Methods {
    /// Filters in order, as [`crate::methods`] has them; at least one.
    pub filters: Vec<String>,
    /// Filters of threads; none: all.
    pub threads: Vec<String>,
    /// Whether an invocation has its CPU time without the kernel level too, with which it always has.
    pub cpu: bool,
    /// Shorter invocations are only counted.
    pub shortest: Duration,
}

/// A recording.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is to be recorded.
    pub target: Target,
    /// Directory of the trace; new or empty.
    pub out: PathBuf,
    /// Levels that are wanted.
    pub levels: Levels,
    /// When to stop by ourselves.
    pub duration: Option<Duration>,
    /// The agent.
    pub agent: AgentFiles,
    /// Whether addresses, and what stands for one customer in a path, are left out of the tables.
    pub redact: bool,
    /// Whether classes may be redefined.
    pub redefinition: Redefinition,
    /// From how long a wait on the JVM level records its stack; none: never.
    pub stacks: Option<Duration>,
    /// After how much CPU time of a thread on the JVM level its stack is recorded; none: never.
    pub samples: Option<Duration>,
    /// After how many bytes that a thread allocates, on average, the allocation is sampled; none: never. See [`Options::ALLOCATIONS`].
    pub allocations: Option<u64>,
    /// Classes each of whose objects is recorded, from its allocation to its end: names, or with a `*` behind them what they begin with.
    pub objects: Vec<String>,
    /// What more the JVM's log is to say: bits of [`vm_log`](loadline_trace::spool::agent::vm_log).
    pub vm_log: u64,
    /// Methods whose invocations are recorded.
    pub methods: Option<Methods>,
    /// Size of each CPU's ring, in bytes; see [`Options::RING_BYTES`].
    pub ring_bytes: usize,
    /// The most that the agent may write, in bytes; see [`Options::AGENT_CAPACITY`].
    pub agent_capacity: u64,
    /// What threads count is recorded too.
    pub counters: Option<Counting>,
    /// The most that all spools may take together; the recording ends there.
    pub max_size: Option<u64>,
    /// The oldest is dropped instead, and what is kept can be dumped.
    pub flight: Option<Flight>,
}

impl Options {
    /// Holds a million records, a third of a second at three million a second.
    pub const RING_BYTES: usize = 32 << 20;
    /// Sparse: only what is written takes room on the disk.
    pub const AGENT_CAPACITY: u64 = 4 << 30;
    /// Allocations can be sampled after so many bytes.
    pub const ALLOCATIONS: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 30;
}

/// Part of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Programs are loaded, the agent starts.
    Attaching,
    /// It records.
    Recording,
    /// Everything is detached and written out.
    Stopping,
}

/// A dump that nobody waits for.
#[derive(Debug, Clone)]
pub struct Dumped {
    /// Its directory, which lacks its tables only; or why there is none.
    pub dir: Result<PathBuf, String>,
    /// What it was made for.
    pub why: String,
}

/// What a recording tells some five times a second.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Where it is.
    pub stage: Stage,
    /// Time since the recording began; zero while attaching.
    pub elapsed: Duration,
    /// Records from the kernel.
    pub kernel_events: u64,
    /// Bytes that the agent has claimed for its events of 32 bytes.
    pub agent_bytes: u64,
    /// Bytes of all spools together.
    pub bytes: u64,
    /// Events lost so far, in all sources.
    pub lost: u64,
    /// Where the oldest is dropped: what is kept.
    pub kept: Option<Kept>,
    /// A dump that was made just now, by itself: told once.
    pub dumped: Option<Dumped>,
    /// Levels as they were obtained; those that were not say why.
    pub levels: BTreeMap<String, Level>,
    /// What will not be in the trace although its level is.
    pub not_recorded: Vec<NotRecorded>,
    /// What the agent warns of so far, a line each, oldest first.
    pub warnings: Vec<String>,
    /// `shop (pid 4121, OpenJDK 64-Bit Server VM 25.0.3, Apache Tomcat/11.0.9)`.
    pub target: String,
    /// Its process.
    pub pid: i32,
}
