//! The best mechanism that this machine has, and why not a better one.

use std::fs;
use std::path::{Path, PathBuf};

use super::affinity::Affinity;
use super::cgroup::{Cgroups, Root, of_process};
use super::{Kind, Mechanism};
use crate::{CpuSet, ShareError};

/// The chosen mechanism, and a line for each better one that cannot be had.
pub(crate) struct Chosen {
    pub mechanism: Box<dyn Mechanism>,
    pub passed_over: Vec<String>,
}

/// `wanted` or, if that is left open, the best that can be had.
pub(crate) fn choose(
    wanted: Option<Kind>,
    name: &str,
    managed: &CpuSet,
) -> Result<Chosen, ShareError> {
    let mut passed_over = Vec::new();
    for kind in Kind::ALL
        .into_iter()
        .filter(|k| wanted.is_none_or(|w| w == *k))
    {
        match open(kind, name, managed) {
            Ok(mechanism) => {
                return Ok(Chosen {
                    mechanism,
                    passed_over,
                });
            }
            Err(e) => passed_over.push(format!("{}: {e}", kind.name())),
        }
    }
    Err(ShareError::failed(format!(
        "cannot restrict CPUs here: {}",
        passed_over.join("; ")
    )))
}

fn open(kind: Kind, name: &str, managed: &CpuSet) -> Result<Box<dyn Mechanism>, ShareError> {
    let own = of_process(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
    let mounts = mounts(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default());
    let roots = match kind {
        Kind::Affinity => return Ok(Box::new(Affinity::default())),
        Kind::CgroupV1 => v1_roots(&mounts, &own)?,
        Kind::CgroupV2 => vec![v2_root(&mounts, &own)?],
    };
    Ok(Box::new(Cgroups::open(kind, roots, name, managed)?))
}

/// A mounted cgroup hierarchy: its place, type and controllers.
#[derive(Debug, PartialEq)]
struct Mount {
    at: PathBuf,
    v2: bool,
    controllers: Vec<String>,
}

fn mounts(mountinfo: &str) -> Vec<Mount> {
    let of = |line: &str| {
        let (left, right) = line.split_once(" - ")?;
        let at = PathBuf::from(left.split(' ').nth(4)?);
        let mut right = right.split(' ');
        let v2 = match right.next()? {
            "cgroup" => false,
            "cgroup2" => true,
            _ => return None,
        };
        let controllers = right.nth(1)?.split(',').map(str::to_owned).collect();
        Some(Mount {
            at,
            v2,
            controllers,
        })
    };
    mountinfo.lines().filter_map(of).collect()
}

fn v1_roots(mounts: &[Mount], own: &[(String, String)]) -> Result<Vec<Root>, ShareError> {
    let root = |controller: &str| {
        let mount = mounts
            .iter()
            .find(|m| !m.v2 && m.controllers.iter().any(|c| c == controller))?;
        let path = own
            .iter()
            .find(|(c, _)| c == controller)
            .map_or("/", |(_, p)| p.as_str());
        let own = mount.at.join(path.trim_start_matches('/'));
        // In a container the path can be the host's.
        let parent = if own.is_dir() { own } else { mount.at.clone() };
        Some(Root {
            controller: controller.into(),
            mount: mount.at.clone(),
            parent,
        })
    };
    let cpuset =
        root("cpuset").ok_or_else(|| ShareError::failed("no cpuset controller is mounted"))?;
    let mut roots = vec![cpuset];
    roots.extend(["cpu", "cpuacct"].into_iter().filter_map(root));
    Ok(roots)
}

fn v2_root(mounts: &[Mount], own: &[(String, String)]) -> Result<Root, ShareError> {
    let mount = mounts
        .iter()
        .find(|m| m.v2)
        .ok_or_else(|| ShareError::failed("no cgroup2 is mounted"))?;
    let path = own
        .iter()
        .find(|(c, _)| c.is_empty())
        .map_or("/", |(_, p)| p.as_str());
    let controllers = fs::read_to_string(mount.at.join("cgroup.controllers")).unwrap_or_default();
    if let Some(missing) = ["cpuset", "cpu"]
        .iter()
        .find(|c| !controllers.split_whitespace().any(|k| k == **c))
    {
        return Err(ShareError::failed(format!(
            "{} has no {missing} controller",
            mount.at.display()
        )));
    }
    let parent = v2_parent(&mount.at, path)?;
    Ok(Root {
        controller: String::new(),
        mount: mount.at.clone(),
        parent,
    })
}

/// A service's own group, which a service manager delegates; else the top. A group with controllers for its children may
/// have no process itself: the daemon moves into a leaf.
fn v2_parent(mount: &Path, path: &str) -> Result<PathBuf, ShareError> {
    if !path.ends_with(".service") {
        return Ok(mount.to_owned());
    }
    let own = mount.join(path.trim_start_matches('/'));
    let leaf = own.join("daemon");
    fs::create_dir_all(&leaf).map_err(ShareError::on(&leaf))?;
    let procs = leaf.join("cgroup.procs");
    fs::write(&procs, std::process::id().to_string()).map_err(ShareError::on(&procs))?;
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_among_the_mounts() {
        let text = "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
            31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
            32 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let found = mounts(text);
        assert_eq!(found.len(), 2);
        assert!(!found[0].v2 && found[0].controllers.contains(&"cpuacct".to_owned()));
        assert!(found[1].v2 && found[1].at == Path::new("/sys/fs/cgroup/unified"));
    }

    #[test]
    fn a_mechanism_that_cannot_be_had_says_why() {
        assert!(
            v1_roots(&[], &[])
                .expect_err("none")
                .to_string()
                .contains("cpuset")
        );
        assert!(
            v2_root(&[], &[])
                .expect_err("none")
                .to_string()
                .contains("cgroup2")
        );
    }
}
