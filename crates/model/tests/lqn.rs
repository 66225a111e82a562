//! Exchange with layered queueing networks: known answers from XML, a model there and back, what is refused and where,
//! and damaged files.

use loadline_model::answer::Answer;
use loadline_model::language::from_text;
use loadline_model::lqn::{export, import};
use loadline_model::model::Model;
use loadline_model::run::Options;
use loadline_model::solve::{Solver, evaluate};
use loadline_stats::random::{Random, Stream};

fn file(name: &str) -> String {
    let path = format!("{}/tests/lqn/{name}.lqnx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn model(toml: &str) -> Model {
    from_text(toml, "test.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"))
}

fn simulated(model: &Model, requests: u64) -> Answer {
    let options = Options {
        requests: Some(requests),
        ..Options::default()
    };
    evaluate(model, Solver::Simulate, &options).expect("an answer")
}

fn imported(name: &str, requests: u64) -> Answer {
    let toml = import(&file(name), name).unwrap_or_else(|e| panic!("{e}"));
    simulated(&model(&toml), requests)
}

fn throughput(a: &Answer, class: &str) -> f64 {
    let found = a.classes.0.iter().find(|c| c.0 == class);
    found
        .unwrap_or_else(|| panic!("no class {class}"))
        .1
        .throughput
        .value
}

fn near(what: &str, got: f64, truth: f64, share: f64) {
    assert!(
        (got - truth).abs() <= share * truth,
        "{what}: {got}, not {truth}"
    );
}

/// What lqns' regression tests of these shapes answer (20-multiserver, 31-overtaking, 34-priority; Franks et al., 2009).
#[test]
fn the_known_answers_of_lqns_come_out_of_its_xml() {
    near(
        "multiserver",
        throughput(&imported("multiserver", 300_000), "users"),
        1.7,
        0.01,
    );
    near(
        "overtaking",
        throughput(&imported("overtaking", 300_000), "client"),
        0.4,
        0.01,
    );
    let a = imported("priorities", 1_000_000);
    near("first", throughput(&a, "c0"), 0.2, 0.01);
    // lqns approximates these; the simulation is to agree with it to a percent and a half.
    for (class, truth) in [("c1", 0.174648), ("c2", 0.174648), ("c3", 0.140025)] {
        near(class, throughput(&a, class), truth, 0.015);
    }
}

/// 60-semaphore and 66-rwlock, which lqsim simulates.
#[test]
fn semaphores_and_locks_of_lqsim_are_taken_and_given_back() {
    near(
        "semaphore",
        throughput(&imported("semaphore", 200_000), "client"),
        0.307657,
        0.03,
    );
    near(
        "readers",
        throughput(&imported("readers", 200_000), "client"),
        0.250056,
        0.01,
    );
}

/// A cycle takes 5 (thinking) + 1 + 0.4 * 2 + 0.6 * 3 + 3 + 4 and never meets the second phase.
#[test]
fn a_graph_of_activities_takes_as_long_as_its_ways() {
    let a = imported("graph", 100_000);
    near("X", throughput(&a, "client"), 1.0 / 15.6, 0.01);
}

