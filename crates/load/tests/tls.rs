//! Certificates, HTTP/2, forged tickets, and what every handshake is counted as.

mod common;

use common::{Behaviour, Server, go, options};
use loadline_load::{Error, Failure, Http, Keys, Trust, Versions, run};
use rustls::pki_types::pem::PemObject;
use std::sync::atomic::AtomicBool;

fn refused(options: &loadline_load::Options) -> String {
    run(options, &AtomicBool::new(false), &mut |_| {})
        .expect_err("it must not run")
        .to_string()
}

#[test]
fn a_certificate_that_is_not_trusted_is_an_error_with_its_remedy() {
    let server = Server::start(Behaviour::default());
    let mut options = options(&server, |_| {});
    options.trust = Trust::System;
    let error = refused(&options);
    // A machine without a list of authorities has another remedy of the same name.
    assert!(
        error.contains("--insecure") && error.contains("--ca"),
        "{error}"
    );
}

#[test]
fn the_servers_own_certificate_in_the_file_is_trusted_and_another_is_not() {
    let server = Server::start(Behaviour::default());
    let dir = tempfile::tempdir().expect("a directory");
    let (own, other) = (dir.path().join("own.pem"), dir.path().join("other.pem"));
    std::fs::write(&own, server.certificate_pem()).expect("written");
    let stranger = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("made");
    std::fs::write(&other, stranger.cert.pem()).expect("written");
    assert!(rustls::pki_types::CertificateDer::from_pem_file(&own).is_ok());

    let mut options = options(&server, |_| {});
    options.target.host = "localhost".into();
    options.trust = Trust::File(own.clone());
    let summary = go(&options);
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    assert!(summary.replies > 10);

    options.trust = Trust::File(other);
    let error = run(&options, &AtomicBool::new(false), &mut |_| {}).expect_err("not trusted");
    assert!(matches!(error, Error::Untrusted { .. }), "{error}");

    // The right certificate for the wrong name.
    options.target.host = "127.0.0.1".into();
    options.trust = Trust::File(own);
    let error = refused(&options);
    assert!(error.contains("another host name"), "{error}");

    let empty = dir.path().join("empty.pem");
    std::fs::write(&empty, "nothing").expect("written");
    options.trust = Trust::File(empty);
    assert!(refused(&options).contains("no certificate in PEM form"));
}

#[test]
fn http2_asks_on_one_connection_and_a_server_without_it_is_an_error() {
    let server = Server::start_http2();
    let summary = go(&options(&server, |s| s.http = Http::Two));
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    let h = summary.handshakes;
    assert!(
        summary.replies > 2 * (h.full + h.resumed) && h.full > 0,
        "{} {h:?}",
        summary.replies
    );
    assert!(
        summary.phases.wait.count == summary.replies
            || summary.phases.wait.count == summary.replies + 1
    );

    let old = Server::start(Behaviour::default());
    let error = refused(&options(&old, |s| s.http = Http::Two));
    assert!(
        error.contains("does not speak HTTP/2") && error.contains("--http 1.1"),
        "{error}"
    );
}

#[test]
fn http2_fetches_resources_on_the_connection_of_the_page() {
    let server = Server::start_http2();
    let summary = go(&options(&server, |s| {
        s.http = Http::Two;
        s.client.resources = true;
    }));
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    assert!(
        summary.resources.fetched.count > 10,
        "{:?}",
        summary.resources
    );
    let shaken = summary.handshakes.full + summary.handshakes.resumed;
    let connected = summary.phases.tcp.count;
    // The end may come between a connection and its handshake.
    assert!(
        connected == shaken || connected == shaken + 1,
        "{connected} {shaken}"
    );
}

#[test]
fn a_forged_ticket_is_offered_and_declined() {
    for versions in [Versions::Tls12, Versions::Tls13] {
        let server = Server::start(Behaviour {
            tickets: true,
            ..Behaviour::default()
        });
        let summary = go(&options(&server, |s| {
            s.versions = versions;
            s.tickets.forged = 1.0;
            s.requests_per_connection = 1;
        }));
        let h = summary.handshakes;
        assert_eq!(
            summary.failures, 0,
            "{versions:?} {:?}",
            summary.failures_by_kind
        );
        assert_eq!(h.resumed, 0, "{versions:?}");
        assert!(
            h.full > 10 && h.tickets_forged >= h.full,
            "{versions:?} {h:?}"
        );
        assert_eq!(h.tickets_declined, h.full, "{versions:?}");
    }
}

#[test]
fn forged_tickets_need_a_forger_that_is_trusted() {
    let server = Server::start(Behaviour::default());
    let error = refused(&options(&server, |s| {
        s.tickets.forged = 0.5;
        s.keys = Keys::Ecdsa;
    }));
    assert!(error.contains("tls.forged needs"), "{error}");
}

#[test]
fn the_oldest_ticket_resumes_too_and_a_dead_one_is_not_offered() {
    let server = Server::start(Behaviour::default());
    let summary = go(&options(&server, |s| {
        s.requests_per_connection = 1;
        s.tickets.stale = 1.0;
    }));
    assert!(summary.handshakes.resumed > 10, "{:?}", summary.handshakes);
    let summary = go(&options(&server, |s| {
        s.requests_per_connection = 1;
        s.tickets.life = Some(std::time::Duration::ZERO);
    }));
    let h = summary.handshakes;
    assert_eq!((h.resumed, h.tickets_declined), (0, 0), "{h:?}");
}

#[test]
fn a_server_without_the_key_that_is_asked_for_fails_the_handshake() {
    // The test server's key is ECDSA.
    let server = Server::start(Behaviour::default());
    assert_eq!(go(&options(&server, |s| s.keys = Keys::Ecdsa)).failures, 0);
    let summary = go(&options(&server, |s| s.keys = Keys::Rsa));
    let kinds: Vec<_> = summary.failures_by_kind.into_keys().collect();
    assert_eq!(kinds, [Failure::Tls]);
    assert_eq!(summary.sessions.refused, summary.sessions.broken);
}

#[test]
fn a_full_handshake_receives_the_certificate_and_a_resumed_one_does_not() {
    let server = Server::start(Behaviour::default());
    let summary = go(&options(&server, |s| s.requests_per_connection = 1));
    let h = summary.handshakes;
    assert!(
        h.full_bytes.received > h.resumed_bytes.received + 300.0,
        "{h:?}"
    );
    assert!(
        h.full_bytes.sent > 150.0 && h.resumed_bytes.sent > h.full_bytes.sent,
        "{h:?}"
    );
}
