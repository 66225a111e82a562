//! Processor sharing of a machine's cores by threads of different weights and affinities.
//!
//! All threads run at once, each at a rate of at most one core. Rates are weighted max-min fair: as equal in proportion
//! to weight as the threads' sets of cores allow, and no core is idle while a thread that may use it could run faster.
//! They are found by progressive filling: all rates grow in proportion to weight until a thread has a core of its own or
//! a set of cores is used up by those who may use no others (Hall's condition); those stop growing and the rest go on.
//!
//! Threads of equal weight, cores and group have equal rates: they are a *part*, with one virtual time as in
//! [`super::sharing`], so that an event costs O(log n) and a small constant for the parts.

use crate::calendar::{Calendar, Handle};
use crate::time::{Nanos, Time};

/// How many different sets of cores a machine's threads may have.
pub const MOST_SETS: usize = 8;

struct Part {
    weight: f64,
    cores: u128,
    group: u32,
    jobs: Calendar<u32>,
    virtual_time: f64,
    rate: f64,
}

impl Part {
    fn present(&self) -> f64 {
        self.jobs.len() as f64
    }
}

/// What one thread holds while it burns CPU.
#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    part: u32,
    handle: Handle,
    tag: f64,
}

/// A machine's cores, shared.
pub struct Fluid {
    cores: u32,
    parts: Vec<Part>,
    at: Time,
}

impl Fluid {
    /// `u32::MAX` cores are never short.
    pub fn new(cores: u32) -> Fluid {
        Fluid {
            cores,
            parts: Vec::new(),
            at: Time::ZERO,
        }
    }

    /// Cores in use.
    #[inline]
    pub fn busy(&self) -> f64 {
        self.parts.iter().map(|p| p.present() * p.rate).sum()
    }

    /// Cores in use by a group.
    pub fn used_by(&self, group: u32) -> f64 {
        let own = self.parts.iter().filter(|p| p.group == group);
        own.map(|p| p.present() * p.rate).sum()
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        let passed = now.since(self.at).0 as f64;
        for p in &mut self.parts {
            // Between busy periods nothing refers to the virtual time: starting from zero keeps its precision.
            p.virtual_time = if p.jobs.is_empty() {
                0.0
            } else {
                p.virtual_time + passed * p.rate
            };
        }
        self.at = now;
    }

    /// A thread begins to burn `demand` of CPU.
    #[inline]
    pub fn add(
        &mut self,
        now: Time,
        thread: u32,
        demand: Nanos,
        (weight, cores, group): (f64, u128, u32),
    ) -> Ticket {
        self.advance(now);
        let same = |p: &Part| p.weight == weight && p.cores == cores && p.group == group;
        let part = self.parts.iter().position(same).unwrap_or_else(|| {
            self.parts.push(Part {
                weight,
                cores,
                group,
                jobs: Calendar::default(),
                virtual_time: 0.0,
                rate: 1.0,
            });
            self.parts.len() - 1
        });
        let p = &mut self.parts[part];
        let tag = p.virtual_time + demand.0 as f64;
        // Positive floats sort like their bits.
        let handle = p.jobs.schedule(Time(tag.to_bits()), 0, thread);
        self.settle();
        Ticket {
            part: part as u32,
            handle,
            tag,
        }
    }

    /// A thread stops before its end; what it still wanted.
    pub fn remove(&mut self, now: Time, ticket: Ticket) -> Nanos {
        self.advance(now);
        let p = &mut self.parts[ticket.part as usize];
        p.jobs.cancel(ticket.handle);
        let left = Nanos((ticket.tag - p.virtual_time).max(1.0).round() as u64);
        self.settle();
        left
    }

