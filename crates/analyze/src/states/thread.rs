//! One thread: what is known of it at a moment, and how a record changes that.

use loadline_trace::spool::kernel::{self, Record};

use super::blocks::Blocks;
use super::{Life, Seen};
use crate::model::{BY_THREAD_ID, Interval, NONE, State, Woken};

/// Who woke a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waker {
    /// Kernel id; 0 stands for interrupts, [`NONE`] for nobody who is known.
    tid: u32,
    woken: Woken,
}

impl Waker {
    pub(super) const NOBODY: Waker = Waker {
        tid: NONE,
        woken: Woken::Unknown,
    };
    const INTERRUPT: Waker = Waker {
        tid: 0,
        woken: Woken::Interrupt,
    };

    pub(super) fn of(r: &Record) -> Waker {
        // The idle task wakes nobody: who is woken on an idle CPU is woken by an interrupt.
        if r.flags & kernel::BY_INTERRUPT != 0 || r.a == 0 {
            return Waker::INTERRUPT;
        }
        // No kernel id is so large: the record is broken, and ours would be taken for a thread's id in the trace.
        if r.a & BY_THREAD_ID != 0 {
            return Waker::NOBODY;
        }
        let woken = if r.flags & kernel::BY_THREAD != 0 {
            Woken::Thread
        } else {
            Woken::Unknown
        };
        Waker { tid: r.a, woken }
    }
}

/// What is known of a thread at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Now {
    /// Nothing yet: the first record decides. `true` if `/proc` showed it as R.
    Undecided(bool),
    Running(i16),
    /// On a CPU since `at`, and nobody was seen to wake it: the CPU time with which it leaves tells what came before.
    Unseen {
        cpu: i16,
        at: i64,
        slept: Sleep,
    },
    Runnable,
    Preempted,
    Blocked(Sleep),
    /// A record was lost.
    Lost,
}

impl Now {
    /// The CPU that it is on.
    pub(super) fn on(self) -> Option<i16> {
        match self {
            Now::Running(cpu) | Now::Unseen { cpu, .. } => Some(cpu),
            _ => None,
        }
    }
}

/// How a thread is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sleep {
    hard: bool,
    syscall: u16,
    fd: i32,
}

impl Sleep {
    fn state(self) -> State {
        if self.hard {
            State::Uninterruptible
        } else {
            State::Blocked
        }
    }
}

/// How a thread leaves a CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaving {
    pub(super) flags: u8,
    pub(super) syscall: u16,
    pub(super) fd: i32,
    /// As [`Record::cpu_time`].
    pub(super) cpu_time: Option<u32>,
}

/// The kernel's account of CPU time may differ from the time between two records by so much.
const ACCOUNT_NS: i64 = 20_000;

pub(super) struct Thread {
    pub(super) life: Life,
    /// Number of it among all that the machine has met.
    pub(super) number: u32,
    /// Of its states the last ones; those before are in blocks.
    pub(super) states: Vec<Interval>,
    pub(super) now: Now,
    since: i64,
    /// WAKING came while it ran, WAKEUP did not yet.
    waking: Option<Waker>,
    pub(super) exit: Option<i64>,
    /// CPU time with which it left last, if that was told.
    cpu_time: Option<u32>,
    /// Until then a first record outranks what `/proc` said.
    pub(super) doubt_until: i64,
}

impl Thread {
    pub(super) fn new(number: u32, tid: u32, begin: i64, now: Now) -> Thread {
        let life = Life {
            tid,
            nstid: None,
            parent: None,
            begin,
            end: begin,
        };
        Thread {
            life,
            number,
            states: Vec::new(),
            now,
            since: begin,
            waking: None,
            exit: None,
            cpu_time: None,
            doubt_until: i64::MIN,
        }
    }

    /// Ends the present interval at `ts` as being in `state`.
    pub(super) fn close(&mut self, ts: i64, state: State, waker: Waker, cpu: i16) {
        let ts = ts.max(self.since);
        if ts > self.since {
            let mut i = Interval::new(self.since, ts, state);
            i.waker = waker.tid;
            i.woken = waker.woken;
            i.cpu = cpu;
            if let Now::Blocked(s) | Now::Unseen { slept: s, .. } = self.now
                && state.is_blocked()
            {
                i.syscall = s.syscall;
                i.fd = s.fd;
            }
            self.states.push(i);
            self.since = ts;
        }
    }

    /// A thread is on or off a CPU although `/proc` had it blocked: if that is fresh, forget it.
    fn settle(&mut self, ts: i64) {
        if ts <= std::mem::replace(&mut self.doubt_until, i64::MIN)
            && matches!(self.now, Now::Blocked(_))
        {
            self.now = Now::Undecided(false);
        }
    }

