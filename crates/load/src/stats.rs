//! What is counted while the load runs: one [`Stats`] a worker, merged at the end.
//!
//! What always holds: each request that was begun and not cut off by the end of the run is counted
//! once, as a success or under one [`Failure`]; response times are those of successes.

use crate::handshakes::{Handshake, Kind};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why an interaction did not succeed. The visitor leaves: the session is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// No TCP connection.
    Connect,
    /// This machine had no port or no file descriptor left.
    NoResource,
    /// The TLS handshake failed.
    Tls,
    /// The visitor's patience ended.
    Timeout,
    /// The server closed the connection, or it broke.
    Closed,
    /// The bytes were not an HTTP reply.
    BadReply,
    /// Status 400 to 499, or below 200, or a redirect.
    Status,
    /// Status 500 or more.
    ServerError,
    /// Status 2xx, but the page lacks its marker.
    WrongPage,
}

impl Failure {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Failure; 9] = [
        Failure::Connect,
        Failure::NoResource,
        Failure::Tls,
        Failure::Timeout,
        Failure::Closed,
        Failure::BadReply,
        Failure::Status,
        Failure::ServerError,
        Failure::WrongPage,
    ];

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Failure::Connect => "no connection",
            Failure::NoResource => "no port or descriptor left on this machine",
            Failure::Tls => "TLS handshake failed",
            Failure::Timeout => "timed out",
            Failure::Closed => "connection closed by the server",
            Failure::BadReply => "reply not HTTP",
            Failure::Status => "status 4xx or unexpected",
            Failure::ServerError => "status 5xx",
            Failure::WrongPage => "page without its marker",
        }
    }
}

/// Durations in microseconds, three digits, up to an hour.
#[derive(Debug, Clone)]
pub(crate) struct Times(pub(crate) Histogram<u64>);

const MAX_US: u64 = 3_600_000_000;

impl Default for Times {
    fn default() -> Times {
        Times(Histogram::new_with_bounds(1, MAX_US, 3).expect("the bounds are valid"))
    }
}

impl Times {
    pub(crate) fn add(&mut self, duration_ns: u64) {
        self.0.saturating_record((duration_ns / 1000).max(1));
    }

    pub(crate) fn merge(&mut self, other: &Times) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// In milliseconds; 0 if nothing was recorded.
    pub(crate) fn quantile_ms(&self, q: f64) -> f64 {
        if self.0.is_empty() {
            0.0
        } else {
            self.0.value_at_quantile(q) as f64 / 1e3
        }
    }
}

/// Sessions by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sessions {
    /// Begun.
    pub started: u64,
    /// Walked to their end.
    pub completed: u64,
    /// Left because of a [`Failure`].
    pub broken: u64,
    /// Not begun although they had arrived, because this machine could hold no more.
    pub not_started: u64,
    /// Still under way when the run ended.
    pub active_at_end: u64,
}

/// Everything that one worker counts.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Successes and their response times, per interaction.
    pub(crate) interactions: Vec<(u64, Times)>,
    pub(crate) response: Times,
    /// Responses since the last look of the progress display.
    pub(crate) recent: Times,
    pub(crate) failures: [u64; Failure::ALL.len()],
    pub(crate) sessions: Sessions,
    pub(crate) tcp: Times,
    pub(crate) tls_full: Times,
    pub(crate) tls_resumed: Times,
    pub(crate) wait: Times,
    pub(crate) transfer: Times,
    /// How late a timer woke its session.
    pub(crate) lag: Times,
    pub(crate) handshakes_failed: u64,
    /// Handshakes not yet written to their file.
    pub(crate) handshakes: Vec<Handshake>,
    pub(crate) keep_handshakes: bool,
    pub(crate) bytes_received: u64,
    /// Requests sent again because the server had closed an idle connection.
    pub(crate) reopened: u64,
    pub(crate) last_success_ns: u64,
    pub(crate) cpu_ns: u64,
    /// The run is over: what is dropped now was cut off, and is not counted.
    pub(crate) over: bool,
}

/// The worker counts, the main thread looks five times a second: the lock is hardly ever contended.
pub(crate) fn lock(stats: &Mutex<Stats>) -> MutexGuard<'_, Stats> {
    // Counters stay counters whatever panicked beside them; the panic itself is reported by join.
    stats.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stats {
    pub(crate) fn new(interactions: usize, keep_handshakes: bool) -> Stats {
        Stats {
            interactions: vec![Default::default(); interactions],
            keep_handshakes,
            ..Stats::default()
        }
    }

    pub(crate) fn succeeded(&mut self, interaction: usize, now_ns: u64, response_ns: u64) {
        let (count, times) = &mut self.interactions[interaction];
        *count += 1;
        times.add(response_ns);
        self.response.add(response_ns);
        self.recent.add(response_ns);
        self.last_success_ns = self.last_success_ns.max(now_ns);
    }

    pub(crate) fn failed(&mut self, why: Failure) {
        self.failures[why as usize] += 1;
    }

    pub(crate) fn shook_hands(&mut self, handshake: Handshake) {
        if self.over {
            return;
        }
        let duration_ns = handshake.end_ns - handshake.begin_ns;
        match handshake.kind {
            Some(Kind::Full) => self.tls_full.add(duration_ns),
            Some(Kind::Resumed) => self.tls_resumed.add(duration_ns),
            None => self.handshakes_failed += 1,
        }
        if self.keep_handshakes {
            self.handshakes.push(handshake);
        }
    }

    /// Adds what another worker counted (its unwritten handshakes and recent times excepted).
    pub(crate) fn merge(&mut self, other: &Stats) {
        for ((count, times), (n, t)) in self.interactions.iter_mut().zip(&other.interactions) {
            *count += n;
            times.merge(t);
        }
        for (mine, theirs) in [
            (&mut self.response, &other.response),
            (&mut self.tcp, &other.tcp),
            (&mut self.tls_full, &other.tls_full),
            (&mut self.tls_resumed, &other.tls_resumed),
            (&mut self.wait, &other.wait),
            (&mut self.transfer, &other.transfer),
            (&mut self.lag, &other.lag),
        ] {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.failures.iter_mut().zip(other.failures) {
            *mine += theirs;
        }
        self.sessions.started += other.sessions.started;
        self.sessions.completed += other.sessions.completed;
        self.sessions.broken += other.sessions.broken;
        self.sessions.not_started += other.sessions.not_started;
        self.sessions.active_at_end += other.sessions.active_at_end;
        self.handshakes_failed += other.handshakes_failed;
        self.bytes_received += other.bytes_received;
        self.reopened += other.reopened;
        self.last_success_ns = self.last_success_ns.max(other.last_success_ns);
        self.cpu_ns += other.cpu_ns;
    }
}
