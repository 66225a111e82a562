//! In proportion to the requests (Guitart's thesis, 5.2.3.3).

use crate::Snapshot;
use crate::fill::fill;

pub(super) fn grains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<u64> {
    let weights: Vec<f64> = requests.iter().map(|&r| r as f64).collect();
    fill(snapshot, requests, &weights)
}
