//! Bad models: every message names file, line and what would be right.

use loadline_model::language::{example, from_text};

fn message(text: &str) -> String {
    from_text(text, "m.toml", &[])
        .err()
        .map(|e| e.to_string())
        .unwrap_or_else(|| panic!("accepted:\n{text}"))
}

#[test]
fn the_example_loads_and_runs_without_warnings() {
    let model = from_text(example(), "example.toml", &[]).unwrap();
    assert_eq!(model.warnings, Vec::<String>::new());
    let options = loadline_model::run::Options {
        requests: Some(20_000),
        ..Default::default()
    };
    let answer = loadline_model::run::simulate(&model, &options);
    assert_eq!(answer.problem, None);
    assert!(answer.phases.get("handshake, full").unwrap().time.value > 0.008);
}

#[test]
fn every_message_names_the_line_and_the_remedy() {
    let class = "[classes.request]\nrate = 1\nprogram = [ { wait = 1 } ]\n";
    for (text, parts) in [
        ("[machines.a\n", &["m.toml:1:", "not TOML"][..]),
        (
            &format!("[machines.a]\ncoers = 2\n{class}"),
            &[
                "m.toml:2: machines.a.coers is not known",
                "did you mean `cores`?",
            ],
        ),
        (
            &format!("[machines.a]\ncores = 0\n{class}"),
            &[
                "m.toml:2: machines.a.cores",
                "it is 0; it must be 1 or more",
            ],
        ),
        (
            &format!("[machines.a]\nscheduler = \"linux\"\n{class}"),
            &["m.toml:2:", "there are ps, fcfs", "did you mean linux24?"],
        ),
        (
            &format!("[pools.p]\nmachine = \"b\"\nprogram = []\n{class}"),
            &["m.toml:2: pools.p.machine: there is no machine \"b\""],
        ),
        (
            &format!(
                "[machines.a]\n[heaps.h]\nmachine = \"a\"\nyoung = 1\ncpu = 1\nmax = \"1MB\"\nold = \"2MB\"\n{class}"
            ),
            &[
                "m.toml:7: heaps.h.old",
                "of a heap of 1000000 bytes 2000000 cannot be in use for good",
            ],
        ),
        (
            &format!(
                "[machines.a]\n[heaps.h]\nmachine = \"a\"\nyoung = 1\ncpu = 1\nold = 2\n{class}"
            ),
            &["m.toml:6: heaps.h.old: of which heap? `max` says how large it is"],
        ),
        (
            &format!(
                "[machines.a]\n[heaps.h]\nmachine = \"a\"\nyoung = 1\ncpu = 1\nmode = \"concurrent\"\nmax = 9\n{class}"
            ),
            &["m.toml:7: heaps.h.max: a concurrent collector"],
        ),
        (
            "[machines.a]\n[heaps.h]\nmachine = \"a\"\nyoung = 1\ncpu = 1\n[classes.request]\nrate = 1\n\
             program = [ { keep_alive = \"web\", open = [], heap = \"h\", holds = 1 }, { wait = 1 } ]\n",
            &[
                "m.toml:8:",
                "heap: nothing grows old in it: it has no `max`",
            ],
        ),
        (
            "[classes.request]\nrate = 1\nprogram = [ { keep_alive = \"web\", open = [], holds = \"1kB\" }, { wait = 1 } ]\n",
            &["m.toml:3:", "holds: of which heap? `heap` says it"],
        ),
        (
            &format!("[pools.p]\nthreads = 2.5\nprogram = []\n{class}"),
            &["m.toml:2:", "whole number"],
        ),
        (
            &format!("[pools.p]\n{class}"),
            &["m.toml:1: pools.p has no program"],
        ),
        (
            &format!("[pools.p]\nprogram = [ {{ cpu = 1 }} ]\n{class}"),
            &["uses CPU, but its pool has no machine"],
        ),
        (
            "[classes.request]\nrate = 1\nprogram = [\n  { wait = 1 },\n  { vist = \"a\" },\n]\n",
            &["m.toml:5:", "`vist` is no step", "did you mean `visit`?"],
        ),
        (
            "[classes.request]\nrate = 1\nprogram = [ { visit = \"a\", time = 1 } ]\n",
            &["m.toml:3:", "there is no station \"a\""],
        ),
        (
            "[classes.request]\nrate = 1\nprogram = [ { cpu = 1 } ]\n",
            &["only threads of a pool use CPU"],
        ),
        (
            "[classes.request]\nrate = 1\nprogram = [ { wait = 1, fail = true } ]\n",
            &["are several steps"],
        ),
        (
            "[classes.request]\nrate = 1\nprogram = [ { wait = \"exp(-1)\" } ]\n",
            &["m.toml:3:", "must be 0 or more"],
        ),
        (
            "[classes.request]\nrate = 1\nprogram = [ { branch = [ { p = 0.7, do = [] }, { p = 0.7, do = [] } ] } ]\n",
            &["sum to 1.4"],
        ),
        (
            "[classes.request]\nrate = 1\nclients = 3\nprogram = [ { wait = 1 } ]\n",
            &["exclude each other"],
        ),
        (
            "[classes.request]\nprogram = [ { wait = 1 } ]\n",
            &["nothing makes requests"],
        ),
        ("title = \"empty\"\n", &["needs a request class"]),
        (
            "[resources.m]\nkind = \"mutex\"\n[classes.request]\nrate = 1\nprogram = [ { unlock = \"m\" } ]\n",
            &["releases m without having taken it"],
        ),
        (
            "[resources.m]\nkind = \"mutx\"\n",
            &["m.toml:2:", "did you mean mutex?"],
        ),
        (
            "precision = 2\n",
            &["m.toml:1: precision: it is 2; it must be from"],
        ),
        (
            "[parameters]\na = { default = 5, range = [1, 3] }\n",
            &["m.toml:2: a is 5; it must be from 1 to 3"],
        ),
        (
            "[parameters]\na = \"b + 1\"\n",
            &["m.toml:2: a: `b` is not a parameter"],
        ),
        ("[links.lan]\nlatency = \"1 parsec\"\n", &["m.toml"]),
        (
            "[classes.request]\ntrace = \"no-such-file\"\nprogram = [ { wait = 1 } ]\n",
            &["m.toml:2:", "cannot be read"],
        ),
    ] {
        let got = message(text);
        for part in parts {
            assert!(got.contains(part), "{got}\n  lacks: {part}\n{text}");
        }
    }
}

