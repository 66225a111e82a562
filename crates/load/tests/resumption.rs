//! Handshakes are of the kind that the scenario asks for, and counted as what they were.

mod common;

use common::{Behaviour, Server, go, options};
use loadline_load::Versions;

#[test]
fn the_first_connection_of_a_session_is_full_and_the_others_resume() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let server = Server::start(Behaviour::default());
        let summary = go(&options(&server, |s| {
            s.versions = versions;
            s.requests_per_connection = 1;
        }));
        let h = summary.handshakes;
        assert_eq!(
            summary.failures, 0,
            "{versions:?} {:?}",
            summary.failures_by_kind
        );
        assert!(h.resumed > 10, "{versions:?} {h:?}");
        // At the end a session may have begun whose handshake was cut off.
        assert!(
            summary.sessions.started - h.full <= 1,
            "{versions:?} {h:?} {:?}",
            summary.sessions
        );
    }
}

#[test]
fn a_server_that_refuses_tickets_makes_every_handshake_full() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let server = Server::start(Behaviour {
            resumes: false,
            ..Behaviour::default()
        });
        let summary = go(&options(&server, |s| {
            s.versions = versions;
            s.requests_per_connection = 1;
            s.resume_across = 1.0;
        }));
        assert_eq!(
            (summary.handshakes.resumed, summary.failures),
            (0, 0),
            "{versions:?}"
        );
        assert!(summary.handshakes.full > 10);
    }
}

#[test]
fn no_ticket_is_offered_when_the_scenario_says_never() {
    let server = Server::start(Behaviour::default());
    let summary = go(&options(&server, |s| {
        s.requests_per_connection = 1;
        s.resume_within = 0.0;
    }));
    assert_eq!(summary.handshakes.resumed, 0);
    assert!(summary.handshakes.full > 10);
}

#[test]
fn visitors_come_back_with_tickets_of_earlier_sessions() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let server = Server::start(Behaviour::default());
        let summary = go(&options(&server, |s| {
            s.versions = versions;
            s.resume_across = 1.0;
        }));
        assert_eq!(summary.handshakes.full, 1, "{versions:?}");
        assert!(summary.handshakes.resumed > 10, "{versions:?}");
    }
}

#[test]
fn half_of_the_later_connections_resume_when_the_probability_is_a_half() {
    let server = Server::start(Behaviour::default());
    let summary = go(&options(&server, |s| {
        s.requests_per_connection = 1;
        s.resume_within = 0.5;
    }));
    let h = summary.handshakes;
    let later = (h.full + h.resumed - summary.sessions.started) as f64;
    let share = h.resumed as f64 / later;
    // Four standard errors.
    assert!(
        later > 50.0 && (share - 0.5).abs() < 4.0 * (0.25 / later).sqrt(),
        "{share} of {later}"
    );
}

#[test]
fn the_file_agrees_with_the_server_connection_by_connection() {
    let server = Server::start(Behaviour::default());
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("handshakes.csv");
    let mut options = options(&server, |s| {
        s.requests_per_connection = 2;
        s.resume_across = 0.3;
    });
    options.handshakes = Some(file.clone());
    let summary = go(&options);
    let text = std::fs::read_to_string(&file).expect("it was written");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("local_port,kind,version,begin_ns,end_ns,ok")
    );
    let seen = server.seen.lock().expect("seen");
    let mut last_kind = std::collections::HashMap::new();
    let mut rows = 0;
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        let [port, kind, "1.3", begin, end, "true"] = row[..] else {
            panic!("{line}")
        };
        let (begin, end): (u64, u64) = (begin.parse().expect(line), end.parse().expect(line));
        assert!(begin < end && end - begin < 5_000_000_000, "{line}");
        last_kind.insert(port.parse::<u16>().expect(line), kind == "resumed");
        rows += 1;
    }
    assert_eq!(rows, summary.handshakes.full + summary.handshakes.resumed);
    for (port, resumed) in &last_kind {
        assert_eq!(seen.resumed_by_port.get(port), Some(resumed), "port {port}");
    }
}
