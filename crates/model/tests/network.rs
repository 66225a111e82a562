//! Links, connections and handshakes against what their parts add up to.

use loadline_model::answer::Answer;
use loadline_model::language::from_text;
use loadline_model::run::{Options, simulate};

fn run(text: &str, requests: u64) -> Answer {
    let model = from_text(text, "test.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options {
        requests: Some(requests),
        seed: 5,
        ..Options::default()
    };
    let answer = simulate(&model, &options);
    assert_eq!(answer.problem, None, "{text}");
    answer
}

fn response(a: &Answer) -> f64 {
    a.classes.get("request").unwrap().response_time.mean.value
}

fn assert_near(value: f64, truth: f64, tolerance: f64) {
    assert!(
        (value - truth).abs() <= tolerance * truth,
        "{value} is not {truth}"
    );
}

const SERVER: &str = "[machines.m]\n[links.lan]\nlatency = \"1ms\"\nbandwidth = \"8 Mbit\"\n\
    [tls.site]\nfull_cpu = \"10ms\"\nresumed_cpu = \"2ms\"\nfull_round_trips = 2\nresumed_round_trips = 1\n\
    [pools.web]\nmachine = \"m\"\nthreads = 8\n[pools.web.entries]\npage = [ { cpu = \"5ms\" } ]\n\
    full = [ { handshake = \"site\", link = \"lan\" } ]\nresumed = [ { handshake = \"site\", resumed = 1, link = \"lan\" } ]\n";

fn with_client(client: &str) -> String {
    // Pools must be asked by somebody, or loading warns; warnings do not matter here.
    format!("{SERVER}[classes.request]\n{client}\n")
}

#[test]
fn a_call_over_a_link_takes_latency_bytes_and_service() {
    // 1 kB at 1 MB/s is 1 ms, 3 kB are 3: 1 + 1 + 5 + 3 + 1 ms.
    let text = with_client(
        "clients = 1\nprogram = [ { call = \"web.page\", link = \"lan\", request_bytes = \"1kB\", reply_bytes = \"3kB\" } ]",
    );
    assert_near(response(&run(&text, 1_000)), 0.011, 1e-6);
}

#[test]
fn connecting_takes_a_round_trip_and_handshakes_theirs() {
    let connect = with_client("clients = 1\nprogram = [ { connect = \"lan\" } ]");
    assert_near(response(&run(&connect, 1_000)), 0.002, 1e-6);
    // 10 ms and two round trips of 2 ms; 2 ms and one.
    for (entry, time) in [("full", 0.014), ("resumed", 0.004)] {
        let text = with_client(&format!(
            "clients = 1\nprogram = [ {{ call = \"web.{entry}\" }} ]"
        ));
        let a = run(&text, 1_000);
        assert_near(response(&a), time, 1e-6);
        let phase = a.phases.get(&format!("handshake, {entry}")).unwrap();
        assert_near(phase.time.value, time, 1e-6);
    }
}

/// Transfers of one length over a link that is shared queue as M/D/1: W = 1 + 0.8 / 0.4 = 3 at 80%.
#[test]
fn a_shared_link_is_a_queue() {
    let text = "[links.lan]\nbandwidth = \"1000\"\nshared = true\n[classes.request]\nrate = 0.8\n\
        program = [ { transfer = \"lan\", bytes = 1000 } ]\n";
    assert_near(response(&run(text, 600_000)), 3.0, 0.02);
    // Not shared, nobody waits for anybody.
    assert_near(
        response(&run(&text.replace("shared = true", ""), 50_000)),
        1.0,
        1e-6,
    );
}

#[test]
fn a_connection_is_kept_until_its_requests_are_used_up() {
    // Full handshake and connect: 2 + 14 ms; later ones resume: 2 + 4 ms; each carries four requests of 5 ms.
    let client = |each: &str| {
        with_client(&format!(
            "clients = 1\n{each}\nprogram = [ {{ keep_alive = \"web\", requests = 4, \
             open = [ {{ connect = \"lan\" }}, {{ call = \"web.full\" }} ], reopen = [ {{ connect = \"lan\" }}, {{ call = \"web.resumed\" }} ] }}, \
             {{ call = \"web.page\" }} ]"
        ))
    };
    assert_near(
        response(&run(&client(""), 4_000)),
        0.005 + 0.006 / 4.0,
        1e-3,
    );
    // A run of ten requests: opened in full once, and twice again.
    assert_near(
        response(&run(&client("each = 10"), 10)),
        0.005 + (0.016 + 2.0 * 0.006) / 10.0,
        1e-3,
    );
}

#[test]
fn a_connection_that_lies_idle_for_too_long_is_closed() {
    for (think, time) in [("0.9s", 0.005), ("1.1s", 0.011)] {
        let text = with_client(&format!(
            "clients = 3\nthink = \"{think}\"\nprogram = [ {{ keep_alive = \"web\", idle = \"1s\", \
             open = [ {{ connect = \"lan\" }}, {{ call = \"web.resumed\" }} ] }}, {{ call = \"web.page\" }} ]"
        ))
        // Enough cores that the three do not disturb each other.
        .replace("[machines.m]", "[machines.m]\ncores = 8");
        assert_near(response(&run(&text, 6_000)), time, 5e-3);
    }
}

#[test]
fn a_client_that_times_out_opens_its_connection_anew() {
    // Requests of 2 s with a time-out of 1.5 s: every attempt fails and closes the connection, so each opens it (0.25 s
    // of the 1.5) and none ever completes.
    let text = "[stations.s]\nservers = \"unlimited\"\n[classes.request]\nclients = 1\ntimeout = 1.5\n\
        program = [ { keep_alive = \"c\", open = [ { phase = \"open\", do = [ { wait = 0.25 } ] } ] }, { visit = \"s\", time = 2 } ]\n";
    let a = run(text, 1_000);
    let opened = a.phases.get("open").unwrap().throughput.value;
    assert_near(opened, 1.0 / 1.5, 5e-3);
}

#[test]
fn pooled_connections_are_opened_when_needed_and_closed_when_idle_or_worn_out() {
    let pool = |keys: &str, think: &str| {
        format!(
            "[resources.db]\nkind = \"connections\"\nunits = 2\nconnect = 1\n{keys}\n[classes.request]\nclients = 1\nthink = {think}\n\
             program = [ {{ acquire = \"db\", do = [ {{ wait = 1 }} ] }} ]\n"
        )
    };
    // Opened once in the whole run; after every third use; after every pause longer than the time-out.
    assert_near(response(&run(&pool("", "1"), 5_000)), 1.0, 1e-3);
    assert_near(
        response(&run(&pool("uses = 3", "1"), 5_000)),
        1.0 + 1.0 / 3.0,
        1e-3,
    );
    assert_near(
        response(&run(&pool("idle_timeout = 0.5", "1"), 5_000)),
        2.0,
        1e-3,
    );
    assert_near(
        response(&run(&pool("idle_timeout = 1.5", "1"), 5_000)),
        1.0,
        1e-3,
    );
}
