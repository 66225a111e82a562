//! What kept the target from its work from outside: the CPU quota of its cgroups, and connections
//! that the kernel dropped before anybody could accept them.
//!
//! Terms: a *quota* is the CPU time that a cgroup may use in a *period* (100 ms as a rule); who has
//! used it up stands still (*throttled*) until the next. Every ancestor's quota counts as well: the
//! figures are those of the cgroup, from the process's own up to the root, that was throttled most.
//! Both versions of cgroups are read. What is not there, or cannot be read, is left out, not zero.

use std::path::{Path, PathBuf};

/// A directory of the cgroup tree and the version of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    /// The directory.
    pub dir: PathBuf,
    /// Whether its files are those of version 2.
    pub v2: bool,
}

/// Throttling of one cgroup since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Throttling {
    /// Periods in which somebody of it ran.
    pub periods: u64,
    /// Of them, those in which the quota was used up.
    pub throttled: u64,
    /// Time in which it stood still, on each CPU, s.
    pub seconds: f64,
    /// CPUs that the quota amounts to; none if there is no quota.
    pub quota: Option<f64>,
}

/// Where the CPU controller of a process is, innermost first: from `/proc/PID/cgroup` and the
/// reader's `/proc/self/mountinfo`. Empty if the controller is mounted nowhere.
pub fn cgroups(cgroup: &str, mountinfo: &str) -> Vec<Cgroup> {
    let entries = cgroup.lines().filter_map(|l| {
        let mut parts = l.splitn(3, ':').skip(1);
        Some((parts.next()?, parts.next()?))
    });
    let mut v1 = None;
    let mut v2 = None;
    for (controllers, path) in entries {
        if controllers.split(',').any(|c| c == "cpu") {
            v1 = Some(path);
        } else if controllers.is_empty() {
            v2 = Some(path);
        }
    }
    // Where version 1 has the controller, version 2 does not.
    let (path, version2) = match (v1, v2) {
        (Some(path), _) => (path, false),
        (None, Some(path)) => (path, true),
        (None, None) => return Vec::new(),
    };
    let Some((root, mount)) = mounted(mountinfo, version2) else {
        return Vec::new();
    };
    // Inside a container the mount shows a part of the tree, and the path may be the host's.
    let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or("");
    let mut dirs = vec![mount.clone()];
    for part in below.split('/').filter(|p| !p.is_empty() && *p != "..") {
        dirs.push(dirs[dirs.len() - 1].join(part));
    }
    dirs.reverse();
    dirs.into_iter()
        .map(|dir| Cgroup { dir, v2: version2 })
        .collect()
}

/// Root within the tree and mount point of the CPU controller.
fn mounted(mountinfo: &str, v2: bool) -> Option<(&str, PathBuf)> {
    mountinfo.lines().find_map(|l| {
        let (left, right) = l.split_once(" - ")?;
        let mut right = right.split(' ');
        let kind = right.next()?;
        let mut has_cpu = || {
            right
                .next_back()
                .is_some_and(|o| o.split(',').any(|o| o == "cpu"))
        };
        let fits = if v2 {
            kind == "cgroup2"
        } else {
            kind == "cgroup" && has_cpu()
        };
        let mut left = left.split(' ').skip(3);
        let (root, mount) = (left.next()?, left.next()?);
        fits.then(|| (root, PathBuf::from(mount)))
    })
}

/// `cpu.stat` of either version; `quota` comes from other files. None without figures of a quota.
pub fn cpu_stat(text: &str) -> Option<Throttling> {
    let value = |name: &str| {
        text.lines()
            .find_map(|l| l.strip_prefix(name)?.strip_prefix(' '))
            .and_then(|v| v.trim().parse::<u64>().ok())
    };
    let seconds = match (value("throttled_time"), value("throttled_usec")) {
        (Some(ns), _) => ns as f64 / 1e9,
        (None, Some(us)) => us as f64 / 1e6,
        (None, None) => return None,
    };
    Some(Throttling {
        periods: value("nr_periods")?,
        throttled: value("nr_throttled")?,
        seconds,
        quota: None,
    })
}

/// Of version 2, `cpu.max`: `50000 100000`, or `max 100000`.
pub fn cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    ratio(quota, period)
}

/// CPUs of a quota; none if there is no limit.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.trim().parse().ok()?;
    let period: f64 = period.trim().parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// The throttling of the cgroup that was throttled most, with the smallest quota of all.
pub fn worst(all: &[Throttling]) -> Option<Throttling> {
    let most = all
        .iter()
        .copied()
        .max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    let quota = all.iter().filter_map(|t| t.quota).min_by(f64::total_cmp);
    Some(Throttling { quota, ..most })
}

