//! What visitors do as browsers do: cookies, redirects, forms, resources; and what they do not.

#[path = "common/site.rs"]
mod site;

use loadline_load::{Abandon, Arrivals, Failure, Options, Process, Summary, run};
use site::{Site, ok, reply};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn go(options: &Options) -> Summary {
    run(options, &AtomicBool::new(false), &mut |_| {}).expect("it runs")
}

const ONE_PAGE: &str = r#"
    name = "one page"
    start = "page"
    [arrivals]
    users = 1
    [think]
    mean = "0s"
    [[interaction]]
    name = "page"
    path = "/shop/page"
    marker = "PAGE"
    next = { end = 1 }
"#;

/// So many sessions, one after another.
fn some_sessions(options: &mut Options, per_s: f64) {
    options.scenario.arrivals = Arrivals::PartlyOpen { rate: per_s };
    options.scenario.process = Process::Uniform;
}

#[test]
fn redirects_are_followed_with_the_cookies_that_they_set() {
    let site = Site::start(|request| match request.path.as_str() {
        "/shop/page" => reply(
            "302 Found",
            "Location: next?x=1\r\nSet-Cookie: id=7; Path=/\r\n",
            "",
        ),
        "/shop/next?x=1" if request.cookies == "id=7" => ok("PAGE"),
        _ => reply("404 Not Found", "", ""),
    });
    let summary = go(&site.options(ONE_PAGE));
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    assert!(summary.replies > 5 && summary.redirects >= summary.replies);
    // A session's cookies end with it.
    let first = site
        .requests()
        .into_iter()
        .filter(|r| r.path == "/shop/page");
    assert!(first.into_iter().all(|r| r.cookies.is_empty()));
}

#[test]
fn a_redirect_to_another_host_or_without_end_is_a_failure() {
    for location in ["https://example.org/", "/shop/page", "//other/x"] {
        let fields = format!("Location: {location}\r\n");
        let site = Site::start(move |_| reply("302 Found", &fields, ""));
        let summary = go(&site.options(ONE_PAGE));
        assert_eq!(summary.replies, 0);
        let kinds: Vec<_> = summary.failures_by_kind.into_keys().collect();
        assert_eq!(kinds, [Failure::Status], "{location}");
    }
}

/// As a guard does: whoever begins is told to come later; and, half way, a session that was let in.
#[test]
fn who_is_told_to_come_later_is_refused_and_that_is_no_error_of_the_server() {
    let busy = || reply("503 Service Unavailable", "Retry-After: 5\r\n", "");
    let at_the_door = Site::start(move |_| busy());
    let summary = go(&at_the_door.options(ONE_PAGE));
    let kinds: Vec<_> = summary.failures_by_kind.keys().copied().collect();
    assert_eq!(kinds, [Failure::Busy]);
    assert!(summary.sessions.refused > 0);
    assert_eq!(summary.sessions.refused, summary.sessions.broken);

    let inside = Site::start(move |r| if r.path == "/a" { ok("A") } else { busy() });
    let two_pages = ONE_PAGE
        .replace("/shop/page", "/a")
        .replace("marker = \"PAGE\"", "marker = \"A\"")
        .replace("next = { end = 1 }", "next = { second = 1 }")
        + "[[interaction]]\nname = \"second\"\npath = \"/b\"\nmarker = \"B\"\nnext = { end = 1 }\n";
    let sessions = go(&inside.options(&two_pages)).sessions;
    assert!(sessions.broken > 0);
    assert_eq!(sessions.refused, 0);

    let failing = Site::start(|_| reply("503 Service Unavailable", "", ""));
    let kinds: Vec<_> = go(&failing.options(ONE_PAGE))
        .failures_by_kind
        .into_keys()
        .collect();
    assert_eq!(kinds, [Failure::ServerError]);
}

