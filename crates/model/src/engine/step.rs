//! Executing programs: one act goes on until it must wait, uses CPU, loses its core or ends.

use super::program::{NO_SITE, Op};
use super::{Duty, Engine, Event, MOST_TURNS, NONE, Role, Waiting};
use crate::time::Nanos;

/// How an operation left its act.
#[derive(PartialEq, Eq)]
pub(super) enum Flow {
    /// Go on with the next operation.
    On,
    /// Something else will resume it.
    Stop,
    /// It woke somebody who may have taken its core: go on only if it still has it.
    Check,
}

impl Engine<'_> {
    /// A pause ended: what is next depends on what paused.
    pub(super) fn paused(&mut self, act: u32) {
        self.acts[act].waiting = Waiting::Nothing;
        self.wake(act);
    }

    /// Makes an act able to go on: a thread must first get a core.
    #[inline]
    pub(super) fn wake(&mut self, act: u32) {
        let thread = self.acts[act].thread;
        if thread == NONE {
            self.ready.push_back(act);
        } else {
            self.wake_thread(thread);
        }
    }

    /// An act stops being able to go on: a thread leaves its core.
    #[inline]
    pub(super) fn wait_for(&mut self, act: u32, waiting: Waiting) {
        let a = &mut self.acts[act];
        a.waiting = waiting;
        if a.thread != NONE {
            let thread = a.thread;
            self.block_thread(thread);
        }
    }

    /// Taken from the ready list.
    pub(super) fn resume(&mut self, act: u32) {
        let a = &self.acts[act];
        if a.thread != NONE && !self.threads[a.thread as usize].may_execute() {
            // Interrupted between becoming ready and now; it comes back when it has a core again.
            return;
        }
        match (a.role, a.duty) {
            (Role::Client | Role::Branch { .. }, _) | (Role::Worker { .. }, Duty::Serving) => {
                if a.failed {
                    self.acts[act].failed = false;
                    self.fail(act);
                } else {
                    self.execute(act);
                }
            }
            (Role::Worker { .. }, Duty::Between) => self.next_job(act),
            (Role::Worker { .. }, Duty::Starting) => self.thread_started(act),
            (Role::Worker { .. }, Duty::Ending) => self.thread_ended(act),
            (Role::Collector(heap), _) => self.collected(heap, act),
            (Role::Marker(heap), _) => self.marked(heap, act),
            (Role::Free, _) => {}
        }
    }

    fn execute(&mut self, act: u32) {
        loop {
            let a = &mut self.acts[act];
            let op = self.code.ops[a.pc as usize];
            a.pc += 1;
            match self.operate(act, op) {
                Flow::On => {}
                Flow::Stop => return,
                Flow::Check => {
                    let thread = self.acts[act].thread;
                    if thread != NONE && !self.threads[thread as usize].may_execute() {
                        return;
                    }
                }
            }
        }
    }

    #[inline]
    fn operate(&mut self, act: u32, op: Op) -> Flow {
        match op {
            Op::Visit(station, site) => self.visit(act, station, site),
            Op::End => self.end(act),
            Op::Cpu(site) => {
                let demand = self.draw_nanos(site);
                self.burst(act, demand)
            }
            Op::Wait(site) => {
                let pause = self.draw_nanos(site);
                self.pause(act, pause)
            }
            Op::Sleep { site, tick } => {
                let ticks = self.draw_nanos(site).0.div_ceil(tick.0) + 1;
                let at = (self.now.0 / tick.0 + ticks) * tick.0;
                self.pause(act, Nanos(at - self.now.0))
            }
            Op::KeepAlive(which) => {
                self.keep_alive(act, which);
                Flow::On
            }
            Op::Jump(to) => {
                self.acts[act].pc = to;
                Flow::On
            }
            Op::Branch { site, arms } => {
                let u = self.draw(site);
                if let Some(&(_, to)) = self.code.arms[arms as usize].iter().find(|arm| u < arm.0) {
                    self.acts[act].pc = to;
                }
                Flow::On
            }
            Op::ByClass(arms) => {
                let class = self.acts[act].class;
                if let Some(&(_, to)) = self.code.class_arms[arms as usize]
                    .iter()
                    .find(|arm| arm.0 == class)
                {
                    self.acts[act].pc = to;
                }
                Flow::On
            }
            Op::Call { entry, .. } | Op::Forward(entry) | Op::Send(entry)
                if self.pays_for_waking(act, entry) =>
            {
                Flow::Stop
            }
            Op::Call { entry, patience } => self.call(act, entry, patience),
            Op::Forward(entry) => self.forward(act, entry),
            Op::Send(entry) => {
                let (class, client) = (self.acts[act].class, self.acts[act].client);
                let job = self.job_for(entry, class, client, NONE, 0);
                self.submit(act, job)
            }
            Op::Reply => {
                self.reply(act, false);
                Flow::Check
            }
            Op::Acquire {
                resource,
                mode,
                patience,
            } => self.acquire(act, resource, mode, patience),
            Op::Release { resource, mode } => {
                self.release(act, resource, mode);
                Flow::Check
            }
            Op::Await { condition, mutex } => self.await_condition(act, condition, mutex),
            Op::Notify { condition, all } => {
                self.notify(condition, all);
                Flow::Check
            }
            Op::Fork { branches, wait_for } => self.fork(act, branches, wait_for),
            Op::LoopBegin { site, end } => {
                let times = self.draw(site).round().clamp(0.0, 4e9) as u32;
                let a = &mut self.acts[act];
                if times == 0 {
                    a.pc = end;
                } else {
                    a.loops[a.depth as usize] = times;
                    a.depth += 1;
                }
                Flow::On
            }
            Op::LoopEnd { begin } => {
                let a = &mut self.acts[act];
                let left = &mut a.loops[a.depth as usize - 1];
                *left -= 1;
                if *left > 0 {
                    a.pc = begin + 1;
                    self.turns += 1;
                    if self.turns > MOST_TURNS {
                        // The run ends as soon as it sees this.
                        self.ready.push_back(act);
                        return Flow::Stop;
                    }
                } else {
                    a.depth -= 1;
                }
                Flow::On
            }
            Op::Allocate(site) => {
                let bytes = self.draw(site);
                self.allocate(act, bytes)
            }
            Op::PhaseBegin => {
                let now = self.now;
                let a = &mut self.acts[act];
                a.phases[a.phase as usize] = now;
                a.phase += 1;
                Flow::On
            }
            Op::PhaseEnd(phase) => {
                let a = &mut self.acts[act];
                a.phase -= 1;
                let length = self.now.since(a.phases[a.phase as usize]).seconds();
                let meter = self.meters.phase(phase as usize);
                self.record.add(meter, 1.0);
                self.record.add(meter + 1, length);
                Flow::On
            }
            Op::Admit { guard, site } => {
                let new = self.draw(site) > 0.5;
                if self.admits(guard, new) {
                    Flow::On
                } else {
                    self.refuse(act);
                    Flow::Stop
                }
            }
            Op::Fail => {
                self.fail(act);
                Flow::Stop
            }
        }
    }

    fn pause(&mut self, act: u32, pause: Nanos) -> Flow {
        if pause == Nanos::ZERO {
            return Flow::On;
        }
        let timer = self.schedule(pause, Event::Resume(act));
        self.acts[act].timer = Some(timer);
        self.wait_for(act, Waiting::Delay);
        Flow::Stop
    }

    fn end(&mut self, act: u32) -> Flow {
        match self.acts[act].role {
            Role::Client => self.complete_request(act),
            Role::Worker { .. } => {
                self.end_job(act);
                // It goes on with the next job at once if it still has its core.
                return self.after_job(act);
            }
            Role::Branch { parent, generation } => self.join(act, parent, generation, false),
            Role::Collector(_) | Role::Marker(_) | Role::Free => {}
        }
        Flow::Stop
    }

    fn fork(&mut self, act: u32, branches: u32, wait_for: u32) -> Flow {
        let count = self.code.forks[branches as usize].len();
        let a = &mut self.acts[act];
        a.joins = wait_for;
        let (class, source, client, generation) = (a.class, a.source, a.client, a.generation);
        for i in 0..count {
            let pc = self.code.forks[branches as usize][i];
            let branch = self.acts.create(
                Role::Branch {
                    parent: act,
                    generation,
                },
                self.now,
            );
            let b = &mut self.acts[branch];
            b.pc = pc;
            b.class = class;
            b.source = source;
            b.client = client;
            self.ready.push_back(branch);
        }
        if wait_for == 0 {
            return Flow::On;
        }
        self.wait_for(act, Waiting::Join);
        Flow::Stop
    }

    /// A branch has ended. The parent goes on when enough have; a quorum leaves the others running.
    pub(super) fn join(&mut self, branch: u32, parent: u32, generation: u32, failed: bool) {
        self.release_all(branch);
        self.acts.free(branch);
        let p = &mut self.acts[parent];
        if p.generation != generation || p.waiting != Waiting::Join {
            return;
        }
        p.failed |= failed;
        p.joins -= 1;
        if p.joins == 0 {
            p.waiting = Waiting::Nothing;
            self.wake(parent);
        }
    }

    /// Starts the patience of an act that waits.
    pub(super) fn start_patience(&mut self, act: u32, site: super::program::Site) {
        if site == NO_SITE {
            return;
        }
        let length = self.draw_nanos(site);
        let handle = self.schedule(length, Event::GiveUp(act));
        self.acts[act].patience = Some(handle);
    }

    /// It got what it waited for.
    #[inline]
    pub(super) fn stop_patience(&mut self, act: u32) {
        if let Some(handle) = self.acts[act].patience.take() {
            self.calendar.cancel(handle);
        }
    }
}
