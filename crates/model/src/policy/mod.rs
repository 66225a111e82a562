//! Decisions that the products take too, as pure functions of a snapshot: whom a guard admits, which CPUs an
//! application gets. The simulator calls the same functions, so that a policy can be tried at 64 CPUs on a laptop.

pub mod admission;
pub mod cpu;
