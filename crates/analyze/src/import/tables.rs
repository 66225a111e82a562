//! What the events of a flight recording mean as tables.
//!
//! The trace's clock begins with the recording's first event. A thread's states are the intervals in which it is known to
//! have been blocked, and `unknown` between them; where two of one thread overlap (a park within a monitor's wait), the one
//! that began later has its time.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use loadline_trace::meta::Meta;
use loadline_trace::tables::{self, names};
use loadline_trace::{TraceWriter, tables::Resource};

use super::events::{Blocked, Interval, Recording, Weight};
use super::meta::meta;
use super::pieces::{Piece, gapless};
use crate::samples::{ALLOC, CPU, class_name};

/// Frames in which a worker waits for work.
const IDLE: [&str; 5] = [
    "java.util.concurrent.ThreadPoolExecutor.getTask",
    "java.util.concurrent.ForkJoinPool.awaitWork",
    "java.util.concurrent.ForkJoinPool.runWorker",
    "java.lang.ref.ReferenceQueue.remove",
    "java.lang.ref.Reference.waitForReferencePendingList",
];
/// A sample's period where the recording does not say it: that of the JDK's `default` settings.
const PERIOD_NS: i64 = 20_000_000;

/// Rows of the tables that a flight recording fills, and what it says of itself.
#[derive(Default)]
pub struct Tables {
    pub meta: Meta,
    threads: Vec<tables::Thread>,
    states: Vec<tables::State>,
    syscalls: Vec<tables::Syscall>,
    resources: Vec<Resource>,
    waits: Vec<tables::Wait>,
    vm: Vec<tables::Vm>,
    stacks: Vec<tables::Stack>,
    samples: Vec<tables::Sample>,
    counters: Vec<tables::Counter>,
}

impl Tables {
    pub fn write(&self, to: &mut TraceWriter) -> Result<()> {
        to.table(self.threads.iter().cloned())?;
        to.table(self.states.iter().cloned())?;
        to.table(self.syscalls.iter().cloned())?;
        to.table(self.resources.iter().cloned())?;
        to.table(Vec::<tables::Span>::new())?;
        to.table(Vec::<tables::Call>::new())?;
        to.table(Vec::<tables::Segment>::new())?;
        to.table(Vec::<tables::Mark>::new())?;
        to.table(self.waits.iter().cloned())?;
        to.table(self.vm.iter().cloned())?;
        to.table(Vec::<tables::Mount>::new())?;
        to.table(self.stacks.iter().cloned())?;
        to.table(self.samples.iter().cloned())?;
        to.table(Vec::<tables::Object>::new())?;
        to.table(self.counters.iter().cloned())?;
        to.table(Vec::<tables::ThreadCounter>::new())?;
        to.table(Vec::<tables::Breakdown>::new())?;
        Ok(())
    }
}

