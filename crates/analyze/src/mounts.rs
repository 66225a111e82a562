//! Virtual threads: on which carrier each was when, and what it did there and in between.
//!
//! Terms: a *mount* is the time in which a virtual thread is on a carrier, which is a thread of the
//! kernel. Its states are the carrier's then. In between it is blocked until somebody lets it *go
//! on*, and then runnable: it waits for a carrier. When it was let go on is known
//!
//! | from | how |
//! | --- | --- |
//! | the probe in the JDK | exactly, and by whom |
//! | the carrier that mounted it, if that was asleep and was woken to do so | exactly, and by whom |
//! | a carrier that was asleep | not before the last moment at which one was: a carrier with work does not sleep |
//! | nothing else | between that moment and the mount its state is unknown |
//!
//! What always holds: states of a virtual thread follow each other without gap from its begin to its
//! end; those of a carrier, too, and while a virtual thread is on it, it is carrying and nothing else.

use loadline_trace::meta::NotRecorded;
use loadline_trace::spool::agent::{Event, kind as ev, left};
use loadline_trace::tables;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounded::{Grouped, Room};
use crate::intervals::union;
use crate::model::{BY_THREAD_ID, Interval, NONE, OFF_CARRIER, State, Woken};
use crate::threads::Threads;

/// Name of the JDK's thread that lets go on who waited for a monitor, on behalf of who left that.
const UNBLOCKER: &str = "VirtualThread-unblocker";
/// The thread that ends waits for a time; from 25 on carriers do it.
const UNPARKER: &str = "VirtualThread-unparker";

/// When a virtual thread could go on, who let it, and what it is until it does.
struct GoesOn {
    at: i64,
    waker: u32,
    woken: Woken,
    then: State,
}

impl GoesOn {
    /// By a thread; [`NONE`] if nobody is known.
    fn by(waker: u32, at: i64, then: State) -> GoesOn {
        let woken = if waker == NONE {
            Woken::Unknown
        } else {
            Woken::Thread
        };
        GoesOn {
            at,
            waker,
            woken,
            then,
        }
    }

    /// When its time was over.
    fn in_time(at: i64) -> GoesOn {
        GoesOn {
            at,
            waker: NONE,
            woken: Woken::Interrupt,
            then: State::Runnable,
        }
    }
}

/// A time in which a virtual thread was on a carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mount {
    /// The virtual thread.
    pub thread: u32,
    /// The carrier.
    pub carrier: u32,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Why it ended: one of [`left`].
    pub left: u64,
}

/// What the states of virtual threads are made from.
struct Known<'a> {
    /// Of all threads, as the kernel says.
    states: &'a Grouped<Interval>,
    threads: &'a Threads,
    /// When any carrier was asleep; disjoint.
    asleep: Vec<(i64, i64)>,
    has_kernel: bool,
}

/// All mounts, and who was let go on when.
#[derive(Debug, Default)]
pub struct Mounts {
    /// By begin.
    pub list: Vec<Mount>,
    /// Of each carrier, indices into `list`.
    of_carrier: FxHashMap<u32, Vec<u32>>,
    /// Of each virtual thread, the same.
    of_thread: FxHashMap<u32, Vec<u32>>,
    /// Of each virtual thread, when it was let go on and by which thread.
    goes_on: FxHashMap<u32, Vec<(i64, u32)>>,
}

