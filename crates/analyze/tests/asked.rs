//! Requests that ask other services and go on with something else: one whose worker waits for the answers in the end, and one that
//! an event loop leaves until the answer is there.

use loadline_analyze::report;
use loadline_analyze::testing::{KernelSpool, Recording, answer};
use loadline_trace::Trace;
use loadline_trace::spool::agent::kind as ev;
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};

const MS: i64 = 1_000_000;
const STOCK: &str = "http://10.1.2.3:8080";
const PRICES: &str = "http://10.1.2.4:8080";
const LATCH: &str = "java.util.concurrent.CountDownLatch$Sync";

/// 11, a worker, serves from 101 to 299 ms: it asks two services at 110 and 111, computes until 150, and waits until 200; the answers
/// come at 180 and at 200, to 12. That, an event loop, serves from 100 to 110, in which it asks at 105; the answer comes at 160, and from
/// 165 on it goes on, asks again at 166, which nobody answers, and ends at 168.
fn recorded() -> (tempfile::TempDir, Trace) {
    let mut r = Recording::new(0, 400 * MS);
    r.threads(MS, &[(11, "exec-1", 'S'), (12, "loop-1", 'S')]);
    let (futex, poll) = (
        Some(libc::SYS_futex as u32),
        Some(libc::SYS_epoll_wait as u32),
    );
    let mut k = KernelSpool::default();
    for (from, to) in [(100, 150), (200, 300)] {
        k.waking(from * MS, 11, 12)
            .switch(from * MS, 0, 0, LEFT_RUNNABLE, 11)
            .switch_in(to * MS, 0, 11, LEFT_BLOCKED, 0, futex, None);
    }
    r.kernel.push(k);
    let mut k = KernelSpool::default();
    for (from, to) in [(99, 112), (160, 161), (165, 210)] {
        k.waking(from * MS, 12, 11)
            .switch(from * MS, 1, 0, LEFT_RUNNABLE, 12)
            .switch_in(to * MS, 1, 12, LEFT_BLOCKED, 0, poll, None);
    }
    r.kernel.push(k);
    let a = &mut r.agent;
    for (tid, name) in [(11, "exec-1"), (12, "loop-1")] {
        a.event(tid, 2 * MS, ev::THREAD, u64::from(tid) + 20, 0, name);
        let key = u64::from(tid);
        a.event(tid, 99 * MS, ev::CONN_OPEN, key, 5000, "127.0.0.1");
        a.event(tid, 100 * MS, ev::VISIT_BEGIN, key, 0, "");
        a.event(tid, 101 * MS, ev::REQUEST, 0, 0, "GET /order");
    }
    a.event(11, 102 * MS, ev::SERVICE_BEGIN, 0, 0, "order");
    a.event(11, 110 * MS, ev::CALL_BEGIN, 5, 0, STOCK);
    a.event(11, 111 * MS, ev::CALL_BEGIN, 6, 0, PRICES);
    a.event(11, 150 * MS, ev::PARK, 99, 0, LATCH);
    a.event(12, 180 * MS, ev::CALL_END, 5, 0, "");
    a.event(12, 200 * MS, ev::CALL_END, 6, 0, "");
    a.event(11, 201 * MS, ev::UNPARKED, 99, 0, LATCH);
    a.event(11, 290 * MS, ev::SERVICE_END, 0, 0, "");

    a.event(12, 105 * MS, ev::CALL_BEGIN, 7, 0, STOCK);
    a.event(12, 110 * MS, ev::VISIT_END, 12, 0, "");
    a.event(12, 160 * MS, ev::CALL_END, 7, 0, "");
    a.event(12, 165 * MS, ev::VISIT_BEGIN, 12, 0, "");
    a.event(12, 166 * MS, ev::CALL_BEGIN, 8, 0, PRICES);
    for (tid, end) in [(11, 298), (12, 168)] {
        a.event(tid, (end - 1) * MS, ev::STATUS, 0, 200, "");
        a.event(tid, end * MS, ev::REQUEST_END, 0, 0, "");
        a.event(tid, (end + 1) * MS, ev::VISIT_END, u64::from(tid), 0, "");
    }
    r.traced()
}

#[test]
fn what_a_request_that_has_asked_waits_for_is_the_answer_and_what_it_does_meanwhile_is_its_own() {
    let (_dir, trace) = recorded();
    let time = answer(
        &trace,
        "SELECT t.name, phase, cause, duration_ns // 1000000
         FROM breakdown b JOIN spans s ON s.id = b.span JOIN threads t ON t.id = s.thread
         WHERE b.kind = 'request' AND duration_ns > 0 ORDER BY ALL",
    );
    assert_eq!(
        time,
        [
            ["exec-1", "call", "socket", "50"],
            ["exec-1", "request", "running", "10"],
            ["exec-1", "service", "running", "138"],
            ["loop-1", "call", "socket", "50"],
            ["loop-1", "request", "other", "5"],
            ["loop-1", "request", "running", "13"],
        ]
    );
}

#[test]
fn each_is_a_call_of_its_request_from_the_asking_to_the_answer_where_that_was_worked_on() {
    let (_dir, trace) = recorded();
    let calls = answer(
        &trace,
        "SELECT c.begin_ns // 1000000, c.name, c.end_ns // 1000000, p.kind, c.complete::VARCHAR,
                string_agg(printf('%d-%d', g.begin_ns // 1000000, g.end_ns // 1000000), ' ')
         FROM spans c JOIN spans p ON p.id = c.parent LEFT JOIN segments g ON g.span = c.id
         WHERE c.kind = 'call' GROUP BY ALL ORDER BY ALL",
    );
    assert_eq!(
        calls,
        [
            ["105", STOCK, "160", "request", "true", "105-110"],
            ["110", STOCK, "180", "service", "true", "110-180"],
            ["111", PRICES, "200", "service", "true", "111-200"],
            ["166", PRICES, "168", "request", "false", "166-168"],
        ]
    );
    let report = report::report(&trace).expect("a report");
    let w = &report.waited_for[0];
    assert_eq!((w.what, &*w.label), ("service", "another service"));
}