    pub(super) fn leave(&mut self, ts: i64, cpu: i16, how: Leaving) {
        self.settle(ts);
        let ran = self.ran(how.cpu_time);
        match self.now {
            Now::Running(on) if on == cpu => self.close(ts, State::Running, Waker::NOBODY, cpu),
            Now::Undecided(_) => self.close(ts, State::Running, Waker::NOBODY, cpu),
            Now::Unseen { cpu: on, at, slept } if on == cpu => {
                let slept_till_then = ran.is_some_and(|ran| ran <= ts - at + ACCOUNT_NS);
                let before = if slept_till_then {
                    slept.state()
                } else {
                    State::Unknown
                };
                self.close(at, before, Waker::NOBODY, -1);
                self.close(ts, State::Running, Waker::NOBODY, cpu);
            }
            // It left a CPU on which it never arrived: an arrival was lost.
            _ => self.arrived(ran, ts, cpu),
        }
        let slept = |hard| {
            Now::Blocked(Sleep {
                hard,
                syscall: how.syscall,
                fd: how.fd,
            })
        };
        self.now = match how.flags & 0xf {
            kernel::LEFT_RUNNABLE => Now::Preempted,
            // Woken between leaving the run queue and leaving the CPU.
            _ if self.waking.is_some() => Now::Runnable,
            kernel::LEFT_UNINTERRUPTIBLE => slept(true),
            _ => slept(false),
        };
        self.waking = None;
    }

    /// CPU time since it left last, ns.
    fn ran(&mut self, cpu_time: Option<u32>) -> Option<i64> {
        let before = std::mem::replace(&mut self.cpu_time, cpu_time)?;
        Some(i64::from(cpu_time?.wrapping_sub(before)) * kernel::CPU_TIME_NS)
    }

    /// It leaves `cpu` at `ts` and was not seen to arrive there: it did so as long ago as it `ran`.
    fn arrived(&mut self, ran: Option<i64>, ts: i64, cpu: i16) {
        let before = match self.now {
            Now::Runnable => State::Runnable,
            Now::Preempted => State::Preempted,
            Now::Blocked(slept) => slept.state(),
            _ => State::Unknown,
        };
        let at = ran
            .map(|ran| ts - ran)
            .filter(|at| *at >= self.since - ACCOUNT_NS);
        match at {
            Some(at) if self.now.on().is_none() => {
                self.close(at, before, Waker::NOBODY, -1);
                self.close(ts, State::Running, Waker::NOBODY, cpu);
            }
            _ => self.close(ts, State::Unknown, Waker::NOBODY, -1),
        }
    }

    pub(super) fn arrive(&mut self, ts: i64, cpu: i16) {
        self.settle(ts);
        self.waking = None;
        match self.now {
            Now::Runnable | Now::Undecided(_) => self.close(ts, State::Runnable, Waker::NOBODY, -1),
            Now::Preempted => self.close(ts, State::Preempted, Waker::NOBODY, -1),
            // Nobody arrives who was not woken, or who is there: a record was lost.
            Now::Blocked(slept) if self.cpu_time.is_some() => {
                self.now = Now::Unseen { cpu, at: ts, slept };
                return;
            }
            Now::Blocked(_) | Now::Running(_) | Now::Unseen { .. } | Now::Lost => {
                self.close(ts, State::Unknown, Waker::NOBODY, -1);
            }
        }
        self.now = Now::Running(cpu);
    }

    pub(super) fn waking(&mut self, ts: i64, waker: Waker) {
        self.doubt_until = i64::MIN;
        match self.now {
            Now::Running(_) | Now::Unseen { .. } | Now::Undecided(true) => {
                self.waking = Some(waker)
            }
            Now::Blocked(slept) => self.wake(ts, slept.state(), waker),
            Now::Undecided(false) => self.wake(ts, State::Blocked, waker),
            Now::Lost => {
                self.close(ts, State::Unknown, Waker::NOBODY, -1);
                self.now = Now::Runnable;
            }
            Now::Runnable | Now::Preempted => {} // woken twice
        }
    }

    pub(super) fn wakeup(&mut self, ts: i64) {
        match self.now {
            // It never slept: the waking that came before is done with.
            Now::Running(_) | Now::Unseen { .. } | Now::Undecided(true) => self.waking = None,
            // Its WAKING was lost; it is runnable all the same.
            _ => self.waking(ts, Waker::NOBODY),
        }
    }

    fn wake(&mut self, ts: i64, state: State, waker: Waker) {
        self.close(ts, state, waker, -1);
        self.now = Now::Runnable;
    }

    pub(super) fn finish(mut self, end: i64, blocks: &mut Blocks) -> (Life, u32) {
        let end = self.exit.unwrap_or(end).max(self.since);
        if let Now::Unseen { at, .. } = self.now {
            self.close(at, State::Unknown, Waker::NOBODY, -1);
        }
        let (state, cpu) = match self.now {
            Now::Running(cpu) | Now::Unseen { cpu, .. } => (State::Running, cpu),
            // R in /proc and never switched: it had its CPU for itself all the time.
            Now::Undecided(true) => (State::Running, -1),
            Now::Runnable => (State::Runnable, -1),
            Now::Preempted => (State::Preempted, -1),
            Now::Blocked(slept) => (slept.state(), -1),
            Now::Undecided(false) | Now::Lost => (State::Unknown, -1),
        };
        self.close(end, state, Waker::NOBODY, cpu);
        self.life.end = self.since;
        blocks.take(self.number, &mut self.states);
        (self.life, self.number)
    }
}

/// What a thread is in by what `/proc` said of it.
pub(super) fn first(seen: &Seen) -> Now {
    let syscall = seen
        .syscall
        .and_then(|n| u16::try_from(n + 1).ok())
        .unwrap_or(0);
    let fd = seen.fd.unwrap_or(-1);
    let slept = |hard| Now::Blocked(Sleep { hard, syscall, fd });
    match seen.state {
        'R' => Now::Undecided(true),
        'D' => slept(true),
        'S' | 'T' | 't' | 'I' => slept(false),
        _ => Now::Undecided(false),
    }
}
