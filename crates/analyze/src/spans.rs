//! Spans: what the server and the application said, as intervals with a meaning and a parent.
//!
//! Terms: an *actor* is a thread as the agent's events speak of it. A *visit* is the time in which
//! one actor serves one connection; a connection is visited many times, by many actors. What
//! nests on one actor (a proxy's `getConnection` inside a pool's, a servlet that includes another)
//! counts once, as its outermost.
//!
//! Rules:
//! * A connection that is first heard of by a visit was open before: it begins with the recording
//!   and is not complete. If its opening is reported a moment later, the report was only late.
//! * A handshake reaches from the opening of its connection to the step that is done or failed. It
//!   was full if a key was chosen in it. A connection that is closed in the midst of it failed.
//! * A request begins at the parse that led to it, or with its visit if the visit did nothing
//!   before; it ends where the server says so. If its visit ends first it is suspended: the next
//!   visit takes it up, unless that brings a new request, which ends the old one where the
//!   container had answered it. With HTTP/2 visits of one connection overlap, one for each stream;
//!   then a suspended request is taken up only by who ends it.
//! * A task that is made in the midst of a visit goes on with the request that was there then, if that is
//!   not over: from its begin on, once who made it has left the request without having ended it.
//! * What is open when something around it ends, ends there and is not complete.
//! * What is open when the recording ends, however that came, ends there, is not complete, and is
//!   marked open.
//!
//! Invariants: a child lies inside its parent; a request inside its connection; `end >= begin`.

mod actor;
mod connection;
pub mod finish;
mod followers;
pub mod gaps;
mod span;

use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::tables;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounded::{List, Room};
use crate::methods::{self, Invocations};
use crate::model::NONE;
use actor::Actor;
use connection::Connection;
use gaps::Gap;
pub use span::{Kind, Name, Names, Part, Span};

/// What building spans needs beside the events.
pub struct Context<'a> {
    /// Begin of the recording.
    pub begin: i64,
    /// End of the recording.
    pub end: i64,
    /// Text of a string id. Statements are without their values already: the agent lets none of these out.
    pub text: &'a dyn Fn(u32) -> Option<Arc<str>>,
    /// Where spans and their parts are kept.
    pub room: &'a Room,
}

/// What came out.
#[derive(Debug)]
pub struct Output {
    /// Spans; a span's index is its id.
    pub spans: List<Span>,
    /// Their names.
    pub names: Names,
    /// Pieces of connections (the visits), of handshakes, and of requests that have several.
    pub segments: List<Part>,
    /// Visits of all connections made to follow each other, sorted by span and begin.
    pub visits: List<Part>,
    /// Pieces of all requests, sorted by span and begin.
    pub pieces: List<Part>,
    /// Between the visits of connections, sorted by connection and begin.
    pub gaps: List<Gap>,
    /// Whether there are calls whose answers come to whichever thread.
    pub has_asked: bool,
    /// Invocations of methods: spans too, with the ids behind those of the others.
    pub methods: Invocations,
}

impl Output {
    /// Lets go of the pages that were touched.
    pub fn let_go(&self) {
        self.spans.let_go();
        self.gaps.let_go();
        self.methods.list.let_go();
        for parts in [&self.segments, &self.visits, &self.pieces] {
            parts.let_go();
        }
    }

    /// A span's row.
    pub fn row(&self, id: usize) -> tables::Span {
        match self.spans.get(id) {
            Some(span) => span.row(id, &self.names),
            None => self
                .methods
                .span(id - self.spans.len(), &self.spans, &self.names),
        }
    }

    /// When each span began, and its id.
    pub fn begins(&self) -> impl Iterator<Item = (i64, u32)> {
        let others = self.spans.iter().enumerate().map(|(at, s)| {
            self.spans.pace(at);
            s.begin_ns
        });
        others.chain(self.methods.begins()).zip(0..)
    }

    /// Lets go of the pages that rows were made of, each time that their walk has come so far as to be worth it.
    pub fn pace(&self, at: usize) {
        self.spans.pace(at);
        self.methods.list.pace(at);
    }
}

