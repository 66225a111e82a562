//! Equal parts; what one does not want goes to the others.

use crate::Snapshot;
use crate::fill::fill;

pub(super) fn grains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<u64> {
    fill(snapshot, requests, &vec![1.0; requests.len()])
}
