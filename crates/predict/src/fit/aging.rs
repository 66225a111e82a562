//! What grows old in the heap, from what outlived the collections of a recording.

use loadline_stats::law::Fitted;
use serde::Serialize;

use super::overheads::constant;
use crate::observe::{Observed, Outlived};

/// Fewer connections than this, over all collections, say nothing of what one holds.
const FEWEST_CONNECTIONS: u32 = 100;
/// Of what is young, the part that survivors should take: `TargetSurvivorRatio` of one `SurvivorRatio`th.
const SURVIVORS: f64 = 0.5 / 8.0;
/// CPU of marking a byte that is in use, in seconds: the collector's concurrent thread took 0.47 and 0.50 ns at two loads of
/// the auction site (JDK 17, heap of 512 MiB, six and three times of marking). No recording at light load shows it.
const MARKED: f64 = 0.5e-9;

/// A heap whose objects grow old, as G1 has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Aging {
    /// The most that may be allocated between two collections, bytes.
    pub young: f64,
    /// The heap's bound, bytes.
    pub most: f64,
    /// Old and not given back, bytes.
    pub old: f64,
    /// Bytes that outlive a collection, per connection that is open.
    pub holds: Fitted,
    /// CPU seconds of marking a heap that is full.
    pub mark_cpu: f64,
}

/// `None` where it is not G1, or too few connections were open to say what one holds. `young` are the bytes that were
/// allocated before each collection.
pub(super) fn aging(seen: &Observed, young: &[f64]) -> Option<Aging> {
    let all = &seen.outlived;
    let most = all.last()?.most;
    let room = young.iter().copied().fold(0.0, f64::max);
    let holders = |o: &Outlived| -> u32 {
        // Where there is no room for more, what outlives a second collection is old.
        if o.survivors > SURVIVORS * (room + o.survivors) {
            o.new
        } else {
            o.open
        }
    };
    let rows: Vec<(f64, u32)> = all.iter().map(|o| (o.survivors, holders(o))).collect();
    if rows.iter().map(|r| r.1).sum::<u32>() < FEWEST_CONNECTIONS {
        return None;
    }
    let each = |part: &[(f64, u32)]| {
        let bytes: f64 = part.iter().map(|r| r.0).sum();
        bytes / f64::from(part.iter().map(|r| r.1).sum::<u32>()).max(1.0)
    };
    let interval = loadline_stats::by_batches(&rows, each).ci95;
    let holds = constant(
        each(&rows),
        if interval.is_finite() { interval } else { 0.0 },
        rows.len(),
    );
    Some(Aging {
        young: room,
        most,
        old: all.iter().map(|o| o.old).fold(f64::INFINITY, f64::min),
        holds,
        mark_cpu: MARKED * most,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1e6;

    fn seen(survivors: f64, open: u32, new: u32) -> Observed {
        Observed {
            outlived: (0..8)
                .map(|i| Outlived {
                    survivors,
                    old: (90.0 + f64::from(i)) * MB,
                    most: 512.0 * MB,
                    open,
                    new,
                })
                .collect(),
            ..Observed::default()
        }
    }

    #[test]
    fn what_outlives_a_collection_is_what_open_connections_hold() {
        let a = aging(&seen(10.0 * MB, 200, 50), &[290.0 * MB, 300.0 * MB]).expect("there are 200");
        assert_eq!(
            (a.young, a.old, a.most),
            (300.0 * MB, 90.0 * MB, 512.0 * MB)
        );
        assert!((a.holds.mean - 50e3).abs() < 1.0, "{:?}", a.holds);
    }

    #[test]
    fn where_survivors_have_no_room_only_new_connections_are_among_them() {
        let a = aging(&seen(40.0 * MB, 2000, 500), &[300.0 * MB]).expect("there are 500");
        assert!((a.holds.mean - 80e3).abs() < 1.0, "{:?}", a.holds);
    }

    #[test]
    fn a_handful_of_connections_says_nothing() {
        assert_eq!(aging(&seen(10.0 * MB, 2, 2), &[300.0 * MB]), None);
        assert_eq!(aging(&Observed::default(), &[300.0 * MB]), None);
    }
}
