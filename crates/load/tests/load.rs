//! What counts as success, what as failure, and from when time is measured.

mod common;

use common::{Behaviour, PAGE, Server, go, options, rate};
use loadline_load::{Arrivals, Error, Failure, Target, run};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// All failures of a run against a server that behaves so.
fn only_failure(behaviour: Behaviour, timeout_ms: u64) -> (Failure, u64) {
    let server = Server::start(behaviour);
    let summary = go(&options(&server, |s| {
        s.timeout = Duration::from_millis(timeout_ms)
    }));
    assert_eq!(summary.replies, 0);
    assert_eq!(summary.sessions.completed, 0);
    assert_eq!(summary.failures, summary.sessions.broken);
    assert!(
        summary
            .warnings
            .iter()
            .any(|w| w.contains("not one reply was right")),
        "{:?}",
        summary.warnings
    );
    let mut kinds = summary.failures_by_kind.into_iter();
    let only = kinds.next().expect("a failure");
    assert_eq!(kinds.next(), None);
    only
}

#[test]
fn a_late_reply_is_a_timeout_and_the_visitor_leaves() {
    let (kind, count) = only_failure(
        Behaviour {
            delay: Duration::from_millis(400),
            ..Behaviour::default()
        },
        150,
    );
    assert_eq!(kind, Failure::Timeout);
    // One user, at most one session per 150 ms and the pause after a failure.
    assert!((2..=5).contains(&count), "{count}");
}

#[test]
fn an_error_page_is_never_a_success() {
    for (reply, kind) in [
        (
            "HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nPAGE",
            Failure::ServerError,
        ),
        (
            "HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nPAGE",
            Failure::ServerError,
        ),
        (
            "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nPAGE",
            Failure::Status,
        ),
        (
            "HTTP/1.1 302 No\r\nContent-Length: 4\r\n\r\nPAGE",
            Failure::Status,
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nERROR",
            Failure::WrongPage,
        ),
        ("SMTP ready\r\n\r\n", Failure::BadReply),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nPAGE",
            Failure::Timeout,
        ),
    ] {
        // Long enough that only a reply without end is late, on a busy machine too.
        let timeout_ms = if kind == Failure::Timeout { 150 } else { 5000 };
        let behaviour = Behaviour {
            reply,
            ..Behaviour::default()
        };
        assert_eq!(only_failure(behaviour, timeout_ms).0, kind, "{reply}");
    }
}

#[test]
fn a_server_without_tls_fails_every_handshake() {
    let server = Server::start(Behaviour {
        plain: true,
        ..Behaviour::default()
    });
    let dir = tempfile::tempdir().expect("a directory");
    let mut options = options(&server, |_| {});
    options.handshakes = Some(dir.path().join("h.csv"));
    let summary = go(&options);
    assert_eq!(
        summary.failures_by_kind.into_keys().collect::<Vec<_>>(),
        [Failure::Tls]
    );
    assert!(summary.handshakes.failed > 2);
    let text = std::fs::read_to_string(dir.path().join("h.csv")).expect("written");
    assert!(
        text.lines()
            .skip(1)
            .all(|l| l.contains(",none,,") && l.ends_with(",false")),
        "{text}"
    );
}

#[test]
fn chunked_replies_and_kept_connections_work() {
    let reply =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nPA\r\n2\r\nGE\r\n0\r\n\r\n";
    let server = Server::start(Behaviour {
        reply,
        ..Behaviour::default()
    });
    let summary = go(&options(&server, |_| {}));
    assert_eq!(summary.failures, 0);
    // Three requests a session, one connection a session.
    assert!(summary.sessions.started - summary.handshakes.full - summary.handshakes.resumed <= 1);
    assert!(summary.replies > 2 * summary.handshakes.full);
}

#[test]
fn visitors_come_from_as_many_addresses_as_the_scenario_says() {
    // The look at the target before the run comes from where the kernel says.
    let probe = "127.0.0.1";
    for (addresses, expected) in [
        (1, vec![probe]),
        (3, vec![probe, "127.1.0.0", "127.1.0.1", "127.1.0.2"]),
    ] {
        let server = Server::start(Behaviour::default());
        let summary = go(&options(&server, |scenario| {
            scenario.client.addresses = addresses;
        }));
        assert_eq!(summary.failures, 0);
        assert!(summary.sessions.started > 3);
        let seen = server.seen.lock().expect("seen").sources.clone();
        let seen: Vec<_> = seen.iter().map(ToString::to_string).collect();
        assert_eq!(seen, expected);
    }
}

