//! The daemon on real processes, with every mechanism that this machine has. What a test needs that is not here is said.

mod dividing;
mod living;
mod rights;
mod support;
