//! Groups with a CPU quota: a group may use so much CPU in each period; when it has, all its threads stop until the
//! next (the cgroup bandwidth controller, with its slices idealized away).

use super::{Engine, Event};
use crate::calendar::Handle;
use crate::model::Group;
use crate::time::{Nanos, Time};

pub(super) struct GroupState {
    pub threads: Vec<u32>,
    pub throttled: bool,
    pub affinity: Option<u128>,
    quota: Option<(Nanos, Nanos)>,
    machine: u32,
    /// Cores in use.
    rate: f64,
    used: f64,
    since: Time,
    period_end: Option<Time>,
    spent: Option<Handle>,
}

impl GroupState {
    pub(super) fn new(group: &Group) -> GroupState {
        GroupState {
            threads: Vec::new(),
            throttled: false,
            affinity: None,
            quota: group
                .quota
                .map(|(q, p)| (Nanos::from_seconds(q), Nanos::from_seconds(p))),
            machine: super::NONE,
            rate: 0.0,
            used: 0.0,
            since: Time::ZERO,
            period_end: None,
            spent: None,
        }
    }
}

impl GroupState {
    /// A thread joins the group.
    pub(super) fn enroll(&mut self, thread: u32, machine: u32) {
        self.threads.push(thread);
        self.machine = machine;
    }

    /// Whether it has a quota and runs on `machine`.
    pub(super) fn is_limited_on(&self, machine: u32) -> bool {
        self.quota.is_some() && self.machine == machine
    }
}

impl Engine<'_> {
    /// A thread of the group begins (+1) or stops (-1) running on a core of its own.
    pub(super) fn group_runs(&mut self, group: u32, change: i64) {
        let g = &self.groups[group as usize];
        if g.quota.is_some() {
            let rate = (g.rate + change as f64).max(0.0);
            self.group_uses(group, rate);
        }
    }

    /// The group uses so many cores from now on.
    pub(super) fn group_uses(&mut self, group: u32, rate: f64) {
        let now = self.now;
        let g = &mut self.groups[group as usize];
        let Some((quota, period)) = g.quota else {
            return;
        };
        g.used += g.rate * now.since(g.since).0 as f64;
        g.since = now;
        g.rate = rate;
        if g.period_end.is_none() {
            let end = Time((now.0 / period.0 + 1) * period.0);
            g.period_end = Some(end);
            self.calendar.schedule(end, 0, Event::QuotaRefill(group));
        }
        if let Some(handle) = g.spent.take() {
            self.calendar.cancel(handle);
        }
        if rate > 1e-9 && !g.throttled {
            let left = ((quota.0 as f64 - g.used).max(0.0) / rate).ceil() as u64;
            g.spent = Some(
                self.calendar
                    .schedule(now + Nanos(left), 0, Event::QuotaSpent(group)),
            );
        }
    }

    pub(super) fn quota_spent(&mut self, group: u32) {
        let g = &mut self.groups[group as usize];
        g.spent = None;
        g.throttled = true;
        let threads = g.threads.clone();
        for thread in threads {
            self.freeze(thread);
        }
        let now = self.now;
        self.record
            .change(self.meters.group_throttled[group as usize], now, 1.0);
    }

    pub(super) fn quota_refill(&mut self, group: u32) {
        let now = self.now;
        let g = &mut self.groups[group as usize];
        g.period_end = None;
        g.used = 0.0;
        g.since = now;
        let throttled = std::mem::take(&mut g.throttled);
        if g.rate > 1e-9 {
            self.group_runs(group, 0);
        }
        if throttled {
            self.record
                .change(self.meters.group_throttled[group as usize], now, -1.0);
            let threads = self.groups[group as usize].threads.clone();
            for thread in threads {
                self.thaw(thread);
            }
        }
    }
}
