use loadline_trace::Trace;
use loadline_trace::spool::kernel::{LEFT_BLOCKED, LEFT_RUNNABLE};
use proptest::prelude::*;

use super::*;
use crate::bounded::{Grouped, Room};
use crate::states::Life;
use crate::testing::{AgentSpool, KernelSpool, Recording};
use crate::threads::Scope;

const MS: i64 = 1_000_000;
const FUTEX: Option<u32> = Some(libc::SYS_futex as u32);
const READ: Option<u32> = Some(libc::SYS_read as u32);

fn rows(r: &Recording, sql: &str) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory");
    r.write(dir.path()).expect("spools");
    crate::build(dir.path(), false, &mut |_, _| {}).expect("a trace");
    let trace = Trace::open(dir.path()).expect("it opens");
    let rows = crate::query::run(&trace, sql).expect("an answer").rows;
    rows.into_iter()
        .map(|r| {
            let cells: Vec<String> = r.into_iter().map(Option::unwrap_or_default).collect();
            cells.join(" ")
        })
        .collect()
}

const STATES: &str = "SELECT (s.begin_ns/1e6)::INT, (s.end_ns/1e6)::INT, s.state, s.cause, w.name
    FROM states s JOIN threads t ON t.id = s.thread LEFT JOIN threads w ON w.id = s.waker
    WHERE t.name = '{}' ORDER BY 1";

fn states(r: &Recording, name: &str) -> Vec<String> {
    rows(r, &STATES.replace("{}", name))
}

fn mount(a: &mut AgentSpool, carrier: u32, ts: i64, thread: u64, number: u64) {
    a.event(carrier, ts, ev::SWITCH_TO, thread, number, "handler-");
    a.event(carrier, ts, ev::MOUNT, 0, 0, "");
}

fn unmount(a: &mut AgentSpool, carrier: u32, ts: i64, why: u64) {
    a.event(carrier, ts, ev::UNMOUNT, 0, why, "");
}

/// Two carriers, 21 and 22, which sleep until something comes, and a platform thread, 12.
fn recording() -> Recording {
    let mut r = Recording::new(0, 1000 * MS);
    let threads = [
        (12, "main", 'S'),
        (21, "ForkJoinPool-1", 'S'),
        (22, "ForkJoinPool-1", 'S'),
    ];
    r.threads(MS, &threads);
    let a = &mut r.agent;
    a.event(12, MS, ev::THREAD, 1, 0, "main");
    a.event(21, MS, ev::THREAD, 31, 0, "carrier 1");
    a.event(22, MS, ev::THREAD, 32, 0, "carrier 2");
    r.kernel = vec![KernelSpool::default(), KernelSpool::default()];
    r
}

/// Jetty's selectors are virtual threads that block their carriers, and serve in between.
#[test]
fn a_virtual_thread_that_never_leaves_its_carrier_has_its_states_all_along() {
    let mut r = recording();
    let k = &mut r.kernel[0];
    k.waking(100 * MS, 21, 12)
        .switch(101 * MS, 0, 0, LEFT_RUNNABLE, 21);
    k.switch_in(112 * MS, 0, 21, LEFT_BLOCKED, 0, FUTEX, None);
    let a = &mut r.agent;
    a.event(21, 102 * MS, ev::SWITCH_TO, 77, 5, "handler-");
    a.event(21, 102 * MS, ev::VISIT_BEGIN, 0, 9, "");
    a.event(21, 110 * MS, ev::VISIT_END, 0, 9, "");
    assert!(
        states(&r, "handler-4")
            .iter()
            .all(|s| s.contains("unknown")),
        "nobody says that mounts are told"
    );
    r.agent.event(0, MS, ev::MOUNT, 0, 0, "");
    let told = states(&r, "handler-4");
    assert!(
        told.contains(&"101 112 running running ".to_owned()),
        "{told:?}"
    );
    assert!(!told.iter().any(|s| s.contains("unknown")), "{told:?}");
}

