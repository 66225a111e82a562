//! Thin wrappers of system calls that the standard library does not offer.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// Turns the -1 of a system call into its error.
pub fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn clock_ns(clock: libc::clockid_t) -> io::Result<i64> {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid timespec that outlives the call.
    check(unsafe { libc::clock_gettime(clock, &mut t) })?;
    Ok(t.tv_sec * 1_000_000_000 + t.tv_nsec)
}

/// CLOCK_MONOTONIC, ns: the clock of every spool.
pub fn now_ns() -> i64 {
    clock_ns(libc::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC always exists")
}

/// Wall-clock time, ns since 1970.
pub fn unix_ns() -> i64 {
    clock_ns(libc::CLOCK_REALTIME).expect("CLOCK_REALTIME always exists")
}

/// CPU time of this process, ns.
pub fn own_cpu_ns() -> i64 {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).expect("a process has a CPU clock")
}

/// CPU time of the calling thread, ns.
pub fn thread_cpu_ns() -> i64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID).expect("a thread has a CPU clock")
}

/// CPU time of this thread since [`thread_cpu_ns`] was `then`.
pub fn thread_cpu_since(then: i64) -> Duration {
    Duration::from_nanos((thread_cpu_ns() - then).max(0) as u64)
}

/// CPU time of another process with all threads that it ever had, ns.
pub fn process_cpu_ns(pid: i32) -> io::Result<i64> {
    let mut clock = 0;
    // SAFETY: `clock` is a valid clockid_t that outlives the call.
    let error = unsafe { libc::clock_getcpuclockid(pid, &mut clock) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    clock_ns(clock)
}

/// How many CPUs the main thread of a process may run on; `None` if it is gone.
pub fn allowed_cpus(pid: i32) -> Option<u32> {
    // The most that the kernel can be built for.
    let mut mask = [0u64; 8192 / 64];
    // SAFETY: the kernel writes at most as many bytes as it is told of, into a buffer of that size.
    let written = unsafe {
        libc::syscall(
            libc::SYS_sched_getaffinity,
            pid,
            size_of_val(&mask),
            mask.as_mut_ptr(),
        )
    };
    (written > 0).then(|| mask.iter().map(|word| word.count_ones()).sum())
}

/// Our effective user id.
pub fn euid() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}

/// A descriptor of a process, which becomes readable when it exits and can never mean another one.
pub struct PidFd(OwnedFd);

impl PidFd {
    /// Opens it; ESRCH if there is no such process.
    pub fn open(pid: i32) -> io::Result<PidFd> {
        // SAFETY: plain integers; the result is checked before it becomes a descriptor of ours.
        let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as libc::c_int)?;
        // SAFETY: a fresh descriptor that nobody else owns. The kernel sets close-on-exec on it.
        Ok(PidFd(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Waits for the exit for at most so long; true if the process has exited.
    pub fn wait_exit(&self, at_most: Duration) -> bool {
        let mut p = libc::pollfd {
            fd: self.0.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid pollfd. A signal ends the wait early, which callers take for a timeout.
        unsafe { libc::poll(&mut p, 1, at_most.as_millis().min(60_000) as libc::c_int) > 0 }
    }

    /// Sends a signal; an exited process is not an error.
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: plain integers and a null siginfo, as pidfd_send_signal(2) allows.
        unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.0.as_raw_fd(),
                signal,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
    }
}

/// Takes the exclusive lock of an open file or directory; false if somebody else has it.
pub fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: a descriptor that `file` keeps open.
    match check(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(e) => Err(e),
    }
}

/// Allocates the blocks of a part of a file, so that writing there cannot fail for want of space.
pub fn allocate(file: &File, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: a descriptor that `file` keeps open, and plain integers.
    let r = unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            0,
            offset as libc::off_t,
            len as libc::off_t,
        )
    };
    match check(r) {
        Ok(_) => Ok(()),
        // A file system that cannot: write zeros, which allocates as well.
        Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            use std::os::unix::fs::FileExt;
            let zeros = vec![0u8; 1 << 20];
            let mut at = offset;
            while at < offset + len {
                let n = zeros.len().min((offset + len - at) as usize);
                file.write_all_at(&zeros[..n], at)?;
                at += n as u64;
            }
            Ok(())
        }
        Err(e) => Err(e),
    }
}

/// Gives back the blocks of a part of a file, which then reads as zeros; where the file system cannot, they stay.
pub fn punch(path: &Path, offset: u64, len: u64) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: a descriptor that `file` keeps open, and plain integers.
    let r = unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            how,
            offset as libc::off_t,
            len as libc::off_t,
        )
    };
    match check(r) {
        Err(e) if e.raw_os_error() != Some(libc::EOPNOTSUPP) => Err(e),
        _ => Ok(()),
    }
}