/// A request that is being worked on.
#[derive(Debug, Clone, Copy)]
struct Request {
    span: u32,
    /// When the container had answered it.
    answered: Option<i64>,
    /// Since when its present actor works on it.
    since: i64,
    /// When it was queued for that actor, if it was taken up again.
    queued: Option<i64>,
}

impl Request {
    fn new(span: u32, since: i64) -> Request {
        Request {
            span,
            answered: None,
            since,
            queued: None,
        }
    }
}

/// The task that a visit is for.
#[derive(Debug, Clone, Copy)]
struct Task {
    /// When it was made.
    made: i64,
    /// When the first task of its request was: that had begun then.
    root: i64,
}

impl Task {
    /// Of the event that begins a visit; `None` if it is for none.
    fn of(e: &Event) -> Option<Task> {
        let made = i64::try_from(e.b).ok().filter(|b| *b != 0)?;
        let root = made - (i64::from(e.c) << 10);
        Some(Task { made, root })
    }
}

/// Builds all spans from events in the order of time.
pub struct Builder<'a> {
    cx: &'a Context<'a>,
    /// How far time has come.
    at: i64,
    spans: List<Span>,
    names: Names,
    visits: List<Part>,
    pieces: List<Part>,
    gaps: List<Gap>,
    connections: FxHashMap<u64, Connection>,
    /// Keys that were closed.
    closed: FxHashSet<u64>,
    /// By thread.
    actors: Vec<Actor>,
    /// Pooled connections in use, by identity.
    uses: FxHashMap<u64, u32>,
    /// Named spans that are open, by their id.
    users: FxHashMap<u64, u32>,
    /// Calls whose answers come to whichever thread, by their number.
    asked: FxHashMap<u64, u32>,
    /// There was one.
    has_asked: bool,
    methods: methods::Builder,
    /// All events have been taken: what is closed now was open at the end of the recording.
    at_the_end: bool,
}

