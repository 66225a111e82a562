//! Thread pools: jobs come, threads take them, serve them and reply.
//!
//! A job's *queueing time* runs from being sent until a thread takes it; its *first phase* until the thread has replied
//! or forwarded it; its *holding time* until the thread is done with it.

use super::line::Line;
use super::program::{NO_SITE, Site};
use super::step::Flow;
use super::{Duty, Engine, Event, Job, NONE, Role, Waiting};
use crate::model::{Pool, WhenFull};
use std::collections::VecDeque;

pub(super) struct Lane {
    pub line: Line<u32>,
    pub idle: VecDeque<u32>,
}

pub(super) struct PoolState {
    pub lanes: Vec<Lane>,
    pub threads: u32,
    /// Threads that were asked for and have not taken a job yet.
    pub starting: u32,
    /// Threads that have begun to end, and still count.
    pub ending: u32,
    pub capacity: u32,
    pub when_full: WhenFull,
    pub waiting: u32,
    /// Senders that wait for a place, with their job.
    pub outside: VecDeque<(u32, u32)>,
    pub patience: Site,
    pub create: Site,
    pub destroy: Site,
    pub delay: Site,
    pub wake: Site,
    /// Slots of threads that have ended, to be used again.
    pub spare: Vec<u32>,
}

impl PoolState {
    pub(super) fn new(pool: &Pool, sites: [Site; 5]) -> PoolState {
        let lanes = if pool.keyed {
            pool.min_threads.max(1)
        } else {
            1
        };
        PoolState {
            lanes: (0..lanes)
                .map(|_| Lane {
                    line: Line::new(pool.queue.discipline),
                    idle: VecDeque::new(),
                })
                .collect(),
            threads: 0,
            starting: 0,
            ending: 0,
            capacity: pool.queue.capacity,
            when_full: pool.queue.when_full,
            waiting: 0,
            outside: VecDeque::new(),
            patience: sites[0],
            create: sites[1],
            destroy: sites[2],
            delay: sites[3],
            wake: sites[4],
            spare: Vec::new(),
        }
    }
}

