//! Scenarios: what visitors do, as data. Read from TOML ([`parse`]) or built in.
//!
//! Terms: an *interaction* is one click and the page that answers it; a *session* is one visitor's
//! walk from the start to `end`, by the probabilities of `next`; *think time* is the pause before
//! each interaction but the first.
//!
//! What always holds for a [`Scenario`]: every name in `next` exists, probabilities are positive
//! and add up to 1 (they are normalised), every range is non-empty, the start exists, and every
//! interaction can reach `end`.

mod duration;
mod parse;
mod path;
mod walk;

pub use duration::parse_duration;
pub(crate) use path::Template;
pub(crate) use walk::{Step, Walk};

use crate::Error;
use std::time::Duration;

/// How sessions arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// So many users, each beginning a new session when the last has ended (and a think time passed).
    Closed {
        /// How many.
        users: u32,
    },
    /// Sessions begin at this rate (a Poisson process) whatever becomes of those before them.
    PartlyOpen {
        /// Sessions per second.
        rate: f64,
    },
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
    /// Must be in the body of the reply.
    pub(crate) marker: Vec<u8>,
    /// Follow a link of the last page that begins so, if it has one.
    pub(crate) follow: Option<String>,
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
    pub(crate) start: usize,
    pub(crate) interactions: Vec<Interaction>,
}

const BROWSING: &str = include_str!("builtin/browsing.toml");
const HANDSHAKE_STORM: &str = include_str!("builtin/handshake-storm.toml");

/// Built-in scenarios by name.
const BUILTIN: [(&str, &str); 2] = [("browsing", BROWSING), ("handshake-storm", HANDSHAKE_STORM)];

impl Scenario {
    /// A complete scenario file with every key explained.
    pub const EXAMPLE: &str = BROWSING;

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

    /// Reads a scenario; `path` is what errors call the file.
    pub fn from_toml(text: &str, path: &str) -> Result<Scenario, Error> {
        parse::parse(text, path)
    }

    /// The names of the interactions, in the order of the file.
    pub fn interactions(&self) -> impl Iterator<Item = &str> {
        self.interactions.iter().map(|i| i.name.as_str())
    }
}
