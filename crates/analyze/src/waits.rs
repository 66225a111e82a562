//! Waits: the agent's begin and end events paired, per thread.
//!
//! A thread can be in several waits at once (an advice that parks inside `Object.wait`), but they
//! nest: an end closes the innermost open wait of its kind, and what is open above it was lost.
//! An end without a begin is a wait that was under way when the recording began, if it is the
//! first that its thread said at all; later it is a torn pair, and dropped.

use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::frames;
use loadline_trace::tables;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounded::{Grouped, List, Room, Sorter};
use crate::intervals::Places;
use crate::model::{Interval, NONE};

/// Names of `waits.kind`.
pub const MONITOR_ENTER: &str = "monitor_enter";
/// `Object.wait`.
pub const MONITOR_WAIT: &str = "monitor_wait";
/// `LockSupport.park`.
pub const PARK: &str = "park";

/// A wait. Its place in the list of waits is its id.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// Begin.
    pub begin_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Thread that waited.
    pub thread: u32,
    /// String id of the class of what it waited for; 0 if it is not known.
    pub class: u32,
    /// Identity hash of that.
    pub object: Option<i64>,
    /// Thread that held it.
    pub owner: Option<u32>,
    /// Thread that ended the wait.
    pub notifier: Option<u32>,
    /// Where in the code it was: the id of a frame in the spool, then of a row.
    pub stack: Option<u32>,
    /// One of the kinds above.
    pub kind: &'static str,
    /// As in the table.
    pub outcome: &'static str,
}

impl Wait {
    /// Its row.
    pub fn row(&self, id: usize, text: &dyn Fn(u32) -> Option<Arc<str>>) -> tables::Wait {
        tables::Wait {
            id: id as i64,
            thread: i64::from(self.thread),
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            kind: self.kind,
            class: text(self.class),
            object: self.object,
            owner: self.owner.map(i64::from),
            notifier: self.notifier.map(i64::from),
            outcome: self.outcome,
            stack: self.stack.map(i64::from),
        }
    }
}

/// What pairing needs to know beside the events.
pub struct Context<'a> {
    /// Begin of the recording.
    pub begin: i64,
    /// End of the recording.
    pub end: i64,
    /// Life of a thread.
    pub life: &'a dyn Fn(u32) -> (i64, i64),
    /// Thread of a Java id.
    pub by_java: &'a dyn Fn(u64) -> Option<u32>,
    /// Where waits are kept.
    pub room: &'a Room,
}

/// The order of waits.
type ByBegin = Sorter<Wait, fn(&Wait) -> (i64, u32)>;

/// Pairs the events of all threads.
pub struct Pairing<'a> {
    cx: &'a Context<'a>,
    open: FxHashMap<u32, Vec<Wait>>,
    /// Threads of which something was heard.
    said: FxHashSet<u32>,
    done: ByBegin,
}

impl<'a> Pairing<'a> {
    /// Nothing was said yet.
    pub fn new(cx: &'a Context<'a>) -> Pairing<'a> {
        Pairing {
            cx,
            open: FxHashMap::default(),
            said: FxHashSet::default(),
            done: Sorter::new(cx.room, |w| (w.begin_ns, w.thread)),
        }
    }

    /// Takes the next event, by time, of a thread; [`NONE`] if it is not known.
    pub fn event(&mut self, e: &Event, thread: u32) {
        let of_waits = ev::MONITOR_ENTER..=ev::UNPARKED;
        if thread == NONE || !(e.kind == ev::MOUNT || of_waits.contains(&e.kind)) {
            return;
        }
        let cx = self.cx;
        let ts = e.ts.clamp(cx.begin, cx.end);
        let stack = self.open.entry(thread).or_default();
        if e.kind == ev::MOUNT {
            // It is on a carrier again: if it left that to park, it parks no longer.
            if stack.last().is_some_and(|w| w.kind == PARK) {
                self.done.extend(stack.pop().map(|w| ended(w, e, ts)));
            }
            return;
        }
        let first = self.said.insert(thread);
        match e.kind {
            ev::MONITOR_ENTER => stack.push(begun(e, thread, ts, MONITOR_ENTER, cx)),
            ev::MONITOR_WAIT => stack.push(begun(e, thread, ts, MONITOR_WAIT, cx)),
            ev::PARK => stack.push(begun(e, thread, ts, PARK, cx)),
            _ => {
                let kind = match e.kind {
                    ev::MONITOR_ENTERED => MONITOR_ENTER,
                    ev::MONITOR_WAITED => MONITOR_WAIT,
                    _ => PARK,
                };
                if let Some(at) = stack.iter().rposition(|w| w.kind == kind) {
                    stack.truncate(at + 1);
                    self.done.extend(stack.pop().map(|w| ended(w, e, ts)));
                } else if first {
                    let (begin, _) = (cx.life)(thread);
                    let w = begun(e, thread, begin.max(cx.begin).min(ts), kind, cx);
                    self.done.push(ended(w, e, ts));
                }
            }
        }
    }

    /// All waits, by begin.
    pub fn finish(self) -> List<Wait> {
        let mut done = self.done;
        for (thread, stack) in self.open {
            let (_, end) = (self.cx.life)(thread);
            done.extend(stack.into_iter().map(|mut w| {
                w.end_ns = end.min(self.cx.end).max(w.begin_ns);
                w
            }));
        }
        let mut waits = List::new(self.cx.room);
        waits.extend(done.sorted());
        waits
    }
}

