//! What stands beside the figures: the machine, and what it cannot count.

use loadline_record::counters;
use serde::{Deserialize, Serialize};

/// The machine that was counted on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// CPUs.
    pub cpus: usize,
    /// `uname -r`.
    pub kernel: String,
    /// Model of the processor, as the kernel tells it.
    pub processor: String,
    /// What is not counted, why, and who can grant it.
    pub missing: Vec<String>,
}

impl Machine {
    /// This one.
    pub fn this() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let processor = read("/proc/cpuinfo")
            .lines()
            .find_map(|l| l.strip_prefix("model name"))
            .and_then(|l| l.split_once(':'))
            .map_or_else(|| "unknown".into(), |(_, name)| name.trim().to_owned());
        let mut missing: Vec<String> = counters::unavailable().into_iter().collect();
        if counters::migrations(&read("/proc/self/sched")).is_none() {
            missing.push(
                "this kernel does not tell migrations (it was built without CONFIG_SCHED_DEBUG)"
                    .into(),
            );
        }
        Machine {
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            processor,
            missing,
        }
    }
}
