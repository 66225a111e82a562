//! Runs as wholes: coverage of intervals, precision, determinism over workers, and models without a steady state.

use loadline_model::language::from_text;
use loadline_model::run::{Options, in_parallel, simulate};
use loadline_model::solve::{Solver, evaluate};
use loadline_model::sweep::{Range, sweep};

const MM1: &str = "[parameters]\nrho = 0.8\n[stations.q]\n[classes.request]\nrate = \"rho\"\nprogram = [ { visit = \"q\", time = \"exp(1)\" } ]\n";

/// 200 independent runs of M/M/1 at 0.8: the 95% intervals of the mean and of the 95th percentile cover the truth in 92
/// to 98 of 100 cases.
#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    let model = from_text(MM1, "mm1.toml", &[]).unwrap();
    let results = in_parallel(200, 2, |i| {
        let options = Options {
            requests: Some(150_000),
            seed: 1000 + i as u64,
            ..Options::default()
        };
        let answer = simulate(&model, &options);
        let r = &answer.classes.0[0].1.response_time;
        (
            r.mean.covers(5.0, 0.95),
            (r.p95 - 14.978661).abs() <= r.p95_ci95,
        )
    });
    let mean = results.iter().filter(|r| r.0).count();
    let p95 = results.iter().filter(|r| r.1).count();
    println!("coverage: mean {mean}/200, p95 {p95}/200");
    assert!((184..=196).contains(&mean), "mean: {mean} of 200");
    assert!((184..=196).contains(&p95), "p95: {p95} of 200");
}

#[test]
fn the_wanted_precision_is_reached_and_not_overdone() {
    let model = from_text(MM1, "mm1.toml", &[]).unwrap();
    let answer = simulate(
        &model,
        &Options {
            precision: Some(0.03),
            ..Options::default()
        },
    );
    let run = answer.run.unwrap();
    assert!(run.precise);
    let r = answer.classes.0[0].1.response_time.mean;
    assert!(r.relative() <= 0.03, "{r:?}");
    assert!(run.requests < 3_000_000, "{}", run.requests);
}

#[test]
fn a_sweep_gives_the_same_bits_on_any_number_of_workers() {
    let ranges = [Range::parse("rho=0.2..0.8:0.2").unwrap()];
    let json = |workers: usize| {
        let options = Options {
            requests: Some(5_000),
            workers,
            ..Options::default()
        };
        let sweep = sweep(MM1, "mm1.toml", &[], &ranges, Solver::Simulate, &options).unwrap();
        serde_json::to_string(&sweep).unwrap()
    };
    let one = json(1);
    assert_eq!(one, json(2));
    assert_eq!(one, json(7));
}

#[test]
fn replications_give_the_same_bits_on_any_number_of_workers_and_cover_the_truth() {
    let model = from_text(MM1, "mm1.toml", &[]).unwrap();
    let run = |workers: usize| {
        simulate(
            &model,
            &Options {
                requests: Some(40_000),
                replications: 12,
                workers,
                ..Options::default()
            },
        )
    };
    let answer = run(1);
    assert_eq!(
        serde_json::to_string(&answer).unwrap(),
        serde_json::to_string(&run(5)).unwrap()
    );
    assert!(answer.classes.0[0].1.response_time.mean.covers(5.0, 0.99));
}

/// The record of a run is the same size after ten times the requests.
#[test]
fn memory_does_not_grow_with_the_length_of_the_run() {
    use loadline_model::engine::Engine;
    use loadline_model::time::Time;
    let model = from_text(MM1, "mm1.toml", &[]).unwrap();
    let mut engine = Engine::new(&model, 1, 1_000_000);
    engine.run(50_000, Time(u64::MAX));
    assert!(engine.record().segments().len() <= 256);
    engine.run(1_000_000, Time(u64::MAX));
    assert!(engine.record().segments().len() <= 256);
    assert!(engine.record().mser.curve().len() < 2048);
}

