use proptest::prelude::*;

use super::*;
use crate::merge::merged;
use crate::model::{NONE, Woken};
use crate::testing::KernelSpool;
use kernel::{LEFT_BLOCKED, LEFT_DEAD, LEFT_RUNNABLE};

const IDLE: u32 = 0;

fn seen(entries: &[(u32, i64, char)]) -> HashMap<u32, Seen> {
    let one = |&(tid, ts, state)| {
        (
            tid,
            Seen {
                ts,
                state,
                syscall: None,
                fd: None,
            },
        )
    };
    entries.iter().map(one).collect()
}

/// A life, and its states.
struct Lived {
    life: Life,
    states: Vec<Interval>,
}

impl std::ops::Deref for Lived {
    type Target = Life;

    fn deref(&self) -> &Life {
        &self.life
    }
}

fn lives(seen: &HashMap<u32, Seen>, spool: &KernelSpool) -> Vec<Lived> {
    let machine = Machine::new(0, 100, seen, &Room::in_memory());
    lived(machine, spool)
}

fn lived(mut machine: Machine, spool: &KernelSpool) -> Vec<Lived> {
    for r in merged([&spool.0[..]]) {
        machine.record(&r);
    }
    let (lives, states) = machine.finish();
    let lived = |(life, states): (Life, &[Interval])| Lived {
        life,
        states: states.to_vec(),
    };
    lives.into_iter().zip(states.iter()).map(lived).collect()
}

fn of(lives: &[Lived], tid: u32) -> Vec<(i64, i64, State)> {
    let life = lives
        .iter()
        .find(|l| l.tid == tid)
        .expect("the thread is known");
    life.states
        .iter()
        .map(|i| (i.begin, i.end, i.state))
        .collect()
}

#[test]
fn a_thread_goes_round_blocked_runnable_running_preempted() {
    let mut k = KernelSpool::default();
    k.waking(10, 5, 7).switch(12, 0, IDLE, LEFT_RUNNABLE, 5);
    k.switch(20, 0, 5, LEFT_RUNNABLE, IDLE)
        .switch(25, 0, IDLE, LEFT_RUNNABLE, 5);
    k.switch_in(40, 0, 5, LEFT_BLOCKED, IDLE, Some(202), Some(9));
    let lives = lives(&seen(&[(5, 1, 'S')]), &k);
    use State::*;
    assert_eq!(
        of(&lives, 5),
        [
            (0, 10, Blocked),
            (10, 12, Runnable),
            (12, 20, Running),
            (20, 25, Preempted),
            (25, 40, Running),
            (40, 100, Blocked)
        ]
    );
    assert_eq!(lives[0].states[0].waker, 7);
    assert_eq!(
        (lives[0].states[5].syscall, lives[0].states[5].fd),
        (203, 9)
    );
}

#[test]
fn a_thread_woken_while_it_leaves_is_runnable_without_a_blocked_interval() {
    let mut k = KernelSpool::default();
    k.switch(10, 0, IDLE, LEFT_RUNNABLE, 5).waking(19, 5, 7);
    k.switch(20, 0, 5, LEFT_BLOCKED, IDLE)
        .wakeup(21, 5)
        .switch(30, 0, IDLE, LEFT_RUNNABLE, 5);
    let lives = lives(&seen(&[]), &k);
    use State::*;
    assert_eq!(
        of(&lives, 5),
        [
            (0, 10, Runnable),
            (10, 20, Running),
            (20, 30, Runnable),
            (30, 100, Running)
        ]
    );
}

#[test]
fn a_wakeup_that_found_the_thread_running_does_not_hide_a_later_sleep() {
    let mut k = KernelSpool::default();
    k.switch(10, 0, IDLE, LEFT_RUNNABLE, 5)
        .waking(12, 5, 7)
        .wakeup(13, 5);
    k.switch(20, 0, 5, LEFT_BLOCKED, IDLE);
    assert_eq!(of(&lives(&seen(&[]), &k), 5)[2], (20, 100, State::Blocked));
}

#[test]
fn r_in_proc_is_running_if_it_leaves_first_and_runnable_if_it_arrives_first() {
    let mut k = KernelSpool::default();
    k.switch(30, 1, 5, LEFT_RUNNABLE, 6);
    let lives = lives(&seen(&[(5, 1, 'R'), (6, 1, 'R')]), &k);
    assert_eq!(of(&lives, 5)[0], (0, 30, State::Running));
    assert_eq!(of(&lives, 6)[0], (0, 30, State::Runnable));
    assert_eq!(
        lives.iter().find(|l| l.tid == 5).map(|l| l.states[0].cpu),
        Some(1)
    );
}

