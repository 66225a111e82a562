//! The machine to one application at a time, in turn; what that one does not want goes to those after it.

use crate::Snapshot;

pub(super) fn grains(snapshot: &Snapshot<'_>, requests: &[u64]) -> Vec<u64> {
    let mut given = vec![0; requests.len()];
    let wanting: Vec<usize> = (0..requests.len()).filter(|&i| requests[i] > 0).collect();
    let mut left = snapshot.capacity();
    for step in 0..wanting.len() {
        let i = wanting[(snapshot.turn % wanting.len() + step) % wanting.len()];
        given[i] = requests[i].min(left);
        left -= given[i];
    }
    given
}