#[test]
fn plain_http_is_driven_without_handshakes() {
    let server = Server::start(Behaviour {
        tls: false,
        ..Behaviour::default()
    });
    let summary = go(&options(&server, |_| {}));
    let h = summary.handshakes;
    assert_eq!(
        (summary.failures, h.full, h.resumed, h.failed),
        (0, 0, 0, 0)
    );
    assert!(summary.replies > 50 && summary.phases.tcp.count > 10);
}

#[test]
fn a_connection_that_the_server_closed_while_idle_is_opened_again() {
    let server = Server::start(Behaviour {
        closes_after: 1,
        ..Behaviour::default()
    });
    let summary = go(&options(&server, |s| {
        s.think_mean = Duration::from_millis(5)
    }));
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    assert!(
        summary.reopened > 5 && summary.handshakes.resumed > 5,
        "{} {:?}",
        summary.reopened,
        summary.handshakes
    );
}

#[test]
fn response_times_are_those_of_a_server_that_sleeps_a_known_time() {
    let server = Server::start(Behaviour {
        delay: Duration::from_millis(40),
        ..Behaviour::default()
    });
    let summary = go(&options(&server, |s| {
        s.arrivals = Arrivals::Closed { users: 4 }
    }));
    let wait = summary.phases.wait;
    assert!((40.0..44.0).contains(&wait.p50_ms), "{wait:?}");
    assert!(summary.response.p50_ms >= wait.p50_ms);
}

#[test]
fn arrivals_do_not_wait_for_a_stalled_server_and_the_tail_shows_the_stall() {
    let server = Server::start(Behaviour::default());
    let gate = server.gate.clone();
    let mut options = options(&server, |s| s.arrivals = rate(100.0));
    options.duration = Duration::from_millis(3000);
    let stall = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        let closed = gate.lock().expect("gate");
        let begin = Instant::now();
        std::thread::sleep(Duration::from_millis(1000));
        drop(closed);
        begin.elapsed().as_secs_f64() * 1e3
    });
    let summary = go(&options);
    let stalled_ms = stall.join().expect("the stall ends");
    // 300 expected, standard deviation 17.
    assert!(
        (230..370).contains(&summary.sessions.started),
        "{:?}",
        summary.sessions
    );
    assert_eq!(summary.failures, 0);
    // 100 of the 900 replies waited, evenly from 0 to 1 s: 5% longer than 550 ms, 1% longer than
    // 910. A busy machine only adds to that; who waits for replies before asking again sees one.
    let r = summary.response;
    assert!(
        (350.0..stalled_ms).contains(&r.p95_ms) && r.p99_ms > 800.0,
        "{r:?}"
    );
    assert!(
        (900.0..stalled_ms + 1000.0).contains(&r.max_ms),
        "{r:?}, stalled for {stalled_ms} ms"
    );
}

#[test]
fn one_seed_asks_for_the_same_paths_in_the_same_order() {
    let paths = |seed| {
        let server = Server::start(Behaviour::default());
        let mut options = options(&server, |_| {});
        options.seed = seed;
        go(&options);
        let paths = server.seen.lock().expect("seen").paths.clone();
        paths[..50].to_vec()
    };
    assert_eq!(paths(1), paths(1));
    assert_ne!(paths(1), paths(2));
}

#[test]
fn a_server_that_dies_leaves_a_summary_that_says_so() {
    let server = Server::start(Behaviour::default());
    let mut options = options(&server, |s| s.arrivals = Arrivals::Closed { users: 3 });
    options.duration = Duration::from_millis(3500);
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            server.stop();
        });
        go(&options)
    });
    assert!(summary.replies > 0);
    assert!(
        summary.failures_by_kind.contains_key(&Failure::Connect),
        "{:?}",
        summary.failures_by_kind
    );
    assert!(
        summary
            .warnings
            .iter()
            .any(|w| w.contains("gave no right reply in the last")),
        "{:?}",
        summary.warnings
    );
    // Users of a dead server with no think time pause all the same.
    assert!(summary.failures < 300, "{}", summary.failures);
}

