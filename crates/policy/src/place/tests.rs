use super::*;

fn slots(list: &[(u32, u32)]) -> Vec<Slot> {
    let slot = |&(cpu, part)| Slot {
        cpu,
        part: Cpus::thousandths(part),
    };
    list.iter().map(slot).collect()
}

fn owned(thousandths: &[u32]) -> Division {
    Division {
        owned: thousandths.iter().map(|&t| Cpus::thousandths(t)).collect(),
        loans: Vec::new(),
    }
}

#[test]
fn what_need_not_move_stays() {
    let before = [
        slots(&[(0, 1000), (1, 1000), (2, 500)]),
        slots(&[(2, 500), (3, 1000)]),
    ];
    assert_eq!(
        place(&Topology::flat(4), &before, &owned(&[2500, 1500])),
        before
    );
    // One leaves CPU 2, the other comes to CPU 1: less cannot move.
    let after = place(&Topology::flat(4), &before, &owned(&[1500, 2500]));
    assert_eq!(after[0], slots(&[(0, 1000), (1, 500)]));
    assert_eq!(after[1], slots(&[(1, 500), (2, 1000), (3, 1000)]));
}

#[test]
fn fractions_lie_apart_while_there_are_cpus_enough() {
    let after = place(&Topology::flat(2), &[], &owned(&[500, 500]));
    assert_eq!(after, [slots(&[(0, 500)]), slots(&[(1, 500)])]);
}

#[test]
fn a_fraction_that_fits_nowhere_is_split_and_the_rest_fits_exactly() {
    let after = place(&Topology::flat(2), &[], &owned(&[600, 600, 600]));
    assert_eq!(after[0], slots(&[(0, 600)]));
    assert_eq!(after[1], slots(&[(1, 600)]));
    assert_eq!(after[2], slots(&[(0, 400), (1, 200)]));
}

#[test]
fn an_application_grows_in_its_own_cache() {
    let cpu = |id| Cpu {
        id,
        node: id / 8,
        cache: id / 4,
        core: id,
    };
    let topology = Topology::new((0..16).map(cpu).collect());
    let before = [slots(&[(4, 1000)]), slots(&[(0, 1000)])];
    let after = place(&topology, &before, &owned(&[3000, 1000]));
    assert_eq!(after[0], slots(&[(4, 1000), (5, 1000), (6, 1000)]));
    // A newcomer that needs a whole cache does not begin in one that is half taken.
    let after = place(&topology, &before, &owned(&[1000, 1000, 4000]));
    assert_eq!(
        after[2],
        slots(&[(8, 1000), (9, 1000), (10, 1000), (11, 1000)])
    );
}

#[test]
fn who_shrinks_gives_up_the_cpu_that_lies_apart() {
    let cpu = |id| Cpu {
        id,
        node: id / 2,
        cache: id / 2,
        core: id,
    };
    let topology = Topology::new((0..4).map(cpu).collect());
    let before = [slots(&[(0, 1000), (2, 1000), (3, 1000)])];
    assert_eq!(
        place(&topology, &before, &owned(&[2000]))[0],
        slots(&[(2, 1000), (3, 1000)])
    );
}

#[test]
fn a_loan_is_a_part_of_one_of_the_owners_cpus_and_stays_there() {
    let division = Division {
        owned: vec![Cpus::whole(2), Cpus::whole(2)],
        loans: vec![crate::Loan {
            owner: 1,
            guest: 0,
            part: Cpus::thousandths(400),
        }],
    };
    let first = place(&Topology::flat(4), &[], &division);
    assert_eq!(first[0], slots(&[(0, 1000), (1, 1000), (2, 400)]));
    assert_eq!(first[1], slots(&[(2, 600), (3, 1000)]));
    assert_eq!(place(&Topology::flat(4), &first, &division), first);
}
