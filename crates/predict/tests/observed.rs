//! What is read from a trace, on a few threads whose every interval is known.

use loadline_analyze::testing::{KernelSpool, Recording};
use loadline_predict::observe::read;
use loadline_trace::spool::agent::kind as ev;
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};

const MS: i64 = 1_000_000;

/// A thread on its CPU; of each time that it ran when it was woken, by whom, on the CPU from, to, in ms.
type Ran<'a> = (u16, u32, &'a [(i64, u32, i64, i64)]);

/// Has Java threads run so.
fn run(r: &mut Recording, ran: &[Ran]) {
    for &(cpu, tid, stretches) in ran {
        let mut k = KernelSpool::default();
        for &(woken, by, from, to) in stretches {
            k.waking(woken * MS, tid, by)
                .switch(from * MS, cpu, 0, LEFT_RUNNABLE, tid)
                .switch(to * MS, cpu, tid, LEFT_BLOCKED, 0);
        }
        r.kernel.push(k);
        r.agent
            .event(tid, 2 * MS, ev::THREAD, u64::from(tid) + 20, 0, "exec");
    }
}

/// 11 serves a request and waits for a lock from 149 ms on. 12 has it: it runs until 160, is blocked until 180, and lets go
/// at 190, when it wakes 11, which gets a CPU at 200.
#[test]
fn a_wait_for_a_lock_lasts_until_its_owner_lets_go() {
    let mut r = Recording::new(0, 1000 * MS);
    r.threads(MS, &[(11, "exec-1", 'S'), (12, "exec-2", 'S')]);
    let ran: [Ran; 2] = [
        (0, 11, &[(100, 12, 102, 150), (190, 12, 200, 300)]),
        (1, 12, &[(118, 11, 120, 160), (180, 11, 180, 400)]),
    ];
    run(&mut r, &ran);
    let a = &mut r.agent;
    a.event(12, 90 * MS, ev::CONN_OPEN, 7, 5000, "127.0.0.1");
    a.event(11, 103 * MS, ev::VISIT_BEGIN, 7, 0, "");
    a.event(11, 121 * MS, ev::REQUEST_PARSE, 0, 0, "");
    a.event(11, 125 * MS, ev::REQUEST, 0, 0, "GET /item/17");
    a.event(11, 149 * MS, ev::MONITOR_ENTER, 99, 0, "shop.Cache");
    a.event(11, 201 * MS, ev::MONITOR_ENTERED, 99, 0, "shop.Cache");
    a.event(11, 240 * MS, ev::STATUS, 0, 200, "");
    a.event(11, 250 * MS, ev::REQUEST_END, 0, 0, "");
    a.event(11, 260 * MS, ev::VISIT_END, 7, 0, "");
    let (_dir, trace) = r.traced();
    let seen = read(&trace).expect("it is read");
    let lock = seen.locks.first().expect("a lock");
    assert_eq!((lock.class.as_str(), lock.waits.len()), ("shop.Cache", 1));
    let w = &lock.waits[0];
    assert_eq!(
        (w.request.as_deref(), w.part),
        (Some("GET /item/17"), "container")
    );
    // Until it was woken at 190, not until it ran.
    let ms = |s: f64| (1e3 * s).round();
    assert_eq!((ms(w.begin), ms(w.seconds)), (149.0, 41.0));
    // Of the hold, which ends where the waiter has it: 11 + 21 ms on a CPU, 20 blocked.
    let o = lock.owners;
    assert_eq!(
        (ms(o.held), ms(o.running), ms(o.kept), ms(o.waiting)),
        (52.0, 32.0, 0.0, 20.0)
    );
    assert_eq!(ms(seen.requests[0].lock), 40.0);
}

