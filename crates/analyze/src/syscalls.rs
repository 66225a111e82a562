//! System calls: names of numbers, what they are for, and the table.

use std::sync::Arc;

use loadline_trace::spool::kernel::Record;
use loadline_trace::tables::Syscall;

/// What a call blocks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Reads or writes a descriptor of any kind.
    ReadWrite,
    /// Moves bytes through a socket, or connects one.
    Socket,
    /// Waits for a connection.
    Accept,
    /// Waits until one of several descriptors is ready.
    Poll,
    /// Reads, writes, opens or flushes a file.
    File,
    /// Waits for a thread.
    Futex,
    /// Sleeps.
    Sleep,
    /// Anything else.
    Other,
}

macro_rules! numbers {
    ($($constant:ident)*) => {
        &[$((stringify!($constant), libc::$constant)),*]
    };
}

/// Calls of every architecture, under the names of their constants.
const COMMON: &[(&str, libc::c_long)] = numbers! {
    SYS_read SYS_write SYS_openat SYS_close SYS_fstat SYS_lseek SYS_mmap SYS_mprotect SYS_munmap
    SYS_brk SYS_rt_sigaction SYS_rt_sigprocmask SYS_ioctl SYS_pread64 SYS_pwrite64 SYS_readv
    SYS_writev SYS_preadv SYS_pwritev SYS_sched_yield SYS_mremap SYS_msync SYS_madvise SYS_dup
    SYS_dup3 SYS_nanosleep SYS_clock_nanosleep SYS_getpid SYS_sendfile SYS_socket SYS_connect
    SYS_accept SYS_accept4 SYS_sendto SYS_recvfrom SYS_sendmsg SYS_recvmsg SYS_sendmmsg
    SYS_recvmmsg SYS_shutdown SYS_bind SYS_listen SYS_getsockname SYS_getpeername SYS_socketpair
    SYS_setsockopt SYS_getsockopt SYS_clone SYS_clone3 SYS_execve SYS_exit SYS_exit_group
    SYS_wait4 SYS_kill SYS_tgkill SYS_uname SYS_fcntl SYS_flock SYS_fsync SYS_fdatasync
    SYS_sync_file_range SYS_truncate SYS_ftruncate SYS_getdents64 SYS_getcwd SYS_chdir
    SYS_fchmod SYS_fchown SYS_umask SYS_gettimeofday SYS_getrusage SYS_sysinfo SYS_times
    SYS_prctl SYS_gettid SYS_futex SYS_sched_setaffinity SYS_sched_getaffinity SYS_epoll_create1
    SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_ppoll SYS_pselect6 SYS_set_tid_address
    SYS_restart_syscall SYS_fadvise64 SYS_timer_create SYS_timer_settime SYS_clock_gettime
    SYS_clock_getres SYS_mkdirat SYS_unlinkat SYS_renameat SYS_renameat2 SYS_linkat
    SYS_symlinkat SYS_readlinkat SYS_faccessat SYS_faccessat2 SYS_newfstatat SYS_statx
    SYS_utimensat SYS_fallocate SYS_timerfd_create SYS_timerfd_settime SYS_eventfd2 SYS_pipe2
    SYS_inotify_init1 SYS_inotify_add_watch SYS_splice SYS_tee SYS_vmsplice SYS_copy_file_range
    SYS_getrandom SYS_memfd_create SYS_membarrier SYS_rseq SYS_io_uring_setup SYS_io_uring_enter
    SYS_io_uring_register SYS_io_submit SYS_io_getevents SYS_rt_sigreturn SYS_rt_sigtimedwait
    SYS_rt_sigsuspend SYS_sigaltstack SYS_capget SYS_prlimit64 SYS_getpriority SYS_setpriority
    SYS_mlock SYS_munlock SYS_mincore SYS_waitid SYS_statfs SYS_fstatfs SYS_sync SYS_syncfs
    SYS_futex_waitv SYS_process_vm_readv
};

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
const LEGACY: &[(&str, libc::c_long)] = numbers! {
    SYS_open SYS_stat SYS_lstat SYS_poll SYS_select SYS_pause SYS_access SYS_pipe SYS_dup2
    SYS_getdents SYS_mkdir SYS_rmdir SYS_unlink SYS_rename SYS_readlink SYS_epoll_wait
    SYS_epoll_create SYS_eventfd SYS_fork SYS_vfork SYS_arch_prctl SYS_time
};
#[cfg(not(target_arch = "x86_64"))]
const LEGACY: &[(&str, libc::c_long)] = &[];

/// Names of numbers, looked up once and shared by all rows.
#[derive(Debug)]
pub struct Names {
    names: Vec<Option<Arc<str>>>,
    classes: Vec<Class>,
}

impl Names {
    /// The calls of this architecture.
    pub fn new() -> Names {
        let mut names = Vec::new();
        for (constant, number) in COMMON.iter().chain(LEGACY) {
            let at = *number as usize;
            if names.len() <= at {
                names.resize(at + 1, None);
            }
            names[at] = Some(constant.trim_start_matches("SYS_").into());
        }
        let classes = names
            .iter()
            .map(|name| name.as_deref().map_or(Class::Other, class))
            .collect();
        Names { names, classes }
    }

    /// Name of a call; `syscall N` for one that is not known.
    pub fn of(&self, number: u32) -> Arc<str> {
        match self.names.get(number as usize) {
            Some(Some(name)) => name.clone(),
            _ => format!("syscall {number}").into(),
        }
    }

    /// What a call blocks on.
    pub fn class(&self, number: u32) -> Class {
        self.classes
            .get(number as usize)
            .copied()
            .unwrap_or(Class::Other)
    }
}

