//! Water-filling with largest remainders: shares in proportion to weights, nobody above its request or below its floor.

use crate::Snapshot;

/// How far, in grains, a division may be from the ideal and still be kept. Half a grain is what rounding does to two; at
/// two thirds (measured in the simulator) two halves of four CPUs would stay when priorities of 2 to 1 ask for 3 and 1.
const KEPT_WITHIN: f64 = 0.6;

/// Grains for each, in proportion to `weights` (those that are not above zero count as nothing).
pub(crate) fn fill(snapshot: &Snapshot<'_>, requests: &[u64], weights: &[f64]) -> Vec<u64> {
    let weights: Vec<f64> = weights
        .iter()
        .map(|w| if *w > 0.0 { *w } else { 0.0 })
        .collect();
    let capacity = snapshot.capacity();
    let wanting: Vec<usize> = (0..requests.len()).filter(|&i| requests[i] > 0).collect();
    if wanting.len() as u64 >= capacity {
        return one_each(snapshot, &weights, wanting, capacity);
    }
    let floors = snapshot.floors(requests);
    let ideal = levels(requests, &floors, &weights, &wanting, capacity as f64);
    kept(snapshot, requests, &floors, &ideal).unwrap_or_else(|| round(requests, &ideal, capacity))
}

/// Not more than one grain each: to the weightiest, and the heavier the longer one has waited.
fn one_each(
    snapshot: &Snapshot<'_>,
    weights: &[f64],
    mut wanting: Vec<usize>,
    capacity: u64,
) -> Vec<u64> {
    let mut given = vec![0; weights.len()];
    // A weight of nothing must not wait for ever either.
    let least = weights
        .iter()
        .copied()
        .filter(|w| *w > 0.0)
        .fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least * 1e-3 } else { 1.0 };
    let urgency =
        |i: usize| weights[i].max(least) * (1.0 + f64::from(snapshot.applications[i].waited));
    wanting.sort_by(|&a, &b| urgency(b).total_cmp(&urgency(a)).then(a.cmp(&b)));
    for &i in wanting.iter().take(capacity as usize) {
        given[i] = 1;
    }
    given
}

/// The division that is there, if it still is a good one: complete, between floor and request, and near the ideal.
fn kept(
    snapshot: &Snapshot<'_>,
    requests: &[u64],
    floors: &[u64],
    ideal: &[f64],
) -> Option<Vec<u64>> {
    let grain = snapshot.grain.as_thousandths();
    let mut had = Vec::with_capacity(requests.len());
    for (i, application) in snapshot.applications.iter().enumerate() {
        let thousandths = application.had.as_thousandths();
        let grains = u64::from(thousandths / grain);
        let good = thousandths % grain == 0
            && (floors[i]..=requests[i]).contains(&grains)
            && (grains as f64 - ideal[i]).abs() < KEPT_WITHIN;
        if !good {
            return None;
        }
        had.push(grains);
    }
    let wanted: u64 = requests.iter().sum();
    (had.iter().sum::<u64>() == wanted.min(snapshot.capacity())).then_some(had)
}

/// Whole grains by largest remainders, the first among equals.
fn round(requests: &[u64], ideal: &[f64], capacity: u64) -> Vec<u64> {
    // In billionths of a grain, so that shares that are equal as fractions are equal here.
    const WHOLE: u64 = 1_000_000_000;
    let parts: Vec<u64> = ideal
        .iter()
        .map(|x| (x * WHOLE as f64).round() as u64)
        .collect();
    let mut given: Vec<u64> = parts.iter().map(|p| p / WHOLE).collect();
    let left = capacity.saturating_sub(given.iter().sum());
    let mut order: Vec<usize> = (0..requests.len())
        .filter(|&i| given[i] < requests[i])
        .collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(parts[i] % WHOLE), i));
    for &i in order.iter().take(left as usize) {
        given[i] += 1;
    }
    given
}

/// The share of each as a real number of grains: in proportion to its weight, between its floor and its request. In each
/// round the shares at present weights are clamped; those that had to be raised are settled if raising took more than
/// lowering gave, else those that had to be lowered, and the rest share what is left.
fn levels(
    requests: &[u64],
    floors: &[u64],
    weights: &[f64],
    wanting: &[usize],
    capacity: f64,
) -> Vec<f64> {
    let mut shares = vec![0.0; requests.len()];
    let mut open = wanting.to_vec();
    let mut pot = capacity;
    while !open.is_empty() {
        let total: f64 = open.iter().map(|&i| weights[i]).sum();
        let mut excess = 0.0;
        let clamped: Vec<(usize, f64, f64)> = open
            .iter()
            .map(|&i| {
                let part = if total > 0.0 {
                    weights[i] / total
                } else {
                    1.0 / open.len() as f64
                };
                let raw = pot * part;
                let share = raw.clamp(floors[i] as f64, requests[i] as f64);
                excess += share - raw;
                (i, raw, share)
            })
            .collect();
        let mut still = Vec::new();
        for (i, raw, share) in clamped {
            let settled = match excess {
                e if e > 1e-9 => share > raw,
                e if e < -1e-9 => share < raw,
                _ => true,
            };
            if settled {
                shares[i] = share;
                pot -= share;
            } else {
                still.push(i);
            }
        }
        open = still;
    }
    shares
}
