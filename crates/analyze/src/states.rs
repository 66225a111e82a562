//! Thread states rebuilt from the kernel's scheduler records.
//!
//! ```text
//!            NEW                 arrives on a CPU
//!   (none) ------> runnable ------------------------> running
//!                     ^  ^                            |  |  |
//!              waking |  | waking came while running  |  |  | leaves, still wants to run
//!                     |  +----------------------------+  |  +--------------> preempted
//!                  blocked <-----------------------------+                   (arrives again)
//!                  uninterruptible      leaves, blocked
//! ```
//!
//! Terms: a thread *leaves* a CPU when SWITCH names it as previous, and *arrives* when SWITCH names
//! it as next.
//!
//! * Leaving still runnable is being preempted (or yielding).
//! * WAKING for a thread that is still running is one of two things. Either the thread was about to
//!   sleep, changes its mind and goes on: then WAKEUP follows at once, and nothing happened. Or it
//!   had left its run queue already but not yet its CPU: then it leaves as blocked before WAKEUP
//!   comes, and is runnable at once, without a blocked interval.
//! * Before a thread's first record its state is the one that `/proc` showed. If `/proc` showed R,
//!   or nothing, the first record decides: a thread that leaves was running, one that arrives was
//!   runnable, one that is woken was blocked. Records older than the `/proc` line outrank it, and
//!   so does a first record that contradicts it within [`DOUBT_NS`]: the letter is read a moment
//!   after the time that it carries.
//! * A waker that only ran when an interrupt woke the thread is not a waker: 0 stands for interrupts.
//! * What cannot follow from what was known (arriving while it ran, leaving while it did not, a CPU
//!   switching away from someone else than who was on it) means that a record was lost: the
//!   interval since the last certain moment is unknown.
//!
//! Intervals come in blocks of one thread each, in the order in which the blocks are full; at the end they are put
//! together by thread.
//!
//! Invariant: the intervals of a thread follow each other without gap from its begin to its end.

use std::collections::{HashMap, HashSet};

use loadline_trace::spool::kernel::{self, Record};
use rustc_hash::FxHashMap;

use crate::bounded::{Grouped, Room};
use crate::model::{BY_THREAD_ID, Interval, NONE, State, Woken};
use blocks::{BLOCK, Blocks};

/// How much later than its time a state letter of `/proc` may have been read.
pub const DOUBT_NS: i64 = 20_000_000;

/// What `/proc` said of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub ts: i64,
    /// State letter.
    pub state: char,
    /// System call that it was blocked in.
    pub syscall: Option<i32>,
    /// Its descriptor.
    pub fd: Option<i32>,
}

/// A kernel thread's life, and what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// Kernel id in the recorder's namespace.
    pub tid: u32,
    /// In its own namespace, if NEW said so.
    pub nstid: Option<u32>,
    /// Kernel id of the thread that made it, if NEW said so.
    pub parent: Option<u32>,
    /// When it began, or the recording did.
    pub begin: i64,
    /// When it ended, or the recording did.
    pub end: i64,
}

/// Who woke a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waker {
    /// Kernel id; 0 stands for interrupts, [`NONE`] for nobody who is known.
    tid: u32,
    woken: Woken,
}

impl Waker {
    const NOBODY: Waker = Waker {
        tid: NONE,
        woken: Woken::Unknown,
    };
    const INTERRUPT: Waker = Waker {
        tid: 0,
        woken: Woken::Interrupt,
    };

