use proptest::prelude::*;

use std::collections::HashMap;

use super::*;
use crate::bounded::Room;

mod followers;

/// Strings by id: `s7`.
fn text(id: u32) -> Option<Arc<str>> {
    (id != 0).then(|| format!("s{id}").into())
}

/// Builds from (thread, ts, type, a, b, c), in a recording from 0 to 1000.
fn built(events: &[(u32, i64, u32, u64, i64, u32)]) -> Output {
    let events: Vec<(Event, u32)> = events
        .iter()
        .map(|&(t, ts, kind, a, b, c)| {
            (
                Event {
                    ts,
                    kind,
                    a,
                    b: b as u64,
                    c,
                    tid: t,
                    virtual_id: 0,
                },
                t,
            )
        })
        .collect();
    let cx = Context {
        begin: 0,
        end: 1000,
        text: &text,
        room: &Room::in_memory(),
    };
    let mut builder = Builder::new(&cx);
    events
        .iter()
        .for_each(|(e, thread)| builder.event(e, *thread));
    builder.finish()
}

fn of(out: &Output, kind: Kind) -> Vec<tables::Span> {
    let of_kind = |id: &usize| out.spans[*id].kind == kind;
    let ids = (0..out.spans.len()).filter(of_kind);
    ids.map(|id| out.row(id)).collect()
}

fn times(spans: &[tables::Span]) -> Vec<(i64, i64)> {
    spans.iter().map(|s| (s.begin_ns, s.end_ns)).collect()
}

const K: u64 = 7;

#[test]
fn a_stream_is_called_one() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 5000 | ev::ONE_REQUEST as i64, 3),
        (1, 11, ev::VISIT_BEGIN, K, 0, 0),
        (1, 90, ev::VISIT_END, K, 0, 0),
        (1, 91, ev::CONN_CLOSE, K, 0, 0),
    ]);
    let c = &of(&out, Kind::Connection)[0];
    assert_eq!((&*c.name, c.peer_port), ("stream s3:5000", Some(5000)));
}

#[test]
fn a_full_handshake_reaches_from_the_open_to_the_step_that_is_done() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 5000, 3),
        (2, 20, ev::QUEUED, K, 0, 0),
        (3, 30, ev::VISIT_BEGIN, K, 0, 0),
        (3, 31, ev::TLS_ENTER, 0, 0, 0),
        (3, 35, ev::TLS_KEY, 0, 0, 0),
        (3, 39, ev::TLS_EXIT, 0, 1, 0),
        (3, 40, ev::VISIT_END, K, 0, 0),
        (4, 60, ev::VISIT_BEGIN, K, 0, 0),
        (4, 61, ev::TLS_ENTER, 0, 0, 0),
        (4, 70, ev::TLS_EXIT, 0, 0, 0),
        (4, 80, ev::VISIT_END, K, 0, 0),
        (1, 90, ev::CONN_CLOSE, K, 0, 0),
    ]);
    let h = &of(&out, Kind::TlsHandshake)[0];
    assert_eq!(
        (h.begin_ns, h.end_ns, &*h.name, h.resumed, h.complete),
        (10, 70, "full", Some(false), true)
    );
    let c = &of(&out, Kind::Connection)[0];
    assert_eq!(
        (c.begin_ns, c.end_ns, c.peer_port, &*c.name, c.complete),
        (10, 90, Some(5000), "s3:5000", true)
    );
    let of_handshake: Vec<_> = out
        .segments
        .iter()
        .filter(|s| i64::from(s.span) == h.id)
        .collect();
    let shape: Vec<_> = of_handshake
        .iter()
        .map(|s| (s.thread, s.begin_ns, s.end_ns, s.queued_ns()))
        .collect();
    assert_eq!(shape, [(3, 30, 40, Some(20)), (4, 60, 70, None)]);
}

fn handshake(key: bool, result: i64, opened: bool, told: u64) -> Output {
    let mut events = vec![
        (3, 30, ev::VISIT_BEGIN, K, 0, 0),
        (3, 31, ev::TLS_ENTER, 0, 0, 0),
    ];
    if opened {
        events.insert(0, (1, 10, ev::CONN_OPEN, K, 5000, 3));
    }
    if key {
        events.push((3, 32, ev::TLS_KEY, 0, 0, 0));
    }
    events.push((3, 40, ev::TLS_EXIT, told, result, 0));
    built(&events)
}

