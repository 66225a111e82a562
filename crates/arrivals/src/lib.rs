//! When load comes, for whoever drives it and whoever simulates it, so that what is predicted is what will be driven.
//!
//! Terms: the *level* is a factor on a rate, which a [`Schedule`] changes over a run in *phases*; an access log
//! ([`access_log`]) is requests at their times, each of a *session*.
//!
//! What always holds: pure functions of time and text, without I/O; no bytes make them panic.
#![forbid(unsafe_code)]

pub mod access_log;
mod schedule;

pub use schedule::{Phase, Schedule};
