//! A run whose load changes, interval by interval: all runs together.

use super::Named;
use super::from_runs::{Evidence, Level, quotient};
use crate::engine::{Meters, Segment};
use crate::model::{Model, UNLIMITED};
use crate::run::Outcome;
use loadline_stats::{Estimate, by_replications};

/// What happened in an interval, of all classes but those of the background.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Interval {
    /// When it begins, in seconds.
    pub from: f64,
    /// When it ends.
    pub to: f64,
    /// Requests per second that began.
    pub offered: f64,
    /// Requests per second completed well.
    pub throughput: Estimate,
    /// Mean response time of those completed in it, in seconds; NaN if there are none.
    pub mean: f64,
    /// Its 95th percentile.
    pub p95: f64,
    /// Share of each machine's cores in use.
    pub utilization: Named<f64>,
}

/// The intervals of all runs; none if the load does not change.
pub(super) fn of(
    model: &Model,
    meters: &Meters,
    level: Level<'_>,
    outcomes: &[Outcome],
) -> Vec<Interval> {
    let count = outcomes
        .iter()
        .map(|o| o.over_time.len())
        .min()
        .unwrap_or(0);
    let classes: Vec<usize> = (0..model.classes.len())
        .filter(|&c| !model.classes[c].background)
        .collect();
    let all = |offset: usize| -> Vec<usize> {
        classes.iter().map(|&c| meters.class(c) + offset).collect()
    };
    (0..count)
        .map(|i| {
            let parts: Vec<Segment> = outcomes.iter().map(|o| o.over_time[i].clone()).collect();
            let each = |of: &[usize]| -> Vec<f64> {
                let one = |s: &Segment| quotient(std::slice::from_ref(s), of, None);
                parts.iter().map(one).collect()
            };
            let completed: f64 = quotient(&parts, &all(1), None);
            let machines = model.machines.iter().enumerate();
            let utilization = machines
                .filter(|(_, m)| m.cores != UNLIMITED)
                .map(|(i, m)| {
                    let busy = quotient(&parts, &[level(meters.machine_busy[i])], None);
                    (m.name.clone(), busy / f64::from(m.cores))
                });
            Interval {
                from: parts[0].end - parts[0].seconds,
                to: parts[0].end,
                offered: quotient(&parts, &all(0), None),
                throughput: by_replications(&each(&all(1))),
                mean: quotient(&parts, &all(2), None) / completed,
                p95: Evidence::histogram(&parts, &classes).quantile(0.95),
                utilization: Named(utilization.collect()),
            }
        })
        .collect()
}
