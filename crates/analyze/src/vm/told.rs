//! What the JVM's log tells beside safepoints: phases of collections, compilations, deoptimizations, loaded classes.
//!
//! A phase lies in the shortest longer one of its collection that its middle is in. Parts of which only durations are told are laid one
//! after the other from the begin of their pause. Where the log knows no reasons of deoptimizations (JDK 17), code of C2's that is given up is one. Of a compilation the log tells the begin only: it ends where its thread begins the
//! next one, or is blocked for longer than a lock takes and not by a pause, which is where it waits for work; without the
//! kernel level it is a moment.

use std::collections::HashMap;
use std::sync::Arc;

use loadline_trace::spool::vmlog::{Compilation, Entry, Phase};
use loadline_trace::tables::Vm;

use crate::model::{Cause, Interval, State};

/// A compiler that is blocked for less is taken to have met a lock: it waits for work up to five seconds, and waits for less
/// only if work comes. At half and at double the ends of some compilations move by as much.
const LOCK_NS: i64 = 1_000_000;
/// Level of what is made for a native method: in no time, and by the thread that calls it.
const NATIVE: u8 = 0;

/// Rows of what the log tells within the recording, in no order. `states` are those of a thread, by its id in the target's pid
/// namespace and a moment.
pub fn rows<'a>(
    entries: impl Iterator<Item = Entry<'a>>,
    states: &dyn Fn(u32, i64) -> &'a [Interval],
    (begin, end): (i64, i64),
) -> Vec<Vm> {
    let (mut found, mut phases, mut compilations) = (Vec::new(), Vec::new(), Vec::new());
    let (mut given_up, mut has_reasons) = (Vec::new(), false);
    for entry in entries {
        match entry {
            Entry::Safepoint(_) => {}
            Entry::Phase(p) => phases.push(p),
            Entry::Compilation(c) => compilations.push(c),
            Entry::GivenUp { at, method, why } => {
                given_up.push(row(
                    "deoptimization",
                    &method.replace("::", "."),
                    why,
                    at,
                    at,
                ));
            }
            Entry::Deoptimization { at, method, why } => {
                has_reasons = true;
                found.push(row("deoptimization", method, why, at, at));
            }
            Entry::ClassLoad { at, class, source } => {
                found.push(row("class_load", class, source, at, at));
            }
        }
    }
    if !has_reasons {
        found.extend(given_up);
    }
    found.extend(of_collections(&phases));
    found.extend(of_compilers(&compilations, states));
    found.retain(|r| r.end_ns >= begin && r.begin_ns <= end);
    for r in &mut found {
        (r.begin_ns, r.end_ns) = (r.begin_ns.max(begin), r.end_ns.min(end));
    }
    found
}

fn row(kind: &'static str, name: &str, cause: &str, begin_ns: i64, end_ns: i64) -> Vm {
    Vm {
        kind,
        name: name.into(),
        cause: cause.into(),
        begin_ns,
        end_ns,
        heap_before: None,
        heap_after: None,
    }
}

/// A phase with its place in time.
struct Placed<'a> {
    name: &'a str,
    begin: i64,
    end: i64,
    /// Whether only its duration was told: nothing lies in it.
    is_part: bool,
}

fn of_collections(phases: &[Phase]) -> Vec<Vm> {
    let mut parts: HashMap<u32, Vec<&Phase>> = HashMap::new();
    let mut placed: HashMap<u32, Vec<Placed>> = HashMap::new();
    for p in phases {
        if p.is_part {
            parts.entry(p.collection).or_default().push(p);
            continue;
        }
        let all = placed.entry(p.collection).or_default();
        let mut from = p.at - p.lasted;
        all.push(Placed {
            name: p.name,
            begin: from,
            end: p.at,
            is_part: false,
        });
        if p.name.contains("Pause") {
            for part in parts.remove(&p.collection).unwrap_or_default() {
                all.push(Placed {
                    name: part.name,
                    begin: from,
                    end: from + part.lasted,
                    is_part: true,
                });
                from += part.lasted;
            }
        }
    }
    let of_one = |(collection, all): (&u32, &Vec<Placed>)| -> Vec<Vm> {
        let of = format!("GC({collection})");
        let row = |p: &Placed| {
            row(
                "gc_phase",
                p.name,
                outer(p, all).unwrap_or(&of),
                p.begin,
                p.end,
            )
        };
        all.iter().map(row).collect()
    };
    placed.iter().flat_map(of_one).collect()
}

