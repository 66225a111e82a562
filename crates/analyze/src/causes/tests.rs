use super::*;
use crate::waits::{MONITOR_ENTER, MONITOR_WAIT, PARK};

fn wait(begin: i64, end: i64, kind: &'static str, owner: Option<u32>) -> Wait {
    Wait {
        thread: 0,
        begin_ns: begin,
        end_ns: end,
        kind,
        class: 0,
        object: None,
        owner,
        notifier: None,
        outcome: "acquired",
        stack: None,
    }
}

fn explain(states: &mut [Interval], facts: &Facts) {
    Explainer::new(facts).explain(states);
}

struct Case {
    waits: Vec<Wait>,
    work: Vec<(i64, i64)>,
    pool: Vec<(i64, i64)>,
    calls: Vec<(i64, i64)>,
    asked: Vec<(i64, i64)>,
    pauses: Vec<(i64, i64)>,
}

fn plain() -> Case {
    Case {
        waits: vec![],
        work: vec![],
        pool: vec![],
        calls: vec![],
        asked: vec![],
        pauses: vec![],
    }
}

const VM_THREAD: u32 = 77;
/// String ids of the classes that futures and latches are waited for by.
const FUTURES: u32 = 9;
const LATCHES: u32 = 10;

/// The cause of an interval from 10 to 20 in a system call on a descriptor: 3 is a file.
fn cause(case: &Case, state: State, call: Option<i64>) -> Cause {
    let mut i = Interval::new(10, 20, state);
    i.syscall = call.map_or(0, |n| n as u16 + 1);
    i.fd = if call == Some(libc::SYS_write) { 3 } else { 4 };
    let own: Vec<u32> = (0..case.waits.len() as u32).collect();
    let mut states = [i];
    explain(
        &mut states,
        &Facts {
            waits: &case.waits,
            text: &|c| match c {
                FUTURES => Some(ANSWERS[0].into()),
                LATCHES => Some(ANSWERS_TO_ASKED[0].into()),
                _ => None,
            },
            own: &own,
            work: &case.work,
            pool: &case.pool,
            calls: &case.calls,
            asked: &case.asked,
            pauses: &case.pauses,
            is_poller: &|_, _| false,
            is_program: true,
            vm_thread: Some(VM_THREAD),
            names: &Names::new(),
            resource: &|fd, _| Some(if fd == 3 { "file" } else { "socket" }),
        },
    );
    states[0].cause
}

#[test]
fn a_contended_monitor_or_an_owned_synchronizer_is_a_lock() {
    let futex = Some(libc::SYS_futex);
    let monitor = Case {
        waits: vec![wait(5, 25, MONITOR_ENTER, None)],
        ..plain()
    };
    assert_eq!(cause(&monitor, State::Blocked, futex), Cause::Lock);
    let owned = Case {
        waits: vec![wait(5, 25, PARK, Some(3))],
        pool: vec![(0, 90)],
        ..plain()
    };
    assert_eq!(cause(&owned, State::Blocked, futex), Cause::Lock);
}

#[test]
fn in_a_call_a_future_is_the_answer_of_one_asked_for_a_latch_too_and_a_condition_is_not() {
    let waits_for = |class, calls, asked| {
        let mut w = wait(5, 25, PARK, None);
        w.class = class;
        let case = Case {
            waits: vec![w],
            work: vec![(0, 90)],
            calls,
            asked,
            ..plain()
        };
        cause(&case, State::Blocked, Some(libc::SYS_futex))
    };
    let meanwhile = || vec![(8, 30)];
    assert_eq!(waits_for(FUTURES, meanwhile(), vec![]), Cause::Socket);
    assert_eq!(waits_for(FUTURES, vec![], meanwhile()), Cause::Socket);
    assert_eq!(waits_for(FUTURES, vec![], vec![]), Cause::Other);
    assert_eq!(waits_for(LATCHES, vec![], meanwhile()), Cause::Socket);
    assert_eq!(
        waits_for(LATCHES, meanwhile(), vec![]),
        Cause::Other,
        "whoever reads it itself waits for another's"
    );
    assert_eq!(
        waits_for(LATCHES + 1, meanwhile(), meanwhile()),
        Cause::Other,
        "a connection of the client's, say"
    );
}

#[test]
fn a_park_is_for_the_pool_inside_a_pool_wait_and_idle_outside_any_work() {
    let park = || vec![wait(5, 25, PARK, None)];
    let pool = Case {
        waits: park(),
        pool: vec![(0, 90)],
        work: vec![(0, 90)],
        ..plain()
    };
    assert_eq!(cause(&pool, State::Blocked, None), Cause::Pool);
    assert_eq!(
        cause(
            &Case {
                waits: park(),
                ..plain()
            },
            State::Blocked,
            None
        ),
        Cause::Idle
    );
    let work = Case {
        waits: vec![wait(5, 25, MONITOR_WAIT, None)],
        work: vec![(0, 90)],
        ..plain()
    };
    assert_eq!(cause(&work, State::Blocked, None), Cause::Other);
}

#[test]
fn a_wait_that_ended_before_does_not_explain() {
    let over = Case {
        waits: vec![wait(1, 9, MONITOR_ENTER, None)],
        ..plain()
    };
    assert_eq!(cause(&over, State::Blocked, None), Cause::Idle);
}

