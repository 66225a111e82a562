//! The affinity of every thread. For machines and containers whose cgroups are not ours. Weights and limits it cannot:
//! who share a CPU share it as their threads do.

use std::collections::HashMap;

use super::{Former, Kind, Mechanism, Setting, check_pinned};
use crate::{CpuSet, ShareError, processes, sys};

/// Passes over the threads of one process. Threads that a thread creates have its affinity, so each pass finds fewer; a
/// process that keeps ahead for so long is creating threads from ones that it has pinned itself.
const MOST_PASSES: usize = 1000;

#[derive(Default)]
pub(super) struct Affinity {
    taken: HashMap<String, i32>,
}

/// Loops until a pass changes nothing: a thread that is missed once can have been created by one that was not yet
/// restricted. A thread that has gone counts as a change, as it may have left a child.
fn restrict(pid: i32, cpus: &CpuSet) -> Result<(), ShareError> {
    for _ in 0..MOST_PASSES {
        let mut changed = false;
        for tid in processes::threads(pid) {
            match sys::affinity(tid) {
                Ok(now) if now == *cpus => continue,
                Ok(_) => changed = true,
                Err(e) if e.raw_os_error() == Some(libc::ESRCH) => {
                    changed = true;
                    continue;
                }
                Err(e) => return Err(ShareError::while_(format!("affinity of thread {tid}"))(e)),
            }
            match sys::set_affinity(tid, cpus) {
                Err(e) if e.raw_os_error() != Some(libc::ESRCH) => {
                    return Err(ShareError::while_(format!(
                        "affinity of thread {tid} to {cpus}"
                    ))(e));
                }
                _ => {}
            }
        }
        if !changed {
            return Ok(());
        }
    }
    Err(ShareError::failed(format!(
        "process {pid} creates threads outside CPUs {cpus} faster than they can be restricted"
    )))
}

impl Affinity {
    fn pid(&self, key: &str) -> Result<i32, ShareError> {
        self.taken
            .get(key)
            .copied()
            .ok_or_else(|| ShareError::failed(format!("{key} is not managed")))
    }
}

impl Mechanism for Affinity {
    fn kind(&self) -> Kind {
        Kind::Affinity
    }

    fn about(&self) -> String {
        "affinity of every thread (no weights: who share a CPU share it as their threads do; processes that an application starts are not followed)".into()
    }

    fn former(&self, pid: i32, managed: &CpuSet, force: bool) -> Result<Former, ShareError> {
        let cpus =
            sys::affinity(pid).map_err(ShareError::while_(format!("affinity of process {pid}")))?;
        check_pinned(pid, &cpus, managed, force)?;
        Ok(Former {
            cgroups: Vec::new(),
            cpus: cpus.to_string(),
        })
    }

    fn take(&mut self, key: &str, pid: i32, setting: &Setting) -> Result<(), ShareError> {
        restrict(pid, &setting.cpus)?;
        self.taken.insert(key.into(), pid);
        Ok(())
    }

    fn set(&mut self, key: &str, setting: &Setting, _: Option<&Setting>) -> Result<(), ShareError> {
        // Also if its CPUs are the same: threads that it has started since inherit, but not all of them did in time.
        restrict(self.pid(key)?, &setting.cpus)
    }

    fn used_ns(&self, key: &str) -> Result<u64, ShareError> {
        sys::process_cpu_ns(self.pid(key)?).map_err(ShareError::while_("CPU time of a process"))
    }

    fn pids(&self, key: &str) -> Vec<i32> {
        self.taken
            .get(key)
            .copied()
            .filter(|&pid| processes::lives(pid))
            .into_iter()
            .collect()
    }

    fn release(&mut self, key: &str, former: &Former) -> Result<(), ShareError> {
        let Some(pid) = self.taken.remove(key) else {
            return Ok(());
        };
        let cpus = CpuSet::parse(&former.cpus).map_err(ShareError::failed)?;
        if !processes::lives(pid) || cpus.is_empty() {
            return Ok(());
        }
        restrict(pid, &cpus)
    }

    fn close(&mut self) -> Result<(), ShareError> {
        Ok(())
    }
}
