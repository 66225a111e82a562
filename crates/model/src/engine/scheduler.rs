//! Which ready thread runs next: round robin, fixed priority, Linux 2.4. The fair schedulers are in [`super::fair`].
//!
//! Each policy answers the same questions: where a ready thread queues, which one a core takes, how long it may run,
//! whether a woken thread interrupts a running one.

use super::fair::{Cfs, Eevdf};
use super::machine::Thread;
use crate::model::Scheduler;
use crate::time::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Why a thread becomes ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It waited and now wants to run.
    Woken,
    /// Another was more urgent.
    Interrupted,
    /// Its time slice is used.
    Expired,
}

pub(super) enum Policy {
    RoundRobin {
        quantum: Nanos,
        line: VecDeque<u32>,
    },
    Priority {
        preemptive: bool,
        lines: BTreeMap<Reverse<i32>, VecDeque<u32>>,
    },
    Linux24(Linux24),
    Cfs(Cfs),
    Eevdf(Eevdf),
}

/// The scheduler of Linux 2.4: each thread has a counter of ticks; the highest counter runs. A running thread loses one
/// a tick; at zero another is chosen; when all that are ready are at zero, every thread (blocked ones too) keeps half
/// of its counter and gets a slice on top.
pub(super) struct Linux24 {
    tick: Nanos,
    slice_ticks: u32,
    lead: u32,
    sampled: bool,
    compare_at_ticks: bool,
    /// Ready threads by counter.
    lines: Vec<VecDeque<u32>>,
    ready: usize,
    epoch: u64,
}

impl Linux24 {
    /// What recalculations a thread has missed while it was blocked or running.
    fn refresh(&self, t: &mut Thread) {
        // Half plus a constant converges: after eight steps nothing changes any more.
        for _ in 0..(self.epoch - t.epoch).min(8) {
            t.counter = t.counter / 2 + self.slice_ticks;
        }
        t.epoch = self.epoch;
    }

    fn recalculate(&mut self, threads: &mut [Thread]) {
        self.epoch += 1;
        let mut lines = vec![VecDeque::new(); self.lines.len()];
        for line in self.lines.iter().rev() {
            for &id in line {
                let t = &mut threads[id as usize];
                self.refresh(t);
                lines[t.counter as usize].push_back(id);
            }
        }
        self.lines = lines;
    }

    fn best(&self) -> u32 {
        self.lines
            .iter()
            .rposition(|line| !line.is_empty())
            .unwrap_or(0) as u32
    }
}

impl Policy {
    pub(super) fn new(scheduler: &Scheduler, cores: u32) -> Policy {
        match scheduler {
            Scheduler::ProcessorSharing => Policy::RoundRobin {
                quantum: Nanos(u64::MAX),
                line: VecDeque::new(),
            },
            Scheduler::RoundRobin { quantum } => Policy::RoundRobin {
                quantum: Nanos::from_seconds(*quantum).max(Nanos(1)),
                line: VecDeque::new(),
            },
            Scheduler::Priority { preemptive } => Policy::Priority {
                preemptive: *preemptive,
                lines: BTreeMap::new(),
            },
            Scheduler::Linux24 {
                tick,
                slice_ticks,
                preempt_lead,
                sampled,
                compare_at_ticks,
            } => Policy::Linux24(Linux24 {
                tick: Nanos::from_seconds(*tick),
                slice_ticks: *slice_ticks,
                lead: *preempt_lead,
                sampled: *sampled,
                compare_at_ticks: *compare_at_ticks,
                lines: vec![VecDeque::new(); *slice_ticks as usize * 2 + 1],
                ready: 0,
                epoch: 0,
            }),
            Scheduler::Cfs {
                latency,
                granularity,
                wakeup_granularity,
            } => Policy::Cfs(Cfs::new(*latency, *granularity, *wakeup_granularity, cores)),
            Scheduler::Eevdf { slice } => Policy::Eevdf(Eevdf::new(*slice)),
        }
    }

    /// A thread comes into being.
    pub(super) fn introduce(&self, t: &mut Thread) {
        if let Policy::Linux24(p) = self {
            t.counter = p.slice_ticks;
            t.epoch = p.epoch;
        }
    }

    /// A thread wants to run after having waited.
    #[inline]
    pub(super) fn woken(&mut self, t: &mut Thread) {
        match self {
            Policy::Linux24(p) => p.refresh(t),
            Policy::Cfs(p) => p.woken(t),
            Policy::Eevdf(p) => p.join(t),
            _ => {}
        }
    }

