//! Parsers of what `/proc` says: pure functions over text. All of them take a vanished or unknown
//! form as `None` or as nothing, because processes come and go while one reads.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Fields of `/proc/PID/stat` that somebody here needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The kernel's name of it.
    pub comm: String,
    /// R, S, D, …
    pub state: char,
    /// Parent process.
    pub parent: i32,
    /// Threads of the process.
    pub threads: u64,
    /// Resident pages.
    pub rss_pages: u64,
    /// Page faults that needed no input, and those that did.
    pub faults: [u64; 2],
    /// Time in user and in kernel mode, in clock ticks.
    pub ticks: [u64; 2],
    /// When it began, in clock ticks since the machine did.
    pub began: u64,
}

/// `/proc/PID/stat`, or a thread's. The name may hold spaces and parentheses: the last one counts.
pub fn stat(text: &str) -> Option<Stat> {
    let (head, tail) = text.rsplit_once(')')?;
    let comm = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    // Fields are numbered from 1 in proc(5); the first after the name is number 3.
    let field = |n: usize| fields.get(n - 3).copied();
    Some(Stat {
        comm,
        state: field(3)?.chars().next()?,
        parent: field(4)?.parse().ok()?,
        threads: field(20)?.parse().ok()?,
        rss_pages: field(24)?.parse().ok()?,
        faults: [field(10)?.parse().ok()?, field(12)?.parse().ok()?],
        ticks: [field(14)?.parse().ok()?, field(15)?.parse().ok()?],
        began: field(22)?.parse().ok()?,
    })
}

/// A field of `/proc/PID/status`.
pub fn status<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

/// The id in the innermost pid namespace, from `/proc/PID/status`.
pub fn nspid(status_text: &str) -> Option<i32> {
    status(status_text, "NSpid")?
        .split_ascii_whitespace()
        .last()?
        .parse()
        .ok()
}

