//! What limits a server, as verdicts name it.

use serde::{Deserialize, Serialize};

/// What limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The server's CPUs.
    Cpu,
    /// Its CPUs, used by others.
    SharedCpu,
    /// The garbage collector.
    Gc,
    /// Another process: a database.
    Process,
    /// A lock.
    Lock,
    /// A pool of connections.
    Pool,
    /// The database, as seen from the server.
    Database,
    /// Another service that it calls.
    Service,
    /// Worker threads.
    Worker,
    /// Permits of a semaphore, or pooled objects, that requests give each other.
    Permits,
    /// The queue of connections to accept.
    Accept,
    /// Files.
    File,
    /// Safepoints that are no collections.
    Safepoint,
    /// The load generator: nothing is known of the server's limit.
    Generator,
    /// The load never reached a limit.
    None,
    /// Figures do not tell.
    Unknown,
}

impl Limit {
    /// By the diagnosis's word for it.
    pub fn named(limit: &str) -> Limit {
        match limit {
            "lock" => Limit::Lock,
            "pool" => Limit::Pool,
            "database" => Limit::Database,
            "service" => Limit::Service,
            "worker" => Limit::Worker,
            "permits" => Limit::Permits,
            "accept" => Limit::Accept,
            "file" => Limit::File,
            "gc" => Limit::Gc,
            "safepoint" => Limit::Safepoint,
            "cpu" => Limit::Cpu,
            _ => Limit::Unknown,
        }
    }
}
