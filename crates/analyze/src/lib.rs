//! Meaning: from the raw spools of a recording to the tables of a trace, and from those to answers.
//!
//! Terms: a *level* is one of kernel, jvm, server, app. A *state* is what the kernel says of a
//! thread; a *cause* is why it was in it; a *wait* is what the JVM says of a thread; a *visit* is
//! the time in which one worker thread serves one connection; a *phase* is what a connection was
//! at: handshake, request, service, waiting for the pool, SQL, idle.
//!
//! What always holds, whatever the spools hold:
//! * per thread, states follow each other without gap from its begin to its end;
//! * a request lies inside its connection, a service inside its request, a child inside its parent;
//! * a breakdown adds up to the duration of its span, to the nanosecond;
//! * what the recording saw only in part is marked so, never invented, and never a panic.
//!
//! The way: [`build`] reads the spools (`input`), rebuilds states from kernel records (`states`),
//! learns who is who (`threads`), pairs waits (`waits`), server events (`spans`) and calls (`methods`), says why each
//! blocked interval was blocked (`cause`), and partitions connections and requests (`breakdown`).
//! All of these are functions over slices; what these are slices of may be longer than memory (`bounded`). Beside
//! that only `build`, `input` and the queries touch files.

mod bounded;
mod breakdown;
mod build;
mod causes;
pub mod counters;
pub mod diagnose;
pub mod diff;
pub mod import;
mod input;
mod intervals;
mod limits;
mod merge;
mod methods;
pub mod metrics;
mod misc;
mod model;
mod mounts;
mod objects;
mod overview;
pub mod query;
mod redact;
pub mod report;
mod resources;
pub mod role;
mod samples;
mod spans;
mod stacks;
mod states;
mod synchronizers;
mod syscalls;
pub mod testing;
mod threads;
pub mod units;
pub mod views;
mod vm;
mod waits;

pub use build::build;
pub use overview::{DEPTHS, part_ns};
pub use report::page::wrap;
pub use threads::kind;
