use super::*;
use proptest::prelude::*;

const ALL: [Policy; 5] = [
    Policy::Batch,
    Policy::RoundRobin,
    Policy::Equipartition,
    Policy::DynamicSpaceSharing,
    Policy::PriorityWeighted,
];

fn requests(list: &[(u32, f64)]) -> Vec<Request> {
    list.iter()
        .map(|&(cpus, priority)| Request { cpus, priority })
        .collect()
}

#[test]
fn below_the_capacity_everybody_gets_what_it_requests() {
    for policy in ALL {
        assert_eq!(
            shares(policy, &requests(&[(1, 1.0), (2, 1.0)]), 4, 0),
            [1, 2],
            "{policy:?}"
        );
    }
}

#[test]
fn equal_requests_share_equally() {
    for policy in [
        Policy::Equipartition,
        Policy::DynamicSpaceSharing,
        Policy::PriorityWeighted,
    ] {
        assert_eq!(
            shares(policy, &requests(&[(4, 1.0), (4, 1.0)]), 4, 0),
            [2, 2],
            "{policy:?}"
        );
    }
}

/// The two-server experiment of Guitart's thesis, 5.3.2: on 4 CPUs priority 2 against 1 brings 3 against 1.
#[test]
fn twice_the_priority_brings_three_of_four_cpus() {
    assert_eq!(
        shares(
            Policy::PriorityWeighted,
            &requests(&[(4, 2.0), (4, 1.0)]),
            4,
            0
        ),
        [3, 1]
    );
}

#[test]
fn batch_does_not_split_a_request_and_fits_in_whom_it_can() {
    assert_eq!(
        shares(
            Policy::Batch,
            &requests(&[(3, 1.0), (2, 1.0), (1, 1.0)]),
            4,
            0
        ),
        [3, 0, 1]
    );
    assert_eq!(shares(Policy::Batch, &requests(&[(9, 1.0)]), 4, 0), [4]);
}

#[test]
fn round_robin_gives_the_machine_to_one_after_the_other() {
    let two = requests(&[(4, 1.0), (4, 1.0)]);
    assert_eq!(shares(Policy::RoundRobin, &two, 4, 0), [4, 0]);
    assert_eq!(shares(Policy::RoundRobin, &two, 4, 1), [0, 4]);
}

#[test]
fn nobody_and_nothing_are_fine() {
    for policy in ALL {
        assert!(shares(policy, &[], 4, 0).is_empty());
        assert_eq!(
            shares(policy, &requests(&[(0, 1.0)]), 4, 3),
            [0],
            "{policy:?}"
        );
        assert_eq!(
            shares(policy, &requests(&[(2, 1.0)]), 0, 3),
            [0],
            "{policy:?}"
        );
    }
}

#[test]
fn placement_keeps_what_was_there() {
    let sets = place(&[0b0011, 0b1100], &[3, 1], 4);
    assert_eq!(sets, [0b1011, 0b0100]);
}

proptest! {
    #[test]
    fn what_must_hold_holds(
        list in prop::collection::vec((0u32..20, 0.1f64..4.0), 0..8), cpus in 0u32..64, turn in 0usize..9,
    ) {
        let list = requests(&list);
        for policy in ALL {
            let given = shares(policy, &list, cpus, turn);
            let total: u32 = given.iter().sum();
            prop_assert!(total <= cpus);
            for (g, r) in given.iter().zip(&list) {
                prop_assert!(*g <= r.cpus);
            }
            let wanted: u32 = list.iter().map(|r| r.cpus).sum();
            if policy != Policy::Batch {
                prop_assert_eq!(total, wanted.min(cpus), "{:?} leaves CPUs idle", policy);
            }
            let wanting = list.iter().filter(|r| r.cpus > 0).count() as u32;
            if wanting <= cpus && !matches!(policy, Policy::Batch | Policy::RoundRobin) {
                for (g, r) in given.iter().zip(&list) {
                    prop_assert!(*g > 0 || r.cpus == 0, "{:?} starves one", policy);
                }
            }
            let sets = place(&vec![0; given.len()], &given, cpus);
            let mut union = 0u128;
            for (set, g) in sets.iter().zip(&given) {
                prop_assert_eq!(set.count_ones(), *g);
                prop_assert_eq!(union & set, 0);
                union |= set;
            }
        }
    }
}
