//! The system calls that the standard library has no words for.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::CpuSet;

fn check(result: i64) -> io::Result<i64> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// CLOCK_MONOTONIC in nanoseconds: the clock of recordings and of `System.nanoTime`.
pub(crate) fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

fn clock_ns(clock: libc::clockid_t) -> io::Result<u64> {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid timespec.
    check(i64::from(unsafe { libc::clock_gettime(clock, &mut t) }))?;
    Ok(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}

/// CPU time of all threads of a process, those that have ended included, in nanoseconds.
pub(crate) fn process_cpu_ns(pid: i32) -> io::Result<u64> {
    // clock_getcpuclockid(3): the process's pid inverted, and CPUCLOCK_SCHED.
    clock_ns((!pid << 3) | 2)
}

const WORDS: usize = CpuSet::LIMIT as usize / 64;

/// The CPUs that a thread may use.
pub(crate) fn affinity(tid: i32) -> io::Result<CpuSet> {
    let mut words = [0u64; WORDS];
    // SAFETY: the buffer is as long as is said. The raw call takes any length that is a multiple of a word.
    check(unsafe {
        libc::syscall(
            libc::SYS_sched_getaffinity,
            tid,
            size_of_val(&words),
            words.as_mut_ptr(),
        )
    })?;
    Ok((0..CpuSet::LIMIT)
        .filter(|c| words[*c as usize / 64] >> (c % 64) & 1 == 1)
        .collect())
}

/// Restricts a thread to these CPUs.
pub(crate) fn set_affinity(tid: i32, cpus: &CpuSet) -> io::Result<()> {
    let mut words = [0u64; WORDS];
    words[..cpus.words().len()].copy_from_slice(cpus.words());
    // SAFETY: the buffer is as long as is said.
    check(unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            tid,
            size_of_val(&words),
            words.as_ptr(),
        )
    })?;
    Ok(())
}

/// A descriptor that becomes readable when the process has ended.
pub(crate) fn pidfd(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved; the descriptor is new, and close-on-exec.
    unsafe {
        let fd = check(libc::syscall(libc::SYS_pidfd_open, pid, 0))?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// Who is at the other end of a Unix socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    pub pid: i32,
    pub uid: u32,
    pub gid: u32,
}

pub(crate) fn peer(fd: RawFd) -> io::Result<Peer> {
    let mut cred = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `cred` is as long as is said.
    let result = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut cred).cast(),
            &mut length,
        )
    };
    check(i64::from(result))?;
    Ok(Peer {
        pid: cred.pid,
        uid: cred.uid,
        gid: cred.gid,
    })
}

/// The calling thread runs before every thread without real-time priority, and what it starts does not.
pub(crate) fn real_time() -> io::Result<()> {
    let least = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: `least` is a valid parameter.
    check(i64::from(unsafe {
        libc::sched_setscheduler(0, policy, &least)
    }))?;
    Ok(())
}

/// Our own user.
pub(crate) fn uid() -> u32 {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() }
}

/// Waits until a descriptor is ready or `timeout_ns` have passed; an interruption is an end of waiting.
pub(crate) fn poll(fds: &mut [libc::pollfd], timeout_ns: u64) -> io::Result<()> {
    let t = libc::timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `fds` is as long as is said; no signal mask.
    let result = unsafe {
        libc::ppoll(
            fds.as_mut_ptr(),
            fds.len() as libc::nfds_t,
            &t,
            std::ptr::null(),
        )
    };
    match check(i64::from(result)) {
        Err(e) if e.kind() == io::ErrorKind::Interrupted => {
            fds.iter_mut().for_each(|f| f.revents = 0);
            Ok(())
        }
        other => other.map(|_| ()),
    }
}

/// A user's number by name or number.
pub(crate) fn uid_of(user: &str) -> Option<u32> {
    if let Ok(uid) = user.parse() {
        return Some(uid);
    }
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut lines = passwd.lines().map(|l| l.split(':').collect::<Vec<_>>());
    lines
        .find(|f| f.first() == Some(&user))
        .and_then(|f| f.get(2)?.parse().ok())
}

/// `shop (1000)`, or the number if nobody has it.
pub(crate) fn user_name(uid: u32) -> String {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut lines = passwd.lines().map(|l| l.split(':').collect::<Vec<_>>());
    let found = lines.find(|f| f.get(2).and_then(|u| u.parse().ok()) == Some(uid));
    match found.and_then(|f| f.first().copied()) {
        Some(name) => format!("{name} ({uid})"),
        None => uid.to_string(),
    }
}
