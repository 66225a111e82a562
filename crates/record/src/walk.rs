//! Iterators of the kernel's over what one process has: all of it in one go, where `/proc` takes a file for each thread and a
//! link for each descriptor.
//!
//! What always holds: a list is whole, or there is none and `/proc` is asked instead.

use std::fs::File;
use std::io::{self, Read};
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libbpf_rs::libbpf_sys as sys;

/// What is walked through.
#[derive(Debug, Clone, Copy)]
pub enum Through {
    /// Descriptors of a process: its threads have the same.
    Descriptors(i32),
    /// Threads of a process.
    Threads(i32),
}

/// One that can be walked again and again.
pub struct Walk(OwnedFd);

impl Walk {
    /// With this program. An error where the kernel cannot go by one process (before Linux 6.1): to go through all of a machine
    /// would cost more than it saves.
    pub fn new(program: BorrowedFd<'_>, through: Through) -> io::Result<Walk> {
        let mut only = sys::bpf_iter_link_info::default();
        match through {
            Through::Descriptors(pid) => only.task.tid = pid as u32,
            Through::Threads(pid) => only.task.pid = pid as u32,
        }
        let options = sys::bpf_link_create_opts {
            sz: size_of::<sys::bpf_link_create_opts>() as sys::size_t,
            iter_info: &raw mut only,
            iter_info_len: size_of::<sys::bpf_iter_link_info>() as u32,
            ..Default::default()
        };
        // SAFETY: the options, and what they point to, outlive the call.
        let link =
            unsafe { sys::bpf_link_create(program.as_raw_fd(), 0, sys::BPF_TRACE_ITER, &options) };
        owned(link).map(Walk)
    }

    /// What the program writes of each, `N` words; none at all if that fails.
    pub fn all<const N: usize>(&self) -> Option<Vec<[u64; N]>> {
        // SAFETY: a plain descriptor.
        let walk = owned(unsafe { sys::bpf_iter_create(self.0.as_raw_fd()) }).ok()?;
        let mut bytes = Vec::new();
        File::from(walk).read_to_end(&mut bytes).ok()?;
        let (words, _) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|w| u64::from_ne_bytes(*w)).collect();
        let (records, rest) = words.as_chunks::<N>();
        rest.is_empty().then(|| records.to_vec())
    }
}

/// Of what libbpf returns: a descriptor, or the error's negative number.
fn owned(fd: i32) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: it was made for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
