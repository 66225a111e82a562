//! What a policy decides from.

use crate::{Cpus, Curve};

/// One application's side of a [`Snapshot`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Application<'a> {
    /// CPUs wanted.
    pub request: Cpus,
    /// Its weight against the others; 1 is usual, and what is not above zero counts as nothing.
    pub priority: f64,
    /// What a CPU second of it earns, in any unit that all use.
    pub revenue: f64,
    /// What it has now, for a division that is still good is kept; zero if unknown.
    pub had: Cpus,
    /// Turns in a row in which it wanted something and had nothing.
    pub waited: u32,
    /// Goodput over CPUs, if known.
    pub curve: Option<&'a Curve>,
}

impl Default for Application<'_> {
    fn default() -> Self {
        Application {
            request: Cpus::ZERO,
            priority: 1.0,
            revenue: 1.0,
            had: Cpus::ZERO,
            waited: 0,
            curve: None,
        }
    }
}

/// A machine and those who want its CPUs, in the order in which they came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot<'a> {
    /// Whole CPUs to divide.
    pub cpus: u32,
    /// The smallest unit that is handed out; it divides one CPU.
    pub grain: Cpus,
    /// What everybody who requests so much gets as long as there is enough; a grain at least.
    pub floor: Cpus,
    /// Counts turns: whose it is under round robin.
    pub turn: usize,
    /// In order of arrival.
    pub applications: &'a [Application<'a>],
}

impl<'a> Snapshot<'a> {
    /// Handing out whole CPUs, with a floor of one.
    pub fn of_whole_cpus(cpus: u32, turn: usize, applications: &'a [Application<'a>]) -> Self {
        Snapshot {
            cpus,
            grain: Cpus::ONE,
            floor: Cpus::ONE,
            turn,
            applications,
        }
    }

    /// Grains that there are.
    pub(crate) fn capacity(&self) -> u64 {
        u64::from(Cpus::whole(self.cpus).as_thousandths() / self.grain.as_thousandths())
    }

    /// What each requests, in grains, and never more than there is.
    pub(crate) fn requests(&self) -> Vec<u64> {
        let all = self.capacity();
        let of = |a: &Application<'_>| a.request.grains(self.grain).min(all);
        self.applications.iter().map(of).collect()
    }

    /// What each must get, in grains: its floor, less where there is not enough for all floors, nothing for some where
    /// there is not even a grain each.
    pub(crate) fn floors(&self, requests: &[u64]) -> Vec<u64> {
        let wanting = requests.iter().filter(|&&r| r > 0).count() as u64;
        if wanting == 0 {
            return vec![0; requests.len()];
        }
        let most = (self.capacity() / wanting).max(1);
        let floor = self.floor.grains(self.grain).clamp(1, most);
        requests.iter().map(|&r| r.min(floor)).collect()
    }

    /// From grains back to CPUs.
    pub(crate) fn amounts(&self, grains: &[u64]) -> Vec<Cpus> {
        let of = |&g: &u64| Cpus::thousandths((g * u64::from(self.grain.as_thousandths())) as u32);
        grains.iter().map(of).collect()
    }
}
