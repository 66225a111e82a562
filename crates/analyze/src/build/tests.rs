use loadline_trace::Trace;
use loadline_trace::meta::{Level, NotRecorded};
use loadline_trace::spool::agent::{self, kind as ev};
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};
use proptest::prelude::*;

use super::*;
use crate::testing::{KernelSpool, Recording};

const MS: i64 = 1_000_000;

/// Two workers: 11 serves one connection over TLS with one request; 12 holds a lock that 11 wants.
/// 10 is the poller, which is blocked in its poll until 93.
fn site() -> Recording {
    let mut r = Recording::new(0, 1000 * MS);
    let threads = [
        (10, "Poller", 'R'),
        (11, "exec-1", 'S'),
        (12, "exec-2", 'S'),
    ];
    r.threads(MS, &threads);
    let mut k = KernelSpool::default();
    let futex = Some(libc::SYS_futex as u32);
    let poll = Some(libc::SYS_epoll_pwait as u32);
    k.switch_in(20 * MS, 0, 10, LEFT_BLOCKED, 0, poll, Some(5));
    k.waking_by_interrupt(93 * MS, 10, 12)
        .switch(94 * MS, 0, 0, LEFT_RUNNABLE, 10);
    k.switch_in(96 * MS, 0, 10, LEFT_BLOCKED, 0, poll, Some(5));
    k.waking(100 * MS, 11, 12)
        .switch(102 * MS, 0, 0, LEFT_RUNNABLE, 11);
    // It blocks on a monitor that 12 releases.
    k.switch_in(150 * MS, 0, 11, LEFT_BLOCKED, 0, futex, None);
    k.waking(190 * MS, 11, 12)
        .switch(200 * MS, 0, 0, LEFT_RUNNABLE, 11);
    k.switch_in(300 * MS, 0, 11, LEFT_BLOCKED, 0, futex, None);
    r.kernel = vec![k];
    let a = &mut r.agent;
    a.event(11, 50 * MS, ev::THREAD, 31, 0, "http-exec-1");
    a.event(12, 51 * MS, ev::THREAD, 32, 0, "http-exec-2");
    a.event(12, 90 * MS, ev::CONN_OPEN, 7, 5000, "127.0.0.1");
    a.event(10, 95 * MS, ev::QUEUED, 7, 0, "");
    a.event(11, 103 * MS, ev::VISIT_BEGIN, 7, 0, "");
    a.event(11, 104 * MS, ev::TLS_ENTER, 0, 0, "");
    a.event(11, 105 * MS, ev::TLS_KEY, 0, 0, "");
    a.event(11, 120 * MS, ev::TLS_EXIT, 0, 0, "");
    a.event(11, 121 * MS, ev::REQUEST_PARSE, 0, 0, "");
    a.event(11, 125 * MS, ev::REQUEST, 0, 0, "GET /item/17");
    a.event(11, 130 * MS, ev::SERVICE_BEGIN, 0, 0, "item");
    a.event(11, 149 * MS, ev::MONITOR_ENTER, 99, 0, "shop.Cache");
    a.event(11, 201 * MS, ev::MONITOR_ENTERED, 99, 0, "shop.Cache");
    a.event(
        11,
        210 * MS,
        ev::SQL_BEGIN,
        0,
        0,
        "SELECT ? FROM t WHERE id = ?",
    );
    a.event(11, 220 * MS, ev::SQL_END, 0, 0, "");
    a.event(11, 230 * MS, ev::SERVICE_END, 0, 0, "");
    a.event(11, 240 * MS, ev::STATUS, 0, 200, "");
    a.event(11, 250 * MS, ev::REQUEST_END, 0, 0, "");
    a.event(11, 260 * MS, ev::VISIT_END, 7, 0, "");
    a.event(12, 400 * MS, ev::CONN_CLOSE, 7, 0, "");
    r
}

fn trace_of(r: &Recording) -> (tempfile::TempDir, Trace) {
    let dir = tempfile::tempdir().expect("a directory");
    r.write(dir.path()).expect("spools");
    build(dir.path(), false, &mut |_, _| {}).expect("a trace");
    let trace = Trace::open(dir.path()).expect("it opens");
    (dir, trace)
}

fn answer(trace: &Trace, sql: &str) -> Vec<Vec<String>> {
    let rows = crate::query::run(trace, sql).expect("an answer").rows;
    rows.into_iter()
        .map(|r| r.into_iter().map(Option::unwrap_or_default).collect())
        .collect()
}

#[test]
fn a_recording_becomes_tables_and_its_spools_go() {
    let (dir, trace) = trace_of(&site());
    assert!(!dir.path().join("raw").exists());
    assert_eq!(
        trace.meta.target.server.as_deref(),
        Some("Apache Tomcat/11.0.9")
    );
    assert_eq!(
        (trace.meta.ended.as_str(), trace.meta.lost()),
        ("stopped", 0)
    );
    assert_eq!(trace.meta.events, 30);
    let wait = answer(
        &trace,
        "SELECT w.kind, w.class, o.name, ms(w.end_ns - w.begin_ns) FROM waits w JOIN threads o ON o.id = w.owner",
    );
    assert_eq!(
        wait,
        [["monitor_enter", "shop.Cache", "http-exec-2", "52.0"]]
    );
    let name = answer(&trace, "SELECT name FROM spans WHERE kind = 'sql'");
    assert_eq!(name, [["SELECT ? FROM t WHERE id = ?"]]);
}

