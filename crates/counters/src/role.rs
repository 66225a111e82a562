//! What a thread is for, coarsely enough for a table.

use loadline_analyze::{kind, role as lanes};
use serde::{Deserialize, Serialize};

/// Columns of the table, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// They do the units of work: a server's workers, the application's own threads.
    Workers,
    /// The collector's.
    Gc,
    /// The compilers'.
    Jit,
    /// The virtual machine's others, pollers, acceptors, timers.
    Rest,
    /// Whatever ended between two readings.
    Ended,
}

impl Role {
    /// In the order of the table.
    pub const ALL: [Role; 5] = [Role::Workers, Role::Gc, Role::Jit, Role::Rest, Role::Ended];

    /// The table's heading.
    pub fn title(self) -> &'static str {
        match self {
            Role::Workers => "workers",
            Role::Gc => "gc",
            Role::Jit => "jit",
            Role::Rest => "rest",
            Role::Ended => "ended",
        }
    }
}

/// By a thread's name: Java's, or the kernel's 15 characters of it.
pub fn role(name: &str, is_java: bool) -> Role {
    match kind::of(name, is_java, false, false) {
        "gc" => Role::Gc,
        "compiler" => Role::Jit,
        "vm" => Role::Rest,
        "carrier" => Role::Workers,
        kind => match lanes::ROLES[lanes::role(name, kind)] {
            "Workers" | "Application" => Role::Workers,
            _ => Role::Rest,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_stand_in_the_column_of_what_they_are_for() {
        for (name, is_java, expected) in [
            ("http-nio-8080-exec-3", true, Role::Workers),
            ("warehouse-0", true, Role::Workers),
            ("ForkJoinPool-1-worker-1", true, Role::Workers),
            ("http-nio-8080-Poller", true, Role::Rest),
            ("http-nio-8080-Acceptor", true, Role::Rest),
            ("HikariPool-1 housekeeper", true, Role::Rest),
            ("G1 Conc#0", false, Role::Gc),
            ("C2 CompilerThre", false, Role::Jit),
            ("VM Thread", false, Role::Rest),
            ("java", false, Role::Rest),
        ] {
            assert_eq!(role(name, is_java), expected, "{name}");
        }
    }
}
