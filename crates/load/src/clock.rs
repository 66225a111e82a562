//! Time as every part of Loadline sees it: CLOCK_MONOTONIC in nanoseconds.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Now, in nanoseconds of CLOCK_MONOTONIC.
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CPU time that the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid timespec; the call cannot fail for these clocks on Linux.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// A timer as exact as the kernel's. The runtime's own rounds up to a millisecond, which would be
/// added to every response time that is measured from when an arrival was due.
pub(crate) struct Pacer(AsyncFd<OwnedFd>);

impl Pacer {
    /// Must be called inside a runtime.
    pub(crate) fn new() -> std::io::Result<Pacer> {
        // SAFETY: plain system call; the result is checked and owned from here on.
        let fd = unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
            )
        };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: `fd` is a new descriptor that nobody else owns; it stays open, and the same, as long
        // as the registration that owns it.
        let registered = unsafe {
            AsyncFd::register_with_interest(OwnedFd::from_raw_fd(fd), Interest::READABLE)
        };
        Ok(Pacer(registered?))
    }

    /// Sleeps until `due_ns`. If that is past it only lets others have their turn: arrivals that are
    /// behind must not starve the visitors who are there.
    pub(crate) async fn until(&self, due_ns: u64) -> std::io::Result<()> {
        if due_ns <= now_ns() {
            tokio::task::yield_now().await;
            return Ok(());
        }
        let when = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: (due_ns / 1_000_000_000) as libc::time_t,
                tv_nsec: (due_ns % 1_000_000_000) as libc::c_long,
            },
        };
        // SAFETY: the descriptor is a timer's; `when` is valid; no old value is asked for.
        let set = unsafe {
            libc::timerfd_settime(
                self.0.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &when,
                std::ptr::null_mut(),
            )
        };
        if set < 0 {
            return Err(std::io::Error::last_os_error());
        }
        while now_ns() < due_ns {
            let mut ready = self.0.readable().await?;
            let mut expirations = [0u8; 8];
            // SAFETY: eight bytes are read into eight bytes.
            let n = unsafe {
                libc::read(
                    self.0.as_raw_fd(),
                    expirations.as_mut_ptr().cast(),
                    expirations.len(),
                )
            };
            if n < 0 {
                let error = std::io::Error::last_os_error();
                if error.kind() != std::io::ErrorKind::WouldBlock {
                    return Err(error);
                }
            }
            ready.clear_ready();
        }
        Ok(())
    }
}
