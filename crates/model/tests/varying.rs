//! Loads that change over a run: known answers of each part of it, and what is refused.

use loadline_model::answer::Answer;
use loadline_model::language::from_text;
use loadline_model::model::Model;
use loadline_model::run::{Options, simulate};
use loadline_model::sweep::{Range, SweepError, sweep_of};

fn model(text: &str) -> Model {
    from_text(text, "t.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn run(text: &str) -> Answer {
    simulate(&model(text), &Options::default())
}

fn station(arrivals: &str) -> String {
    format!(
        "[machines.m]\n[pools.p]\nmachine = \"m\"\nthreads = 50\nprogram = [ {{ cpu = \"exp(10ms)\" }} ]\n\
         [classes.r]\n{arrivals}\nprogram = [ {{ call = \"p\" }} ]\n"
    )
}

/// The mean of a figure over the intervals between two times.
fn between(
    a: &Answer,
    from: f64,
    to: f64,
    of: fn(&loadline_model::answer::Interval) -> f64,
) -> f64 {
    let within = a
        .over_time
        .iter()
        .filter(|i| i.from >= from - 1e-9 && i.to <= to + 1e-9);
    let values: Vec<f64> = within.map(of).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// M/M/1 (shared) at 0.2, then at 0.6 of its server: 12.5 and 25 ms, once a step is some time ago.
#[test]
fn each_step_is_answered_as_if_it_were_alone() {
    let a = run(&station(
        "rate = 20\nphase = [ { for = \"1m\", level = 1 }, { for = \"1m\", level = 3 } ]",
    ));
    assert_eq!((a.over_time.len(), a.problem.as_deref()), (60, None));
    for (from, to, rate, mean) in [(5.0, 60.0, 20.0, 0.0125), (65.0, 120.0, 60.0, 0.025)] {
        let near = |what: &str, value: f64, truth: f64| {
            assert!(
                (value / truth - 1.0).abs() < 0.06,
                "{what} from {from}: {value}, not {truth}"
            );
        };
        near("offered", between(&a, from, to, |i| i.offered), rate);
        near(
            "completed",
            between(&a, from, to, |i| i.throughput.value),
            rate,
        );
        near(
            "used",
            between(&a, from, to, |i| i.utilization.0[0].1),
            rate * 0.01,
        );
        near("response", between(&a, from, to, |i| i.mean), mean);
    }
    assert!(loadline_model::answer::answer_text(&a).contains("offered/s"));
}

#[test]
fn an_overload_that_passes_is_no_instability() {
    let a = run(&station(
        "rate = 50\nphase = [ { for = \"10s\", level = 1 }, { for = \"5s\", from = 1, to = 4 }, { for = \"20s\", level = 0.5 } ]",
    ));
    assert_eq!(a.problem, None);
    let (peak, end) = (
        between(&a, 14.0, 16.0, |i| i.mean),
        between(&a, 33.0, 35.0, |i| i.mean),
    );
    // 50 + 250 + … : the ramp brings 625 requests in 5 s, of which 500 are served.
    assert!(peak > 0.5 && end < 0.1, "{peak} {end}");
    let offered = a.all.as_ref().expect("simulated").offered * 35.0;
    assert!(
        (offered / (500.0 + 625.0 + 500.0) - 1.0).abs() < 0.05,
        "{offered}"
    );
}

#[test]
fn a_load_that_repeats_has_a_steady_state() {
    let a = run(&station(
        "rate = 40\nrepeat = true\nphase = [ { for = \"1s\", level = 0.5 }, { for = \"1s\", level = 1.5 } ]",
    ));
    assert!(a.over_time.is_empty() && a.problem.is_none());
    let rate = a.all.as_ref().expect("simulated").throughput.value;
    assert!((rate / 40.0 - 1.0).abs() < 0.03, "{rate}");
}

#[test]
fn a_log_is_replayed_once() {
    let path = std::env::temp_dir().join(format!("loadline-varying-{}.log", std::process::id()));
    let lines: String = (0..50)
        .map(|i| {
            format!("10.0.0.{i} - - [10/Oct/2000:13:55:{i:02} +0000] \"GET /a HTTP/1.1\" 200 1\n")
        })
        .collect();
    std::fs::write(&path, lines).expect("written");
    let text = station(&format!("replay = {path:?}\nspeed = 5"));
    let a = run(&text);
    std::fs::remove_file(&path).expect("was there");
    // 50 sessions, a second apart, five times as fast; the last comes as the run ends.
    let all = a.all.as_ref().expect("simulated");
    assert!((all.offered - 5.1).abs() < 0.15, "{}", all.offered);
    assert!((a.over_time.last().expect("intervals").to - 9.8).abs() < 1e-6);
    // Told apart from every 0.2 s: at 10 ms each nobody waits for another.
    assert!((all.response_time.mean.value - 0.01).abs() < 0.002);
}

#[test]
fn a_schedule_from_elsewhere_changes_what_is_asked_and_no_background() {
    let text = station("rate = 20")
        + "[classes.vm]\nbackground = true\nrate = 1\nprogram = [ { call = \"p\" } ]\n";
    let schedule = {
        let phased = model(&station(
            "rate = 1\nphase = [ { for = \"20s\", from = 0, to = 2 } ]",
        ));
        match &phased.sources[0].arrivals {
            loadline_model::model::Arrivals::Varying { schedule, .. } => schedule.clone(),
            other => panic!("{other:?}"),
        }
    };
    let load = |all: &[(String, String)]| -> Result<Model, SweepError> {
        let mut m = from_text(&text, "t.toml", all)?;
        m.vary(&schedule).expect("it has a rate");
        Ok(m)
    };
    let ranges = [Range::parse("x=1").expect("valid")];
    let missing = sweep_of(
        &load,
        &[],
        &ranges,
        loadline_model::solve::Solver::Auto,
        &Options::default(),
    );
    assert!(
        missing
            .expect_err("no such parameter")
            .to_string()
            .contains("no such parameter")
    );
    let a = simulate(&load(&[]).expect("valid"), &Options::default());
    let all = a.all.as_ref().expect("simulated");
    assert!((all.offered / 20.0 - 1.0).abs() < 0.05, "{}", all.offered);
    let vm = a.classes.get("vm").expect("a class").throughput.value;
    assert!((vm - 1.0).abs() < 0.3, "{vm}");
    let mut closed = model(&station("clients = 3"));
    assert!(
        closed
            .vary(&schedule)
            .expect_err("no rate")
            .contains("nothing in the model comes at a `rate`")
    );
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    for (arrivals, part) in [
        (
            "clients = 3\nphase = [ { for = \"1s\", level = 1 } ]",
            "phases change a rate",
        ),
        (
            "rate = 3\nphase = [ { for = \"1s\", level = 1, to = 2 } ]",
            "a phase has level, or from and to",
        ),
        (
            "rate = 3\nphase = [ { for = \"1s\", level = -1 } ]",
            "level: it is -1",
        ),
        ("rate = 3\nphase = [ { level = 1 } ]", "for is missing"),
        (
            "rate = 3\nrepeat = true\nphase = [ { for = \"1s\", level = 0 } ]",
            "nobody would ever arrive",
        ),
        ("rate = 3\nspeed = 2", "give `replay` beside it"),
        ("replay = \"no-such.log\"", "no-such.log cannot be read"),
    ] {
        let e = from_text(&station(arrivals), "t.toml", &[])
            .expect_err(part)
            .to_string();
        assert!(e.contains(part) && e.starts_with("t.toml:"), "{e}");
    }
}
