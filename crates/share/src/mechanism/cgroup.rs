//! One cgroup per application: one write covers its threads, and those that they create are born inside.
//!
//! Version 1 has a tree for each controller (cpuset, cpu, cpuacct), version 2 has one for all. Ours is a group below the
//! daemon's, with a group for each application in it. Version 2 could not be tried on a kernel by those who wrote this:
//! its files and values follow the kernel's documentation (Documentation/admin-guide/cgroup-v2.rst).

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Former, Kind, Mechanism, Setting, check_pinned};
use crate::{CpuSet, ShareError, processes, sys};

/// Weight of all applications together against those that nobody manages, in threads of usual weight per CPU. In a
/// group of the usual weight a whole JVM counts for as much as one thread beside it. Half of this still starves
/// applications beside a process of eight busy threads per CPU; double starves what is not managed.
const THREADS_PER_CPU: u32 = 8;
/// A thread of usual weight, in the units of version 1.
const USUAL: f64 = 1024.0;
const PERIOD_US: u32 = 100_000;

/// Where one controller's groups are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Root {
    /// As /proc/PID/cgroup names it; empty for version 2.
    pub controller: String,
    /// Where that hierarchy is mounted.
    pub mount: PathBuf,
    /// The group that ours is created in.
    pub parent: PathBuf,
}

pub(super) struct Cgroups {
    kind: Kind,
    roots: Vec<Root>,
    name: String,
    /// Files of CPU time by application: read up to each quantum, and opening one takes longer than reading it.
    usage: RefCell<HashMap<String, File>>,
}

fn write(path: &Path, value: impl ToString) -> Result<(), ShareError> {
    let value = value.to_string();
    let written = OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut f| f.write_all(value.as_bytes()));
    written.map_err(ShareError::while_(format!("{} = {value}", path.display())))
}

fn read(path: &Path) -> Result<String, ShareError> {
    fs::read_to_string(path).map_err(ShareError::on(path))
}

fn make(path: &Path) -> Result<(), ShareError> {
    match fs::create_dir(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(ShareError::on(path)(e)),
        _ => Ok(()),
    }
}

/// Whether a group yields to those beside it (and whether it did before, if that is known), else its weight: one that
/// yields has none, and the kernel takes none. Kernels before 5.15 know no such groups: there the weight has to do.
fn share(
    dir: &Path,
    yields: bool,
    yielded: Option<bool>,
    weight_file: &str,
    weight: u32,
) -> Result<(), ShareError> {
    let idle = dir.join("cpu.idle");
    if (yields || yielded != Some(false))
        && let Ok(now) = fs::read_to_string(&idle)
    {
        if (now.trim() == "1") != yields {
            write(&idle, u8::from(yields))?;
        }
        if yields {
            return Ok(());
        }
    }
    write(&dir.join(weight_file), weight)
}

/// Removes a group; the kernel may need a moment after its last process has left.
fn remove(path: &Path) -> Result<(), ShareError> {
    for _ in 0..50 {
        match fs::remove_dir(path) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) if e.kind() != io::ErrorKind::ResourceBusy => {
                return Err(ShareError::on(path)(e));
            }
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
    Err(ShareError::failed(format!(
        "{} is still in use",
        path.display()
    )))
}

impl Cgroups {
    /// Our group is made ready; an error says why it cannot be.
    pub(super) fn open(
        kind: Kind,
        roots: Vec<Root>,
        name: &str,
        managed: &CpuSet,
    ) -> Result<Cgroups, ShareError> {
        let cgroups = Cgroups {
            kind,
            roots,
            name: name.into(),
            usage: RefCell::default(),
        };
        for root in &cgroups.roots {
            let ours = root.parent.join(name);
            if kind == Kind::CgroupV2 {
                write(&root.parent.join("cgroup.subtree_control"), "+cpuset +cpu")?;
            }
            make(&ours)?;
            match (kind, root.controller.as_str()) {
                (Kind::CgroupV2, _) => {
                    write(&ours.join("cpuset.cpus"), managed)?;
                    write(
                        &ours.join("cpu.weight"),
                        (100 * THREADS_PER_CPU * managed.len()).min(10_000),
                    )?;
                    write(&ours.join("cgroup.subtree_control"), "+cpuset +cpu")?;
                }
                (_, "cpuset") => {
                    write(
                        &ours.join("cpuset.mems"),
                        read(&root.parent.join("cpuset.mems"))?.trim(),
                    )?;
                    write(&ours.join("cpuset.cpus"), managed)?;
                }
                (_, "cpu") => write(
                    &ours.join("cpu.shares"),
                    1024 * THREADS_PER_CPU * managed.len(),
                )?,
                _ => {}
            }
        }
        Ok(cgroups)
    }

