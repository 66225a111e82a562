//! Threads on machines: the part that is the same under every scheduler.
//!
//! A thread is *blocked* (its act waits for something), *ready* (wants a core), *running* (has a core: it burns CPU, or
//! its act executes its program, which takes no time) or *frozen* (its group has no quota left, or a collector has
//! stopped it); a frozen thread remembers whether it wants to run.

use super::contention::ContentionState;
use super::core::CoreSet;
use super::fluid::{Fluid, Ticket};
use super::station::plan;
use super::step::Flow;
use super::{Engine, Event, NONE};
use crate::calendar::Handle;
use crate::model::{Machine, Scheduler};
use crate::time::{Nanos, Time};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThreadState {
    Blocked,
    Ready,
    Running(u32),
    Frozen,
}

pub(super) struct Thread {
    pub act: u32,
    pub machine: u32,
    pub group: u32,
    pub heap: u32,
    pub state: ThreadState,
    /// Reasons for being frozen.
    pub frozen: u32,
    pub wants: bool,
    /// What is left of the present burst, in wall-clock nanoseconds of an undisturbed core.
    pub remaining: Nanos,
    pub ready_since: Time,
    pub last_core: u32,
    pub priority: i32,
    pub weight: f64,
    pub affinity: u128,
    // What the schedulers keep about it:
    pub counter: u32,
    pub used: Nanos,
    pub epoch: u64,
    pub virtual_time: f64,
    pub deadline: f64,
    pub lag: f64,
    pub slice_left: Nanos,
    // Sharing machines:
    pub ticket: Option<Ticket>,
}

impl Thread {
    /// Whether its act may execute its program now.
    #[inline]
    pub(super) fn may_execute(&self) -> bool {
        matches!(self.state, ThreadState::Running(_)) && self.remaining == Nanos::ZERO
    }
}

pub(super) enum Cpus {
    Shared {
        sharing: Fluid,
        event: Option<Handle>,
    },
    Cores(CoreSet),
}

pub(super) struct MachineState {
    pub speed: f64,
    pub switch_cost: Nanos,
    pub contention: Option<ContentionState>,
    pub cpus: Cpus,
}

impl MachineState {
    pub(super) fn new(machine: &Machine) -> MachineState {
        let cpus = if machine.scheduler == Scheduler::ProcessorSharing {
            Cpus::Shared {
                sharing: Fluid::new(machine.cores),
                event: None,
            }
        } else {
            Cpus::Cores(CoreSet::new(machine))
        };
        MachineState {
            speed: machine.speed,
            switch_cost: Nanos::from_seconds(machine.switch_cost),
            contention: machine.contention.map(|spec| {
                let shared = matches!(cpus, Cpus::Shared { .. });
                ContentionState::new(spec, machine.cores, shared)
            }),
            cpus,
        }
    }

    /// How long a core takes for CPU as a model writes it; without a core, as on the mean of them.
    #[inline]
    pub(super) fn takes(&self, written: Nanos, now: Time, core: Option<u32>) -> Nanos {
        let speed = self.speed
            / self
                .contention
                .as_ref()
                .map_or(1.0, |c| c.factor(now, core));
        if speed == 1.0 {
            written
        } else {
            Nanos::from_seconds(written.seconds() / speed)
        }
    }
}