/// What a call blocks on, by its name.
pub fn class(name: &str) -> Class {
    match name {
        "read" | "write" | "readv" | "writev" | "close" | "splice" => Class::ReadWrite,
        "recvfrom" | "recvmsg" | "recvmmsg" | "sendto" | "sendmsg" | "sendmmsg" | "connect"
        | "shutdown" | "sendfile" => Class::Socket,
        "accept" | "accept4" => Class::Accept,
        "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait"
        | "epoll_pwait2" => Class::Poll,
        "pread64" | "pwrite64" | "preadv" | "pwritev" | "fsync" | "fdatasync"
        | "sync_file_range" | "sync" | "syncfs" | "open" | "openat" | "fallocate" | "ftruncate"
        | "truncate" | "flock" | "stat" | "lstat" | "fstat" | "newfstatat" | "statx"
        | "getdents64" | "unlink" | "unlinkat" | "rename" | "renameat" | "renameat2" | "mkdir"
        | "mkdirat" | "copy_file_range" | "msync" | "io_getevents" => Class::File,
        "futex" | "futex_waitv" => Class::Futex,
        "nanosleep" | "clock_nanosleep" | "pause" => Class::Sleep,
        _ => Class::Other,
    }
}

/// Whether the first argument is a descriptor.
pub fn takes_fd(name: &str) -> bool {
    match class(name) {
        Class::ReadWrite | Class::Socket | Class::Accept => true,
        Class::Poll => name.starts_with("epoll"),
        Class::File => matches!(
            name,
            "pread64"
                | "pwrite64"
                | "preadv"
                | "pwritev"
                | "fsync"
                | "fdatasync"
                | "sync_file_range"
                | "syncfs"
                | "fallocate"
                | "ftruncate"
                | "flock"
                | "fstat"
                | "getdents64"
        ),
        _ => matches!(
            name,
            "ioctl"
                | "fcntl"
                | "lseek"
                | "dup"
                | "dup2"
                | "dup3"
                | "epoll_ctl"
                | "bind"
                | "listen"
                | "getsockname"
                | "getpeername"
                | "setsockopt"
                | "getsockopt"
                | "timerfd_settime"
                | "fadvise64"
                | "fchmod"
                | "fchown"
                | "fstatfs"
        ),
    }
}

/// Whether the third argument is a number of bytes.
fn takes_size(name: &str) -> bool {
    matches!(
        name,
        "read" | "write" | "pread64" | "pwrite64" | "recvfrom" | "sendto" | "getdents64"
    )
}

/// When a call began, in a recording with these limits.
pub fn begin(r: &Record, limits: (i64, i64)) -> i64 {
    r.begin.clamp(limits.0, r.ts.clamp(limits.0, limits.1))
}

/// A row of the table; `thread` is the caller, `resource` finds what a descriptor was.
pub fn row(
    r: &Record,
    thread: u32,
    limits: (i64, i64),
    names: &Names,
    resource: &dyn Fn(i32, i64) -> Option<i64>,
) -> Syscall {
    let name = names.of(r.a);
    let begin_ns = begin(r, limits);
    let end_ns = r.ts.clamp(limits.0, limits.1);
    let fd = takes_fd(&name).then_some(r.b as i32).filter(|&fd| fd >= 0);
    Syscall {
        thread: i64::from(thread),
        begin_ns,
        end_ns,
        fd,
        // What closes a descriptor leaves none.
        resource: fd.and_then(|fd| resource(fd, end_ns).or_else(|| resource(fd, begin_ns))),
        size: takes_size(&name).then(|| i64::try_from(r.arg2).unwrap_or(i64::MAX)),
        result: r.result,
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::merged;
    use crate::testing::KernelSpool;

    #[test]
    fn every_listed_call_has_its_own_number_and_unknown_ones_keep_theirs() {
        let names = Names::new();
        assert_eq!(&*names.of(libc::SYS_futex as u32), "futex");
        assert_eq!(&*names.of(libc::SYS_read as u32), "read");
        assert_eq!(&*names.of(9999), "syscall 9999");
        let listed = names.names.iter().flatten().count();
        assert_eq!(listed, COMMON.len() + LEGACY.len());
    }

    #[test]
    fn a_row_has_descriptor_and_size_only_where_the_call_takes_them() {
        let mut k = KernelSpool::default();
        k.syscall(10, 20, 5, libc::SYS_read as u32, 7, 512, 100);
        k.syscall(30, 40, 5, libc::SYS_futex as u32, 7, 512, -11);
        let names = Names::new();
        let rows: Vec<_> = merged([&k.0[..]])
            .map(|r| row(&r, 3, (0, 100), &names, &|fd, _| Some(i64::from(fd))))
            .collect();
        assert_eq!(
            (rows[0].fd, rows[0].size, rows[0].resource),
            (Some(7), Some(512), Some(7))
        );
        assert_eq!(
            (rows[0].begin_ns, rows[0].end_ns, rows[0].result),
            (10, 20, 100)
        );
        assert_eq!(
            (rows[1].fd, rows[1].size, rows[1].result),
            (None, None, -11)
        );
    }

    #[test]
    fn what_closes_a_descriptor_names_what_it_was() {
        let mut k = KernelSpool::default();
        k.syscall(10, 20, 5, libc::SYS_close as u32, 7, 0, 0);
        let until_15 = |fd, ts| (ts < 15).then_some(i64::from(fd));
        let names = Names::new();
        let row = merged([&k.0[..]])
            .map(|r| row(&r, 3, (0, 100), &names, &until_15))
            .next();
        assert_eq!(row.expect("one call").resource, Some(7));
    }
}
