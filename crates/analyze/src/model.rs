//! States, causes and intervals, small enough that millions of them fit in memory.

use loadline_trace::tables::names;

/// What the kernel says of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// On a CPU.
    Running,
    /// Woken, waiting for a CPU.
    Runnable,
    /// Taken off its CPU, waiting for one.
    Preempted,
    /// Blocked interruptibly.
    Blocked,
    /// Blocked uninterruptibly.
    Uninterruptible,
    /// Of a carrier: a virtual thread is on it.
    Carrying,
    /// Not known.
    Unknown,
}

impl State {
    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => names::RUNNING,
            State::Runnable => names::RUNNABLE,
            State::Preempted => names::PREEMPTED,
            State::Blocked => names::BLOCKED,
            State::Uninterruptible => names::UNINTERRUPTIBLE,
            State::Carrying => names::CARRYING,
            State::Unknown => names::UNKNOWN,
        }
    }

    /// Whether the thread was off its CPU by its own will.
    pub fn is_blocked(self) -> bool {
        matches!(self, State::Blocked | State::Uninterruptible)
    }
}

/// Why a thread was in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// It ran.
    Running,
    /// It wanted to run.
    Runnable,
    /// Another thread held a lock.
    Lock,
    /// A pool had nothing to give.
    Pool,
    /// A peer had not sent, or taken, bytes.
    Socket,
    /// A file or a device.
    File,
    /// A garbage collection.
    Gc,
    /// The virtual machine stopped it for something else.
    Safepoint,
    /// The guard let it wait for its turn; only between the visits of a connection.
    Admission,
    /// Of a carrier: a virtual thread is on it.
    Carrying,
    /// It had no work.
    Idle,
    /// A worker was not free yet; only between the visits of a connection.
    Queue,
    /// None of these.
    Other,
    /// Not known.
    Unknown,
}

impl Cause {
    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Running => names::RUNNING,
            Cause::Runnable => names::RUNNABLE,
            Cause::Lock => names::LOCK,
            Cause::Pool => names::POOL,
            Cause::Socket => names::SOCKET,
            Cause::File => names::FILE,
            Cause::Gc => names::GC,
            Cause::Safepoint => names::SAFEPOINT,
            Cause::Admission => names::ADMISSION,
            Cause::Carrying => names::CARRYING,
            Cause::Idle => names::IDLE,
            Cause::Queue => "queue",
            Cause::Other => names::OTHER,
            Cause::Unknown => names::UNKNOWN,
        }
    }
}

/// What ended a blocked interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Woken {
    /// Nobody, or nobody knows.
    Unknown,
    /// A thread.
    Thread,
    /// An interrupt: a packet, a timer, a disk.
    Interrupt,
}

/// No thread, no wait: the index that is never used.
pub const NONE: u32 = u32::MAX;
/// A waker with this bit is a thread's id in the trace, and not the kernel's (which is below 2^22).
pub const BY_THREAD_ID: u32 = 1 << 31;
/// In place of a CPU: the virtual thread was on no carrier.
pub const OFF_CARRIER: i16 = -2;

/// An interval of one thread in one state. Those of a thread follow each other without gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Kernel tid of the thread that ended it by waking, or its id with [`BY_THREAD_ID`]; [`NONE`] if nobody did
    /// or it is not known.
    pub waker: u32,
    /// Descriptor that it blocked on, -1 if none.
    pub fd: i32,
    /// Index of the wait that explains it, or [`NONE`].
    pub wait: u32,
    /// System call that it blocked in + 1; 0 is none.
    pub syscall: u16,
    /// CPU that it ran on, -1 if none or not known, or [`OFF_CARRIER`].
    pub cpu: i16,
    /// Who ended it.
    pub woken: Woken,
    /// State.
    pub state: State,
    /// Why; [`Cause::Unknown`] until `causes` has been there.
    pub cause: Cause,
}

impl Interval {
    /// An interval of which only the state is known.
    pub fn new(begin: i64, end: i64, state: State) -> Interval {
        Interval {
            begin,
            end,
            waker: NONE,
            fd: -1,
            wait: NONE,
            syscall: 0,
            cpu: -1,
            woken: Woken::Unknown,
            state,
            cause: Cause::Unknown,
        }
    }
}
