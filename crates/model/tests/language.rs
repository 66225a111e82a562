//! The language of models: what is written once, what a word means, and what is refused with what would be right.

use loadline_model::language::from_text;
use loadline_model::run::{Options, simulate};
use loadline_model::solve::Solver;
use loadline_model::sweep::{Range, sweep};

fn error(text: &str) -> String {
    match from_text(text, "t.toml", &[]) {
        Ok(_) => panic!("it was accepted:\n{text}"),
        Err(e) => e.to_string(),
    }
}

fn options(requests: u64) -> Options {
    Options {
        requests: Some(requests),
        ..Options::default()
    }
}

fn sessions(next: &str) -> String {
    format!(
        "[stations.q]\nservers = \"unlimited\"\n[classes.a]\nprogram = [ {{ visit = \"q\", time = 0.01 }} ]\n\
         [classes.b]\nprogram = [ {{ visit = \"q\", time = 0.01 }} ]\n\
         [sessions.s]\narrivals = \"exp(1)\"\nthink = 0.1\nstart = {{ a = 1 }}\nnext = {next}\n"
    )
}

#[test]
fn next_is_weights_and_end_ends_the_session_as_in_a_scenario() {
    // From a always to b; from b with 3 of 4 again: 4 visits to b for each to a.
    for next in [
        "{ a = { b = 1 }, b = { b = 3, end = 1 } }",
        "{ a = { b = 7 }, b = { b = 0.75, end = 0.25 } }",
    ] {
        let model = from_text(&sessions(next), "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        let a = simulate(&model, &options(200_000));
        let x = |name: &str| a.classes.get(name).unwrap().throughput.value;
        assert!(
            (x("b") / x("a") - 4.0).abs() < 0.1,
            "{next}: {}",
            x("b") / x("a")
        );
    }
}

#[test]
fn weights_that_once_ended_a_session_by_what_was_missing_are_refused() {
    let e = error(&sessions("{ a = { b = 1 }, b = { b = 0.75 } }"));
    assert!(
        e.contains("t.toml:11: sessions.s.next.b") && e.contains("end = 0.25"),
        "{e}"
    );
    let e = error(&sessions("{ a = { b = 0 } }"));
    assert!(e.contains("sum to 0"), "{e}");
    let e = error("[classes.end]\nrate = 1\nprogram = [ { wait = 1 } ]\n");
    assert!(e.contains("where sessions end"), "{e}");
}

#[test]
fn an_expression_needs_no_mark_where_names_stand() {
    let text = "[parameters]\nscheduler = { default = \"cfs\", choices = [\"cfs\", \"eevdf\"] }\nbig = 1\n\
        [machines.m]\nscheduler = \"scheduler\"\n[machines.n]\nscheduler = \"if(big > 0, 'eevdf', 'cfs')\"\n\
        [pools.p]\nmachine = \"m\"\nthreads = 1\nprogram = [ { cpu = 1 } ]\n[classes.r]\nclients = 1\nprogram = [ { call = \"p\" } ]\n";
    let scheduler = |set: &[(String, String)], i: usize| {
        let model = from_text(text, "t.toml", set).unwrap_or_else(|e| panic!("{e}"));
        format!("{:?}", model.machines[i].scheduler).to_lowercase()
    };
    assert!(scheduler(&[], 0).starts_with("cfs"));
    assert!(scheduler(&[("scheduler".into(), "eevdf".into())], 0).starts_with("eevdf"));
    assert!(scheduler(&[], 1).starts_with("eevdf"));
    let e = error(&text.replace(
        "\"scheduler\"\n[machines.n]",
        "\"=scheduler\"\n[machines.n]",
    ));
    assert!(
        e.contains("t.toml:5") && e.contains("without the `=`"),
        "{e}"
    );
    let e = error(&text.replace("cpu = 1", "cpu = \"=big\""));
    assert!(e.contains("write \"big\" without the `=`"), "{e}");
}

#[test]
fn parts_that_repeat_are_written_once() {
    let text = "[machines.a]\ncores = 3\nspeed = 2\n[machines.b]\nlike = \"a\"\nspeed = 1\n[machines.c]\nlike = \"b\"\n\
        [pools.p]\nmachine = \"a\"\nthreads = 7\nprogram = [ { cpu = 1 } ]\n[pools.q]\nlike = \"p\"\nmachine = \"b\"\n\
        [classes.r]\nclients = 1\nprogram = [ { call = \"p\" }, { call = \"q\" } ]\n";
    let model = from_text(text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let machines: Vec<_> = model.machines.iter().map(|m| (m.cores, m.speed)).collect();
    assert_eq!(machines, [(3, 2.0), (3, 1.0), (3, 1.0)]);
    assert_eq!(
        (model.pools[1].min_threads, model.pools[1].machine),
        (7, Some(1))
    );
    for (text, part) in [
        (
            "[machines.a]\nlike = \"b\"\n[machines.b]\nlike = \"a\"\n",
            "like each other",
        ),
        ("[machines.a]\nlike = \"a\"\n", "like each other"),
        (
            "[machines.server]\n[machines.b]\nlike = \"serve\"\n",
            "did you mean \"server\"?",
        ),
        ("[machines.a]\nlike = 3\n", "it must be a name"),
        (
            "[machines.a]\nkores = 1\n[machines.b]\nlike = \"a\"\n",
            "t.toml:2: machines.a.kores",
        ),
    ] {
        let e = error(&format!(
            "{text}[classes.r]\nclients = 1\nprogram = [ {{ wait = 1 }} ]\n"
        ));
        assert!(e.contains(part), "{text}: {e}");
    }
}

/// A burst of 1e308 s under time slices of 10 ms simulated for ever.
#[test]
fn a_time_that_nobody_lives_to_see_is_refused() {
    let base = "[machines.m]\nscheduler = \"round-robin\"\n[pools.p]\nmachine = \"m\"\nthreads = 1\nPOOL\nprogram = [ STEP ]\n\
        [classes.r]\nclients = 1\nCLASS\nprogram = [ { call = \"p\" } ]\n";
    for (place, what, key) in [
        ("STEP", "{ cpu = 1e308 }", "cpu"),
        ("STEP", "{ cpu = \"exp(1e12)\" }", "cpu"),
        ("STEP", "{ wait = \"unlimited\" }", "wait"),
        ("POOL", "start_delay = 1e9", "start_delay"),
        ("POOL", "idle_timeout = 1e300", "idle_timeout"),
        ("CLASS", "think = 1e308", "think"),
        ("CLASS", "timeout = 1e308", "timeout"),
    ] {
        let text = base.replace(place, what);
        let text = text
            .replace("STEP", "{ cpu = 1 }")
            .replace("POOL", "")
            .replace("CLASS", "");
        let e = error(&text);
        assert!(
            e.contains(key) && e.contains("1e8 s (three years) or less"),
            "{what}: {e}"
        );
    }
    // To wait for ever for something is not to take for ever; and a law may lack a mean.
    for fine in ["timeout = \"unlimited\"", "think = \"pareto(0.9, 1)\""] {
        let text = base
            .replace("CLASS", fine)
            .replace("STEP", "{ cpu = 1 }")
            .replace("POOL", "");
        assert!(from_text(&text, "t.toml", &[]).is_ok(), "{fine}");
    }
}

/// Eleven days of CPU in slices of 10 ms: allowed, but 10^8 turns a request.
#[test]
fn a_run_of_endless_turns_stops_and_says_so() {
    let text = "[machines.m]\nscheduler = \"round-robin\"\n[pools.p]\nmachine = \"m\"\nthreads = 2\nprogram = [ { cpu = 1e6 } ]\n\
        [classes.r]\nclients = 2\nprogram = [ { call = \"p\" } ]\n";
    let model = from_text(text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let options = Options {
        most_events: 1_000_000,
        ..Options::default()
    };
    let a = simulate(&model, &options);
    assert!(
        a.warnings.iter().any(|w| w.contains("stopped after")),
        "{:?}",
        a.warnings
    );
    assert!(a.run.unwrap().events < 5_000_000);
}

#[test]
fn the_small_example_is_small_and_has_a_load_line_that_more_connections_move() {
    let text = include_str!("../../../models/tomcat.toml");
    let lines = text
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
    assert!(lines.count() <= 20);
    let ranges = [Range::parse("rate=20..240:20").unwrap()];
    let line = |connections: &str| {
        let set = [("connections".to_string(), connections.to_string())];
        let s = sweep(
            text,
            "tomcat.toml",
            &set,
            &ranges,
            Solver::Auto,
            &options(30_000),
        )
        .unwrap();
        s.load_line
            .unwrap_or_else(|| panic!("{:?}", s.no_load_line))
            .offered
    };
    let (few, many) = (line("2"), line("20"));
    assert!(few < 0.8 * many, "{few} and {many}");
}

#[test]
fn a_quantile_function_is_drawn_linearly_between_its_points() {
    let model = |points: &str| {
        format!(
            "[stations.q]\nservers = \"unlimited\"\n[classes.r]\nrate = 100\nprogram = [ {{ visit = \"q\", time = \"2 * quantiles({points})\" }} ]\n"
        )
    };
    let a = simulate(
        &from_text(&model("0, 1ms, 0.5, 1ms, 1, 3ms"), "t.toml", &[])
            .unwrap_or_else(|e| panic!("{e}")),
        &options(200_000),
    );
    let r = &a.classes.get("r").unwrap().response_time;
    // Half is 2 ms, the rest uniform from 2 to 6 ms.
    assert!(
        (r.mean.value - 3e-3).abs() < 3e-5 && (r.p95 - 5.6e-3).abs() < 1e-4,
        "{r:?}"
    );
    for (points, why) in [
        ("0, 1ms", "pairs"),
        ("0.1, 1ms, 1, 2ms", "first probability 0"),
        ("0, 2ms, 1, 1ms", "must not fall"),
        ("0, 1ms, 0.5, 2ms, 0.5, 3ms, 1, 4ms", "must rise"),
    ] {
        let e = error(&model(points));
        assert!(e.contains("t.toml:5") && e.contains(why), "{points}: {e}");
    }
}

#[test]
fn what_is_fitted_has_its_interval_until_it_is_set() {
    let text = "[parameters]\nd = { default = \"10ms\", ci95 = \"0.5ms\", range = [0, 1] }\n[stations.q]\n[classes.r]\nrate = 10\nprogram = [ { visit = \"q\", time = \"exp(d)\" } ]\n";
    let known = |set: &[(String, String)]| {
        from_text(text, "t.toml", set)
            .unwrap_or_else(|e| panic!("{e}"))
            .uncertain
    };
    let of = known(&[]);
    assert_eq!(
        (of[0].name.as_str(), of[0].value, of[0].ci95),
        ("d", 0.01, 0.0005)
    );
    assert!(known(&[("d".into(), "9ms".into())]).is_empty());
    let e = error(&text.replace("0.5ms", "-1ms"));
    assert!(e.contains("t.toml:2: d.ci95"), "{e}");
}

#[test]
fn work_in_the_background_is_no_request() {
    let text = "[stations.q]\nservers = \"unlimited\"\n[classes.r]\nrate = 10\nprogram = [ { visit = \"q\", time = 0.01 } ]\n\
        [classes.vm]\nbackground = true\nrate = 50\nprogram = [ { visit = \"q\", time = 1 } ]\n";
    let model = from_text(text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let all = simulate(&model, &options(60_000)).all.unwrap();
    assert!(
        (all.throughput.value - 10.0).abs() < 0.5,
        "{:?}",
        all.throughput
    );
    assert!(
        (all.response_time.p95 - 0.01).abs() < 1e-4,
        "{:?}",
        all.response_time
    );
}

#[test]
fn a_visitor_who_does_not_get_a_page_leaves_if_the_model_says_so() {
    let text = |leave: &str| {
        format!(
            "[stations.q]\nservers = \"unlimited\"\n[classes.good]\nprogram = [ {{ visit = \"q\", time = 0.01 }} ]\n\
             [classes.bad]\nprogram = [ {{ fail = true }} ]\n\
             [sessions.s]\nrate = 10\n{leave}start = {{ bad = 1 }}\nnext = {{ bad = {{ good = 1 }}, good = {{ end = 1 }} }}\n"
        )
    };
    let good = |leave: &str| {
        let model = from_text(&text(leave), "t.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        simulate(&model, &options(20_000))
            .classes
            .get("good")
            .unwrap()
            .throughput
            .value
    };
    assert!((good("") - 10.0).abs() < 1.0);
    assert_eq!(good("on_failure = \"leave\"\n"), 0.0);
}
