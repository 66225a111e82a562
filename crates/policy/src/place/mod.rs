//! Which CPUs: keeps what an application has where it can (its caches are warm there), and else takes CPUs near those.
//!
//! Terms: an application's *whole* CPUs are its alone; its *fraction*, less than one CPU, lies on a CPU that it may share.
//! A fraction lies on one CPU if it fits somewhere, and is split over several only if nothing else is left; a CPU that a
//! split fraction has filled is never touched again, so that applications and shared CPUs always form a forest (what
//! [`crate::weights`] needs).

mod topology;

pub use topology::{Cpu, Topology};

use crate::{Cpus, Division};

/// A CPU of an application, and its part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The CPU's number.
    pub cpu: u32,
    /// All of it, or less.
    pub part: Cpus,
}

/// The slots of each application, by CPU; `before` are those that it has (fewer entries: the rest has none). The owned
/// amounts of the division add up to no more than `topology` has, loans are of whole CPUs that the owner owns.
pub fn place(topology: &Topology, before: &[Vec<Slot>], division: &Division) -> Vec<Vec<Slot>> {
    let mut table = Table::new(topology, before, &division.owned);
    if let Some(same) = table.unchanged(division) {
        return same;
    }
    table.keep_whole();
    table.take_whole();
    table.keep_fractions();
    table.fit_fractions();
    table.split_fractions();
    table.lend(division);
    table.slots
}

/// A placement in the making.
struct Table<'a> {
    topology: &'a Topology,
    before: Vec<Vec<Slot>>,
    owned: &'a [Cpus],
    slots: Vec<Vec<Slot>>,
    /// What is left of each CPU of the topology, by its index there.
    room: Vec<Cpus>,
    /// Fractions that have no place yet.
    fraction: Vec<Cpus>,
}

