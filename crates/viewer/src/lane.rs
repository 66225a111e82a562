//! One thread's states in columns, and what a window of them is at a number of pixels.
//!
//! Terms: a *class* is what a state is drawn as ([`CLASSES`]); a *lane* is one thread's states,
//! gapless; a *column* is one pixel of a window, either *solid* (one state covers all of it) or a
//! *mixture* (the share of each class in it).
//!
//! What always holds: a window of `px` pixels has exactly `px` columns; the shares of a mixture,
//! absence included, add up to [`WHOLE`]; the cost of a window grows with its pixels and not with
//! the states below them, because time per class is summed up every [`STRIDE`] states.

mod walk;

use walk::Walk;

/// What a state is drawn as. The order is the order of drawing, and part of the API.
pub const CLASSES: [&str; 11] = [
    "running",
    "runnable",
    "preempted",
    "lock",
    "pool",
    "socket",
    "file",
    "gc",
    "other",
    "idle",
    "unknown",
];

/// Causes that are drawn as a class of another name.
pub const DRAWN_AS: [(&str, &str); 3] = [
    ("safepoint", "gc"),
    ("admission", "other"),
    ("carrying", "idle"),
];

/// Class of a time in which the thread did not exist; after the last of [`CLASSES`].
pub const ABSENT: usize = CLASSES.len();

/// Index of `idle` in [`CLASSES`].
pub const IDLE: usize = 9;

/// Index of `unknown` in [`CLASSES`].
pub const UNKNOWN: usize = 10;

/// The sum of the shares of a mixture.
pub const WHOLE: i64 = 255;

/// States between two sums.
const STRIDE: usize = 32;

/// Stands for a class where a stretch holds several, of which only the times are known. Never told.
const MIXED: u8 = ABSENT as u8 + 1;

/// Time per class, ns; the last is absence.
pub type Times = [i64; ABSENT + 1];

/// A stretch of time, `[begin, end)`, ns since the recording began, at a number of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Columns.
    pub px: u32,
}

impl Window {
    /// Where column `i` begins; `px` is where the last one ends.
    pub fn edge(&self, i: u32) -> i64 {
        self.begin + ((self.end - self.begin) as i128 * i as i128 / self.px as i128) as i64
    }

    /// The column that `t` lies in; outside of the window, the nearest.
    pub fn column(&self, t: i64) -> u32 {
        let (at, span) = (t - self.begin, (self.end - self.begin).max(1));
        let px = i64::from(self.px);
        let i = match at.checked_mul(px) {
            Some(scaled) => scaled.div_euclid(span),
            // Half a month and more, and rare: dividing 128 bits takes ten times as long.
            None => (i128::from(at) * i128::from(px))
                .div_euclid(i128::from(span))
                .clamp(0, i128::from(px)) as i64,
        };
        i.clamp(0, px - 1) as u32
    }

    /// Width of a pixel, ns (not rounded).
    pub fn ns_per_px(&self) -> f64 {
        (self.end - self.begin) as f64 / self.px as f64
    }
}

/// One pixel of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// One class, or [`ABSENT`], covers all of it.
    Solid(u8),
    /// Shares of each class, then of absence; they add up to [`WHOLE`].
    Mixture([u8; ABSENT + 1]),
}

/// One thread's states: begins and classes in columns; each ends where the next begins.
#[derive(Debug, Default)]
pub struct Lane {
    begin: Vec<i64>,
    class: Vec<u8>,
    end: i64,
    sums: Vec<[i64; ABSENT]>,
    /// Of what is [`MIXED`] the times, at its own index; empty where nothing is.
    mixtures: Vec<[i64; ABSENT]>,
}

impl Lane {
    /// Adds the next state. Returns false, and takes nothing, if it begins before the last ended.
    pub fn push(&mut self, begin: i64, end: i64, class: u8) -> bool {
        if end < begin || (!self.begin.is_empty() && begin != self.end) {
            return false;
        }
        if self.begin.len().is_multiple_of(STRIDE) {
            let mut sum = self.sums.last().copied().unwrap_or_default();
            let from = self.begin.len().saturating_sub(STRIDE);
            for i in from..self.begin.len() {
                self.add(&mut sum, i, self.end_of(i));
            }
            self.sums.push(sum);
        }
        self.begin.push(begin);
        self.class.push(class);
        self.end = end;
        true
    }

    /// Adds a stretch of which only the time per class is known, as [`Lane::push`] does a state.
    pub fn push_mixture(&mut self, begin: i64, end: i64, times: [i64; ABSENT]) -> bool {
        let at = self.begin.len();
        let taken = self.push(begin, end, MIXED);
        if taken {
            self.mixtures.resize(at, [0; ABSENT]);
            self.mixtures.push(times);
        }
        taken
    }