#[test]
fn a_handshake_without_a_key_resumed_only_if_all_of_it_was_seen() {
    let seen = |key, result, opened| {
        let out = handshake(key, result, opened, 0);
        let h = &of(&out, Kind::TlsHandshake)[0];
        (h.name.to_string(), h.resumed, h.complete)
    };
    assert_eq!(seen(false, 0, true), ("resumed".into(), Some(true), true));
    assert_eq!(seen(false, 0, false), ("unknown".into(), None, false));
    assert_eq!(seen(true, 0, false), ("full".into(), Some(false), false));
    assert_eq!(seen(false, -1, true), ("failed".into(), None, true));
    assert_eq!(
        seen(false, 4, true),
        ("unknown".into(), None, false),
        "cut by the recording"
    );
}

#[test]
fn what_an_engine_says_of_its_handshake_counts_more_than_its_key() {
    let seen = |key, result, told| {
        let out = handshake(key, result, true, told);
        let h = &of(&out, Kind::TlsHandshake)[0];
        (h.name.to_string(), h.resumed, h.complete)
    };
    use loadline_trace::spool::agent::resumption::{FULL, RESUMED, UNKNOWN};
    assert_eq!(seen(false, 0, FULL), ("full".into(), Some(false), true));
    assert_eq!(seen(true, 0, RESUMED), ("resumed".into(), Some(true), true));
    assert_eq!(seen(true, 0, UNKNOWN), ("unknown".into(), None, true));
    assert_eq!(seen(false, -1, RESUMED), ("failed".into(), None, true));
}

#[test]
fn a_connection_that_closes_in_its_handshake_failed_it() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 30, ev::VISIT_BEGIN, K, 0, 0),
        (3, 31, ev::TLS_ENTER, 0, 0, 0),
        (3, 32, ev::TLS_EXIT, 0, 1, 0),
        (3, 33, ev::VISIT_END, K, 0, 0),
        (1, 50, ev::CONN_CLOSE, K, 0, 0),
    ]);
    let h = &of(&out, Kind::TlsHandshake)[0];
    assert_eq!((&*h.name, h.end_ns, h.complete), ("failed", 50, true));
}

#[test]
fn requests_of_a_visit_begin_with_it_or_at_their_parse_and_hold_their_services() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 101, ev::REQUEST_PARSE, 0, 0, 0),
        (3, 110, ev::REQUEST, 0, 0, 5),
        (3, 120, ev::SERVICE_BEGIN, 0, 0, 6),
        (3, 121, ev::SERVICE_BEGIN, 0, 0, 8),
        (3, 130, ev::SERVICE_END, 0, 0, 0),
        (3, 140, ev::SERVICE_END, 0, 0, 0),
        (3, 150, ev::STATUS, 0, 404, 0),
        (3, 160, ev::REQUEST_END, 0, 0, 0),
        (3, 165, ev::REQUEST_PARSE, 0, 0, 0),
        (3, 170, ev::REQUEST, 0, 0, 5),
        (3, 180, ev::STATUS, 0, 200, 0),
        (3, 190, ev::REQUEST_END, 0, 0, 0),
        (3, 195, ev::VISIT_END, K, 0, 0),
    ]);
    let requests = of(&out, Kind::Request);
    assert_eq!(times(&requests), [(100, 160), (165, 190)]);
    assert_eq!(
        (requests[0].status, requests[1].status),
        (Some(404), Some(200))
    );
    assert_eq!(requests[0].connection, Some(0));
    let services = of(&out, Kind::Service);
    assert_eq!(times(&services), [(120, 140)]);
    assert_eq!(
        (services[0].parent, &*services[0].name),
        (Some(requests[0].id), "s6")
    );
}

