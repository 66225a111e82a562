//! What a JVM costs the machine, by thread role and per unit of work.
//!
//! Terms: a *counter* is something that grows while a thread runs or waits ([`Counter`]): CPU time, page faults,
//! cycles; a *slice* is what all threads counted between two readings; a *role* is what a thread is for (workers,
//! collector, compiler, the rest); a *unit of work* is what the program is there for: a request, a transaction, a message.
//!
//! What the kernel counts anyway (times, switches, migrations, faults) is read from `/proc`, which costs the threads
//! that are counted nothing; only what the processor counts takes perf events, which cost each of their context
//! switches something.
//!
//! What always holds: counters of a thread only grow; a thread is told from a later one with its id by when it began;
//! what threads counted that ended between two readings is in role `ended`, as far as the kernel keeps it with the
//! process (times and faults), else it is missing and said to be; reading takes at most one hundredth of a CPU.

mod compare;
mod counter;
mod machine;
mod perf;
mod reading;
mod role;
mod sampler;
mod summary;
mod text;

pub use compare::compare;
pub use counter::{Counter, Unit};
pub use machine::Machine;
pub use perf::{Hardware, unavailable};
pub use role::{Role, role};
pub use sampler::{Sampler, Slice};
pub use summary::{Figure, Names, Summary, Units, summarize};