#[test]
fn a_thread_that_never_switched_and_was_r_ran_all_the_time() {
    let lives = lives(&seen(&[(5, 1, 'R'), (6, 1, 'S')]), &KernelSpool::default());
    assert_eq!(of(&lives, 5), [(0, 100, State::Running)]);
    assert_eq!(of(&lives, 6), [(0, 100, State::Blocked)]);
}

#[test]
fn a_record_before_the_proc_line_outranks_it() {
    let mut k = KernelSpool::default();
    k.switch(3, 0, IDLE, LEFT_RUNNABLE, 5)
        .switch(4, 0, 5, LEFT_BLOCKED, IDLE);
    let states = of(&lives(&seen(&[(5, 9, 'S')]), &k), 5);
    assert_eq!(
        states,
        [
            (0, 3, State::Runnable),
            (3, 4, State::Running),
            (4, 100, State::Blocked)
        ]
    );
}

#[test]
fn a_first_record_outranks_a_letter_that_was_read_a_moment_late() {
    let mut k = KernelSpool::default();
    k.switch(9, 0, 5, LEFT_BLOCKED, IDLE)
        .switch(8, 1, IDLE, LEFT_RUNNABLE, 6);
    let lives = lives(&seen(&[(5, 7, 'S'), (6, 7, 'S')]), &k);
    assert_eq!(
        of(&lives, 5),
        [(0, 9, State::Running), (9, 100, State::Blocked)]
    );
    assert_eq!(
        of(&lives, 6),
        [(0, 8, State::Runnable), (8, 100, State::Running)]
    );
}

#[test]
fn an_interrupt_is_no_thread() {
    let mut k = KernelSpool::default();
    k.waking_by_interrupt(10, 5, 7);
    let woken = |k: &KernelSpool| {
        let state = lives(&seen(&[(5, 1, 'S')]), k)[0].states[0];
        (state.waker, state.woken)
    };
    assert_eq!(woken(&k), (0, Woken::Interrupt));
    // A recorder that could not tell: the thread is named, and nothing is claimed.
    k.0[8 + 9] = 0;
    assert_eq!(woken(&k), (7, Woken::Unknown));
    k.0[8 + 9] = kernel::BY_THREAD;
    assert_eq!(woken(&k), (7, Woken::Thread));
}

#[test]
fn a_new_thread_begins_runnable_and_a_dead_one_ends_when_it_leaves() {
    let mut k = KernelSpool::default();
    k.new_thread(10, 5, 7)
        .switch(12, 0, IDLE, LEFT_RUNNABLE, 5)
        .exit(19, 5);
    k.switch(20, 0, 5, LEFT_DEAD, IDLE).new_thread(50, 5, 7);
    let lives = lives(&seen(&[]), &k);
    assert_eq!(lives.len(), 2, "an id that is used again is another thread");
    assert_eq!((lives[0].begin, lives[0].end), (10, 20));
    assert_eq!((lives[1].begin, lives[1].end), (50, 100));
    assert_eq!(lives[0].nstid, Some(5));
}

#[test]
fn a_lost_record_makes_the_interval_unknown_and_not_wrong() {
    use State::*;
    let mut k = KernelSpool::default();
    // 5 blocks at 20; its waking is lost; it runs again at 30.
    k.switch(10, 0, IDLE, LEFT_RUNNABLE, 5)
        .switch(20, 0, 5, LEFT_BLOCKED, IDLE);
    k.switch(30, 0, IDLE, LEFT_RUNNABLE, 5);
    // Its leaving is lost too: CPU 0 switches from 6, which nobody saw arrive there.
    k.waking(12, 6, 7)
        .switch(14, 1, IDLE, LEFT_RUNNABLE, 6)
        .switch(16, 1, 6, LEFT_BLOCKED, IDLE);
    k.switch(50, 0, 6, LEFT_BLOCKED, IDLE);
    let lives = lives(&seen(&[(6, 1, 'S')]), &k);
    assert_eq!(
        of(&lives, 5)[1..],
        [
            (10, 20, Running),
            (20, 30, Unknown),
            (30, 50, Unknown),
            (50, 100, Unknown)
        ]
    );
    assert_eq!(of(&lives, 6)[3], (16, 50, Unknown));
}

const US: i64 = 1000;

/// States of thread 5, in microseconds.
fn by_cpu_time(spool: &KernelSpool, lossy: bool) -> Vec<(i64, i64, State)> {
    let nobody = HashMap::new();
    let machine = Machine::new(0, 1000 * US, &nobody, &Room::in_memory()).lossy(lossy);
    let states = of(&lived(machine, spool), 5);
    states
        .iter()
        .map(|(b, e, s)| (b / US, e / US, *s))
        .collect()
}

