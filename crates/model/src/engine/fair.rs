//! The fair schedulers of Linux: CFS (2.6.23 to 6.5) and EEVDF (6.6 and later), idealized to one queue a machine: what
//! load balancing between per-core queues adds is not modelled.
//!
//! Virtual time is CPU time divided by weight over 1024; both keep all threads' virtual times close together.

use super::machine::Thread;
use super::scheduler::How;
use crate::time::Nanos;
use std::collections::BTreeSet;

/// Floats in their order as integers.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits() as i64;
    (bits ^ ((bits >> 63) as u64 >> 1) as i64) as u64 ^ 1 << 63
}

fn virtual_ns(ran: Nanos, t: &Thread) -> f64 {
    ran.0 as f64 * 1024.0 / t.weight
}

/// Completely fair: the least virtual time runs.
pub(super) struct Cfs {
    latency: f64,
    granularity: f64,
    wakeup_granularity: f64,
    line: BTreeSet<(u64, u32)>,
    /// Never decreases: where newcomers and sleepers join.
    least: f64,
    /// Weight of all that are ready or running.
    weight: f64,
    cores: f64,
}

impl Cfs {
    pub(super) fn new(latency: f64, granularity: f64, wakeup_granularity: f64, cores: u32) -> Cfs {
        // The kernel scales its tunables by 1 + log2 of the number of CPUs, at most 8 of them.
        let scale = 1.0 + f64::from(cores.clamp(1, 8)).log2().floor();
        Cfs {
            latency: latency * 1e9 * scale,
            granularity: granularity * 1e9 * scale,
            wakeup_granularity: wakeup_granularity * 1e9 * scale,
            line: BTreeSet::new(),
            least: 0.0,
            weight: 0.0,
            cores: f64::from(cores),
        }
    }

    pub(super) fn woken(&mut self, t: &mut Thread) {
        // A sleeper is credited with half a period, no more.
        t.virtual_time = t.virtual_time.max(self.least - 0.5 * self.latency);
        self.weight += t.weight;
    }

    pub(super) fn running(&mut self, t: &Thread, sign: i32) {
        self.weight += f64::from(sign) * t.weight;
    }

    pub(super) fn enqueue(&mut self, t: &Thread, id: u32, _: How) {
        self.line.insert((ordered(t.virtual_time), id));
    }

    pub(super) fn remove(&mut self, t: &Thread, id: u32) {
        self.line.remove(&(ordered(t.virtual_time), id));
        self.weight -= t.weight;
    }

    pub(super) fn pick(&mut self, threads: &[Thread], core: u32) -> Option<u32> {
        let key = *self
            .line
            .iter()
            .find(|(_, id)| threads[*id as usize].affinity >> core & 1 == 1)?;
        self.line.remove(&key);
        self.least = self.least.max(threads[key.1 as usize].virtual_time);
        Some(key.1)
    }

    pub(super) fn slice(&self, t: &Thread) -> Nanos {
        let share = (t.weight * self.cores / self.weight.max(t.weight)).min(1.0);
        Nanos((self.latency * share).max(self.granularity) as u64)
    }

    pub(super) fn account(&mut self, t: &mut Thread, ran: Nanos) {
        t.virtual_time += virtual_ns(ran, t);
        // One that is worth more than a core cannot catch up: it must not save up for later either.
        t.virtual_time = t.virtual_time.max(self.least - self.latency);
    }

    /// CPU that nobody else wanted is not held against anybody.
    pub(super) fn undisturbed(&mut self, t: &Thread) {
        self.least = self.least.max(t.virtual_time);
    }

    pub(super) fn goes_on(&self, threads: &[Thread], core: u32) -> bool {
        !self
            .line
            .iter()
            .any(|(_, id)| threads[*id as usize].affinity >> core & 1 == 1)
    }

    pub(super) fn preempts(&self, woken: &Thread, running: &Thread, ran: Nanos) -> Option<f64> {
        let lead = running.virtual_time + virtual_ns(ran, running) - woken.virtual_time;
        (lead > self.wakeup_granularity * 1024.0 / woken.weight).then_some(lead)
    }
}

