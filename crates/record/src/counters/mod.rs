//! What threads count: the scheduler's figures from `/proc`, the processor's by perf events.
//!
//! Terms: a *counter* is something that grows while a thread runs or waits; a *slice* is what all threads counted
//! between two readings; an [`Event`] is what perf_event_open(2) is asked to count; a [`Group`] of events is on the
//! processor together or not at all; a [`Plan`] is all groups that are wanted.
//!
//! What the kernel counts anyway (times, switches, migrations, faults) is read from `/proc`, which costs the threads
//! that are counted nothing; only what the processor counts takes perf events, which cost each of their context
//! switches something.
//!
//! What always holds: counters of a thread only grow; a thread is told from a later one with its id by when it began;
//! what threads counted that ended between two readings is kept apart (`ended`), as far as the kernel keeps it with the
//! process (times and faults), else it is missing and said to be; reading takes at most one hundredth of a CPU.

mod hardware;
mod perf;
mod plan;
mod reading;
mod sampler;
pub mod software;
mod spool;
pub mod sysfs;

pub use loadline_trace::spool::counters::{Counted, Counter, Slice, Unit};
pub use perf::unavailable;
pub use plan::{Event, Group, Mode, Plan};
pub use reading::migrations_of as migrations;
pub use sampler::Sampler;
pub(crate) use spool::Spool;

use std::time::Duration;

/// What is to be counted, and how often.
#[derive(Debug, Clone)]
pub struct Counting {
    /// Time between two readings; it grows where reading would take more than a hundredth of a CPU.
    pub every: Duration,
    /// Beside what `/proc` has.
    pub plan: Plan,
}