#[test]
fn who_was_not_seen_to_arrive_did_so_as_long_ago_as_it_ran() {
    use State::*;
    let elsewhere = 2000;
    for (left, before) in [(LEFT_RUNNABLE, Preempted), (LEFT_BLOCKED, Blocked)] {
        let mut k = KernelSpool::default();
        k.switch(100 * US, 0, IDLE, LEFT_RUNNABLE, 5);
        k.switch(200 * US, 0, 5, left, elsewhere)
            .with_cpu_time(1000 * US);
        k.switch(900 * US, 0, 5, LEFT_BLOCKED, IDLE)
            .with_cpu_time(1640 * US);
        let known = [
            (200, 260, before),
            (260, 900, Running),
            (900, 1000, Blocked),
        ];
        assert_eq!(by_cpu_time(&k, false)[2..], known);
        let rings_were_full = [(200, 900, Unknown), (900, 1000, Blocked)];
        assert_eq!(by_cpu_time(&k, true)[2..], rings_were_full);
    }
}

#[test]
fn who_arrives_unwoken_slept_until_then_unless_it_ran_in_between() {
    use State::*;
    let slept = |cpu_time: i64, lossy| {
        let mut k = KernelSpool::default();
        k.switch(100 * US, 0, IDLE, LEFT_RUNNABLE, 5);
        k.switch_in(200 * US, 0, 5, LEFT_BLOCKED, IDLE, Some(202), Some(9))
            .with_cpu_time(1000 * US);
        k.switch(700 * US, 1, IDLE, LEFT_RUNNABLE, 5)
            .waking(750 * US, 5, 7)
            .wakeup(751 * US, 5);
        k.switch(800 * US, 1, 5, LEFT_BLOCKED, IDLE)
            .with_cpu_time(cpu_time);
        by_cpu_time(&k, lossy)[2..].to_vec()
    };
    let then = |before| {
        [
            (200, 700, before),
            (700, 800, Running),
            (800, 1000, Blocked),
        ]
    };
    assert_eq!(slept(1100 * US, false), then(Blocked));
    assert_eq!(
        slept(1240 * US, false),
        then(Unknown),
        "140 µs more than since it arrived"
    );
    assert_eq!(slept(1100 * US, true), then(Unknown));
}

#[test]
fn who_arrived_unwoken_and_never_left_may_have_run_before() {
    use State::*;
    let mut k = KernelSpool::default();
    k.switch(100 * US, 0, IDLE, LEFT_RUNNABLE, 5);
    k.switch(200 * US, 0, 5, LEFT_BLOCKED, IDLE)
        .with_cpu_time(1000 * US);
    k.switch(700 * US, 1, IDLE, LEFT_RUNNABLE, 5);
    assert_eq!(
        by_cpu_time(&k, false)[2..],
        [(200, 700, Unknown), (700, 1000, Running)]
    );
}

proptest! {
    #[test]
    fn whatever_the_records_states_are_gapless_and_fill_the_life(
        records in proptest::collection::vec((0i64..120, 0u8..8, 0u8..128, 0u16..3, 0u32..6, 0u32..6), 0..200),
        letters in proptest::collection::vec(("[RSDTZX?]", 0i64..100), 0..6),
    ) {
        let seen: HashMap<u32, Seen> = letters.iter().enumerate().map(|(tid, (letter, ts))| {
            let state = letter.chars().next().unwrap_or('?');
            (tid as u32, Seen { ts: *ts, state, syscall: Some(202), fd: None })
        }).collect();
        let mut machine = Machine::new(10, 100, &seen, &Room::in_memory());
        for &(ts, kind, flags, cpu, tid, a) in &records {
            machine.record(&Record { ts, kind, flags, cpu, tid, a, b: 1, c: 3 | (ts as u64 / 2) << 32, begin: 0, arg2: 0, result: 0 });
        }
        let (lives, states) = machine.finish();
        prop_assert_eq!(lives.len(), states.len());
        for (life, states) in lives.iter().zip(states.iter()) {
            prop_assert!(10 <= life.begin && life.begin <= life.end && life.end <= 100);
            let mut at = life.begin;
            for i in states {
                prop_assert_eq!(i.begin, at);
                prop_assert!(i.end > i.begin);
                at = i.end;
            }
            prop_assert_eq!(at, life.end);
        }
    }
}

#[test]
fn a_broken_wakers_id_is_nobodys() {
    let mut k = KernelSpool::default();
    k.waking(10, 5, 0xe900_0008);
    assert_eq!(lives(&seen(&[(5, 1, 'S')]), &k)[0].states[0].waker, NONE);
}
