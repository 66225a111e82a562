//! The CPU manager: divides the CPUs of one machine among applications, and tells them.
//!
//! Terms: the *daemon* ([`serve`]) manages *applications*, each a process (with those that it starts) that registered
//! itself, was started under it or was adopted. Every *quantum* it takes a snapshot, lets `loadline-policy` decide how
//! many CPUs each gets and which, and brings that about through a *mechanism* (a cgroup, or the affinity of each
//! thread). An application reads what it has from its *page*, a file that only its user can read; its *need* is what it
//! requests, or what its CPU use and its wait for CPUs say.
//!
//! What always holds:
//! - shrinking is told before it is done, growing is done before it is told;
//! - a CPU that one gives up reaches another only when the first is off it (but for a process with no other CPU);
//! - whatever ends the daemon in order restores affinities and cgroups as they were; what a crash left is adopted by the
//!   next daemon, or undone by `stop`;
//! - decisions (`steps`, `need`, `account`, `who`, and the policies) do no I/O; `server` and `mechanism` decide nothing.

mod account;
mod applications;
mod client;
mod clients;
mod commands;
mod config;
mod cpuset;
mod curves;
mod error;
mod history;
mod machine;
mod manager;
mod mechanism;
mod message;
mod metrics;
mod need;
mod page;
mod privileges;
mod processes;
mod server;
mod state;
mod status;
mod steps;
mod sys;
mod who;

pub use account::Account;
pub use client::{Client, SOCKET_VARIABLE, Wish, default_socket, undo_after_a_crash};
pub use config::{Config, EXAMPLE};
pub use cpuset::CpuSet;
pub use error::ShareError;
pub use history::{History, Totals};
pub use server::{Ready, serve};
pub use status::{ApplicationStatus, Status};