impl Mounts {
    /// From the agent's events, by time. Virtual threads that were mounted when the
    /// recording began, or end in it, get their times in `threads`.
    pub fn new(
        events: impl Iterator<Item = Event>,
        threads: &mut Threads,
        begin: i64,
        end: i64,
    ) -> Mounts {
        let mut mounts = Mounts::default();
        if !threads.tells_mounts {
            return mounts;
        }
        let mut open: FxHashMap<u32, Mount> = FxHashMap::default(); // by carrier
        let mut on: FxHashMap<u32, u32> = FxHashMap::default(); // virtual threads to their carriers
        let mut met: FxHashSet<u32> = FxHashSet::default();
        for e in events {
            let ts = e.ts.clamp(begin, end);
            if e.kind == ev::GOES_ON
                && let actor = threads.actor(&e)
                && actor != NONE
                && let Some(thread) = threads.by_java(e.a)
            {
                mounts.goes_on.entry(thread).or_default().push((ts, actor));
            }
            if e.virtual_id == 0 || e.tid == 0 || e.kind == ev::SWITCH_TO {
                continue;
            }
            let thread = threads.by_java(e.virtual_id);
            let (Some(thread), Some(carrier)) = (thread, threads.by_nstid(e.tid, e.ts)) else {
                continue;
            };
            if carrier == thread || threads.list[carrier as usize].is_virtual {
                continue;
            }
            let first = met.insert(thread);
            if e.kind == ev::MOUNT || on.get(&thread) != Some(&carrier) {
                if e.kind != ev::MOUNT && !first {
                    continue; // its mount was lost: nobody knows since when it is there
                }
                let since = if e.kind == ev::MOUNT { ts } else { begin };
                // Whose unmount was lost is not there any more.
                if let Some(lost) = open.remove(&carrier) {
                    on.remove(&lost.thread);
                    mounts.list.push(Mount { end: ts, ..lost });
                }
                if let Some(elsewhere) = on.insert(thread, carrier)
                    && let Some(lost) = open.remove(&elsewhere)
                {
                    mounts.list.push(Mount { end: ts, ..lost });
                }
                let of_carrier = |m: &&Mount| m.carrier == carrier;
                let free = mounts.list.iter().rev().find(of_carrier).map(|m| m.end);
                let info = &mut threads.list[thread as usize];
                let since = since.max(free.unwrap_or(begin));
                if first {
                    info.begin = since;
                }
                info.end = end; // until it is said that it ends
                let left = left::UNKNOWN;
                open.insert(
                    carrier,
                    Mount {
                        thread,
                        carrier,
                        begin: since,
                        end: since,
                        left,
                    },
                );
            }
            if e.kind == ev::UNMOUNT {
                on.remove(&thread);
                if let Some(m) = open.remove(&carrier) {
                    let left = e.b;
                    mounts.list.push(Mount { end: ts, left, ..m });
                }
                if e.b == left::ENDED {
                    threads.list[thread as usize].end = ts;
                }
            }
        }
        mounts
            .list
            .extend(open.into_values().map(|m| Mount { end, ..m }));
        mounts.list.sort_by_key(|m| (m.begin, m.end));
        for (i, m) in mounts.list.iter().enumerate() {
            let i = i as u32;
            mounts.of_carrier.entry(m.carrier).or_default().push(i);
            mounts.of_thread.entry(m.thread).or_default().push(i);
        }
        mounts
    }

    /// The virtual thread that was on a carrier at a time.
    pub fn on(&self, carrier: u32, ts: i64) -> Option<u32> {
        let of = self.of_carrier.get(&carrier)?;
        let at = of.partition_point(|&m| self.list[m as usize].begin <= ts);
        let m = self.list[of[at.checked_sub(1)?] as usize];
        (ts < m.end).then_some(m.thread)
    }

    /// Who a waker is, at the time of the waking: a virtual thread if its carrier had one.
    pub fn waker(&self, waker: u32, ts: i64, threads: &Threads) -> Option<u32> {
        match waker {
            NONE => None,
            w if w & BY_THREAD_ID != 0 => Some(w & !BY_THREAD_ID),
            tid => {
                let thread = threads.by_tid(tid, ts)?;
                Some(self.on(thread, ts).unwrap_or(thread))
            }
        }
    }

    /// Gives the virtual threads that were mounted their states, and takes those from their carriers.
    pub fn share_out(
        &self,
        states: Grouped<Interval>,
        threads: &Threads,
        room: &Room,
    ) -> Grouped<Interval> {
        if self.list.is_empty() {
            return states;
        }
        let runs = |i: &Interval| i.state == State::Running;
        let known = Known {
            threads,
            asleep: self.asleep(&states),
            has_kernel: states.iter().flatten().any(runs),
            states: &states,
        };
        let mut shared = Grouped::new(room);
        for thread in 0..states.len() as u32 {
            shared.begin();
            if self.of_thread.contains_key(&thread) {
                shared.extend_from_slice(&self.states_of(thread, &known));
            } else if let Some(mounts) = self.of_carrier.get(&thread) {
                shared.extend_from_slice(&self.carriers_own(&states[thread as usize], mounts));
            } else {
                shared.extend_from_slice(&states[thread as usize]);
            }
            if thread.is_multiple_of(LET_GO_AFTER) {
                states.let_go();
            }
        }
        shared
    }