    /// A thread stops wanting to run.
    pub(super) fn blocked(&mut self, t: &mut Thread) {
        if let Policy::Eevdf(p) = self {
            p.leave(t);
        }
        if let Policy::Cfs(p) = self {
            p.running(t, -1);
        }
    }

    /// A ready thread queues.
    pub(super) fn enqueue(&mut self, threads: &mut [Thread], id: u32, how: How) {
        match self {
            Policy::RoundRobin { line, .. } => {
                if how == How::Interrupted {
                    line.push_front(id);
                } else {
                    line.push_back(id);
                }
            }
            Policy::Priority { lines, .. } => {
                let line = lines
                    .entry(Reverse(threads[id as usize].priority))
                    .or_default();
                if how == How::Interrupted {
                    line.push_front(id)
                } else {
                    line.push_back(id)
                }
            }
            Policy::Linux24(p) => {
                let t = &mut threads[id as usize];
                p.refresh(t);
                p.ready += 1;
                let line = &mut p.lines[t.counter as usize];
                // The kernel puts a woken thread at the head of its list and an expired one at the tail.
                if how == How::Expired {
                    line.push_back(id)
                } else {
                    line.push_front(id)
                }
            }
            Policy::Cfs(p) => p.enqueue(&threads[id as usize], id, how),
            Policy::Eevdf(p) => p.enqueue(&threads[id as usize], id),
        }
    }

    /// A ready thread no longer is.
    pub(super) fn remove(&mut self, threads: &mut [Thread], id: u32) {
        let take = |line: &mut VecDeque<u32>| {
            if let Some(at) = line.iter().position(|&t| t == id) {
                line.remove(at);
            }
        };
        match self {
            Policy::RoundRobin { line, .. } => take(line),
            Policy::Priority { lines, .. } => lines.values_mut().for_each(take),
            Policy::Linux24(p) => {
                p.lines.iter_mut().for_each(take);
                p.ready -= 1;
            }
            Policy::Cfs(p) => p.remove(&threads[id as usize], id),
            Policy::Eevdf(p) => p.remove(&mut threads[id as usize], id),
        }
    }

    /// The thread that a free core takes.
    pub(super) fn pick(&mut self, threads: &mut [Thread], core: u32) -> Option<u32> {
        match self {
            Policy::RoundRobin { line, .. } => take_allowed(line, threads, core),
            Policy::Priority { lines, .. } => lines
                .values_mut()
                .find_map(|line| take_allowed(line, threads, core)),
            Policy::Linux24(p) => {
                if p.ready == 0 {
                    return None;
                }
                let allowed = |id: &u32| threads[*id as usize].affinity >> core & 1 == 1;
                if !p.lines[1..].iter().any(|line| line.iter().any(allowed)) {
                    if !p.lines[0].iter().any(allowed) {
                        return None;
                    }
                    p.recalculate(threads);
                }
                let found = p
                    .lines
                    .iter_mut()
                    .rev()
                    .find_map(|line| take_allowed(line, threads, core));
                p.ready -= usize::from(found.is_some());
                found
            }
            Policy::Cfs(p) => p.pick(threads, core),
            Policy::Eevdf(p) => p.pick(threads, core),
        }
    }

    /// How long a thread that is about to run may do so.
    #[inline]
    pub(super) fn slice(&self, t: &Thread) -> Nanos {
        match self {
            Policy::RoundRobin { quantum, .. } => *quantum,
            Policy::Priority { .. } => Nanos(u64::MAX),
            Policy::Linux24(p) if p.sampled => Nanos(u64::MAX),
            Policy::Linux24(p) => Nanos(
                (u64::from(t.counter) * p.tick.0)
                    .saturating_sub(t.used.0)
                    .max(1),
            ),
            Policy::Cfs(p) => p.slice(t),
            Policy::Eevdf(p) => p.slice(t),
        }
    }

    /// Charges a thread for what it ran.
    #[inline]
    pub(super) fn account(&mut self, t: &mut Thread, ran: Nanos) {
        match self {
            Policy::Linux24(p) if !p.sampled => {
                p.refresh(t);
                t.used += ran;
                while t.used >= p.tick && t.counter > 0 {
                    t.used = t.used - p.tick;
                    t.counter -= 1;
                }
            }
            Policy::Cfs(p) => p.account(t, ran),
            Policy::Eevdf(p) => p.account(t, ran),
            _ => {}
        }
    }

