//! What of dropped events still matters: `raw/agent.carry`, a spool in the layout of [`super::agent`].
//!
//! Terms: the *horizon* is the time before which events are gone; a thing is *open* when its begin was said and its end
//! was not; an *actor* is who an event speaks of, a kernel thread or a virtual one.
//!
//! [`Carry`] takes the events before the horizon in the order of time and forgets what is over. What it keeps are events
//! as they were said, so that reading them, and then those from the horizon on, tells the same of the time from there on as
//! reading all did:
//!
//! | of | kept |
//! | --- | --- |
//! | a thread | its name |
//! | an actor | the begins of what is open on it, the innermost last; in an open visit also a request that was over |
//! | a connection | its opening, its last visit and queueing, its handshake; visits that left a request or handshake open |
//! | a pooled connection, a named span | its begin, until it is given back or ended |
//! | a virtual thread | its name, its carrier and whether it is on it |
//! | the collector | the begin of a pause |
//!
//! What always holds: an open thing's begin is kept however long ago it was; what threads said that have ended is
//! forgotten; the size follows from what is open, not from how long it was recorded.
//!
//! Which event ends which is the same here as in the analysis (`analyze::spans`, `waits`, `mounts`); a test there cuts
//! recordings and compares.

use std::collections::HashMap;

use super::agent::{Event, kind as ev, left};

/// Virtual threads that are remembered where nobody tells of their ends; beyond it those that said nothing for longest go.
const MOST_VIRTUAL: usize = 100_000;
/// Visits' events that are kept of one connection with requests that are not over.
const MOST_HISTORY: usize = 256;
/// How long a closed connection is remembered, so that a last visit after the close does not open it again.
const CLOSED_NS: i64 = 5_000_000_000;
/// How long a call is remembered whose answer comes to whichever thread: its end may have been lost.
const ASKED_NS: i64 = 3_600_000_000_000;

/// An actor's id: a kernel thread's, or a virtual thread's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Who {
    Thread(u32),
    Virtual(u64),
}

fn who(e: &Event) -> Who {
    match e.kind {
        ev::MONITOR_ENTER if e.b != 0 => Who::Virtual(e.b),
        _ if e.virtual_id != 0 => Who::Virtual(e.virtual_id),
        _ => Who::Thread(e.tid),
    }
}

#[derive(Debug, Default)]
struct Actor {
    /// Begins of what is open, and what an open visit must remember.
    open: Vec<Event>,
    /// Key of the connection that it visits, and how deep.
    visit: Option<(u64, u32)>,
    /// Of a virtual thread: the switch that named it.
    name: Option<Event>,
    /// Of a virtual thread: its last MOUNT or UNMOUNT.
    mount: Option<Event>,
    /// Of a virtual thread: who let it go on since.
    goes_on: Option<Event>,
    last_ts: i64,
}

#[derive(Debug, Default)]
struct Connection {
    opened: Option<Event>,
    queued: Option<Event>,
    /// The last visit that left nothing open: its begin and end.
    visited: Option<(Event, Event)>,
    /// Visits since the oldest thing that is open in it.
    history: Vec<Event>,
    handshake: Handshake,
    /// The guard's last mark.
    mark: Option<Event>,
    visitors: Vec<Who>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Handshake {
    #[default]
    None,
    Open,
    Over,
}

/// What is open; see the module.
#[derive(Debug, Default)]
pub struct Carry {
    names: HashMap<u64, Event>,
    actors: HashMap<Who, Actor>,
    connections: HashMap<u64, Connection>,
    closed: HashMap<u64, i64>,
    uses: HashMap<u64, (Option<Event>, Event)>,
    spans: HashMap<u64, Event>,
    /// Calls whose answers come to whichever thread, by their number.
    asked: HashMap<u64, Event>,
    pause: Option<Event>,
}

const WAITS: [u32; 3] = [ev::MONITOR_ENTER, ev::MONITOR_WAIT, ev::PARK];
const CALLS: [u32; 4] = [
    ev::SERVICE_BEGIN,
    ev::POOL_WAIT_BEGIN,
    ev::SQL_BEGIN,
    ev::CALL_BEGIN,
];
const STATES: [u32; 2] = [ev::APP_STATE, ev::APP_PUSH];

impl Actor {
    /// Removes the innermost open thing of a kind.
    fn close(&mut self, kinds: &[u32]) -> Option<Event> {
        let at = self.open.iter().rposition(|e| kinds.contains(&e.kind))?;
        Some(self.open.remove(at))
    }

