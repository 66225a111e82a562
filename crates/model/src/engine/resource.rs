//! Mutexes, read-write locks, semaphores, connection pools and condition variables.
//!
//! One mechanism serves all: a number of units, holders, and a line of those who wait, served in order. A read-write
//! lock has a very large number of units of which a reader takes one and a writer all.

use super::program::{NO_SITE, Site};
use super::step::Flow;
use super::{Engine, Event, Waiting};
use crate::model::{Mode, Resource, ResourceKind};
use crate::time::{Nanos, Time};
use std::collections::VecDeque;

/// Units of a read-write lock: more readers than there can ever be.
const ALL: u32 = 1 << 30;

/// Who holds how many units since when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holding {
    pub act: u32,
    pub units: u32,
    since: Time,
    /// How often its connection has been used, this time included.
    uses: u32,
}

pub(super) struct ResourceState {
    pub units: u32,
    pub free: u32,
    pub holders: Vec<Holding>,
    pub line: VecDeque<(u32, u32)>,
    lifo: bool,
    prefer_readers: bool,
    /// Whether somebody else may release what one acquired.
    anonymous: bool,
    connect: Site,
    idle_timeout: Nanos,
    most_uses: u32,
    /// Connections that are open and unused: since when, and how often they were used. The latest is used first.
    open: Vec<(Time, u32)>,
}

impl ResourceState {
    pub(super) fn new(resource: &Resource, connect: Site) -> ResourceState {
        let read_write = matches!(resource.kind, ResourceKind::ReadWrite { .. });
        let (idle_timeout, most_uses) = match resource.kind {
            ResourceKind::Connections { idle, uses, .. } => (Nanos::from_seconds(idle), uses),
            _ => (Nanos(u64::MAX), u32::MAX),
        };
        let units = if read_write { ALL } else { resource.units };
        ResourceState {
            units,
            free: units,
            holders: Vec::new(),
            line: VecDeque::new(),
            lifo: resource.lifo,
            prefer_readers: resource.kind
                == ResourceKind::ReadWrite {
                    prefer_readers: true,
                },
            anonymous: resource.kind == ResourceKind::Semaphore,
            connect,
            idle_timeout,
            most_uses,
            open: Vec::new(),
        }
    }

    /// Takes connections that are open, as far as there are: how often the most used of them was used before; `None` if
    /// one must be opened.
    fn use_connections(&mut self, now: Time, units: u32) -> Option<u32> {
        if self.connect == NO_SITE {
            return None;
        }
        // The oldest are closed first.
        let stale = self
            .open
            .partition_point(|c| now.since(c.0) >= self.idle_timeout);
        self.open.drain(..stale);
        let taken = self
            .open
            .split_off(self.open.len().saturating_sub(units as usize));
        let whole = taken.len() == units as usize;
        taken.iter().map(|c| c.1).max().filter(|_| whole)
    }

    fn rest_connections(&mut self, now: Time, holding: Holding) {
        if self.connect != NO_SITE && holding.uses < self.most_uses {
            let rest = std::iter::repeat_n((now, holding.uses), holding.units as usize);
            self.open.extend(rest);
        }
    }

    fn join_line(&mut self, act: u32, units: u32) {
        if self.lifo {
            self.line.push_front((act, units));
        } else {
            self.line.push_back((act, units));
        }
    }

    fn wanted(&self, mode: Mode) -> u32 {
        match mode {
            Mode::Units(n) => n,
            Mode::Read => 1,
            Mode::Write => self.units,
        }
    }
}

