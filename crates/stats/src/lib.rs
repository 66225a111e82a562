//! Statistics of random experiments: one crate for the load generator, the simulator and `characterize`.
//!
//! Terms: a *stream* is a reproducible sequence of random numbers ([`random`]); an *observation* is one response time, or
//! one interval's rate; *batches* are equal groups of consecutive observations, long enough to be nearly independent
//! ([`batch`]); the *warm-up* is the part of a series to leave out ([`mser`]). A *law* describes
//! observations ([`law`]); what several causes cost each is told from their sum by least squares ([`nnls`]).
//!
//! What always holds: everything is a pure function of its arguments (a random stream of its seed); too little to tell
//! gives an infinite interval, never a narrow wrong one; every formula names its author and year where it stands.
#![forbid(unsafe_code)]

pub mod batch;
#[cfg(test)]
mod chi;
pub mod histogram;
pub mod incidence;
pub mod law;
pub mod mser;
pub mod nnls;
pub mod random;
pub mod student;

pub use batch::{Estimate, by_batches, by_replications};
pub use histogram::Histogram;
pub use mser::Mser;
pub use nnls::nnls;
pub use random::{Dist, Random, SplitMix64, Stream};
