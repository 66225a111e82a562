use super::*;

fn state(begin: i64, end: i64, cause: Cause) -> Interval {
    Interval {
        cause,
        ..Interval::new(begin, end, crate::model::State::Running)
    }
}

fn visit(begin: i64, end: i64, queued: Option<i64>) -> Part {
    Part::new(0, 0, begin, end, queued)
}

#[test]
fn phases_are_in_the_order_of_their_names_and_all_documented() {
    use Phase::*;
    let all = [
        Call, Idle, PoolWait, Request, Service, Sql, TlsFailed, TlsFull, TlsResumed, TlsUnknown,
    ];
    assert!(all.is_sorted() && all.is_sorted_by_key(|p| p.name()));
    let mut known = loadline_trace::tables::names::PHASES;
    known.sort_unstable();
    assert_eq!(all.map(Phase::name), known);
}

#[test]
fn time_in_visits_has_the_threads_cause_and_time_between_them_its_own() {
    let states = vec![vec![
        state(0, 30, Cause::Running),
        state(30, 100, Cause::Socket),
    ]];
    let phases = [(0, 50, Phase::TlsFull), (50, 100, Phase::Idle)];
    let visits = [
        visit(10, 20, Some(8)),
        visit(40, 60, Some(35)),
        visit(90, 95, None),
    ];
    let sums = parts(&phases, &visits, &[], &states);
    use Cause::*;
    assert_eq!(
        sums,
        [
            ((Phase::Idle, Socket), 15),
            ((Phase::Idle, Idle), 35),
            ((Phase::TlsFull, Running), 10),
            ((Phase::TlsFull, Socket), 8 + 15 + 10),
            ((Phase::TlsFull, Queue), 2 + 5),
        ]
    );
}

#[test]
fn a_thread_without_states_is_unknown() {
    let sums = parts(&[(0, 10, Phase::Request)], &[visit(0, 10, None)], &[], &[]);
    assert_eq!(sums, [((Phase::Request, Cause::Unknown), 10)]);
}

const IN_POLL: u16 = 7;

fn not_asked(phases: &[(i64, i64, Phase)]) -> Vec<(i64, i64, At)> {
    let of = |&(begin, end, phase): &(i64, i64, Phase)| (begin, end, (phase, false));
    phases.iter().map(of).collect()
}

/// Thread 0 serves; thread 1 polls.
fn parts(
    phases: &[(i64, i64, Phase)],
    pieces: &[Part],
    gaps: &[Gap],
    states: &[Vec<Interval>],
) -> Vec<((Phase, Cause), i64)> {
    let doings = Doings {
        states: &states.into(),
        pollers: &[false, true],
        polls: &|i| i.syscall == IN_POLL,
        places: &Places::new(states.len()),
        looked: Cell::default(),
    };
    partition(&not_asked(phases), pieces, gaps, &doings)
}

fn gap(begin: i64, end: i64, with: With) -> Gap {
    Gap {
        connection: 0,
        begin,
        end,
        with,
    }
}

#[test]
fn only_while_the_poller_is_blocked_in_its_poll_has_nothing_come_from_the_peer() {
    use Cause::*;
    let of = |state, begin, end, cause, syscall| Interval {
        syscall,
        cause,
        ..Interval::new(begin, end, state)
    };
    let poller = vec![
        of(State::Blocked, 0, 40, Idle, IN_POLL),
        of(State::Runnable, 40, 45, Runnable, 0),
        of(State::Running, 45, 52, Running, 0),
        of(State::Blocked, 52, 54, Lock, 0),
        of(State::Blocked, 54, 55, Idle, 0),
        of(State::Running, 55, 60, Running, 0),
    ];
    let states = [vec![], poller];
    // Visits from 0 to 10 and from 70 on; queued at 60 by the poller.
    let pieces = [visit(0, 10, None), visit(70, 80, Some(60))];
    let sums = |phase, with| {
        let gaps = [gap(10, 60, with)];
        let mut sums = parts(&[(10, 70, phase)], &pieces, &gaps, &states);
        sums.retain(|s| s.0.1 != Unknown);
        sums.into_iter()
            .map(|((_, cause), ns)| (cause, ns))
            .collect::<Vec<_>>()
    };
    let shared = [
        (Runnable, 5),
        (Lock, 2),
        (Socket, 30),
        (Queue, 12 + 10),
        (Other, 1),
    ];
    assert_eq!(sums(Phase::TlsFull, With::Thread(1)), shared);
    assert_eq!(sums(Phase::Request, With::Thread(1)), shared);
    // Queued by a thread that polls nothing: something else was waited for.
    let of_other = [(Queue, 10), (Other, 50)];
    assert_eq!(
        sums(Phase::Request, With::Thread(0)),
        [(Queue, 10), (Other, 50)]
    );
    let states = [vec![of(State::Running, 0, 80, Running, 0)], vec![]];
    let gaps = [gap(10, 60, With::Thread(0))];
    let sums = parts(&[(10, 70, Phase::TlsFull)], &pieces, &gaps, &states);
    assert_eq!(
        sums.iter().map(|s| (s.0.1, s.1)).collect::<Vec<_>>(),
        of_other
    );
}

#[test]
fn while_an_answer_is_awaited_waiting_is_the_calls_and_all_else_is_the_requests() {
    use Cause::*;
    let states = [vec![
        state(0, 20, Running),
        state(20, 45, Socket), // woken a moment after the answer came
        state(45, 60, Lock),
        state(60, 70, Socket),
    ]];
    let doings = Doings {
        states: &states[..].into(),
        pollers: &[false],
        polls: &|_| false,
        places: &Places::new(1),
        looked: Cell::default(),
    };
    let phases = vec![(0, 10, Phase::Request), (10, 100, Phase::Service)];
    let phases = with_asked(not_asked(&phases), vec![(5, 40), (50, 55), (80, 90)]);
    let sums = partition(&phases, &[visit(0, 70, None)], &[], &doings);
    assert_eq!(
        sums,
        [
            ((Phase::Call, Socket), 25 + 10),
            ((Phase::Request, Running), 10),
            ((Phase::Service, Running), 10),
            ((Phase::Service, Lock), 15),
            ((Phase::Service, Socket), 10),
            ((Phase::Service, Other), 10 + 10),
        ]
    );
}

#[test]
fn between_the_guards_marks_a_handshake_waits_for_its_turn() {
    let gaps = [gap(10, 50, With::Admission)];
    let pieces = [visit(0, 10, None), visit(70, 80, Some(60))];
    let phases = [(10, 70, Phase::TlsFull)];
    let sums = parts(&phases, &pieces, &gaps, &[]);
    let of = |cause| ((Phase::TlsFull, cause), 10);
    assert_eq!(
        sums,
        [
            of(Cause::Socket),
            ((Phase::TlsFull, Cause::Admission), 40),
            of(Cause::Queue)
        ]
    );
}
