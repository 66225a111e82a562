//! One recording of the auction site under load, looked at from every side.

mod common;

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use common::{auction, loadline, run_ok, sql, text, with_the_agent};
use loadline_trace::Trace;

/// The recorded site: made once, used by every test of this file.
struct Site {
    trace: Trace,
    handshakes: PathBuf,
    load: serde_json::Value,
    _dir: tempfile::TempDir,
}

/// Started with the agent.
fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| recorded(true))
}

/// Started without it.
fn late() -> &'static Site {
    static LATE: OnceLock<Site> = OnceLock::new();
    LATE.get_or_init(|| recorded(false))
}

fn recorded(with_agent: bool) -> Site {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    let agent = with_the_agent();
    let java: &[&str] = if with_agent { &[&agent] } else { &[] };
    let (server, url) = auction(java, &[]);

    let handshakes = at("handshakes.csv");
    let load = loadline()
        .args(["load", &url, "--insecure", "--scenario", "browsing"])
        .args([
            "--users",
            "16",
            "--think",
            "80ms",
            "--duration",
            "12s",
            "--json",
            "--handshakes",
        ])
        .arg(&handshakes)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the load generator starts");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let trace = at("site.trace").display().to_string();
    run_ok(&[
        "record",
        "--pid",
        &server.pid(),
        "-o",
        &trace,
        "-d",
        "6s",
        "--syscalls",
    ]);
    let load = load.wait_with_output().expect("it is ours");
    assert!(load.status.success(), "{}", text(&load));
    Site {
        trace: Trace::open(trace.as_ref()).expect("a finished trace"),
        handshakes,
        load: serde_json::from_slice(&load.stdout).expect("JSON"),
        _dir: dir,
    }
}

fn count(query: &str) -> i64 {
    sql(&site().trace, query)
}

#[test]
fn every_level_is_there_and_nothing_was_lost() {
    let meta = &site().trace.meta;
    for level in ["jvm", "server", "app"] {
        assert!(meta.has(level), "{level}: {:?}", meta.levels);
    }
    assert_eq!(meta.lost(), 0, "{:?}", meta.losses);
    assert!(
        meta.target
            .server
            .as_deref()
            .unwrap_or("")
            .contains("Tomcat"),
        "{:?}",
        meta.target
    );
    for kind in [
        "connection",
        "tls_handshake",
        "request",
        "service",
        "pool_wait",
        "pool_use",
        "sql",
        "user",
    ] {
        let n = count(&format!("SELECT count(*) FROM spans WHERE kind = '{kind}'"));
        assert!(n > 10, "only {n} spans of kind {kind}");
    }
    if meta.has("kernel") {
        assert!(
            count("SELECT count(*) FROM syscalls WHERE fd IS NOT NULL AND size > 0 AND result > 0")
                > 100
        );
        assert!(count("SELECT count(*) FROM states WHERE state = 'running'") > 1000);
    }
}

#[test]
fn requests_lie_in_their_connections_and_services_in_their_requests() {
    for (child, parent) in [
        ("request", "connection"),
        ("tls_handshake", "connection"),
        ("service", "request"),
        ("sql", "service"),
    ] {
        let orphans = count(&format!(
            "SELECT count(*) FROM spans c WHERE c.kind = '{child}' AND c.complete
             AND NOT EXISTS (SELECT 1 FROM spans p WHERE p.kind = '{parent}' AND p.begin_ns <= c.begin_ns AND c.end_ns <= p.end_ns
                 AND (p.id = c.parent OR (p.id = c.connection AND '{parent}' = 'connection') OR ('{child}' = 'sql' AND p.thread = c.thread)))"
        ));
        assert_eq!(orphans, 0, "{child} outside its {parent}");
    }
    let handed_over = count(
        "SELECT count(*) FROM spans s WHERE s.kind IN ('service', 'sql', 'pool_wait') AND s.thread <> s.end_thread
         AND NOT EXISTS (SELECT 1 FROM segments g WHERE g.span = s.id)",
    );
    assert_eq!(
        handed_over, 0,
        "spans that change threads without saying so"
    );
}

#[test]
fn a_breakdown_adds_up_exactly() {
    let wrong = count(
        "SELECT count(*) FROM spans s LEFT JOIN (SELECT span, sum(duration_ns) total FROM breakdown GROUP BY span) b ON b.span = s.id
         WHERE s.kind IN ('connection', 'tls_handshake', 'request') AND coalesce(b.total, 0) <> s.end_ns - s.begin_ns",
    );
    assert_eq!(wrong, 0);
}

#[test]
fn handshake_kinds_agree_with_the_client_connection_by_connection() {
    for site in [site(), late()] {
        handshake_kinds_agree(site);
    }
}

fn handshake_kinds_agree(site: &Site) {
    let db = site.trace.sql().expect("views");
    let mut joined = db
        .prepare(&format!(
            "SELECT h.resumed, c.kind = 'resumed' FROM read_csv('{}') c
             JOIN spans s ON s.kind = 'connection' AND s.peer_port = c.local_port AND s.begin_ns < c.end_ns AND c.begin_ns < s.end_ns
             JOIN spans h ON h.kind = 'tls_handshake' AND h.connection = s.id
             WHERE c.ok AND s.complete AND h.complete",
            site.handshakes.display()
        ))
        .expect("sql");
    let pairs: Vec<(Option<bool>, bool)> = joined
        .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))
        .expect("rows")
        .map(|r| r.expect("a row"))
        .collect();
    let (resumed, full) = (
        pairs.iter().filter(|p| p.1).count(),
        pairs.iter().filter(|p| !p.1).count(),
    );
    assert!(
        resumed > 5 && full > 5,
        "too few to tell: {resumed} resumed, {full} full"
    );
    let differing = pairs
        .iter()
        .filter(|(ours, theirs)| *ours != Some(*theirs))
        .count();
    assert_eq!(differing, 0, "of {} handshakes", pairs.len());
}

