//! The CPUs that may be handed out, and how near they are to each other.

use std::fs;
use std::path::Path;

use loadline_policy::{Cpu, Topology};

use crate::CpuSet;

/// What `/sys` says about `cpus`; where it says nothing, they are all alike.
pub(crate) fn topology(sys: &Path, cpus: &CpuSet) -> Topology {
    let nodes = nodes(sys);
    let cpu = |id: u32| {
        let dir = sys.join(format!("devices/system/cpu/cpu{id}"));
        Cpu {
            id,
            node: nodes
                .iter()
                .find(|(_, set)| set.contains(id))
                .map_or(0, |(n, _)| *n),
            // CPUs that share something are known by the lowest of them.
            cache: last_cache(&dir)
                .and_then(|set| set.iter().next())
                .unwrap_or(0),
            core: list(&dir.join("topology/thread_siblings_list"))
                .and_then(|set| set.iter().next())
                .unwrap_or(id),
        }
    };
    Topology::new(cpus.iter().map(cpu).collect())
}

fn list(path: &Path) -> Option<CpuSet> {
    CpuSet::parse(&fs::read_to_string(path).ok()?).ok()
}

fn nodes(sys: &Path) -> Vec<(u32, CpuSet)> {
    let Ok(dir) = fs::read_dir(sys.join("devices/system/node")) else {
        return Vec::new();
    };
    dir.filter_map(|entry| {
        let entry = entry.ok()?;
        let node = entry
            .file_name()
            .to_str()?
            .strip_prefix("node")?
            .parse()
            .ok()?;
        Some((node, list(&entry.path().join("cpulist"))?))
    })
    .collect()
}

fn last_cache(cpu: &Path) -> Option<CpuSet> {
    let level = |i: u32| -> Option<(u32, CpuSet)> {
        let dir = cpu.join(format!("cache/index{i}"));
        let level = fs::read_to_string(dir.join("level"))
            .ok()?
            .trim()
            .parse()
            .ok()?;
        Some((level, list(&dir.join("shared_cpu_list"))?))
    };
    (0..8)
        .filter_map(level)
        .max_by_key(|(l, _)| *l)
        .map(|(_, set)| set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_caches_and_cores_are_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let put = |path: &str, text: &str| {
            let path = dir.path().join("devices/system").join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("written");
        };
        put("node/node0/cpulist", "0-1\n");
        put("node/node1/cpulist", "2-3\n");
        for cpu in 0..4 {
            put(&format!("cpu/cpu{cpu}/cache/index0/level"), "1\n");
            put(
                &format!("cpu/cpu{cpu}/cache/index0/shared_cpu_list"),
                &format!("{cpu}\n"),
            );
            put(&format!("cpu/cpu{cpu}/cache/index3/level"), "3\n");
            put(
                &format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"),
                if cpu < 2 { "0-1" } else { "2-3" },
            );
            put(
                &format!("cpu/cpu{cpu}/topology/thread_siblings_list"),
                if cpu < 2 { "0-1" } else { "2-3" },
            );
        }
        let found = topology(dir.path(), &CpuSet::parse("1-2").expect("a list"));
        let expected = [
            Cpu {
                id: 1,
                node: 0,
                cache: 0,
                core: 0,
            },
            Cpu {
                id: 2,
                node: 1,
                cache: 2,
                core: 2,
            },
        ];
        assert_eq!(found.cpus(), expected);
    }

    #[test]
    fn a_machine_that_says_nothing_is_flat() {
        let found = topology(
            Path::new("/nowhere"),
            &CpuSet::parse("0-2").expect("a list"),
        );
        assert_eq!(found, Topology::flat(3));
    }
}
