//! Who goes on with a request that another is still at.

use super::*;

/// Thread, time, kind, a, b and c of an event.
type Told = (u32, i64, u32, u64, i64, u32);
/// Thread, begin and end.
type Piece = (u32, i64, i64);

/// An event loop (3) gets a request and makes a task of it, at 106, for a worker (4); then `story`.
fn with_a_task(story: &[Told]) -> (Vec<(i64, i64)>, Vec<Piece>) {
    let mut events = vec![
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 105, ev::REQUEST, 0, 0, 5),
    ];
    events.extend_from_slice(story);
    let out = built(&events);
    let pieces = out
        .pieces
        .iter()
        .map(|p| (p.thread, p.begin_ns, p.end_ns))
        .collect();
    (times(&of(&out, Kind::Request)), pieces)
}

/// The event loop answers, at 170.
const ANSWERS: [Told; 4] = [
    (3, 160, ev::VISIT_BEGIN, K, 0, 0),
    (3, 165, ev::STATUS, 0, 200, 0),
    (3, 170, ev::REQUEST_END, 0, 0, 0),
    (3, 180, ev::VISIT_END, K, 0, 0),
];

#[test]
fn a_task_goes_on_with_a_request_before_the_event_loop_has_left_it() {
    let mut story = vec![
        (4, 110, ev::VISIT_BEGIN, K, 106, 0),
        (3, 120, ev::VISIT_END, K, 0, 0),
        (4, 150, ev::VISIT_END, K, 0, 0),
    ];
    story.extend(ANSWERS);
    let (requests, pieces) = with_a_task(&story);
    assert_eq!(requests, [(100, 170)]);
    assert_eq!(pieces, [(3, 100, 110), (4, 110, 150), (3, 160, 170)]);
}

#[test]
fn a_task_that_keeps_the_event_loop_from_leaving_has_the_request_all_the_same() {
    let mut story = vec![
        (4, 110, ev::VISIT_BEGIN, K, 106, 0),
        (4, 150, ev::VISIT_END, K, 0, 0),
        (3, 155, ev::VISIT_END, K, 0, 0),
    ];
    story.extend(ANSWERS);
    let (requests, pieces) = with_a_task(&story);
    assert_eq!(requests, [(100, 170)]);
    assert_eq!(pieces, [(3, 100, 110), (4, 110, 150), (3, 160, 170)]);
}

#[test]
fn a_task_on_the_side_takes_nothing_from_a_request_that_the_event_loop_answers() {
    let (requests, pieces) = with_a_task(&[
        (4, 110, ev::VISIT_BEGIN, K, 106, 0),
        (3, 120, ev::REQUEST_END, 0, 0, 0),
        (3, 130, ev::REQUEST, 0, 0, 5),
        (3, 140, ev::VISIT_END, K, 0, 0),
        (4, 150, ev::VISIT_END, K, 0, 0),
        (3, 160, ev::VISIT_BEGIN, K, 0, 0),
        (3, 170, ev::REQUEST_END, 0, 0, 0),
    ]);
    assert_eq!(requests, [(100, 120), (130, 170)]);
    assert_eq!(pieces, [(3, 100, 120), (3, 130, 140), (3, 160, 170)]);
}

#[test]
fn a_task_of_a_request_that_is_over_goes_on_with_no_other() {
    let (requests, pieces) = with_a_task(&[
        (3, 110, ev::REQUEST_END, 0, 0, 0),
        (3, 111, ev::VISIT_END, K, 0, 0),
        (3, 120, ev::VISIT_BEGIN, K, 0, 0),
        (3, 121, ev::REQUEST, 0, 0, 5),
        (3, 130, ev::VISIT_END, K, 0, 0),
        (4, 140, ev::VISIT_BEGIN, K, 106, 0), // the first's: a timer, for example
        (4, 150, ev::VISIT_END, K, 0, 0),
        (3, 160, ev::VISIT_BEGIN, K, 0, 0),
        (3, 170, ev::REQUEST_END, 0, 0, 0),
    ]);
    assert_eq!(requests, [(100, 110), (120, 170)]);
    assert_eq!(pieces, [(3, 100, 110), (3, 120, 130), (3, 160, 170)]);
}

#[test]
fn a_task_of_a_task_goes_on_with_the_request_of_the_first_alone() {
    let (requests, pieces) = with_a_task(&[
        (3, 110, ev::REQUEST_END, 0, 0, 0),
        (3, 111, ev::VISIT_END, K, 0, 0),
        (3, 120, ev::VISIT_BEGIN, K, 0, 0),
        (3, 121, ev::REQUEST, 0, 0, 5),
        (3, 130, ev::VISIT_END, K, 0, 0),
        (4, 140, ev::VISIT_BEGIN, K, 135, 1), // 1024 ns after the first
        (4, 150, ev::VISIT_END, K, 0, 0),
        (3, 160, ev::VISIT_BEGIN, K, 0, 0),
        (3, 170, ev::REQUEST_END, 0, 0, 0),
    ]);
    assert_eq!(requests, [(100, 110), (120, 170)]);
    assert_eq!(pieces, [(3, 100, 110), (3, 120, 130), (3, 160, 170)]);
}

#[test]
fn whoever_a_task_hands_a_request_to_has_it_before_the_task_has_ended() {
    let (requests, pieces) = with_a_task(&[
        (3, 108, ev::VISIT_END, K, 0, 0),
        (4, 110, ev::VISIT_BEGIN, K, 106, 0),
        (5, 140, ev::VISIT_BEGIN, K, 0, 0), // the container's, to which it was dispatched
        (4, 150, ev::VISIT_END, K, 0, 0),
        (5, 170, ev::REQUEST_END, 0, 0, 0),
        (5, 180, ev::VISIT_END, K, 0, 0),
    ]);
    assert_eq!(requests, [(100, 170)]);
    assert_eq!(pieces, [(3, 100, 108), (4, 110, 140), (5, 140, 170)]);
}

#[test]
fn an_event_loop_that_reads_on_takes_no_request_from_its_task() {
    let mut story = vec![
        (3, 108, ev::VISIT_END, K, 0, 0),
        (4, 110, ev::VISIT_BEGIN, K, 106, 0),
        (3, 120, ev::VISIT_BEGIN, K, 0, 0), // more of the request's body
        (3, 130, ev::VISIT_END, K, 0, 0),
        (4, 150, ev::VISIT_END, K, 0, 0),
    ];
    story.extend(ANSWERS);
    let (requests, pieces) = with_a_task(&story);
    assert_eq!(requests, [(100, 170)]);
    assert_eq!(pieces, [(3, 100, 108), (4, 110, 150), (3, 160, 170)]);
}

#[test]
fn what_a_task_does_before_the_event_loop_has_left_lies_in_the_request() {
    let mut events = vec![
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 105, ev::REQUEST, 0, 0, 5),
        (4, 110, ev::VISIT_BEGIN, K, 106, 0),
        (4, 112, ev::SQL_BEGIN, 0, 0, 0),
        (3, 120, ev::VISIT_END, K, 0, 0),
        (4, 140, ev::SQL_END, 0, 0, 0),
        (4, 150, ev::VISIT_END, K, 0, 0),
    ];
    events.extend(ANSWERS);
    let out = built(&events);
    let request = of(&out, Kind::Request)[0].id;
    let sql = of(&out, Kind::Sql);
    assert_eq!(
        (times(&sql), sql[0].parent),
        (vec![(112, 140)], Some(request))
    );
}