#[test]
fn the_report_agrees_with_the_client() {
    let site = site();
    let out = run_ok(&["report", "--json", &site.trace.dir.display().to_string()]);
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let ours = report["throughput"]["requests_per_s"]
        .as_f64()
        .expect("requests/s");
    let theirs = site.load["replies_per_s"].as_f64().expect("replies/s");
    // The client ran before and after the recording too, with a cold JVM at first: a loose bound.
    assert!(
        ours > 0.5 * theirs && ours < 2.0 * theirs,
        "server {ours}/s, client {theirs}/s"
    );
    let human = text(&run_ok(&["report", &site.trace.dir.display().to_string()]));
    for part in ["requests/s", "p95", "TLS handshake", "service", "SQL", "GC"] {
        assert!(human.contains(part), "no {part:?} in:\n{human}");
    }
}

#[test]
fn a_late_attach_sees_all_but_what_it_says() {
    let trace = &late().trace;
    for (kind, seen) in [
        ("connection", true),
        ("tls_handshake", true),
        ("request", true),
        ("service", true),
        ("pool_wait", true),
        ("pool_use", true),
        ("user", true),
        ("sql", false),
    ] {
        let n: i64 = sql(
            trace,
            &format!("SELECT count(*) FROM spans WHERE kind = '{kind}'"),
        );
        assert!(
            if seen { n > 10 } else { n == 0 },
            "{n} spans of kind {kind}"
        );
    }
    // Whoever waits for work or for a pool's few connections parks, and on what is known.
    let parked = "SELECT count(*) FROM waits WHERE kind = 'park' AND class IS NOT NULL";
    assert!(sql::<i64>(trace, parked) > 10);
    let unanswered =
        "SELECT count(*) FROM spans WHERE kind = 'request' AND complete AND status IS NULL";
    assert_eq!(sql::<i64>(trace, unanswered), 0);
    let report = text(&run_ok(&["report", &trace.dir.display().to_string()]));
    for part in [
        "not recorded  SQL statements",
        "-javaagent:",
        "loadline arm",
        "--redefine",
    ] {
        assert!(report.contains(part), "no {part:?} in:\n{report}");
    }
}

/// As the site is configured unless it is told otherwise.
#[test]
fn the_pool_and_the_workers_say_how_many_there_may_be() {
    for site in [site(), late()] {
        let most = |scope: &str, name: &str| -> f64 {
            let of = format!("scope LIKE '{scope}' AND name = '{name}'");
            sql(
                &site.trace,
                &format!("SELECT max(value) FROM counters WHERE {of}"),
            )
        };
        assert_eq!(most("pool auction", "connections_max"), 10.0);
        assert_eq!(most("executor %-exec-", "threads_max"), 50.0);
        let report = text(&run_ok(&["report", &site.trace.dir.display().to_string()]));
        assert!(report.contains(" of 10"), "{report}");
    }
}

#[test]
fn every_table_answers_sql_in_three_formats() {
    let site = site();
    let dir = site.trace.dir.display().to_string();
    for table in loadline_trace::tables::all() {
        let query = format!("SELECT * FROM {} LIMIT 2", table.name);
        let json = run_ok(&["query", &dir, "--json", &query]);
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&json.stdout).expect("an array");
        let csv =
            String::from_utf8(run_ok(&["query", &dir, "--csv", &query]).stdout).expect("UTF-8");
        let header: Vec<&str> = table.columns.iter().map(|c| c.name).collect();
        assert_eq!(
            csv.lines().next(),
            Some(header.join(",").as_str()),
            "{}",
            table.name
        );
        assert!(rows.len() <= 2);
        let shown = text(&run_ok(&["query", &dir, &query]));
        assert!(header.iter().all(|h| shown.contains(h)), "{shown}");
    }
    let wrong = common::run(&["query", &dir, "SELECT nonsense FROM spans"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong).contains("nonsense"), "{}", text(&wrong));
    let tables = text(&run_ok(&["query", &dir, "--tables"]));
    assert!(tables.contains("breakdown") && tables.contains("duration_ns"));
}

#[test]
fn the_page_becomes_a_picture() {
    let site = site();
    let png = site.trace.dir.join("../page.png");
    if which("chromium").or(which("google-chrome")).is_none() {
        common::skip("the_page_becomes_a_picture", "no chromium");
        return;
    }
    run_ok(&[
        "open",
        &site.trace.dir.display().to_string(),
        "--png",
        &png.display().to_string(),
    ]);
    let bytes = std::fs::read(&png).expect("the picture");
    assert_eq!(&bytes[1..4], b"PNG");
    assert!(
        bytes.len() > 40_000,
        "{} bytes: an empty page?",
        bytes.len()
    );
}

fn which(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|d| d.join(name))
        .find(|p| p.exists())
}