impl Engine<'_> {
    pub(super) fn job_for(
        &mut self,
        entry: u32,
        class: u32,
        client: u32,
        reply_to: u32,
        generation: u32,
    ) -> u32 {
        let now = self.now;
        self.jobs.create(Job {
            entry,
            class,
            client,
            reply_to,
            reply_generation: generation,
            sent: now,
            taken: now,
            first_phase_over: false,
            patience: None,
        })
    }

    pub(super) fn call(&mut self, act: u32, entry: u32, patience: Site) -> Flow {
        let now = self.now;
        let a = &mut self.acts[act];
        a.mark = now;
        let (class, client, generation) = (a.class, a.client, a.generation);
        let job = self.job_for(entry, class, client, act, generation);
        // The caller first waits, then the job is sent: a reply that comes at once must find it waiting.
        self.acts[act].waiting = Waiting::Reply(job);
        self.start_patience(act, patience);
        let thread = self.acts[act].thread;
        self.submit(act, job);
        // Unless the queue was full and refused, which has already failed or parked the caller, it leaves its core.
        if thread != NONE
            && matches!(
                self.acts[act].waiting,
                Waiting::Reply(_) | Waiting::Place(_)
            )
        {
            self.block_thread(thread);
        }
        Flow::Stop
    }

    pub(super) fn forward(&mut self, act: u32, entry: u32) -> Flow {
        let (class, client) = (self.acts[act].class, self.acts[act].client);
        let (mut to, mut generation) = (NONE, 0);
        if let Role::Worker { .. } = self.acts[act].role {
            let own = self.acts[act].job;
            to = std::mem::replace(&mut self.jobs[own].reply_to, NONE);
            generation = self.jobs[own].reply_generation;
            self.end_first_phase(act);
        }
        let job = self.job_for(entry, class, client, to, generation);
        if to != NONE && self.acts[to].generation == generation {
            self.acts[to].waiting = Waiting::Reply(job);
        }
        self.submit(act, job)
    }

    /// Whether a thread that is about to send a job first uses CPU to wake an idle thread for it; then the operation is
    /// executed again when that is done.
    #[inline]
    pub(super) fn pays_for_waking(&mut self, act: u32, entry: u32) -> bool {
        let pool = &self.pools[self.model.entries[entry as usize].pool];
        if pool.wake == NO_SITE || self.acts[act].thread == NONE {
            return false;
        }
        let lanes = pool.lanes.len() as u32;
        let a = &mut self.acts[act];
        let idle = &pool.lanes[(a.client % lanes) as usize].idle;
        if std::mem::take(&mut a.paid) || idle.is_empty() {
            return false;
        }
        let site = pool.wake;
        let demand = self.draw_nanos(site);
        if self.burst(act, demand) == Flow::On {
            return false;
        }
        let a = &mut self.acts[act];
        a.paid = true;
        a.pc -= 1;
        true
    }

    /// Sends a job to its pool on behalf of `sender`.
    pub(super) fn submit(&mut self, sender: u32, job: u32) -> Flow {
        let j = &self.jobs[job];
        let pool = self.model.entries[j.entry as usize].pool as u32;
        let meter = self.meters.pool(pool as usize, j.class as usize);
        let now = self.now;
        let lane = self.lane_of(pool, job);
        self.record
            .change(self.meters.pool_waiting[pool as usize], now, 1.0);
        if self.enlist(pool, lane, job) {
            return Flow::Check;
        }
        let p = &mut self.pools[pool as usize];
        if p.when_full == WhenFull::Reject {
            self.record
                .change(self.meters.pool_waiting[pool as usize], now, -1.0);
            self.record.add(meter + 4, 1.0);
            self.refuse_job(sender, job);
            return Flow::Check;
        }
        p.outside.push_back((sender, job));
        let waits_for_reply = self.jobs[job].reply_to == sender;
        if waits_for_reply {
            self.acts[sender].waiting = Waiting::Place(pool);
        } else {
            self.wait_for(sender, Waiting::Place(pool));
        }
        Flow::Stop
    }

    /// Queues a job if there is a place, and sees to it that a thread comes for it.
    fn enlist(&mut self, pool: u32, lane: u32, job: u32) -> bool {
        let spec = &self.model.pools[pool as usize];
        let p = &mut self.pools[pool as usize];
        let wakes = !spec.in_turn || p.lanes[lane as usize].line.len() == 0;
        let room = p.threads < spec.max_threads && !spec.keyed && p.starting <= p.waiting;
        let wanted = wakes && (room || !p.lanes[lane as usize].idle.is_empty());
        if !wanted && p.waiting >= p.capacity {
            return false;
        }
        let priority = self.model.classes[self.jobs[job].class as usize].priority;
        p.lanes[lane as usize].line.push(priority, job);
        p.waiting += 1;
        let patience = p.patience;
        if wanted {
            self.wake_one(pool, lane);
        }
        if patience != NO_SITE && self.jobs[job].reply_to != NONE {
            let length = self.draw_nanos(patience);
            let handle = self.schedule(length, Event::JobGivenUp(job));
            self.jobs[job].patience = Some(handle);
        }
        true
    }

    /// An idle thread is woken, or else a new one is created.
    fn wake_one(&mut self, pool: u32, lane: u32) {
        let spec = &self.model.pools[pool as usize];
        let p = &mut self.pools[pool as usize];
        let idle = &mut p.lanes[lane as usize].idle;
        let idle = if spec.wake_last {
            idle.pop_back()
        } else {
            idle.pop_front()
        };
        if let Some(thread) = idle {
            self.stop_patience(thread);
            self.acts[thread].waiting = Waiting::Nothing;
            self.wake(thread);
        } else if p.threads < spec.max_threads && !spec.keyed {
            self.create_thread(pool);
        }
    }

    fn refuse_job(&mut self, sender: u32, job: u32) {
        let (to, generation) = (self.jobs[job].reply_to, self.jobs[job].reply_generation);
        self.jobs.free(job);
        if to == NONE {
            return;
        }
        if to == sender {
            self.acts[sender].waiting = Waiting::Nothing;
            self.stop_patience(sender);
            self.fail(sender);
        } else {
            self.answer(to, generation, true);
        }
    }

    /// A thread that is done with one job, or was woken for one, takes the next or becomes idle.
    pub(super) fn next_job(&mut self, act: u32) {
        if self.after_job(act) == Flow::On {
            self.acts[act].failed = false;
            self.ready.push_front(act);
        }
    }

    /// Takes the next job ([`Flow::On`]: its program can begin), or becomes idle.
    pub(super) fn after_job(&mut self, act: u32) -> Flow {
        let Role::Worker { pool, lane } = self.acts[act].role else {
            return Flow::Stop;
        };
        let now = self.now;
        let p = &mut self.pools[pool as usize];
        let queued = p.lanes[lane as usize].line.pop();
        let Some(job) = queued.or_else(|| self.take_from_outside(pool, lane)) else {
            self.acts[act].duty = Duty::Between;
            return self.become_idle(act, pool, lane);
        };
        self.pools[pool as usize].waiting -= 1;
        self.record
            .change(self.meters.pool_waiting[pool as usize], now, -1.0);
        self.record
            .change(self.meters.pool_busy[pool as usize], now, 1.0);
        let j = &mut self.jobs[job];
        let patience = j.patience.take();
        j.taken = now;
        let meter = self.meters.pool(pool as usize, j.class as usize);
        let a = &mut self.acts[act];
        a.job = job;
        a.class = j.class;
        a.client = j.client;
        a.pc = self.code.entries[j.entry as usize];
        a.duty = Duty::Serving;
        a.depth = 0;
        a.phase = 0;
        a.failed = false;
        let queued = now.since(j.sent).seconds();
        self.record.add(meter + 1, queued);
        if let Some(handle) = patience {
            self.calendar.cancel(handle);
        }
        // Before another is let in, which wakes one itself if nobody else waits.
        let more = self.pools[pool as usize].lanes[lane as usize].line.len() > 0;
        if more && self.model.pools[pool as usize].in_turn {
            self.wake_one(pool, lane);
        }
        self.let_one_in(pool);
        Flow::On
    }

    /// A place in the queue became free: the first sender that waits outside gets it.
    pub(super) fn let_one_in(&mut self, pool: u32) {
        let p = &self.pools[pool as usize];
        if p.outside.is_empty() || p.waiting >= p.capacity {
            return;
        }
        let (_, first) = p.outside[0];
        let lane = self.lane_of(pool, first);
        if let Some(job) = self.take_from_outside(pool, lane) {
            self.pools[pool as usize].waiting -= 1;
            self.enlist(pool, lane, job);
        }
    }

    /// The first job that waits outside for a lane; its sender waits for the reply now, or goes on. The job counts as
    /// queued.
    fn take_from_outside(&mut self, pool: u32, lane: u32) -> Option<u32> {
        let outside = &self.pools[pool as usize].outside;
        let at = (0..outside.len()).find(|&i| self.lane_of(pool, outside[i].1) == lane)?;
        let p = &mut self.pools[pool as usize];
        let (sender, job) = p.outside.remove(at)?;
        p.waiting += 1;
        if self.jobs[job].reply_to == sender {
            self.acts[sender].waiting = Waiting::Reply(job);
        } else {
            self.acts[sender].waiting = Waiting::Nothing;
            self.wake(sender);
        }
        Some(job)
    }

    #[inline]
    pub(super) fn lane_of(&self, pool: u32, job: u32) -> u32 {
        let lanes = self.pools[pool as usize].lanes.len() as u32;
        if lanes == 1 {
            0
        } else {
            self.jobs[job].client % lanes
        }
    }

    /// The first phase of an act's job ends now, if it has not yet.
    fn end_first_phase(&mut self, act: u32) {
        let Role::Worker { pool, .. } = self.acts[act].role else {
            return;
        };
        let now = self.now;
        let j = &mut self.jobs[self.acts[act].job];
        if !j.first_phase_over {
            j.first_phase_over = true;
            let meter = self.meters.pool(pool as usize, j.class as usize);
            let length = now.since(j.taken).seconds();
            self.record.add(meter + 2, length);
        }
    }

    /// Replies to whoever waits for the act's job.
    pub(super) fn reply(&mut self, act: u32, failed: bool) {
        if !matches!(self.acts[act].role, Role::Worker { .. }) {
            return;
        }
        self.end_first_phase(act);
        let job = self.acts[act].job;
        let to = std::mem::replace(&mut self.jobs[job].reply_to, NONE);
        if to != NONE {
            let generation = self.jobs[job].reply_generation;
            self.answer(to, generation, failed);
        }
    }

    fn answer(&mut self, to: u32, generation: u32, failed: bool) {
        let a = &mut self.acts[to];
        if a.generation != generation || !matches!(a.waiting, Waiting::Reply(_)) {
            return;
        }
        a.waiting = Waiting::Nothing;
        a.failed = failed;
        self.stop_patience(to);
        self.wake(to);
    }

    /// A thread is done with its job.
    pub(super) fn end_job(&mut self, act: u32) {
        let Role::Worker { pool, .. } = self.acts[act].role else {
            return;
        };
        self.reply(act, false);
        let now = self.now;
        let job = self.acts[act].job;
        let j = &self.jobs[job];
        let meter = self.meters.pool(pool as usize, j.class as usize);
        let length = now.since(j.taken).seconds();
        self.record.add(meter, 1.0);
        self.record.add(meter + 3, length);
        self.record
            .change(self.meters.pool_busy[pool as usize], now, -1.0);
        self.jobs.free(job);
        self.acts[act].job = NONE;
    }
}