    /// The part whose next thread ends first, and when.
    fn first(&self) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (i, p) in self.parts.iter().enumerate() {
            let Some(next) = p.jobs.next_at() else {
                continue;
            };
            let left = (f64::from_bits(next.0) - p.virtual_time).max(0.0) / p.rate;
            if best.is_none_or(|(_, least)| left < least) {
                best = Some((i, left));
            }
        }
        best
    }

    /// Takes the thread that ends now.
    #[inline]
    pub fn finish(&mut self, now: Time) -> Option<u32> {
        self.advance(now);
        let (part, _) = self.first()?;
        let (_, thread) = self.parts[part].jobs.pop()?;
        self.settle();
        Some(thread)
    }

    /// When the next thread ends if nothing comes or goes.
    #[inline]
    pub fn next_end(&self) -> Option<Time> {
        let (_, left) = self.first()?;
        (left < 1e18).then(|| self.at + Nanos(left.ceil() as u64))
    }

    /// The rates, anew.
    fn settle(&mut self) {
        if self.cores == u32::MAX {
            return;
        }
        if let [only] = &mut self.parts[..] {
            let cores = f64::from(count(only.cores, self.cores));
            only.rate = (cores / only.present().max(1.0)).min(1.0);
            return;
        }
        let sets = self.unions();
        let mut open: Vec<usize> = (0..self.parts.len())
            .filter(|&i| !self.parts[i].jobs.is_empty())
            .collect();
        let mut settled: Vec<usize> = Vec::new();
        while !open.is_empty() {
            let parts = &self.parts;
            // The level at which somebody has a core of its own, or a set of cores is used up.
            let mut level = f64::INFINITY;
            let mut full = 0u128;
            for &i in &open {
                level = level.min(1.0 / parts[i].weight);
            }
            for &set in &sets {
                let inside = |i: &&usize| parts[**i].cores & !set == 0;
                let weight: f64 = open
                    .iter()
                    .filter(inside)
                    .map(|&i| parts[i].present() * parts[i].weight)
                    .sum();
                if weight == 0.0 {
                    continue;
                }
                let used: f64 = settled
                    .iter()
                    .filter(inside)
                    .map(|&i| parts[i].present() * parts[i].rate)
                    .sum();
                let here = (f64::from(count(set, self.cores)) - used).max(0.0) / weight;
                if here < level {
                    level = here;
                    full = set;
                }
            }
            let stops =
                |p: &Part| p.weight * level >= 1.0 - 1e-12 || (full != 0 && p.cores & !full == 0);
            let (stopped, going): (Vec<usize>, Vec<usize>) =
                open.iter().partition(|&&i| stops(&self.parts[i]));
            for &i in &stopped {
                let p = &mut self.parts[i];
                p.rate = (p.weight * level).min(1.0);
            }
            settled.extend(stopped);
            open = going;
        }
    }

    /// All unions of the sets of cores of those who run.
    fn unions(&self) -> Vec<u128> {
        let mut unions: Vec<u128> = Vec::new();
        for p in self.parts.iter().filter(|p| !p.jobs.is_empty()) {
            if unions.contains(&p.cores) {
                continue;
            }
            let with: Vec<u128> = unions.iter().map(|u| u | p.cores).collect();
            unions.push(p.cores);
            for u in with {
                if !unions.contains(&u) {
                    unions.push(u);
                }
            }
        }
        unions
    }
}

/// Cores of a set that the machine has.
fn count(set: u128, cores: u32) -> u32 {
    if set == u128::MAX {
        cores
    } else {
        set.count_ones().min(cores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u128 = u128::MAX;

    fn rates(cores: u32, threads: &[(f64, u128)]) -> Vec<f64> {
        let mut fluid = Fluid::new(cores);
        let tickets: Vec<Ticket> = threads
            .iter()
            .enumerate()
            .map(|(i, &(weight, set))| {
                fluid.add(Time(0), i as u32, Nanos(1_000_000), (weight, set, 0))
            })
            .collect();
        tickets
            .iter()
            .map(|t| fluid.parts[t.part as usize].rate)
            .collect()
    }

    fn assert_close(a: &[f64], b: &[f64]) {
        assert!(
            a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9),
            "{a:?} is not {b:?}"
        );
    }

    #[test]
    fn equal_threads_share_equally() {
        assert_close(&rates(2, &[(1.0, ALL); 3]), &[2.0 / 3.0; 3]);
        assert_close(&rates(4, &[(1.0, ALL); 3]), &[1.0; 3]);
    }

    #[test]
    fn rates_are_in_proportion_to_weight() {
        assert_close(&rates(1, &[(1.0, ALL), (3.0, ALL)]), &[0.25, 0.75]);
    }

    #[test]
    fn nobody_runs_faster_than_a_core_and_the_rest_goes_to_others() {
        assert_close(
            &rates(2, &[(10.0, ALL), (1.0, ALL), (1.0, ALL)]),
            &[1.0, 0.5, 0.5],
        );
    }

    #[test]
    fn a_bound_thread_gets_what_its_core_has() {
        // Two bound to core 0 share it; the free one has core 1 for itself.
        assert_close(
            &rates(2, &[(1.0, 1), (1.0, 1), (1.0, ALL >> 126)]),
            &[0.5, 0.5, 1.0],
        );
        // One bound to core 0, two free: each could have two thirds, and the bound one does.
        assert_close(&rates(2, &[(1.0, 1), (1.0, 3), (1.0, 3)]), &[2.0 / 3.0; 3]);
    }

    #[test]
    fn overlapping_sets_leave_no_core_idle() {
        // {0,1}, {1,2}, {2}: all three cores busy.
        assert_close(
            &rates(3, &[(1.0, 0b011), (1.0, 0b110), (1.0, 0b100)]),
            &[1.0; 3],
        );
    }
}
