//! How many connections a pool may have, and threads an executor: what the agent reads now and then, as counters.

use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::tables::Counter;

/// The counter that an event is, if it tells a limit.
pub fn counter(
    e: &Event,
    (begin, end): (i64, i64),
    text: impl Fn(u32) -> Option<Arc<str>>,
) -> Option<Counter> {
    let (kind, name) = match e.kind {
        ev::POOL_LIMIT => ("pool", "connections_max"),
        ev::THREADS_LIMIT => ("executor", "threads_max"),
        _ => return None,
    };
    Some(Counter {
        ts_ns: e.ts.clamp(begin, end),
        scope: format!("{kind} {}", text(e.c)?).into(),
        name: name.into(),
        value: e.a as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_counter_of_its_pool_and_of_nothing_without_a_name() {
        let text = |id: u32| (id == 7).then(|| "HikariPool-1".into());
        let event = |kind, c| Event {
            ts: 120,
            kind,
            c,
            a: 10,
            b: 0,
            tid: 1,
            virtual_id: 0,
        };
        let told = |e: &Event| counter(e, (0, 100), text);
        let pool = told(&event(ev::POOL_LIMIT, 7)).expect("a limit");
        assert_eq!((pool.ts_ns, &*pool.scope), (100, "pool HikariPool-1"));
        assert_eq!((&*pool.name, pool.value), ("connections_max", 10.0));
        let threads = told(&event(ev::THREADS_LIMIT, 7)).expect("a limit");
        assert_eq!(&*threads.scope, "executor HikariPool-1");
        assert!(told(&event(ev::POOL_LIMIT, 8)).is_none());
        assert!(told(&event(ev::POOL_RELEASE, 7)).is_none());
    }
}