impl<'a> Table<'a> {
    fn new(topology: &'a Topology, before: &[Vec<Slot>], owned: &'a [Cpus]) -> Table<'a> {
        // CPUs that the machine no longer has are forgotten here.
        let known = |i: usize| {
            let slots = before.get(i).map(Vec::as_slice).unwrap_or_default();
            let known = slots.iter().filter(|s| topology.index(s.cpu).is_some());
            known.copied().collect()
        };
        Table {
            topology,
            before: (0..owned.len()).map(known).collect(),
            owned,
            slots: vec![Vec::new(); owned.len()],
            room: vec![Cpus::ONE; topology.cpus().len()],
            fraction: owned.iter().map(|c| c.fraction()).collect(),
        }
    }

    /// What is there, if it is what was asked for.
    fn unchanged(&self, division: &Division) -> Option<Vec<Vec<Slot>>> {
        if !division.loans.is_empty() {
            return None; // looked at again: the same steps give the same loans
        }
        let mut used = vec![Cpus::ZERO; self.room.len()];
        for (slots, &owned) in self.before.iter().zip(self.owned) {
            let total: Cpus = slots.iter().map(|s| s.part).sum();
            let whole = slots.iter().filter(|s| s.part == Cpus::ONE).count();
            if total != owned || whole as u32 != owned.floor() {
                return None;
            }
            for slot in slots {
                used[self.topology.index(slot.cpu)?] += slot.part;
            }
        }
        // Loans of the last time leave CPUs with parts of two whose amounts are no longer theirs.
        used.iter()
            .all(|&u| u <= Cpus::ONE)
            .then(|| self.before.clone())
    }

    fn take(&mut self, application: usize, index: usize, part: Cpus) {
        self.room[index] -= part;
        let cpu = self.topology.cpus()[index].id;
        let slots = &mut self.slots[application];
        let at = slots.partition_point(|s| s.cpu < cpu);
        slots.insert(at, Slot { cpu, part });
    }

    fn lacks_whole(&self, application: usize) -> u32 {
        let whole = self.slots[application]
            .iter()
            .filter(|s| s.part == Cpus::ONE)
            .count() as u32;
        self.owned[application].floor() - whole
    }

    /// CPUs that an application had alone first, then those that it shared, as many as it may keep.
    fn keep_whole(&mut self) {
        for alone in [true, false] {
            for application in 0..self.owned.len() {
                let had: Vec<usize> = self.before[application]
                    .iter()
                    .filter(|s| (s.part == Cpus::ONE) == alone)
                    .filter_map(|s| self.topology.index(s.cpu))
                    .filter(|&i| self.room[i] == Cpus::ONE)
                    .collect();
                let kept = self
                    .topology
                    .closest(&had, self.lacks_whole(application) as usize);
                for index in kept {
                    self.take(application, index, Cpus::ONE);
                }
            }
        }
    }

    fn take_whole(&mut self) {
        for application in 0..self.owned.len() {
            for _ in 0..self.lacks_whole(application) {
                let free: Vec<usize> = (0..self.room.len())
                    .filter(|&i| self.room[i] == Cpus::ONE)
                    .collect();
                let wanted = self.lacks_whole(application) as usize;
                let Some(index) = self.nearest(application, &free, wanted) else {
                    break;
                };
                self.take(application, index, Cpus::ONE);
            }
        }
    }

    /// The candidate that is nearest to what the application has; to one that has nothing, in the group of CPUs with
    /// just enough of them free.
    fn nearest(&self, application: usize, candidates: &[usize], wanted: usize) -> Option<usize> {
        let own: Vec<usize> = self.slots[application]
            .iter()
            .filter_map(|s| self.topology.index(s.cpu))
            .collect();
        if own.is_empty() {
            return self.topology.start(candidates, wanted);
        }
        let score = |i: usize| {
            own.iter()
                .map(|&o| self.topology.closeness(i, o))
                .sum::<u32>()
        };
        candidates
            .iter()
            .copied()
            .max_by_key(|&i| (score(i), std::cmp::Reverse(i)))
    }

    /// A fraction stays on the CPU that it was on, else goes to one that the application had.
    fn keep_fractions(&mut self) {
        for was_fraction in [true, false] {
            for application in 0..self.owned.len() {
                let fraction = self.fraction[application];
                let had = self.before[application]
                    .iter()
                    .filter(|s| (s.part < Cpus::ONE) == was_fraction)
                    .filter_map(|s| self.topology.index(s.cpu))
                    .find(|&i| fraction > Cpus::ZERO && self.room[i] >= fraction);
                if let Some(index) = had {
                    self.take(application, index, fraction);
                    self.fraction[application] = Cpus::ZERO;
                }
            }
        }
    }

    /// Fractions that have no place: the largest first, each on a CPU of its own as long as there are enough, else where
    /// it fits best.
    fn fit_fractions(&mut self) {
        let mut order: Vec<usize> = (0..self.owned.len())
            .filter(|&i| self.fraction[i] > Cpus::ZERO)
            .collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(self.fraction[i]), i));
        let free = self.room.iter().filter(|&&r| r == Cpus::ONE).count();
        let apart = order.len() <= free;
        for application in order {
            let fraction = self.fraction[application];
            let fits = |i: &usize| self.room[*i] >= fraction;
            let rooms = (0..self.room.len()).filter(fits).map(|i| self.room[i]);
            let best = if apart { rooms.max() } else { rooms.min() };
            let Some(best) = best else { continue };
            let candidates: Vec<usize> = (0..self.room.len())
                .filter(|&i| self.room[i] == best)
                .collect();
            if let Some(index) = self.nearest(application, &candidates, 1) {
                self.take(application, index, fraction);
                self.fraction[application] = Cpus::ZERO;
            }
        }
    }

    /// What fits nowhere in one piece: fills one CPU after the other. Each leaves at most one CPU open, so no two of them
    /// meet on a second one.
    fn split_fractions(&mut self) {
        for application in 0..self.owned.len() {
            let mut left = self.fraction[application];
            while left > Cpus::ZERO {
                let open = |i: &usize| self.room[*i] > Cpus::ZERO;
                let next = (0..self.room.len())
                    .filter(open)
                    .max_by_key(|&i| (self.room[i], std::cmp::Reverse(i)));
                let Some(index) = next else { break };
                let part = left.min(self.room[index]);
                self.take(application, index, part);
                left -= part;
            }
            self.fraction[application] = left;
        }
    }

    /// Each loan on a whole CPU of the owner: the one that the guest was on, else the one nearest to the guest's.
    fn lend(&mut self, division: &Division) {
        for loan in &division.loans {
            let whole: Vec<usize> = self.slots[loan.owner]
                .iter()
                .filter(|s| s.part == Cpus::ONE)
                .filter_map(|s| self.topology.index(s.cpu))
                .collect();
            let was_on = |i: &usize| {
                let cpu = self.topology.cpus()[*i].id;
                self.before[loan.guest].iter().any(|s| s.cpu == cpu)
            };
            let chosen = whole.iter().copied().find(was_on);
            let chosen = chosen.or_else(|| self.nearest(loan.guest, &whole, 1));
            let Some(index) = chosen else { continue };
            let cpu = self.topology.cpus()[index].id;
            if let Some(slot) = self.slots[loan.owner].iter_mut().find(|s| s.cpu == cpu) {
                slot.part -= loan.part;
            }
            self.room[index] += loan.part;
            self.take(loan.guest, index, loan.part);
        }
    }
}

#[cfg(test)]
mod tests;
