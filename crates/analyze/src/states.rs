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
//! * What cannot follow from what was known (arriving while it ran or slept, leaving while it did not run, a
//!   CPU switching away from someone else than who was on it) means that a record was lost. Some
//!   kernels do not tell what happens while certain threads of the machine's own are on a CPU. The CPU time with which a
//!   thread leaves says since when it ran, and whether it ran in between; where it cannot, or where the rings
//!   were full and much more may be missing, the interval since the last certain moment is unknown.
//!
//! Intervals come in blocks of one thread each, in the order in which the blocks are full; at the end they are put
//! together by thread.
//!
//! Invariant: the intervals of a thread follow each other without gap from its begin to its end.

use std::collections::{HashMap, HashSet};

use loadline_trace::spool::kernel::{self, Record};
use rustc_hash::FxHashMap;

use crate::bounded::{Grouped, Room};
use crate::model::{Interval, State};
use blocks::{BLOCK, Blocks};
use thread::{Leaving, Now, Thread, Waker, first};

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
    /// Whether records were lost in numbers: CPU times then tell of too many of them at once.
    lossy: bool,
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
            lossy: false,
        }
    }

    /// For a recording whose rings were full at some time.
    pub fn lossy(self, lossy: bool) -> Machine<'a> {
        Machine { lossy, ..self }
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
            && t.now.on() == Some(cpu)
        {
            // This CPU switches away from somebody else: the leaving of `other` was lost.
            t.close(ts, State::Unknown, Waker::NOBODY, -1);
            t.now = Now::Lost;
        }
        if r.flags & kernel::PREV_TRACED != 0 {
            let how = Leaving {
                flags: r.flags,
                syscall: u16::try_from(r.b).unwrap_or(0),
                fd: r.fd(),
                cpu_time: r.cpu_time().filter(|_| !self.lossy),
            };
            self.thread(r.tid, ts).leave(ts, cpu, how);
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
                    let mut t = Thread::new(number, tid, begin, first(seen));
                    t.doubt_until = seen.ts.saturating_add(DOUBT_NS);
                    t
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

mod blocks;
#[cfg(test)]
mod tests;
mod thread;