#[test]
fn stopping_early_makes_the_summary_partial() {
    let server = Server::start(Behaviour::default());
    let mut options = options(&server, |_| {});
    options.duration = Duration::from_secs(60);
    let (begin, stop, mut seen) = (Instant::now(), AtomicBool::new(false), 0);
    let summary = run(&options, &stop, &mut |p| {
        seen += 1;
        assert_eq!(p.duration, Duration::from_secs(60));
        stop.store(seen >= 3, Ordering::Relaxed);
    })
    .expect("it runs");
    assert!(
        summary.partial && (0.2..5.0).contains(&summary.seconds) && seen >= 3,
        "{} {seen}",
        summary.seconds
    );
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn what_is_within_the_objective_is_counted_beside() {
    let server = Server::start(Behaviour {
        delay: Duration::from_millis(50),
        ..Behaviour::default()
    });
    let within = |objective_ms: Option<u64>| {
        let sessions = go(&options(&server, |s| {
            s.client.objective = objective_ms.map(Duration::from_millis);
        }))
        .sessions;
        assert!(sessions.completed > 0, "{sessions:?}");
        (
            sessions.good == sessions.completed && sessions.good_replies >= sessions.good,
            sessions.good + sessions.good_replies,
        )
    };
    assert!(within(None).0);
    assert!(within(Some(40_000)).0);
    assert_eq!(within(Some(40)), (false, 0));
}

#[test]
fn threads_share_the_users() {
    let server = Server::start(Behaviour::default());
    let mut options = options(&server, |s| s.arrivals = Arrivals::Closed { users: 5 });
    options.threads = 2;
    let summary = go(&options);
    assert_eq!((summary.failures, summary.generator.threads), (0, 2));
    assert_eq!(
        summary.sessions.active_at_end,
        summary.sessions.started - summary.sessions.completed
    );
    assert!(summary.sessions.active_at_end <= 5);
}

#[test]
fn what_cannot_run_is_refused_with_a_reason() {
    let server = Server::start(Behaviour {
        reply: PAGE,
        ..Behaviour::default()
    });
    let refused = |change: &dyn Fn(&mut loadline_load::Options)| {
        let mut options = options(&server, |_| {});
        change(&mut options);
        run(&options, &AtomicBool::new(false), &mut |_| {}).expect_err("it must not run")
    };
    let elsewhere = refused(&|o| o.target = Target::parse("https://192.0.2.1").expect("valid"));
    assert!(
        matches!(elsewhere, Error::NotLoopback { .. }),
        "{elsewhere}"
    );
    let nobody = refused(&|o| o.target = Target::parse("https://127.0.0.1:1").expect("valid"));
    assert!(
        nobody
            .to_string()
            .starts_with("nothing answers at 127.0.0.1:1:"),
        "{nobody}"
    );
    let file = refused(&|o| o.handshakes = Some("/nonexistent/h.csv".into()));
    assert!(
        file.to_string().starts_with("/nonexistent/h.csv: "),
        "{file}"
    );
    let threads = refused(&|o| o.threads = 0);
    assert_eq!(
        threads.to_string(),
        "threads is 0; it must be from 1 to 1024"
    );
    let duration = refused(&|o| o.duration = Duration::ZERO);
    assert_eq!(
        duration.to_string(),
        "the duration is 0s; it must be more than 0s"
    );
    let users = refused(&|o| o.scenario.arrivals = Arrivals::Closed { users: 0 });
    assert_eq!(
        users.to_string(),
        "arrivals.users is 0; it must be from 1 to 1000000"
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let rate = refused(&|o| o.scenario.arrivals = rate(bad));
        assert!(
            rate.to_string()
                .contains("it must be from 0.001 to 1000000 sessions/s"),
            "{rate}"
        );
    }
    let timeout = refused(&|o| o.scenario.timeout = Duration::ZERO);
    assert!(timeout.to_string().contains("more than 0s"), "{timeout}");
    let share = refused(&|o| o.scenario.resume_across = 1.5);
    assert_eq!(
        share.to_string(),
        "tls.resume_across is 1.5; it must be from 0 to 1"
    );
}

#[test]
fn the_warm_up_offers_the_same_load_and_counts_nothing() {
    let server = Server::start(Behaviour::default());
    let mut options = options(&server, |s| s.arrivals = rate(100.0));
    options.duration = Duration::from_secs(1);
    options.warmup = Duration::from_secs(2);
    let begin = Instant::now();
    let summary = go(&options);
    assert!(begin.elapsed() >= Duration::from_secs(3));
    assert_eq!(summary.seconds, 1.0);
    let s = summary.sessions;
    // A hundred a second are due: with the warm-up there would be three times as many.
    assert!((50..=170).contains(&s.started), "{s:?}");
    assert_eq!(
        s.active_at_begin + s.started,
        s.completed + s.broken + s.active_at_end
    );
    assert_eq!(summary.series.len(), 1, "{:?}", summary.series);
    let done = (summary.replies + summary.failures) as f64;
    assert!(
        (0.7 * done..=1.3 * done).contains(&summary.offered_per_s),
        "{} offered, {done} done",
        summary.offered_per_s
    );
    let cpu = summary.generator.cpu_share;
    assert!((0.0..=1.05).contains(&cpu), "{cpu}");
}
