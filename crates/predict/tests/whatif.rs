//! What is asked of the model of a server whose demands are known.

mod known;

use known::{SECONDS, SESSIONS, model, recorded};
use loadline_predict::whatif::{Find, Question, ask, text as answer_text};

fn question(text: String) -> Question {
    Question {
        text,
        file: "known.toml".into(),
        settings: Vec::new(),
        load: "rate".into(),
        schedule: None,
        p95: Some(0.1),
        over: Vec::new(),
        sensitivities: false,
        find: None,
        requests: 8000,
        seed: 1,
        workers: 2,
    }
}

#[test]
fn the_load_line_lies_below_what_the_cpu_can_do_and_moves_with_cpus() {
    let seen = recorded();
    let q = Question {
        over: vec![("cpus".into(), vec!["1".into(), "2".into()])],
        ..question(model(&seen))
    };
    let answer = ask(&q, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let line = |i: usize| answer.cells[i].load_line.as_ref().expect("a load line");
    let saturation = f64::from(SESSIONS) / (seen.cpu / SECONDS);
    assert!(
        line(0).load < saturation * 1.15 && line(0).load > 0.7 * saturation,
        "{} of {saturation}",
        line(0).load
    );
    let ratio = line(1).load / line(0).load;
    assert!((1.8..2.3).contains(&ratio), "{ratio}");
    assert!(
        line(0).ci95 > 0.0 && line(0).ci95 < 0.2 * line(0).load,
        "{:?}",
        line(0)
    );
    assert_eq!(line(0).limit.part, "server", "{:?}", line(0).limit);
    let said = answer_text(&answer);
    assert!(
        said.contains("cpus 2") && said.contains("the CPU of server"),
        "{said}"
    );
}

#[test]
fn a_search_finds_the_pool_that_a_load_needs() {
    let find: Find = "smallest pool=1..20 at 40".parse().expect("valid");
    let q = Question {
        settings: vec![("cpus".into(), "4".into())],
        find: Some(find),
        ..question(model(&recorded()))
    };
    let found = ask(&q, &mut |_| {})
        .unwrap_or_else(|e| panic!("{e}"))
        .found
        .expect("searched");
    // 40 sessions/s hold 40 x 3 x 2 ms = 0.24 connections on average: one would do for throughput.
    assert!(
        found.value.is_some_and(|v| (1..=3).contains(&v)),
        "{found:?}"
    );
    assert!(found.tried.len() <= 7, "{found:?}");
}

#[test]
fn a_parameter_that_is_missing_is_named_with_its_option() {
    let text = model(&recorded());
    let refused = |q: Question| ask(&q, &mut |_| {}).expect_err("refused").to_string();
    let varied = |name: &str| vec![(name.to_owned(), vec!["1".to_owned()])];
    let load = refused(Question {
        load: "arrivals".into(),
        ..question(text.clone())
    });
    let over = refused(Question {
        over: varied("heap"),
        ..question(text.clone())
    });
    let find = refused(Question {
        find: Some("smallest heap=1..4 at 3".parse().expect("valid")),
        ..question(text.clone())
    });
    for (e, option) in [(&load, "--load"), (&over, "--over"), (&find, "--find")] {
        assert!(
            e.contains("no parameter `") && e.contains(option) && e.contains("rate"),
            "{e}"
        );
    }
    let itself = refused(Question {
        over: varied("rate"),
        ..question(text)
    });
    assert!(itself.contains("is the load"), "{itself}");
}

/// A thread of the background that is nearly always busy, and one worker: requests wait for the worker.
#[test]
fn what_only_the_background_comes_to_limits_nobody() {
    let text = r#"
title = "one worker"
machines.host.cores = 2
[parameters]
rate = { default = 20, range = [1, 1000] }
[pools.compiler]
machine = "host"
threads = 1
program = [ { cpu = "exp(95ms)" } ]
[classes.compiler]
background = true
rate = 10
program = [ { call = "compiler" } ]
[pools.worker]
machine = "host"
threads = 1
program = [ { wait = "exp(10ms)" } ]
[classes.request]
rate = "rate"
program = [ { call = "worker" } ]
"#;
    let answer = ask(&question(text.into()), &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let line = answer.cells[0].load_line.as_ref().expect("a load line");
    assert!((55.0..85.0).contains(&line.load), "{line:?}");
    assert_eq!(line.limit.part, "worker", "{:?}", line.limit);
}