#[test]
fn where_probes_would_have_told_who_goes_on_nothing_was_missed() {
    let not_recorded = |has_probes: bool| {
        let mut r = recording();
        mount(&mut r.agent, 21, 102 * MS, 77, 5);
        unmount(&mut r.agent, 21, 110 * MS, 0);
        r.agent.has_probes = has_probes;
        let dir = tempfile::tempdir().expect("a directory");
        r.write(dir.path()).expect("spools");
        let meta = crate::build(dir.path(), false, &mut |_, _| {}).expect("a trace");
        meta.not_recorded.len()
    };
    assert_eq!(not_recorded(false), 1);
    assert_eq!(not_recorded(true), 0, "none let another go on");
}

#[test]
fn a_virtual_threads_states_are_its_carriers_while_mounted_and_its_own_in_between() {
    let mut r = recording();
    let k = &mut r.kernel[0];
    k.waking(100 * MS, 21, 12)
        .switch(101 * MS, 0, 0, LEFT_RUNNABLE, 21);
    k.switch_in(112 * MS, 0, 21, LEFT_BLOCKED, 0, FUTEX, None);
    k.waking(150 * MS, 21, 12)
        .switch(151 * MS, 0, 0, LEFT_RUNNABLE, 21);
    // It blocks in a call, and keeps its carrier.
    k.switch_in(155 * MS, 0, 21, LEFT_BLOCKED, 0, READ, Some(9));
    k.waking_by_interrupt(160 * MS, 21, 12)
        .switch(161 * MS, 0, 0, LEFT_RUNNABLE, 21);
    k.switch_in(171 * MS, 0, 21, LEFT_BLOCKED, 0, FUTEX, None);
    let a = &mut r.agent;
    mount(a, 21, 102 * MS, 77, 5);
    let lock = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
    a.event(21, 111 * MS - 10, ev::PARK, 9, 1, lock);
    unmount(a, 21, 111 * MS, left::PARKS);
    mount(a, 21, 152 * MS, 77, 5);
    unmount(a, 21, 170 * MS, left::ENDED);
    let want = [
        "102 111 running running ",
        "111 150 blocked lock main",
        "150 152 runnable runnable ",
        "152 155 running running ",
        "155 160 blocked socket ",
        "160 161 runnable runnable ",
        "161 170 running running ",
    ];
    assert_eq!(states(&r, "handler-4"), want);
    let want = [
        "0 100 blocked idle main",
        "100 101 runnable runnable ",
        "101 102 running running ",
        "102 111 carrying carrying ",
        "111 112 running running ",
        "112 150 blocked idle main",
        "150 151 runnable runnable ",
        "151 152 running running ",
        "152 170 carrying carrying ",
        "170 171 running running ",
        "171 1000 blocked idle ",
    ];
    assert_eq!(states(&r, "carrier 1"), want);
    let sql = "SELECT t.name, c.name, (m.begin_ns/1e6)::INT, (m.end_ns/1e6)::INT, (pinned_ns/1e6)::INT
               FROM mounts m JOIN threads t ON t.id = m.thread JOIN threads c ON c.id = m.carrier ORDER BY m.begin_ns";
    let want = [
        "handler-4 carrier 1 102 111 0",
        "handler-4 carrier 1 152 170 5",
    ];
    assert_eq!(rows(&r, sql), want);
    let sql = "SELECT kind, (end_ns/1e6)::INT FROM threads WHERE name IN ('handler-4', 'carrier 1') ORDER BY 1";
    assert_eq!(rows(&r, sql), ["carrier 1000", "virtual 170"]);
    let sql = "SELECT o.name, n.name FROM waits w JOIN threads t ON t.id = w.thread
               JOIN threads o ON o.id = w.owner JOIN threads n ON n.id = w.notifier WHERE t.kind = 'virtual'";
    assert_eq!(rows(&r, sql), ["main main"]);
}

/// Both carriers are busy with 78 and 79 from 100 to 300; 77 parks at 110 and is mounted at 250.
fn busy() -> Recording {
    let mut r = recording();
    for (cpu, carrier) in [(0, 21), (1, 22)] {
        r.kernel[cpu as usize]
            .waking(90 * MS, carrier, 12)
            .switch(91 * MS, cpu, 0, LEFT_RUNNABLE, carrier)
            .switch_in(300 * MS, cpu, carrier, LEFT_BLOCKED, 0, FUTEX, None);
    }
    let a = &mut r.agent;
    mount(a, 21, 92 * MS, 77, 5);
    mount(a, 22, 92 * MS, 78, 6);
    a.event(21, 110 * MS - 10, ev::PARK, 9, 0, "shop.Gate");
    unmount(a, 21, 110 * MS, left::PARKS);
    mount(a, 21, 111 * MS, 79, 7);
    unmount(a, 21, 250 * MS, left::YIELDS);
    mount(a, 21, 250 * MS, 77, 5);
    unmount(a, 21, 290 * MS, left::ENDED);
    mount(a, 21, 291 * MS, 79, 7);
    unmount(a, 21, 299 * MS, left::ENDED);
    unmount(a, 22, 298 * MS, left::ENDED);
    r
}