#[test]
fn the_breakdown_says_where_the_request_spent_its_time() {
    let (_dir, trace) = trace_of(&site());
    let of = |kind: &str| {
        answer(
            &trace,
            &format!(
                "SELECT phase, cause, (duration_ns/1e6)::INT FROM breakdown WHERE kind = '{kind}' ORDER BY 1, 2"
            ),
        )
    };
    let want = [
        ["request", "running", "29"],
        ["service", "lock", "40"],
        ["service", "runnable", "10"],
        ["service", "running", "40"],
        ["sql", "running", "10"],
    ];
    assert_eq!(of("request"), want);
    let want = [
        ["tls_full", "queue", "9"],
        ["tls_full", "runnable", "1"],
        ["tls_full", "running", "17"],
        ["tls_full", "socket", "3"],
    ];
    assert_eq!(of("tls_handshake"), want);
}

#[test]
fn the_report_says_it_within_a_hundred_columns() {
    let (_dir, trace) = trace_of(&site());
    let report = crate::report::report(&trace).expect("a report");
    assert_eq!(
        (report.throughput.requests, report.connections.full),
        (1, 1)
    );
    let text = report.render(false);
    for part in [
        "none lost",
        "TLS handshake, full",
        "GET /item/#",
        "shop.Cache",
        "http-exec-2",
        "verdict",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
    assert!(!text.contains('\x1b') && report.render(true).contains('\x1b'));
    serde_json::to_value(&report).expect("JSON");
}

#[test]
fn without_the_kernel_waits_are_known_and_the_report_begins_by_saying_what_is_missing() {
    let mut r = site();
    r.kernel.clear();
    let level = Level {
        recorded: false,
        why: "needs CAP_BPF: run with sudo".into(),
    };
    r.session.levels.insert("kernel".into(), level);
    let (_dir, trace) = trace_of(&r);
    let causes = answer(
        &trace,
        "SELECT cause, (sum(duration_ns)/1e6)::INT FROM breakdown WHERE kind = 'request' GROUP BY 1 ORDER BY 1",
    );
    assert_eq!(causes, [["lock", "52"], ["unknown", "77"]]);
    let text = crate::report::report(&trace)
        .expect("a report")
        .render(false);
    let head: String = text.lines().take(5).collect();
    assert!(
        head.contains("missing") && head.contains("CAP_BPF"),
        "{text}"
    );
}

#[test]
fn losses_are_said_in_the_first_lines() {
    let mut r = site();
    r.session.losses.insert("kernel_ring".into(), 1234);
    let (_dir, trace) = trace_of(&r);
    let text = crate::report::report(&trace)
        .expect("a report")
        .render(false);
    let head: String = text.lines().take(4).collect();
    assert!(
        head.contains("1,234 by kernel_ring") && !head.contains("none lost"),
        "{text}"
    );
}

#[test]
fn what_is_open_at_the_end_or_at_a_crash_is_a_row_that_says_so() {
    let mut r = site();
    // A second connection's request is under way when everything stops.
    let a = &mut r.agent;
    a.event(12, 300 * MS, ev::CONN_OPEN, 8, 5001, "127.0.0.1");
    a.event(12, 310 * MS, ev::VISIT_BEGIN, 8, 0, "");
    a.event(12, 311 * MS, ev::REQUEST_PARSE, 0, 0, "");
    a.event(12, 312 * MS, ev::REQUEST, 0, 0, "GET /slow");
    a.event(12, 313 * MS, ev::SERVICE_BEGIN, 0, 0, "slow");
    let open = |r: &Recording| {
        let (_dir, trace) = trace_of(r);
        let sql = "SELECT kind, complete, end_ns = (SELECT max(end_ns) FROM threads) FROM spans
                   WHERE open ORDER BY id";
        answer(&trace, sql)
    };
    let want = ["connection", "request", "service"].map(|k| [k, "false", "true"]);
    assert_eq!(open(&r), want);
    r.session.end_ns = 0; // nobody wrote the end down: it crashed
    r.session.ended.clear();
    assert_eq!(open(&r), want);
}

#[test]
fn what_was_not_recorded_is_said_behind_the_first_lines_a_line_each() {
    let mut r = site();
    let told = |what: &str, how: &str| NotRecorded {
        what: what.into(),
        why: "no loaded class is redefined".into(),
        how_to_get: how.into(),
    };
    r.session.not_recorded = vec![told("SQL texts", "--redefine"), told("methods", "")];
    let (_dir, trace) = trace_of(&r);
    assert_eq!(trace.meta.not_recorded, r.session.not_recorded);
    let text = crate::report::report(&trace)
        .expect("a report")
        .render(false);
    let lines: Vec<&str> = text.lines().map(str::trim).take(4).collect();
    assert!(
        lines.contains(
            &"not recorded  SQL texts: no loaded class is redefined. To get it: --redefine"
        ) && lines.contains(&"not recorded  methods: no loaded class is redefined"),
        "{text}"
    );
}

#[test]
fn who_started_a_thread_is_known() {
    let mut r = site();
    r.kernel[0].new_thread(500 * MS, 13, 12);
    let (_dir, trace) = trace_of(&r);
    let sql = "SELECT p.tid FROM threads t JOIN threads p ON p.id = t.parent";
    assert_eq!(answer(&trace, sql), [["12"]]);
}

#[test]
fn a_session_without_an_end_ends_with_the_last_event() {
    let mut r = site();
    r.session.end_ns = 0;
    r.session.ended.clear();
    let (_dir, trace) = trace_of(&r);
    assert_eq!(
        (trace.meta.end_ns, trace.meta.ended.as_str()),
        (400 * MS, "recovered")
    );
}

#[test]
fn a_wrong_statement_is_answered_with_the_databases_own_words() {
    let (_dir, trace) = trace_of(&site());
    let error =
        crate::query::run(&trace, "SELECT nonsense FROM spans").expect_err("no such column");
    assert!(error.to_string().contains("nonsense"), "{error}");
}

#[test]
fn spools_that_are_not_there_are_an_error_that_names_the_place() {
    let dir = tempfile::tempdir().expect("a directory");
    let error = build(dir.path(), false, &mut |_, _| {}).expect_err("nothing is there");
    assert!(format!("{error:#}").contains("session.json"), "{error:#}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn spools_with_broken_bytes_still_become_a_trace_that_adds_up(
        broken in proptest::collection::vec((0usize..3, 0usize..200_000, any::<u8>()), 1..40),
        cut in proptest::option::of((0usize..3, 0usize..200_000)),
        most in proptest::sample::select(vec![1, 500, bounded::MOST]),
    ) {
        let dir = tempfile::tempdir().expect("a directory");
        site().write(dir.path()).expect("spools");
        let raw = RawDir::of(dir.path());
        let files = [raw.kernel(0), raw.agent(), raw.procfs()];
        for (i, file) in files.iter().enumerate() {
            let mut bytes = std::fs::read(file).expect("a spool");
            // Most of the agent's spool is empty: strike where its events are.
            let base = if i == 1 { agent::CHUNK } else { 0 };
            for &(which, at, value) in &broken {
                if which == i && bytes.len() > base {
                    let room = (bytes.len() - base).min(1200);
                    bytes[base + at % room] = value;
                }
            }
            if let Some((which, at)) = cut && which == i {
                bytes.truncate(at % (bytes.len() + 1));
            }
            std::fs::write(file, bytes).expect("a spool");
        }
        build_within(most, dir.path(), false, &mut |_, _| {}).expect("a trace whatever the spools hold");
        let trace = Trace::open(dir.path()).expect("it opens");
        crate::report::report(&trace).expect("a report").render(false);
        let wrong = answer(&trace, "SELECT count(*) FROM spans s LEFT JOIN
            (SELECT span, sum(duration_ns) t FROM breakdown GROUP BY span) b ON b.span = s.id
            WHERE kind IN ('connection', 'tls_handshake', 'request') AND coalesce(b.t, 0) <> end_ns - begin_ns");
        prop_assert_eq!(&wrong[0][0], "0");
    }
}

#[test]
fn a_handshake_that_waits_for_its_turn_waits_for_admission_whoever_says_so() {
    let mut r = site();
    let a = &mut r.agent;
    a.event(12, 300 * MS, ev::CONN_OPEN, 8, 5001, "127.0.0.1");
    // The hello came at once; the worker that gives the turn back queues it.
    a.event(12, 301 * MS, ev::APP_EVENT, 8, 0, "guard handshake waits");
    a.event(11, 341 * MS, ev::APP_EVENT, 8, 0, "guard handshake goes on");
    a.event(11, 342 * MS, ev::QUEUED, 8, 0, "");
    a.event(11, 345 * MS, ev::VISIT_BEGIN, 8, 0, "");
    a.event(11, 346 * MS, ev::TLS_ENTER, 0, 0, "");
    a.event(11, 347 * MS, ev::TLS_EXIT, 0, 0, "");
    a.event(11, 348 * MS, ev::VISIT_END, 8, 0, "");
    let (_dir, trace) = trace_of(&r);
    let sql =
        "SELECT cause, (sum(duration_ns)/1e6)::INT FROM breakdown b JOIN spans s ON s.id = b.span
               WHERE b.kind = 'tls_handshake' AND s.begin_ns = 300000000 GROUP BY 1 ORDER BY 1";
    let causes = answer(&trace, sql);
    let of = |cause: &str| causes.iter().find(|r| r[0] == cause).map(|r| r[1].as_str());
    assert_eq!(of("admission"), Some("40"), "{causes:?}");
    assert_eq!(of("queue"), Some("3"), "{causes:?}");
    assert_eq!(of("socket"), None, "{causes:?}");
    let report = crate::report::report(&trace).expect("a report");
    let text = report.render(false);
    assert!(text.contains("admission"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
}