    fn of(r: &Record) -> Waker {
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
enum Now {
    /// Nothing yet: the first record decides. `true` if `/proc` showed it as R.
    Undecided(bool),
    Running(i16),
    Runnable,
    Preempted,
    Blocked {
        hard: bool,
        syscall: u16,
        fd: i32,
    },
    /// A record was lost.
    Lost,
}

struct Thread {
    life: Life,
    /// Number of it among all that the machine has met.
    number: u32,
    /// Of its states the last ones; those before are in blocks.
    states: Vec<Interval>,
    now: Now,
    since: i64,
    /// WAKING came while it ran, WAKEUP did not yet.
    waking: Option<Waker>,
    exit: Option<i64>,
    /// Until then a first record outranks what `/proc` said.
    doubt_until: i64,
}

impl Thread {
    fn new(number: u32, tid: u32, begin: i64, now: Now) -> Thread {
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
            doubt_until: i64::MIN,
        }
    }

    /// Ends the present interval at `ts` as being in `state`.
    fn close(&mut self, ts: i64, state: State, waker: Waker, cpu: i16) {
        let ts = ts.max(self.since);
        if ts > self.since {
            let mut i = Interval::new(self.since, ts, state);
            i.waker = waker.tid;
            i.woken = waker.woken;
            i.cpu = cpu;
            if let Now::Blocked { syscall, fd, .. } = self.now
                && state.is_blocked()
            {
                i.syscall = syscall;
                i.fd = fd;
            }
            self.states.push(i);
            self.since = ts;
        }
    }

    /// A thread is on or off a CPU although `/proc` had it blocked: if that is fresh, forget it.
    fn settle(&mut self, ts: i64) {
        if ts <= std::mem::replace(&mut self.doubt_until, i64::MIN)
            && matches!(self.now, Now::Blocked { .. })
        {
            self.now = Now::Undecided(false);
        }
    }

    fn leave(&mut self, ts: i64, cpu: i16, flags: u8, syscall: u16, fd: i32) {
        self.settle(ts);
        match self.now {
            Now::Running(on) if on == cpu => self.close(ts, State::Running, Waker::NOBODY, cpu),
            Now::Undecided(_) => self.close(ts, State::Running, Waker::NOBODY, cpu),
            // It left a CPU on which it never arrived: an arrival was lost.
            _ => self.close(ts, State::Unknown, Waker::NOBODY, -1),
        }
        self.now = match flags & 0xf {
            kernel::LEFT_RUNNABLE => Now::Preempted,
            // Woken between leaving the run queue and leaving the CPU.
            _ if self.waking.is_some() => Now::Runnable,
            kernel::LEFT_UNINTERRUPTIBLE => Now::Blocked {
                hard: true,
                syscall,
                fd,
            },
            _ => Now::Blocked {
                hard: false,
                syscall,
                fd,
            },
        };
        self.waking = None;
    }

    fn arrive(&mut self, ts: i64, cpu: i16) {
        self.settle(ts);
        match self.now {
            Now::Runnable | Now::Undecided(_) => self.close(ts, State::Runnable, Waker::NOBODY, -1),
            Now::Preempted => self.close(ts, State::Preempted, Waker::NOBODY, -1),
            // Nobody arrives who was not woken, or who is there: a record was lost.
            Now::Blocked { .. } | Now::Running(_) | Now::Lost => {
                self.close(ts, State::Unknown, Waker::NOBODY, -1);
            }
        }
        self.now = Now::Running(cpu);
        self.waking = None;
    }

    fn waking(&mut self, ts: i64, waker: Waker) {
        self.doubt_until = i64::MIN;
        match self.now {
            Now::Running(_) | Now::Undecided(true) => self.waking = Some(waker),
            Now::Blocked { hard, .. } => self.wake(ts, hard, waker),
            Now::Undecided(false) => self.wake(ts, false, waker),
            Now::Lost => {
                self.close(ts, State::Unknown, Waker::NOBODY, -1);
                self.now = Now::Runnable;
            }
            Now::Runnable | Now::Preempted => {} // woken twice
        }
    }

    fn wakeup(&mut self, ts: i64) {
        match self.now {
            // It never slept: the waking that came before is done with.
            Now::Running(_) | Now::Undecided(true) => self.waking = None,
            // Its WAKING was lost; it is runnable all the same.
            _ => self.waking(ts, Waker::NOBODY),
        }
    }

    fn wake(&mut self, ts: i64, hard: bool, waker: Waker) {
        let state = if hard {
            State::Uninterruptible
        } else {
            State::Blocked
        };
        self.close(ts, state, waker, -1);
        self.now = Now::Runnable;
    }

    fn finish(mut self, end: i64, blocks: &mut Blocks) -> (Life, u32) {
        let end = self.exit.unwrap_or(end).max(self.since);
        let (state, cpu) = match self.now {
            Now::Running(cpu) => (State::Running, cpu),
            // R in /proc and never switched: it had its CPU for itself all the time.
            Now::Undecided(true) => (State::Running, -1),
            Now::Runnable => (State::Runnable, -1),
            Now::Preempted => (State::Preempted, -1),
            Now::Blocked { hard: true, .. } => (State::Uninterruptible, -1),
            Now::Blocked { hard: false, .. } => (State::Blocked, -1),
            Now::Undecided(false) | Now::Lost => (State::Unknown, -1),
        };
        self.close(end, state, Waker::NOBODY, cpu);
        self.life.end = self.since;
        blocks.take(self.number, &mut self.states);
        (self.life, self.number)
    }
}

/// The machine: feed it every record in the order of time, then take the lives.
pub struct Machine<'a> {
    begin: i64,
    end: i64,
    seen: &'a HashMap<u32, Seen>,
    room: Room,
    threads: FxHashMap<u32, Thread>,
    /// How many threads were met.
    met: u32,
    blocks: Blocks,
    /// Those that have ended, with their numbers.
    done: Vec<(Life, u32)>,
    /// Thread of the target that is on each CPU.
    on_cpu: Vec<Option<u32>>,
}