#[test]
fn a_form_is_posted_with_values_of_the_page_and_its_redirect_is_got() {
    let site = Site::start(
        |request| match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/item") => ok("ITEM <a href=\"/buy?id=4711\">"),
            ("POST", "/buy") if request.body == "item=4711&note=two+%26+more" => {
                reply("303 See Other", "Location: /bought\r\n", "")
            }
            ("GET", "/bought") if request.body.is_empty() => ok("BOUGHT"),
            _ => reply("400 Bad Request", "", ""),
        },
    );
    let summary = go(&site.options(
        r#"
        name = "forms"
        start = "item"
        [think]
        mean = "0s"
        [session]
        item = [1, 1]
        [[interaction]]
        name = "item"
        path = "/item"
        marker = "ITEM"
        take = { item = "/buy?id=" }
        next = { buy = 1 }
        [[interaction]]
        name = "buy"
        path = "/buy"
        form = { item = "{item}", note = "two & more" }
        marker = "BOUGHT"
        next = { end = 1 }
    "#,
    ));
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    assert!(summary.interactions[1].response.count > 5);
}

fn page_with_pictures() -> Site {
    Site::start(|request| match request.path.as_str() {
        "/shop/page" => {
            let pictures: String = (0..12).map(|n| format!("<img src=p{n}.png>")).collect();
            ok(&format!(
                "PAGE{pictures}<img src=/gone.png><img src=https://elsewhere/x.png>"
            ))
        }
        "/gone.png" => reply("404 Not Found", "", ""),
        _ => {
            std::thread::sleep(Duration::from_millis(2));
            ok("picture")
        }
    })
}

#[test]
fn resources_are_fetched_once_a_session_over_several_connections() {
    let site = page_with_pictures();
    let scenario = ONE_PAGE.replace("next = { end = 1 }", "next = { page = 1, end = 1 }");
    let mut options = site.options(&scenario);
    options.scenario.client.resources = true;
    options.scenario.client.connections = 3;
    let summary = go(&options);
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    let requests = site.requests();
    let first_page = requests
        .iter()
        .position(|r| r.path == "/shop/page")
        .expect("a page");
    let second_page = first_page
        + 1
        + requests[first_page + 1..]
            .iter()
            .position(|r| r.path == "/shop/page")
            .expect("another");
    let mut pictures: Vec<_> = requests[first_page + 1..second_page]
        .iter()
        .map(|r| (r.connection, r.path.clone()))
        .collect();
    let connections: std::collections::HashSet<_> = pictures.iter().map(|p| p.0).collect();
    assert!((2..=3).contains(&connections.len()), "{pictures:?}");
    pictures.sort_by(|a, b| a.1.cmp(&b.1));
    pictures.dedup_by(|a, b| a.1 == b.1);
    assert_eq!(
        pictures.len(),
        13,
        "each once, what is elsewhere not: {pictures:?}"
    );
    let r = summary.resources;
    assert!(
        r.fetched.count >= 12 && r.failed > 0 && r.cached > 0,
        "{r:?}"
    );
    // A picture that cannot be had is asked for again; the twelve others are not.
    assert_eq!(r.cached % 12, 0, "{r:?}");
    assert!(summary.phases.page_load.p50_ms > summary.response.p50_ms);
}

#[test]
fn pipelined_requests_get_their_own_replies() {
    let site = page_with_pictures();
    let mut options = site.options(ONE_PAGE);
    options.scenario.client.resources = true;
    options.scenario.client.connections = 1;
    options.scenario.client.pipeline = 8;
    let summary = go(&options);
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    let r = summary.resources;
    assert!(
        r.fetched.count >= 24 && r.failed * 12 <= r.fetched.count + 12,
        "{r:?}"
    );
}

#[test]
fn a_slow_reader_takes_its_time() {
    let page = "PAGE".repeat(1000);
    let site = Site::start(move |_| ok(&page));
    let mut options = site.options(ONE_PAGE);
    options.duration = Duration::from_secs(2);
    options.scenario.client.slow_share = 1.0;
    options.scenario.client.slow_bytes_per_s = 10_000;
    let summary = go(&options);
    assert_eq!(summary.failures, 0);
    // 4,000 bytes at 10,000 a second, the first thousand at once.
    assert!(
        summary.phases.transfer.p50_ms > 200.0,
        "{:?}",
        summary.phases.transfer
    );
}