/// Earliest eligible virtual deadline first. A thread is eligible if it has had no more than its share: its virtual time
/// is not beyond the weighted mean. A running one keeps its core for its slice while it is eligible, as the kernel's default
/// asks (run to parity); once it has had more than its share, a woken thread takes the core if it is the one to pick.
///
/// One that sleeps before others have had what it had too much keeps that until they have, or until nobody is left (the
/// kernel's delayed dequeue); what it had too little, it brings with it.
pub(super) struct Eevdf {
    slice: f64,
    line: BTreeSet<(u64, u32)>,
    weight: f64,
    /// How often nobody was ready or running: virtual time begins anew.
    emptied: u64,
    /// Weighted sum of virtual times of all that are ready or running, relative to `zero`.
    sum: f64,
}

impl Eevdf {
    pub(super) fn new(slice: f64) -> Eevdf {
        Eevdf {
            slice: slice * 1e9,
            line: BTreeSet::new(),
            weight: 0.0,
            emptied: 0,
            sum: 0.0,
        }
    }

    fn mean(&self) -> f64 {
        if self.weight > 0.0 {
            self.sum / self.weight
        } else {
            0.0
        }
    }

    fn slice_of(&self, t: &Thread) -> f64 {
        self.slice * 1024.0 / t.weight
    }

    pub(super) fn join(&mut self, t: &mut Thread) {
        let reference = if self.weight > 0.0 {
            self.mean()
        } else {
            t.virtual_time
        };
        let since = t.epoch == self.emptied && self.weight > 0.0;
        t.virtual_time = if since && t.lag < 0.0 {
            t.virtual_time.max(reference)
        } else if since {
            // Joining moves the mean; the lag is stretched so that it is what it was afterwards.
            reference - t.lag * (self.weight + t.weight) / self.weight
        } else {
            reference
        };
        t.deadline = t.virtual_time + self.slice_of(t);
        self.weight += t.weight;
        self.sum += t.weight * t.virtual_time;
    }

    pub(super) fn leave(&mut self, t: &mut Thread) {
        let limit = 2.0 * self.slice_of(t);
        t.lag = (self.mean() - t.virtual_time).clamp(-limit, limit);
        t.epoch = self.emptied;
        self.weight -= t.weight;
        self.sum -= t.weight * t.virtual_time;
        if self.weight < 1e-6 {
            self.weight = 0.0;
            self.sum = 0.0;
            self.emptied += 1;
        }
    }

    pub(super) fn enqueue(&mut self, t: &Thread, id: u32) {
        self.line.insert((ordered(t.deadline), id));
    }

    pub(super) fn remove(&mut self, t: &mut Thread, id: u32) {
        self.line.remove(&(ordered(t.deadline), id));
        self.leave(t);
    }

    /// Whether it has had no more than its share.
    fn eligible(&self, t: &Thread) -> bool {
        t.virtual_time <= self.mean() + 1.0
    }

