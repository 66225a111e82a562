//! The trace: what a recording is on disk.
//!
//! A trace is a directory. Finished, it holds `trace.json` ([`meta::Meta`]) and one Parquet file
//! per table ([`tables`]). While recording, and after a crash, it holds the raw spools instead,
//! below `raw/` ([`spool`]): bytes as the kernel, the agent and `/proc` gave them.
//!
//! Terms: a *spool* is an append-only file of one source; a *table* is a Parquet file sorted by
//! time; *time* is always CLOCK_MONOTONIC in nanoseconds, in every table and every spool.
//!
//! What always holds:
//! * `trace.json` is written last and by rename, so a directory that has it has every table;
//! * a reader refuses a schema version that it does not know, by name, and reads older ones that it
//!   knows through views that fill in what they lack;
//! * what was lost is counted, per source, in `trace.json`.
//!
//! This crate gives shapes only. What the bytes mean is the business of `loadline-analyze`.

pub mod columns;
mod encode;
mod error;
pub mod meta;
mod order;
pub mod private;
pub mod read;
pub mod schema1;
pub mod spool;
pub mod table;
pub mod tables;
pub mod write;

pub use duckdb;
pub use error::{Error, Result};
pub use meta::Meta;
pub use read::Trace;
pub use write::TraceWriter;

/// Name of the format in `trace.json`.
pub const FORMAT: &str = "loadline-trace";

/// Version of the tables that are written. Raised by any change that an older reader would misread.
pub const SCHEMA_VERSION: u32 = 2;

/// Oldest version that is still read: as if it had been written today, see [`schema1`].
pub const OLDEST_SCHEMA: u32 = 1;