/// The tables of a recording.
pub fn tables(r: &Recording, file: &Path) -> Result<Tables> {
    let Some(begin) = r.begin.filter(|b| *b < r.end) else {
        bail!(
            "{} holds no event that a trace has a place for",
            file.display()
        );
    };
    let at = |ns: i64| ns - begin;
    let end = at(r.end);
    let mut t = Tables {
        meta: meta(r, begin, end, file),
        ..Tables::default()
    };

    // Dense ids, by name, so that two imports of one recording are alike.
    let mut order: Vec<i64> = r.threads.keys().copied().collect();
    order.sort_by_key(|id| (&r.threads[id].name, r.threads[id].java_id, *id));
    let ids: HashMap<i64, i64> = order.iter().copied().zip(0..).collect();
    for flight in &order {
        let thread = &r.threads[flight];
        let is_java = thread.java_id.is_some();
        let begin_ns = thread.start.map_or(0, at);
        t.threads.push(tables::Thread {
            id: ids[flight],
            tid: thread.tid.filter(|_| !thread.is_virtual),
            pid: r.pid,
            java_id: thread.java_id,
            name: thread.name.clone(),
            kind: crate::threads::kind::of(&thread.name, is_java, thread.is_virtual, false),
            begin_ns,
            end_ns: thread.stop.map_or(end, at).max(begin_ns),
            parent: thread.parent.and_then(|p| ids.get(&p).copied()),
        });
    }

    for (frame, id) in r.frames.iter().zip(0..) {
        let parent = frame.parent.filter(|p| *p < id);
        let depth = parent.map_or(0, |p| t.stacks[p as usize].depth + 1);
        t.stacks.push(tables::Stack {
            id,
            parent,
            depth,
            kind: "java",
            name: frame.name.as_str().into(),
            file: None,
            line: frame.line,
        });
    }

    let mut blocked: Vec<&Interval> = r.blocked.iter().filter(|b| b.begin < b.end).collect();
    blocked.sort_by_key(|b| (b.begin, b.end, b.thread));
    let mut resources: HashMap<(&str, &str), i64> = HashMap::new();
    let mut of_thread: HashMap<i64, Vec<Piece>> = HashMap::new();
    for b in blocked {
        let Some(&thread) = ids.get(&b.thread) else {
            continue;
        };
        let (begin_ns, end_ns) = (at(b.begin), at(b.end));
        let (mut wait, mut syscall) = (None, None);
        let mut waits =
            |kind, class: &str, object, owner: Option<i64>, notifier: Option<i64>, outcome| {
                let id = t.waits.len() as i64;
                t.waits.push(tables::Wait {
                    id,
                    thread,
                    begin_ns,
                    end_ns,
                    kind,
                    class: Some(class).filter(|c| !c.is_empty()).map(Arc::from),
                    object,
                    owner: owner.and_then(|o| ids.get(&o).copied()),
                    notifier: notifier.and_then(|n| ids.get(&n).copied()),
                    outcome,
                    stack: b.stack,
                });
                wait = Some(id);
            };
        let idle = is_idle(r, b.stack);
        let cause = match &b.why {
            Blocked::Enter(class, object, owner) => {
                waits("monitor_enter", class, *object, *owner, None, "acquired");
                names::LOCK
            }
            Blocked::Wait(class, object, notifier, timed_out) => {
                let outcome = if *timed_out { "timeout" } else { "notified" };
                waits("monitor_wait", class, *object, None, *notifier, outcome);
                if idle { names::IDLE } else { names::OTHER }
            }
            Blocked::Park(class, object, timeout) => {
                let out = timeout.is_some_and(|ns| ns > 0 && b.end - b.begin >= ns);
                let outcome = if out { "timeout" } else { "unparked" };
                waits("park", class, *object, None, None, outcome);
                match class.as_str() {
                    _ if idle => names::IDLE,
                    // The synchronizers of the JDK's locks; a condition is another object.
                    c if c.contains("ReentrantLock$") || c.contains("ReentrantReadWriteLock$") => {
                        names::LOCK
                    }
                    _ => names::OTHER,
                }
            }
            Blocked::Sleep => names::IDLE,
            Blocked::Io(call, on, bytes) => {
                let socket = matches!(*call, "recvfrom" | "sendto");
                let kind = if socket { "socket" } else { "file" };
                let next = resources.len() as i64;
                let id = *resources.entry((kind, on)).or_insert_with(|| {
                    t.resources.push(Resource {
                        id: next,
                        fd: -1,
                        kind,
                        name: on.clone(),
                        local: None,
                        remote: Some(on.clone()).filter(|_| socket),
                        inode: None,
                        begin_ns: 0,
                        end_ns: end,
                    });
                    next
                });
                t.syscalls.push(tables::Syscall {
                    thread,
                    begin_ns,
                    end_ns,
                    name: (*call).into(),
                    fd: None,
                    resource: Some(id),
                    size: None,
                    result: *bytes,
                });
                syscall = Some(*call);
                if socket { names::SOCKET } else { names::FILE }
            }
        };
        of_thread.entry(thread).or_default().push(Piece {
            begin: begin_ns,
            end: end_ns,
            cause,
            wait,
            syscall,
        });
    }
    for thread in &t.threads {
        let pieces = of_thread.remove(&thread.id).unwrap_or_default();
        for p in gapless(&pieces, thread.begin_ns, thread.end_ns) {
            t.states.push(tables::State {
                thread: thread.id,
                begin_ns: p.begin,
                end_ns: p.end,
                state: if p.cause == names::UNKNOWN {
                    names::UNKNOWN
                } else {
                    names::BLOCKED
                },
                cause: p.cause,
                cpu: None,
                waker: None,
                waker_tid: None,
                syscall: p.syscall.map(Arc::from),
                fd: None,
                wait: p.wait,
                interrupt: None,
            });
        }
    }

    for s in &r.samples {
        let Some(&thread) = ids.get(&s.thread) else {
            continue;
        };
        let (kind, weight, class) = match &s.weight {
            Weight::Period(of) => (CPU, period_ns(r, *of), None),
            Weight::Cpu(ns) => (CPU, *ns, None),
            Weight::Bytes(bytes, class) => (ALLOC, *bytes, Some(class_name(class).into())),
        };
        t.samples.push(tables::Sample {
            ts_ns: at(s.ts),
            thread,
            kind,
            weight,
            class,
            stack: s.stack,
            size: None,
        });
    }
    virtual_machine(r, &mut t, &at);
    t.meta.events =
        (r.blocked.len() + r.samples.len() + r.collections.len() + r.operations.len()) as u64;
    Ok(t)
}

