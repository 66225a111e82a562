//! Most goodput: each grain above the floors goes where the curves say that it brings most, weighted by priority.
//!
//! A curve counts replies within the objective only, so the objective on response time is in it. The greedy order is
//! optimal where curves are concave; a curve that is not is replaced by its concave hull, as one that only pays after
//! several more CPUs must be given all of them to pay. Who has no curve is taken to gain, for each CPU up to its
//! request, what the others gain on average; so without any curve everybody shares equally by priority.

use crate::{Cpus, Curve, Snapshot};

/// Gains that differ by less are the same: then who has least for its priority comes first.
const SAME: f64 = 1e-9;

pub(super) fn grains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<u64> {
    let capacity = snapshot.capacity();
    let mut given = snapshot.floors(requests);
    if given.iter().sum::<u64>() > capacity {
        let weights: Vec<f64> = snapshot.applications.iter().map(|a| a.priority).collect();
        return crate::fill::fill(snapshot, requests, &weights);
    }
    let gains = gains(snapshot, requests);
    let mut left = capacity - given.iter().sum::<u64>();
    while left > 0 {
        let mut best: Option<(usize, f64, f64)> = None;
        for i in (0..requests.len()).filter(|&i| given[i] < requests[i]) {
            let priority = snapshot.applications[i].priority.max(SAME);
            let gain = gains[i].at(given[i]) * priority;
            let level = (given[i] as f64 + 0.5) / priority;
            let better = best.is_none_or(|(_, most, least)| {
                let margin = SAME * gain.abs().max(most.abs()).max(SAME);
                gain > most + margin || (gain > most - margin && level < least)
            });
            if better {
                best = Some((i, gain, level));
            }
        }
        let Some((i, _, _)) = best else { break };
        given[i] += 1;
        left -= 1;
    }
    given
}

/// What the next grain brings, by the grains that one has.
enum Gains {
    OfCurve(Vec<f64>),
    Linear(f64),
}

impl Gains {
    fn at(&self, grains: u64) -> f64 {
        match self {
            Gains::OfCurve(each) => each.get(grains as usize).copied().unwrap_or(0.0),
            Gains::Linear(gain) => *gain,
        }
    }
}

fn gains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<Gains> {
    let grain = snapshot.grain.as_f64();
    let mean_of = |curve: &Curve, request: Cpus| {
        let cpus = request.as_f64().max(grain);
        curve.at(cpus) / cpus
    };
    let known: Vec<f64> = snapshot
        .applications
        .iter()
        .filter(|a| a.request > Cpus::ZERO)
        .filter_map(|a| Some(mean_of(a.curve?, a.request)))
        .collect();
    let usual = if known.is_empty() {
        1.0
    } else {
        known.iter().sum::<f64>() / known.len() as f64
    };
    let of = |(a, &request): (&crate::Application<'_>, &u64)| match a.curve {
        Some(curve) => {
            let hull = curve.hull();
            let at = |g: u64| hull.at(g as f64 * grain);
            Gains::OfCurve((0..request).map(|g| at(g + 1) - at(g)).collect())
        }
        None => Gains::Linear(usual * grain),
    };
    snapshot.applications.iter().zip(requests).map(of).collect()
}