#[test]
fn a_visitor_without_patience_leaves_as_the_scenario_says() {
    for (abandon, resets) in [(Abandon::Close, false), (Abandon::Reset, true)] {
        let site = Site::start(|_| {
            std::thread::sleep(Duration::from_millis(300));
            // Never ends, so that the server learns how the client left.
            "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n".to_owned()
                + &"x".repeat(1_000_000)
        });
        let mut options = site.options(ONE_PAGE);
        options.scenario.timeout = Duration::from_millis(100);
        options.scenario.client.abandon = abandon;
        let summary = go(&options);
        assert!(summary.failures_by_kind[&Failure::Timeout] > 1);
        if resets {
            std::thread::sleep(Duration::from_millis(500));
            assert!(*site.resets.lock().expect("resets") > 0, "nobody was reset");
        }
    }
}

#[test]
fn a_client_that_retries_comes_back_after_a_pause() {
    let fails = std::sync::atomic::AtomicUsize::new(0);
    let site = Site::start(move |_| {
        // Every second request of all is slow.
        if fails
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            .is_multiple_of(2)
        {
            std::thread::sleep(Duration::from_millis(1000));
        }
        ok("PAGE")
    });
    let mut options = site.options(ONE_PAGE);
    options.duration = Duration::from_secs(3);
    options.scenario.timeout = Duration::from_millis(400);
    options.scenario.client.retries = 2;
    options.scenario.client.back_off = Duration::from_millis(50);
    let summary = go(&options);
    assert_eq!(summary.failures, 0, "{:?}", summary.failures_by_kind);
    assert!(
        summary.retries >= 2 && summary.replies >= 2,
        "{} {}",
        summary.retries,
        summary.replies
    );
    // The wait before the retry is part of what the visitor waited for.
    assert!(summary.response.p50_ms > 400.0, "{:?}", summary.response);
}

#[test]
fn an_open_system_clicks_at_its_rate_over_kept_connections() {
    let site = Site::start(|_| ok("PAGE"));
    let scenario = ONE_PAGE.replace("next = { end = 1 }", "next = { page = 1000000, end = 1 }");
    let mut options = site.options(&scenario);
    options.scenario.arrivals = Arrivals::Open { rate: 200.0 };
    options.scenario.process = Process::Uniform;
    options.duration = Duration::from_secs(2);
    let summary = go(&options);
    assert_eq!(summary.failures, 0);
    assert!(
        (380..=401).contains(&summary.replies),
        "{}",
        summary.replies
    );
    // On a busy machine several may be under way at once; but hardly each on its own connection.
    assert!(summary.phases.tcp.count < 100, "{:?}", summary.phases.tcp);
}

#[test]
fn a_ramp_doubles_the_arrivals_over_the_run() {
    let site = Site::start(|_| ok("PAGE"));
    let mut options = site.options(ONE_PAGE);
    options.duration = Duration::from_secs(3);
    some_sessions(&mut options, 100.0);
    let phase = loadline_load::Phase {
        seconds: 3.0,
        from: 0.0,
        to: 2.0,
    };
    options.scenario.schedule = loadline_load::Schedule::new(vec![phase], false).expect("valid");
    let summary = go(&options);
    // 33, 100 and 167 sessions in the three seconds.
    let started: Vec<_> = summary.series.iter().map(|s| s.offered).collect();
    assert!((30..=36).contains(&started[0]), "{started:?}");
    assert!((160..=168).contains(&started[2]), "{started:?}");
    let offered: u64 = started.iter().sum();
    assert!((297..=301).contains(&offered), "{started:?}");
    let good: u64 = summary.series.iter().map(|s| s.goodput).sum();
    assert_eq!(good, summary.replies);
}

#[test]
fn users_follow_the_schedule() {
    let site = Site::start(|_| {
        std::thread::sleep(Duration::from_millis(5));
        ok("PAGE")
    });
    let mut options = site.options(ONE_PAGE);
    options.duration = Duration::from_secs(2);
    options.scenario.arrivals = Arrivals::Closed { users: 4 };
    let level = |level: f64| loadline_load::Phase {
        seconds: 1.0,
        from: level,
        to: level,
    };
    options.scenario.schedule =
        loadline_load::Schedule::new(vec![level(1.0), level(0.0)], false).expect("valid");
    let summary = go(&options);
    let [first, second] = [summary.series[0].started, summary.series[1].started];
    assert!(first > 20 && second <= 8, "{first} {second}");
}

