//! Models of distributed multithreaded servers, evaluated by simulation and by analysis.
//!
//! A model (machines with schedulers, thread pools, queues, locks, links, heaps, request classes) is read from TOML by
//! [`language`], evaluated by [`solve::evaluate`] or, over ranges of its parameters, by [`sweep::sweep`], and answered as an
//! [`answer::Answer`]: throughput, response times, queueing and holding times, with confidence intervals.
//!
//! What always holds: the same model, seed and options give the same answer to the last bit, on any number of worker
//! threads; memory does not grow with the length of a run; a model that has no steady state (deadlock, overload) is
//! said to have none.
#![forbid(unsafe_code)]

pub mod admission;
pub mod answer;
pub mod calendar;
pub mod command;
pub mod draw;
pub mod engine;
pub mod language;
pub mod lqn;
pub mod model;
pub mod run;
pub mod solve;
pub mod sweep;
pub mod time;