fn shipped(name: &str) -> Model {
    let path = format!("{}/../../models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    loadline_model::language::from_file(std::path::Path::new(&path), &[]).expect("a shipped model")
}

#[test]
fn a_model_that_a_network_can_say_comes_back_with_the_same_answer() {
    let there = shipped("tomcat");
    let exported = export(&there).expect("nothing in it has no word");
    assert_eq!(exported.remarks, []);
    let back = model(&import(&exported.xml, "tomcat.lqnx").expect("what we wrote"));
    let (a, b) = (simulated(&there, 200_000), simulated(&back, 200_000));
    let mean = |a: &Answer| a.classes.0[0].1.response_time.mean.value;
    near("response", mean(&b), mean(&a), 0.03);
    let used = |a: &Answer, part: &str| a.stations.get(part).unwrap().utilization.unwrap().value;
    for machine in ["tomcat", "database"] {
        near(machine, used(&b, machine), used(&a, machine), 0.02);
    }
}

/// Forwarding, a second phase, branches, loops, a fork, a lock, a station, classes: one of each.
const MUCH: &str = r#"
[machines.m]
cores = 2
[resources.lock]
kind = "mutex"
[stations.disk]
servers = 2
[pools.front]
machine = "m"
threads = 3
program = [ { cpu = "exp(0.01)" }, { by_class = { a = [ { forward = "back.a" } ], b = [ { forward = "back.b" } ] } }, { cpu = "exp(0.01)" } ]
[pools.back]
machine = "m"
threads = 4
[pools.back.entries]
a = [ { cpu = "exp(0.02)" }, { lock = "lock", do = [ { cpu = "exp(0.03)" } ] }, { branch = [ { p = 0.25, do = [ { visit = "disk", time = "exp(0.2)" } ] } ] }, { reply = true }, { cpu = "exp(0.01)" } ]
b = [ { repeat = 3, do = [ { cpu = 0.01 }, { visit = "disk", time = "exp(0.02)" }, { cpu = 0.01 } ] }, { fork = [ [ { visit = "disk", time = "exp(0.05)" } ], [ { wait = "exp(0.05)" } ] ] } ]
[classes.a]
clients = 4
think = "exp(0.5)"
program = [ { call = "front" }, { wait = 0.1 } ]
[classes.b]
rate = 4
program = [ { call = "front" } ]
"#;

#[test]
fn every_word_that_both_have_survives_there_and_back() {
    let there = model(MUCH);
    let exported = export(&there).expect("all of it has a word");
    assert_eq!(exported.remarks, []);
    let back = model(
        &import(&exported.xml, "much.lqnx").unwrap_or_else(|e| panic!("{e}\n{}", exported.xml)),
    );
    let (a, b) = (simulated(&there, 200_000), simulated(&back, 200_000));
    near("a", throughput(&b, "a"), throughput(&a, "a"), 0.02);
    let used = |a: &Answer, part: &str| a.stations.get(part).unwrap().utilization.unwrap().value;
    near("m", used(&b, "m"), used(&a, "m"), 0.02);
    near("lock", used(&b, "lock"), used(&a, "lock"), 0.6);
    let mean = |a: &Answer, i: usize| a.classes.0[i].1.response_time.mean.value;
    let open = b
        .classes
        .0
        .iter()
        .position(|c| c.0.starts_with("b_"))
        .expect("open arrivals");
    near("b", mean(&b, open), mean(&a, 1), 0.05);
}

#[test]
fn what_a_network_cannot_say_is_listed_with_its_place() {
    let said: Vec<String> = export(&shipped("weather"))
        .expect("a network")
        .remarks
        .iter()
        .map(ToString::to_string)
        .collect();
    for part in [
        "machines.web: scheduler round-robin",
        "heaps.web: its pauses",
    ] {
        assert!(
            said.iter().any(|s| s.contains(part)),
            "{part} is not in {said:?}"
        );
    }
    let open_section = "[machines.m]\n[resources.r]\nkind = \"semaphore\"\nunits = 1\n[pools.p]\nmachine = \"m\"\n\
        program = [ { acquire = \"r\" }, { cpu = 1 } ]\n[classes.c]\nclients = 1\nprogram = [ { call = \"p\" } ]\n";
    let refused = export(&model(open_section)).expect_err("it is never released");
    assert_eq!(refused.place, "pools.p");
    assert!(refused.what.contains("r is not released"), "{refused}");
}

#[test]
fn what_the_model_language_cannot_say_is_refused_with_its_line() {
    let good = file("multiserver");
    for (what, with, line, part) in [
        (
            "scheduling=\"fcfs\" multiplicity=\"2\"",
            "scheduling=\"burst\"",
            16,
            "\"burst\" cannot be said here",
        ),
        (
            "scheduling=\"inf\">\n    <task name=\"server\"",
            "scheduling=\"cfs\">\n    <task name=\"server\"",
            15,
            "\"cfs\"",
        ),
        (
            "dest=\"serve\"",
            "dest=\"server\"",
            9,
            "did you mean \"serve\"?",
        ),
        (
            "host-demand-mean=\"1\"",
            "host-demand-mean=\"$d\"",
            19,
            "variable of lqx",
        ),
        (
            "host-demand-mean=\"1\"",
            "host-demand-mean=\"-1\"",
            19,
            "0 or more",
        ),
        (
            "multiplicity=\"2\"",
            "multiplicity=\"2\" replication=\"3\"",
            16,
            "replication",
        ),
        (
            "<entry name=\"serve\"",
            "<fan-in source=\"users\" value=\"2\"/><entry name=\"serve\"",
            17,
            "<fan-in>",
        ),
        (
            "think-time=\"1\">",
            "think-time=\"1\"><entry name=\"serve\" type=\"NONE\"/>",
            17,
            "there already, in line 5",
        ),
        ("</lqn-model>", "", 0, "XML"),
    ] {
        let bad = good.replacen(what, with, 1);
        assert_ne!(bad, good, "{what} is not in the file");
        let error = import(&bad, "bad.lqnx").expect_err(what);
        assert!(error.message.contains(part), "{what}: {error}");
        if line > 0 {
            assert_eq!(error.line, line, "{what}: {error}");
        }
    }
}

/// A way that forks and never joins has two to the power of forty ends.
#[test]
fn a_graph_without_end_is_refused_and_not_walked() {
    let mut xml = String::from(
        "<lqn-model name=\"x\"><processor name=\"p\" scheduling=\"inf\"><task name=\"t\" scheduling=\"ref\"><entry name=\"e\" type=\"NONE\"/>\
         <task-activities><activity name=\"a0\" host-demand-mean=\"1\" bound-to-entry=\"e\"/>",
    );
    for i in 0..40 {
        let n = i + 1;
        xml += &format!(
            "<activity name=\"b{i}\" host-demand-mean=\"1\"/><activity name=\"c{i}\" host-demand-mean=\"1\"/><activity name=\"a{n}\" host-demand-mean=\"1\"/>\
             <precedence><pre><activity name=\"a{i}\"/></pre><post-OR><activity name=\"b{i}\" prob=\"0.5\"/><activity name=\"c{i}\" prob=\"0.5\"/></post-OR></precedence>\
             <precedence><pre><activity name=\"b{i}\"/></pre><post><activity name=\"a{n}\"/></post></precedence>\
             <precedence><pre><activity name=\"c{i}\"/></pre><post><activity name=\"a{n}\"/></post></precedence>"
        );
    }
    xml += "</task-activities></task></processor></lqn-model>";
    let error = import(&xml, "wide.lqnx").expect_err("too many ways");
    assert!(error.message.contains("too many ways"), "{error}");
}

/// Bytes that are changed, cut out and doubled: an answer or an error with a file, never a panic or an endless walk.
#[test]
fn damaged_files_are_answered() {
    let names = [
        "multiserver",
        "overtaking",
        "priorities",
        "semaphore",
        "readers",
        "graph",
    ];
    let mut stream = Stream::new(22, "damage");
    let mut below = |n: usize| (stream.uniform() * n as f64) as usize;
    let (mut read, mut refused) = (0, 0);
    for round in 0..3_000 {
        let mut bytes = file(names[round % names.len()]).into_bytes();
        for _ in 0..1 + below(4) {
            let at = below(bytes.len());
            match below(3) {
                0 => bytes[at] = 32 + below(95) as u8,
                1 => drop(bytes.drain(at..(at + 1 + below(30)).min(bytes.len()))),
                _ => {
                    let piece = bytes[at..(at + below(60)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match import(&text, "damaged.lqnx") {
            Ok(_) => read += 1,
            Err(e) => {
                assert!(!e.message.is_empty());
                refused += 1;
            }
        }
    }
    assert!(read > 50 && refused > 500, "{read} read, {refused} refused");
}
