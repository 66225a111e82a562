//! Events of the scheduler in the kernel tracer's own messages (`FtraceEvent`), a bundle per CPU.

use std::collections::BTreeMap;

use super::proto::Message;
use super::sched::Sched;
use crate::timeline::Thread;

/// What the kernel shows of a thread of normal scheduling.
const PRIORITY: i64 = 120;

/// A packet for each CPU that something happened on, in their order.
pub fn packets(threads: &[Thread], events: Vec<Sched>) -> impl Iterator<Item = Message> {
    let mut bundles: BTreeMap<i64, Message> = BTreeMap::new();
    for event in events {
        let (cpu, message) = ftrace(threads, event);
        let bundle = bundles
            .entry(cpu)
            .or_insert_with(|| Message::new().uint(1, cpu as u64));
        *bundle = std::mem::take(bundle).message(2, &message);
    }
    bundles
        .into_values()
        .map(|bundle| Message::new().message(1, &bundle))
}

/// Where it happened, and its message.
fn ftrace(threads: &[Thread], event: Sched) -> (i64, Message) {
    let of = |thread: Option<i64>| -> (i64, &str) {
        thread
            .and_then(|t| threads.get(t as usize))
            .map_or((0, "idle or another process"), |t| {
                (t.tid.unwrap_or(0).into(), t.name.as_str())
            })
    };
    let event_of = |ts: i64, pid: i64| Message::new().uint(1, ts as u64).int(2, pid);
    match event {
        Sched::Switch {
            ts,
            cpu,
            prev,
            left,
            next,
        } => {
            let ((prev, prev_name), (next, next_name)) = (of(prev), of(next));
            let switch = Message::new()
                .text(1, prev_name)
                .int(2, prev)
                .int(3, PRIORITY)
                .uint(4, left)
                .text(5, next_name)
                .int(6, next)
                .int(7, PRIORITY);
            (cpu, event_of(ts, prev).message(4, &switch))
        }
        Sched::Waking {
            ts,
            cpu,
            waker,
            woken,
        } => {
            let ((waker, _), (woken, name)) = (of(waker), of(Some(woken)));
            let waking = Message::new()
                .text(1, name)
                .int(2, woken)
                .int(3, PRIORITY)
                .int(4, 1)
                .int(5, cpu);
            (cpu, event_of(ts, waker).message(20, &waking))
        }
    }
}