impl<'a> Builder<'a> {
    /// Nothing was said yet.
    pub fn new(cx: &'a Context<'a>) -> Builder<'a> {
        Builder {
            cx,
            at: cx.begin,
            spans: List::new(cx.room),
            names: Names::default(),
            visits: List::new(cx.room),
            pieces: List::new(cx.room),
            gaps: List::new(cx.room),
            connections: FxHashMap::default(),
            closed: FxHashSet::default(),
            actors: Vec::new(),
            uses: FxHashMap::default(),
            users: FxHashMap::default(),
            asked: FxHashMap::default(),
            has_asked: false,
            methods: methods::Builder::new(cx.room),
            at_the_end: false,
        }
    }

    /// Takes the next event, of a thread; [`NONE`] if it is not known.
    pub fn event(&mut self, e: &Event, thread: u32) {
        if thread != NONE {
            self.at = e.ts.clamp(self.at, self.cx.end.max(self.at)); // time never goes back, whatever the spool says
            self.take(e, thread, self.at);
        }
    }

    fn take(&mut self, e: &Event, thread: u32, ts: i64) {
        match e.kind {
            ev::CONN_OPEN => self.connection_opens(e, thread, ts),
            ev::CONN_CLOSE => self.connection_closes(e.a, thread, ts),
            ev::QUEUED => self.queued(e.a, thread, ts),
            ev::VISIT_BEGIN => self.visit_begins(e.a, Task::of(e), thread, ts),
            ev::VISIT_END => self.visit_ends(e.a, thread, ts),
            ev::TLS_ENTER => self.tls_step_begins(thread, ts),
            ev::TLS_EXIT => self.tls_step_ends(e.b as i64, e.a, thread, ts),
            ev::TLS_KEY => self.tls_key(thread),
            ev::REQUEST_PARSE => self.actor(thread).parse = Some(ts),
            ev::REQUEST => self.request_begins(e.c, thread, ts),
            ev::STATUS => self.status(e.b, thread, ts),
            ev::REQUEST_END => self.request_ends(thread, ts),
            ev::SERVICE_BEGIN => self.service_begins(e.c, thread, ts),
            ev::SERVICE_END => self.service_ends(thread, ts),
            ev::POOL_WAIT_BEGIN => self.pool_wait_begins(e.c, thread, ts),
            ev::POOL_WAIT_END => self.pool_wait_ends(e.a, thread, ts),
            ev::POOL_RELEASE => self.pool_release(e.a, thread, ts),
            ev::SQL_BEGIN => self.sql_begins(e.c, thread, ts),
            ev::SQL_END => self.sql_ends(thread, ts),
            ev::CALL_BEGIN if e.a == 0 => self.call_begins(e.c, thread, ts),
            ev::CALL_BEGIN => self.asks(e.a, e.c, thread, ts),
            ev::CALL_END if e.a == 0 => self.call_ends(thread, ts),
            ev::CALL_END => self.is_answered(e.a, thread, ts),
            ev::APP_STATE => self.app_state(e.c, thread, ts),
            ev::APP_PUSH => self.app_push(e.c, thread, ts),
            ev::APP_POP => self.app_pop(thread, ts),
            ev::APP_EVENT => self.app_event(e, thread, ts),
            ev::SPAN_BEGIN => self.user_begins(e.a, e.c, thread, ts),
            ev::SPAN_END => self.user_ends(e.a, thread, ts),
            ev::METHOD_LEFT_OUT => self.methods.left_out(e, thread),
            ev::METHOD => self.method_ended(e, thread),
            _ => {}
        }
    }

    fn method_ended(&mut self, e: &Event, thread: u32) {
        let name = self.name(e.c, Name::METHOD);
        let (spans, actor) = (&self.spans, self.actors.get(thread as usize));
        let around = |begin: i64| {
            let open = actor?.stack.iter().rev();
            open.copied().find(|s| spans[*s as usize].begin_ns <= begin)
        };
        let limits = (self.cx.begin, self.cx.end);
        self.methods.ended(e, thread, name, limits, around);
    }

    fn name(&mut self, id: u32, otherwise: Name) -> Name {
        self.names.of_text(id, self.cx.text).unwrap_or(otherwise)
    }

    fn actor(&mut self, thread: u32) -> &mut Actor {
        let at = thread as usize;
        if self.actors.len() <= at {
            self.actors.resize_with(at + 1, Actor::default);
        }
        &mut self.actors[at]
    }

    fn span(&mut self, id: u32) -> &mut Span {
        &mut self.spans[id as usize]
    }

    /// Opens a span inside `parent`, without putting it on any actor's stack.
    fn open_in(
        &mut self,
        parent: Option<u32>,
        kind: Kind,
        name: Name,
        thread: u32,
        ts: i64,
    ) -> u32 {
        let id = self.spans.len() as u32;
        let mut span = Span::new(kind, name, thread, ts);
        span.put_into(parent, &self.spans);
        self.spans.push(span);
        id
    }

    /// Opens a span inside the innermost open one of its actor, and makes it the innermost.
    fn open_on(&mut self, kind: Kind, name: Name, thread: u32, ts: i64) -> u32 {
        let parent = self.actor(thread).stack.last().copied();
        let id = self.open_in(parent, kind, name, thread, ts);
        self.actor(thread).stack.push(id);
        id
    }

    /// Ends a span; nothing happens if it has ended.
    fn close(&mut self, id: u32, thread: u32, ts: i64, complete: bool) {
        if std::mem::replace(&mut self.span(id).ended, true) {
            return;
        }
        // What nobody ended is open, unless it is known to have been over before.
        let still_open = self.at_the_end && !complete && ts == self.cx.end;
        let span = self.span(id);
        span.end_ns = ts.max(span.begin_ns);
        span.end_thread = thread;
        span.complete &= complete;
        span.open = still_open;
        let began_on = span.thread;
        self.not_on(began_on, id);
        if thread != began_on {
            self.not_on(thread, id);
        }
    }

    /// Takes a span from an actor's stack.
    fn not_on(&mut self, thread: u32, id: u32) {
        if let Some(actor) = self.actors.get_mut(thread as usize) {
            actor.stack.retain(|&s| s != id);
        }
    }
}

#[cfg(test)]
mod tests;
