//! TLS sessions of earlier connections, offered when and only when the scenario says so.
//!
//! Terms: a *ticket* is what lets a client resume (a TLS 1.3 ticket, or a TLS 1.2 session by id or
//! ticket); a *shelf* holds those of one visitor; the *pool* holds those that visitors left behind.
//!
//! What always holds: a TLS 1.3 ticket is offered at most once (RFC 8446, C.4), a connection that was
//! told not to resume offers nothing but keeps what it is given, and a ticket older than its life is
//! forgotten.

use crate::clock::now_ns;
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tickets kept per visitor: more than a server sends at once.
const MAX_TICKETS: usize = 8;
/// Visitors whose tickets the pool remembers.
const MAX_POOLED: usize = 10_000;

/// What a connection offers.
#[derive(Debug)]
pub(crate) enum Offer {
    /// Nothing: a full handshake.
    Nothing,
    /// The newest ticket, if there is one.
    Newest,
    /// The oldest ticket, if there is one.
    Oldest,
    /// A ticket that no key of the server opens.
    Forged(Box<Mutex<Forged>>),
}

/// One forged ticket of each version.
#[derive(Debug, Default)]
pub(crate) struct Forged {
    pub(crate) tls12: Option<Tls12ClientSessionValue>,
    pub(crate) tls13: Option<Tls13ClientSessionValue>,
}

/// What one visitor was given. All connections of a run go to one server, so it is not keyed by name.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    tls12: Option<(u64, Tls12ClientSessionValue)>,
    tls13: VecDeque<(u64, Tls13ClientSessionValue)>,
    group: Option<NamedGroup>,
}

impl Shelf {
    /// Whether a connection could offer anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.tls12.is_none() && self.tls13.is_empty()
    }

    /// Forgets what was given before this time.
    pub(crate) fn forget_before(&mut self, given_ns: u64) {
        if self.tls12.as_ref().is_some_and(|(at, _)| *at < given_ns) {
            self.tls12 = None;
        }
        while self.tls13.front().is_some_and(|(at, _)| *at < given_ns) {
            self.tls13.pop_front();
        }
    }

    /// Takes what a forger's server gave: nothing else is on such a shelf.
    pub(crate) fn take_all(
        &mut self,
    ) -> (
        Option<Tls12ClientSessionValue>,
        impl Iterator<Item = Tls13ClientSessionValue>,
    ) {
        let tls13 = std::mem::take(&mut self.tls13);
        (
            self.tls12.take().map(|(_, v)| v),
            tls13.into_iter().map(|(_, v)| v),
        )
    }
}

/// A visitor's shelf, shared by the visitor's connections.
pub(crate) type SharedShelf = Arc<Mutex<Shelf>>;

fn lock_forged(forged: &Mutex<Forged>) -> MutexGuard<'_, Forged> {
    forged.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    // A panic while the lock is held leaves at worst a missing ticket.
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection's view of its visitor's shelf.
#[derive(Debug)]
pub(crate) struct ConnectionTickets {
    pub(crate) shelf: SharedShelf,
    /// Which ticket this connection offers.
    pub(crate) offer: Offer,
    /// Set when one was offered.
    pub(crate) offered: Arc<AtomicBool>,
}

impl ConnectionTickets {
    fn note<T>(&self, ticket: Option<T>) -> Option<T> {
        if ticket.is_some() {
            self.offered.store(true, Ordering::Relaxed);
        }
        ticket
    }
}

impl ClientSessionStore for ConnectionTickets {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        lock(&self.shelf).group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        lock(&self.shelf).group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        lock(&self.shelf).tls12 = Some((now_ns(), value));
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        let value = match &self.offer {
            Offer::Nothing => None,
            Offer::Newest | Offer::Oldest => {
                lock(&self.shelf).tls12.as_ref().map(|(_, v)| v.clone())
            }
            Offer::Forged(forged) => lock_forged(forged).tls12.clone(),
        };
        self.note(value)
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        // A forged ticket was refused, not the shelf's.
        if !matches!(self.offer, Offer::Forged(_)) {
            lock(&self.shelf).tls12 = None;
        }
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        let mut shelf = lock(&self.shelf);
        if shelf.tls13.len() == MAX_TICKETS {
            shelf.tls13.pop_front();
        }
        shelf.tls13.push_back((now_ns(), value));
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let value = match &self.offer {
            Offer::Nothing => None,
            Offer::Newest => lock(&self.shelf).tls13.pop_back().map(|(_, v)| v),
            Offer::Oldest => lock(&self.shelf).tls13.pop_front().map(|(_, v)| v),
            Offer::Forged(forged) => lock_forged(forged).tls13.take(),
        };
        self.note(value)
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

    /// The shelf of whoever has been away longest.
    pub(crate) fn come_back_late(&mut self) -> Option<SharedShelf> {
        self.shelves.pop_front()
    }
}
