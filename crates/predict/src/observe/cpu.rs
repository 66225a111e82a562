//! CPU time of one thread between two moments, from the intervals in which it ran.

use std::collections::HashMap;

/// What one thread did, by time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thread {
    /// Begin, end and CPU time used before, of each interval in which it ran.
    running: Vec<(i64, i64, i64)>,
    /// On which CPU, of each of them.
    on: Vec<i32>,
    /// Begin and end of each interval in which it slept.
    asleep: Vec<(i64, i64)>,
}

impl Thread {
    /// Adds an interval in which it ran on a CPU; they must come in the order of time.
    pub fn ran(&mut self, begin_ns: i64, end_ns: i64, cpu: i32) {
        let before = self.total_ns();
        self.running.push((begin_ns, end_ns, before));
        self.on.push(cpu);
    }

    /// Adds an interval in which it slept.
    pub fn was_asleep(&mut self, begin_ns: i64, end_ns: i64) {
        self.asleep.push((begin_ns, end_ns));
    }

    /// The CPU that it had last at a moment.
    pub fn cpu_at(&self, ts: i64) -> Option<i32> {
        let i = self.running.partition_point(|r| r.0 <= ts);
        self.on.get(i.checked_sub(1)?).copied()
    }

    /// CPU of all its time.
    pub fn total_ns(&self) -> i64 {
        self.running
            .last()
            .map_or(0, |(b, e, before)| before + e - b)
    }

    /// CPU until a moment.
    fn until(&self, ts: i64) -> i64 {
        let i = self.running.partition_point(|r| r.0 <= ts);
        match i.checked_sub(1).map(|i| self.running[i]) {
            Some((begin, end, before)) => before + ts.min(end) - begin,
            None => 0,
        }
    }

    /// CPU between two moments, in seconds.
    pub fn between(&self, from_ns: i64, to_ns: i64) -> f64 {
        (self.until(to_ns) - self.until(from_ns)).max(0) as f64 * 1e-9
    }

    /// Whether it slept between two moments.
    pub fn slept(&self, from_ns: i64, to_ns: i64) -> bool {
        let i = self.asleep.partition_point(|a| a.1 <= from_ns);
        self.asleep.get(i).is_some_and(|a| a.0 < to_ns)
    }

    /// Begin and end of each time between two sleeps in which it ran.
    pub fn awake(&self) -> Vec<(i64, i64)> {
        let mut list: Vec<(i64, i64)> = Vec::new();
        let mut sleep = self.asleep.iter().peekable();
        let mut new = true;
        for &(begin, end, _) in &self.running {
            while sleep.next_if(|a| a.1 <= begin).is_some() {
                new = true;
            }
            match list.last_mut().filter(|_| !new) {
                Some(last) => last.1 = end,
                None => list.push((begin, end)),
            }
            new = false;
        }
        list
    }

    /// CPU in each second from `begin_ns` on.
    pub fn by_second(&self, begin_ns: i64, seconds: usize) -> Vec<f64> {
        (0..seconds as i64)
            .map(|s| {
                let from = begin_ns + s * 1_000_000_000;
                self.between(from, from + 1_000_000_000)
            })
            .collect()
    }
}

/// How busy each CPU has just been: whether it was used, over all time before, of which each moment counts by
/// `exp(-age / over)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Recent {
    over_ns: f64,
    /// By CPU: when it was taken or left, the share before that, and the share from then on.
    steps: HashMap<i32, Vec<(i64, f64, f64)>>,
}

impl Recent {
    /// By all threads.
    pub fn new<'a>(threads: impl Iterator<Item = &'a Thread>, over: f64) -> Recent {
        let mut edges: HashMap<i32, Vec<(i64, i32)>> = HashMap::new();
        for t in threads {
            for (&(begin, end, _), &cpu) in t.running.iter().zip(&t.on) {
                edges
                    .entry(cpu)
                    .or_default()
                    .extend([(begin, 1), (end, -1)]);
            }
        }
        let over_ns = 1e9 * over;
        let steps = edges.into_iter().map(|(cpu, mut edges)| {
            edges.sort_unstable();
            let (mut steps, mut running) = (Vec::new(), 0);
            for (ts, change) in edges {
                running += change;
                let share = share_at(&steps, over_ns, ts);
                steps.push((ts, share, f64::from(running.clamp(0, 1))));
            }
            (cpu, steps)
        });
        Recent {
            over_ns,
            steps: steps.collect(),
        }
    }

    /// The share at a moment, of a CPU.
    pub fn at(&self, ts: i64, cpu: i32) -> f64 {
        let steps = self.steps.get(&cpu).map_or(&[][..], Vec::as_slice);
        share_at(steps, self.over_ns, ts)
    }
}

fn share_at(steps: &[(i64, f64, f64)], over_ns: f64, ts: i64) -> f64 {
    let i = steps.partition_point(|s| s.0 <= ts);
    let Some(&(since, share, used)) = i.checked_sub(1).map(|i| &steps[i]) else {
        return 0.0;
    };
    let left = (-((ts - since) as f64) / over_ns).exp();
    share * left + used * (1.0 - left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> Thread {
        let mut t = Thread::default();
        for (begin, end, running, asleep) in [
            (0, 10, true, false),
            (10, 30, false, false), // wants a CPU
            (30, 40, true, false),
            (40, 90, false, true),
            (90, 100, true, false),
        ] {
            match (running, asleep) {
                (true, _) => t.ran(begin, end, 0),
                (_, true) => t.was_asleep(begin, end),
                _ => {}
            }
        }
        t
    }

    #[test]
    fn cpu_between_two_moments_counts_only_what_ran() {
        let t = thread();
        assert_eq!(t.total_ns(), 30);
        let ns = |from, to| (t.between(from, to) * 1e9).round() as i64;
        assert_eq!(
            (ns(0, 100), ns(5, 35), ns(12, 28), ns(-5, 3)),
            (30, 10, 0, 3)
        );
    }

    #[test]
    fn waiting_for_a_cpu_is_not_sleeping() {
        let t = thread();
        assert_eq!(t.awake(), [(0, 40), (90, 100)]);
        assert!(!t.slept(0, 35) && t.slept(35, 95) && t.slept(50, 60) && !t.slept(90, 100));
    }

    #[test]
    fn seconds_are_cut_where_they_end() {
        let mut t = Thread::default();
        t.ran(900_000_000, 1_200_000_000, 0);
        let by = t.by_second(0, 2);
        assert!(
            (by[0] - 0.1).abs() < 1e-12 && (by[1] - 0.2).abs() < 1e-12,
            "{by:?}"
        );
    }

    #[test]
    fn what_was_used_just_before_counts_most() {
        let mut other = Thread::default();
        other.ran(0, 20, 1);
        let over_ns = 10.0;
        let r = Recent::new([&thread(), &other].into_iter(), 1e-9 * over_ns);
        let left = |ns: f64| (-ns / over_ns).exp();
        let (ten, twenty) = (1.0 - left(10.0), 1.0 - left(20.0));
        for (cpu, ts, share) in [
            (0, -5, 0.0),
            (0, 0, 0.0),
            (0, 10, ten),
            (0, 30, ten * left(20.0)),
            (0, 40, ten * left(30.0) + ten),
            (1, 20, twenty),
            (1, 30, twenty * left(10.0)),
            (2, 30, 0.0),
        ] {
            assert!(
                (r.at(ts, cpu) - share).abs() < 1e-12,
                "{share} at {ts}: {r:?}"
            );
        }
        assert_eq!((other.cpu_at(-1), other.cpu_at(30)), (None, Some(1)));
    }
}
