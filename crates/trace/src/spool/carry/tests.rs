use super::*;
use crate::spool::agent;

fn event(ts: i64, kind: u32, tid: u32, a: u64, b: u64) -> Event {
    Event {
        ts,
        kind,
        a,
        b,
        c: 0,
        tid,
        virtual_id: 0,
    }
}

fn carried(events: &[Event]) -> Vec<Event> {
    let mut carry = Carry::new();
    for e in events {
        carry.take(e);
    }
    carry.settle(1 << 40, &|_| true);
    carry.events(&|_| true)
}

fn kinds(events: &[Event]) -> Vec<u32> {
    events.iter().map(|e| e.kind).collect()
}

#[test]
fn what_is_over_is_forgotten_and_what_is_open_is_kept_in_its_order() {
    let kept = carried(&[
        event(1, ev::SQL_BEGIN, 5, 0, 0),
        event(2, ev::SQL_END, 5, 0, 0),
        event(3, ev::APP_PUSH, 5, 0, 0),
        event(4, ev::SQL_BEGIN, 5, 0, 0),
        event(5, ev::PARK, 5, 0, 0),
        event(6, ev::MONITOR_ENTER, 6, 0, 0),
        event(7, ev::MONITOR_ENTERED, 6, 0, 0),
    ]);
    assert_eq!(kinds(&kept), [ev::APP_PUSH, ev::SQL_BEGIN, ev::PARK]);
}

#[test]
fn a_call_that_another_thread_is_told_of_is_open_until_that_by_its_number() {
    let story = [
        event(1, ev::CALL_BEGIN, 5, 7, 0),
        event(2, ev::CALL_BEGIN, 5, 8, 0),
        event(3, ev::CALL_BEGIN, 5, 0, 0),
        event(4, ev::CALL_END, 6, 7, 0),
    ];
    let kept = |story: &[Event]| -> Vec<u64> { carried(story).iter().map(|e| e.a).collect() };
    assert_eq!(kept(&story), [8, 0]);
    let over = [event(5, ev::CALL_END, 5, 0, 0)];
    assert_eq!(kept(&[&story[..], &over].concat()), [8]);
}

#[test]
fn a_request_that_its_visit_left_open_is_kept_with_the_visit_until_another_ends_it() {
    let mut story = vec![
        event(1, ev::CONN_OPEN, 2, 77, 0),
        event(2, ev::VISIT_BEGIN, 5, 77, 0),
        event(3, ev::REQUEST, 5, 0, 0),
        event(4, ev::VISIT_END, 5, 77, 0),
    ];
    let suspended = [ev::CONN_OPEN, ev::VISIT_BEGIN, ev::REQUEST, ev::VISIT_END];
    assert_eq!(kinds(&carried(&story)), suspended);
    story.push(event(5, ev::VISIT_BEGIN, 6, 77, 0));
    story.push(event(6, ev::REQUEST_END, 6, 0, 0));
    story.push(event(7, ev::VISIT_END, 6, 77, 0));
    // With a handshake that was over, for no other is to come.
    let visited = [
        ev::CONN_OPEN,
        ev::VISIT_BEGIN,
        ev::TLS_ENTER,
        ev::TLS_EXIT,
        ev::VISIT_END,
    ];
    assert_eq!(kinds(&carried(&story)), visited);
    story.push(event(8, ev::CONN_CLOSE, 6, 77, 0));
    assert_eq!(kinds(&carried(&story)), [0; 0]);
    // A last visit after the close.
    story.push(event(9, ev::VISIT_BEGIN, 5, 77, 0));
    story.push(event(10, ev::VISIT_END, 5, 77, 0));
    assert_eq!(kinds(&carried(&story)), [0; 0]);
}

#[test]
fn what_dead_threads_said_is_forgotten() {
    let mut carry = Carry::new();
    for e in [
        event(1, ev::THREAD, 5, 31, 0),
        event(2, ev::PARK, 5, 0, 0),
        event(3, ev::THREAD, 6, 32, 0),
        event(4, ev::PARK, 6, 0, 0),
    ] {
        carry.take(&e);
    }
    carry.settle(9, &|tid| tid == 6);
    let kept = carry.events(&|tid| tid == 6);
    assert_eq!(kept.iter().map(|e| e.tid).collect::<Vec<_>>(), [6, 6]);
}

