//! What always holds, over 1,000 random histories: applications register, ask for more and less, hang (ask and use
//! nothing of it, as far as a policy can see the same), die; the machine's CPUs change.

use loadline_policy::{
    Application, Cpus, Curve, Division, Policy, Sharing, Slot, Snapshot, Topology, divide, place,
    weights,
};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Register {
        request: u32,
        priority: f64,
        revenue: f64,
        curve: bool,
    },
    Request {
        who: usize,
        request: u32,
    },
    Die {
        who: usize,
    },
    Cpus(u32),
    Nothing,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u32..20_000, 0.1f64..4.0, 0.0f64..3.0, any::<bool>())
            .prop_map(|(request, priority, revenue, curve)| Step::Register { request, priority, revenue, curve }),
        5 => (0usize..64, 0u32..20_000).prop_map(|(who, request)| Step::Request { who, request }),
        2 => (0usize..64).prop_map(|who| Step::Die { who }),
        1 => (1u32..24).prop_map(Step::Cpus),
        2 => Just(Step::Nothing),
    ]
}

#[derive(Clone)]
struct App {
    request: Cpus,
    priority: f64,
    revenue: f64,
    curve: Option<Curve>,
    owned: Cpus,
    slots: Vec<Slot>,
    waited: u32,
}

struct Machine {
    policy: Policy,
    sharing: Sharing,
    grain: Cpus,
    cpus: u32,
    turn: usize,
    apps: Vec<App>,
}

impl Machine {
    fn divide(&self) -> Division {
        let applications: Vec<Application<'_>> = self
            .apps
            .iter()
            .map(|a| Application {
                request: a.request,
                priority: a.priority,
                revenue: a.revenue,
                had: a.owned,
                waited: a.waited,
                curve: a.curve.as_ref(),
            })
            .collect();
        divide(
            self.policy,
            self.sharing,
            &Snapshot {
                cpus: self.cpus,
                grain: self.grain,
                floor: self.grain,
                turn: self.turn,
                applications: &applications,
            },
        )
    }

    fn quantum(&mut self) -> Result<Division, TestCaseError> {
        let division = self.divide();
        let before: Vec<Vec<Slot>> = self.apps.iter().map(|a| a.slots.clone()).collect();
        let slots = place(&Topology::flat(self.cpus), &before, &division);
        self.holds(&division, &slots)?;
        for ((app, slots), &owned) in self.apps.iter_mut().zip(slots).zip(&division.owned) {
            let starved = app.request > Cpus::ZERO && owned == Cpus::ZERO;
            app.waited = if starved { app.waited + 1 } else { 0 };
            app.slots = slots;
            app.owned = owned;
        }
        self.turn += usize::from(self.policy.takes_turns());
        Ok(division)
    }

    fn holds(&self, division: &Division, slots: &[Vec<Slot>]) -> Result<(), TestCaseError> {
        let (policy, sharing) = (self.policy, self.sharing);
        let unit = if sharing == Sharing::Both {
            self.grain
        } else {
            Cpus::ONE
        };
        let up =
            |c: Cpus, unit: Cpus| Cpus::thousandths(c.grains(unit) as u32 * unit.as_thousandths());
        let total: Cpus = division.owned.iter().copied().sum();
        let all = Cpus::whole(self.cpus);
        prop_assert!(total <= all, "over-committed: {total} of {all}");
        let wanted: Vec<Cpus> = self
            .apps
            .iter()
            .map(|a| up(a.request, unit).min(all))
            .collect();
        for (own, want) in division.owned.iter().zip(&wanted) {
            prop_assert!(own <= want, "{own} for a request of {want}");
        }
        if policy == Policy::Batch {
            let left = all - total;
            for (own, want) in division.owned.iter().zip(&wanted) {
                prop_assert!(
                    *own == *want || *want > left,
                    "{want} fits into {left} and waits"
                );
            }
        } else {
            let wanted: Cpus = wanted.iter().copied().sum();
            prop_assert_eq!(
                total,
                wanted.min(all),
                "idle CPUs while somebody wants them"
            );
        }
        let wanting = wanted.iter().filter(|&&w| w > Cpus::ZERO).count() as u64;
        if !matches!(policy, Policy::Batch | Policy::RoundRobin) && wanting <= all.grains(unit) {
            for (own, want) in division.owned.iter().zip(&wanted) {
                prop_assert!(
                    *own > Cpus::ZERO || *want == Cpus::ZERO,
                    "one has nothing, and {wanting} want"
                );
            }
        }
        self.loans_hold(division)?;
        placement_holds(self.cpus, sharing, division, slots)
    }

    fn loans_hold(&self, division: &Division) -> Result<(), TestCaseError> {
        if self.sharing != Sharing::LowerToHigher {
            prop_assert!(division.loans.is_empty());
        }
        for loan in &division.loans {
            let (owner, guest) = (&self.apps[loan.owner], &self.apps[loan.guest]);
            prop_assert!(owner.priority < guest.priority, "a loan downwards");
            let shares = division.shares();
            prop_assert!(
                shares[loan.owner] >= owner.request,
                "an owner lends what it needs"
            );
            let most = Cpus::thousandths(
                guest.request.grains(self.grain) as u32 * self.grain.as_thousandths(),
            );
            prop_assert!(
                shares[loan.guest] <= most,
                "a guest has more than it requests"
            );
        }
        Ok(())
    }
}

