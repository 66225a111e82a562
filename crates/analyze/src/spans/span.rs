//! A span, which is small, as there are tens of millions, and the names of spans.

use std::sync::Arc;

use loadline_trace::tables;
use rustc_hash::FxHashMap;

use crate::model::NONE;

/// What a span is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// From accept to close.
    Connection,
    /// TLS handshake.
    TlsHandshake,
    /// HTTP request.
    Request,
    /// Servlet.
    Service,
    /// Waiting for a pooled connection.
    PoolWait,
    /// Having it.
    PoolUse,
    /// A statement.
    Sql,
    /// A call of another service, by a thread that waits for its answer.
    Call,
    /// One whose answer comes to whichever thread.
    Asked,
    /// A state that the application gave to a thread.
    AppState,
    /// A named span of the application.
    User,
}

impl Kind {
    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Connection => "connection",
            Kind::TlsHandshake => "tls_handshake",
            Kind::Request => "request",
            Kind::Service => "service",
            Kind::PoolWait => "pool_wait",
            Kind::PoolUse => "pool_use",
            Kind::Sql => "sql",
            Kind::Call | Kind::Asked => "call",
            Kind::AppState => "app_state",
            Kind::User => "user",
        }
    }
}

/// An interval with a meaning. Its place in the list of spans is its id.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// Begin.
    pub begin_ns: i64,
    /// End.
    pub end_ns: i64,
    /// What it is called; a connection is called what its peer is, if that is known.
    pub name: Name,
    parent: u32,
    connection: u32,
    /// Thread that began it.
    pub thread: u32,
    /// Thread that ended it.
    pub end_thread: u32,
    /// Of a connection, the peer's address.
    pub peer: Option<Name>,
    /// Of a connection, the peer's port; 0 if it is not known.
    pub peer_port: u16,
    /// HTTP status; 0 if there is none.
    pub status: u16,
    /// What it is.
    pub kind: Kind,
    /// Of a handshake, whether the session was resumed.
    pub resumed: Option<bool>,
    /// Whether the recording saw all of it.
    pub complete: bool,
    /// Whether it was open when the recording ended.
    pub open: bool,
    /// Whether it has ended; of all of them in the end.
    pub ended: bool,
}

impl Span {
    /// One that has begun on a thread.
    pub fn new(kind: Kind, name: Name, thread: u32, begin: i64) -> Span {
        Span {
            begin_ns: begin,
            end_ns: begin,
            name,
            parent: NONE,
            connection: NONE,
            thread,
            end_thread: thread,
            peer: None,
            peer_port: 0,
            status: 0,
            kind,
            resumed: None,
            complete: true,
            open: false,
            ended: false,
        }
    }

    /// The span that it lies in.
    pub fn parent(&self) -> Option<u32> {
        (self.parent != NONE).then_some(self.parent)
    }

    /// The connection that it lies in.
    pub fn connection(&self) -> Option<u32> {
        (self.connection != NONE).then_some(self.connection)
    }

    /// The connection that what lies in it belongs to; it is the span with this id.
    pub fn connection_of(&self, id: u32) -> Option<u32> {
        match self.kind {
            Kind::Connection => Some(id),
            _ => self.connection(),
        }
    }

    /// Puts it into another, which lies before it in `spans`; or into none.
    pub fn put_into(&mut self, parent: Option<u32>, spans: &[Span]) {
        self.parent = parent.unwrap_or(NONE);
        let connection = parent.and_then(|p| spans[p as usize].connection_of(p));
        self.connection = connection.unwrap_or(NONE);
    }

    /// Gives the spans that it lies in their new ids; those without one are gone.
    pub fn renumber(&mut self, new: impl Fn(u32) -> Option<u32>) {
        self.parent = self.parent().and_then(&new).unwrap_or(NONE);
        self.connection = self.connection().and_then(&new).unwrap_or(NONE);
    }

    /// Its row.
    pub fn row(&self, id: usize, names: &Names) -> tables::Span {
        let peer = self.peer.map(|p| names.get(p));
        let name = match (&peer, self.peer_port) {
            (Some(peer), 0) => peer.clone(),
            (Some(peer), port) => format!("{peer}:{port}").into(),
            (None, _) => names.get(self.name),
        };
        let name = match peer {
            Some(_) if self.name == Name::STREAM => format!("stream {name}").into(),
            _ => name,
        };
        tables::Span {
            id: id as i64,
            parent: self.parent().map(i64::from),
            kind: self.kind.name(),
            name,
            thread: i64::from(self.thread),
            end_thread: i64::from(self.end_thread),
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            connection: self.connection().map(i64::from),
            status: (self.status > 0).then(|| i32::from(self.status)),
            resumed: self.resumed,
            peer_port: (self.peer_port > 0).then(|| i32::from(self.peer_port)),
            peer,
            complete: self.complete,
            open: self.open,
            cpu_ns: None,
        }
    }
}

