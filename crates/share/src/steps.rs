//! From what applications have to what they are to have, one step at a time: pure.
//!
//! Who loses a CPU is told first, and keeps it for a grace period; who gains one gets it when its former owner is off it,
//! and is told then. So nobody reads of a CPU that it has not, and two are on one CPU only if that is intended. The one
//! exception: a process that loses its last CPU moves to its new ones at once, because it has to be somewhere.

use loadline_policy::{Cpus, Slot};

use crate::CpuSet;

/// One application on its way.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lane {
    /// Where it is to be. Never empty in a snapshot of living applications: one without a share waits on some CPU.
    pub target: Vec<Slot>,
    /// Where the kernel lets it run.
    pub applied: CpuSet,
    /// What it was told.
    pub told: Cpus,
    pub told_set: CpuSet,
    /// When its surplus is taken away.
    pub narrow_at: Option<u64>,
}

/// What is to be done for an application, by its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Todo {
    pub lane: usize,
    /// The kernel's set changed to `applied`.
    pub set: bool,
    /// What it was told changed.
    pub tell: bool,
}

fn cpus(slots: &[Slot]) -> CpuSet {
    slots.iter().map(|s| s.cpu).collect()
}

/// Takes every step that can be taken at `now_ns`; the lanes say afterwards how it is.
pub(crate) fn advance(lanes: &mut [Lane], now_ns: u64, grace_ns: u64) -> Vec<Todo> {
    let targets: Vec<CpuSet> = lanes.iter().map(|l| cpus(&l.target)).collect();
    let before: Vec<Lane> = lanes.to_vec();
    for (lane, target) in lanes.iter_mut().zip(&targets) {
        narrow(lane, target, now_ns, grace_ns);
    }
    for i in 0..lanes.len() {
        let missing = targets[i].difference(&lanes[i].applied);
        if missing.is_empty() {
            continue;
        }
        // Somebody else is still on it who is to leave it.
        let held = |cpu: u32| {
            (0..lanes.len())
                .any(|j| j != i && lanes[j].applied.contains(cpu) && !targets[j].contains(cpu))
        };
        let free: CpuSet = missing.iter().filter(|&cpu| !held(cpu)).collect();
        lanes[i].applied = lanes[i].applied.union(&free);
    }
    for (lane, target) in lanes.iter_mut().zip(&targets) {
        let there = lane.target.iter().filter(|s| lane.applied.contains(s.cpu));
        lane.told = there.map(|s| s.part).sum();
        lane.told_set = lane.applied.intersection(target);
    }
    let changed = |(i, (lane, was)): (usize, (&Lane, &Lane))| {
        let todo = Todo {
            lane: i,
            set: lane.applied != was.applied,
            tell: lane.told != was.told || lane.told_set != was.told_set,
        };
        (todo.set || todo.tell).then_some(todo)
    };
    lanes
        .iter()
        .zip(&before)
        .enumerate()
        .filter_map(changed)
        .collect()
}

