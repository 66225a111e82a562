//! The discrete-event engine: one run of a model with one seed.
//!
//! Terms: an *act* is whatever executes a program: a client's request, a thread of a pool, a branch of a fork, a
//! collector thread. A *job* is a request to a pool's entry, from being sent until the thread has ended it. Acts that
//! can go on without time passing are in the *ready list*; the run alternates between emptying that list and taking the
//! next event from the calendar.
//!
//! What always holds: between two events the ready list is empty; an act waits for exactly one thing; a thread
//! executes its program only while it has a core; what happens depends on the model and the seed alone.

mod acts;
mod arrivals;
mod contention;
mod control;
mod core;
mod deadlock;
mod failure;
mod fair;
mod fluid;
mod generations;
mod groups;
mod heap;
mod jobs;
mod kept;
mod lifecycle;
mod line;
mod machine;
mod pool;
mod program;
mod record;
mod resource;
mod scheduler;
mod setup;
mod sharing;
mod station;
mod step;
mod withdraw;

pub use deadlock::Deadlock;
pub use record::{Meter, Recorder, Segment};
pub use setup::Meters;

use crate::calendar::{Calendar, Handle};
use crate::model::Model;
use crate::time::{Nanos, Time};
use acts::{Acts, Duty, Role, Waiting};
use jobs::{Job, Jobs};
use program::{Code, Sampler};
use std::collections::VecDeque;

/// "No such thing" among indices.
const NONE: u32 = u32::MAX;

/// What can be scheduled.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    /// A source's next session begins.
    Arrival(u32),
    /// A source's rate changes.
    Modulate(u32),
    /// A pause of an act ends.
    Resume(u32),
    /// A client's thinking ends: its next request begins.
    Think(u32),
    /// A server of a station is done with an act.
    Served { station: u32, act: u32 },
    /// The first job of a sharing station ends.
    Shared(u32),
    /// The first burst of a sharing machine ends.
    BurstShared(u32),
    /// A core's thread ends its burst or its slice.
    Core { machine: u32, core: u32 },
    /// The timer of a Linux 2.4 machine.
    Tick(u32),
    /// An act has waited for long enough.
    GiveUp(u32),
    /// A job has been queued for long enough.
    JobGivenUp(u32),
    /// A client has waited for its request long enough.
    ClientTimeout(u32),
    /// A group has used its quota.
    QuotaSpent(u32),
    /// A group's period ends.
    QuotaRefill(u32),
    /// A guard decides.
    Guard(u32),
    /// A CPU manager decides.
    Manager(u32),
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The limit was reached.
    Limit,
    /// Nothing can happen any more.
    Empty,
    /// Things go on and on, but no time passes.
    Timeless,
    /// Requests pile up without end.
    Flooded,
    /// Some can never go on.
    Deadlocked(Deadlock),
}

/// One run of a model.
pub struct Engine<'m> {
    model: &'m Model,
    code: Code,
    samplers: Vec<Sampler>,
    now: Time,
    events: u64,
    calendar: Calendar<Event>,
    ready: VecDeque<u32>,
    acts: Acts,
    jobs: Jobs,
    threads: Vec<machine::Thread>,
    machines: Vec<machine::MachineState>,
    pools: Vec<pool::PoolState>,
    stations: Vec<station::StationState>,
    resources: Vec<resource::ResourceState>,
    conditions: Vec<VecDeque<(u32, u32)>>,
    groups: Vec<groups::GroupState>,
    heaps: Vec<heap::HeapState>,
    guards: Vec<control::GuardState>,
    managers: Vec<control::ManagerState>,
    sources: Vec<arrivals::SourceState>,
    choose: loadline_stats::Stream,
    place: loadline_stats::Stream,
    meters: Meters,
    record: Recorder,
    in_system: u64,
    flood: u64,
    /// Clients with a quota that have not done their work yet; the run is over when the last of them leaves.
    working: u64,
    over: bool,
    /// Resumptions and turns of loops since the last event.
    turns: u64,
}

/// As many as that without time passing are taken for a model in which time never will.
const MOST_TURNS: u64 = 5_000_000;

impl<'m> Engine<'m> {
    /// Simulated time so far.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events taken from the calendar so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// What was recorded so far.
    pub fn record(&self) -> &Recorder {
        &self.record
    }

    /// Where the record keeps what.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// Closes the segment that is not over, for runs too short to have whole ones.
    pub fn close_record(&mut self) {
        self.record.close_early(self.now);
    }

    /// Requests in the system now.
    pub fn in_system(&self) -> u64 {
        self.in_system
    }

    /// Runs until `completions` requests have been completed in all, `until` has come, or nothing can happen any more.
    pub fn run(&mut self, completions: u64, until: Time) -> End {
        loop {
            while let Some(act) = self.ready.pop_front() {
                self.turns += 1;
                if self.turns > MOST_TURNS {
                    return End::Timeless;
                }
                self.resume(act);
            }
            if self.over {
                return End::Empty;
            }
            if self.record.completions >= completions {
                return End::Limit;
            }
            let Some(at) = self.calendar.next_at() else {
                return match self.find_deadlock() {
                    Some(deadlock) => End::Deadlocked(deadlock),
                    None => End::Empty,
                };
            };
            if at > until {
                self.now = until;
                self.record.roll(until);
                return End::Limit;
            }
            if self.record.due(at) {
                self.record.roll(at);
            }
            let Some((at, event)) = self.calendar.pop() else {
                return End::Empty;
            };
            self.now = at;
            self.turns = 0;
            self.events += 1;
            self.handle(event);
            if self.in_system > self.flood {
                return End::Flooded;
            }
        }
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Served { station, act } => self.served(station, act),
            Event::Arrival(source) => self.arrive(source),
            Event::Core { machine, core } => self.core_event(machine, core),
            Event::BurstShared(machine) => self.burst_shared(machine),
            Event::Shared(station) => self.shared(station),
            Event::Resume(act) => {
                self.acts[act].timer = None;
                self.paused(act);
            }
            Event::Think(act) => {
                self.acts[act].timer = None;
                self.begin_request(act);
            }
            Event::Tick(machine) => self.tick(machine),
            Event::GiveUp(act) => self.give_up(act),
            Event::JobGivenUp(job) => self.job_given_up(job),
            Event::ClientTimeout(act) => self.client_timeout(act),
            Event::Modulate(source) => self.modulate(source),
            Event::QuotaSpent(group) => self.quota_spent(group),
            Event::QuotaRefill(group) => self.quota_refill(group),
            Event::Guard(guard) => self.guard_decides(guard),
            Event::Manager(manager) => self.manager_decides(manager),
        }
    }

    #[inline]
    fn draw(&mut self, site: program::Site) -> f64 {
        self.samplers[site as usize].draw()
    }

    #[inline]
    fn draw_nanos(&mut self, site: program::Site) -> Nanos {
        Nanos::from_seconds(self.samplers[site as usize].draw())
    }

    #[inline]
    fn schedule(&mut self, after: Nanos, event: Event) -> Handle {
        self.calendar.schedule(self.now + after, 1, event)
    }
}

/// How deep programs may nest.
pub mod limits {
    pub use super::fluid::MOST_SETS;
    pub use super::program::{LOOPS, PHASES};
}