/// The phase that this one lies in, if there is one.
fn outer<'a>(of: &Placed, all: &[Placed<'a>]) -> Option<&'a str> {
    let lasted = |p: &Placed| p.end - p.begin;
    let middle = of.begin + lasted(of) / 2;
    all.iter()
        .filter(|p| !p.is_part && lasted(p) > lasted(of) && p.begin <= middle && middle <= p.end)
        .min_by_key(|p| lasted(p))
        .map(|p| p.name)
}

fn of_compilers<'a>(
    compilations: &[Compilation],
    states: &dyn Fn(u32, i64) -> &'a [Interval],
) -> Vec<Vm> {
    let mut next: HashMap<u32, i64> = HashMap::new();
    let mut found = Vec::with_capacity(compilations.len());
    for c in compilations.iter().rev() {
        let following = next.insert(c.tid, c.at).unwrap_or(i64::MAX);
        let end = match c.level {
            NATIVE => c.at,
            _ => waits_for_work(states(c.tid, c.at), c.at).min(following),
        };
        let by = match (c.level, c.on_stack) {
            (NATIVE, _) => "native wrapper".to_owned(),
            (4, false) => "C2".to_owned(),
            (4, true) => "C2, on stack".to_owned(),
            (level, false) => format!("C1, level {level}"),
            (level, true) => format!("C1, level {level}, on stack"),
        };
        let method: Arc<str> = c.method.replace("::", ".").into();
        found.push(row("compilation", &method, &by, c.at, end));
    }
    found
}