#[test]
fn a_deadlock_is_found_and_says_who_holds_what() {
    let text = "[resources.a]\nkind = \"mutex\"\n[resources.b]\nkind = \"mutex\"\n[pools.p]\nthreads = 2\n\
        [pools.p.entries]\n\
        ab = [ { lock = \"a\", do = [ { wait = \"exp(1ms)\" }, { lock = \"b\", do = [ { wait = \"1ms\" } ] } ] } ]\n\
        ba = [ { lock = \"b\", do = [ { wait = \"exp(1ms)\" }, { lock = \"a\", do = [ { wait = \"1ms\" } ] } ] } ]\n\
        [classes.one]\nclients = 1\nprogram = [ { call = \"p.ab\" } ]\n[classes.two]\nclients = 1\nprogram = [ { call = \"p.ba\" } ]\n";
    let answer = simulate(
        &from_text(text, "t.toml", &[]).unwrap(),
        &Options::default(),
    );
    let problem = answer.problem.unwrap();
    assert!(problem.contains("deadlock at"), "{problem}");
    for part in [
        "holds a and waits for b, held by thread",
        "holds b and waits for a, held by thread",
    ] {
        assert!(problem.contains(part), "{problem}");
    }
}

/// Others go on while two are stuck: still found.
#[test]
fn a_partial_deadlock_is_found_while_others_go_on() {
    let text = "[resources.a]\nkind = \"mutex\"\n[resources.b]\nkind = \"mutex\"\n[stations.s]\n\
        [classes.one]\nclients = 1\nprogram = [ { lock = \"a\", do = [ { wait = \"exp(1ms)\" }, { lock = \"b\", do = [ { wait = \"1ms\" } ] } ] } ]\n\
        [classes.two]\nclients = 1\nprogram = [ { lock = \"b\", do = [ { wait = \"exp(1ms)\" }, { lock = \"a\", do = [ { wait = \"1ms\" } ] } ] } ]\n\
        [classes.others]\nclients = 3\nprogram = [ { visit = \"s\", time = \"exp(1ms)\" } ]\n";
    let answer = simulate(
        &from_text(text, "t.toml", &[]).unwrap(),
        &Options::default(),
    );
    assert!(
        answer
            .problem
            .unwrap()
            .contains("client 0 (one) holds a and waits for b")
    );
}

#[test]
fn a_cycle_of_nested_calls_is_warned_about_and_found_when_it_locks_up() {
    let text = "[pools.a]\nthreads = 2\nprogram = [ { wait = \"exp(1ms)\" }, { call = \"b\" } ]\n\
        [pools.b]\nthreads = 2\n[pools.b.entries]\nmain = [ { branch = [ { p = 0.5, do = [ { call = \"a\" } ] } ] } ]\n\
        [classes.request]\nclients = 4\nprogram = [ { call = \"a\" } ]\n";
    let text = text.replace("{ call = \"b\" }", "{ call = \"b.main\" }");
    let model = from_text(&text, "t.toml", &[]).unwrap();
    assert!(
        model
            .warnings
            .iter()
            .any(|w| w.contains("threads of a wait for threads of a")),
        "{:?}",
        model.warnings
    );
    let problem = simulate(&model, &Options::default()).problem.unwrap();
    assert!(
        problem.contains("deadlock") && problem.contains("queued while all its threads wait"),
        "{problem}"
    );
}

#[test]
fn an_unstable_system_is_said_to_be_unstable_not_averaged() {
    for rho in ["1.05", "1.5", "5"] {
        let model = from_text(MM1, "t.toml", &[("rho".into(), rho.into())]).unwrap();
        let problem = simulate(&model, &Options::default())
            .problem
            .unwrap_or_default();
        assert!(
            problem.contains("unstable") && problem.contains("station q"),
            "{rho}: {problem}"
        );
        let exact = evaluate(&model, Solver::Auto, &Options::default()).unwrap();
        assert!(exact.problem.unwrap().contains("unstable"));
    }
}

#[test]
fn a_heavily_loaded_stable_system_is_not_called_unstable() {
    for seed in 1..6 {
        let model = from_text(MM1, "t.toml", &[("rho".into(), "0.95".into())]).unwrap();
        let options = Options {
            requests: Some(300_000),
            seed,
            ..Options::default()
        };
        assert_eq!(simulate(&model, &options).problem, None, "seed {seed}");
    }
}

