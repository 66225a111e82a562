//! Scenarios: what visitors do, as data. Read from TOML ([`parse`]) or built in.
//!
//! Terms: an *interaction* is one click and the page that answers it; a *session* is one visitor's
//! walk from the start to `end`, by the probabilities of `next`; *think time* is the pause before
//! each interaction but the first.
//!
//! What always holds for a [`Scenario`]: every name in `next` exists, probabilities are positive
//! and add up to 1 (they are normalised), every range is non-empty, the start exists, and every
//! interaction can reach `end`.

mod client;
mod duration;
mod links;
mod outline;
mod parse;
mod parse_arrivals;
mod place;
mod template;
mod walk;

pub use client::{Abandon, Client, Http, Keys, TicketPolicy};
pub use duration::parse_duration;
pub(crate) use links::find;
pub use outline::{Outline, OutlinePage};
pub(crate) use template::{Slot, Template};
pub(crate) use walk::{Ask, Walk};

use crate::Error;
use crate::replay::Replay;
use loadline_arrivals::Schedule;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How sessions arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// So many users, each beginning a new session when the last has ended (and a think time passed).
    Closed {
        /// How many.
        users: u32,
    },
    /// Sessions begin at this rate whatever becomes of those before them.
    PartlyOpen {
        /// Sessions per second.
        rate: f64,
    },
    /// Clicks come due at this rate whatever becomes of those before them; each is made by a visitor
    /// who has nothing to do, or by a new one. Think times do not count.
    Open {
        /// Clicks per second.
        rate: f64,
    },
    /// As a log says: each request when it was made.
    Replay,
}

/// How the times between arrivals are distributed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Process {
    /// Exponentially: independent visitors.
    #[default]
    Poisson,
    /// All the same.
    Uniform,
}

const MAX_USERS: u32 = 1_000_000;
const RATES: std::ops::RangeInclusive<f64> = 0.001..=1_000_000.0;

impl Arrivals {
    /// Whether they can be; the error names key, value and range.
    pub(crate) fn check(self) -> Result<Arrivals, String> {
        match self {
            Arrivals::Closed { users } if !(1..=MAX_USERS).contains(&users) => {
                Err(wrong_users(users.into()))
            }
            Arrivals::PartlyOpen { rate } if !RATES.contains(&rate) => Err(format!(
                "arrivals.rate is {rate}; it must be from {} to {} sessions/s",
                RATES.start(),
                RATES.end()
            )),
            Arrivals::Open { rate } if !RATES.contains(&rate) => Err(format!(
                "arrivals.requests is {rate}; it must be from {} to {} requests/s",
                RATES.start(),
                RATES.end()
            )),
            good => Ok(good),
        }
    }
}

fn wrong_users(users: i64) -> String {
    format!("arrivals.users is {users}; it must be from 1 to {MAX_USERS}")
}

/// Which TLS versions the client offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// TLS 1.2 alone.
    Tls12,
    /// TLS 1.3 alone.
    Tls13,
    /// Both; the server takes the newer.
    Both,
}

/// Where an edge of the walk leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Interaction(usize),
    Back,
    End,
}

/// One kind of click.
#[derive(Debug, Clone)]
pub(crate) struct Interaction {
    pub(crate) name: String,
    pub(crate) path: Template,
    /// Fields of the form that is posted; empty for a GET.
    pub(crate) form: Vec<(String, Template)>,
    /// Must be in the body of the reply.
    pub(crate) marker: Vec<u8>,
    /// Follow a link of the last page that begins so, if it has one.
    pub(crate) follow: Option<String>,
    /// Values of the session that the page sets: which, and the text that comes before it.
    pub(crate) take: Vec<(usize, String)>,
    /// Edges with their cumulative probability; the last is 1.
    pub(crate) next: Vec<(f64, Next)>,
}

/// What visitors do.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// How sessions arrive.
    pub arrivals: Arrivals,
    /// How the times between arrivals are distributed.
    pub process: Process,
    /// How rate or users change over the run.
    pub schedule: Schedule,
    /// What is replayed instead of a walk.
    pub replay: Option<Arc<Replay>>,
    /// Mean of the exponentially distributed think times.
    pub think_mean: Duration,
    /// How long a visitor waits for a page before leaving.
    pub timeout: Duration,
    /// TLS versions offered.
    pub versions: Versions,
    /// Probability that a session's second and later connections offer a ticket of the session.
    pub resume_within: f64,
    /// Probability that a session's first connection offers a ticket of an earlier session.
    pub resume_across: f64,
    /// The client closes a connection after so many requests; 0 keeps it until the server closes it.
    pub requests_per_connection: u32,
    /// How the client behaves on its connections.
    pub client: Client,
    /// Which tickets it offers beside good ones, and how long it keeps them.
    pub tickets: TicketPolicy,
    /// Version of HTTP.
    pub http: Http,
    /// Which of the server's certificates it asks for.
    pub keys: Keys,
    /// Values that a session holds: name, and the range of the first.
    pub(crate) held: Vec<(String, (u64, u64))>,
    pub(crate) start: usize,
    pub(crate) interactions: Vec<Interaction>,
}

const BROWSING: &str = include_str!("builtin/browsing.toml");

/// Built-in scenarios by name.
const BUILTIN: [(&str, &str); 5] = [
    ("browsing", BROWSING),
    ("bidding", include_str!("builtin/bidding.toml")),
    (
        "handshake-storm",
        include_str!("builtin/handshake-storm.toml"),
    ),
    ("flash-crowd", include_str!("builtin/flash-crowd.toml")),
    ("keep-alive", include_str!("builtin/keep-alive.toml")),
];

impl Scenario {
    /// A complete scenario file with every key explained.
    pub const EXAMPLE: &str = include_str!("builtin/example.toml");

    /// The names that [`Scenario::builtin`] knows.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// A built-in scenario.
    pub fn builtin(name: &str) -> Option<Scenario> {
        let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name)?;
        Some(
            Scenario::from_toml(text, name)
                .expect("a built-in scenario is valid; a test reads them all"),
        )
    }

    /// Reads a scenario; `path` is what errors call the file. A log that it replays is found from
    /// the file's folder.
    pub fn from_toml(text: &str, path: &str) -> Result<Scenario, Error> {
        parse::parse(text, path)
    }

    /// Nothing but a log to replay: for `--replay` without a scenario.
    pub fn replaying(log: &Path, speed: f64) -> Result<Scenario, Error> {
        let replay = Replay::read(log, speed)?;
        let mut scenario = Scenario::builtin("keep-alive").expect("it is built in");
        scenario.name = "replay".to_owned();
        scenario.set_replay(replay);
        Ok(scenario)
    }

    pub(crate) fn set_replay(&mut self, replay: Replay) {
        if replay.is_timed() {
            self.arrivals = Arrivals::Replay;
        }
        self.interactions = replay
            .names()
            .map(|name| Interaction {
                name: name.to_owned(),
                path: Template::path("/", |_| None).expect("/ is a path"),
                form: Vec::new(),
                marker: Vec::new(),
                follow: None,
                take: Vec::new(),
                next: vec![(1.0, Next::End)],
            })
            .collect();
        self.replay = Some(Arc::new(replay));
    }

    /// The names of the interactions, in the order of the file.
    pub fn interactions(&self) -> impl Iterator<Item = &str> {
        self.interactions.iter().map(|i| i.name.as_str())
    }

    /// Whether the page is what was asked for.
    pub(crate) fn is_right(&self, interaction: usize, page: &[u8]) -> bool {
        let marker = &self.interactions[interaction].marker;
        marker.is_empty() || find(page, marker).is_some()
    }
}