    fn dir(&self, root: &Root, key: &str) -> PathBuf {
        root.parent.join(&self.name).join(key)
    }

    /// What an application's file of CPU time says. Read often: it stays open.
    fn usage(
        &self,
        root: &Root,
        key: &str,
        name: &str,
        parse: impl Fn(&str) -> Option<u64>,
    ) -> Result<u64, ShareError> {
        let path = || self.dir(root, key).join(name);
        let mut open = self.usage.borrow_mut();
        if !open.contains_key(key) {
            let file = File::open(path()).map_err(|e| ShareError::on(&path())(e))?;
            open.insert(key.to_owned(), file);
        }
        let mut text = [0; 512];
        let length = match open[key].read_at(&mut text, 0) {
            Ok(length) => length,
            Err(e) => {
                open.remove(key);
                return Err(ShareError::on(&path())(e));
            }
        };
        let said = str::from_utf8(&text[..length]).ok().and_then(parse);
        said.ok_or_else(|| ShareError::failed(format!("{}: no CPU time in it", path().display())))
    }

    fn root(&self, controller: &str) -> Option<&Root> {
        self.roots
            .iter()
            .find(|r| r.controller.is_empty() || r.controller == controller)
    }

    /// What is as it was before is not written again: weights are corrected each quantum, and each write of a
    /// cpuset takes locks that all groups share.
    fn write_setting(
        &self,
        key: &str,
        setting: &Setting,
        before: Option<&Setting>,
    ) -> Result<(), ShareError> {
        let cpus = before.is_none_or(|b| b.cpus != setting.cpus);
        let limits = before.is_none_or(|b| b.limit != setting.limit);
        let yielded = before.map(|b| b.yields);
        let limit_us = setting
            .limit
            .map(|l| (l.as_f64() * f64::from(PERIOD_US)) as u64);
        for root in &self.roots {
            let dir = self.dir(root, key);
            match (self.kind, root.controller.as_str()) {
                (Kind::CgroupV2, _) => {
                    if cpus {
                        write(&dir.join("cpuset.cpus"), &setting.cpus)?;
                    }
                    let weight = (setting.weight * 100.0).round().clamp(1.0, 10_000.0);
                    share(&dir, setting.yields, yielded, "cpu.weight", weight as u32)?;
                    if limits {
                        let quota = limit_us.map_or("max".into(), |l| l.to_string());
                        write(&dir.join("cpu.max"), format!("{quota} {PERIOD_US}"))?;
                    }
                }
                (_, "cpuset") if cpus => write(&dir.join("cpuset.cpus"), &setting.cpus)?,
                (_, "cpu") => {
                    let shares = (setting.weight * USUAL).round().clamp(2.0, 262_144.0);
                    share(&dir, setting.yields, yielded, "cpu.shares", shares as u32)?;
                    // -1 is no limit. Written only where one is wanted or may be left: some kernels have no quota.
                    if !limits {
                        continue;
                    }
                    let quota = dir.join("cpu.cfs_quota_us");
                    if let Some(limit) = limit_us {
                        write(&dir.join("cpu.cfs_period_us"), PERIOD_US)?;
                        write(&quota, limit.max(1000))?;
                    } else if fs::read_to_string(&quota).is_ok_and(|q| q.trim() != "-1") {
                        write(&quota, -1)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whose cgroup it is that a process is in, if neither ours nor one that processes are merely born in.
    fn foreign(&self, cgroups: &[(String, String)]) -> Option<String> {
        for root in &self.roots {
            let Some((_, path)) = cgroups.iter().find(|(c, _)| *c == root.controller) else {
                continue;
            };
            let own = root
                .parent
                .strip_prefix(&root.mount)
                .unwrap_or(Path::new(""));
            let inside = Path::new(path.trim_start_matches('/'));
            // A login session's scope holds whatever the user starts: nobody set its CPUs.
            let session = path.starts_with("/user.slice/") && path.ends_with(".scope");
            if !(inside == own
                || inside.as_os_str().is_empty()
                || inside.starts_with(own.join(&self.name))
                || session)
            {
                return Some(path.clone());
            }
        }
        None
    }
}

/// The controllers and paths of /proc/PID/cgroup.
pub(super) fn of_process(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        all.extend(
            controllers
                .split(',')
                .map(|c| (c.to_owned(), path.to_owned())),
        );
    }
    all
}

impl Mechanism for Cgroups {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn about(&self) -> String {
        let dirs: Vec<String> = self
            .roots
            .iter()
            .map(|r| r.parent.join(&self.name).display().to_string())
            .collect();
        dirs.join(", ")
    }

    fn former(&self, pid: i32, managed: &CpuSet, force: bool) -> Result<Former, ShareError> {
        let path = PathBuf::from(format!("/proc/{pid}/cgroup"));
        let all = of_process(&read(&path)?);
        if let Some(foreign) = self.foreign(&all).filter(|_| !force) {
            return Err(ShareError::failed(format!(
                "process {pid} is in cgroup {foreign}, which somebody else manages (a service manager, a container runtime); --force takes it all the same"
            )));
        }
        let cpus =
            sys::affinity(pid).map_err(ShareError::while_(format!("affinity of process {pid}")))?;
        check_pinned(pid, &cpus, managed, force)?;
        let ours = all
            .into_iter()
            .filter(|(c, _)| self.roots.iter().any(|r| r.controller == *c))
            .collect();
        Ok(Former {
            cgroups: ours,
            cpus: cpus.to_string(),
        })
    }

    fn take(&mut self, key: &str, pid: i32, setting: &Setting) -> Result<(), ShareError> {
        for root in &self.roots {
            let dir = self.dir(root, key);
            make(&dir)?;
            if root.controller == "cpuset" {
                write(
                    &dir.join("cpuset.mems"),
                    read(&root.parent.join("cpuset.mems"))?.trim(),
                )?;
            }
        }
        self.write_setting(key, setting, None)?;
        for root in &self.roots {
            write(&self.dir(root, key).join("cgroup.procs"), pid)?;
        }
        Ok(())
    }

    fn set(
        &mut self,
        key: &str,
        setting: &Setting,
        before: Option<&Setting>,
    ) -> Result<(), ShareError> {
        self.write_setting(key, setting, before)
    }

    fn used_ns(&self, key: &str) -> Result<u64, ShareError> {
        let number = |text: &str| text.trim().parse().ok();
        if self.kind == Kind::CgroupV2 {
            let root = &self.roots[0];
            let usage_us = |text: &str| {
                let usage = text.lines().find_map(|l| l.strip_prefix("usage_usec "));
                usage.and_then(number)
            };
            return Ok(1000 * self.usage(root, key, "cpu.stat", usage_us)?);
        }
        if let Some(root) = self.root("cpuacct") {
            return self.usage(root, key, "cpuacct.usage", number);
        }
        // Without the accounting controller: what the living processes have used.
        Ok(self
            .pids(key)
            .into_iter()
            .filter_map(|pid| sys::process_cpu_ns(pid).ok())
            .sum())
    }

    fn pids(&self, key: &str) -> Vec<i32> {
        let Some(root) = self.root("cpuset") else {
            return Vec::new();
        };
        let text = fs::read_to_string(self.dir(root, key).join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|l| l.trim().parse().ok()).collect()
    }

    fn release(&mut self, key: &str, former: &Former) -> Result<(), ShareError> {
        let mut first_error = None;
        self.usage.borrow_mut().remove(key);
        for root in &self.roots {
            let dir = self.dir(root, key);
            let path = former
                .cgroups
                .iter()
                .find(|(c, _)| *c == root.controller)
                .map_or("/", |(_, p)| p.as_str());
            let back = root
                .mount
                .join(path.trim_start_matches('/'))
                .join("cgroup.procs");
            // A process may start another one meanwhile.
            for _ in 0..100 {
                let text = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
                let pids: Vec<i32> = text.lines().filter_map(|l| l.trim().parse().ok()).collect();
                if pids.is_empty() {
                    break;
                }
                for pid in pids {
                    match write(&back, pid) {
                        Err(e) if processes::lives(pid) => first_error = first_error.or(Some(e)),
                        _ => {}
                    }
                }
                if first_error.is_some() {
                    break;
                }
            }
            if let Err(e) = remove(&dir) {
                first_error = first_error.or(Some(e));
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    fn close(&mut self) -> Result<(), ShareError> {
        self.roots
            .iter()
            .try_for_each(|root| remove(&root.parent.join(&self.name)))
    }
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
