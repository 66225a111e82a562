//! One managed application.

use std::os::fd::OwnedFd;

use loadline_policy::{Cpus, Curve, Learner, Slot};

use crate::account::Account;
use crate::mechanism::{Former, Setting};
use crate::need::Need;
use crate::page::Page;
use crate::processes::Waits;
use crate::steps::Lane;
use crate::who::Limits;

/// How it came here, and so what ends it besides its death.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// Started under the daemon.
    Run,
    /// Taken while it ran.
    Adopted,
    /// It registered itself, and goes when its connection does.
    Registered,
}

pub(crate) struct App {
    pub id: u32,
    /// What the mechanism knows it by.
    pub key: String,
    pub name: String,
    pub pid: i32,
    pub start_ticks: u64,
    pub uid: u32,
    pub gid: u32,
    pub origin: Origin,
    pub pidfd: OwnedFd,
    pub former: Former,
    pub page: Page,
    pub demand: Demand,
    pub has: Has,
    pub account: Account,
    /// Of the account, what the history has already.
    pub told_history: Account,
    pub sampled: Sampled,
    pub reported: Reported,
}

/// What it wants, and what that is worth.
pub(crate) struct Demand {
    /// None: estimated.
    pub asked: Option<Cpus>,
    /// Whoever may said what it asks for (`set`): it has no say until that is taken back.
    pub settled: bool,
    pub need: Need,
    pub priority: f64,
    pub limits: Limits,
    pub revenue: f64,
    /// From the configuration; else it is learnt.
    pub curve: Option<Curve>,
    pub learner: Learner,
}

impl Demand {
    /// The application itself asks; None for an estimate.
    pub(crate) fn ask(&mut self, cpus: Option<Cpus>) {
        if !self.settled {
            self.asked = cpus;
        }
    }

    /// CPUs requested, within what it may have and what there is.
    pub(crate) fn request(&self, floor: Cpus, all: Cpus) -> Cpus {
        let most = all.min(self.limits.cpus);
        match self.asked {
            Some(asked) => asked.min(most),
            None => self.need.request(floor, most).min(most),
        }
    }
}

/// What it has.
#[derive(Default)]
pub(crate) struct Has {
    pub owned: Cpus,
    pub slots: Vec<Slot>,
    pub lane: Lane,
    /// What the mechanism was last told.
    pub setting: Option<Setting>,
    /// It shares a CPU: what it gets of it is looked at each quantum.
    pub watched: bool,
    /// The logarithm of a factor on its weight.
    pub correction: f64,
    /// It used more than it had: until then nobody gives way to it.
    pub distrusted_until_ns: u64,
    /// Turns without anything.
    pub waited: u32,
    pub changes: u64,
}

/// When and what was last measured.
#[derive(Default)]
pub(crate) struct Sampled {
    pub at_ns: u64,
    pub used_ns: u64,
    pub waits: Waits,
    pub waits_at_ns: u64,
    /// How long it took to read them, and the CPU time used until then.
    pub waits_take_ns: u64,
    pub used_at_waits_ns: u64,
    /// CPUs in use and waited for, over the last sample.
    pub using: f64,
    /// CPUs in use over the last second or so, the latest counting most.
    pub lately: f64,
    pub waiting: Option<f64>,
    /// CPU seconds assigned, and not given, at the last sample.
    pub assigned: f64,
    pub lacked: f64,
}

/// What it says about itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reported {
    pub goodput: Option<f64>,
    pub p95_ms: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_set_is_not_asked_away_until_it_is_taken_back() {
        let mut demand = Demand {
            asked: Some(Cpus::ONE),
            settled: false,
            need: Need::default(),
            priority: 1.0,
            limits: Limits {
                priority: 1.0,
                cpus: Cpus::whole(8),
            },
            revenue: 1.0,
            curve: None,
            learner: Learner::default(),
        };
        demand.ask(Some(Cpus::whole(2)));
        assert_eq!(demand.asked, Some(Cpus::whole(2)));
        (demand.settled, demand.asked) = (true, Some(Cpus::thousandths(500)));
        demand.ask(Some(Cpus::whole(4)));
        demand.ask(None);
        assert_eq!(demand.asked, Some(Cpus::thousandths(500)));
        demand.settled = false;
        demand.ask(None);
        assert_eq!(demand.asked, None);
    }
}
