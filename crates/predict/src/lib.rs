//! From a recording to a model, from a model to the load line, and predictions beside measurements.
//!
//! Terms: what was *observed* is what a trace says ([`observe`]); a *fit* is the numbers of a model with their intervals
//! ([`fit`]); [`write`](mod@write) puts them into a file of the model language, which `loadline simulate` reads like any
//! other. [`whatif`] searches such a file, fitted or not, for its load line; [`compare`] holds it against measurements.
//!
//! What always holds: a number in the file that was fitted has its interval beside it; what the recording does not
//! determine is said by name and never made up in silence; a load line means what it means in `characterize`.
#![forbid(unsafe_code)]

pub mod compare;
pub mod fit;
pub mod observe;
pub mod whatif;
pub mod write;
