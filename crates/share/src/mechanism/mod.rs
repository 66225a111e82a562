//! How the kernel is told which CPUs an application may use. Each mechanism knows applications by a *key*, which is a good
//! name for a directory.

mod affinity;
mod cgroup;
mod choose;

pub(crate) use choose::choose;

use loadline_policy::Cpus;
use serde::{Deserialize, Serialize};

use crate::{CpuSet, ShareError};

/// Which mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    CgroupV2,
    CgroupV1,
    Affinity,
}

impl Kind {
    /// In the order of preference.
    pub(crate) const ALL: [Kind; 3] = [Kind::CgroupV2, Kind::CgroupV1, Kind::Affinity];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::CgroupV2 => "cgroup-v2",
            Kind::CgroupV1 => "cgroup-v1",
            Kind::Affinity => "affinity",
        }
    }
}

/// What an application is to have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub cpus: CpuSet,
    /// Against those that it shares a CPU with; 1 is usual.
    pub weight: f64,
    /// Runs only when those that it shares a CPU with do not, and ends at once when one of them has work.
    pub yields: bool,
    /// CPU time per time that it is held to.
    pub limit: Option<Cpus>,
}

/// How a process was before it was taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Former {
    /// Its cgroup for each controller, as /proc/PID/cgroup has it.
    pub cgroups: Vec<(String, String)>,
    /// Its affinity as a list.
    pub cpus: String,
}

pub(crate) trait Mechanism {
    fn kind(&self) -> Kind;
    /// For people: where, and what it cannot do.
    fn about(&self) -> String;
    /// How a process is now; unless forced, an error if somebody else has put it where it is.
    fn former(&self, pid: i32, managed: &CpuSet, force: bool) -> Result<Former, ShareError>;
    /// Takes a process, with all its threads.
    fn take(&mut self, key: &str, pid: i32, setting: &Setting) -> Result<(), ShareError>;
    /// Brings about another setting.
    fn set(
        &mut self,
        key: &str,
        setting: &Setting,
        before: Option<&Setting>,
    ) -> Result<(), ShareError>;
    /// CPU time that its processes have used, in nanoseconds.
    fn used_ns(&self, key: &str) -> Result<u64, ShareError>;
    /// Its processes that live.
    fn pids(&self, key: &str) -> Vec<i32>;
    /// Puts its processes back where they were; nothing is left of the key.
    fn release(&mut self, key: &str, former: &Former) -> Result<(), ShareError>;
    /// Removes what is not any application's.
    fn close(&mut self) -> Result<(), ShareError>;
}

/// Refuses a process that somebody pinned.
fn check_pinned(
    pid: i32,
    affinity: &CpuSet,
    managed: &CpuSet,
    force: bool,
) -> Result<(), ShareError> {
    if force || managed.is_subset(affinity) {
        return Ok(());
    }
    Err(ShareError::failed(format!(
        "process {pid} is pinned to CPUs {affinity}, and the daemon hands out {managed}: somebody meant it so; --force takes it all the same"
    )))
}