fn begun(e: &Event, thread: u32, ts: i64, kind: &'static str, cx: &Context) -> Wait {
    Wait {
        thread,
        begin_ns: ts,
        end_ns: ts,
        kind,
        class: e.c,
        object: (e.a != 0).then_some(e.a as i64),
        owner: if e.kind == ev::PARK && e.b != 0 {
            (cx.by_java)(e.b)
        } else {
            None
        },
        notifier: None,
        outcome: "cut",
        stack: None,
    }
}

fn ended(mut w: Wait, e: &Event, ts: i64) -> Wait {
    w.end_ns = ts.max(w.begin_ns);
    w.stack = Some(frames::of_wait(e.kind, e.b)).filter(|id| *id != 0);
    w.outcome = match e.kind {
        ev::MONITOR_ENTERED => "acquired",
        ev::MONITOR_WAITED if e.b as u32 == 1 => "timeout",
        ev::MONITOR_WAITED => "notified",
        _ => "unparked",
    };
    w
}

/// After so many waits the pages of the states that they were looked up in are let go.
const LET_GO_AFTER: usize = 4096;

/// Fills in who ended each wait: the waker of the last blocked interval that ended inside it.
/// For a monitor that is the thread that released it, and so its owner until then.
///
/// `thread_of` gives the thread that a waker was at a time.
pub fn resolve_wakers(
    waits: &mut List<Wait>,
    states: &Grouped<Interval>,
    thread_of: &dyn Fn(u32, i64) -> Option<u32>,
) {
    let places = Places::new(states.len());
    for at in 0..waits.len() {
        waits.pace(at);
        if at.is_multiple_of(LET_GO_AFTER) {
            states.let_go();
        }
        let w = &mut waits[at];
        let thread = w.thread as usize;
        let Some(states) = states.get(thread) else {
            continue;
        };
        let after = places.first(thread, states, |i| i.begin >= w.end_ns);
        let woken = states[..after]
            .iter()
            .rev()
            .take_while(|i| i.end > w.begin_ns)
            .find(|i| i.state.is_blocked() && i.end <= w.end_ns && i.waker != NONE);
        let Some(woken) = woken else { continue };
        w.notifier = thread_of(woken.waker, woken.end);
        if w.kind == MONITOR_ENTER && w.outcome == "acquired" {
            w.owner = w.notifier.filter(|&n| n != w.thread);
        }
    }
}