#[test]
fn set_is_checked_like_the_file() {
    let text = "[parameters]\nclients = { default = 2, range = [1, 10] }\nkind = { default = \"A\", choices = [\"A\", \"B\"] }\n\
        [classes.request]\nclients = \"clients\"\nprogram = [ { wait = 1 } ]\n";
    let with = |name: &str, value: &str| from_text(text, "m.toml", &[(name.into(), value.into())]);
    assert!(with("clients", "2 * 3").is_ok());
    assert!(with("kind", "B").is_ok());
    for (name, value, part) in [
        ("client", "3", "did you mean `clients`?"),
        (
            "clients",
            "30",
            "m.toml: --set clients=30: it must be from 1 to 10",
        ),
        ("clients", "3 +", "m.toml: --set clients=3 +: "),
        ("clients", "3 +", "ends too early"),
        ("kind", "C", "one of A, B"),
    ] {
        let error = with(name, value).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_sleep_of_a_thread_nobody_asks_is_a_warning() {
    let text = "[pools.p]\nprogram = [ { wait = 1 } ]\n[classes.request]\nrate = 1\nprogram = [ { wait = 1 } ]\n";
    assert_eq!(
        from_text(text, "m.toml", &[]).unwrap().warnings,
        ["nobody asks p"]
    );
}

/// Every model that is shipped loads without a warning and has a steady state, except the one that shows a deadlock.
#[test]
fn the_shipped_models_load_and_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut count = 0;
    for folder in ["", "queues", "threading"] {
        for file in std::fs::read_dir(format!("{root}/{folder}")).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|e| e != "toml") {
                continue;
            }
            let model =
                loadline_model::language::from_file(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(model.warnings, Vec::<String>::new(), "{}", path.display());
            let options = loadline_model::run::Options {
                requests: Some(5_000),
                ..Default::default()
            };
            let problem = loadline_model::run::simulate(&model, &options).problem;
            let locks = path.ends_with("deadlock.toml");
            assert_eq!(problem.is_some(), locks, "{}: {problem:?}", path.display());
            count += 1;
        }
    }
    assert!(count >= 15, "only {count} models found");
}

/// The parameters that the users set are there, in every strategy.
#[test]
fn the_threading_models_have_the_same_parameters() {
    for strategy in [
        "thread-per-client",
        "threaded",
        "thread-per-request",
        "thread-pool",
    ] {
        let path = format!(
            "{}/../../models/threading/{strategy}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let settings: Vec<(String, String)> = [
            ("clients", "4"),
            ("servant_cpu", "5ms"),
            ("servant_delay", "0"),
            ("dispatchers", "3"),
            ("arrival_rate", "50"),
        ]
        .map(|(k, v)| (k.into(), v.into()))
        .into();
        let model = loadline_model::language::from_file(std::path::Path::new(&path), &settings)
            .unwrap_or_else(|e| panic!("{e}"));
        let options = loadline_model::run::Options {
            requests: Some(20_000),
            ..Default::default()
        };
        let answer = loadline_model::run::simulate(&model, &options);
        assert_eq!(answer.problem, None, "{strategy}");
        let x = answer.classes.get("request").unwrap().throughput.value;
        assert!((x - 50.0).abs() < 2.0, "{strategy}: {x}");
    }
}

/// Today's kernels and locks are settings of the models of 2004. A mutex that is always busy lets through one delay of 50 ms
/// after the other, whoever gets it; but who asks last and is served first leaves the others waiting.
#[test]
fn the_mutex_of_the_threaded_strategy_goes_to_the_first_or_to_the_last_who_asks() {
    let p95 = ["fifo", "lifo"].map(|queue| {
        let path = format!(
            "{}/../../models/threading/threaded.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let settings: Vec<(String, String)> = [
            ("clients", "8"),
            ("servant_cpu", "0"),
            ("servant_delay", "50ms"),
            ("broker", "0.1ms"),
            ("locked", "0"),
            ("requests_each", "0"),
            ("timer_tick", "1us"),
            ("mutex_queue", queue),
        ]
        .map(|(k, v)| (k.into(), v.into()))
        .into();
        let model = loadline_model::language::from_file(std::path::Path::new(&path), &settings)
            .unwrap_or_else(|e| panic!("{e}"));
        let options = loadline_model::run::Options {
            requests: Some(50_000),
            ..Default::default()
        };
        let answer = loadline_model::run::simulate(&model, &options);
        let class = answer.classes.get("request").unwrap();
        let x = class.throughput.value;
        assert!((x - 20.0).abs() < 0.6, "{queue}: {x}");
        class.response_time.p95
    });
    // Eight exponential times of 50 ms one after the other: Erlang, p95 0.657 s.
    assert!((p95[0] - 0.657).abs() < 0.04, "{p95:?}");
    assert!(p95[1] < 0.5 * p95[0], "{p95:?}");
}
