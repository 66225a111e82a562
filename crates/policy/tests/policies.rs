//! Known answers of each policy; those with whole CPUs are in `models/vectors/cpu.json` too.

use loadline_policy::{Application, Cpus, Curve, Policy, Sharing, Snapshot, divide};

fn application(request: f64, priority: f64) -> Application<'static> {
    Application {
        request: Cpus::from_f64(request),
        priority,
        ..Application::default()
    }
}

fn fractions<'a>(cpus: u32, applications: &'a [Application<'a>]) -> Snapshot<'a> {
    Snapshot {
        cpus,
        grain: Cpus::thousandths(100),
        floor: Cpus::thousandths(100),
        turn: 0,
        applications,
    }
}

fn shares(policy: Policy, sharing: Sharing, snapshot: &Snapshot<'_>) -> Vec<f64> {
    let division = divide(policy, sharing, snapshot);
    division.shares().iter().map(|c| c.as_f64()).collect()
}

#[test]
fn fractions_follow_the_formula_to_a_grain() {
    // Guitart's thesis, 5.3.1.2, on two CPUs: 2 * 2 / (2 * 2 + 1 * 2) * 2 = 1.33 against 0.67.
    let two = [application(2.0, 2.0), application(2.0, 1.0)];
    assert_eq!(
        shares(Policy::PriorityWeighted, Sharing::Both, &fractions(2, &two)),
        [1.3, 0.7]
    );
}

#[test]
fn what_a_satisfied_one_does_not_request_goes_to_the_other() {
    let two = [application(2.5, 1.0), application(4.0, 1.0)];
    assert_eq!(
        shares(Policy::Equipartition, Sharing::Both, &fractions(4, &two)),
        [2.0, 2.0]
    );
    let two = [application(1.3, 1.0), application(4.0, 1.0)];
    assert_eq!(
        shares(Policy::Equipartition, Sharing::Both, &fractions(4, &two)),
        [1.3, 2.7]
    );
    assert_eq!(
        shares(Policy::Equipartition, Sharing::Never, &fractions(4, &two)),
        [2.0, 2.0]
    );
}

/// The last experiment of Guitart's thesis, 5.3.2: a processor may be shared towards the higher priority only.
#[test]
fn lower_to_higher_lends_upwards_only() {
    // The lower needs 0.6 of its CPU: the higher gets what is left of it.
    let two = [application(4.0, 2.0), application(0.6, 1.0)];
    assert_eq!(
        shares(
            Policy::PriorityWeighted,
            Sharing::LowerToHigher,
            &fractions(4, &two)
        ),
        [3.4, 0.6]
    );
    // The higher has half a CPU to spare, and keeps it.
    let two = [application(2.5, 2.0), application(4.0, 1.0)];
    let division = divide(
        Policy::PriorityWeighted,
        Sharing::LowerToHigher,
        &fractions(4, &two),
    );
    assert!(division.loans.is_empty(), "{division:?}");
    // Equals do not lend either.
    let two = [application(0.6, 1.0), application(4.0, 1.0)];
    let division = divide(
        Policy::PriorityWeighted,
        Sharing::LowerToHigher,
        &fractions(4, &two),
    );
    assert!(division.loans.is_empty(), "{division:?}");
}

#[test]
fn a_wobbling_request_moves_nothing() {
    let mut had = vec![Cpus::ZERO; 2];
    let mut moves = 0;
    // The ideal is 12.3 grains, then 12.6: rounding alone would move one to and fro.
    for wobble in [1.6, 1.7, 1.6, 1.7, 1.6, 1.7] {
        let two: Vec<Application<'_>> = [wobble, 1.0]
            .iter()
            .zip(&had)
            .map(|(&r, &had)| Application {
                had,
                ..application(r, 1.0)
            })
            .collect();
        let now = divide(Policy::PriorityWeighted, Sharing::Both, &fractions(2, &two)).owned;
        moves += usize::from(now != had);
        had = now;
    }
    assert_eq!(moves, 1, "only the first division is one");
}

#[test]
fn a_division_far_from_the_ideal_is_not_kept() {
    let two = [
        Application {
            had: Cpus::whole(3),
            ..application(4.0, 1.0)
        },
        Application {
            had: Cpus::whole(1),
            ..application(4.0, 1.0)
        },
    ];
    assert_eq!(
        shares(
            Policy::PriorityWeighted,
            Sharing::Never,
            &fractions(4, &two)
        ),
        [2.0, 2.0]
    );
}

/// Equals become unequal: the division follows, as if there had been none before (Guitart's thesis, 5.3.2: 3 and 1).
#[test]
fn another_priority_counts_at_once() {
    let two = [
        Application {
            had: Cpus::whole(2),
            ..application(4.0, 2.0)
        },
        Application {
            had: Cpus::whole(2),
            ..application(4.0, 1.0)
        },
    ];
    assert_eq!(
        shares(
            Policy::PriorityWeighted,
            Sharing::Never,
            &fractions(4, &two)
        ),
        [3.0, 1.0]
    );
}

#[test]
fn cost_aware_serves_who_pays_most_and_leaves_the_others_their_floor() {
    let mut three = [
        application(3.0, 1.0),
        application(3.0, 1.0),
        application(3.0, 1.0),
    ];
    three[1].revenue = 5.0;
    assert_eq!(
        shares(Policy::CostAware, Sharing::Both, &fractions(4, &three)),
        [0.5, 3.0, 0.5]
    );
    let snapshot = fractions(3, &three);
    let given = shares(Policy::CostAware, Sharing::Both, &snapshot);
    assert_eq!(given, [0.1, 2.8, 0.1]);
}

#[test]
fn goodput_aware_gives_where_it_brings_most() {
    // The first saturates at one CPU; the second goes on.
    let first = Curve::new([(1.0, 100.0), (4.0, 110.0)]).expect("a curve");
    let second = Curve::new([(4.0, 200.0)]).expect("a curve");
    let mut two = [application(4.0, 1.0), application(4.0, 1.0)];
    two[0].curve = Some(&first);
    two[1].curve = Some(&second);
    assert_eq!(
        shares(Policy::GoodputAware, Sharing::Both, &fractions(4, &two)),
        [1.0, 3.0]
    );
}

#[test]
fn goodput_aware_without_curves_shares_by_priority() {
    let two = [application(4.0, 1.0), application(4.0, 1.0)];
    assert_eq!(
        shares(Policy::GoodputAware, Sharing::Both, &fractions(2, &two)),
        [1.0, 1.0]
    );
    let two = [application(4.0, 1.0), application(4.0, 1.0)];
    assert_eq!(
        shares(Policy::GoodputAware, Sharing::Never, &fractions(4, &two)),
        [2.0, 2.0]
    );
}

/// Against every division there is, on concave curves.
#[test]
fn goodput_aware_is_optimal_on_concave_curves() {
    let curves = [
        Curve::new([(1.0, 80.0), (2.0, 120.0), (5.0, 150.0)]),
        Curve::new([(2.0, 130.0), (6.0, 200.0)]),
        Curve::new([(1.0, 30.0), (6.0, 160.0)]),
    ]
    .map(|c| c.expect("a curve"));
    let three: Vec<Application<'_>> = curves
        .iter()
        .map(|c| Application {
            curve: Some(c),
            ..application(6.0, 1.0)
        })
        .collect();
    let total = |given: &[f64]| curves.iter().zip(given).map(|(c, &g)| c.at(g)).sum::<f64>();
    let got = total(&shares(
        Policy::GoodputAware,
        Sharing::Never,
        &fractions(8, &three),
    ));
    let mut best = 0.0f64;
    for a in 1..=6 {
        for b in 1..=6 {
            let c = 8 - a - b;
            if (1..=6).contains(&c) {
                best = best.max(total(&[f64::from(a), f64::from(b), f64::from(c)]));
            }
        }
    }
    assert!((got - best).abs() < 1e-9, "{got} of {best}");
}

#[test]
fn who_has_waited_longest_comes_first_when_there_are_not_enough() {
    let mut three = [
        application(1.0, 5.0),
        application(1.0, 1.0),
        application(1.0, 1.0),
    ];
    let given = |three: &[Application<'static>]| {
        shares(
            Policy::PriorityWeighted,
            Sharing::Never,
            &fractions(1, three),
        )
    };
    assert_eq!(given(&three), [1.0, 0.0, 0.0]);
    three[2].waited = 5;
    assert_eq!(given(&three), [0.0, 0.0, 1.0]);
}

#[test]
fn below_the_capacity_everybody_gets_what_it_requests() {
    let two = [application(1.2, 1.0), application(2.0, 3.0)];
    for policy in Policy::ALL {
        assert_eq!(
            shares(policy, Sharing::Both, &fractions(4, &two)),
            [1.2, 2.0],
            "{policy:?}"
        );
        assert_eq!(
            shares(policy, Sharing::Never, &fractions(4, &two)),
            [2.0, 2.0],
            "{policy:?}"
        );
    }
}

#[test]
fn nobody_and_nothing_are_fine() {
    for policy in Policy::ALL {
        for sharing in Sharing::ALL {
            assert!(shares(policy, sharing, &fractions(4, &[])).is_empty());
            let idle = [application(0.0, 1.0)];
            assert_eq!(
                shares(policy, sharing, &fractions(4, &idle)),
                [0.0],
                "{policy:?}"
            );
            let one = [application(2.0, 1.0)];
            assert_eq!(
                shares(policy, sharing, &fractions(0, &one)),
                [0.0],
                "{policy:?}"
            );
        }
    }
}

#[test]
fn names_are_read_as_they_are_written() {
    for policy in Policy::ALL {
        assert_eq!(policy.name().parse(), Ok(policy));
    }
    for sharing in Sharing::ALL {
        assert_eq!(sharing.name().parse(), Ok(sharing));
    }
    assert_eq!("fair".parse::<Policy>(), Err(()));
}
