//! Threads of pools come into being, become idle, and end.
//!
//! A new thread pays for its creation before its first job, and for its end when it is no longer wanted. A slot whose
//! thread has ended is used again: threads that come and go cost no memory.

use super::program::NO_SITE;
use super::step::Flow;
use super::{Duty, Engine, Event, Role, Waiting};
use crate::model::UNLIMITED;
use crate::time::Nanos;

impl Engine<'_> {
    pub(super) fn create_thread(&mut self, pool: u32) {
        let delay = self.pools[pool as usize].delay;
        let act = self.add_thread(pool, 0);
        self.pools[pool as usize].starting += 1;
        self.acts[act].duty = Duty::Starting;
        self.acts[act].failed = false;
        let pause = if delay == NO_SITE {
            Nanos::ZERO
        } else {
            self.draw_nanos(delay)
        };
        if pause == Nanos::ZERO {
            self.wake(act);
        } else {
            let handle = self.schedule(pause, Event::Resume(act));
            let a = &mut self.acts[act];
            a.timer = Some(handle);
            a.waiting = Waiting::Delay;
        }
    }

    /// A new thread, not running yet.
    pub(super) fn add_thread(&mut self, pool: u32, lane: u32) -> u32 {
        let now = self.now;
        self.pools[pool as usize].threads += 1;
        self.record
            .change(self.meters.pool_threads[pool as usize], now, 1.0);
        if let Some(act) = self.pools[pool as usize].spare.pop() {
            // It was idle since its end; who still took it for idle would call its job stuck.
            let a = &mut self.acts[act];
            a.role = Role::Worker { pool, lane };
            a.waiting = Waiting::Nothing;
            return act;
        }
        let act = self.acts.create(Role::Worker { pool, lane }, self.now);
        let thread = self.thread_for_pool(act, pool);
        self.acts[act].thread = thread;
        act
    }

    /// A new thread has a core: it pays for its creation, then takes its first job.
    pub(super) fn thread_started(&mut self, act: u32) {
        let Role::Worker { pool, .. } = self.acts[act].role else {
            return;
        };
        let create = self.pools[pool as usize].create;
        self.acts[act].duty = Duty::Between;
        self.pools[pool as usize].starting -= 1;
        if create != NO_SITE {
            let demand = self.draw_nanos(create);
            if self.burst(act, demand) == Flow::Stop {
                return;
            }
        }
        self.next_job(act);
    }

    pub(super) fn become_idle(&mut self, act: u32, pool: u32, lane: u32) -> Flow {
        let spec = &self.model.pools[pool as usize];
        let p = &mut self.pools[pool as usize];
        let surplus = p.threads - p.ending > spec.min_threads && !spec.keyed;
        if surplus && spec.idle_timeout <= 0.0 {
            p.ending += 1;
            self.end_thread(act);
            return Flow::Stop;
        }
        p.lanes[lane as usize].idle.push_back(act);
        let timeout = spec.idle_timeout;
        self.wait_for(act, Waiting::Idle);
        if surplus && timeout.is_finite() {
            let handle = self.schedule(Nanos::from_seconds(timeout), Event::GiveUp(act));
            self.acts[act].patience = Some(handle);
        }
        Flow::Stop
    }

    /// An idle thread's time is up.
    pub(super) fn end_idle_thread(&mut self, act: u32) {
        let Role::Worker { pool, lane } = self.acts[act].role else {
            return;
        };
        let p = &mut self.pools[pool as usize];
        if p.threads - p.ending <= self.model.pools[pool as usize].min_threads {
            return;
        }
        p.ending += 1;
        p.lanes[lane as usize].idle.retain(|&a| a != act);
        self.acts[act].waiting = Waiting::Nothing;
        self.acts[act].duty = Duty::Ending;
        self.acts[act].failed = true;
        self.wake(act);
    }

    pub(super) fn end_thread(&mut self, act: u32) {
        let Role::Worker { pool, .. } = self.acts[act].role else {
            return;
        };
        let destroy = self.pools[pool as usize].destroy;
        self.acts[act].duty = Duty::Ending;
        self.acts[act].failed = false;
        if destroy != NO_SITE {
            let demand = self.draw_nanos(destroy);
            if self.burst(act, demand) == Flow::Stop {
                return;
            }
        }
        self.thread_ended(act);
    }

    pub(super) fn thread_ended(&mut self, act: u32) {
        if std::mem::take(&mut self.acts[act].failed) {
            // Woken from idleness to end: it has not paid for its end yet.
            return self.end_thread(act);
        }
        let Role::Worker { pool, .. } = self.acts[act].role else {
            return;
        };
        let now = self.now;
        let p = &mut self.pools[pool as usize];
        p.threads -= 1;
        p.ending -= 1;
        p.spare.push(act);
        self.record
            .change(self.meters.pool_threads[pool as usize], now, -1.0);
        // A job may have come while it was ending and found the pool full.
        let wanted = p.waiting > p.starting && p.lanes[0].idle.is_empty();
        let grows = wanted && p.threads < self.model.pools[pool as usize].max_threads;
        self.wait_for(act, Waiting::Idle);
        if grows {
            self.create_thread(pool);
        }
    }

    /// Brings the threads into being that a pool always has.
    pub(super) fn open_pools(&mut self) {
        for pool in 0..self.model.pools.len() as u32 {
            let spec = &self.model.pools[pool as usize];
            let count = if spec.keyed {
                spec.min_threads.max(1)
            } else {
                spec.min_threads
            };
            let lanes = self.pools[pool as usize].lanes.len() as u32;
            for i in 0..count.min(UNLIMITED - 1) {
                let lane = if lanes == 1 { 0 } else { i };
                let act = self.add_thread(pool, lane);
                self.acts[act].waiting = Waiting::Idle;
                self.pools[pool as usize].lanes[lane as usize]
                    .idle
                    .push_back(act);
            }
        }
    }
}
