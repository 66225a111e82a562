//! Connections, their visits, and TLS handshakes.

use loadline_trace::spool::agent::{Event, kind as ev, resumption};

use super::followers::Follower;
use super::gaps::Alone;
use super::{Builder, Kind, Name, Part, Request, Task};

/// How long after a connection was first heard of its opening may still be reported: the
/// accepting thread writes its event after it has handed the connection on.
const LATE_OPEN_NS: i64 = 100_000_000;

/// A connection that is open.
pub(super) struct Connection {
    pub(super) span: u32,
    /// Its opening was seen.
    opened: bool,
    first_heard: i64,
    /// Actors that serve it now: one, or several with HTTP/2.
    pub(super) visitors: Vec<u32>,
    pub(super) followers: Vec<Follower>,
    /// When it was handed to the workers' queue, if it was since the last visit.
    queued: Option<i64>,
    handshake: Handshake,
    handshake_span: Option<u32>,
    /// Requests that were not over when their visit ended.
    pub(super) suspended: Vec<Request>,
    /// When the last request ended.
    pub(super) request_end: i64,
    pub(super) alone: Alone,
    /// Its key had been closed before, and no opening was seen: a last visit after the close.
    reborn: bool,
    last_heard: i64,
}

#[derive(Clone, Copy)]
enum Handshake {
    None,
    Open { span: u32, key: bool },
    Over,
}

/// A visit, on its actor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    pub(super) key: u64,
    pub(super) connection: u32,
    pub(super) begin: i64,
    queued: Option<i64>,
    depth: u32,
    /// Neither a TLS step nor a request has been in it yet.
    pub(super) fresh: bool,
    /// It is for a task that was made in the midst of a visit.
    pub(super) is_task: bool,
}