#[test]
fn what_a_carrier_ran_is_the_virtual_threads_that_was_on_it() {
    let mut r = busy();
    for ts in [200, 270] {
        let stack = r.agent.stack(&[("shop.Job.run", 7)]);
        r.agent.event(0, ts * MS, ev::SAMPLE, 21, stack | 1_000, "");
    }
    let sql = "SELECT t.name, (s.ts_ns/1e6)::INT, weight FROM samples s JOIN threads t ON t.id = s.thread ORDER BY 2";
    let want = ["handler-6 200 1000000", "handler-4 270 1000000"];
    assert_eq!(rows(&r, sql), want);
}

#[test]
fn who_lets_a_virtual_thread_go_on_while_all_carriers_are_busy_is_known_from_the_probe() {
    let mut r = busy();
    r.agent.event(22, 180 * MS, ev::GOES_ON, 77, 0, "");
    let want = [
        "92 110 running running ",
        "110 180 blocked idle handler-5",
        "180 250 runnable runnable ",
        "250 290 running running ",
    ];
    assert_eq!(states(&r, "handler-4"), want);
    // Who yields wants to run.
    let want = [
        "111 250 running running ",
        "250 291 runnable runnable ",
        "291 299 running running ",
    ];
    assert_eq!(states(&r, "handler-6"), want);
}

/// What ends a sleep is a timer of the scheduler's, which runs on a carrier, and before 25 on a thread of its own.
#[test]
fn a_carrier_that_lets_a_virtual_thread_go_on_in_its_own_name_is_a_timer() {
    let sql = "SELECT (s.end_ns/1e6)::INT, s.interrupt::VARCHAR, w.name FROM states s JOIN threads t ON t.id = s.thread
               LEFT JOIN threads w ON w.id = s.waker WHERE t.name = 'handler-4' AND s.state = 'blocked'";
    let mut r = busy();
    unmount(&mut r.agent, 22, 179 * MS, left::YIELDS);
    r.agent.event(22, 180 * MS, ev::SWITCH_TO, 0, 0, "");
    r.agent.event(22, 180 * MS, ev::GOES_ON, 77, 0, "");
    mount(&mut r.agent, 22, 181 * MS, 78, 6);
    assert_eq!(rows(&r, sql), ["180 true "]);
    let mut r = busy();
    r.agent.event(12, 2 * MS, ev::THREAD, 1, 0, UNPARKER);
    r.agent.event(12, 180 * MS, ev::GOES_ON, 77, 0, "");
    assert_eq!(rows(&r, sql), ["180 true "]);
    let mut r = busy();
    r.agent.event(12, 180 * MS, ev::GOES_ON, 77, 0, "");
    assert_eq!(rows(&r, sql), ["180 false main"]);
}

#[test]
fn without_the_probe_it_is_not_known_since_when_it_waited_for_a_busy_carrier() {
    let want = [
        "92 110 running running ",
        "110 250 unknown unknown ",
        "250 290 running running ",
    ];
    assert_eq!(states(&busy(), "handler-4"), want);
    // But not since before a carrier slept.
    let mut r = busy();
    r.kernel[1] = KernelSpool::default();
    r.kernel[1]
        .waking(90 * MS, 22, 12)
        .switch(91 * MS, 1, 0, LEFT_RUNNABLE, 22)
        .switch_in(120 * MS, 1, 22, LEFT_BLOCKED, 0, FUTEX, None)
        .waking(200 * MS, 22, 12)
        .switch(201 * MS, 1, 0, LEFT_RUNNABLE, 22)
        .switch_in(300 * MS, 1, 22, LEFT_BLOCKED, 0, FUTEX, None);
    let events = &mut r.agent.events;
    events.retain(|e| e.0 != 22);
    mount(&mut r.agent, 22, 92 * MS, 78, 6);
    unmount(&mut r.agent, 22, 119 * MS, left::ENDED);
    let want = [
        "92 110 running running ",
        "110 200 blocked idle ",
        "200 250 unknown unknown ",
        "250 290 running running ",
    ];
    assert_eq!(states(&r, "handler-4"), want);
}