#[test]
fn a_call_whose_request_began_before_the_probes_is_not_complete() {
    let out = built(&[
        (3, 10, ev::SQL_BEGIN, 0, 0, 6),
        (3, 15, ev::SQL_END, 0, 0, 0),
        (3, 20, ev::SERVICE_BEGIN, 0, 0, 6),
        (3, 30, ev::SERVICE_END, 0, 0, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 110, ev::REQUEST, 0, 0, 5),
        (3, 120, ev::SERVICE_BEGIN, 0, 0, 6),
        (3, 122, ev::SQL_BEGIN, 0, 0, 6),
        (3, 124, ev::SQL_END, 0, 0, 0),
        (3, 130, ev::SERVICE_END, 0, 0, 0),
        (3, 140, ev::REQUEST_END, 0, 0, 0),
        (3, 150, ev::VISIT_END, K, 0, 0),
        (4, 200, ev::SERVICE_BEGIN, 0, 0, 6),
        (4, 210, ev::SERVICE_END, 0, 0, 0),
        (4, 220, ev::SQL_BEGIN, 0, 0, 6),
        (4, 230, ev::SQL_END, 0, 0, 0),
    ]);
    // The last thread serves no requests that are seen: its calls are all that there is.
    for kind in [Kind::Service, Kind::Sql] {
        let complete: Vec<_> = of(&out, kind).iter().map(|s| s.complete).collect();
        assert_eq!(complete, [false, true, true], "{kind:?}");
    }
}

#[test]
fn a_response_that_an_event_loop_writes_is_the_workers_who_is_at_the_request() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 110, ev::REQUEST, 0, 0, 5),
        (3, 130, ev::VISIT_END, K, 0, 0),
        (4, 200, ev::VISIT_BEGIN, K, 0, 0),
        (4, 210, ev::SQL_BEGIN, 0, 0, 6),
        (4, 220, ev::SQL_END, 0, 0, 0),
        (3, 230, ev::VISIT_BEGIN, K, 0, 0),
        (3, 231, ev::STATUS, 0, 204, 0),
        (3, 232, ev::REQUEST_END, 0, 0, 0),
        (3, 233, ev::VISIT_END, K, 0, 0),
        (4, 240, ev::VISIT_END, K, 0, 0),
        // The next begins as the first did.
        (3, 300, ev::VISIT_BEGIN, K, 0, 0),
        (3, 310, ev::REQUEST, 0, 0, 7),
        (3, 311, ev::REQUEST_END, 0, 0, 0),
        (3, 330, ev::VISIT_END, K, 0, 0),
    ]);
    let requests = of(&out, Kind::Request);
    assert_eq!(times(&requests), [(100, 232), (300, 311)]);
    let r = &requests[0];
    assert_eq!(
        (r.thread, r.end_thread, r.complete, r.status),
        (3, 3, true, Some(204))
    );
    assert_eq!(of(&out, Kind::Sql)[0].parent, Some(r.id));
    let pieces: Vec<_> = out
        .segments
        .iter()
        .filter(|s| i64::from(s.span) == r.id)
        .map(|s| (s.thread, s.begin_ns, s.end_ns))
        .collect();
    assert_eq!(pieces, [(3, 100, 130), (4, 200, 232)]);
}

#[test]
fn an_asynchronous_request_goes_on_in_the_next_visit() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 110, ev::REQUEST, 0, 0, 5),
        (3, 120, ev::STATUS, 0, 200, 0),
        (3, 130, ev::VISIT_END, K, 0, 0),
        (9, 195, ev::QUEUED, K, 0, 0),
        (4, 200, ev::VISIT_BEGIN, K, 0, 0),
        (4, 210, ev::SERVICE_BEGIN, 0, 0, 6),
        (4, 220, ev::SERVICE_END, 0, 0, 0),
        (4, 230, ev::REQUEST_END, 0, 0, 0),
        (4, 240, ev::VISIT_END, K, 0, 0),
    ]);
    let r = &of(&out, Kind::Request)[0];
    assert_eq!(
        (r.begin_ns, r.end_ns, r.thread, r.end_thread, r.complete),
        (100, 230, 3, 4, true)
    );
    assert_eq!(of(&out, Kind::Service)[0].parent, Some(r.id));
    let pieces: Vec<_> = out
        .segments
        .iter()
        .filter(|s| i64::from(s.span) == r.id)
        .collect();
    let shape: Vec<_> = pieces
        .iter()
        .map(|s| (s.thread, s.begin_ns, s.end_ns, s.queued_ns()))
        .collect();
    assert_eq!(shape, [(3, 100, 130, None), (4, 200, 230, Some(195))]);
}

