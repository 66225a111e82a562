//! Most revenue: above the floors, who earns most per CPU second gets its whole request first; who earn the same share
//! in proportion to priority times request. (Revenue is linear in CPUs up to the request, so this greedy order is
//! optimal.)

use crate::Snapshot;
use crate::fill::fill;

pub(super) fn grains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<u64> {
    let applications = snapshot.applications;
    let capacity = snapshot.capacity();
    let wanting = requests.iter().filter(|&&r| r > 0).count() as u64;
    let earns = |i: usize| applications[i].revenue.max(0.0);
    if wanting >= capacity {
        let weights: Vec<f64> = (0..requests.len()).map(earns).collect();
        return fill(snapshot, requests, &weights);
    }
    let mut given = snapshot.floors(requests);
    let mut left = capacity - given.iter().sum::<u64>().min(capacity);
    let mut order: Vec<usize> = (0..requests.len()).filter(|&i| requests[i] > 0).collect();
    order.sort_by(|&a, &b| earns(b).total_cmp(&earns(a)).then(a.cmp(&b)));
    for group in order.chunk_by(|&a, &b| earns(a).total_cmp(&earns(b)).is_eq()) {
        let wanted: u64 = group.iter().map(|&i| requests[i] - given[i]).sum();
        if wanted <= left {
            for &i in group {
                given[i] = requests[i];
            }
            left -= wanted;
            continue;
        }
        share_among(snapshot, group, requests, &mut given, left);
        break;
    }
    given
}

/// What is left, on top of their floors, among those who earn the same.
fn share_among(
    snapshot: &Snapshot<'_>,
    group: &[usize],
    requests: &[u64],
    given: &mut [u64],
    mut left: u64,
) {
    let weight = |i: usize| requests[i] as f64 * snapshot.applications[i].priority.max(1e-9);
    while left > 0 {
        // The one that is furthest behind its weight is next: largest deficits, one grain at a time.
        let next = group
            .iter()
            .copied()
            .filter(|&i| given[i] < requests[i])
            .min_by(|&a, &b| {
                let level = |i: usize| (given[i] as f64 + 0.5) / weight(i);
                level(a).total_cmp(&level(b)).then(a.cmp(&b))
            });
        let Some(i) = next else { break };
        given[i] += 1;
        left -= 1;
    }
}