    fn forget(&mut self, kinds: &[u32]) {
        self.open.retain(|e| !kinds.contains(&e.kind));
    }

    fn has(&self, kind: u32) -> bool {
        self.open.iter().any(|e| e.kind == kind)
    }

    /// Whether a request is open on it: one was begun, and its end is not kept beside it.
    fn has_request(&self) -> bool {
        self.has(ev::REQUEST) && !self.has(ev::REQUEST_END)
    }

    fn end_wait(&mut self, kind: u32) {
        if let Some(at) = self.open.iter().rposition(|e| e.kind == kind) {
            // What was open above it was lost.
            let mut i = 0;
            self.open.retain(|e| {
                i += 1;
                i <= at || !WAITS.contains(&e.kind)
            });
        }
    }
}

impl Carry {
    /// Nothing is open.
    pub fn new() -> Carry {
        Carry::default()
    }

    /// Takes the next event.
    pub fn take(&mut self, e: &Event) {
        match e.kind {
            ev::THREAD => {
                let tid = if e.b != 0 { e.b as u32 } else { e.tid };
                if e.virtual_id == 0 && tid != 0 {
                    let known = Event {
                        b: u64::from(tid),
                        ..*e
                    };
                    self.names.insert(e.a, known);
                }
            }
            ev::THREAD_END => {
                self.names.remove(&e.a);
            }
            ev::SWITCH_TO if e.a != 0 => {
                let actor = self.actor(e);
                if e.c != 0 || actor.name.is_none() {
                    actor.name = Some(*e);
                }
            }
            ev::SWITCH_TO => {}
            ev::GOES_ON => self.actors.entry(Who::Virtual(e.a)).or_default().goes_on = Some(*e),
            ev::MOUNT => {
                let actor = self.actor(e);
                let innermost = actor.open.iter().rev().find(|o| WAITS.contains(&o.kind));
                if innermost.is_some_and(|w| w.kind == ev::PARK) {
                    actor.close(&[ev::PARK]);
                }
                actor.mount = Some(*e);
                actor.goes_on = None;
            }
            ev::UNMOUNT if e.b == left::ENDED => {
                self.leave(who(e), None, e);
                self.actors.remove(&who(e));
            }
            ev::UNMOUNT => self.actor(e).mount = Some(*e),
            ev::MONITOR_ENTERED => self.actor(e).end_wait(ev::MONITOR_ENTER),
            ev::MONITOR_WAITED => self.actor(e).end_wait(ev::MONITOR_WAIT),
            ev::UNPARKED => self.actor(e).end_wait(ev::PARK),
            ev::GC_START => self.pause = Some(*e),
            ev::GC_END => self.pause = None,
            ev::CONN_OPEN => self.opens(e),
            ev::CONN_CLOSE => self.closes(e),
            ev::QUEUED => self.queued(e),
            ev::VISIT_BEGIN => self.visits(e),
            ev::VISIT_END => self.visit_ends(e),
            ev::TLS_ENTER | ev::TLS_KEY | ev::TLS_EXIT => self.tls(e),
            ev::REQUEST_PARSE => {
                let actor = self.actor(e);
                actor.forget(&[ev::REQUEST_PARSE]);
                actor.open.push(*e);
            }
            ev::REQUEST => self.request(e),
            ev::STATUS => {
                let actor = self.actor(e);
                if actor.has_request() {
                    actor.forget(&[ev::STATUS]);
                    actor.open.push(*e);
                }
            }
            ev::REQUEST_END => self.request_ends(e),
            ev::SERVICE_END => {
                self.actor(e).close(&[ev::SERVICE_BEGIN]);
            }
            ev::SQL_END => {
                self.actor(e).close(&[ev::SQL_BEGIN]);
            }
            ev::CALL_BEGIN if e.a != 0 => {
                self.asked.insert(e.a, *e);
            }
            ev::CALL_END if e.a != 0 => {
                self.asked.remove(&e.a);
            }
            ev::CALL_END => {
                self.actor(e).close(&[ev::CALL_BEGIN]);
            }
            ev::POOL_WAIT_END => {
                let actor = self.actor(e);
                let begun = actor.close(&[ev::POOL_WAIT_BEGIN]);
                if e.a != 0 && !actor.has(ev::POOL_WAIT_BEGIN) {
                    self.uses.insert(e.a, (begun, *e));
                }
            }
            ev::POOL_RELEASE => {
                self.uses.remove(&e.a);
            }
            ev::APP_STATE => {
                let actor = self.actor(e);
                actor.close(&STATES);
                if e.c != 0 {
                    actor.open.push(*e);
                }
            }
            ev::APP_POP => {
                self.actor(e).close(&STATES);
            }
            ev::APP_EVENT => {
                if let Some(c) = self.connections.get_mut(&e.a) {
                    c.mark = Some(*e);
                }
            }
            ev::SPAN_BEGIN => {
                self.spans.insert(e.a, *e);
            }
            ev::SPAN_END => {
                self.spans.remove(&e.a);
            }
            kind if WAITS.contains(&kind) || CALLS.contains(&kind) || kind == ev::APP_PUSH => {
                self.actor(e).open.push(*e);
            }
            _ => {}
        }
    }

