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
//! The parts: [`Scenario`] (parsed, walked), [`Schedule`] and [`Replay`] (when), `http`, `html`, `url`,
//! `cookies` (what came, without I/O), `tickets`, `trust`, `forge` and `tls`, `connection` and `http2`,
//! `visitor`, `resources` and `session` (one person), `arrivals` and `worker` (many, on a
//! single-threaded runtime each), `run` and `parts` (one process, several), and [`Summary`].

mod arrivals;
mod clock;
mod connection;
mod cookies;
mod error;
mod forge;
mod handshakes;
mod html;
mod http;
mod http2;
mod limits;
mod parts;
mod probe;
mod replay;
mod resources;
mod run;
mod scenario;
mod series;
mod session;
mod shake;
mod stats;
mod stream;
mod summary;
mod target;
mod tickets;
mod tls;
mod trust;
mod url;
mod visitor;
mod worker;

pub use error::Error;
pub use loadline_arrivals::{Phase, Schedule};
pub use loadline_stats::Estimate;
pub use parts::{run_part, run_parts};
pub use replay::Replay;
pub use run::{Options, Part, Progress, run};
pub use scenario::{
    Abandon, Arrivals, Client, Http, Keys, Outline, OutlinePage, Process, Scenario, TicketPolicy,
    Versions, parse_duration,
};
pub use stats::{Failure, Sessions};
pub use summary::{
    Generator, HandshakeBytes, Handshakes, InteractionSummary, Phases, Quantiles, Resources,
    Second, Steady, Summary,
};
pub use target::Target;
pub use trust::Trust;
