//! Estimating steady-state quantities from one long run or from several independent ones.
//!
//! Terms: an *observation* is one response time; a *segment* is a stretch of simulated time over which sums and
//! histograms are kept apart; *batches* are equal groups of consecutive segments, long enough to be nearly independent.
//! What always holds: memory does not grow with the length of the run (segments are merged in pairs when there are too
//! many, so their number stays between 128 and 256).

pub mod batch;
pub mod histogram;
pub mod mser;
pub mod student;

pub use batch::{Estimate, by_batches, by_replications};
pub use histogram::Histogram;
pub use mser::Mser;