    /// A thread has used its slice.
    pub(super) fn expired(&mut self, threads: &mut [Thread], id: u32) {
        match self {
            Policy::Linux24(p) => {
                p.refresh(&mut threads[id as usize]);
                if p.best() == 0 && threads[id as usize].counter == 0 {
                    p.recalculate(threads);
                    p.refresh(&mut threads[id as usize]);
                }
            }
            Policy::Eevdf(p) => p.expired(&mut threads[id as usize]),
            _ => {}
        }
    }

    /// A thread goes on because nobody else wants its core.
    #[inline]
    pub(super) fn undisturbed(&mut self, t: &Thread) {
        if let Policy::Cfs(p) = self {
            p.undisturbed(t);
        }
    }

    /// Whether a thread whose slice is used goes on because nobody better is ready for its core.
    pub(super) fn goes_on(&self, threads: &[Thread], id: u32, core: u32) -> bool {
        let t = &threads[id as usize];
        let allowed = |id: &u32| threads[*id as usize].affinity >> core & 1 == 1;
        match self {
            Policy::RoundRobin { line, .. } => !line.iter().any(allowed),
            Policy::Priority { .. } => true,
            Policy::Linux24(p) => p.best() <= t.counter,
            Policy::Cfs(p) => p.goes_on(threads, core),
            Policy::Eevdf(p) => p.goes_on(threads, core),
        }
    }

    /// Whether a thread gives others their turn between two of its bursts: first come, first served and non-preemptive
    /// priority are disciplines of bursts, as in queueing networks; elsewhere a thread keeps its core until it blocks.
    #[inline]
    pub(super) fn yields_between_bursts(&self, threads: &[Thread], id: u32, core: u32) -> bool {
        let allowed = |id: &u32| threads[*id as usize].affinity >> core & 1 == 1;
        match self {
            Policy::RoundRobin { quantum, line } => {
                quantum.0 == u64::MAX && line.iter().any(allowed)
            }
            Policy::Priority {
                preemptive: false,
                lines,
            } => {
                let own = threads[id as usize].priority;
                lines
                    .range(..=Reverse(own))
                    .any(|(_, line)| line.iter().any(allowed))
            }
            _ => false,
        }
    }

    /// What running threads have had says where a woken one joins, so they are accounted before; and it asks only for the
    /// core where it ran last, whose queue it would be in.
    #[inline]
    pub(super) fn is_eevdf(&self) -> bool {
        matches!(self, Policy::Eevdf(_))
    }

    /// By how much a woken thread is more urgent than a core's running one, which has `ran` since it was last accounted.
    #[inline]
    pub(super) fn preempts(
        &self,
        threads: &[Thread],
        woken: u32,
        running: u32,
        core: u32,
        ran: Nanos,
    ) -> Option<f64> {
        let (w, r) = (&threads[woken as usize], &threads[running as usize]);
        match self {
            Policy::RoundRobin { .. } => None,
            Policy::Priority { preemptive, .. } => {
                let lead = w.priority - r.priority;
                (*preemptive && lead > 0).then_some(f64::from(lead))
            }
            Policy::Linux24(p) => {
                let mut counter = r.counter;
                for _ in 0..(p.epoch - r.epoch).min(8) {
                    counter = counter / 2 + p.slice_ticks;
                }
                if !p.sampled {
                    counter = counter.saturating_sub(((r.used + ran).0 / p.tick.0) as u32);
                }
                (w.counter >= counter + p.lead).then(|| f64::from(w.counter - counter))
            }
            Policy::Cfs(p) => p.preempts(w, r, ran),
            Policy::Eevdf(p) => p.preempts(threads, woken, running, core),
        }
    }

    /// The period of the timer of a scheduler that samples.
    #[inline]
    pub(super) fn tick_length(&self) -> Option<Nanos> {
        match self {
            Policy::Linux24(p) if p.sampled => Some(p.tick),
            _ => None,
        }
    }

    /// Charges a running thread a tick; whether it must be looked at again.
    pub(super) fn tick(&mut self, threads: &mut [Thread], id: u32) -> bool {
        let Policy::Linux24(p) = self else {
            return false;
        };
        let t = &mut threads[id as usize];
        p.refresh(t);
        t.counter = t.counter.saturating_sub(1);
        let left = t.counter;
        if left > 0 {
            return p.compare_at_ticks && p.best() > left;
        }
        if p.best() == 0 {
            p.recalculate(threads);
            p.refresh(&mut threads[id as usize]);
        }
        true
    }
}

/// The first in line that may use `core`.
fn take_allowed(line: &mut VecDeque<u32>, threads: &[Thread], core: u32) -> Option<u32> {
    let at = line
        .iter()
        .position(|&id| threads[id as usize].affinity >> core & 1 == 1)?;
    line.remove(at)
}
