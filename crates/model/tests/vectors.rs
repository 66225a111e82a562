//! The common test vectors of `models/vectors`: what the guard in Java and the CPU manager are checked against too.

use loadline_model::admission::{Snapshot, budget};
use loadline_policy::{
    Application, Cpus, Division, Policy, Sharing, Slot, Topology, divide, place,
};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Admission {
    cases: Vec<AdmissionCase>,
}

#[derive(Deserialize)]
struct AdmissionCase {
    name: String,
    interval_s: f64,
    cpus: f64,
    resumed_arrivals: f64,
    resumed_cost_s: f64,
    new_cost_s: f64,
    admit_new: Option<u64>,
    admit_resumed: Option<u64>,
}

#[derive(Deserialize)]
struct Cpu {
    cases: Vec<SharesCase>,
    placements: Vec<PlacementCase>,
}

#[derive(Deserialize)]
struct SharesCase {
    name: String,
    policy: String,
    cpus: u32,
    turn: usize,
    requests: Vec<u32>,
    priorities: Vec<f64>,
    shares: Vec<u32>,
}

#[derive(Deserialize)]
struct PlacementCase {
    name: String,
    cpus: u32,
    before: Vec<Vec<u32>>,
    shares: Vec<u32>,
    after: Vec<Vec<u32>>,
}

fn read<T: for<'a> Deserialize<'a>>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../models/vectors")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn admission_agrees_with_its_vectors() {
    let vectors: Admission = read("admission.json");
    assert!(vectors.cases.len() >= 30);
    for case in vectors.cases {
        let b = budget(&Snapshot {
            interval: case.interval_s,
            cpus: case.cpus,
            resumed: case.resumed_arrivals,
            cost_new: case.new_cost_s,
            cost_resumed: case.resumed_cost_s,
        });
        assert_eq!(b.new, case.admit_new.unwrap_or(u64::MAX), "{}", case.name);
        assert_eq!(
            b.resumed,
            case.admit_resumed.unwrap_or(u64::MAX),
            "{}: resumed",
            case.name
        );
    }
}

#[test]
fn shares_agree_with_their_vectors() {
    let vectors: Cpu = read("cpu.json");
    assert!(vectors.cases.len() >= 60);
    for case in vectors.cases {
        let policy: Policy = case
            .policy
            .parse()
            .unwrap_or_else(|()| panic!("{}", case.policy));
        let applications: Vec<Application<'_>> = case
            .requests
            .iter()
            .zip(&case.priorities)
            .map(|(&cpus, &priority)| Application {
                request: Cpus::whole(cpus),
                priority,
                ..Application::default()
            })
            .collect();
        let snapshot =
            loadline_policy::Snapshot::of_whole_cpus(case.cpus, case.turn, &applications);
        let division = divide(policy, Sharing::Never, &snapshot);
        let shares: Vec<u32> = division.owned.iter().map(|c| c.floor()).collect();
        assert_eq!(shares, case.shares, "{}, {}", case.policy, case.name);
    }
}

#[test]
fn placements_agree_with_their_vectors() {
    let slot = |&cpu: &u32| Slot {
        cpu,
        part: Cpus::ONE,
    };
    let slots = |list: &Vec<u32>| list.iter().map(slot).collect();
    for case in read::<Cpu>("cpu.json").placements {
        let before: Vec<Vec<Slot>> = case.before.iter().map(slots).collect();
        let after: Vec<Vec<Slot>> = case.after.iter().map(slots).collect();
        let division = Division {
            owned: case.shares.iter().map(|&n| Cpus::whole(n)).collect(),
            loans: Vec::new(),
        };
        assert_eq!(
            place(&Topology::flat(case.cpus), &before, &division),
            after,
            "{}",
            case.name
        );
    }
}