    /// When any carrier was asleep, with nobody on it.
    fn asleep(&self, states: &Grouped<Interval>) -> Vec<(i64, i64)> {
        let mut asleep = Vec::new();
        for (&carrier, mounts) in &self.of_carrier {
            let own = self.carriers_own(&states[carrier as usize], mounts);
            let blocked = own.iter().filter(|i| i.state.is_blocked());
            asleep.extend(blocked.map(|i| (i.begin, i.end)));
        }
        union(asleep)
    }

    /// States of a carrier, where it carries nobody.
    fn carriers_own(&self, states: &[Interval], mounts: &[u32]) -> Vec<Interval> {
        let mut own: Vec<Interval> = Vec::with_capacity(states.len() + 2 * mounts.len());
        let (mut next, mut at) = (0, 0);
        let end = states.last().map_or(0, |i| i.end);
        for &m in mounts {
            let m = &self.list[m as usize];
            let (begin, until) = (m.begin.min(end), m.end.min(end));
            next = cut(states, next, at, begin, &mut own);
            at = at.max(begin);
            let from = at.max(states.first().map_or(0, |i| i.begin));
            if until > from {
                own.push(Interval::new(from, until, State::Carrying));
                at = until;
            }
        }
        cut(states, next, at, end, &mut own);
        own
    }

    fn states_of(&self, thread: u32, known: &Known) -> Vec<Interval> {
        let life = &known.threads.list[thread as usize];
        let mut out = Vec::new();
        let mut at = life.begin;
        let mut before: Option<&Mount> = None;
        for &m in &self.of_thread[&thread] {
            let m = &self.list[m as usize];
            let begin = m.begin.max(at);
            self.in_between(thread, before, (at, begin), Some(m), known, &mut out);
            let end = m.end.clamp(begin, life.end.max(begin));
            let carriers = &known.states[m.carrier as usize];
            let from = carriers.partition_point(|i| i.end <= begin);
            let have = out.len();
            cut(carriers, from, begin, end, &mut out);
            // Before the carrier was known to the kernel level, or after.
            let covered = out[have..].last().map_or(begin, |i| i.end);
            if covered < end {
                out.push(Interval::new(covered, end, State::Unknown));
            }
            at = end;
            before = Some(m);
        }
        self.in_between(thread, before, (at, life.end), None, known, &mut out);
        out
    }

    /// States between two mounts.
    fn in_between(
        &self,
        thread: u32,
        before: Option<&Mount>,
        (begin, end): (i64, i64),
        after: Option<&Mount>,
        known: &Known,
        out: &mut Vec<Interval>,
    ) {
        if end <= begin {
            return;
        }
        let off = |begin: i64, end: i64, state: State| Interval {
            cpu: OFF_CARRIER,
            ..Interval::new(begin, end, state)
        };
        let wants_to_run = match before {
            None => true, // started, and not mounted yet
            Some(m) => m.left == left::YIELDS,
        };
        if wants_to_run {
            return out.push(off(begin, end, State::Runnable));
        }
        let on = self
            .told(thread, before, begin, end, known)
            .unwrap_or_else(|| match after {
                None => GoesOn::by(NONE, end, State::Blocked),
                Some(m) => self.bound(m, begin, end, known),
            });
        if on.at > begin {
            let mut i = off(begin, on.at, State::Blocked);
            (i.waker, i.woken) = (on.waker, on.woken);
            out.push(i);
        }
        if end > on.at {
            out.push(off(on.at, end, on.then));
        }
    }

    /// When the probe said that it goes on, and who let it.
    fn told(
        &self,
        thread: u32,
        before: Option<&Mount>,
        begin: i64,
        end: i64,
        known: &Known,
    ) -> Option<GoesOn> {
        let of = self.goes_on.get(&thread)?;
        // Between the park and the unmount it may have been told already.
        let parked = begin - PARK_TO_UNMOUNT_NS.min(begin - before?.begin);
        let &(ts, by) = of
            .get(of.partition_point(|g| g.0 < parked))
            .filter(|g| g.0 <= end)?;
        let who = &known.threads.list[by as usize];
        let at = ts.max(begin);
        let by = match who.name.as_deref() {
            Some(UNBLOCKER) => self.who_woke(by, ts, known).unwrap_or(by),
            Some(UNPARKER) => return Some(GoesOn::in_time(at)),
            // Whoever is mounted on it acts in its own name.
            _ if who.is_carrier => return Some(GoesOn::in_time(at)),
            _ => by,
        };
        Some(GoesOn::by(by | BY_THREAD_ID, at, State::Runnable))
    }