impl Builder<'_> {
    pub(super) fn connection_opens(&mut self, e: &Event, thread: u32, ts: i64) {
        let peer = self.names.of_text(e.c, self.cx.text);
        if let Some(c) = self.connections.get_mut(&e.a) {
            if !c.opened && ts - c.first_heard <= LATE_OPEN_NS {
                c.opened = true;
                let (span, begin, handshake) = (c.span, c.first_heard, c.handshake_span);
                self.describe(span, e.b, peer);
                self.span(span).begin_ns = begin;
                self.span(span).complete = true;
                if let Some(handshake) = handshake {
                    let h = self.span(handshake);
                    h.begin_ns = begin;
                    h.end_ns = h.end_ns.max(begin);
                    h.complete = true;
                }
                return;
            }
            // The key is used again: the closing of the earlier connection was lost.
            self.end_connection(e.a, thread, ts, false);
        }
        let span = self.open_in(None, Kind::Connection, Name::CONNECTION, thread, ts);
        self.describe(span, e.b, peer);
        self.connections
            .insert(e.a, Connection::new(span, true, ts));
    }

    fn describe(&mut self, span: u32, port: u64, peer: Option<Name>) {
        let s = self.span(span);
        if port & ev::ONE_REQUEST != 0 {
            s.name = Name::STREAM;
        }
        s.peer_port = u16::try_from(port & !ev::ONE_REQUEST).unwrap_or(0);
        s.peer = peer;
    }

    pub(super) fn connection_closes(&mut self, key: u64, thread: u32, ts: i64) {
        self.end_connection(key, thread, ts, true);
    }

    pub(super) fn end_connection(&mut self, key: u64, thread: u32, ts: i64, complete: bool) {
        for visitor in self
            .connections
            .get(&key)
            .map(|c| c.visitors.clone())
            .unwrap_or_default()
        {
            self.leave(visitor, ts);
        }
        self.last_gap_ends(key, ts);
        let Some(c) = self.connections.remove(&key) else {
            return;
        };
        self.closed.insert(key);
        for request in c.suspended {
            self.end_request(request, thread, ts, None);
        }
        if let Handshake::Open { span, key } = c.handshake {
            // Cut by the end of the recording its kind stays open; closed by a peer it failed.
            self.span(span).name = if complete {
                Name::FAILED
            } else {
                Name::UNKNOWN
            };
            self.span(span).resumed = key.then_some(false);
            self.close(span, thread, ts, complete);
        }
        self.close(c.span, thread, ts, complete);
    }

    /// The connection with this key, made up if it was open before the recording.
    pub(super) fn known(&mut self, key: u64, thread: u32, ts: i64) -> &mut Connection {
        if !self.connections.contains_key(&key) {
            let reborn = self.closed.contains(&key);
            let begin = if reborn { ts } else { self.cx.begin };
            let span = self.open_in(None, Kind::Connection, Name::CONNECTION, thread, begin);
            self.span(span).complete = false;
            let mut c = Connection::new(span, false, ts);
            c.alone.again(begin);
            c.reborn = reborn;
            self.connections.insert(key, c);
        }
        let c = self
            .connections
            .get_mut(&key)
            .expect("it was inserted above");
        c.last_heard = ts;
        c
    }

    pub(super) fn queued(&mut self, key: u64, thread: u32, ts: i64) {
        let c = self.known(key, thread, ts);
        if c.queued.is_none() {
            c.queued = Some(ts);
            self.gap_ends_queued(key, thread, ts);
        }
    }

    /// One for a task is a visit only if it goes on with the request that was there when the first task of it was made.
    pub(super) fn visit_begins(&mut self, key: u64, task: Option<Task>, thread: u32, ts: i64) {
        if let Some(visit) = self.actor(thread).visit.as_mut().filter(|v| v.key == key) {
            visit.depth += 1; // HTTP/2: a stream that is served by who reads the connection
            return;
        }
        self.leave(thread, ts); // a visit whose end was lost
        if let Some(r) = self.actor(thread).request.take() {
            // One that was under way when the probes were placed: it is over, and its end was not seen.
            self.close_calls(thread, ts);
            self.piece(r, thread, ts);
            self.end_request(r, thread, ts, None);
        }
        if task.is_some() && !self.connections.contains_key(&key) {
            return; // closed since then
        }
        self.known(key, thread, ts);
        let resumed = self.resumed(key, task);
        let c = self.known(key, thread, ts);
        // A task lay in its executor's queue from when it was made.
        let (connection, queued) = (c.span, task.map(|t| t.made).or(c.queued));
        let follows = resumed.is_none() && self.follow(key, thread, ts, task, queued);
        if task.is_some() && resumed.is_none() && !follows {
            return;
        }
        let c = self.known(key, thread, ts);
        c.visitors.push(thread);
        if task.is_none() {
            c.queued = None;
        }
        let visit = Visit {
            key,
            connection,
            begin: ts,
            queued,
            depth: 1,
            fresh: resumed.is_none(),
            is_task: task.is_some(),
        };
        let actor = self.actor(thread);
        actor.visit = Some(visit);
        actor.parse = None;
        actor.request = resumed.map(|r| Request {
            since: ts,
            queued,
            ..r
        });
        actor.stack.extend(resumed.map(|r| r.span));
    }

    /// The suspended request that a visit takes up. With several at a time nobody can tell which of them goes on with which.
    fn resumed(&mut self, key: u64, task: Option<Task>) -> Option<Request> {
        let c = self.connections.get_mut(&key)?;
        let [only] = c.suspended[..] else {
            return None;
        };
        let began = self.spans[only.span as usize].begin_ns;
        let may = c.visitors.is_empty() && task.is_none_or(|t| began <= t.root);
        may.then(|| c.suspended.pop())?
    }

    pub(super) fn visit_ends(&mut self, key: u64, thread: u32, ts: i64) {
        if let Some(visit) = self.actor(thread).visit.as_mut().filter(|v| v.key == key) {
            visit.depth -= 1;
            if visit.depth == 0 {
                self.leave(thread, ts);
            }
        }
    }

    /// Ends the visit of an actor, if it is in one, and all that cannot outlive it.
    pub(super) fn leave(&mut self, thread: u32, ts: i64) {
        let Some(visit) = self.actor(thread).visit.take() else {
            return;
        };
        self.close_calls(thread, ts);
        let visited = Part::new(visit.connection, thread, visit.begin, ts, visit.queued);
        self.visits.push(visited);
        self.unfollow(visit.key, thread, visit.is_task, ts);
        let request = self.actor(thread).request.take().and_then(|r| {
            self.not_on(thread, r.span);
            self.hand_on(visit.key, r, thread, visit.is_task, ts)
        });
        let Some(c) = self.connections.get_mut(&visit.key) else {
            return;
        };
        c.visitors.retain(|&v| v != thread);
        c.alone.again(ts);
        c.last_heard = ts;
        c.suspended.extend(request);
    }

    /// Notes that an actor worked on a request until now.
    pub(super) fn piece(&mut self, r: Request, thread: u32, ts: i64) {
        let piece = Part::new(r.span, thread, r.since, ts, r.queued);
        self.pieces.push(piece);
    }

    pub(super) fn tls_step_begins(&mut self, thread: u32, ts: i64) {
        let Some(visit) = self.actor(thread).visit.as_mut() else {
            let actor = self.actor(thread);
            (actor.tls_begin, actor.tls_key) = (Some(ts), false);
            return;
        };
        visit.fresh = false;
        let (key, connection) = (visit.key, visit.connection);
        let begin = self.spans[connection as usize].begin_ns;
        let Some(c) = self.connections.get(&key) else {
            return;
        };
        if matches!(c.handshake, Handshake::None) {
            let opened = c.opened;
            let span = self.open_in(
                Some(connection),
                Kind::TlsHandshake,
                Name::UNKNOWN,
                thread,
                begin,
            );
            self.span(span).complete = opened;
            self.set_handshake(key, Handshake::Open { span, key: false });
        }
    }

    fn set_handshake(&mut self, key: u64, handshake: Handshake) {
        if let Some(c) = self.connections.get_mut(&key) {
            if let Handshake::Open { span, .. } = handshake {
                c.handshake_span = Some(span);
            }
            c.handshake = handshake;
        }
    }

    pub(super) fn tls_key(&mut self, thread: u32) {
        let actor = self.actor(thread);
        match actor.visit {
            None => actor.tls_key = true,
            Some(visit) => {
                if let Some(Connection {
                    handshake: Handshake::Open { key, .. },
                    ..
                }) = self.connections.get_mut(&visit.key)
                {
                    *key = true;
                }
            }
        }
    }

    /// `result`: 0 done, -1 failed, else more to come.
    pub(super) fn tls_step_ends(&mut self, result: i64, told: u64, thread: u32, ts: i64) {
        let actor = self.actor(thread);
        let Some(visit) = actor.visit else {
            // A handshake outside any visit: only one that is done in one step can be told.
            let (begin, key) = (actor.tls_begin.take(), actor.tls_key);
            if let Some(begin) = begin
                && result <= 0
            {
                let span = self.open_on(Kind::TlsHandshake, Name::UNKNOWN, thread, begin);
                let resumed = resumed(told, key, true);
                self.handshake_over(span, resumed, result, thread, ts);
            }
            return;
        };
        self.tls_step_begins(thread, ts); // if the step was under way when the recording began
        let Some(c) = self.connections.get(&visit.key) else {
            return;
        };
        if let Handshake::Open { span, key } = c.handshake
            && result <= 0
        {
            let resumed = resumed(told, key, c.opened);
            self.set_handshake(visit.key, Handshake::Over);
            self.handshake_over(span, resumed, result, thread, ts);
        }
    }

    fn handshake_over(
        &mut self,
        span: u32,
        resumed: Option<bool>,
        result: i64,
        thread: u32,
        ts: i64,
    ) {
        let s = self.span(span);
        s.resumed = resumed.filter(|r| result == 0 || !r);
        s.name = match (result, s.resumed) {
            (0, Some(true)) => Name::RESUMED,
            (0, Some(false)) => Name::FULL,
            (0, None) => Name::UNKNOWN,
            _ => Name::FAILED,
        };
        self.close(span, thread, ts, true);
    }

    /// A request came: whatever was heard of a handshake, it is over.
    pub(super) fn no_handshake_any_more(&mut self, key: u64, thread: u32, ts: i64) {
        let Some(c) = self.connections.get_mut(&key) else {
            return;
        };
        if let Handshake::Open { span, key } = std::mem::replace(&mut c.handshake, Handshake::Over)
        {
            self.span(span).resumed = key.then_some(false);
            self.close(span, thread, ts, false);
        }
    }
}

impl Connection {
    fn new(span: u32, opened: bool, ts: i64) -> Connection {
        Connection {
            span,
            opened,
            first_heard: ts,
            visitors: Vec::new(),
            followers: Vec::new(),
            queued: None,
            handshake: Handshake::None,
            handshake_span: None,
            suspended: Vec::new(),
            request_end: i64::MIN,
            alone: Alone::since(ts),
            reborn: false,
            last_heard: ts,
        }
    }

    /// Where a connection that was heard of after its close was last heard of.
    pub(super) fn reborn_until(&self) -> Option<i64> {
        (self.reborn && self.visitors.is_empty()).then_some(self.last_heard)
    }
}

/// Whether a handshake resumed a session, by what its end told of that and by whether the server's key was heard of in it; without
/// either it did if it was `whole`.
fn resumed(told: u64, key: bool, whole: bool) -> Option<bool> {
    match told {
        resumption::FULL => Some(false),
        resumption::RESUMED => Some(true),
        resumption::UNKNOWN => None,
        _ if key => Some(false),
        _ => whole.then_some(true),
    }
}
