//! System calls whose first argument names a descriptor, so that a thread that blocks in one can
//! be told to wait for that descriptor.

/// How many call numbers the table has (`CALLS` in the BPF program).
pub const CALLS: usize = 512;

/// First argument is no descriptor.
const NONE: u8 = 0;
/// First argument is a descriptor.
const FIRST: u8 = 1;
/// First argument points to `struct pollfd`s, whose number is the second.
const POLL: u8 = 2;

const FIRST_IS_FD: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendfile,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_setsockopt,
    libc::SYS_getsockopt,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_ctl,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_ioctl,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_getdents64,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_readahead,
    libc::SYS_fadvise64,
    libc::SYS_io_uring_enter,
    libc::SYS_epoll_pwait2,
    // What only the older architectures have.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
];

const POLLS: &[libc::c_long] = &[
    libc::SYS_ppoll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

/// For each call number how its first argument names a descriptor.
pub fn table() -> [u8; CALLS] {
    let mut table = [NONE; CALLS];
    for (calls, how) in [(FIRST_IS_FD, FIRST), (POLLS, POLL)] {
        for &call in calls {
            table[call as usize] = how;
        }
    }
    table
}

/// The descriptor that a call's first argument is, if it is one.
pub fn descriptor(call: i32, arg0: u64) -> Option<i64> {
    let how = usize::try_from(call)
        .ok()
        .and_then(|c| table().get(c).copied())?;
    (how == FIRST).then_some(i64::from(arg0 as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_on_descriptors_have_one() {
        assert_eq!(descriptor(libc::SYS_read as i32, 7), Some(7));
        assert_eq!(descriptor(libc::SYS_futex as i32, 0x7f00_0000), None);
        assert_eq!(descriptor(libc::SYS_ppoll as i32, 0x7f00_0000), None);
        assert_eq!(descriptor(-1, 7), None);
        assert_eq!(descriptor(100_000, 7), None);
    }
}
