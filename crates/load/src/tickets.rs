//! TLS sessions of earlier connections, offered when and only when the scenario says so.
//!
//! Terms: a *ticket* is what lets a client resume (a TLS 1.3 ticket, or a TLS 1.2 session by id or
//! ticket); a *shelf* holds those of one visitor; the *pool* holds those that visitors left behind.
//!
//! What always holds: a TLS 1.3 ticket is offered at most once (RFC 8446, C.4), and a connection
//! that was told not to resume offers nothing but keeps what it is given.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tickets kept per visitor: more than a server sends at once.
const MAX_TICKETS: usize = 8;
/// Visitors whose tickets the pool remembers.
const MAX_POOLED: usize = 10_000;

/// What one visitor was given. All connections of a run go to one server, so it is not keyed by name.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    tls12: Option<Tls12ClientSessionValue>,
    tls13: VecDeque<Tls13ClientSessionValue>,
    group: Option<NamedGroup>,
}

impl Shelf {
    /// Whether a connection could offer anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.tls12.is_none() && self.tls13.is_empty()
    }
}

/// A visitor's shelf, shared by the visitor's connections.
pub(crate) type SharedShelf = Arc<Mutex<Shelf>>;

pub(crate) fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    // A panic while the lock is held leaves at worst a missing ticket.
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection's view of its visitor's shelf.
#[derive(Debug)]
pub(crate) struct ConnectionTickets {
    pub(crate) shelf: SharedShelf,
    /// Whether this connection offers a ticket.
    pub(crate) offer: bool,
}

impl ClientSessionStore for ConnectionTickets {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        lock(&self.shelf).group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        lock(&self.shelf).group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        lock(&self.shelf).tls12 = Some(value);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        if self.offer {
            lock(&self.shelf).tls12.clone()
        } else {
            None
        }
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        lock(&self.shelf).tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        let mut shelf = lock(&self.shelf);
        if shelf.tls13.len() == MAX_TICKETS {
            shelf.tls13.pop_front();
        }
        shelf.tls13.push_back(value);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        if self.offer {
            lock(&self.shelf).tls13.pop_back()
        } else {
            None
        }
    }
}

/// Shelves of visitors who have left, for those who come back. The oldest are forgotten.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    shelves: VecDeque<SharedShelf>,
}

impl Pool {
    pub(crate) fn leave(&mut self, shelf: SharedShelf) {
        if lock(&shelf).is_empty() {
            return;
        }
        if self.shelves.len() == MAX_POOLED {
            self.shelves.pop_front();
        }
        self.shelves.push_back(shelf);
    }

    /// The shelf of whoever left last.
    pub(crate) fn come_back(&mut self) -> Option<SharedShelf> {
        self.shelves.pop_back()
    }
}
