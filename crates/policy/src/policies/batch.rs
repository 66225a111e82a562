//! First come, first served. A request is not split: one that does not fit waits, and a later one that fits goes on.

use crate::Snapshot;

pub(super) fn grains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<u64> {
    let mut left = snapshot.capacity();
    requests
        .iter()
        .map(|&wanted| {
            let given = if wanted <= left { wanted } else { 0 };
            left -= given;
            given
        })
        .collect()
}