impl Engine<'_> {
    pub(super) fn acquire(&mut self, act: u32, resource: u32, mode: Mode, patience: Site) -> Flow {
        let now = self.now;
        let meter = self.meters.resource(resource as usize);
        self.acts[act].mark = now;
        let r = &mut self.resources[resource as usize];
        let units = r.wanted(mode);
        let passes = r.line.is_empty() || (r.prefer_readers && mode == Mode::Read);
        if passes && r.free >= units {
            self.record.add(meter, 1.0);
            return self.grant(act, resource, units);
        }
        r.join_line(act, units);
        self.record.add(meter + 3, 1.0);
        self.record
            .change(self.meters.resource_waiting[resource as usize], now, 1.0);
        self.wait_for(act, Waiting::Resource(resource));
        self.start_patience(act, patience);
        Flow::Stop
    }

    /// Hands out units that are free. The new holder goes on at once unless its connection must first be opened.
    fn grant(&mut self, act: u32, resource: u32, units: u32) -> Flow {
        let now = self.now;
        let r = &mut self.resources[resource as usize];
        r.free -= units;
        let uses = r.use_connections(now, units);
        r.holders.push(Holding {
            act,
            units,
            since: now,
            uses: uses.unwrap_or(0).saturating_add(1),
        });
        self.record
            .change(self.meters.resource_held[resource as usize], now, 1.0);
        let connect = self.resources[resource as usize].connect;
        if connect != NO_SITE && uses.is_none() {
            let pause = self.draw_nanos(connect);
            if pause > Nanos::ZERO {
                let timer = self.schedule(pause, Event::Resume(act));
                self.acts[act].timer = Some(timer);
                self.wait_for(act, Waiting::Delay);
                return Flow::Stop;
            }
        }
        Flow::On
    }

    pub(super) fn release(&mut self, act: u32, resource: u32, mode: Mode) {
        let r = &self.resources[resource as usize];
        let units = r.wanted(mode);
        let own = r
            .holders
            .iter()
            .position(|h| h.act == act && h.units == units);
        // Of a semaphore, who has held longest gives way to one that releases without having acquired.
        let at = own.or((r.anonymous && !r.holders.is_empty()).then_some(0));
        match at {
            Some(at) => self.give_back(resource, at),
            None if r.anonymous => {
                self.resources[resource as usize].free += units;
                self.serve_line(resource);
            }
            // Only its holder releases a lock; loading refuses programs that release what they cannot have taken.
            None => {}
        }
    }

    fn give_back(&mut self, resource: u32, at: usize) {
        let now = self.now;
        let r = &mut self.resources[resource as usize];
        let holding = r.holders.swap_remove(at);
        r.free += holding.units;
        r.rest_connections(now, holding);
        let meter = self.meters.resource(resource as usize);
        self.record
            .add(meter + 2, now.since(holding.since).seconds());
        self.record
            .change(self.meters.resource_held[resource as usize], now, -1.0);
        self.serve_line(resource);
    }

    fn serve_line(&mut self, resource: u32) {
        loop {
            let r = &mut self.resources[resource as usize];
            let next = if r.prefer_readers && r.free > 0 && r.free < r.units {
                r.line.iter().position(|&(_, units)| units == 1)
            } else {
                (!r.line.is_empty()).then_some(0)
            };
            let Some(at) = next else { return };
            let Some(&(act, units)) = r.line.get(at) else {
                return;
            };
            if r.free < units {
                return;
            }
            r.line.remove(at);
            let now = self.now;
            let meter = self.meters.resource(resource as usize);
            self.record.add(meter, 1.0);
            let waited = now.since(self.acts[act].mark).seconds();
            self.record.add(meter + 1, waited);
            self.record
                .change(self.meters.resource_waiting[resource as usize], now, -1.0);
            self.stop_patience(act);
            self.acts[act].waiting = Waiting::Nothing;
            if self.grant(act, resource, units) == Flow::On {
                self.wake(act);
            }
        }
    }

    /// An act gives back whatever it holds: it has failed or ended.
    pub(super) fn release_all(&mut self, act: u32) {
        for resource in 0..self.resources.len() as u32 {
            if self.resources[resource as usize].anonymous {
                continue;
            }
            while let Some(at) = self.resources[resource as usize]
                .holders
                .iter()
                .position(|h| h.act == act)
            {
                self.give_back(resource, at);
            }
        }
    }

    /// An act no longer waits for a resource.
    pub(super) fn leave_resource(&mut self, act: u32, resource: u32) {
        let r = &mut self.resources[resource as usize];
        if let Some(at) = r.line.iter().position(|&(a, _)| a == act) {
            r.line.remove(at);
            let now = self.now;
            self.record
                .change(self.meters.resource_waiting[resource as usize], now, -1.0);
            // It may have been what kept those behind it waiting: a writer among readers.
            self.serve_line(resource);
        }
    }

    pub(super) fn await_condition(&mut self, act: u32, condition: u32, mutex: u32) -> Flow {
        self.conditions[condition as usize].push_back((act, mutex));
        self.release(act, mutex, Mode::Units(1));
        self.wait_for(act, Waiting::Condition(condition));
        Flow::Stop
    }

    /// Wakes one or all waiters: each first takes its mutex again, in turn with everybody else.
    pub(super) fn notify(&mut self, condition: u32, all: bool) {
        while let Some((act, mutex)) = self.conditions[condition as usize].pop_front() {
            self.acts[act].waiting = Waiting::Nothing;
            let now = self.now;
            self.acts[act].mark = now;
            let r = &mut self.resources[mutex as usize];
            if r.free > 0 && r.line.is_empty() {
                let meter = self.meters.resource(mutex as usize);
                self.record.add(meter, 1.0);
                if self.grant(act, mutex, 1) == Flow::On {
                    self.wake(act);
                }
            } else {
                r.join_line(act, 1);
                self.acts[act].waiting = Waiting::Resource(mutex);
                self.record
                    .change(self.meters.resource_waiting[mutex as usize], now, 1.0);
            }
            if !all {
                break;
            }
        }
    }
}
