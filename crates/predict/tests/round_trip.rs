//! A server whose demands are known, as a recording would show it: what is fitted must be what was put in, and the model
//! that is written must use as much CPU as the recording did.

use loadline_model::load::from_text;
use loadline_model::run::{Options, simulate};
use loadline_predict::fit::{Fit, fit, from_scenario, from_trace};
use loadline_predict::observe::{
    About, Handshake, Lock, Observed, Others, Overheads, Pause, Pool, Request,
};
use loadline_predict::whatif::{Find, Question, ask, text as answer_text};
use loadline_predict::write::{Assumed, text};
use loadline_stats::random::{Dist, Stream};

const SECONDS: f64 = 100.0;
/// Sessions per second, each a connection of four requests.
const SESSIONS: u32 = 5;

/// Every session: a full handshake of 2 ms, then `/a` of 1 ms, and `/b?id=…` three times, of which 2 of 3 ms are SQL with a
/// connection in hand. 14 ms with what visits, the dispatcher and the acceptor cost.
fn recorded() -> Observed {
    let mut stream = Stream::new(1, "recorded");
    let (mut requests, mut handshakes) = (Vec::new(), Vec::new());
    let exp = |mean: f64, s: &mut Stream| Dist::Exponential(mean).sample(s);
    let n = SESSIONS * SECONDS as u32;
    for i in 0..n {
        let begin = f64::from(i) / f64::from(SESSIONS);
        handshakes.push(Handshake {
            resumed: false,
            begin,
            pieces: vec![(100e-6, exp(1.8e-3, &mut stream)), (400e-6, 0.2e-3)],
        });
        for k in 0..4 {
            let at = begin + 0.01 + 0.04 * f64::from(k);
            let b = k > 0;
            requests.push(Request {
                name: if b {
                    format!("GET /b?id={}", i + k)
                } else {
                    "GET /a".into()
                },
                begin: at,
                end: at + 0.005,
                connection: Some(i64::from(i)),
                container: 0.2e-3,
                service: exp(0.8e-3, &mut stream),
                sql: if b { exp(2e-3, &mut stream) } else { 0.0 },
                statements: u32::from(b),
                acquisitions: u32::from(b),
                ..Request::default()
            });
        }
    }
    let visits = u64::from(n) * 6;
    let overheads = Overheads {
        visits,
        connections: u64::from(n),
        visit: vec![20e-6; visits as usize],
        awake: vec![10e-6; 300],
        slept: vec![30e-6; visits as usize - 300],
        dispatcher: (0..2 * visits)
            .map(|i| {
                (
                    if i % 2 == 0 { 25e-6 } else { 15e-6 },
                    u32::from(i % 2 == 0),
                )
            })
            .collect(),
        acceptor: 100e-6 * f64::from(n),
    };
    let other = |kind, per_second: f64| Others {
        kind,
        seconds: vec![per_second; SECONDS as usize],
        bursts: vec![per_second / 10.0; 10 * SECONDS as usize],
    };
    let pauses = (0..10).map(|i| Pause {
        begin: 10.0 * f64::from(i),
        length: 0.01,
        heap: Some((100e6, 20e6)),
    });
    let cpu = requests
        .iter()
        .map(|r: &Request| r.container + r.service + r.sql)
        .sum::<f64>()
        + handshakes
            .iter()
            .flat_map(|h| &h.pieces)
            .map(|p| p.1)
            .sum::<f64>()
        + overheads
            .visit
            .iter()
            .chain(&overheads.awake)
            .chain(&overheads.slept)
            .sum::<f64>()
        + overheads.dispatcher.iter().map(|d| d.0).sum::<f64>()
        + overheads.acceptor
        + 0.1 * 1.0
        + 0.01 * SECONDS;
    Observed {
        about: About {
            trace: "known.trace".into(),
            name: "known".into(),
            cpus: 1,
            seconds: SECONDS,
            ..About::default()
        },
        requests,
        handshakes,
        overheads,
        others: vec![
            other("gc", 0.001),
            other("compiler", 0.0),
            other("other", 0.01),
        ],
        pauses: pauses.collect(),
        pools: vec![Pool {
            name: "p".into(),
            asked: 1500,
            most_used: 2,
        }],
        locks: vec![Lock {
            class: "L".into(),
            waits: 30,
            seconds: 0.003,
        }],
        most_workers: 3,
        cpu,
        counted: Some((cpu, SECONDS)),
        cpu_where_counted: cpu,
        ..Observed::default()
    }
}

fn fitted(seen: &Observed) -> Fit {
    let visitors = from_trace(seen).expect("connections were seen");
    fit(seen, visitors).unwrap_or_else(|e| panic!("{e}"))
}