#[test]
fn who_was_mounted_when_the_recording_began_was_there_since() {
    let mut r = recording();
    let a = &mut r.agent;
    a.event(21, 50 * MS, ev::SWITCH_TO, 77, 5, "handler-");
    a.event(21, 50 * MS, ev::APP_EVENT, 1, 0, "x");
    unmount(a, 21, 60 * MS, left::ENDED);
    // Somebody was mounted somewhere, else nobody told of mounts.
    mount(a, 22, 70 * MS, 78, 6);
    let sql = "SELECT (begin_ns/1e6)::INT, (end_ns/1e6)::INT FROM mounts ORDER BY 1";
    assert_eq!(rows(&r, sql), ["0 60", "70 1000"]);
}

/// (ts, carrier 0 or 1, virtual thread 0 to 3, type, why)
type Step = (i64, u32, u64, u8, u64);

proptest! {
    #[test]
    fn whatever_was_told_states_are_gapless_and_running_time_is_shared_out_once(
        mut steps in proptest::collection::vec((0i64..100, 0u32..2, 0u64..4, 0u8..4, 0u64..6), 0..60),
        cuts in proptest::collection::vec((1i64..100, 0u8..4), 0..20),
    ) {
        steps.sort_by_key(|s: &Step| s.0);
        let mut edges: Vec<(i64, u8)> = cuts;
        edges.sort_unstable();
        edges.dedup_by_key(|e| e.0);
        edges.push((100, 0));
        let life = |tid: u32| {
            let mut at = 0;
            let states = edges.iter().map(|&(to, state)| {
                let state = [State::Running, State::Blocked, State::Runnable, State::Unknown][state as usize];
                let i = Interval::new(std::mem::replace(&mut at, to), to, state);
                Interval { waker: 21, ..i }
            });
            (Life { tid, nstid: Some(tid), parent: None, begin: 0, end: 100 }, states.collect::<Vec<_>>())
        };
        let (lives, mut own): (Vec<Life>, Vec<Vec<Interval>>) = [life(21), life(22)].into_iter().unzip();
        let mut events = Vec::new();
        for &(ts, carrier, thread, kind, why) in &steps {
            let kind = [ev::MOUNT, ev::UNMOUNT, ev::APP_EVENT, ev::GOES_ON][kind as usize];
            let of = |kind, a, b| Event { ts, kind, a, b, c: 0, tid: 21 + carrier, virtual_id: 50 + thread };
            events.push(of(ev::SWITCH_TO, 50 + thread, 0));
            events.push(of(kind, 50 + (thread + 1) % 4, why));
        }
        let scope = Scope { begin: 0, end: 100, same_ids: true };
        let mut threads = Threads::new(scope, &lives, &[], events.iter().copied(), &|_| None);
        let mounts = Mounts::new(events.iter().copied(), &mut threads, 0, 100);
        let kernels = own.clone();
        own.resize(threads.list.len(), Vec::new());
        let states = mounts.share_out(Grouped::from(&own[..]), &threads, &Room::in_memory());
        let running = |states: &[Interval]| -> i64 {
            states.iter().filter(|i| i.state == State::Running).map(|i| i.end - i.begin).sum()
        };
        let before: i64 = kernels.iter().map(|s| running(s)).sum();
        let after: i64 = states.iter().map(running).sum();
        prop_assert_eq!(before, after);
        for (t, states) in threads.list.iter().zip(states.iter()) {
            if t.is_virtual && states.is_empty() {
                continue; // never seen mounted
            }
            let mut at = t.begin;
            for i in states {
                prop_assert_eq!(i.begin, at);
                prop_assert!(i.end > i.begin);
                at = i.end;
            }
            prop_assert_eq!(at, t.end.max(t.begin));
        }
    }
}