fn placement_holds(
    cpus: u32,
    sharing: Sharing,
    division: &Division,
    slots: &[Vec<Slot>],
) -> Result<(), TestCaseError> {
    for (slots, share) in slots.iter().zip(division.shares()) {
        let total: Cpus = slots.iter().map(|s| s.part).sum();
        prop_assert_eq!(total, share, "a share is not placed");
        prop_assert!(slots.windows(2).all(|w| w[0].cpu < w[1].cpu));
        prop_assert!(slots.iter().all(|s| s.part > Cpus::ZERO && s.cpu < cpus));
    }
    // Union-find over applications and CPUs: an edge within one tree closes a cycle.
    let mut tree: Vec<usize> = (0..slots.len() + cpus as usize).collect();
    fn root(tree: &mut [usize], mut i: usize) -> usize {
        while tree[i] != i {
            tree[i] = tree[tree[i]];
            i = tree[i];
        }
        i
    }
    for cpu in 0..cpus {
        let on: Vec<usize> = (0..slots.len())
            .filter(|&i| slots[i].iter().any(|s| s.cpu == cpu))
            .collect();
        let used: Cpus = on
            .iter()
            .flat_map(|&i| slots[i].iter().filter(|s| s.cpu == cpu))
            .map(|s| s.part)
            .sum();
        prop_assert!(used <= Cpus::ONE, "CPU {cpu} is over-committed: {used}");
        prop_assert!(
            sharing != Sharing::Never || on.len() <= 1,
            "CPU {cpu} is shared"
        );
        for i in on {
            let (a, b) = (
                root(&mut tree, i),
                root(&mut tree, slots.len() + cpu as usize),
            );
            prop_assert!(a != b, "sharing has a cycle");
            tree[a] = b;
        }
    }
    for w in weights(slots) {
        prop_assert!(w.is_finite() && w > 0.0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]
    #[test]
    fn what_must_hold_holds(
        steps in prop::collection::vec(step(), 1..40),
        cpus in 1u32..24,
        policy in 0usize..7,
        sharing in 0usize..3,
        grain in prop::sample::select(vec![50u32, 100, 250, 500, 1000]),
    ) {
        let mut machine = Machine {
            policy: Policy::ALL[policy],
            sharing: Sharing::ALL[sharing],
            grain: Cpus::thousandths(grain),
            cpus,
            turn: 0,
            apps: Vec::new(),
        };
        for step in steps {
            let n = machine.apps.len().max(1);
            match step {
                Step::Register { request, priority, revenue, curve } if machine.apps.len() < 20 => {
                    let curve = curve.then(|| Curve::new([(1.0, 50.0 * priority), (8.0, 120.0)]).expect("a curve"));
                    machine.apps.push(App {
                        request: Cpus::thousandths(request),
                        priority,
                        revenue,
                        curve,
                        owned: Cpus::ZERO,
                        slots: Vec::new(),
                        waited: 0,
                    });
                }
                Step::Request { who, request } => {
                    if let Some(app) = machine.apps.get_mut(who % n) {
                        app.request = Cpus::thousandths(request);
                    }
                }
                Step::Die { who } if !machine.apps.is_empty() => {
                    machine.apps.remove(who % n);
                }
                Step::Cpus(cpus) => machine.cpus = cpus,
                _ => {}
            }
            machine.quantum()?;
        }
        settles(&mut machine)?;
    }
}

/// When nobody asks for anything else, nothing moves (but turns), and nobody waits for ever.
fn settles(machine: &mut Machine) -> Result<(), TestCaseError> {
    let wanting = machine
        .apps
        .iter()
        .filter(|a| a.request > Cpus::ZERO)
        .count();
    let unit = if machine.sharing == Sharing::Both {
        machine.grain
    } else {
        Cpus::ONE
    };
    let enough = wanting as u64 <= Cpus::whole(machine.cpus).grains(unit);
    if enough && !machine.policy.takes_turns() {
        let first = machine.quantum()?;
        let slots: Vec<Vec<Slot>> = machine.apps.iter().map(|a| a.slots.clone()).collect();
        for _ in 0..5 {
            prop_assert_eq!(
                &machine.quantum()?,
                &first,
                "shares move though requests do not"
            );
            for (app, before) in machine.apps.iter().zip(&slots) {
                prop_assert_eq!(&app.slots, before, "slots move though requests do not");
            }
        }
    }
    // Batch and cost-aware rank by order and revenue; there waiting is what they are for.
    if !matches!(machine.policy, Policy::Batch | Policy::CostAware) {
        let mut had = vec![false; machine.apps.len()];
        // Priorities are 0.1 to 4, requests at least a thousandth: the least weighty waits longest.
        for _ in 0..20_000 {
            let division = machine.divide();
            for (i, own) in division.owned.iter().enumerate() {
                let app = &mut machine.apps[i];
                let starved = app.request > Cpus::ZERO && *own == Cpus::ZERO;
                app.waited = if starved { app.waited + 1 } else { 0 };
                app.owned = *own;
                had[i] |= !starved;
            }
            machine.turn += 1;
            if had.iter().all(|h| *h) {
                break;
            }
        }
        prop_assert!(had.iter().all(|h| *h), "one waits for ever");
    }
    Ok(())
}