impl<'a> Machine<'a> {
    /// For a recording from `begin` to `end`; `seen` is the first that `/proc` said of each thread.
    pub fn new(begin: i64, end: i64, seen: &'a HashMap<u32, Seen>, room: &Room) -> Machine<'a> {
        Machine {
            begin,
            end,
            seen,
            room: room.clone(),
            threads: FxHashMap::default(),
            met: 0,
            blocks: Blocks::new(room),
            done: Vec::new(),
            on_cpu: Vec::new(),
        }
    }

    /// Takes one scheduler record; others are passed over.
    pub fn record(&mut self, r: &Record) {
        let ts = r.ts.clamp(self.begin, self.end);
        match r.kind {
            kernel::SWITCH => self.switch(r, ts),
            kernel::WAKING => {
                self.thread(r.tid, ts).waking(ts, Waker::of(r));
            }
            kernel::WAKEUP => self.thread(r.tid, ts).wakeup(ts),
            kernel::NEW => self.born(r, ts),
            kernel::EXIT => {
                let t = self.thread(r.tid, ts);
                t.exit = Some(ts);
            }
            _ => {}
        }
    }

    fn switch(&mut self, r: &Record, ts: i64) {
        let cpu = r.cpu as i16;
        let slot = r.cpu as usize;
        if self.on_cpu.len() <= slot {
            self.on_cpu.resize(slot + 1, None);
        }
        if let Some(other) = self.on_cpu[slot].take()
            && other != r.tid
            && let Some(t) = self.threads.get_mut(&other)
            && t.now == Now::Running(cpu)
        {
            // This CPU switches away from somebody else: the leaving of `other` was lost.
            t.close(ts, State::Unknown, Waker::NOBODY, -1);
            t.now = Now::Lost;
        }
        if r.flags & kernel::PREV_TRACED != 0 {
            let fd = i32::try_from(r.c).unwrap_or(-1);
            let syscall = u16::try_from(r.b).unwrap_or(0);
            self.thread(r.tid, ts).leave(ts, cpu, r.flags, syscall, fd);
            if r.flags & 0xf == kernel::LEFT_DEAD {
                self.bury(r.tid, ts);
            }
        }
        if r.flags & kernel::NEXT_TRACED != 0 {
            self.thread(r.a, ts).arrive(ts, cpu);
            self.on_cpu[slot] = Some(r.a);
        }
    }

    fn born(&mut self, r: &Record, ts: i64) {
        self.bury(r.tid, ts); // an earlier owner of the id whose end was lost
        let mut t = Thread::new(self.met, r.tid, ts, Now::Runnable);
        self.met += 1;
        t.life.nstid = Some(r.a);
        t.life.parent = (r.b != 0).then_some(r.b);
        self.threads.insert(r.tid, t);
    }

    fn bury(&mut self, tid: u32, ts: i64) {
        if let Some(mut t) = self.threads.remove(&tid) {
            t.exit = Some(ts);
            self.done.push(t.finish(ts, &mut self.blocks));
        }
    }

    fn thread(&mut self, tid: u32, ts: i64) -> &mut Thread {
        let (begin, seen, met) = (self.begin, self.seen, &mut self.met);
        let t = self.threads.entry(tid).or_insert_with(|| {
            let number = *met;
            *met += 1;
            match seen.get(&tid) {
                Some(seen) if seen.ts <= ts => {
                    let doubt_until = seen.ts.saturating_add(DOUBT_NS);
                    Thread {
                        doubt_until,
                        ..Thread::new(number, tid, begin, first(seen))
                    }
                }
                _ => Thread::new(number, tid, begin, Now::Undecided(false)),
            }
        });
        if t.states.len() >= BLOCK {
            self.blocks.take(t.number, &mut t.states);
        }
        t
    }

    /// Ends the recording: all lives, and of each its states. Threads that only `/proc` knew are there too.
    pub fn finish(mut self) -> (Vec<Life>, Grouped<Interval>) {
        let gone: HashSet<u32> = self.done.iter().map(|l| l.0.tid).collect();
        for (&tid, seen) in self.seen {
            let known = self.threads.contains_key(&tid) || gone.contains(&tid);
            if !known && !matches!(seen.state, 'X' | 'Z') {
                let t = Thread::new(self.met, tid, self.begin, first(seen));
                self.met += 1;
                self.threads.insert(tid, t);
            }
        }
        let (end, mut blocks) = (self.end, self.blocks);
        let living = self.threads.into_values();
        self.done.extend(living.map(|t| t.finish(end, &mut blocks)));
        self.done.sort_by_key(|(l, _)| (l.begin, l.tid));
        let states = blocks.by_thread(&self.room, self.done.iter().map(|l| l.1));
        (self.done.into_iter().map(|l| l.0).collect(), states)
    }
}

fn first(seen: &Seen) -> Now {
    let syscall = seen
        .syscall
        .and_then(|n| u16::try_from(n + 1).ok())
        .unwrap_or(0);
    let fd = seen.fd.unwrap_or(-1);
    match seen.state {
        'R' => Now::Undecided(true),
        'D' => Now::Blocked {
            hard: true,
            syscall,
            fd,
        },
        'S' | 'T' | 't' | 'I' => Now::Blocked {
            hard: false,
            syscall,
            fd,
        },
        _ => Now::Undecided(false),
    }
}

mod blocks;
#[cfg(test)]
mod tests;