/// The part of a span on which one thread worked.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Begin.
    pub begin_ns: i64,
    /// End.
    pub end_ns: i64,
    queued_ns: i64,
    /// The span.
    pub span: u32,
    /// Thread that worked on it.
    pub thread: u32,
}

impl Part {
    /// In place of a time that is not known.
    const NEVER: i64 = i64::MIN;

    /// What a thread did for a span since `begin`, for which it was queued then, if that was seen.
    pub fn new(span: u32, thread: u32, begin: i64, end: i64, queued: Option<i64>) -> Part {
        Part {
            begin_ns: begin,
            end_ns: end.max(begin),
            queued_ns: queued.unwrap_or(Part::NEVER),
            span,
            thread,
        }
    }

    /// The same of another span.
    pub fn of(self, span: u32) -> Part {
        Part { span, ..self }
    }

    /// When the work was handed to the thread's queue, if that was seen.
    pub fn queued_ns(&self) -> Option<i64> {
        (self.queued_ns != Part::NEVER).then_some(self.queued_ns)
    }

    /// Forgets when it was queued, if that was before `begin`.
    pub fn not_queued_before(&mut self, begin: i64) {
        if self.queued_ns < begin {
            self.queued_ns = Part::NEVER;
        }
    }

    /// Its row.
    pub fn row(&self) -> tables::Segment {
        tables::Segment {
            span: i64::from(self.span),
            thread: i64::from(self.thread),
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            queued_ns: self.queued_ns(),
        }
    }
}

/// A name, in [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name(u32);

impl Name {
    /// A connection whose peer nobody told.
    pub const CONNECTION: Name = Name(0);
    /// A handshake that failed.
    pub const FAILED: Name = Name(1);
    /// A full one.
    pub const FULL: Name = Name(2);
    /// A resumed one.
    pub const RESUMED: Name = Name(3);
    /// One of which neither is known.
    pub const UNKNOWN: Name = Name(4);
    /// A pool that nobody named; and so on.
    pub const POOL: Name = Name(5);
    #[allow(missing_docs)]
    pub const REQUEST: Name = Name(6);
    #[allow(missing_docs)]
    pub const SERVICE: Name = Name(7);
    #[allow(missing_docs)]
    pub const STATEMENT: Name = Name(8);
    #[allow(missing_docs)]
    pub const STATE: Name = Name(9);
    #[allow(missing_docs)]
    pub const SPAN: Name = Name(10);
    #[allow(missing_docs)]
    pub const METHOD: Name = Name(11);
    #[allow(missing_docs)]
    pub const CALL: Name = Name(12);
    /// What stands for the connection of one request alone.
    pub const STREAM: Name = Name(13);
}

/// The texts of [`Name`]'s constants, in their order.
const FIXED: [&str; 14] = [
    "connection",
    "failed",
    "full",
    "resumed",
    "unknown",
    "pool",
    "request",
    "service",
    "statement",
    "state",
    "span",
    "method",
    "call",
    "stream",
];

/// Each text that is a name, once.
#[derive(Debug)]
pub struct Names {
    list: Vec<Arc<str>>,
    /// By the ids of strings.
    texts: FxHashMap<u32, Name>,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            list: FIXED.map(Arc::from).to_vec(),
            texts: FxHashMap::default(),
        }
    }
}

impl Names {
    /// What a name reads.
    pub fn get(&self, name: Name) -> Arc<str> {
        self.list[name.0 as usize].clone()
    }

    /// The name of a string; `text` tells what it reads, if it was not asked for before.
    pub fn of_text(&mut self, id: u32, text: impl FnOnce(u32) -> Option<Arc<str>>) -> Option<Name> {
        if let Some(&name) = self.texts.get(&id) {
            return Some(name);
        }
        let name = Name(self.list.len() as u32);
        self.list.push(text(id)?);
        self.texts.insert(id, name);
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_takes_56_bytes_at_most_and_a_part_32() {
        assert!(size_of::<Span>() <= 56, "{} bytes", size_of::<Span>());
        assert!(size_of::<Part>() <= 32, "{} bytes", size_of::<Part>());
    }

    #[test]
    fn each_constant_reads_as_it_is_called() {
        let names = Names::default();
        for (name, text) in [
            (Name::CONNECTION, "connection"),
            (Name::UNKNOWN, "unknown"),
            (Name::SPAN, "span"),
            (Name::METHOD, "method"),
            (Name::STREAM, "stream"),
        ] {
            assert_eq!(&*names.get(name), text);
        }
    }
}
