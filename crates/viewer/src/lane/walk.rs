//! Sums of a lane at times that only grow, as those at the edges of a window's columns do.
//!
//! Each is worked out from the one before: looking for every edge from the beginning, and summing up at both sides of
//! every column, took three times as long.

use super::{ABSENT, Lane, STRIDE, Times};

/// A walk along a lane, from its first state to its last.
pub struct Walk<'a> {
    lane: &'a Lane,
    /// The state that it is in, and the time per class before that state.
    at: usize,
    before: [i64; ABSENT],
    /// Where it was last, and the time per class up to there.
    last: (i64, [i64; ABSENT]),
}

impl<'a> Walk<'a> {
    /// At the first state.
    pub fn new(lane: &'a Lane) -> Walk<'a> {
        Walk {
            lane,
            at: 0,
            before: [0; ABSENT],
            last: (lane.extent().0, [0; ABSENT]),
        }
    }

    /// What holds at `t`, and until when. `t` is not before any time that it was asked about so far.
    pub fn stretch(&self, t: i64) -> (i64, u8) {
        let (first, last) = self.lane.extent();
        if self.lane.is_empty() || t >= last {
            (i64::MAX, ABSENT as u8)
        } else if t < first {
            (first, ABSENT as u8)
        } else {
            let i = self.find(t);
            (self.lane.end_of(i), self.lane.class[i])
        }
    }

    /// Time per class within `[begin, end)`; it adds up to `end - begin`. `begin` is not before any time that it was
    /// asked about so far.
    pub fn times(&mut self, begin: i64, end: i64) -> Times {
        let mut times = [0; ABSENT + 1];
        let (first, last) = self.lane.extent();
        let (from, to) = (begin.clamp(first, last), end.clamp(first, last));
        if !self.lane.is_empty() && from < to {
            let (low, high) = (self.until(from), self.until(to));
            for class in 0..ABSENT {
                times[class] = high[class] - low[class];
            }
        }
        times[ABSENT] = (end - begin) - times[..ABSENT].iter().sum::<i64>();
        times
    }

    /// Time per class from the first state to `t`.
    fn until(&mut self, t: i64) -> [i64; ABSENT] {
        if t != self.last.0 {
            self.go_to(self.find(t));
            let mut sum = self.before;
            self.lane.add(&mut sum, self.at, t);
            self.last = (t, sum);
        }
        self.last.1
    }

    /// The last state that begins at `t` or before, looked for from here on in steps that double.
    fn find(&self, t: i64) -> usize {
        let begin = &self.lane.begin;
        let (mut low, mut step) = (self.at, 1);
        while begin.get(low + step).is_some_and(|&b| b <= t) {
            low += step;
            step *= 2;
        }
        let high = (low + step).min(begin.len());
        low + begin[low..high].partition_point(|&b| b <= t) - 1
    }

    fn go_to(&mut self, i: usize) {
        if i / STRIDE != self.at / STRIDE {
            self.at = i / STRIDE * STRIDE;
            self.before = self.lane.sums[i / STRIDE];
        }
        while self.at < i {
            self.lane
                .add(&mut self.before, self.at, self.lane.end_of(self.at));
            self.at += 1;
        }
    }
}