/// When a compiler that begins with a method at `from` is done with it, as far as its states tell. What is unknown for no
/// longer than a lock takes hides no wait for work.
fn waits_for_work(states: &[Interval], from: i64) -> i64 {
    let rest = &states[states.partition_point(|i| i.end <= from)..];
    let done = rest.iter().find(|i| {
        let blocked = i.state.is_blocked() && !matches!(i.cause, Cause::Gc | Cause::Safepoint);
        let waits = blocked && i.begin >= from;
        (waits || i.state == State::Unknown) && i.end - i.begin >= LOCK_NS
    });
    match (done, rest.last()) {
        (Some(done), _) => done.begin.max(from),
        (None, Some(last)) => last.end,
        (None, None) => from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_trace::spool::vmlog;

    const MS: i64 = 1_000_000;

    fn told(log: &str, states: &[Interval]) -> Vec<(&'static str, String, String, i64, i64)> {
        let mut rows = rows(vmlog::entries(log), &|_, _| states, (0, 1000 * MS));
        rows.sort_by(|a, b| (a.begin_ns, &a.name).cmp(&(b.begin_ns, &b.name)));
        let text = |r: &Vm| (r.kind, r.name.to_string(), r.cause.to_string());
        rows.iter()
            .map(|r| {
                let (kind, name, cause) = text(r);
                (kind, name, cause, r.begin_ns / MS, r.end_ns / MS)
            })
            .collect()
    }

    fn phase(
        name: &str,
        within: &str,
        begin: i64,
        end: i64,
    ) -> (&'static str, String, String, i64, i64) {
        ("gc_phase", name.into(), within.into(), begin, end)
    }

    #[test]
    fn parts_of_a_pause_follow_each_other_in_it_and_a_concurrent_phase_lies_in_its_cycle() {
        let log = "[30000000ns][1][gc,phases] GC(3)   Merge Heap Roots: 2.0ms\n\
                   [30000000ns][1][gc,phases] GC(3)   Evacuate Collection Set: 5.0ms\n\
                   [30000000ns][1][gc,phases] GC(3)   Other: 0.0ms\n\
                   [30000000ns][1][gc] GC(3) Pause Young (Normal) 24M->4M(256M) 10.0ms\n\
                   [60000000ns][1][gc,marking] GC(4) Concurrent Mark 8.0ms\n\
                   [70000000ns][1][gc] GC(4) Pause Remark 4M->4M(256M) 5.0ms\n\
                   [90000000ns][1][gc] GC(4) Concurrent Mark Cycle 50.0ms\n\
                   [95000000ns][1][gc,phases] GC(5)   Merge Heap Roots: 2.0ms\n";
        let (young, cycle) = ("Pause Young (Normal)", "Concurrent Mark Cycle");
        assert_eq!(
            told(log, &[]),
            [
                phase("Merge Heap Roots", young, 20, 22),
                phase(young, "GC(3)", 20, 30),
                phase("Evacuate Collection Set", young, 22, 27),
                phase("Other", young, 27, 27),
                phase(cycle, "GC(4)", 40, 90),
                phase("Concurrent Mark", cycle, 52, 60),
                phase("Pause Remark", cycle, 65, 70),
            ]
        );
    }

    #[test]
    fn a_compilation_ends_where_its_thread_waits_for_work_or_begins_the_next() {
        let log = "[10000000ns][42][jit,compilation] 1   4       shop.Cart::add (57 bytes)\n\
                   [30000000ns][42][jit,compilation] 2 %  3       shop.Cart::sum @ 4 (9 bytes)\n\
                   [50000000ns][42][jit,compilation] 3    3       shop.Cart::get (9 bytes)\n\
                   [70000000ns][7][jit,compilation] 4     n 0       shop.Cart::hash (native)\n";
        let state = |from: i64, to: i64, state, cause| Interval {
            cause,
            ..Interval::new(from, to, state)
        };
        let states = [
            state(0, 9 * MS, State::Blocked, Cause::Idle),
            state(9 * MS, 15 * MS, State::Running, Cause::Running),
            state(15 * MS, 18 * MS, State::Blocked, Cause::Gc),
            state(18 * MS, 19 * MS, State::Running, Cause::Running),
            state(19 * MS, 19 * MS + 500_000, State::Blocked, Cause::Lock),
            state(19 * MS + 500_000, 25 * MS, State::Running, Cause::Running),
            state(25 * MS, 29 * MS, State::Blocked, Cause::Idle),
            state(29 * MS, 100 * MS, State::Running, Cause::Running),
        ];
        let compiled = |name: &str, by: &str, begin, end| {
            ("compilation", name.to_owned(), by.to_owned(), begin, end)
        };
        assert_eq!(
            told(log, &states),
            [
                compiled("shop.Cart.add", "C2", 10, 25),
                compiled("shop.Cart.sum", "C1, level 3, on stack", 30, 50),
                compiled("shop.Cart.get", "C1, level 3", 50, 100),
                compiled("shop.Cart.hash", "native wrapper", 70, 70),
            ]
        );
        // A record of the kernel's was lost: what is short hides no wait, what is long may.
        let lost = |until: i64| {
            [
                state(0, 12 * MS, State::Running, Cause::Running),
                state(12 * MS, until, State::Unknown, Cause::Unknown),
                state(until, 16 * MS, State::Running, Cause::Running),
                state(16 * MS, 29 * MS, State::Blocked, Cause::Idle),
            ]
        };
        let add = |until: i64| told(log, &lost(until))[0].4;
        assert_eq!((add(12 * MS + 900_000), add(14 * MS)), (16, 12));
        // Without the kernel level nobody knows how long it took.
        let unknown = [state(0, 100 * MS, State::Unknown, Cause::Unknown)];
        assert_eq!(
            told(log, &unknown)[2],
            compiled("shop.Cart.get", "C1, level 3", 50, 50)
        );
    }

    #[test]
    fn code_that_is_given_up_is_a_deoptimization_where_nothing_else_tells_of_any() {
        let given_up = "[10000000ns][42][jit,compilation] 1   4       shop.Cart::add (57 bytes)   made not entrant\n";
        let row = |name: &str, cause: &str, at| {
            ("deoptimization", name.to_owned(), cause.to_owned(), at, at)
        };
        assert_eq!(
            told(given_up, &[]),
            [row("shop.Cart.add", "made not entrant", 10)]
        );
        let trapped = "[11000000ns][7][deoptimization] cid=1 level=4 shop.Cart.add(I)V trap_bci=1 unstable_if reinterpret pc=0x1 relative_pc=0x2\n";
        assert_eq!(
            told(&(given_up.to_owned() + trapped), &[]),
            [row("shop.Cart.add", "unstable_if reinterpret", 11)]
        );
    }
}