/// Whether a stack is that of a worker that waits for work.
fn is_idle(r: &Recording, stack: Option<i64>) -> bool {
    let mut next = stack;
    while let Some(frame) = next.and_then(|id| r.frames.get(id as usize)) {
        if IDLE.contains(&frame.name.as_str()) {
            return true;
        }
        next = frame.parent;
    }
    false
}

/// Pauses of collections with the heap before and after, other safepoints, and the heap over time.
fn virtual_machine(r: &Recording, t: &mut Tables, at: &impl Fn(i64) -> i64) {
    let mut heap: BTreeMap<i64, [Option<i64>; 2]> = BTreeMap::new();
    for (ts, gc, before, bytes) in &r.heap {
        heap.entry(*gc).or_default()[usize::from(!before)] = Some(*bytes);
        t.counters.push(tables::Counter {
            ts_ns: at(*ts),
            scope: "process".into(),
            name: "heap_used_bytes".into(),
            value: *bytes as f64,
        });
    }
    for p in &r.pauses {
        let of = r.collections.iter().find(|c| c.gc == p.gc);
        let [before, after] =
            p.gc.and_then(|gc| heap.get(&gc).copied())
                .unwrap_or_default();
        t.vm.push(tables::Vm {
            kind: "gc",
            name: of.map_or(p.name.as_str(), |c| c.name.as_str()).into(),
            cause: of.map_or("", |c| c.cause.as_str()).into(),
            begin_ns: at(p.begin),
            end_ns: at(p.end),
            heap_before: before,
            heap_after: after,
        });
    }
    for o in &r.operations {
        // The operation of a collection holds its pause.
        if r.pauses.iter().any(|p| p.begin < o.end && o.begin < p.end) {
            continue;
        }
        t.vm.push(tables::Vm {
            kind: "safepoint",
            name: o.name.as_str().into(),
            cause: o.name.as_str().into(),
            begin_ns: at(o.begin),
            end_ns: at(o.end),
            heap_before: None,
            heap_after: None,
        });
    }
}

/// `20 ms` of the sampler's settings, in ns.
fn period_ns(r: &Recording, of: i64) -> i64 {
    let text = r.settings.get(&(of, "period".to_owned()));
    let parsed = text.and_then(|t| {
        let (number, unit) = t.split_once(' ')?;
        let scale = match unit {
            "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return None,
        };
        number.parse::<i64>().ok()?.checked_mul(scale)
    });
    parsed.unwrap_or(PERIOD_NS)
}