#[test]
fn a_sweep_finds_the_load_line_and_the_knee() {
    let options = Options {
        requests: Some(40_000),
        ..Options::default()
    };
    let ranges = [Range::parse("rho=0.1..0.9:0.1").unwrap()];
    let s = sweep(MM1, "t.toml", &[], &ranges, Solver::Auto, &options).unwrap();
    // p95 is 4 times its value at 0.1 where 1/(1 - rho) = 4/0.9: between 0.7 and 0.8.
    let line = s.load_line.expect("a load line");
    let json = serde_json::to_value(&line).expect("JSON");
    assert_eq!(json["value"].as_f64(), Some(0.7), "{json}");
    assert_eq!(
        (line.parameter.as_str(), line.value.as_str()),
        ("rho", "0.7")
    );
    assert!((line.offered, line.fails_at) == (0.7, 0.8), "{line:?}");
    let closed = "[parameters]\nn = 1\n[stations.q]\n[classes.request]\nclients = \"n\"\nthink = \"exp(9)\"\nprogram = [ { visit = \"q\", time = \"exp(1)\" } ]\n";
    let ranges = [Range::parse("n=1..40").unwrap()];
    let s = sweep(closed, "t.toml", &[], &ranges, Solver::Auto, &options).unwrap();
    // N* = (9 + 1) / 1.
    let knee = s.knee.expect("a knee");
    assert!((knee.value - 10.0).abs() < 1e-6, "{knee:?}");
    assert_eq!((s.load_line, s.no_load_line), (None, None));
}

#[test]
fn a_model_in_which_no_time_passes_is_said_so() {
    for program in [
        "[ { repeat = 1e9, do = [] }, { wait = 1 } ]",
        "[ { lock = \"m\", do = [] } ]",
    ] {
        let text = format!(
            "[resources.m]\nkind = \"mutex\"\n[classes.request]\nclients = 1\nprogram = {program}\n"
        );
        let model = from_text(&text, "t.toml", &[]).unwrap();
        let problem = simulate(&model, &Options::default()).problem.unwrap();
        assert!(problem.contains("no time passes"), "{problem}");
    }
}

fn station(servers: &str, discipline: &str) -> String {
    format!(
        "[parameters]\nrho = 0.8\n[stations.q]\n{servers}discipline = \"{discipline}\"\n[classes.request]\nrate = \"rho\"\n\
         program = [ {{ visit = \"q\", time = \"exp(1)\" }} ]\n"
    )
}

/// At utilization 0.8 the 99th percentile of M/M/1 is 23.03 in order of coming, and 61 (simulated) in the reverse order.
#[test]
fn a_station_that_serves_the_last_first_gets_its_own_percentiles() {
    let options = Options {
        requests: Some(1_000_000),
        ..Options::default()
    };
    for (discipline, p99) in [("fifo", 23.026), ("lifo", 61.0)] {
        let model = from_text(&station("", discipline), "t.toml", &[]).unwrap();
        let a = evaluate(&model, Solver::Auto, &options).unwrap();
        let r = &a.classes.0[0].1.response_time;
        assert!((r.mean.value - 5.0).abs() < 1e-9, "{discipline}: {r:?}");
        assert!((r.p99 / p99 - 1.0).abs() < 0.1, "{discipline}: {}", r.p99);
    }
}

/// Percentiles of processor sharing and of networks have no closed form here: they are simulated, and the sweep finds
/// its load line; a solver that gives means only says why there is none.
#[test]
fn sweeps_of_shared_stations_and_of_open_networks_find_their_load_lines() {
    let options = Options {
        requests: Some(40_000),
        ..Options::default()
    };
    let network = "[parameters]\nrho = 0.1\n[stations.a]\n[stations.b]\n[classes.request]\nrate = \"rho\"\n\
        program = [ { visit = \"a\", time = \"exp(1)\" }, { visit = \"b\", time = \"exp(1)\" } ]\n";
    let ranges = [Range::parse("rho=0.1..0.9:0.1").unwrap()];
    for text in [
        &station("", "ps"),
        &station("servers = 1\n", "lifo"),
        network,
    ] {
        let s = sweep(text, "t.toml", &[], &ranges, Solver::Auto, &options).unwrap();
        let line = s
            .load_line
            .unwrap_or_else(|| panic!("{:?}\n{text}", s.no_load_line));
        assert!(line.offered > 0.3 && line.offered < 0.85, "{line:?}");
        let s = sweep(text, "t.toml", &[], &ranges, Solver::Mva, &options).unwrap();
        assert_eq!(s.load_line, None);
        assert!(
            s.no_load_line
                .unwrap()
                .contains("percentiles are not known")
        );
    }
    // Beyond saturation, and never near it.
    for (range, why) in [
        ("rho=1.5..3", "lightest"),
        ("rho=0.05..0.2:0.05", "every point holds"),
    ] {
        let ranges = [Range::parse(range).unwrap()];
        let s = sweep(
            &station("", "fifo"),
            "t.toml",
            &[],
            &ranges,
            Solver::Auto,
            &options,
        )
        .unwrap();
        assert!(
            s.no_load_line.as_ref().unwrap().contains(why),
            "{:?}",
            s.no_load_line
        );
    }
}