#[test]
fn a_file_of_carried_events_reads_as_they_were_said() {
    let of_virtual = |ts, kind, id| Event {
        virtual_id: id,
        ..event(ts, kind, 9, 0, 0)
    };
    let mut events = vec![event(1, ev::PARK, 5, 3, 4), of_virtual(2, ev::PARK, 1001)];
    events.extend((3..5000).map(|n| event(n, ev::APP_PUSH, 5, n as u64, 0)));
    let bytes = file(&events, 9000, [3, 4, 5, 6]);
    let header = agent::header(&bytes).expect("a header");
    assert_eq!(
        (
            header.begin,
            header.lost,
            header.lost_strings,
            header.lost_stacks,
            header.lost_samples
        ),
        (9000, 3, 4, 5, 6)
    );
    let read = agent::read(&bytes[..header.extent(bytes.len() as u64) as usize]);
    let read: Vec<Event> = read
        .events
        .into_iter()
        .filter(|e| e.kind != ev::SWITCH_TO)
        .collect();
    assert_eq!(read, events);
}

#[test]
fn a_virtual_thread_that_parks_is_off_its_carrier_and_one_that_runs_is_on_it() {
    let v = |ts, kind, id, b| Event {
        virtual_id: id,
        ..event(ts, kind, 9, 0, b)
    };
    let switch = |ts, id| Event {
        a: id,
        c: 8,
        ..v(ts, ev::SWITCH_TO, id, 0)
    };
    let kept = carried(&[
        switch(1, 1001),
        v(1, ev::MOUNT, 1001, 0),
        v(2, ev::SQL_BEGIN, 1001, 0),
        v(3, ev::PARK, 1001, 0),
        v(3, ev::UNMOUNT, 1001, left::PARKS),
        switch(4, 1002),
        v(4, ev::MOUNT, 1002, 0),
        v(5, ev::SQL_BEGIN, 1002, 0),
    ]);
    let of = |id: u64| {
        kinds(
            &kept
                .iter()
                .filter(|e| e.virtual_id == id)
                .copied()
                .collect::<Vec<_>>(),
        )
    };
    use ev::{MOUNT, PARK, SQL_BEGIN, SWITCH_TO, UNMOUNT};
    let parked = [SWITCH_TO, MOUNT, SQL_BEGIN, UNMOUNT, MOUNT, PARK, UNMOUNT];
    assert_eq!(of(1001), parked);
    assert_eq!(of(1002), [SWITCH_TO, MOUNT, SQL_BEGIN, UNMOUNT, MOUNT]);
    assert_eq!(
        kept.last().map(|e| (e.kind, e.virtual_id)),
        Some((MOUNT, 1002))
    );
}

#[test]
fn what_is_kept_depends_on_what_is_open_and_not_on_how_long_it_was() {
    let mut carry = Carry::new();
    let mut ts = 0;
    let mut say = |carry: &mut Carry, kind, tid, a| {
        ts += 1;
        carry.take(&event(ts, kind, tid, a, 0));
    };
    for n in 0..10_000u64 {
        say(&mut carry, ev::CONN_OPEN, 2, n);
        for _ in 0..3 {
            say(&mut carry, ev::VISIT_BEGIN, 5, n);
            for kind in [
                ev::TLS_ENTER,
                ev::TLS_KEY,
                ev::TLS_EXIT,
                ev::REQUEST_PARSE,
                ev::REQUEST,
            ] {
                say(&mut carry, kind, 5, 0);
            }
            say(&mut carry, ev::POOL_WAIT_BEGIN, 5, 0);
            say(&mut carry, ev::POOL_WAIT_END, 5, 900 + n % 3);
            say(&mut carry, ev::POOL_RELEASE, 5, 900 + n % 3);
            say(&mut carry, ev::STATUS, 5, 0);
            say(&mut carry, ev::REQUEST_END, 5, 0);
            say(&mut carry, ev::VISIT_END, 5, n);
        }
        say(&mut carry, ev::CONN_CLOSE, 5, n);
    }
    carry.settle(1 << 40, &|_| true);
    assert!(carry.len() <= 2, "{} things are open", carry.len());
    assert!(carry.events(&|_| true).is_empty());
}
