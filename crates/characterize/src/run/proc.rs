//! What `/proc` and the scheduler say of processes and CPUs. Processes come and go while one reads:
//! what has vanished counts as nothing.

use std::fs;
use std::io;

/// Clock ticks per second of `/proc`.
fn ticks_per_second() -> f64 {
    // SAFETY: sysconf has no preconditions.
    let n = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if n > 0 { n as f64 } else { 100.0 }
}

/// Some fields of `/proc/PID/stat`.
struct Stat {
    state: char,
    parent: i32,
    group: i32,
    cpu_ticks: u64,
}

/// The name may hold spaces and parentheses: what follows the last parenthesis counts.
fn parse_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // proc(5) numbers fields from 1; the first after the name is number 3.
    let field = |n: usize| fields.get(n - 3).copied();
    Some(Stat {
        state: field(3)?.chars().next()?,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        cpu_ticks: field(14)?.parse::<u64>().ok()? + field(15)?.parse::<u64>().ok()?,
    })
}

fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Whether it has ended and was not waited for.
pub fn is_zombie(pid: i32) -> bool {
    stat(pid).is_none_or(|s| s.state == 'Z' || s.state == 'X')
}

/// Whether it runs.
pub fn exists(pid: i32) -> bool {
    !is_zombie(pid)
}

/// Processes of a group and all that they started, wherever those have gone.
pub fn family(id: i32) -> Vec<i32> {
    let known: Vec<(i32, Stat)> = all().filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let mut found: Vec<i32> = known
        .iter()
        .filter(|(_, s)| s.group == id)
        .map(|k| k.0)
        .collect();
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        for (pid, s) in &known {
            if s.parent == parent && !found.contains(pid) {
                found.push(*pid);
            }
        }
        next += 1;
    }
    found
}

/// Short name of a process.
pub fn name(pid: i32) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    text.trim().to_owned()
}

/// Whether any process of the group still runs.
pub fn group_lives(id: i32) -> bool {
    all().any(|pid| stat(pid).is_some_and(|s| s.group == id && s.state != 'Z' && s.state != 'X'))
}

fn all() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// CPU seconds that a process has used.
pub fn cpu_seconds(pid: i32) -> f64 {
    stat(pid).map_or(0.0, |s| s.cpu_ticks as f64 / ticks_per_second())
}

/// Busy seconds of each CPU since boot, by its number.
pub fn busy_seconds(cpus: &[usize]) -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    parse_busy(&text, cpus) as f64 / ticks_per_second()
}

fn parse_busy(text: &str, cpus: &[usize]) -> u64 {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let cpu: usize = words.next()?.strip_prefix("cpu")?.parse().ok()?;
            let t: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
            // user nice system idle iowait irq softirq …
            let [user, nice, system, _, _, irq, softirq, ..] = t[..] else {
                return None;
            };
            cpus.contains(&cpu)
                .then_some(user + nice + system + irq + softirq)
        })
        .sum()
}

/// As the kernel takes it.
pub fn cpu_set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: a cpu_set_t is plain bits, all zero is the empty set; CPU_SET stays within it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for cpu in cpus.iter().filter(|c| **c < libc::CPU_SETSIZE as usize) {
            libc::CPU_SET(*cpu, &mut set);
        }
        set
    }
}

/// CPUs on which a process may run (0: this one).
pub fn allowed_cpus(pid: i32) -> Vec<usize> {
    // SAFETY: the set is valid for writing, its size is given.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(pid, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize)
            .filter(|c| libc::CPU_ISSET(*c, &set))
            .collect()
    }
}

/// Moves every thread of a process.
fn move_threads(pid: i32, cpus: &[usize]) -> io::Result<()> {
    let set = cpu_set(cpus);
    // Twice: threads that were created while the first round ran had their creator's affinity.
    for _ in 0..2 {
        for entry in fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
            let Some(tid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
                continue;
            };
            // SAFETY: the set is valid and its size is given.
            let failed =
                unsafe { libc::sched_setaffinity(tid, size_of::<libc::cpu_set_t>(), &set) } != 0;
            let error = io::Error::last_os_error();
            if failed && error.raw_os_error() != Some(libc::ESRCH) {
                return Err(error);
            }
        }
    }
    Ok(())
}

/// A running process kept on some CPUs for as long as this lives.
pub struct Moved {
    pid: i32,
    before: Vec<usize>,
}

impl Moved {
    /// Moves all its threads.
    pub fn to(pid: i32, cpus: &[usize]) -> io::Result<Moved> {
        let before = allowed_cpus(pid);
        let moved = Moved { pid, before };
        move_threads(pid, cpus)?; // if it fails half way, dropping restores
        Ok(moved)
    }
}

impl Drop for Moved {
    fn drop(&mut self) {
        if exists(self.pid)
            && let Err(e) = move_threads(self.pid, &self.before)
        {
            eprintln!(
                "warning: the affinity of process {} could not be restored: {e}",
                self.pid
            );
        }
    }
}

/// Ports on which any of the processes listens on this machine.
pub fn listening_ports(pids: &[i32]) -> Vec<u16> {
    let mut inodes = std::collections::HashSet::new();
    for pid in pids {
        for fd in fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            if let Some(inode) = fs::read_link(fd.path()).ok().and_then(|l| {
                l.to_str()?
                    .strip_prefix("socket:[")?
                    .strip_suffix(']')?
                    .parse::<u64>()
                    .ok()
            }) {
                inodes.insert(inode);
            }
        }
    }
    let mut ports: Vec<u16> = pids
        .first()
        .into_iter()
        .flat_map(|pid| ["tcp", "tcp6"].map(|t| format!("/proc/{pid}/net/{t}")))
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|text| parse_listening(&text))
        .filter(|(inode, _)| inodes.contains(inode))
        .map(|(_, port)| port)
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Inode and port of each listening socket of `/proc/net/tcp`.
fn parse_listening(text: &str) -> Vec<(u64, u16)> {
    const LISTEN: &str = "0A";
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let f: Vec<&str> = line.split_ascii_whitespace().collect();
            let port = u16::from_str_radix(f.get(1)?.rsplit_once(':')?.1, 16).ok()?;
            (*f.get(3)? == LISTEN).then_some((f.get(9)?.parse().ok()?, port))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_read_whatever_a_process_is_called() {
        let s = parse_stat("77 (a) b (c)) S 1 66 66 0 -1 0 0 0 0 0 150 50 0 0 20 0 1 0 5")
            .expect("valid");
        assert_eq!((s.state, s.parent, s.group, s.cpu_ticks), ('S', 1, 66, 200));
        assert!(parse_stat("77 (java").is_none());
        let text = "cpu  9 9 9 9 9 9 9\ncpu0 1 2 3 100 5 6 7 0\ncpu1 10 0 0 100 0 0 0 0\nintr 5\n";
        assert_eq!(
            (parse_busy(text, &[0]), parse_busy(text, &[0, 1])),
            (19, 29)
        );
    }

    #[test]
    fn listening_sockets_are_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let me = std::process::id() as i32;
        assert!(listening_ports(&[me]).contains(&port));
        drop(listener);
        assert!(!listening_ports(&[me]).contains(&port));
    }
}