impl Engine<'_> {
    /// The thread of a pool's new act; pools without a machine have acts without threads.
    pub(super) fn thread_for_pool(&mut self, act: u32, pool: u32) -> u32 {
        let spec = &self.model.pools[pool as usize];
        let Some(machine) = spec.machine else {
            return NONE;
        };
        self.new_thread(Thread {
            act,
            machine: machine as u32,
            group: spec.group.map_or(NONE, |g| g as u32),
            heap: spec.heap.map_or(NONE, |h| h as u32),
            priority: spec.priority,
            weight: spec.weight,
            affinity: spec.affinity,
            ..Thread::blank()
        })
    }

    pub(super) fn new_thread(&mut self, mut thread: Thread) -> u32 {
        let id = self.threads.len() as u32;
        if thread.group != NONE {
            let group = &mut self.groups[thread.group as usize];
            group.enroll(id, thread.machine);
            thread.frozen += u32::from(group.throttled);
            if let Some(affinity) = group.affinity {
                thread.affinity = affinity;
            }
        }
        if thread.heap != NONE {
            let heap = &mut self.heaps[thread.heap as usize];
            heap.stops.push(id);
            thread.frozen += u32::from(heap.stopped);
        }
        if let Cpus::Cores(cores) = &self.machines[thread.machine as usize].cpus {
            cores.policy.introduce(&mut thread);
        }
        self.threads.push(thread);
        id
    }

    /// A thread can go on: it wants a core.
    #[inline]
    pub(super) fn wake_thread(&mut self, thread: u32) {
        let now = self.now;
        let t = &mut self.threads[thread as usize];
        if t.frozen > 0 {
            t.state = ThreadState::Frozen;
            t.wants = true;
            return;
        }
        t.ready_since = now;
        let machine = t.machine;
        self.record
            .change(self.meters.machine_runnable[machine as usize], now, 1.0);
        if let Some(level) = self.meters.group_wanting(t.group) {
            self.record.change(level, now, 1.0);
        }
        match &mut self.machines[machine as usize].cpus {
            Cpus::Cores(_) => self.wake_on_core(machine, thread),
            Cpus::Shared { .. } => {
                let t = &mut self.threads[thread as usize];
                t.state = ThreadState::Running(0);
                if t.remaining > Nanos::ZERO {
                    self.share_burst(thread);
                } else {
                    let act = t.act;
                    self.ready.push_back(act);
                }
            }
        }
    }

    /// A thread cannot go on: its act waits for something.
    #[inline]
    pub(super) fn block_thread(&mut self, thread: u32) {
        let t = &mut self.threads[thread as usize];
        match t.state {
            ThreadState::Blocked => return,
            ThreadState::Frozen => {
                t.wants = false;
                return;
            }
            _ => {}
        }
        self.take_off(thread);
        self.threads[thread as usize].state = ThreadState::Blocked;
    }

    /// Takes a running or ready thread away from its machine.
    fn take_off(&mut self, thread: u32) {
        let now = self.now;
        let t = &self.threads[thread as usize];
        let machine = t.machine;
        self.record
            .change(self.meters.machine_runnable[machine as usize], now, -1.0);
        if let Some(level) = self.meters.group_wanting(t.group) {
            self.record.change(level, now, -1.0);
        }
        match &mut self.machines[machine as usize].cpus {
            Cpus::Cores(_) => self.leave_core(machine, thread),
            Cpus::Shared { sharing, .. } => {
                let t = &mut self.threads[thread as usize];
                if let Some(ticket) = t.ticket.take() {
                    let before = sharing.busy();
                    t.remaining = sharing.remove(now, ticket);
                    let after = sharing.busy();
                    self.shares_changed(machine, after - before);
                }
            }
        }
    }

    /// An act uses CPU.
    #[inline]
    pub(super) fn burst(&mut self, act: u32, demand: Nanos) -> Flow {
        let thread = self.acts[act].thread;
        if demand == Nanos::ZERO || thread == NONE {
            return Flow::On;
        }
        let now = self.now;
        let t = &mut self.threads[thread as usize];
        let m = &self.machines[t.machine as usize];
        let core = match t.state {
            ThreadState::Running(core) => Some(core),
            _ => None,
        };
        t.remaining = m.takes(demand, now, core);
        let machine = t.machine;
        match &m.cpus {
            Cpus::Cores(_) => {
                if let ThreadState::Running(core) = t.state {
                    self.begin_burst(machine, core);
                }
            }
            Cpus::Shared { .. } => self.share_burst(thread),
        }
        Flow::Stop
    }

    fn share_burst(&mut self, thread: u32) {
        let now = self.now;
        let t = &mut self.threads[thread as usize];
        let machine = t.machine;
        let Cpus::Shared { sharing, .. } = &mut self.machines[machine as usize].cpus else {
            return;
        };
        let before = sharing.busy();
        let kind = (t.weight, t.affinity, t.group);
        t.ticket = Some(sharing.add(now, thread, t.remaining, kind));
        let after = sharing.busy();
        self.shares_changed(machine, after - before);
    }

    /// The rates of a sharing machine have changed: so do its next event and what groups use.
    fn shares_changed(&mut self, machine: u32, busy: f64) {
        self.busy_changes(machine, 0, busy);
        self.plan_shared(machine);
        for group in 0..self.groups.len() as u32 {
            if self.groups[group as usize].is_limited_on(machine)
                && let Cpus::Shared { sharing, .. } = &self.machines[machine as usize].cpus
            {
                let rate = sharing.used_by(group);
                self.group_uses(group, rate);
            }
        }
    }

    /// A thread of a sharing machine may use other cores from now on.
    pub(super) fn share_elsewhere(&mut self, thread: u32) {
        let now = self.now;
        let t = &mut self.threads[thread as usize];
        let machine = t.machine;
        if let Cpus::Shared { sharing, .. } = &mut self.machines[machine as usize].cpus
            && let Some(ticket) = t.ticket.take()
        {
            let before = sharing.busy();
            t.remaining = sharing.remove(now, ticket);
            let after = sharing.busy();
            self.shares_changed(machine, after - before);
            self.share_burst(thread);
        }
    }

    fn plan_shared(&mut self, machine: u32) {
        if let Cpus::Shared { sharing, event } = &mut self.machines[machine as usize].cpus {
            plan(
                &mut self.calendar,
                event,
                sharing.next_end(),
                Event::BurstShared(machine),
            );
        }
    }

    pub(super) fn burst_shared(&mut self, machine: u32) {
        let now = self.now;
        let Cpus::Shared { sharing, event } = &mut self.machines[machine as usize].cpus else {
            return;
        };
        *event = None;
        let before = sharing.busy();
        let done = sharing.finish(now);
        let after = sharing.busy();
        self.shares_changed(machine, after - before);
        if let Some(thread) = done {
            let t = &mut self.threads[thread as usize];
            t.ticket = None;
            t.remaining = Nanos::ZERO;
            let act = t.act;
            self.ready.push_back(act);
        }
    }

    /// One more reason why a thread must not run.
    pub(super) fn freeze(&mut self, thread: u32) {
        let t = &mut self.threads[thread as usize];
        t.frozen += 1;
        if t.frozen > 1 {
            return;
        }
        match t.state {
            ThreadState::Blocked | ThreadState::Frozen => {}
            ThreadState::Ready | ThreadState::Running(_) => {
                self.take_off(thread);
                let t = &mut self.threads[thread as usize];
                t.state = ThreadState::Frozen;
                t.wants = true;
            }
        }
    }

    /// One reason less.
    pub(super) fn thaw(&mut self, thread: u32) {
        let t = &mut self.threads[thread as usize];
        t.frozen -= 1;
        if t.frozen == 0 && t.state == ThreadState::Frozen {
            t.state = ThreadState::Blocked;
            if std::mem::take(&mut t.wants) {
                self.wake_thread(thread);
            }
        }
    }
}

impl Thread {
    pub(super) fn blank() -> Thread {
        Thread {
            act: NONE,
            machine: 0,
            group: NONE,
            heap: NONE,
            state: ThreadState::Blocked,
            frozen: 0,
            wants: false,
            remaining: Nanos::ZERO,
            ready_since: Time::ZERO,
            last_core: NONE,
            priority: 0,
            weight: 1024.0,
            affinity: u128::MAX,
            counter: 0,
            used: Nanos::ZERO,
            epoch: 0,
            virtual_time: 0.0,
            deadline: 0.0,
            lag: 0.0,
            slice_left: Nanos::ZERO,
            ticket: None,
        }
    }
}