/// Three collections; of the second and third it is known what came before. Connections are open from 10 ms on, one more from
/// 250 ms on, and that one until 350 ms.
#[test]
fn what_outlived_a_collection_stands_beside_the_connections_that_were_open() {
    const UNITS: u64 = 4096;
    let mut r = Recording::new(0, 1000 * MS);
    let a = &mut r.agent;
    a.event(11, 2 * MS, ev::THREAD, 31, 0, "exec");
    a.event(11, 10 * MS, ev::CONN_OPEN, 7, 5000, "127.0.0.1");
    a.event(11, 250 * MS, ev::CONN_OPEN, 8, 5001, "127.0.0.1");
    a.event(11, 350 * MS, ev::CONN_CLOSE, 8, 0, "");
    for at in [100, 300, 500] {
        a.event(12, at * MS, ev::GC_START, 0, 0, "");
        a.event(12, (at + 10) * MS, ev::GC_END, 0, 0, "");
        let sizes = (at as u64) << 32 | 3;
        a.event(
            13,
            (at + 11) * MS,
            ev::GC_INFO,
            0,
            sizes,
            "G1 Young Generation",
        );
        a.event(13, (at + 11) * MS, ev::GC_GENERATIONS, sizes, 100, "");
    }
    let (_dir, trace) = r.traced();
    let seen = read(&trace).expect("it is read");
    let told: Vec<_> = seen
        .outlived
        .iter()
        .map(|o| {
            let units = [o.survivors, o.old, o.most].map(|bytes| bytes as u64 / UNITS);
            (units, o.open, o.new)
        })
        .collect();
    assert_eq!(told, [([300, 3, 100], 2, 1), ([500, 3, 100], 1, 0)]);
}

/// An event loop hands a request to an executor, which runs a statement and waits for a permit that the loop gives it, and answers
/// it.
#[test]
fn a_request_that_is_handed_over_is_counted_where_it_was_worked_on() {
    let mut r = Recording::new(0, 400 * MS);
    r.threads(MS, &[(11, "loop", 'S'), (12, "exec", 'S')]);
    let ran: [Ran; 2] = [
        (0, 11, &[(79, 11, 80, 103), (104, 11, 104, 300)]),
        (1, 12, &[(104, 11, 105, 150), (199, 11, 200, 300)]),
    ];
    run(&mut r, &ran);
    let a = &mut r.agent;
    a.event(11, 90 * MS, ev::CONN_OPEN, 7, 5000, "127.0.0.1");
    a.event(11, 101 * MS, ev::VISIT_BEGIN, 7, 0, "");
    a.event(11, 102 * MS, ev::REQUEST, 0, 0, "GET /item/17");
    let semaphore = "java.util.concurrent.Semaphore$FairSync";
    a.event(11, 103 * MS, ev::PARK, 99, 0, semaphore);
    a.event(11, 104 * MS, ev::UNPARKED, 99, 0, semaphore);
    a.event(12, 110 * MS, ev::VISIT_BEGIN, 7, (105 * MS) as u64, "");
    a.event(11, 112 * MS, ev::VISIT_END, 7, 0, "");
    a.event(12, 120 * MS, ev::SQL_BEGIN, 0, 0, "SELECT 1");
    a.event(12, 140 * MS, ev::SQL_END, 0, 0, "");
    a.event(12, 149 * MS, ev::PARK, 99, 0, semaphore);
    a.event(12, 201 * MS, ev::UNPARKED, 99, 0, semaphore);
    a.event(12, 250 * MS, ev::VISIT_END, 7, 0, "");
    a.event(11, 270 * MS, ev::VISIT_BEGIN, 7, 0, "");
    a.event(11, 271 * MS, ev::STATUS, 0, 200, "");
    a.event(11, 272 * MS, ev::REQUEST_END, 0, 0, "");
    a.event(11, 273 * MS, ev::VISIT_END, 7, 0, "");
    let (_dir, trace) = r.traced();
    let seen = read(&trace).expect("it is read");
    let ms = |s: f64| (1e3 * s).round();
    let request = &seen.requests[0];
    assert_eq!((request.statements, ms(request.sql)), (1, 20.0));
    // 101 to 110, 110 to 250, 270 to 272, less the statement and the waits, one of which is until 199 and for a CPU until
    // 200.
    assert_eq!(ms(request.container), 80.0);
    assert_eq!(
        ms(request.other_wait),
        1.0 + 49.0 + 20.0,
        "and nobody's, until 270"
    );
    assert_eq!(seen.shared, [("permits of a semaphore".to_owned(), 2)]);
    // What the loop does besides: it leaves the visit from 110 to 112, and from 272 to 273.
    let besides: Vec<f64> = seen.overheads.visit.iter().map(|v| ms(*v)).collect();
    assert_eq!(besides.iter().sum::<f64>(), 3.0, "{besides:?}");
}