/// Whether a wait, for something of this class, is for what another thread holds, and not for something to happen.
pub fn is_lock(w: &Wait, class: Option<&str>) -> bool {
    match w.kind {
        MONITOR_ENTER => true,
        // Semaphores and latches extend AbstractOwnableSynchronizer too, but nobody owns them.
        PARK => {
            w.owner.is_some()
                || class.is_some_and(|c| {
                    c.contains("locks.ReentrantLock$")
                        || c.contains("locks.ReentrantReadWriteLock$")
                        || c.ends_with("locks.StampedLock")
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::State;

    fn event(ts: i64, kind: u32, a: u64, b: u64) -> Event {
        Event {
            ts,
            kind,
            a,
            b,
            c: 0,
            tid: 1,
            virtual_id: 0,
        }
    }

    fn paired(events: &[Event]) -> List<Wait> {
        let cx = Context {
            begin: 0,
            end: 100,
            life: &|_| (0, 90),
            by_java: &|id| Some(id as u32),
            room: &Room::in_memory(),
        };
        let mut pairing = Pairing::new(&cx);
        events.iter().for_each(|e| pairing.event(e, 0));
        pairing.finish()
    }

    fn shape(waits: &[Wait]) -> Vec<(i64, i64, &str, &str)> {
        waits
            .iter()
            .map(|w| (w.begin_ns, w.end_ns, w.kind, w.outcome))
            .collect()
    }

    #[test]
    fn a_virtual_thread_that_left_its_carrier_to_park_parks_until_it_is_mounted() {
        let waits = paired(&[
            event(1, ev::MOUNT, 0, 0),
            event(2, ev::PARK, 5, 0),
            event(2, ev::UNMOUNT, 0, 0),
            event(7, ev::MOUNT, 0, 0),
            event(8, ev::MONITOR_ENTER, 6, 0),
            event(8, ev::UNMOUNT, 0, 0),
            event(9, ev::MOUNT, 0, 0),
            event(10, ev::MONITOR_ENTERED, 6, 0),
        ]);
        assert_eq!(
            shape(&waits),
            [(2, 7, PARK, "unparked"), (8, 10, MONITOR_ENTER, "acquired")]
        );
    }

    #[test]
    fn begins_and_ends_are_paired_and_tell_their_outcome() {
        let waits = paired(&[
            event(1, ev::MONITOR_ENTER, 5, 0),
            event(2, ev::MONITOR_ENTERED, 5, 0),
            event(3, ev::MONITOR_WAIT, 5, 100),
            event(4, ev::MONITOR_WAITED, 5, 1),
            event(5, ev::PARK, 6, 9),
            event(6, ev::UNPARKED, 6, 0),
        ]);
        let want = [
            (1, 2, MONITOR_ENTER, "acquired"),
            (3, 4, MONITOR_WAIT, "timeout"),
            (5, 6, PARK, "unparked"),
        ];
        assert_eq!(shape(&waits), want);
        assert_eq!(waits[2].owner, Some(9));
        assert_eq!((waits[0].object, waits[0].owner), (Some(5), None));
    }

    #[test]
    fn the_end_of_a_wait_names_its_stack() {
        let stack = |id: u64| id << 32;
        let waits = paired(&[
            event(1, ev::MONITOR_ENTER, 5, 9),
            event(2, ev::MONITOR_ENTERED, 5, stack(3)),
            event(3, ev::MONITOR_WAIT, 5, 100),
            event(4, ev::MONITOR_WAITED, 5, stack(4) | 1),
            event(5, ev::PARK, 6, 9),
            event(6, ev::UNPARKED, 6, stack(5)),
            event(7, ev::PARK, 6, 9),
            event(8, ev::MOUNT, 0, stack(6)),
            event(9, ev::PARK, 6, 9),
            event(10, ev::UNPARKED, 6, 0),
        ]);
        let told: Vec<_> = waits.iter().map(|w| (w.outcome, w.stack)).collect();
        assert_eq!(
            told,
            [
                ("acquired", Some(3)),
                ("timeout", Some(4)),
                ("unparked", Some(5)),
                ("unparked", Some(6)),
                ("unparked", None)
            ]
        );
    }

    #[test]
    fn a_wait_without_an_end_is_cut_where_its_thread_ends() {
        assert_eq!(
            shape(&paired(&[event(10, ev::PARK, 0, 0)])),
            [(10, 90, PARK, "cut")]
        );
    }

    #[test]
    fn an_end_without_a_begin_is_a_wait_from_before_only_if_it_comes_first() {
        let waits = paired(&[
            event(10, ev::MONITOR_ENTERED, 5, 0),
            event(20, ev::MONITOR_ENTERED, 5, 0),
        ]);
        assert_eq!(shape(&waits), [(0, 10, MONITOR_ENTER, "acquired")]);
    }

    #[test]
    fn an_end_closes_its_own_kind_and_drops_what_was_lost_inside() {
        let waits = paired(&[
            event(1, ev::MONITOR_WAIT, 5, 0),
            event(2, ev::PARK, 6, 0),
            event(3, ev::MONITOR_WAITED, 5, 0),
        ]);
        assert_eq!(shape(&waits), [(1, 3, MONITOR_WAIT, "notified")]);
    }

    #[test]
    fn the_waker_of_the_last_blocked_interval_was_the_monitors_owner() {
        let mut waits = paired(&[
            event(10, ev::MONITOR_ENTER, 5, 0),
            event(50, ev::MONITOR_ENTERED, 5, 0),
        ]);
        let blocked = |b, e, waker| {
            let mut i = Interval::new(b, e, State::Blocked);
            i.waker = waker;
            i
        };
        let states = [vec![
            blocked(12, 20, 71),
            Interval::new(20, 22, State::Running),
            blocked(22, 48, 72),
            Interval::new(48, 60, State::Running),
            blocked(60, 70, 73),
        ]];
        resolve_wakers(&mut waits, &Grouped::from(&states[..]), &|tid, _| {
            Some(tid - 70)
        });
        assert_eq!((waits[0].owner, waits[0].notifier), (Some(2), Some(2)));
    }

    #[test]
    fn a_semaphore_is_no_lock_but_a_reentrant_lock_is() {
        let w = paired(&[event(1, ev::PARK, 5, 0)])[0];
        let of = |class| is_lock(&w, Some(class));
        assert!(!of("java.util.concurrent.Semaphore$NonfairSync"));
        assert!(of("java.util.concurrent.locks.ReentrantLock$NonfairSync"));
    }
}