    /// Who woke a thread the last time before `ts`.
    fn who_woke(&self, thread: u32, ts: i64, known: &Known) -> Option<u32> {
        let states = &known.states[thread as usize];
        let until = states.partition_point(|i| i.end <= ts);
        let woken = states[..until]
            .iter()
            .rev()
            .find(|i| i.state.is_blocked())?;
        self.waker(woken.waker, woken.end, known.threads)
    }

    /// When it may have been let go on at the earliest; and whether it was then.
    fn bound(&self, m: &Mount, begin: i64, end: i64, known: &Known) -> GoesOn {
        if !known.has_kernel {
            return GoesOn::by(NONE, end, State::Blocked); // nobody knows more
        }
        let carriers = &known.states[m.carrier as usize];
        // Was its carrier woken, and mounted nobody before it?
        let upto = carriers.partition_point(|i| i.end <= end);
        let woken = carriers[..upto].iter().rev().find(|i| i.state.is_blocked());
        let mounts = &self.of_carrier[&m.carrier];
        let at = mounts.partition_point(|&o| self.list[o as usize].begin < m.begin);
        let free_since = at
            .checked_sub(1)
            .map_or(i64::MIN, |o| self.list[mounts[o] as usize].end);
        if let Some(i) = woken
            && i.begin >= free_since
            && i.waker != NONE
            && i.end > begin
        {
            let waker = self
                .waker(i.waker, i.end, known.threads)
                .map_or(NONE, |w| w | BY_THREAD_ID);
            return GoesOn::by(waker, i.end, State::Runnable);
        }
        let last = known.asleep.partition_point(|a| a.0 < end);
        let idle_until = last
            .checked_sub(1)
            .map_or(begin, |a| known.asleep[a].1.min(end));
        GoesOn::by(NONE, idle_until.max(begin), State::Unknown)
    }

    /// What one might look for and will not find.
    pub fn not_recorded(&self) -> Option<NotRecorded> {
        (!self.list.is_empty() && self.goes_on.is_empty()).then(|| NotRecorded {
            what: "since when virtual threads could go on while all carriers were busy".into(),
            why: "no interface tells, and no loaded class is redefined".into(),
            how_to_get: "-javaagent at start, or `loadline arm` at a quiet hour".into(),
        })
    }

    /// Rows of the table.
    pub fn rows<'a>(
        &'a self,
        states: &'a Grouped<Interval>,
    ) -> impl Iterator<Item = tables::Mount> + 'a {
        // Those from before the recording say why a thread had left its carrier, and have no length.
        self.list.iter().filter(|m| m.end > m.begin).map(|m| {
            let own = &states[m.thread as usize];
            let from = own.partition_point(|i| i.end <= m.begin);
            let pinned_ns = own[from..]
                .iter()
                .take_while(|i| i.begin < m.end)
                .filter(|i| i.state.is_blocked() && i.cpu != OFF_CARRIER)
                .map(|i| i.end.min(m.end) - i.begin.max(m.begin))
                .sum();
            tables::Mount {
                thread: i64::from(m.thread),
                carrier: i64::from(m.carrier),
                begin_ns: m.begin,
                end_ns: m.end,
                pinned_ns,
            }
        })
    }
}

/// After so many threads the pages of their states are let go.
const LET_GO_AFTER: u32 = 256;
/// How long before its unmount a virtual thread may have said that it parks.
const PARK_TO_UNMOUNT_NS: i64 = 20_000;

/// Appends the parts of `states` within `[begin, end)`, from the index `from` on; the index to go on
/// with. A part whose end was cut was not ended by its waker.
fn cut(states: &[Interval], from: usize, begin: i64, end: i64, out: &mut Vec<Interval>) -> usize {
    let mut at = from;
    while let Some(i) = states.get(at) {
        if i.begin >= end {
            break;
        }
        let (b, e) = (i.begin.max(begin), i.end.min(end));
        if e > b {
            let mut part = Interval {
                begin: b,
                end: e,
                ..*i
            };
            if e < i.end {
                part.waker = NONE;
                part.woken = Woken::Unknown;
            }
            out.push(part);
        }
        if i.end > end {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests;
