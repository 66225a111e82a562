//! `loadline characterize`: how a server behaves from light load to far beyond its saturation.
//!
//! Terms: the *offered load* is new sessions per second; *goodput* is right replies in time per
//! second; the *saturation* is the throughput of a short closed run without think time, in sessions
//! per second: where to look, not a result. A *point* is one offered load, measured. The *load line*
//! is the largest offered load at which goodput is still 95% of what is offered and the objective on
//! response time holds; the *peak* is the point of the largest goodput; the *knee* that of the
//! largest ratio of throughput to response time (Kleinrock, *Power and deterministic rules of thumb*,
//! ICC 1979).
//!
//! A *closed program* has no visitors but a driver of the user's (`Parameters::units`): its load is a whole number (rooms,
//! warehouses), its replies are units of work, its load line is the largest load at which the objective holds.
//!
//! A server may refuse, instead of serving everybody late: a connection that is refused or closed in its handshake, a 503 with
//! `Retry-After`. That is no failure of it, and no goodput: the load line is where it begins. If the guard does (`guarded`), what it
//! says of itself is in the report.
//!
//! What always holds:
//! * a point at which the generator was the limit is marked, and no statement about the server rests on it;
//! * each finished point is one file in the report's folder, whole or not there: a second run goes on
//!   from them, and a run with other parameters is refused;
//! * however a run ends, the processes that it started end, and an affinity that it changed is restored.
//!
//! Without I/O, tested alone: `plan` (which points, how long), `step` (what comes next), `search` (the load line by bisection),
//! `level` (all runs at one load, with intervals), `curve` (knee and peak), `warming` (when the server is warm), `verdict`
//! (what limits, one of `limit`), `render`. Thin: `run`, which starts
//! the server and, as child processes of this same binary, the load generator and the recorder.

mod curve;
mod guarded;
mod level;
mod limit;
mod measured;
mod objective;
mod plan;
mod render;
mod result;
mod run;
mod search;
mod step;
mod traced;
mod verdict;
mod warming;
mod words;

pub use curve::GOODPUT;
pub use guarded::Figures as GuardFigures;
pub use measured::Point;
pub use objective::Objective;
pub use plan::{Parameters, Units};
pub use render::text::summary;
pub use result::{FORMAT, Result as Characterization};
pub use run::{Event, Options, Outcome, Refused, Which, characterize};
