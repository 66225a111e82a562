//! A request that an event loop hands to an executor, where it waits for a permit that another request has: whose code, and whose
//! time, it is.

use loadline_analyze::testing::{KernelSpool, Recording, answer};
use loadline_analyze::{diagnose, report};
use loadline_trace::Trace;
use loadline_trace::spool::agent::kind as ev;
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};

const MS: i64 = 1_000_000;
const SEMAPHORE: &str = "java.util.concurrent.Semaphore$NonfairSync";

/// 11 is an event loop, 12 and 13 are its executor. The request of connection 7 is taken over by 12 at 110 ms, while 11 leaves it
/// until 120; 12 is blocked from 150 to 200, until 13, which is at the request of connection 8 and had waited from 130 to 140, gives
/// it a permit.
fn recorded() -> (tempfile::TempDir, Trace) {
    let mut r = Recording::new(0, 400 * MS);
    r.threads(
        MS,
        &[
            (11, "loop-1", 'S'),
            (12, "exec-1", 'S'),
            (13, "exec-2", 'S'),
        ],
    );
    let futex = Some(libc::SYS_futex as u32);
    let ran = [
        (0, 11, &[(79, 99, 80, 300)][..]),
        (1, 12, &[(104, 11, 105, 150), (200, 13, 200, 300)]),
        (2, 13, &[(81, 11, 82, 130), (140, 12, 140, 300)]),
    ];
    for (cpu, tid, ran) in ran {
        let mut k = KernelSpool::default();
        for &(woken, by, from, to) in ran {
            k.waking(woken * MS, tid, by)
                .switch(from * MS, cpu, 0, LEFT_RUNNABLE, tid)
                .switch_in(to * MS, cpu, tid, LEFT_BLOCKED, 0, futex, None);
        }
        r.kernel.push(k);
    }
    let a = &mut r.agent;
    for (tid, name) in [(11, "loop-1"), (12, "exec-1"), (13, "exec-2")] {
        a.event(tid, 2 * MS, ev::THREAD, u64::from(tid) + 20, 0, name);
    }
    let begin = |a: &mut loadline_analyze::testing::AgentSpool, key: u64, at: i64, to: u32| {
        a.event(11, at * MS, ev::CONN_OPEN, key, 5000, "127.0.0.1");
        a.event(11, (at + 1) * MS, ev::VISIT_BEGIN, key, 0, "");
        a.event(11, (at + 2) * MS, ev::REQUEST, 0, 0, "GET /login");
        a.event(
            to,
            (at + 10) * MS,
            ev::VISIT_BEGIN,
            key,
            ((at + 5) * MS) as u64,
            "",
        );
        a.event(11, (at + 12) * MS, ev::VISIT_END, key, 0, "");
    };
    begin(a, 8, 81, 13);
    begin(a, 7, 100, 12);
    a.event(13, 130 * MS, ev::PARK, 99, 0, SEMAPHORE);
    a.event(13, 141 * MS, ev::UNPARKED, 99, 0, SEMAPHORE);
    a.event(12, 150 * MS, ev::PARK, 99, 0, SEMAPHORE);
    let stack = a.stack(&[
        ("shop.Login.permit", 17),
        ("java.util.concurrent.Semaphore.acquire", 318),
    ]);
    a.event(12, 200 * MS, ev::UNPARKED, 99, stack, SEMAPHORE);
    for (key, tid, at) in [(7, 12, 250), (8, 13, 260)] {
        a.event(tid, at * MS, ev::VISIT_END, key, 0, "");
        a.event(11, (at + 20) * MS, ev::VISIT_BEGIN, key, 0, "");
        a.event(11, (at + 21) * MS, ev::STATUS, 0, 200, "");
        a.event(11, (at + 22) * MS, ev::REQUEST_END, 0, 0, "");
        a.event(11, (at + 23) * MS, ev::VISIT_END, key, 0, "");
    }
    r.traced()
}

#[test]
fn a_request_is_where_it_was_handed_to_from_then_on() {
    let (_dir, trace) = recorded();
    let pieces = answer(
        &trace,
        "SELECT t.name, p.begin_ns // 1000000, p.end_ns // 1000000 FROM request_pieces p JOIN threads t ON t.id = p.thread
         JOIN spans s ON s.id = p.request WHERE s.begin_ns >= 100000000 ORDER BY p.begin_ns",
    );
    let want = [
        ["loop-1", "101", "110"],
        ["exec-1", "110", "250"],
        ["loop-1", "270", "272"],
    ];
    assert_eq!(pieces, want);
    let queued = answer(
        &trace,
        "SELECT g.queued_ns // 1000000 FROM segments g JOIN threads t ON t.id = g.thread JOIN spans s ON s.id = g.span
         WHERE t.name = 'exec-1' AND s.kind = 'request'",
    );
    assert_eq!(queued, [["105"]], "from when the task was made");
    let waited = answer(
        &trace,
        "SELECT request_name, code FROM wait_code WHERE request IS NOT NULL",
    );
    assert_eq!(waited, [["GET /login", "shop.Login.permit"]]);
}

#[test]
fn a_wait_for_a_permit_is_named_and_who_gave_it_back_is_another_request() {
    let (_dir, trace) = recorded();
    let report = report::report(&trace).expect("a report");
    let w = &report.waited_for[0];
    assert_eq!((w.what, &*w.label), ("other", "permits of a semaphore"));
    assert!(
        w.detail.contains("shop.Login.permit   2 waits, 30"),
        "{w:?}"
    );
    let d = diagnose::diagnose(&trace).expect("a diagnosis");
    assert_eq!(d.confirmed, ["few-permits"], "{}", d.verdict);
    let o = &d.figures.others[0];
    assert_eq!((o.waits, o.convoy, o.by_peers), (2, 1, 1.0));
    assert_eq!(o.computing, Some(1.0), "it ran all the time");
}
