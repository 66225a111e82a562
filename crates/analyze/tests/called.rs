//! A request that calls another service, once by a thread that reads the answer and once by one that another tells of it.

use loadline_analyze::testing::{KernelSpool, Recording, answer};
use loadline_analyze::{diagnose, report};
use loadline_trace::Trace;
use loadline_trace::spool::agent::kind as ev;
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};

const MS: i64 = 1_000_000;
const STOCK: &str = "http://10.1.2.3:8080";
const FUTURE: &str = "java.util.concurrent.CompletableFuture$Signaller";
const CONDITION: &str = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject";

/// 11 serves from 101 to 251 ms. Its calls are from 110 to 150, in which it waits in a system call from 112 to 149, and from
/// 160 to 240: for a connection of the client's until 170, and from 180 to 230 for the answer.
fn recorded(redact: bool) -> (tempfile::TempDir, Trace) {
    let mut r = Recording::new(0, 400 * MS);
    r.session.redact = redact;
    r.threads(MS, &[(11, "exec-1", 'S'), (12, "client", 'S')]);
    let (poll, futex) = (Some(libc::SYS_poll as u32), Some(libc::SYS_futex as u32));
    let mut k = KernelSpool::default();
    for (woken, from, to, left_in) in [
        (99, 100, 112, poll),
        (149, 149, 162, futex),
        (170, 170, 180, futex),
        (230, 230, 300, futex),
    ] {
        k.waking(woken * MS, 11, 12)
            .switch(from * MS, 0, 0, LEFT_RUNNABLE, 11)
            .switch_in(to * MS, 0, 11, LEFT_BLOCKED, 0, left_in, None);
    }
    r.kernel.push(k);
    let a = &mut r.agent;
    for (tid, name) in [(11, "exec-1"), (12, "client")] {
        a.event(tid, 2 * MS, ev::THREAD, u64::from(tid) + 20, 0, name);
    }
    a.event(11, 100 * MS, ev::CONN_OPEN, 7, 5000, "127.0.0.1");
    a.event(11, 101 * MS, ev::VISIT_BEGIN, 7, 0, "");
    a.event(11, 101 * MS, ev::REQUEST, 0, 0, "GET /order");
    a.event(11, 105 * MS, ev::SERVICE_BEGIN, 0, 0, "order");
    for (begin, end) in [(110, 150), (160, 240)] {
        a.event(11, begin * MS, ev::CALL_BEGIN, 0, 0, STOCK);
        if begin == 160 {
            for (class, begin, end) in [(CONDITION, 161, 171), (FUTURE, 179, 231)] {
                a.event(11, begin * MS, ev::PARK, 99, 0, class);
                a.event(11, end * MS, ev::UNPARKED, 99, 0, class);
            }
        }
        a.event(11, end * MS, ev::CALL_END, 0, 0, "");
    }
    a.event(11, 245 * MS, ev::SERVICE_END, 0, 0, "");
    a.event(11, 246 * MS, ev::STATUS, 0, 200, "");
    a.event(11, 250 * MS, ev::REQUEST_END, 0, 0, "");
    a.event(11, 251 * MS, ev::VISIT_END, 7, 0, "");
    r.traced()
}

#[test]
fn a_call_is_a_phase_of_the_request_that_waits_for_its_answer() {
    let (_dir, trace) = recorded(false);
    let calls = answer(
        &trace,
        "SELECT c.name, c.begin_ns // 1000000, c.end_ns // 1000000, p.kind FROM spans c JOIN spans p ON p.id = c.parent
         WHERE c.kind = 'call' ORDER BY c.begin_ns",
    );
    assert_eq!(
        calls,
        [
            [STOCK, "110", "150", "service"],
            [STOCK, "160", "240", "service"]
        ]
    );
    let time = answer(
        &trace,
        "SELECT cause, duration_ns // 1000000 FROM breakdown WHERE kind = 'request' AND phase = 'call' ORDER BY cause",
    );
    // A connection of the client's is not the service.
    assert_eq!(time, [["other", "8"], ["running", "25"], ["socket", "87"]]);
}

#[test]
fn what_a_request_waits_for_is_the_service_by_its_name() {
    let (_dir, trace) = recorded(false);
    let report = report::report(&trace).expect("a report");
    let w = &report.waited_for[0];
    assert_eq!((w.what, &*w.label), ("service", "another service"));
    assert!(w.detail.starts_with(STOCK), "{w:?}");
    assert!(w.detail.ends_with("2 calls, 60 ms"), "{w:?}");
    assert_eq!(
        (report.services[0].count, report.services[0].total_ms),
        (2, 120.0)
    );
    let d = diagnose::diagnose(&trace).expect("a diagnosis");
    assert_eq!(d.confirmed, ["slow-service"], "{}", d.verdict);
}

#[test]
fn redacted_a_service_has_no_address() {
    let (_dir, trace) = recorded(true);
    let names = answer(
        &trace,
        "SELECT DISTINCT name FROM spans WHERE kind = 'call'",
    );
    assert!(!names[0][0].contains("10.1.2.3"), "{names:?}");
}
