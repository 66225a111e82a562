//! What goes wrong: time-outs, refusals, abandonment, retries.
//!
//! A failing act gives back whatever it holds. A thread's failure travels to whoever waits for its reply; a client's
//! ends the attempt, after which the client may try again. What the server was doing for a client that has given up
//! goes on to its end, as it does in real servers.

use super::program::NO_SITE;
use super::{Duty, Engine, Event, NONE, Role, Waiting};
use crate::time::Nanos;

impl Engine<'_> {
    /// The act's present request, job or branch has failed.
    pub(super) fn fail(&mut self, act: u32) {
        self.stop_patience(act);
        self.release_all(act);
        match self.acts[act].role {
            Role::Client => {
                self.close_connections(act);
                let meter = self.meters.class(self.acts[act].class as usize);
                self.record.add(meter + 3, 1.0);
                self.retry_or_leave(act);
            }
            Role::Worker { .. } => {
                self.reply(act, true);
                self.end_job(act);
                self.acts[act].duty = Duty::Between;
                // It may be in the midst of an operation: it takes its next job when it is resumed.
                let thread = self.acts[act].thread;
                if thread == NONE || self.threads[thread as usize].may_execute() {
                    self.ready.push_back(act);
                } else {
                    self.wake(act);
                }
            }
            Role::Branch { parent, generation } => self.join(act, parent, generation, true),
            Role::Collector(_) | Role::Marker(_) | Role::Free => {}
        }
    }

    /// A guard refuses a request.
    pub(super) fn refuse(&mut self, act: u32) {
        let meter = self.meters.class(self.acts[act].class as usize);
        self.record.add(meter + 5, 1.0);
        self.fail(act);
    }

    fn retry_or_leave(&mut self, act: u32) {
        let a = &mut self.acts[act];
        a.generation = a.generation.wrapping_add(1);
        if let Some(handle) = a.deadline.take() {
            self.calendar.cancel(handle);
        }
        let class = a.class as usize;
        let spec = &self.model.classes[class];
        if a.retries >= spec.retries {
            let meter = self.meters.class(class);
            self.record.add(meter + 6, 1.0);
            // Counts towards the length of the run, so that a system that serves nobody still comes to an end.
            self.record.completions += 1;
            self.leave_system(act, false);
            return;
        }
        a.retries += 1;
        let growth = spec.backoff_growth.powi(a.retries as i32 - 1);
        let meter = self.meters.class(class);
        self.record.add(meter + 7, 1.0);
        let site = self.meters.backoff_site[class];
        let pause = if site == NO_SITE {
            0.0
        } else {
            self.draw(site) * growth
        };
        let handle = self.schedule(Nanos::from_seconds(pause), Event::Resume(act));
        let a = &mut self.acts[act];
        a.timer = Some(handle);
        a.waiting = Waiting::Delay;
        a.pc = self.code.classes[class];
        a.failed = false;
        self.plan_retry(act, Nanos::from_seconds(pause));
    }

    /// The deadline of the retry, counted from its start.
    fn plan_retry(&mut self, act: u32, pause: Nanos) {
        let a = &mut self.acts[act];
        a.depth = 0;
        a.phase = 0;
        let site = self.meters.timeout_site[a.class as usize];
        if site != NO_SITE {
            let length = self.draw_nanos(site);
            let handle = self.schedule(pause + length, Event::ClientTimeout(act));
            self.acts[act].deadline = Some(handle);
        }
    }

    /// A client has waited long enough for its whole request.
    pub(super) fn client_timeout(&mut self, act: u32) {
        self.acts[act].deadline = None;
        let meter = self.meters.class(self.acts[act].class as usize);
        self.record.add(meter + 4, 1.0);
        self.detach(act);
        self.fail(act);
    }

    /// An act has waited long enough for what it waits for now.
    pub(super) fn give_up(&mut self, act: u32) {
        self.acts[act].patience = None;
        let a = &self.acts[act];
        match (a.role, a.waiting) {
            // A job's patience: its sender is told.
            (_, Waiting::Idle) => return self.end_idle_thread(act),
            (_, Waiting::Station(station)) => {
                let meter = self.meters.station(station as usize, a.class as usize);
                self.record.add(meter + 4, 1.0);
            }
            (_, Waiting::Resource(resource)) => {
                let meter = self.meters.resource(resource as usize);
                self.record.add(meter + 4, 1.0);
            }
            _ => {}
        }
        self.detach(act);
        self.acts[act].failed = true;
        self.wake(act);
    }

    /// Takes an act out of whatever it waits for.
    pub(super) fn detach(&mut self, act: u32) {
        self.stop_patience(act);
        let waiting = self.acts[act].waiting;
        match waiting {
            Waiting::Station(station) => self.leave_station(act, station),
            Waiting::Delay => {
                if let Some(handle) = self.acts[act].timer.take() {
                    self.calendar.cancel(handle);
                }
            }
            Waiting::Reply(job) => self.forget_caller(job, act),
            Waiting::Resource(resource) => self.leave_resource(act, resource),
            Waiting::Condition(condition) => {
                self.conditions[condition as usize].retain(|&(a, _)| a != act)
            }
            Waiting::Place(pool) => self.leave_outside(act, pool),
            Waiting::Join => {
                // The branches run on; the generation tells them that nobody waits.
                let a = &mut self.acts[act];
                a.generation = a.generation.wrapping_add(1);
            }
            Waiting::Idle => {}
            // Ready or about to be resumed: its place in the ready list finds nothing to do.
            Waiting::Nothing => self.ready.retain(|&a| a != act),
        }
        self.acts[act].waiting = Waiting::Nothing;
    }
}
