//! The layered approximation against simulation: several closed classes, open ones, both together, several layers.

use loadline_model::answer::Answer;
use loadline_model::load::from_text;
use loadline_model::run::{Options, simulate};
use loadline_model::solve::{Solver, evaluate};

fn both(text: &str) -> (Answer, Answer) {
    let model = from_text(text, "test.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let about = evaluate(&model, Solver::Layered, &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options {
        requests: Some(150_000),
        ..Options::default()
    };
    (about, simulate(&model, &options))
}

/// Throughput and mean response of every class within these shares of the simulation's.
fn agree(text: &str, throughput: f64, response: f64) {
    let (about, simulated) = both(text);
    assert_eq!(simulated.problem, None);
    for (name, s) in &simulated.classes.0 {
        let a = about.classes.get(name).unwrap();
        let (x, truth) = (a.throughput.value, s.throughput.value);
        assert!(
            (x - truth).abs() <= throughput * truth,
            "{name}: {x}/s for {truth}\n{text}"
        );
        let (r, truth) = (a.response_time.mean.value, s.response_time.mean.value);
        assert!(
            (r - truth).abs() <= response * truth,
            "{name}: {r} s for {truth}\n{text}"
        );
    }
}

const TWO_LAYERS: &str = "[machines.web]\n[machines.db]\n[pools.web]\nmachine = \"web\"\nthreads = 8\n\
    program = [ { by_class = { read = [ { cpu = \"exp(4ms)\" } ], write = [ { cpu = \"exp(8ms)\" }, { call = \"db\" } ] } }, { call = \"db\" } ]\n\
    [pools.db]\nmachine = \"db\"\nthreads = 3\nprogram = [ { cpu = \"exp(5ms)\" } ]\n";

#[test]
fn two_closed_classes_over_two_layers() {
    for (readers, writers) in [(3, 2), (10, 5), (20, 20)] {
        agree(
            &format!(
                "{TWO_LAYERS}[classes.read]\nclients = {readers}\nthink = \"exp(100ms)\"\nprogram = [ {{ call = \"web\" }} ]\n\
                 [classes.write]\nclients = {writers}\nthink = \"exp(200ms)\"\nprogram = [ {{ call = \"web\" }} ]\n"
            ),
            0.06,
            0.16,
        );
    }
}

#[test]
fn two_open_classes_over_two_layers() {
    for (reads, writes) in [(20, 10), (40, 15), (60, 20)] {
        agree(
            &format!(
                "{TWO_LAYERS}[classes.read]\nrate = {reads}\nprogram = [ {{ call = \"web\" }} ]\n\
                 [classes.write]\nrate = {writes}\nprogram = [ {{ call = \"web\" }} ]\n"
            ),
            0.02,
            0.16,
        );
    }
}

#[test]
fn an_open_class_beside_a_closed_one() {
    agree(
        &format!(
            "{TWO_LAYERS}[classes.read]\nrate = 40\nprogram = [ {{ call = \"web\" }} ]\n\
             [classes.write]\nclients = 6\nthink = \"exp(150ms)\"\nprogram = [ {{ call = \"web\" }} ]\n"
        ),
        0.06,
        0.15,
    );
}

/// lqns regression suite, 34-priority: four customers with think time 4 and demand 1, preemptive priorities 4, 2, 2, 0.
#[test]
fn layered_priorities_by_formula() {
    let mut text = String::from("[stations.p0]\ndiscipline=\"preemptive\"\n");
    for (i, priority) in [4, 2, 2, 0].iter().enumerate() {
        text += &format!(
            "[classes.c{i}]\nclients=1\nthink=\"exp(4)\"\npriority={priority}\nprogram=[{{visit=\"p0\",time=\"exp(1)\"}}]\n"
        );
    }
    let (about, _) = both(&text);
    for (i, truth) in [0.2, 0.174648, 0.174648, 0.140025].iter().enumerate() {
        let x = about.classes.0[i].1.throughput.value;
        assert!(
            (x - truth).abs() < 0.04 * truth,
            "class {i}: {x} of {truth}"
        );
    }
}

#[test]
fn more_than_a_layer_can_do_is_unstable() {
    let text = format!(
        "{TWO_LAYERS}[classes.read]\nrate = 90\nprogram = [ {{ call = \"web\" }} ]\n\
        [classes.write]\nrate = 70\nprogram = [ {{ call = \"web\" }} ]\n"
    );
    let model = from_text(&text, "t.toml", &[]).unwrap();
    let problem = evaluate(&model, Solver::Layered, &Options::default())
        .unwrap()
        .problem
        .unwrap();
    assert!(problem.contains("unstable"), "{problem}");
}

#[test]
fn auto_answers_at_once_and_simulation_confirms() {
    let text = format!(
        "{TWO_LAYERS}[classes.read]\nclients = 10\nthink = \"exp(100ms)\"\nprogram = [ {{ call = \"web\" }} ]\n\
         [classes.write]\nclients = 5\nthink = \"exp(200ms)\"\nprogram = [ {{ call = \"web\" }} ]\n"
    );
    let options = Options {
        requests: Some(100_000),
        ..Options::default()
    };
    let answer = evaluate(
        &from_text(&text, "t.toml", &[]).unwrap(),
        Solver::Auto,
        &options,
    )
    .unwrap();
    assert_eq!(answer.solver, "simulation");
    let at_once = answer.at_once.as_ref().unwrap();
    assert_eq!(at_once.solver, "layered approximation");
    let (said, simulated) = (
        at_once.classes.get("read").unwrap(),
        answer.classes.get("read").unwrap(),
    );
    assert!(
        (said.response_time / simulated.response_time.mean.value - 1.0).abs() < 0.12,
        "{said:?}"
    );
    assert!(
        loadline_model::answer::answer_text(&answer)
            .contains("at once: layered approximation says read")
    );
    // Nothing approximate beside what is exact.
    let mm1 = "[stations.q]\n[classes.request]\nrate = 0.5\nprogram = [ { visit = \"q\", time = \"exp(1)\" } ]\n";
    let exact = evaluate(
        &from_text(mm1, "t.toml", &[]).unwrap(),
        Solver::Auto,
        &options,
    )
    .unwrap();
    assert!(exact.at_once.is_none() && exact.run.is_none());
}