    fn actor(&mut self, e: &Event) -> &mut Actor {
        let actor = self.actors.entry(who(e)).or_default();
        actor.last_ts = e.ts;
        actor
    }

    /// Forgets what threads said that live no longer (by their kernel ids in the target's namespace), and what is too old
    /// to matter at this horizon.
    pub fn settle(&mut self, horizon: i64, lives: &dyn Fn(u32) -> bool) {
        self.names.retain(|_, e| lives(e.b as u32));
        self.actors.retain(|who, a| match who {
            Who::Thread(tid) => lives(*tid) && (!a.open.is_empty() || a.visit.is_some()),
            Who::Virtual(_) => !a.open.is_empty() || a.mount.is_some() || a.visit.is_some(),
        });
        let said_by_the_living = |e: &Event| e.virtual_id != 0 || lives(e.tid);
        for c in self.connections.values_mut() {
            c.opened = c.opened.filter(said_by_the_living);
            c.queued = c.queued.filter(said_by_the_living);
            c.mark = c.mark.filter(said_by_the_living);
            c.visited = c.visited.filter(|(b, _)| said_by_the_living(b));
            c.history.retain(said_by_the_living);
            let actors = &self.actors;
            c.visitors.retain(|v| actors.contains_key(v));
        }
        self.uses.retain(|_, (_, e)| said_by_the_living(e));
        self.spans.retain(|_, e| said_by_the_living(e));
        self.asked
            .retain(|_, e| said_by_the_living(e) && e.ts > horizon - ASKED_NS);
        self.closed.retain(|_, ts| *ts > horizon - CLOSED_NS);
        let of_virtual = |w: &Who| matches!(w, Who::Virtual(_));
        let many = self.actors.keys().filter(|w| of_virtual(w)).count();
        if many > MOST_VIRTUAL {
            let mut last: Vec<i64> = self
                .actors
                .iter()
                .filter(|(w, _)| of_virtual(w))
                .map(|(_, a)| a.last_ts)
                .collect();
            last.sort_unstable();
            let from = last[many - MOST_VIRTUAL];
            self.actors
                .retain(|w, a| !of_virtual(w) || a.last_ts >= from);
        }
    }

    /// How many things are open, roughly: for bounds and tests.
    pub fn len(&self) -> usize {
        self.names.len()
            + self.actors.len()
            + self.connections.len()
            + self.uses.len()
            + self.spans.len()
            + self.asked.len()
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

mod connections;
mod kept;
#[cfg(test)]
mod tests;

pub use kept::file;
