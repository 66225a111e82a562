//! What is counted while the load runs: one [`Stats`] a worker, merged at the end.
//!
//! What always holds: each request that was begun and not cut off by the end of the run is counted
//! once, as a success or under one [`Failure`]; response times are those of successes.

use crate::handshakes::{Handshake, Kind};
use crate::series::Series;
use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why an interaction did not succeed. The visitor leaves: the session is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, PartialOrd, Ord)]
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
    /// Status 503 with `Retry-After`: the server refuses, for now. Its first request refused so, a session was never let in.
    Busy,
    /// Another status of 500 or more.
    ServerError,
    /// Status 2xx, but the page lacks its marker.
    WrongPage,
}

impl Failure {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Failure; 10] = [
        Failure::Connect,
        Failure::NoResource,
        Failure::Tls,
        Failure::Timeout,
        Failure::Closed,
        Failure::BadReply,
        Failure::Status,
        Failure::Busy,
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
            Failure::Busy => "status 503, try again later",
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

/// As values and how many of each: merging what another process sent is exact.
impl Serialize for Times {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(
            self.0
                .iter_recorded()
                .map(|v| (v.value_iterated_to(), v.count_since_last_iteration())),
        )
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Times, D::Error> {
        let mut times = Times::default();
        for (value, count) in Vec::<(u64, u64)>::deserialize(input)? {
            times.0.saturating_record_n(value, count);
        }
        Ok(times)
    }
}

/// Bytes of handshakes, as TCP carried them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bytes {
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Bytes {
    fn add(&mut self, sent: u64, received: u64) {
        self.sent += sent;
        self.received += received;
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// Under way when counting began, after the warm-up.
    #[serde(default)]
    pub active_at_begin: u64,
    /// Begun.
    pub started: u64,
    /// Walked to their end.
    pub completed: u64,
    /// Of those, with every reply within the objective; all where there is none.
    #[serde(default)]
    pub good: u64,
    /// Replies within the objective, of all sessions; all where there is none.
    #[serde(default)]
    pub good_replies: u64,
    /// Left because of a [`Failure`].
    pub broken: u64,
    /// Of the broken ones, those that never got in: their first connection was refused, or closed
    /// during the handshake, or their first request was answered 503 with `Retry-After`.
    pub refused: u64,
    /// Not begun although they had arrived, because this machine could hold no more.
    pub not_started: u64,
    /// Still under way when the run ended.
    pub active_at_end: u64,
}

impl Sessions {
    /// Under way now.
    pub(crate) fn active(&self) -> u64 {
        self.active_at_begin + self.started - self.completed - self.broken
    }
}

/// Everything that one worker counts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stats {
    /// Successes and their response times, per interaction.
    pub(crate) interactions: Vec<(u64, Times)>,
    pub(crate) response: Times,
    /// Responses since the last look of the progress display.
    #[serde(skip)]
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
    /// Handshakes that offered a ticket and were full all the same.
    pub(crate) tickets_declined: u64,
    /// Handshakes that offered a forged ticket.
    pub(crate) tickets_forged: u64,
    pub(crate) bytes_full: Bytes,
    pub(crate) bytes_resumed: Bytes,
    /// Images, styles and scripts: fetched, found in the session's cache, failed.
    pub(crate) resources: Times,
    pub(crate) resources_cached: u64,
    pub(crate) resources_failed: u64,
    /// Pages with all that belongs to them.
    pub(crate) page_load: Times,
    pub(crate) redirects: u64,
    /// Requests made again by the scenario's policy.
    pub(crate) retries: u64,
    pub(crate) series: Series,
    /// Connection attempts since the last that succeeded, all refused; and when the first of them was.
    pub(crate) refusals: u64,
    pub(crate) refused_since_ns: u64,
    /// This process had no descriptor left.
    pub(crate) out_of_descriptors: bool,
    /// Handshakes not yet written to their file.
    #[serde(skip)]
    pub(crate) handshakes: Vec<Handshake>,
    pub(crate) keep_handshakes: bool,
    pub(crate) bytes_received: u64,
    /// Requests sent again because the server had closed an idle connection.
    pub(crate) reopened: u64,
    pub(crate) last_success_ns: u64,
    pub(crate) cpu_ns: u64,
    /// CPU time that the worker had used when counting began.
    #[serde(skip)]
    pub(crate) cpu_before_ns: u64,
    /// The run is over: what is dropped now was cut off, and is not counted.
    pub(crate) over: bool,
}

/// The worker counts, the main thread looks five times a second: the lock is hardly ever contended.
pub(crate) fn lock(stats: &Mutex<Stats>) -> MutexGuard<'_, Stats> {
    // Counters stay counters whatever panicked beside them; the panic itself is reported by join.
    stats.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stats {
    pub(crate) fn new(interactions: usize, keep_handshakes: bool, begin_ns: u64) -> Stats {
        Stats {
            series: Series::new(begin_ns),
            interactions: vec![Default::default(); interactions],
            keep_handshakes,
            ..Stats::default()
        }
    }

    /// The warm-up is over: what is counted begins here. What is under way goes on, and handshakes
    /// that wait for their file are written.
    pub(crate) fn begin(&mut self, begin_ns: u64, cpu_ns: u64) {
        let active = self.sessions.active();
        let before = std::mem::take(self);
        *self = Stats {
            handshakes: before.handshakes,
            refusals: before.refusals,
            refused_since_ns: before.refused_since_ns,
            out_of_descriptors: before.out_of_descriptors,
            last_success_ns: before.last_success_ns,
            cpu_before_ns: cpu_ns,
            ..Stats::new(before.interactions.len(), before.keep_handshakes, begin_ns)
        };
        self.sessions.active_at_begin = active;
        self.series.row(begin_ns).active = active;
    }

    pub(crate) fn succeeded(&mut self, interaction: usize, now_ns: u64, response_ns: u64) {
        let (count, times) = &mut self.interactions[interaction];
        *count += 1;
        times.add(response_ns);
        self.response.add(response_ns);
        self.recent.add(response_ns);
        self.series.reply(now_ns, (response_ns / 1000).max(1));
        self.last_success_ns = self.last_success_ns.max(now_ns);
    }

    pub(crate) fn failed(&mut self, now_ns: u64, why: Failure) {
        self.failures[why as usize] += 1;
        self.series.row(now_ns).failures += 1;
    }

    pub(crate) fn session_started(&mut self, now_ns: u64) {
        self.sessions.started += 1;
        let row = self.series.row(now_ns);
        row.started += 1;
        row.active += 1;
    }

    /// None is a session that walked to its end. `connected`: it had a connection; `served`: it had a page.
    pub(crate) fn session_ended(
        &mut self,
        now_ns: u64,
        broken: Option<Failure>,
        connected: bool,
        served: bool,
    ) {
        let row = self.series.row(now_ns);
        row.active = row.active.saturating_sub(1);
        match broken {
            None => {
                self.sessions.completed += 1;
                row.completed += 1;
            }
            Some(why) => {
                self.sessions.broken += 1;
                row.broken += 1;
                let at_the_door = match why {
                    Failure::Connect | Failure::Tls => !connected,
                    Failure::Busy => !served,
                    _ => false,
                };
                self.sessions.refused += u64::from(at_the_door);
            }
        }
    }

    /// Whether a connection could be made. What the server refuses again and again is not there.
    pub(crate) fn connected(&mut self, now_ns: u64, refused: bool) {
        if !refused {
            self.refusals = 0;
        } else {
            if self.refusals == 0 {
                self.refused_since_ns = now_ns;
            }
            self.refusals += 1;
        }
    }

    pub(crate) fn shook_hands(&mut self, handshake: Handshake) {
        if self.over {
            return;
        }
        let duration_ns = handshake.end_ns - handshake.begin_ns;
        let (sent, received) = (handshake.bytes_sent, handshake.bytes_received);
        match handshake.kind {
            Some(Kind::Full) => {
                self.tls_full.add(duration_ns);
                self.bytes_full.add(sent, received);
                self.tickets_declined += u64::from(handshake.offered);
                self.series.row(handshake.end_ns).full += 1;
            }
            Some(Kind::Resumed) => {
                self.tls_resumed.add(duration_ns);
                self.bytes_resumed.add(sent, received);
                self.series.row(handshake.end_ns).resumed += 1;
            }
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
            (&mut self.resources, &other.resources),
            (&mut self.page_load, &other.page_load),
        ] {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.failures.iter_mut().zip(other.failures) {
            *mine += theirs;
        }
        self.sessions.active_at_begin += other.sessions.active_at_begin;
        self.sessions.started += other.sessions.started;
        self.sessions.completed += other.sessions.completed;
        self.sessions.good += other.sessions.good;
        self.sessions.good_replies += other.sessions.good_replies;
        self.sessions.broken += other.sessions.broken;
        self.sessions.refused += other.sessions.refused;
        self.sessions.not_started += other.sessions.not_started;
        self.sessions.active_at_end += other.sessions.active_at_end;
        self.handshakes_failed += other.handshakes_failed;
        self.bytes_received += other.bytes_received;
        self.reopened += other.reopened;
        self.tickets_declined += other.tickets_declined;
        self.tickets_forged += other.tickets_forged;
        let (full, resumed) = (other.bytes_full, other.bytes_resumed);
        self.bytes_full.add(full.sent, full.received);
        self.bytes_resumed.add(resumed.sent, resumed.received);
        self.resources_cached += other.resources_cached;
        self.resources_failed += other.resources_failed;
        self.redirects += other.redirects;
        self.retries += other.retries;
        self.out_of_descriptors |= other.out_of_descriptors;
        self.series.merge(&other.series);
        self.last_success_ns = self.last_success_ns.max(other.last_success_ns);
        self.cpu_ns += other.cpu_ns;
    }
}