/// Effective user or group id (`Uid`, `Gid`), from `/proc/PID/status`.
pub fn effective_id(status_text: &str, name: &str) -> Option<u32> {
    status(status_text, name)?
        .split_ascii_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

/// Whether a process has a handler for a signal, from `/proc/PID/status`.
pub fn catches(status_text: &str, signal: i32) -> bool {
    status(status_text, "SigCgt")
        .and_then(|hex| u64::from_str_radix(hex, 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// `/proc/PID/task/TID/syscall`: number and first argument of the call that a thread is blocked in.
pub fn syscall(text: &str) -> Option<(i32, u64)> {
    let mut words = text.split_ascii_whitespace();
    let number: i32 = words.next()?.parse().ok()?; // "running" is no number
    let arg0 = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    (number >= 0).then_some((number, arg0)) // -1: blocked outside of any call
}

/// `/proc/PID/task/TID/schedstat`: ns on CPU, ns runnable.
pub fn schedstat(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_ascii_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// Time of one line `cpu…` of `/proc/stat`, in clock ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuTicks {
    /// `None`: all CPUs together.
    pub cpu: Option<u32>,
    /// All but idle, waiting for I/O, and stolen.
    pub busy: u64,
    /// Idle, and waiting for I/O.
    pub idle: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

/// The lines `cpu` and `cpuN` of `/proc/stat`.
pub fn cpu_ticks(text: &str) -> Vec<CpuTicks> {
    text.lines()
        .take_while(|l| l.starts_with("cpu"))
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let cpu = match words.next()?.strip_prefix("cpu")? {
                "" => None,
                n => Some(n.parse().ok()?),
            };
            let t: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
            // user nice system idle iowait irq softirq steal; guest is in user already
            let [user, nice, system, idle, iowait, irq, softirq, ..] = t[..] else {
                return None;
            };
            let steal = t.get(7).copied().unwrap_or(0);
            Some(CpuTicks {
                cpu,
                busy: user + nice + system + irq + softirq,
                idle: idle + iowait,
                steal,
            })
        })
        .collect()
}

/// One socket of `/proc/PID/net/{tcp,tcp6,udp,udp6}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Socket {
    /// Its inode, which is what `socket:[…]` names.
    pub inode: u64,
    /// Local address and port.
    pub local: SocketAddr,
    /// Remote ones, if it is connected.
    pub remote: Option<SocketAddr>,
    /// It waits for connections.
    pub listens: bool,
    /// Bytes received that nobody has read; of one that listens, connections that nobody has accepted.
    pub received: u32,
}

/// A line of one of those files; the heading is none.
pub fn socket(line: &str) -> Option<Socket> {
    let mut words = line.split_ascii_whitespace();
    let local = address(words.nth(1)?)?;
    let remote = address(words.next()?)?;
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    let received = u32::from_str_radix(words.next()?.split_once(':')?.1, 16).ok()?;
    let inode: u64 = words.nth(4)?.parse().ok()?;
    const LISTEN: u8 = 10;
    Some(Socket {
        inode,
        local,
        remote: (remote.port() != 0).then_some(remote),
        listens: state == LISTEN,
        received,
    })
}

/// `0100007F:1F90`: the address's 32-bit words as the machine holds them, the port plain.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let hex = ip.get(at..at + 8)?;
        Some(u32::from_str_radix(hex, 16).ok()?.to_ne_bytes())
    };
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0u8; 16];
            for i in 0..4 {
                bytes[i * 4..][..4].copy_from_slice(&word(i * 8)?);
            }
            // Java's sockets are IPv6 and speak IPv4 through mapped addresses.
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// The inode in `socket:[123]`.
pub fn socket_inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let text =
            "42 (a) R (b c) S 7 42 42 0 -1 4194304 0 0 0 0 11 12 0 0 20 0 33 0 900 1000 555 0";
        let s = stat(text).expect("a stat line");
        assert_eq!(s.comm, "a) R (b c");
        assert_eq!(
            (s.state, s.parent, s.threads, s.rss_pages),
            ('S', 7, 33, 555)
        );
        assert_eq!(stat("42 (cut"), None);
        assert_eq!(stat(""), None);
    }

    #[test]
    fn the_innermost_pid_namespace_is_the_last() {
        let text = "Name:\tjava\nUid:\t1000\t1001\t1000\t1000\nNSpid:\t4121\t17\t1\nSigCgt:\t0000000000000004\n";
        assert_eq!(nspid(text), Some(1));
        assert_eq!(effective_id(text, "Uid"), Some(1001));
        assert!(catches(text, libc::SIGQUIT));
        assert!(!catches(text, libc::SIGTERM));
        assert_eq!(nspid("Name:\tx\n"), None);
    }

    #[test]
    fn a_thread_is_in_a_call_only_if_the_kernel_names_one() {
        assert_eq!(
            syscall("0 0x7 0x7ffd 0x400 0x0 0x0 0x0 0x7ffe 0x7f00"),
            Some((0, 7))
        );
        assert_eq!(
            syscall("202 0x7f1234 0x0 0x0 0x0 0x0 0x0 0x7ffe 0x7f00"),
            Some((202, 0x7f1234))
        );
        assert_eq!(syscall("running"), None);
        assert_eq!(syscall("-1 0x7ffe 0x7f00"), None);
        assert_eq!(syscall(""), None);
    }

    #[test]
    fn ticks_are_busy_idle_or_stolen() {
        let text =
            "cpu  10 1 5 100 7 2 3 4 0 0\ncpu0 6 1 5 50 7 2 3 4 0 0\nintr 5\ncpu9 1 1 1 1 1 1 1\n";
        let t = cpu_ticks(text);
        assert_eq!(t.len(), 2);
        assert_eq!(
            t[0],
            CpuTicks {
                cpu: None,
                busy: 21,
                idle: 107,
                steal: 4
            }
        );
        assert_eq!(t[1].cpu, Some(0));
    }

    #[test]
    fn sockets_of_both_families_have_readable_addresses() {
        let v4 = "   0: 0100007F:1F90 0200007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0 20 4";
        let s = socket(v4).expect("a socket");
        assert_eq!(s.local.to_string(), "127.0.0.1:8080");
        assert_eq!(
            s.remote.map(|r| r.to_string()).as_deref(),
            Some("127.0.0.2:50000")
        );
        assert_eq!((s.inode, s.listens), (12345, false));

        let listening = "1: 00000000000000000000000000000000:20FB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 77 1";
        let s = socket(listening).expect("a socket");
        assert_eq!(
            (s.local.to_string().as_str(), s.remote, s.listens),
            ("[::]:8443", None, true)
        );

        let mapped = "1: 0000000000000000FFFF00000100007F:20FB 0000000000000000FFFF00000100007F:A000 01 00000000:00000000 00:00000000 00000000 0 0 78 1";
        assert_eq!(
            socket(mapped).expect("a socket").local.to_string(),
            "127.0.0.1:8443"
        );

        assert_eq!(
            socket("  sl  local_address rem_address   st tx_queue rx_queue tr"),
            None
        );
        assert_eq!(socket_inode("socket:[12345]"), Some(12345));
        assert_eq!(socket_inode("/dev/null"), None);
    }

    #[test]
    fn schedstat_gives_time_on_cpu_and_in_the_queue() {
        assert_eq!(schedstat("123456 789 12\n"), Some((123456, 789)));
        assert_eq!(schedstat(""), None);
    }
}