/// Creates a FIFO.
pub fn make_fifo(path: &Path, mode: u32) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: a NUL-terminated path that outlives the call.
    check(unsafe { libc::mkfifo(path.as_ptr(), mode) }).map(|_| ())
}

/// A path for a system call.
pub fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the path has a NUL byte"))
}

/// A shared mapping of a file's or a map's bytes.
pub struct Mapping {
    at: *mut u8,
    len: usize,
}

// SAFETY: the mapping is plain memory; those who share it use atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes from `offset`, for writing too if asked.
    pub fn new(fd: &impl AsRawFd, offset: u64, len: usize, write: bool) -> io::Result<Mapping> {
        let rights = libc::PROT_READ | if write { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping at an address of the kernel's choice; the result is checked.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                rights,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                offset as libc::off_t,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mapping { at: at.cast(), len })
    }

    /// Address of the byte at `offset`.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(
            offset < self.len,
            "offset {offset} is outside of a mapping of {}",
            self.len
        );
        // SAFETY: inside the mapping, as just asserted.
        unsafe { self.at.add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; nothing borrows from it beyond `self`.
        unsafe { libc::munmap(self.at.cast(), self.len) };
    }
}

/// Gives the calling thread the rights of a user where files are concerned, for good.
pub fn become_for_files(uid: u32, gid: u32, groups: &[u32]) -> io::Result<()> {
    // SAFETY: raw calls, because libc's wrappers would change every thread of the process; the list
    // of groups is valid for its length.
    unsafe {
        if libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        // These two return the old id and report no error; for root there is none.
        libc::syscall(libc::SYS_setfsgid, gid);
        libc::syscall(libc::SYS_setfsuid, uid);
    }
    Ok(())
}

/// Makes the calling thread a user's in every respect, for good.
pub fn become_user(uid: u32, gid: u32, groups: &[u32]) -> io::Result<()> {
    // SAFETY: raw calls, because libc's wrappers would change every thread of the process; the list
    // of groups is valid for its length.
    let failed = unsafe {
        libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) != 0
            || libc::syscall(libc::SYS_setresgid, gid, gid, gid) != 0
            || libc::syscall(libc::SYS_setresuid, uid, uid, uid) != 0
    };
    match failed {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

/// Opens a path that begins at an open directory.
pub fn open_at(dir: &File, path: &Path, flags: libc::c_int) -> io::Result<File> {
    let path = c_path(path)?;
    // SAFETY: a descriptor that `dir` keeps open, and a NUL-terminated path that outlives the call.
    let fd =
        check(unsafe { libc::openat(dir.as_raw_fd(), path.as_ptr(), flags | libc::O_CLOEXEC) })?;
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) }.into())
}

/// Number of CPUs that a process may use; 0 if it is gone.
pub fn affinity(pid: i32) -> u32 {
    // SAFETY: a zeroed cpu_set_t is an empty set, valid and of the size that is told.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(pid, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return 0;
        }
        libc::CPU_COUNT(&set) as u32
    }
}

/// Connects to a Unix socket and leaves; an error, [`WouldBlock`](io::ErrorKind::WouldBlock), too, if it would have to wait because its
/// owner lets nobody in.
pub fn knock(path: &Path) -> io::Result<()> {
    // SAFETY: a zeroed address is a valid one.
    let mut to: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    to.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= to.sun_path.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (at, byte) in to.sun_path.iter_mut().zip(bytes) {
        *at = *byte as libc::c_char;
    }
    let how = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes no pointers.
    let fd = check(unsafe { libc::socket(libc::AF_UNIX, how, 0) })?;
    // SAFETY: a fresh descriptor that nobody else owns.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let size = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: an address of that size, which the call only reads.
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const to).cast(), size) })?;
    Ok(())
}

/// Who made the other end of a Unix socket.
pub fn peer(socket: &impl AsRawFd) -> io::Result<libc::ucred> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` and `len` are valid for writing and `len` says the size.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut len,
        )
    })?;
    Ok(peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_counted_as_proc_lists_them() {
        let own = std::process::id() as i32;
        let status = std::fs::read_to_string("/proc/self/status").expect("it");
        let list = status
            .lines()
            .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
            .expect("its CPUs");
        let many = loadline_share::CpuSet::parse(list.trim()).expect("a list");
        assert_eq!(allowed_cpus(own), Some(many.len()));
        assert_eq!(allowed_cpus(i32::MAX), None);
    }

    #[test]
    fn who_waits_spends_no_cpu_time() {
        let then = thread_cpu_ns();
        std::thread::sleep(Duration::from_millis(60));
        assert!(thread_cpu_since(then) < Duration::from_millis(30));
    }
}