#[test]
fn a_request_that_nobody_goes_on_with_has_the_piece_that_was_worked_on() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 110, ev::REQUEST, 0, 0, 5),
        (3, 130, ev::VISIT_END, K, 0, 0),
        (1, 300, ev::CONN_CLOSE, K, 0, 0),
        (1, 310, ev::CONN_OPEN, K, 1, 0),
        (3, 400, ev::VISIT_BEGIN, K, 0, 0),
        (3, 410, ev::REQUEST, 0, 0, 5),
        (3, 420, ev::REQUEST_END, 0, 0, 0),
        (3, 430, ev::VISIT_END, K, 0, 0),
    ]);
    let requests = of(&out, Kind::Request);
    assert_eq!(times(&requests), [(100, 300), (400, 420)]);
    let pieces = out
        .segments
        .iter()
        .filter(|s| requests.iter().any(|r| r.id == i64::from(s.span)));
    let shape: Vec<_> = pieces
        .map(|s| (i64::from(s.span), s.begin_ns, s.end_ns))
        .collect();
    assert_eq!(
        shape,
        [(requests[0].id, 100, 130)],
        "the other is whole without"
    );
}

#[test]
fn a_request_whose_end_was_lost_ends_where_it_was_answered() {
    let out = built(&[
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 110, ev::REQUEST, 0, 0, 5),
        (3, 120, ev::STATUS, 0, 200, 0),
        (3, 130, ev::VISIT_END, K, 0, 0),
        (1, 300, ev::CONN_CLOSE, K, 0, 0),
    ]);
    let r = &of(&out, Kind::Request)[0];
    assert_eq!((r.begin_ns, r.end_ns, r.complete), (100, 120, true));
    let c = &of(&out, Kind::Connection)[0];
    assert_eq!(
        (c.begin_ns, c.end_ns, c.complete),
        (0, 300, false),
        "open before the recording"
    );
}

#[test]
fn streams_of_http2_overlap_on_their_connection() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (3, 100, ev::VISIT_BEGIN, K, 0, 0),
        (3, 105, ev::REQUEST, 0, 0, 5),
        (4, 110, ev::VISIT_BEGIN, K, 0, 0),
        (4, 115, ev::REQUEST, 0, 0, 6),
        (3, 120, ev::REQUEST_END, 0, 0, 0),
        (3, 130, ev::VISIT_END, K, 0, 0),
        (4, 140, ev::REQUEST_END, 0, 0, 0),
        (4, 150, ev::VISIT_END, K, 0, 0),
    ]);
    let requests = of(&out, Kind::Request);
    assert_eq!(times(&requests), [(100, 120), (110, 140)]);
    assert!(
        requests
            .iter()
            .all(|r| r.complete && r.connection == Some(0))
    );
}

#[test]
fn of_nested_pools_and_statements_the_outermost_counts() {
    let out = built(&[
        (3, 10, ev::POOL_WAIT_BEGIN, 0, 0, 1),
        (3, 11, ev::POOL_WAIT_BEGIN, 0, 0, 2),
        (3, 20, ev::POOL_WAIT_END, 55, 0, 0),
        (3, 21, ev::POOL_WAIT_END, 66, 0, 0),
        (3, 30, ev::SQL_BEGIN, 0, 0, 3),
        (3, 31, ev::SQL_BEGIN, 0, 0, 4),
        (3, 40, ev::SQL_END, 0, 0, 0),
        (3, 41, ev::SQL_END, 0, 0, 0),
        (3, 50, ev::POOL_RELEASE, 55, 0, 0),
        (4, 60, ev::POOL_RELEASE, 66, 0, 0),
    ]);
    assert_eq!(times(&of(&out, Kind::PoolWait)), [(10, 21)]);
    assert_eq!(times(&of(&out, Kind::Sql)), [(30, 41)]);
    let used = of(&out, Kind::PoolUse);
    assert_eq!(times(&used), [(21, 60)]);
    assert_eq!((&*used[0].name, used[0].end_thread), ("s1", 4));
}

#[test]
fn application_states_replace_each_other_and_pushed_ones_nest() {
    let out = built(&[
        (3, 10, ev::APP_STATE, 0, 0, 1),
        (3, 20, ev::APP_PUSH, 0, 0, 2),
        (3, 30, ev::APP_POP, 0, 0, 0),
        (3, 40, ev::APP_STATE, 0, 0, 3),
        (3, 50, ev::SPAN_BEGIN, 9, 0, 4),
        (4, 60, ev::SPAN_END, 9, 0, 0),
    ]);
    let states = of(&out, Kind::AppState);
    assert_eq!(times(&states), [(10, 40), (20, 30), (40, 1000)]);
    assert_eq!(states[1].parent, Some(states[0].id));
    let user = &of(&out, Kind::User)[0];
    assert_eq!((user.thread, user.end_thread, user.end_ns), (3, 4, 60));
}