#[test]
fn an_access_log_is_replayed_at_its_times() {
    let site = Site::start(|_| ok("anything"));
    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join("access.log");
    let lines: String = (0..20)
        .map(|n| {
            format!(
                "10.0.0.{} - - [10/Oct/2000:13:55:{:02} +0000] \"GET /p{n}?q=1 HTTP/1.1\" 200 1\n",
                n % 3,
                n
            )
        })
        .collect();
    std::fs::write(&log, lines).expect("written");
    let scenario = loadline_load::Scenario::replaying(&log, 10.0).expect("a log");
    let mut options = site.options(ONE_PAGE);
    options.scenario = scenario;
    options.duration = Duration::from_millis(2500);
    let summary = go(&options);
    assert_eq!((summary.replies, summary.failures), (20, 0));
    assert_eq!(
        (summary.sessions.started, summary.sessions.completed),
        (3, 3)
    );
    // Each visitor's in order; between two visitors a busy machine may turn it round.
    let mut paths = BTreeMap::<usize, Vec<String>>::new();
    for r in site.requests() {
        paths.entry(r.connection).or_default().push(r.path);
    }
    let paths: BTreeSet<_> = paths.into_values().collect();
    let expected = (0..3).map(|visitor| {
        let theirs = (0..20).filter(|n| n % 3 == visitor);
        theirs.map(|n| format!("/p{n}?q=1")).collect()
    });
    assert_eq!(paths, expected.collect());
    // 19 seconds in 1.9, and not later than a busy machine makes it.
    let seconds: Vec<_> = summary.series.iter().map(|s| s.goodput).collect();
    assert!((5..=10).contains(&seconds[0]), "{seconds:?}");
    assert_eq!(seconds.iter().sum::<u64>(), 20, "{seconds:?}");
}

#[test]
fn a_session_log_of_httperf_is_replayed_burst_by_burst() {
    let site = Site::start(|_| ok("anything"));
    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join("sessions");
    std::fs::write(
        &log,
        "/a think=0.1\n  /a1\n  /a2\n/b method=POST contents='x=1'\n\n/c\n",
    )
    .expect("written");
    let mut options = site.options(ONE_PAGE);
    options.scenario = loadline_load::Scenario::replaying(&log, 1.0).expect("a log");
    some_sessions(&mut options, 20.0);
    options.duration = Duration::from_millis(1500);
    let summary = go(&options);
    assert_eq!(summary.failures, 0);
    let requests = site.requests();
    let posts: Vec<_> = requests.iter().filter(|r| r.method == "POST").collect();
    assert!(posts.len() > 5 && posts.iter().all(|r| r.path == "/b" && r.body == "x=1"));
    let of = |path: &str| requests.iter().filter(|r| r.path == path).count();
    assert!(of("/a1") > 5 && of("/a2") > 5 && of("/c") > 5);
    assert!(summary.resources.fetched.count > 10);
}

#[test]
fn one_seed_sends_the_same_requests_session_by_session_however_many_threads() {
    let sessions = |threads: usize| {
        let site = Site::start(|_| ok("PAGE"));
        let scenario = ONE_PAGE
            .replace("/shop/page", "/{n}")
            .replace(
                "[[interaction]]",
                "[ranges]\nn = [1, 1000000]\n[[interaction]]",
            )
            .replace("next = { end = 1 }", "next = { page = 3, end = 1 }");
        let mut options = site.options(&scenario);
        options.threads = threads;
        some_sessions(&mut options, 40.0);
        options.duration = Duration::from_millis(1500);
        go(&options);
        let mut by_connection = BTreeMap::<usize, Vec<String>>::new();
        for r in site.requests() {
            by_connection.entry(r.connection).or_default().push(r.path);
        }
        // The last ones may have been cut off by the end of the run.
        by_connection
            .into_values()
            .take(40)
            .collect::<BTreeSet<_>>()
    };
    let (one, again, two) = (sessions(1), sessions(1), sessions(2));
    assert!(one.len() > 30);
    // Which of them are the first 40 to arrive differs at the edge; the walks are the same.
    for other in [again, two] {
        let common = other.intersection(&one).count();
        assert!(common >= 36, "{common} of {} in common", one.len());
    }
}