    /// Adds the time per class of a state, up to `until`; of a mixture a part in proportion.
    fn add(&self, sum: &mut [i64; ABSENT], i: usize, until: i64) {
        let (begin, end) = (self.begin[i], self.end_of(i));
        let ns = until.min(end) - begin;
        if self.class[i] != MIXED {
            sum[self.class[i] as usize] += ns;
            return;
        }
        for (sum, &time) in sum.iter_mut().zip(&self.mixtures[i]) {
            *sum += match until < end {
                true => (i128::from(time) * i128::from(ns) / i128::from(end - begin)) as i64,
                false => time,
            };
        }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.begin.len()
    }

    /// Whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.begin.is_empty()
    }

    /// Begin of the first state and end of the last.
    pub fn extent(&self) -> (i64, i64) {
        (self.begin.first().copied().unwrap_or(0), self.end)
    }

    /// Begin, end and class of a state.
    pub fn state(&self, i: usize) -> (i64, i64, u8) {
        (self.begin[i], self.end_of(i), self.class[i])
    }

    /// The state that `t` lies in.
    pub fn at(&self, t: i64) -> Option<usize> {
        let i = self.begin.partition_point(|&b| b <= t).checked_sub(1)?;
        (t < self.end_of(i)).then_some(i)
    }

    fn end_of(&self, i: usize) -> i64 {
        self.begin.get(i + 1).copied().unwrap_or(self.end)
    }

    /// Time per class within `[begin, end)`; it adds up to `end - begin`.
    pub fn times(&self, begin: i64, end: i64) -> Times {
        Walk::new(self).times(begin, end)
    }

    /// The columns of a window.
    pub fn columns(&self, window: Window) -> Vec<Column> {
        let mut columns = Vec::with_capacity(window.px as usize);
        let mut walk = Walk::new(self);
        let mut begin = window.begin;
        while (columns.len() as u32) < window.px {
            let i = columns.len() as u32;
            let end = window.edge(i + 1);
            let (until, class) = walk.stretch(begin);
            if end <= until && class != MIXED {
                // All columns that this one state covers, in one step.
                let reach = if until >= window.end {
                    window.px
                } else {
                    window.column(until)
                };
                columns.resize(reach.max(i + 1) as usize, Column::Solid(class));
                begin = window.edge(columns.len() as u32);
            } else {
                columns.push(mixture(walk.times(begin, end)));
                begin = end;
            }
        }
        columns
    }
}

/// Times as shares of [`WHOLE`]; what rounding leaves goes to the largest remainders.
pub fn mixture(times: Times) -> Column {
    let total: i64 = times.iter().sum();
    if let Some(only) = times.iter().position(|&t| t == total) {
        return Column::Solid(only as u8);
    }
    let mut shares = [0u8; ABSENT + 1];
    let mut remainders = [(0, 0); ABSENT + 1];
    let (mut inexact, mut left) = (0, WHOLE);
    for (class, &time) in times.iter().enumerate().filter(|(_, time)| **time > 0) {
        let (share, remainder) = match time.checked_mul(WHOLE) {
            Some(scaled) => (scaled / total, scaled % total),
            // A year and more, and rare: dividing 128 bits takes ten times as long.
            None => {
                let scaled = i128::from(time) * i128::from(WHOLE);
                let total = i128::from(total);
                ((scaled / total) as i64, (scaled % total) as i64)
            }
        };
        shares[class] = share as u8;
        left -= share;
        remainders[inexact] = (remainder, class);
        inexact += 1;
    }
    let remainders = &mut remainders[..inexact];
    remainders.sort_unstable_by(|a, b| b.cmp(a));
    for (_, class) in remainders.iter().take(left as usize) {
        shares[*class] += 1;
    }
    Column::Mixture(shares)
}

/// Columns as bytes: solid runs `class u8, count u16`, mixtures `255, count u16` and for each of
/// them `n u8` and `n` times `class u8, share u8`. Numbers are little-endian.
pub fn encode(columns: &[Column]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < columns.len() {
        let same = |c: &Column| match (columns[i], c) {
            (Column::Solid(a), Column::Solid(b)) => a == *b,
            (Column::Mixture(_), Column::Mixture(_)) => true,
            _ => false,
        };
        let n = columns[i..]
            .iter()
            .take(u16::MAX as usize)
            .take_while(|c| same(c))
            .count();
        match columns[i] {
            Column::Solid(class) => out.push(class),
            Column::Mixture(_) => out.push(255),
        }
        out.extend((n as u16).to_le_bytes());
        for column in &columns[i..i + n] {
            if let Column::Mixture(shares) = column {
                let parts = shares.iter().enumerate().filter(|(_, s)| **s > 0);
                out.push(parts.clone().count() as u8);
                out.extend(parts.flat_map(|(class, share)| [class as u8, *share]));
            }
        }
        i += n;
    }
    out
}

#[cfg(test)]
mod tests;