#[test]
fn a_visit_after_the_close_does_not_make_a_connection_of_the_whole_recording() {
    let out = built(&[
        (1, 10, ev::CONN_OPEN, K, 1, 0),
        (1, 20, ev::CONN_CLOSE, K, 0, 0),
        (3, 30, ev::VISIT_BEGIN, K, 0, 0),
        (3, 35, ev::VISIT_END, K, 0, 0),
    ]);
    assert_eq!(times(&of(&out, Kind::Connection)), [(10, 20), (30, 35)]);
}

#[test]
fn a_request_from_before_the_probes_is_over_when_its_thread_serves_the_next_connection() {
    let out = built(&[
        (3, 20, ev::REQUEST, 0, 0, 2),
        (3, 50, ev::VISIT_BEGIN, K, 0, 0),
        (3, 60, ev::REQUEST, 0, 0, 3),
        (3, 70, ev::REQUEST_END, 0, 0, 0),
        (3, 80, ev::VISIT_END, K, 0, 0),
    ]);
    let requests = of(&out, Kind::Request);
    assert_eq!(times(&requests), [(20, 50), (50, 70)]);
    assert!(!requests[0].complete);
}

/// Whatever must hold for any sequence of events.
fn check(out: &Output) -> Result<(), TestCaseError> {
    for (at, s) in out.spans.iter().enumerate() {
        prop_assert!(
            0 <= s.begin_ns && s.begin_ns <= s.end_ns && s.end_ns <= 1000,
            "{:?}",
            s
        );
        if let Some(p) = s.parent() {
            prop_assert!((p as usize) < at, "{:?} comes before its parent", s);
            let p = &out.spans[p as usize];
            prop_assert!(
                p.begin_ns <= s.begin_ns && s.end_ns <= p.end_ns,
                "{:?} in {:?}",
                s,
                p
            );
        }
        if let (Kind::Request | Kind::TlsHandshake, Some(c)) = (s.kind, s.connection()) {
            let c = &out.spans[c as usize];
            prop_assert!(
                c.begin_ns <= s.begin_ns && s.end_ns <= c.end_ns,
                "{:?} in {:?}",
                s,
                c
            );
        }
    }
    // What reads the tables takes a request without segments for its thread's, from begin to end.
    for (s, id) in out.spans.iter().zip(0u32..) {
        if s.kind == Kind::Request && out.segments.iter().all(|p| p.span != id) {
            let whole = |p: &&Part| {
                (p.span, p.thread, p.begin_ns, p.end_ns) == (id, s.thread, s.begin_ns, s.end_ns)
            };
            prop_assert!(
                s.begin_ns == s.end_ns || out.pieces.iter().any(|p| whole(&p)),
                "{:?}",
                s
            );
        }
    }
    let room = Room::in_memory();
    let states = crate::bounded::Grouped::new(&room);
    let mut sums: HashMap<i64, i64> = HashMap::new();
    let mut rows = Vec::new();
    let doings = crate::breakdown::Doings {
        states: &states,
        pollers: &[],
        polls: &|_| false,
        places: &crate::intervals::Places::new(0),
        looked: Default::default(),
    };
    let Ok(()) = crate::breakdown::rows(out, &doings, &room, |row| {
        rows.push(row);
        Ok::<(), std::convert::Infallible>(())
    });
    for row in rows {
        prop_assert!(row.duration_ns > 0);
        *sums.entry(row.span).or_default() += row.duration_ns;
    }
    for (s, id) in out.spans.iter().zip(0..) {
        if matches!(
            s.kind,
            Kind::Connection | Kind::TlsHandshake | Kind::Request
        ) {
            let sum = sums.get(&id).copied().unwrap_or(0);
            prop_assert_eq!(sum, s.end_ns - s.begin_ns, "{:?}", s);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_events_give_spans_that_nest_and_breakdowns_that_add_up(
        events in proptest::collection::vec(
            (0u32..4, 0i64..60, 30u32..66, 0u64..3, -1i64..3, 0u32..3), 0..120)
    ) {
        let mut at = 0;
        let events: Vec<_> = events.into_iter().map(|(thread, step, kind, a, b, c)| {
            at += step / 4;
            (thread, at, kind, a, b, c)
        }).collect();
        check(&built(&events))?;
    }
}
