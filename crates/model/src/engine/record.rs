//! What a run writes down: sums, time integrals and histograms, kept apart by segments of simulated time.
//!
//! A *meter* is a sum (of waiting times, of completions); a *level* is a number whose integral over time is a meter
//! (busy servers, requests in the system). Between 128 and 256 segments exist; when there would be more, neighbours are
//! merged, so memory does not depend on the length of the run.

use crate::time::{Nanos, Time};
use loadline_stats::{Histogram, Mser};

const MOST: usize = 256;

/// Index of a meter.
pub type Meter = usize;
/// Index of a level.
pub type LevelId = usize;

/// A stretch of time and what happened in it.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Its length in seconds.
    pub seconds: f64,
    /// Its end in seconds.
    pub end: f64,
    /// Sum or integral per meter.
    pub meters: Box<[f64]>,
    /// Response times per class.
    pub responses: Box<[Histogram]>,
}

impl Segment {
    /// All of `segments` as one, if there are any.
    pub fn merged(segments: &[Segment]) -> Vec<Segment> {
        let mut list = segments.iter().cloned();
        let Some(mut first) = list.next() else {
            return Vec::new();
        };
        list.for_each(|s| first.merge(s));
        vec![first]
    }

    fn merge(&mut self, next: Segment) {
        self.seconds += next.seconds;
        self.end = next.end;
        for (a, b) in self.meters.iter_mut().zip(&next.meters) {
            *a += b;
        }
        for (a, b) in self.responses.iter_mut().zip(&next.responses) {
            a.add(b);
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Level {
    value: f64,
    since: Time,
    meter: Meter,
}

/// The record of a run.
pub struct Recorder {
    meters: Vec<f64>,
    levels: Vec<Level>,
    responses: Vec<Histogram>,
    segments: Vec<Segment>,
    begun: Time,
    length: Nanos,
    end: Time,
    /// Response times of all classes in the order of completion, for the warm-up.
    pub mser: Mser,
    /// Completions since the run began.
    pub completions: u64,
}

impl Recorder {
    /// A record without meters and for `classes` classes. Its segments are as long as that, if it is given and they are
    /// few enough; else they grow with the run.
    pub fn new(classes: usize, length: Option<Nanos>) -> Recorder {
        let length = length.unwrap_or(Nanos(1_000));
        Recorder {
            meters: Vec::new(),
            levels: Vec::new(),
            responses: vec![Histogram::default(); classes],
            segments: Vec::with_capacity(MOST),
            begun: Time::ZERO,
            length,
            end: Time::ZERO + length,
            mser: Mser::default(),
            completions: 0,
        }
    }

    /// `n` new meters in a row; the first one's index.
    pub fn meters(&mut self, n: usize) -> Meter {
        self.meters.resize(self.meters.len() + n, 0.0);
        self.meters.len() - n
    }

    /// A new level and its meter.
    pub fn level(&mut self) -> LevelId {
        let meter = self.meters(1);
        self.levels.push(Level {
            value: 0.0,
            since: Time::ZERO,
            meter,
        });
        self.levels.len() - 1
    }

    /// The meter that holds a level's integral.
    pub fn meter_of(&self, level: LevelId) -> Meter {
        self.levels[level].meter
    }

    /// Adds to a meter.
    #[inline]
    pub fn add(&mut self, meter: Meter, amount: f64) {
        self.meters[meter] += amount;
    }

    /// Changes a level by `delta` at `now`.
    #[inline]
    pub fn change(&mut self, level: LevelId, now: Time, delta: f64) {
        let l = &mut self.levels[level];
        self.meters[l.meter] += l.value * now.since(l.since).seconds();
        l.since = now;
        l.value += delta;
    }

    /// Sets a level at `now`.
    pub fn set(&mut self, level: LevelId, now: Time, value: f64) {
        let delta = value - self.levels[level].value;
        self.change(level, now, delta);
    }

    /// A level's integral from the beginning of the run until `now`.
    pub fn running_integral(&mut self, level: LevelId, now: Time) -> f64 {
        self.change(level, now, 0.0);
        let meter = self.levels[level].meter;
        self.segments.iter().map(|s| s.meters[meter]).sum::<f64>() + self.meters[meter]
    }

    /// A level as it is.
    pub fn value(&self, level: LevelId) -> f64 {
        self.levels[level].value
    }

    /// A response of a class.
    #[inline]
    pub fn response(&mut self, class: usize, now: Time, length: Nanos) {
        self.responses[class].record(length.0);
        self.mser.observe(now.seconds(), length.seconds());
        self.completions += 1;
    }

    /// Whether the current segment has ended; then call [`Recorder::roll`].
    #[inline]
    pub fn due(&self, now: Time) -> bool {
        now >= self.end
    }

    /// Closes segments up to `now`.
    pub fn roll(&mut self, now: Time) {
        while now >= self.end {
            // A long gap is not cut into thousands of empty segments: they first become long enough.
            while now.since(self.end).0 / self.length.0 > MOST as u64 / 2 {
                self.coarsen();
            }
            let end = self.end;
            self.close(end);
            if self.segments.len() == MOST {
                self.merge_pairs();
            }
            self.end = end + self.length;
        }
    }

    fn coarsen(&mut self) {
        if self.segments.len() % 2 == 1 {
            let end = self.end;
            self.close(end);
            self.end = end + self.length;
        }
        self.merge_pairs();
        self.end = self.begun + self.length;
    }

    fn merge_pairs(&mut self) {
        let old = std::mem::take(&mut self.segments);
        self.segments.reserve(MOST);
        let mut iter = old.into_iter();
        while let Some(mut first) = iter.next() {
            if let Some(second) = iter.next() {
                first.merge(second);
            }
            self.segments.push(first);
        }
        self.length = Nanos(self.length.0 * 2);
    }

    fn close(&mut self, end: Time) {
        for i in 0..self.levels.len() {
            self.change(i, end, 0.0);
        }
        self.segments.push(Segment {
            seconds: end.since(self.begun).seconds(),
            end: end.seconds(),
            meters: self.meters.as_slice().into(),
            responses: self.responses.as_slice().into(),
        });
        self.meters.fill(0.0);
        self.responses.iter_mut().for_each(Histogram::clear);
        self.begun = end;
    }

    /// Ends the present segment at `now`.
    pub fn close_early(&mut self, now: Time) {
        if now > self.begun {
            self.close(now);
        }
    }

    /// The closed segments so far.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_stay_few_and_lose_nothing() {
        let mut record = Recorder::new(1, None);
        let meter = record.meters(1);
        let level = record.level();
        let mut t = 0u64;
        let mut n = 0.0;
        for i in 0..100_000u64 {
            // Irregular steps with long gaps now and then.
            t += 1 + (i * 7919) % 5_000 + if i % 10_000 == 0 { 50_000_000 } else { 0 };
            if record.due(Time(t)) {
                record.roll(Time(t));
            }
            record.add(meter, 1.0);
            record.change(level, Time(t), if i % 2 == 0 { 1.0 } else { -1.0 });
            n += 1.0;
        }
        record.roll(Time(t + 2 * record.length.0));
        let segments = record.segments();
        assert!(segments.len() <= MOST);
        let total: f64 = segments.iter().map(|s| s.meters[meter]).sum();
        assert_eq!(total, n);
        let span: f64 = segments.iter().map(|s| s.seconds).sum();
        assert!((span - segments.last().unwrap().end).abs() < 1e-9);
        let integral: f64 = segments
            .iter()
            .map(|s| s.meters[record.meter_of(level)])
            .sum();
        assert!(integral > 0.0 && integral < span);
    }
}
