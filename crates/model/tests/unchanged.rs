//! A change of the engine's structure changes no result: events and figures of shipped models at fixed seeds are what they
//! were. Where a change is meant to move them, the table below is what the failing test prints.

use loadline_model::language::from_file;
use loadline_model::run::Options;
use loadline_model::solve::{Solver, evaluate};
use std::path::Path;

type Settings = &'static [(&'static str, &'static str)];

/// Model and settings; then events, and the digits of what came out: throughput, mean and 95th percentile of all
/// classes, and the utilization of every part together.
const WERE: [(&str, Settings, &str); 13] = [
    (
        "auction",
        &[("rate", "30")],
        "39000 3.0892794249487775e1 1.5062310888326587e-2 3.0924253866666657e-2 2.6318175950389144e-1",
    ),
    (
        "chat",
        &[],
        "6200 2.2176427165354373e4 8.6968748685853e-3 2.5611468799999985e-2 3.021044566583112e0",
    ),
    (
        "hosting",
        &[],
        "10782 1.0787739473230711e2 3.989658450025999e-2 1.7031495679999997e-1 5.723386003891169e-1",
    ),
    (
        "tomcat",
        &[],
        "12011 8.239189203638246e1 3.169644759006421e-2 6.895697919999993e-2 1.6202347878218077e0",
    ),
    (
        "weather",
        &[],
        "49805 5.155343275803796e0 1.031744975442903e-1 1.5570604617142855e-1 6.610717726224217e-1",
    ),
    (
        "weather",
        &[("database", "B"), ("scheduler", "linux24")],
        "84397 5.15901125394382e0 5.748715321041593e-1 6.462558930823529e-1 3.3252611168460535e0",
    ),
    (
        "wholesale",
        &[],
        "6012 1.2032860824742289e5 4.038392503346719e-5 3.2422399999999996e-5 2.0000000000000036e0",
    ),
    (
        "threading/thread-per-client",
        &[],
        "9411 7.42177494236682e2 9.704025273003037e-3 6.675824640000001e-2 1.6020677158793477e0",
    ),
    (
        "threading/threaded",
        &[],
        "1379089 7.41024021311177e2 9.795233615731412e-3 4.488492586617064e-2 2.1951749389474404e0",
    ),
    (
        "threading/thread-per-request",
        &[("scheduler", "eevdf")],
        "19092 2.80027036313658e2 2.7559519928691552e-2 4.242407424e-2 3.3559173669108677e0",
    ),
    (
        "threading/thread-pool",
        &[("scheduler", "cfs"), ("servant_delay", "50ms")],
        "21200 1.2401912523352608e2 6.33865262454029e-2 1.5894489770666667e-1 1.2572789939175506e0",
    ),
    (
        "threading/thread-pool",
        &[("scheduler", "ps"), ("arrival_rate", "100")],
        "17999 1.0305158259195598e2 2.6008194704215375e-3 4.504371199999999e-3 3.651851937006542e-1",
    ),
    (
        "threading/threaded",
        &[("scheduler", "round-robin"), ("requests_each", "0")],
        "12006 7.421376753826547e2 9.782783281638134e-3 1.215904828235294e-2 1.507799627311863e0",
    ),
];

fn figures(name: &str, settings: &[(&str, &str)]) -> String {
    let path = format!("{}/../../models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let settings: Vec<_> = settings
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    let model = from_file(Path::new(&path), &settings).unwrap_or_else(|e| panic!("{e}"));
    let options = Options {
        requests: Some(3_000),
        seed: 5,
        ..Options::default()
    };
    let a = evaluate(&model, Solver::Simulate, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let used: f64 = a
        .stations
        .0
        .iter()
        .filter_map(|s| s.1.utilization)
        .map(|u| u.value)
        .sum();
    let all = a.all.as_ref().unwrap_or_else(|| &a.classes.0[0].1);
    let response = &all.response_time;
    format!(
        "{} {:e} {:e} {:e} {:e}",
        a.run.as_ref().map_or(0, |r| r.events),
        all.throughput.value,
        response.mean.value,
        response.p95,
        used
    )
}

#[test]
fn fixed_seeds_give_what_they_gave() {
    let mut wrong = Vec::new();
    for (name, settings, was) in WERE {
        let is = figures(name, settings);
        if is != was {
            wrong.push(format!("{name} {settings:?} \"{is}\""));
        }
    }
    assert!(wrong.is_empty(), "changed:\n{}", wrong.join("\n"));
}