fn model(seen: &Observed) -> String {
    text(
        &fitted(seen),
        &Assumed {
            pool: Some(10),
            workers: Some(50),
        },
    )
}

#[test]
fn what_is_fitted_is_what_was_put_in() {
    let f = fitted(&recorded());
    let class = |name: &str| f.classes.iter().find(|c| c.name == name).expect("a class");
    assert_eq!((class("b").count, class("a").count), (1500, 500));
    let part = |c: &str, p: &str| {
        class(c)
            .parts
            .iter()
            .find(|x| x.name == p)
            .map(|x| x.law.clone())
    };
    let sql = part("b", "sql").expect("it has statements");
    assert!(
        (sql.mean - 2e-3).abs() <= sql.ci95 * 1.5 && sql.ci95 < 0.2e-3,
        "{sql:?}"
    );
    assert!(part("a", "sql").is_none());
    assert!((f.visitors.clicks - 4.0).abs() < 1e-9 && (f.visitors.rate - 5.0).abs() < 1e-9);
    let c = &f.costs;
    assert!(
        (c.next.mean - 10e-6).abs() < 1e-9 && (c.woken.mean - 20e-6).abs() < 1e-9,
        "{c:?}"
    );
    assert!(
        (c.dispatch.mean - 10e-6).abs() < 1e-8 && (c.dispatcher_woken.mean - 15e-6).abs() < 1e-8,
        "{c:?}"
    );
    assert!(f.law.abs() < 0.01, "{}", f.law);
    assert!(
        f.open.iter().any(|o| o.contains("how long L is held")),
        "{:?}",
        f.open
    );
}

#[test]
fn the_model_uses_as_much_cpu_as_the_recording_at_its_load() {
    let seen = recorded();
    let text = model(&seen);
    let m = from_text(&text, "known.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(
        m.uncertain
            .iter()
            .any(|u| u.name == "b_sql" && u.ci95 > 0.0)
    );
    let answer = simulate(
        &m,
        &Options {
            requests: Some(60_000),
            ..Options::default()
        },
    );
    assert!(answer.problem.is_none(), "{:?}", answer.problem);
    let used = answer
        .stations
        .get("server")
        .and_then(|s| s.utilization)
        .expect("a machine")
        .value;
    let want = seen.cpu / SECONDS;
    assert!((used / want - 1.0).abs() < 0.04, "{used} of {want}\n{text}");
    let all = answer.all.expect("simulated");
    assert!(
        (all.throughput.value / 20.0 - 1.0).abs() < 0.03,
        "{:?}",
        all.throughput
    );
    // The background is nobody's request.
    assert!(
        answer
            .classes
            .get("vm_other")
            .is_some_and(|c| c.throughput.value > 1.0)
    );
}

#[test]
fn demands_that_do_not_come_to_what_was_used_are_refused() {
    let mut seen = recorded();
    seen.cpu *= 1.06;
    let visitors = from_trace(&seen).expect("connections");
    let e = fit(&seen, visitors.clone()).expect_err("refused");
    assert!(e.contains("utilization law is off by -5."), "{e}");
    let mut seen = recorded();
    seen.counted = Some((1.1 * seen.cpu, SECONDS));
    let e = fit(&seen, visitors.clone()).expect_err("refused");
    assert!(e.contains("/proc counted"), "{e}");
    let mut seen = recorded();
    seen.requests.truncate(100);
    assert!(
        fit(&seen, visitors.clone())
            .expect_err("refused")
            .contains("100 whole requests")
    );
    let mut seen = recorded();
    seen.cpu = 90.0;
    assert!(
        fit(&seen, visitors.clone())
            .expect_err("refused")
            .contains("90% of its CPUs")
    );
    seen.cpu = 0.0;
    assert!(
        fit(&seen, visitors)
            .expect_err("refused")
            .contains("kernel level")
    );
}

#[test]
fn a_scenario_must_be_the_one_that_was_recorded() {
    let scenario = |path: &str| {
        let text = format!(
            "name = \"s\"\nstart = \"one\"\n[[interaction]]\nname = \"one\"\npath = \"{path}\"\nnext = {{ one = 3.0, end = 1.0 }}\n"
        );
        loadline_load::Scenario::from_toml(&text, "s").expect("valid")
    };
    let seen = recorded();
    let visitors = from_scenario(&scenario("/a"), &seen).expect("recorded");
    assert!((visitors.clicks - 4.0).abs() < 0.2, "{}", visitors.clicks);
    assert!(
        from_scenario(&scenario("/zzz"), &seen)
            .expect_err("refused")
            .contains("one (GET /zzz)")
    );
}

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
