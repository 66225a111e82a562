//! What happened in each second of a run, and in each fifth of one.
//!
//! Terms: a *row* is a second since the begin; *offered* counts clicks by when they were due,
//! everything else is counted when it happened. *Slots* are 200 ms: fine enough to find the end of
//! the warm-up and to make batches of a run of ten seconds.
//!
//! What always holds: rows and slots have no gaps (a second in which nothing happened is a row), and
//! response times are kept to two digits.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

pub(crate) const SLOTS_PER_S: u64 = 5;
const SECOND_NS: u64 = 1_000_000_000;
const MAX_US: u64 = 3_600_000_000;

/// One second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) offered: u64,
    pub(crate) replies: u64,
    /// Of those, within the objective; all where there is none.
    #[serde(default)]
    pub(crate) good: u64,
    pub(crate) failures: u64,
    pub(crate) started: u64,
    pub(crate) completed: u64,
    pub(crate) broken: u64,
    /// Sessions under way at its end.
    pub(crate) active: u64,
    pub(crate) full: u64,
    pub(crate) resumed: u64,
    /// Response times in microseconds, and how many of each.
    pub(crate) times: Vec<(u64, u64)>,
}

impl Row {
    /// Adds what another row counted; how many sessions are under way is no count.
    pub(crate) fn count(&mut self, other: &Row) {
        self.offered += other.offered;
        self.replies += other.replies;
        self.good += other.good;
        self.failures += other.failures;
        self.started += other.started;
        self.completed += other.completed;
        self.broken += other.broken;
        self.full += other.full;
        self.resumed += other.resumed;
        self.times.extend_from_slice(&other.times);
    }
}

/// Replies and the sum of their response times in a fifth of a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) replies: u64,
    pub(crate) sum_us: u64,
}

/// All of a run, as one worker sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Series {
    begin_ns: u64,
    pub(crate) rows: Vec<Row>,
    pub(crate) slots: Vec<Slot>,
    /// The times of the last row, until its second is over.
    #[serde(skip, default = "empty")]
    current: Histogram<u64>,
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_US, 2).expect("the bounds are valid")
}

impl Default for Series {
    fn default() -> Series {
        Series::new(0)
    }
}

impl Series {
    pub(crate) fn new(begin_ns: u64) -> Series {
        Series {
            begin_ns,
            rows: Vec::new(),
            slots: Vec::new(),
            current: empty(),
        }
    }

    /// The row of this time; the ones before it are closed. What is late by a second counts in the
    /// last row: time does not go back.
    pub(crate) fn row(&mut self, now_ns: u64) -> &mut Row {
        let second = (now_ns.saturating_sub(self.begin_ns) / SECOND_NS) as usize;
        while self.rows.len() <= second {
            self.close();
            let active = self.rows.last().map_or(0, |r| r.active);
            self.rows.push(Row {
                active,
                ..Row::default()
            });
        }
        self.rows.last_mut().expect("one was just made")
    }

    /// Something was due then; that may be earlier than what has been counted since.
    pub(crate) fn offered(&mut self, due_ns: u64) {
        if due_ns < self.begin_ns {
            return; // due in the warm-up
        }
        let second = ((due_ns - self.begin_ns) / SECOND_NS) as usize;
        if second >= self.rows.len() {
            self.row(due_ns);
        }
        self.rows[second].offered += 1;
    }

    pub(crate) fn reply(&mut self, now_ns: u64, response_us: u64) {
        self.row(now_ns).replies += 1;
        self.current.saturating_record(response_us);
        let slot = (now_ns.saturating_sub(self.begin_ns) * SLOTS_PER_S / SECOND_NS) as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, Slot::default());
        }
        self.slots[slot].replies += 1;
        self.slots[slot].sum_us += response_us;
    }

    /// Keeps the times of the last row in little space.
    pub(crate) fn close(&mut self) {
        if self.current.is_empty() {
            return;
        }
        if let Some(row) = self.rows.last_mut() {
            let times = self
                .current
                .iter_recorded()
                .map(|v| (v.value_iterated_to(), v.count_since_last_iteration()));
            row.times.extend(times);
        }
        self.current.reset();
    }

    /// Adds what another worker saw. Both must be closed.
    pub(crate) fn merge(&mut self, other: &Series) {
        if self.rows.len() < other.rows.len() {
            self.rows.resize(other.rows.len(), Row::default());
        }
        for (mine, theirs) in self.rows.iter_mut().zip(&other.rows) {
            mine.count(theirs);
            mine.active += theirs.active;
        }
        if self.slots.len() < other.slots.len() {
            self.slots.resize(other.slots.len(), Slot::default());
        }
        for (mine, theirs) in self.slots.iter_mut().zip(&other.slots) {
            mine.replies += theirs.replies;
            mine.sum_us += theirs.sum_us;
        }
    }
}

/// A histogram of the times of some rows.
pub(crate) fn times_of<'a>(rows: impl Iterator<Item = &'a Row>) -> Histogram<u64> {
    let mut all = empty();
    for (value, count) in rows.flat_map(|r| &r.times) {
        all.saturating_record_n(*value, *count);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = SECOND_NS;

    #[test]
    fn what_happens_is_counted_in_its_second_and_silence_is_a_row() {
        let mut series = Series::new(10 * S);
        series.offered(10 * S);
        series.reply(10 * S + S / 2, 400);
        series.row(13 * S).failures += 1;
        series.offered(11 * S);
        series.close();
        let replies: Vec<_> = series.rows.iter().map(|r| r.replies).collect();
        assert_eq!(replies, [1, 0, 0, 0]);
        assert_eq!(series.rows[3].failures, 1);
        assert_eq!((series.rows[0].offered, series.rows[1].offered), (1, 1));
        assert_eq!(
            series.slots[2],
            Slot {
                replies: 1,
                sum_us: 400
            }
        );
    }

    #[test]
    fn merged_rows_have_the_times_of_both() {
        let (mut a, mut b) = (Series::new(0), Series::new(0));
        (1..=50).for_each(|n| a.reply(n, n * 100));
        (51..=100).for_each(|n| b.reply(n, n * 100));
        a.close();
        b.close();
        a.merge(&b);
        let times = times_of(a.rows.iter());
        assert_eq!(times.len(), 100);
        let p95 = times.value_at_quantile(0.95);
        assert!((9400..=9600).contains(&p95), "{p95}");
    }

    #[test]
    fn sessions_under_way_stay_so_through_silent_seconds() {
        let mut series = Series::new(0);
        series.row(0).active = 7;
        series.row(3 * S);
        assert_eq!(series.rows[2].active, 7);
    }
}