/// Throttling of a process.
pub fn throttling(pid: i32) -> Option<Throttling> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let cgroup = read(Path::new(&format!("/proc/{pid}/cgroup")))?;
    let mountinfo = read(Path::new("/proc/self/mountinfo"))?;
    let all: Vec<Throttling> = cgroups(&cgroup, &mountinfo)
        .iter()
        .filter_map(|c| {
            let stat = cpu_stat(&read(&c.dir.join("cpu.stat"))?)?;
            let quota = if c.v2 {
                read(&c.dir.join("cpu.max")).and_then(|t| cpu_max(&t))
            } else {
                let quota = read(&c.dir.join("cpu.cfs_quota_us"));
                let period = read(&c.dir.join("cpu.cfs_period_us"));
                quota.zip(period).and_then(|(q, p)| ratio(&q, &p))
            };
            Some(Throttling { quota, ..stat })
        })
        .collect();
    worst(&all)
}

/// Of `/proc/PID/net/netstat`: ListenOverflows (the queue of connections to accept was full) and
/// ListenDrops (all that were dropped on the way into it), of all sockets of that network namespace.
pub fn listen_drops(netstat: &str) -> Option<(u64, u64)> {
    let lines: Vec<&str> = netstat
        .lines()
        .filter(|l| l.starts_with("TcpExt:"))
        .collect();
    let [names, values] = lines[..] else {
        return None;
    };
    let value = |name: &str| {
        let at = names.split(' ').position(|n| n == name)?;
        values.split(' ').nth(at)?.parse().ok()
    };
    Some((value("ListenOverflows")?, value("ListenDrops")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
        33 31 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";
    const V2: &str = "32 31 0:29 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";

    fn dirs(cgroup: &str, mountinfo: &str) -> Vec<String> {
        let all = cgroups(cgroup, mountinfo);
        all.iter().map(|c| c.dir.display().to_string()).collect()
    }

    #[test]
    fn the_controller_is_found_in_both_versions_with_all_ancestors() {
        let v1 = "3:cpuset:/\n2:cpu,cpuacct:/shop/web\n0::/\n";
        let want = [
            "/sys/fs/cgroup/cpu/shop/web",
            "/sys/fs/cgroup/cpu/shop",
            "/sys/fs/cgroup/cpu",
        ];
        assert_eq!(dirs(v1, V1), want);
        assert_eq!(
            dirs("0::/a.slice\n", V2),
            ["/sys/fs/cgroup/a.slice", "/sys/fs/cgroup"]
        );
        assert!(dirs("0::/a.slice\n", V1).is_empty());
        assert!(dirs("", V2).is_empty());
    }

    #[test]
    fn a_container_sees_its_part_of_the_tree() {
        let mounted = "32 31 0:29 /docker/77 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
        assert_eq!(dirs("2:cpu:/docker/77\n", mounted), ["/sys/fs/cgroup/cpu"]);
        assert_eq!(
            dirs("2:cpu:/docker/77/x\n", mounted),
            ["/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/cpu"]
        );
    }

    #[test]
    fn cpu_stat_of_both_versions_gives_seconds() {
        let v1 = cpu_stat("nr_periods 10\nnr_throttled 4\nthrottled_time 2500000000\n");
        let v2 = cpu_stat("usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 2500000\n");
        assert_eq!(
            v1.map(|t| (t.periods, t.throttled, t.seconds)),
            Some((10, 4, 2.5))
        );
        assert_eq!(v1, v2);
        assert_eq!(cpu_stat("usage_usec 9\n"), None);
    }

    #[test]
    fn a_quota_is_told_in_cpus() {
        assert_eq!(cpu_max("50000 100000\n"), Some(0.5));
        assert_eq!(cpu_max("max 100000\n"), None);
        assert_eq!(ratio("-1", "100000"), None);
    }

    #[test]
    fn the_cgroup_that_stood_still_most_counts_with_the_smallest_quota() {
        let of = |seconds, quota| Throttling {
            periods: 1,
            throttled: 1,
            seconds,
            quota,
        };
        let worst = worst(&[of(0.0, Some(4.0)), of(3.0, Some(0.5)), of(0.0, None)]);
        assert_eq!(worst, Some(of(3.0, Some(0.5))));
        assert_eq!(super::worst(&[]), None);
    }

    #[test]
    fn dropped_connections_are_found_by_name() {
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 7 9\nIpExt: InNoRoutes\nIpExt: 3\n";
        assert_eq!(listen_drops(text), Some((7, 9)));
        assert_eq!(listen_drops("TcpExt: A\nTcpExt: 1\n"), None);
        assert_eq!(listen_drops(""), None);
    }
}