    /// Who of the line may use a core, by their deadlines.
    fn line_for<'a>(
        &'a self,
        threads: &'a [Thread],
        core: u32,
    ) -> impl Iterator<Item = &'a (u64, u32)> + Clone {
        self.line
            .iter()
            .filter(move |(_, id)| threads[*id as usize].affinity >> core & 1 == 1)
    }

    fn first(&self, threads: &[Thread], core: u32) -> Option<(u64, u32)> {
        let mut line = self.line_for(threads, core);
        let eligible = |key: &&(u64, u32)| self.eligible(&threads[key.1 as usize]);
        line.clone().find(eligible).or_else(|| line.next()).copied()
    }

    pub(super) fn pick(&mut self, threads: &[Thread], core: u32) -> Option<u32> {
        let key = self.first(threads, core)?;
        self.line.remove(&key);
        Some(key.1)
    }

    /// By how much the running thread of a core is ahead of its share, if the woken one takes its place. Both are brought
    /// up to date; the woken one is not in the line yet.
    pub(super) fn preempts(
        &self,
        threads: &[Thread],
        woken: u32,
        running: u32,
        core: u32,
    ) -> Option<f64> {
        let (woken, running) = (&threads[woken as usize], &threads[running as usize]);
        if self.eligible(running) || !self.eligible(woken) {
            return None;
        }
        let before = self
            .line_for(threads, core)
            .take_while(|(deadline, _)| *deadline < ordered(woken.deadline))
            .any(|(_, id)| self.eligible(&threads[*id as usize]));
        (!before).then(|| running.virtual_time - self.mean())
    }

    pub(super) fn slice(&self, t: &Thread) -> Nanos {
        let left = (t.deadline - t.virtual_time) * t.weight / 1024.0;
        Nanos(left.ceil().max(1.0) as u64)
    }

    pub(super) fn account(&mut self, t: &mut Thread, ran: Nanos) {
        let more = virtual_ns(ran, t);
        t.virtual_time += more;
        self.sum += t.weight * more;
        // On several cores a thread may be worth more than one core, or run where nobody else wants to: what is beyond two
        // slices is forgotten, as it is when a thread sleeps.
        let mean = self.mean();
        let limit = 2.0 * self.slice_of(t).max(self.slice);
        let bounded = t.virtual_time.clamp(mean - limit, mean + limit);
        if bounded != t.virtual_time {
            self.sum += t.weight * (bounded - t.virtual_time);
            t.deadline += bounded - t.virtual_time;
            t.virtual_time = bounded;
        }
    }

    pub(super) fn expired(&self, t: &mut Thread) {
        if t.virtual_time >= t.deadline - 1.0 {
            t.deadline = t.virtual_time + self.slice_of(t);
        }
    }

    pub(super) fn goes_on(&self, threads: &[Thread], core: u32) -> bool {
        self.line_for(threads, core).next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_order_as_integers() {
        let values = [-1e9, -1.5, -0.0, 0.0, 1e-3, 2.0, 1e12];
        for pair in values.windows(2) {
            assert!(ordered(pair[0]) <= ordered(pair[1]), "{pair:?}");
        }
    }

    /// One core's threads: the first runs, the others are ready.
    fn machine(virtual_times: &[f64]) -> (Eevdf, Vec<Thread>) {
        let mut p = Eevdf::new(0.003);
        let mut threads: Vec<Thread> = virtual_times.iter().map(|_| Thread::blank()).collect();
        for (i, v) in virtual_times.iter().enumerate() {
            let t = &mut threads[i];
            t.virtual_time = *v;
            t.deadline = v + 3e6;
            p.weight += t.weight;
            p.sum += t.weight * v;
            if i > 0 {
                p.enqueue(t, i as u32);
            }
        }
        (p, threads)
    }

    fn wakes(p: &mut Eevdf, threads: &mut Vec<Thread>, lag: f64) -> Option<f64> {
        let mut woken = Thread::blank();
        woken.lag = lag;
        p.join(&mut woken);
        threads.push(woken);
        p.preempts(threads, threads.len() as u32 - 1, 0, 0)
    }

    #[test]
    fn a_woken_thread_takes_the_core_of_one_that_is_ahead_unless_another_is_before_it() {
        // Alone, it is not ahead.
        let (mut p, mut threads) = machine(&[5e6]);
        assert_eq!(wakes(&mut p, &mut threads, 0.0), None);
        // Another is behind, and its deadline is before that of the one that wakes.
        let (mut p, mut threads) = machine(&[5e6, 3e6]);
        assert_eq!(wakes(&mut p, &mut threads, 0.0), None);
        // One that wakes with 2 ms of credit makes both others ahead: it joins at 1.75 ms, and the mean is 3.75.
        let (mut p, mut threads) = machine(&[5e6, 4.5e6]);
        let lead = wakes(&mut p, &mut threads, 2e6).expect("it takes the core");
        assert!((lead - 1.25e6).abs() < 1.0, "{lead}");
    }

    #[test]
    fn what_a_thread_had_too_much_is_forgotten_once_others_have_had_it() {
        for (others, ahead) in [(500_000, 500_000.0), (3_000_000, 0.0)] {
            let mut p = Eevdf::new(0.003);
            let (mut a, mut b) = (Thread::blank(), Thread::blank());
            p.join(&mut a);
            p.join(&mut b);
            p.account(&mut a, Nanos(1_000_000));
            p.leave(&mut a);
            p.account(&mut b, Nanos(others));
            let mean = p.mean();
            p.join(&mut a);
            assert!((a.virtual_time - mean - ahead).abs() < 1.0, "{others}");
        }
    }

    #[test]
    fn a_thread_that_leaves_with_credit_comes_back_with_it() {
        let mut p = Eevdf::new(0.003);
        let (mut a, mut b) = (Thread::blank(), Thread::blank());
        p.join(&mut a);
        p.join(&mut b);
        p.account(&mut a, Nanos(2_000_000));
        p.leave(&mut b);
        assert!((b.lag - 1e6).abs() < 1.0, "{}", b.lag);
        p.join(&mut b);
        assert!((p.mean() - b.virtual_time - 1e6).abs() < 1.0);
    }
}
