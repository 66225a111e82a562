//! The load generator: visitors of a web site, as sessions over TLS.
//!
//! Terms: a *scenario* says what visitors do ([`Scenario`]); a *session* is one visitor's walk; an
//! *interaction* is one click and its page; *goodput* is successful replies per second, where
//! success means in time, with status 2xx, and the right page.
//!
//! What always holds:
//! * load goes to this machine alone, unless the user has named another host as theirs ([`Target`]);
//! * one seed gives one session the same walk every time (as long as the pages are the same);
//! * an arrival's response time begins when the arrival was due: no coordinated omission. Inside a
//!   session, where a person waits for the page before thinking, it begins with the click;
//! * an error page, a wrong page and a late page are failures, and the visitor leaves;
//! * every TLS handshake is counted once, by kind, and offers a ticket only when the scenario says so.
//!
//! The parts: [`Scenario`] (parsed, walked), `http` (replies, without I/O), `tickets` and `tls`,
//! `connection`, `session`, `worker` (a single-threaded runtime each), `run`, and [`Summary`].

mod clock;
mod connection;
mod error;
mod handshakes;
mod http;
mod rng;
mod run;
mod scenario;
mod session;
mod stats;
mod summary;
mod target;
mod tickets;
mod tls;
mod worker;

pub use error::Error;
pub use run::{Options, Progress, run};
pub use scenario::{Arrivals, Scenario, Versions, parse_duration};
pub use stats::{Failure, Sessions};
pub use summary::{Generator, Handshakes, InteractionSummary, Phases, Quantiles, Summary};
pub use target::Target;
