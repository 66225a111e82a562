//! In proportion to priority times request (Guitart's thesis, 5.3.1.2), and whole: the formula rounds each share by
//! itself, which can give out more or fewer CPUs than there are.

use crate::Snapshot;
use crate::fill::fill;

pub(super) fn grains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<u64> {
    let weights: Vec<f64> = requests
        .iter()
        .zip(snapshot.applications)
        .map(|(&r, a)| r as f64 * a.priority)
        .collect();
    fill(snapshot, requests, &weights)
}
