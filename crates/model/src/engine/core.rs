//! Machines whose cores run one thread each at a time: dispatching, interrupting, switching.
//!
//! Which ready thread runs next, for how long and whom a woken thread interrupts is the [`Policy`]'s to say; everything
//! else is here. What always holds: no core is idle while a thread that may use it is ready.

use super::machine::{Cpus, ThreadState};
use super::scheduler::{How, Policy};
use super::{Engine, Event, NONE};
use crate::calendar::Handle;
use crate::model::Machine;
use crate::time::{Nanos, Time};

pub(super) struct Core {
    pub thread: u32,
    event: Option<Handle>,
    since: Time,
    last: u32,
}

pub(super) struct CoreSet {
    pub cores: Vec<Core>,
    idle: u128,
    pub policy: Policy,
    tick: Option<Handle>,
}

impl CoreSet {
    pub(super) fn new(machine: &Machine) -> CoreSet {
        let n = machine.cores.min(128);
        CoreSet {
            cores: (0..n)
                .map(|_| Core {
                    thread: NONE,
                    event: None,
                    since: Time::ZERO,
                    last: NONE,
                })
                .collect(),
            idle: if n == 128 { u128::MAX } else { (1 << n) - 1 },
            policy: Policy::new(&machine.scheduler, n),
            tick: None,
        }
    }
}

/// The core set of a machine that is known to have one.
macro_rules! cores {
    ($engine:expr, $machine:expr) => {
        match &mut $engine.machines[$machine as usize].cpus {
            Cpus::Cores(cores) => cores,
            Cpus::Shared { .. } => return,
        }
    };
}

