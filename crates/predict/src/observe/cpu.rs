//! CPU time of one thread between two moments, from the intervals in which it ran.

/// What one thread did, by time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thread {
    /// Begin, end and CPU used before, of each interval in which it ran.
    running: Vec<(i64, i64, i64)>,
    /// Begin and end of each interval in which it slept.
    asleep: Vec<(i64, i64)>,
}

impl Thread {
    /// Adds an interval; they must come in the order of time.
    pub fn add(&mut self, begin_ns: i64, end_ns: i64, running: bool, asleep: bool) {
        if running {
            let before = self.total_ns();
            self.running.push((begin_ns, end_ns, before));
        } else if asleep {
            self.asleep.push((begin_ns, end_ns));
        }
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
            t.add(begin, end, running, asleep);
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
        t.add(900_000_000, 1_200_000_000, true, false);
        let by = t.by_second(0, 2);
        assert!(
            (by[0] - 0.1).abs() < 1e-12 && (by[1] - 0.2).abs() < 1e-12,
            "{by:?}"
        );
    }
}