#[test]
fn system_calls_tell_sockets_from_files() {
    assert_eq!(
        cause(&plain(), State::Blocked, Some(libc::SYS_read)),
        Cause::Socket
    );
    assert_eq!(
        cause(&plain(), State::Blocked, Some(libc::SYS_write)),
        Cause::File
    );
    assert_eq!(
        cause(&plain(), State::Blocked, Some(libc::SYS_fsync)),
        Cause::File
    );
    assert_eq!(
        cause(&plain(), State::Uninterruptible, Some(libc::SYS_futex)),
        Cause::File
    );
}

#[test]
fn a_poller_without_work_is_idle_and_in_the_midst_of_work_waits_for_its_peer() {
    let poll = Some(libc::SYS_epoll_pwait);
    assert_eq!(cause(&plain(), State::Blocked, poll), Cause::Idle);
    assert_eq!(
        cause(
            &Case {
                work: vec![(0, 90)],
                ..plain()
            },
            State::Blocked,
            poll
        ),
        Cause::Socket
    );
}

#[test]
fn a_futex_at_the_begin_of_a_pause_is_the_collector_and_one_from_long_before_is_not() {
    let futex = Some(libc::SYS_futex);
    let ms = 1_000_000;
    assert_eq!(
        cause(
            &Case {
                pauses: vec![(15, 30)],
                ..plain()
            },
            State::Blocked,
            futex
        ),
        Cause::Gc
    );
    assert_eq!(
        cause(
            &Case {
                pauses: vec![(5, 30)],
                ..plain()
            },
            State::Blocked,
            futex
        ),
        Cause::Gc
    );
    let later = Case {
        pauses: vec![(30 * ms, 40 * ms)],
        ..plain()
    };
    assert_eq!(cause(&later, State::Blocked, futex), Cause::Idle);
}

#[test]
fn a_futex_that_the_vm_thread_ended_is_a_safepoint_or_a_collection() {
    let case = Case {
        work: vec![(0, 90)],
        ..plain()
    };
    let woken_by = |waker, pauses: &[(i64, i64)]| {
        let mut states = [Interval {
            waker,
            syscall: libc::SYS_futex as u16 + 1,
            ..Interval::new(10, 20, State::Blocked)
        }];
        let facts = Facts {
            waits: &[],
            text: &|_| None,
            own: &[],
            work: &case.work,
            pool: &[],
            calls: &[],
            asked: &[],
            pauses,
            is_poller: &|_, _| false,
            is_program: true,
            vm_thread: Some(VM_THREAD),
            names: &Names::new(),
            resource: &|_, _| None,
        };
        explain(&mut states, &facts);
        states[0].cause
    };
    assert_eq!(woken_by(VM_THREAD, &[]), Cause::Safepoint);
    assert_eq!(woken_by(VM_THREAD + 1, &[]), Cause::Other);
    let pause = [(12, 18)];
    assert_eq!(woken_by(VM_THREAD, &pause), Cause::Gc);
    // It waited for that thread: for room, if collections took much of the time, else a pause fell into it.
    assert_eq!(woken_by(VM_THREAD + 1, &pause), Cause::Gc);
    assert_eq!(woken_by(VM_THREAD + 1, &[(9, 11), (14, 15)]), Cause::Gc);
    assert_eq!(woken_by(VM_THREAD + 1, &[(12, 13)]), Cause::Other);
    assert_eq!(woken_by(VM_THREAD + 1, &[(5, 10), (20, 90)]), Cause::Other);
    assert_eq!(woken_by(NONE, &pause), Cause::Gc);
}

#[test]
fn an_interval_that_outlasts_a_pause_is_not_the_collectors_unless_the_vm_thread_ended_it() {
    let long = 10 + FROM_SAFEPOINT_NS + 100;
    let mut i = Interval::new(10, long, State::Blocked);
    let names = Names::new();
    let facts = |vm_thread| Facts {
        waits: &[],
        text: &|_| None,
        own: &[],
        work: &[],
        pool: &[],
        calls: &[],
        asked: &[],
        pauses: &[(12, 18)],
        is_poller: &|_, _| false,
        is_program: true,
        vm_thread,
        names: &names,
        resource: &|_, _| None,
    };
    assert_eq!(stopped_by_vm(&i, &facts(None)), None);
    i.waker = VM_THREAD;
    assert_eq!(stopped_by_vm(&i, &facts(Some(VM_THREAD))), Some(Cause::Gc));
}

#[test]
fn what_is_not_blocked_has_its_state_as_its_cause() {
    for (state, want) in [
        (State::Running, Cause::Running),
        (State::Runnable, Cause::Runnable),
        (State::Preempted, Cause::Runnable),
        (State::Unknown, Cause::Unknown),
    ] {
        assert_eq!(cause(&plain(), state, None), want);
    }
}

#[test]
fn without_the_kernel_waits_are_the_states() {
    let waits = [wait(20, 40, PARK, None), wait(25, 30, MONITOR_ENTER, None)];
    let states = from_waits(10, 50, &waits, &[0, 1]);
    let shape: Vec<_> = states.iter().map(|i| (i.begin, i.end, i.state)).collect();
    use State::*;
    assert_eq!(
        shape,
        [
            (10, 20, Unknown),
            (20, 25, Blocked),
            (25, 30, Blocked),
            (30, 40, Blocked),
            (40, 50, Unknown)
        ]
    );
}
