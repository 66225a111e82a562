//! What a JVM costs the machine, by thread role and per unit of work.
//!
//! Terms: a *counter* is something that grows while a thread runs or waits ([`Counter`]): CPU time, page faults,
//! cycles; a *slice* is what all threads counted between two readings; a *role* is what a thread is for (workers,
//! collector, compiler, the rest); a *unit of work* is what the program is there for: a request, a transaction, a message;
//! a *ratio* is a figure made of several counters: instructions per cycle, a top-down category.
//!
//! The recorder counts (`loadline_record::counters`); here is what is asked of it ([`plan`]) and what its slices mean.

mod compare;
mod html;
mod machine;
mod ratio;
mod summary;
mod text;
pub mod topdown;
mod wanted;

pub use compare::compare;
pub use loadline_analyze::counters::{Names, Role};
pub use loadline_record::counters::{Counted, Counter, Sampler, Slice, Unit};
pub use machine::Machine;
pub use ratio::{Kind, Ratio};
pub use summary::{Figure, Moment, Summary, Units, summarize};
pub use wanted::{plan, resolve};
