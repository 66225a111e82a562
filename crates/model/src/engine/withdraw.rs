//! Jobs that are given up: their caller no longer waits, or they have been queued for too long.

use super::program::NO_SITE;
use super::{Engine, NONE, Waiting};

impl Engine<'_> {
    /// A caller no longer waits. A job still queued because of its patience is withdrawn; one being served goes on.
    pub(super) fn forget_caller(&mut self, job: u32, act: u32) {
        if self.jobs[job].reply_to != act {
            return;
        }
        self.jobs[job].reply_to = NONE;
        let pool = self.model.entries[self.jobs[job].entry as usize].pool as u32;
        let lane = self.lane_of(pool, job);
        if let Some(handle) = self.jobs[job].patience.take() {
            self.calendar.cancel(handle);
        }
        let p = &mut self.pools[pool as usize];
        if p.patience == NO_SITE {
            return;
        }
        if p.lanes[lane as usize].line.remove(|&j| j == job).is_some() {
            p.waiting -= 1;
            let now = self.now;
            self.record
                .change(self.meters.pool_waiting[pool as usize], now, -1.0);
            let meter = self
                .meters
                .pool(pool as usize, self.jobs[job].class as usize);
            self.record.add(meter + 5, 1.0);
            self.jobs.free(job);
            self.let_one_in(pool);
        }
    }

    /// A job has been queued for long enough.
    pub(super) fn job_given_up(&mut self, job: u32) {
        let j = &mut self.jobs[job];
        j.patience = None;
        let to = j.reply_to;
        let valid = self.acts[to].generation == j.reply_generation;
        if valid && matches!(self.acts[to].waiting, Waiting::Reply(_)) {
            self.detach(to);
            self.acts[to].failed = true;
            self.wake(to);
        } else {
            self.forget_caller(job, to);
        }
    }

    /// A sender no longer waits for a place.
    pub(super) fn leave_outside(&mut self, act: u32, pool: u32) {
        let p = &mut self.pools[pool as usize];
        if let Some(at) = p.outside.iter().position(|&(sender, _)| sender == act)
            && let Some((_, job)) = p.outside.remove(at)
        {
            let now = self.now;
            self.record
                .change(self.meters.pool_waiting[pool as usize], now, -1.0);
            self.jobs.free(job);
        }
    }
}