impl Engine<'_> {
    pub(super) fn wake_on_core(&mut self, machine: u32, thread: u32) {
        let now = self.now;
        let set = cores!(self, machine);
        let is_eevdf = set.policy.is_eevdf();
        if is_eevdf {
            for core in 0..set.cores.len() as u32 {
                if cores!(self, machine).cores[core as usize].thread != NONE {
                    self.account(machine, core);
                }
            }
        }
        let set = cores!(self, machine);
        let t = &mut self.threads[thread as usize];
        set.policy.woken(t);
        let idle = set.idle & t.affinity;
        if idle != 0 {
            let warm = t.last_core != NONE && idle >> t.last_core & 1 == 1;
            let core = if warm {
                t.last_core
            } else {
                idle.trailing_zeros()
            };
            return self.dispatch(machine, core, thread);
        }
        let at_last = is_eevdf && t.affinity.checked_shr(t.last_core).unwrap_or(0) & 1 == 1;
        let candidates = if at_last {
            1 << t.last_core
        } else {
            t.affinity
        };
        let mut victim = None;
        let mut most = f64::NEG_INFINITY;
        for (i, core) in set.cores.iter().enumerate() {
            if candidates >> i & 1 == 0 || core.thread == NONE {
                continue;
            }
            let ran = now.since(core.since);
            if let Some(lead) =
                set.policy
                    .preempts(&self.threads, thread, core.thread, i as u32, ran)
                && lead > most
            {
                most = lead;
                victim = Some(i as u32);
            }
        }
        match victim {
            Some(core) => {
                self.interrupt(machine, core, How::Interrupted);
                self.dispatch(machine, core, thread);
                self.use_idle_cores(machine);
            }
            None => {
                self.threads[thread as usize].state = ThreadState::Ready;
                let set = cores!(self, machine);
                set.policy.enqueue(&mut self.threads, thread, How::Woken);
            }
        }
    }

    /// The running thread of a core loses it and becomes ready; the core is free for another.
    fn interrupt(&mut self, machine: u32, core: u32, how: How) {
        let now = self.now;
        self.account(machine, core);
        let set = cores!(self, machine);
        let c = &mut set.cores[core as usize];
        let thread = std::mem::replace(&mut c.thread, NONE);
        if let Some(handle) = c.event.take() {
            self.calendar.cancel(handle);
        }
        let t = &mut self.threads[thread as usize];
        t.state = ThreadState::Ready;
        t.ready_since = now;
        set.policy.enqueue(&mut self.threads, thread, how);
        let meter = self.meters.machine(machine as usize);
        self.record.add(meter + 1, 1.0);
        self.leaves_core(machine, core, thread);
    }

    fn leaves_core(&mut self, machine: u32, core: u32, thread: u32) {
        self.busy_changes(machine, core, -1.0);
        let group = self.threads[thread as usize].group;
        if group != NONE {
            self.group_runs(group, -1);
        }
    }

    /// Brings what a running thread has used up to date.
    fn account(&mut self, machine: u32, core: u32) {
        let now = self.now;
        let set = cores!(self, machine);
        let c = &mut set.cores[core as usize];
        let ran = now.since(c.since);
        c.since = now;
        if ran > Nanos::ZERO {
            let t = &mut self.threads[c.thread as usize];
            t.remaining = t.remaining - ran;
            t.slice_left = t.slice_left - ran;
            set.policy.account(t, ran);
        }
    }

    /// A free core begins to run a thread.
    fn dispatch(&mut self, machine: u32, core: u32, thread: u32) {
        let now = self.now;
        let cost = self.machines[machine as usize].switch_cost;
        let set = cores!(self, machine);
        set.idle &= !(1 << core);
        let c = &mut set.cores[core as usize];
        let switched = c.last != thread;
        c.thread = thread;
        c.last = thread;
        c.since = now;
        let t = &mut self.threads[thread as usize];
        t.state = ThreadState::Running(core);
        t.last_core = core;
        t.slice_left = set.policy.slice(t);
        let delay = now.since(t.ready_since).seconds();
        let group = t.group;
        let meter = self.meters.machine(machine as usize);
        self.record.add(meter + 2, delay);
        self.busy_changes(machine, core, 1.0);
        if switched {
            self.record.add(meter, 1.0);
            let t = &mut self.threads[thread as usize];
            t.remaining += cost;
        }
        if group != NONE {
            self.group_runs(group, 1);
        }
        // The quota may have stopped it at once.
        if matches!(self.threads[thread as usize].state, ThreadState::Running(_)) {
            self.run_core(machine, core);
        }
    }

    /// The thread of a core begins a burst, unless it is another's turn.
    pub(super) fn begin_burst(&mut self, machine: u32, core: u32) {
        let set = cores!(self, machine);
        let thread = set.cores[core as usize].thread;
        if set
            .policy
            .yields_between_bursts(&self.threads, thread, core)
        {
            self.give_way(machine, core);
        } else {
            self.run_core(machine, core);
        }
    }

    /// A core goes on with its thread's burst, or with its program if there is none.
    pub(super) fn run_core(&mut self, machine: u32, core: u32) {
        let now = self.now;
        let set = cores!(self, machine);
        let c = &mut set.cores[core as usize];
        let t = &self.threads[c.thread as usize];
        c.since = now;
        if t.remaining == Nanos::ZERO {
            self.ready.push_back(t.act);
            return;
        }
        if t.slice_left == Nanos::ZERO {
            return self.slice_over(machine, core);
        }
        let at = now + t.remaining.min(t.slice_left);
        match c.event {
            Some(handle) => self.calendar.reschedule(handle, at),
            None => c.event = Some(self.calendar.schedule(at, 1, Event::Core { machine, core })),
        }
        if set.tick.is_none()
            && let Some(tick) = set.policy.tick_length()
        {
            let next = Time((now.0 / tick.0 + 1) * tick.0);
            set.tick = Some(self.calendar.schedule(next, 0, Event::Tick(machine)));
        }
    }

    pub(super) fn core_event(&mut self, machine: u32, core: u32) {
        cores!(self, machine).cores[core as usize].event = None;
        self.account(machine, core);
        let set = cores!(self, machine);
        let t = &self.threads[set.cores[core as usize].thread as usize];
        if t.remaining == Nanos::ZERO {
            self.ready.push_back(t.act);
        } else {
            self.slice_over(machine, core);
        }
    }

    /// A thread has used its slice and wants to go on.
    fn slice_over(&mut self, machine: u32, core: u32) {
        let set = cores!(self, machine);
        let thread = set.cores[core as usize].thread;
        set.policy.expired(&mut self.threads, thread);
        if set.policy.goes_on(&self.threads, thread, core) {
            let t = &mut self.threads[thread as usize];
            set.policy.undisturbed(t);
            t.slice_left = set.policy.slice(t);
            return self.run_core(machine, core);
        }
        self.give_way(machine, core);
    }

    /// The running thread of a core gives others their turn; it may go on where a core is idle that they may not use.
    fn give_way(&mut self, machine: u32, core: u32) {
        self.interrupt(machine, core, How::Expired);
        self.pick(machine, core);
        self.use_idle_cores(machine);
    }

    /// A free core takes the next thread or becomes idle.
    pub(super) fn pick(&mut self, machine: u32, core: u32) {
        let set = cores!(self, machine);
        match set.policy.pick(&mut self.threads, core) {
            Some(thread) => self.dispatch(machine, core, thread),
            None => set.idle |= 1 << core,
        }
    }

    /// A thread leaves its core, or the line for one.
    pub(super) fn leave_core(&mut self, machine: u32, thread: u32) {
        match self.threads[thread as usize].state {
            ThreadState::Running(core) => {
                self.account(machine, core);
                let set = cores!(self, machine);
                let c = &mut set.cores[core as usize];
                c.thread = NONE;
                if let Some(handle) = c.event.take() {
                    self.calendar.cancel(handle);
                }
                let t = &mut self.threads[thread as usize];
                t.state = ThreadState::Blocked;
                set.policy.blocked(t);
                self.leaves_core(machine, core, thread);
                // Leaving may have thawed or throttled others; the core may be taken already.
                let set = cores!(self, machine);
                if set.cores[core as usize].thread == NONE {
                    self.pick(machine, core);
                }
            }
            ThreadState::Ready => {
                let set = cores!(self, machine);
                set.policy.remove(&mut self.threads, thread);
            }
            ThreadState::Blocked | ThreadState::Frozen => {}
        }
    }

    /// The timer of a Linux 2.4 machine: whoever runs is charged a tick.
    pub(super) fn tick(&mut self, machine: u32) {
        let now = self.now;
        let set = cores!(self, machine);
        set.tick = None;
        let mut busy = false;
        for core in 0..set.cores.len() as u32 {
            let set = cores!(self, machine);
            let thread = set.cores[core as usize].thread;
            if thread == NONE {
                continue;
            }
            busy = true;
            if set.policy.tick(&mut self.threads, thread)
                && !set.policy.goes_on(&self.threads, thread, core)
            {
                self.give_way(machine, core);
            }
        }
        let set = cores!(self, machine);
        if busy
            && set.tick.is_none()
            && let Some(tick) = set.policy.tick_length()
        {
            set.tick = Some(self.calendar.schedule(now + tick, 0, Event::Tick(machine)));
        }
    }

    /// A thread may use other cores from now on.
    pub(super) fn set_affinity(&mut self, thread: u32, affinity: u128) {
        let t = &mut self.threads[thread as usize];
        if t.affinity == affinity {
            return;
        }
        t.affinity = affinity;
        let machine = t.machine;
        if let Cpus::Shared { .. } = self.machines[machine as usize].cpus {
            return self.share_elsewhere(thread);
        }
        match t.state {
            ThreadState::Running(core) if affinity >> core & 1 == 0 => {
                self.interrupt(machine, core, How::Interrupted);
                self.pick(machine, core);
                self.use_idle_cores(machine);
            }
            ThreadState::Ready => self.use_idle_cores(machine),
            _ => {}
        }
    }

    /// After a change of affinity, or when a thread had to give way to one that may use its core only, a ready thread may
    /// be allowed on an idle core.
    #[inline]
    fn use_idle_cores(&mut self, machine: u32) {
        let mut idle = cores!(self, machine).idle;
        while idle != 0 {
            let core = idle.trailing_zeros();
            idle &= idle - 1;
            self.pick(machine, core);
        }
    }
}
