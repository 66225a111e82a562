//! Whom a connection depended on between its visits.
//!
//! A *gap* is a part of the time between two visits of a connection, with the thread that ended it:
//! the poller that queued it for a worker, or that gave it to admission control. What that thread did
//! meanwhile says what the connection waited for: while a poller is blocked in its poll, nothing has
//! come from the peer; while it is runnable or busy, the server keeps the connection waiting. Between
//! the guard's marks the connection waits for its turn.
//!
//! Invariant: gaps of one connection do not overlap, and lie outside its visits.

use loadline_trace::spool::agent::Event;

use super::Builder;

/// The guard's mark: a handshake has to wait for its turn. Its value is the connection's key.
const WAITS: &str = "guard handshake waits";
/// It waits no longer.
const GOES_ON: &str = "guard handshake goes on";

/// Whom a connection depended on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    /// The thread that ended the gap.
    Thread(u32),
    /// Admission control.
    Admission,
}

/// A part of the time between two visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The connection (a span's id).
    pub connection: u32,
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// With whom it was.
    pub with: With,
}

/// What gaps need to know of a connection.
pub(super) struct Alone {
    /// Since when it has been on its own, or with whom it was last said to be.
    since: i64,
    /// The guard keeps it.
    held: bool,
    /// Who queued it last.
    poller: Option<u32>,
}

impl Alone {
    pub(super) fn since(ts: i64) -> Alone {
        Alone {
            since: ts,
            held: false,
            poller: None,
        }
    }

    /// Its last visit ended.
    pub(super) fn again(&mut self, ts: i64) {
        self.since = ts;
    }
}

impl Builder<'_> {
    /// An event of the application: the guard's are among them.
    pub(super) fn app_event(&mut self, e: &Event, thread: u32, ts: i64) {
        match (self.cx.text)(e.c).as_deref() {
            Some(WAITS) => {
                self.known(e.a, thread, ts);
                self.gap_ends(e.a, With::Thread(thread), ts);
                self.held(e.a, true);
            }
            Some(GOES_ON) => {
                self.gap_ends(e.a, With::Admission, ts);
                self.held(e.a, false);
            }
            _ => {}
        }
    }

    fn held(&mut self, key: u64, held: bool) {
        if let Some(c) = self.connections.get_mut(&key) {
            c.alone.held = held;
        }
    }

    /// Who was to go on with it hands it on.
    pub(super) fn gap_ends_queued(&mut self, key: u64, thread: u32, ts: i64) {
        self.gap_ends(key, With::Thread(thread), ts);
        if let Some(c) = self.connections.get_mut(&key) {
            c.alone.poller = Some(thread);
        }
    }

    /// The connection ends, or the recording does: it depended on who queued it the last time.
    pub(super) fn last_gap_ends(&mut self, key: u64, ts: i64) {
        let with = self
            .connections
            .get(&key)
            .and_then(|c| match (c.alone.held, c.alone.poller) {
                (true, _) => Some(With::Admission),
                (false, poller) => poller.map(With::Thread),
            });
        if let Some(with) = with {
            self.gap_ends(key, with, ts);
        }
    }

    fn gap_ends(&mut self, key: u64, with: With, ts: i64) {
        let Some(c) = self.connections.get_mut(&key) else {
            return;
        };
        if c.visitors.is_empty() && ts > c.alone.since {
            self.gaps.push(Gap {
                connection: c.span,
                begin: c.alone.since,
                end: ts,
                with,
            });
            c.alone.since = ts;
        }
    }
}
