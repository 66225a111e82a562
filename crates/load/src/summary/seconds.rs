//! The run second by second, and the run without its warm-up.

use crate::series::{Row, SLOTS_PER_S, Series, times_of};
use loadline_stats::{Estimate, by_batches, mser};
use serde::Serialize;

/// One second of the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Second {
    /// Its end, in seconds since the begin (the last may be shorter than one).
    pub t_s: f64,
    /// Clicks that were due in it.
    pub offered: u64,
    /// Successful replies in it.
    pub goodput: u64,
    /// Of those, within the objective; all where there is none.
    pub good: u64,
    /// Median response time of those; 0 without one.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Interactions that failed.
    pub failures: u64,
    /// Sessions under way at its end.
    pub sessions: u64,
    /// Sessions begun.
    pub started: u64,
    /// Sessions walked to their end.
    pub completed: u64,
    /// Sessions broken.
    pub broken: u64,
    /// Full handshakes.
    pub full: u64,
    /// Resumed handshakes.
    pub resumed: u64,
}

pub(super) fn of(series: &Series, seconds: f64) -> Vec<Second> {
    let whole = (seconds.ceil() as usize).clamp(1, series.rows.len().max(1));
    let (within, beyond) = series.rows.split_at(whole.min(series.rows.len()));
    let mut rows = within.to_vec();
    // What was under way in the last instant may end in the next: it is counted, so it is shown.
    if let Some(last) = rows.last_mut() {
        beyond.iter().for_each(|row| last.count(row));
    }
    rows.iter()
        .enumerate()
        .map(|(n, row)| Second::of(row, ((n + 1) as f64).min(seconds)))
        .collect()
}

impl Second {
    fn of(row: &Row, t_s: f64) -> Second {
        let times = times_of(std::iter::once(row));
        let ms = |q| {
            if times.is_empty() {
                0.0
            } else {
                times.value_at_quantile(q) as f64 / 1e3
            }
        };
        Second {
            t_s,
            offered: row.offered,
            goodput: row.replies,
            good: row.good,
            p50_ms: ms(0.5),
            p95_ms: ms(0.95),
            p99_ms: ms(0.99),
            failures: row.failures,
            sessions: row.active,
            started: row.started,
            completed: row.completed,
            broken: row.broken,
            full: row.full,
            resumed: row.resumed,
        }
    }
}

/// The run without its warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Steady {
    /// How long the warm-up was (MSER-5 on goodput and on response times).
    pub warm_up_s: f64,
    /// Whether it was over by the middle of the run. If not, the run was too short to tell.
    pub settled: bool,
    /// Goodput after it, by batch means.
    pub replies_per_s: Option<Estimate>,
    /// Mean response time after it, by batch means.
    pub mean_ms: Option<Estimate>,
    /// 95th percentile of response times after it (to two digits).
    pub p95_ms: f64,
}

impl Steady {
    pub(super) fn of(series: &Series, seconds: f64) -> Steady {
        // The last slot is not whole.
        let whole = ((seconds * SLOTS_PER_S as f64) as usize).min(series.slots.len());
        let slots = &series.slots[..whole];
        let goodput: Vec<f64> = slots
            .iter()
            .map(|s| (s.replies * SLOTS_PER_S) as f64)
            .collect();
        // Where nobody replied, response times stay what they were.
        let mut last_ms = 0.0;
        let response: Vec<f64> = slots
            .iter()
            .map(|s| {
                if s.replies > 0 {
                    last_ms = s.sum_us as f64 / s.replies as f64 / 1e3;
                }
                last_ms
            })
            .collect();
        let (a, b) = (mser::truncation(&goodput), mser::truncation(&response));
        let cut = a.cut.max(b.cut);
        let settled = a.settled && b.settled;
        let after = if settled { cut } else { 0 };
        let first_second = after.div_ceil(SLOTS_PER_S as usize).min(series.rows.len());
        let times = times_of(series.rows[first_second..].iter());
        Steady {
            warm_up_s: cut as f64 / SLOTS_PER_S as f64,
            settled,
            replies_per_s: estimate(&goodput[after..]),
            mean_ms: estimate(&response[after..]),
            p95_ms: if times.is_empty() {
                0.0
            } else {
                times.value_at_quantile(0.95) as f64 / 1e3
            },
        }
    }
}

/// Fewer slots than this give no interval worth printing.
const LEAST_SLOTS: usize = 10;

fn estimate(slots: &[f64]) -> Option<Estimate> {
    (slots.len() >= LEAST_SLOTS)
        .then(|| by_batches(slots, |part| part.iter().sum::<f64>() / part.len() as f64))
}