fn narrow(lane: &mut Lane, target: &CpuSet, now_ns: u64, grace_ns: u64) {
    if lane.applied.is_subset(target) {
        lane.narrow_at = None;
        return;
    }
    let at = *lane.narrow_at.get_or_insert(now_ns + grace_ns);
    if at > now_ns {
        return;
    }
    lane.narrow_at = None;
    let kept = lane.applied.intersection(target);
    lane.applied = if kept.is_empty() {
        target.clone()
    } else {
        kept
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slots(list: &[u32]) -> Vec<Slot> {
        list.iter()
            .map(|&cpu| Slot {
                cpu,
                part: Cpus::ONE,
            })
            .collect()
    }

    fn lane(applied: &[u32], target: &[u32]) -> Lane {
        let applied: CpuSet = applied.iter().copied().collect();
        Lane {
            target: slots(target),
            told: Cpus::whole(applied.len()),
            told_set: applied.clone(),
            applied,
            narrow_at: None,
        }
    }

    #[test]
    fn a_cpu_changes_hands_after_the_grace() {
        let mut lanes = [lane(&[0, 1], &[0]), lane(&[2], &[1, 2])];
        let todo = advance(&mut lanes, 100, 50);
        assert_eq!(
            todo,
            [Todo {
                lane: 0,
                set: false,
                tell: true
            }],
            "the loser is told, nothing else happens"
        );
        assert_eq!((lanes[0].told, lanes[0].applied.len()), (Cpus::ONE, 2));
        assert_eq!(advance(&mut lanes, 149, 50), []);
        let todo = advance(&mut lanes, 150, 50);
        assert_eq!(
            todo,
            [
                Todo {
                    lane: 0,
                    set: true,
                    tell: false
                },
                Todo {
                    lane: 1,
                    set: true,
                    tell: true
                }
            ],
            "the loser leaves, the winner comes and is told"
        );
        assert_eq!(
            (lanes[1].told, lanes[1].applied.to_string()),
            (Cpus::whole(2), "1-2".into())
        );
    }

    #[test]
    fn who_loses_its_last_cpu_moves_at_once_when_the_grace_is_over() {
        let mut lanes = [lane(&[0], &[1]), lane(&[1], &[0])];
        advance(&mut lanes, 0, 50);
        advance(&mut lanes, 50, 50);
        assert_eq!(lanes[0].applied.to_string(), "1");
        assert_eq!(lanes[1].applied.to_string(), "0");
    }

    #[test]
    fn a_free_cpu_is_there_at_once() {
        let mut lanes = [lane(&[0], &[0, 1])];
        assert_eq!(
            advance(&mut lanes, 7, 50),
            [Todo {
                lane: 0,
                set: true,
                tell: true
            }]
        );
    }

    #[test]
    fn a_shared_cpu_need_not_be_left() {
        let mut lanes = [lane(&[0, 1], &[0, 1]), lane(&[2], &[1, 2])];
        assert_eq!(
            advance(&mut lanes, 7, 50),
            [Todo {
                lane: 1,
                set: true,
                tell: true
            }]
        );
    }

    fn sets(n: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
        // Each CPU belongs to one of n, and everybody has one at least: CPU i is i's, the rest anybody's.
        prop::collection::vec(0..n, 12 - n).prop_map(move |rest| {
            let mut sets: Vec<Vec<u32>> = (0..n).map(|i| vec![i as u32]).collect();
            for (k, owner) in rest.into_iter().enumerate() {
                sets[owner].push((n + k) as u32);
            }
            sets
        })
    }

    proptest! {
        /// From any division to any other: in time, nobody told of what it has not, no CPU with two.
        #[test]
        fn every_change_arrives(pairs in (1usize..6).prop_flat_map(|n| (sets(n), sets(n), sets(n)))) {
            let (from, by, to) = pairs;
            let mut lanes: Vec<Lane> = from.iter().zip(&by).map(|(f, b)| lane(f, b)).collect();
            let mut now = 0;
            for round in 0..20 {
                if round == 1 {
                    for (lane, to) in lanes.iter_mut().zip(&to) {
                        lane.target = slots(to);
                    }
                }
                let was = lanes.clone();
                for todo in advance(&mut lanes, now, 50) {
                    let (lane, was) = (&lanes[todo.lane], &was[todo.lane]);
                    let lost = was.applied.difference(&lane.applied);
                    prop_assert!(lost.intersection(&was.told_set).is_empty(), "taken before it was told");
                }
                for (i, lane) in lanes.iter().enumerate() {
                    prop_assert!(!lane.applied.is_empty());
                    prop_assert!(lane.told_set.is_subset(&lane.applied), "told of what it has not");
                    for other in &lanes[..i] {
                        prop_assert!(lane.applied.intersection(&other.applied).is_empty(), "two on one CPU");
                    }
                }
                now += 25;
            }
            for (lane, to) in lanes.iter().zip(&to) {
                prop_assert_eq!(&lane.applied, &to.iter().copied().collect::<CpuSet>());
                prop_assert_eq!(lane.told, Cpus::whole(to.len() as u32));
            }
        }
    }
}
