//! The page: what one application has, in a file that its user may read and only the daemon writes.
//!
//! All fields in the machine's byte order (little-endian where Java reads them):
//!
//! | offset | size | field |
//! | --- | --- | --- |
//! | 0 | 8 | magic `LLSHARE1` |
//! | 8 | 4 | version of this layout: 1 |
//! | 12 | 4 | bytes that mean something: 192 |
//! | 16 | 8 | sequence: odd while the fields below it are being written |
//! | 24 | 8 | generation: counts changes |
//! | 32 | 4 | CPUs assigned, in thousandths |
//! | 36 | 4 | CPUs requested (or estimated), in thousandths |
//! | 40 | 8 | when the daemon last looked, CLOCK_MONOTONIC in ns; outside the sequence |
//! | 48 | 8 | when the assignment changed, CLOCK_MONOTONIC in ns |
//! | 56 | 8 | state: 1 managed, 0 released |
//! | 64 | 128 | the CPUs, bit n of word n/64 |
//!
//! No lock, so that a crash leaves none behind: a reader takes the sequence, the fields, and the sequence again, and
//! repeats if it was odd or has changed. The CPUs assigned are one word and can be read alone. The file is never
//! truncated, only unlinked: a mapping of it stays good.

use std::fs::{self, OpenOptions, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use loadline_policy::Cpus;

use crate::{CpuSet, ShareError};

const MAGIC: [u8; 8] = *b"LLSHARE1";
const VERSION: u32 = 1;
const USED: u32 = 192;
const LENGTH: usize = 4096;

/// The daemon's side of one page. Dropping it unlinks the file.
pub(crate) struct Page {
    path: PathBuf,
    at: *mut u8,
}

/// What a page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub cpus: Cpus,
    pub request: Cpus,
    pub set: CpuSet,
}

impl Page {
    /// A new page at `path`, readable by `uid` only.
    pub(crate) fn create(path: &Path, uid: u32, gid: u32) -> Result<Page, ShareError> {
        if fs::symlink_metadata(path).is_ok() {
            fs::remove_file(path).map_err(ShareError::on(path))?; // left by a daemon that died
        }
        let mut open = OpenOptions::new();
        let file = open
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(ShareError::on(path))?;
        file.set_len(LENGTH as u64).map_err(ShareError::on(path))?;
        // SAFETY: a new mapping of a file that is as long as the mapping.
        let at = unsafe {
            libc::mmap(
                ptr::null_mut(),
                LENGTH,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(ShareError::on(path)(std::io::Error::last_os_error()));
        }
        let page = Page {
            path: path.to_owned(),
            at: at.cast(),
        };
        // SAFETY: within the mapping, which nobody else knows yet.
        unsafe {
            ptr::copy_nonoverlapping(MAGIC.as_ptr(), page.at, 8);
        }
        page.u32(8).store(VERSION, Ordering::Relaxed);
        page.u32(12).store(USED, Ordering::Relaxed);
        fs::set_permissions(path, Permissions::from_mode(0o400)).map_err(ShareError::on(path))?;
        if uid != crate::sys::uid() {
            chown(path, Some(uid), Some(gid)).map_err(ShareError::on(path))?;
        }
        Ok(page)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn u32(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset.is_multiple_of(4) && offset + 4 <= LENGTH);
        // SAFETY: aligned, within the mapping, which lives as long as `self`; others only read.
        unsafe { AtomicU32::from_ptr(self.at.add(offset).cast()) }
    }

    fn u64(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= LENGTH);
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.at.add(offset).cast()) }
    }

    fn write(&self, fields: impl FnOnce()) {
        let sequence = self.u64(16).load(Ordering::Relaxed);
        self.u64(16).store(sequence + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        fields();
        self.u64(16).store(sequence + 2, Ordering::Release);
    }

    /// Says what the application has from now on.
    pub(crate) fn publish(&self, now_ns: u64, assignment: &Assignment) {
        self.write(|| {
            let generation = self.u64(24).load(Ordering::Relaxed);
            self.u64(24).store(generation + 1, Ordering::Relaxed);
            self.u32(32)
                .store(assignment.cpus.as_thousandths(), Ordering::Relaxed);
            self.u32(36)
                .store(assignment.request.as_thousandths(), Ordering::Relaxed);
            self.u64(48).store(now_ns, Ordering::Relaxed);
            self.u64(56).store(1, Ordering::Relaxed);
            let words = assignment.set.words();
            for i in 0..CpuSet::LIMIT as usize / 64 {
                self.u64(64 + 8 * i)
                    .store(words.get(i).copied().unwrap_or(0), Ordering::Relaxed);
            }
        });
    }

    /// The request, which may change while the assignment does not.
    pub(crate) fn note_request(&self, request: Cpus) {
        self.u32(36)
            .store(request.as_thousandths(), Ordering::Relaxed);
    }

    /// That the daemon is alive.
    pub(crate) fn beat(&self, now_ns: u64) {
        self.u64(40).store(now_ns, Ordering::Relaxed);
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.write(|| self.u64(56).store(0, Ordering::Relaxed));
        // It may be gone already: then somebody else has cleaned up.
        let _ = fs::remove_file(&self.path);
        // SAFETY: mapped in `create`, and nobody has a reference into it any more.
        unsafe { libc::munmap(self.at.cast(), LENGTH) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn read(path: &Path) -> Vec<u8> {
        fs::read(path).expect("readable")
    }

    #[test]
    fn a_page_says_what_was_published() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("1");
        let page = Page::create(&path, crate::sys::uid(), 0).expect("a page");
        let set = CpuSet::parse("0,65").expect("a list");
        page.publish(
            77,
            &Assignment {
                cpus: Cpus::thousandths(1500),
                request: Cpus::whole(2),
                set,
            },
        );
        let bytes = read(&path);
        let u32_at = |o: usize| u32::from_ne_bytes(bytes[o..o + 4].try_into().expect("4"));
        let u64_at = |o: usize| u64::from_ne_bytes(bytes[o..o + 8].try_into().expect("8"));
        assert_eq!(&bytes[..8], b"LLSHARE1");
        assert_eq!((u32_at(8), u64_at(16), u64_at(24)), (1, 2, 1));
        assert_eq!(
            (u32_at(32), u32_at(36), u64_at(48), u64_at(56)),
            (1500, 2000, 77, 1)
        );
        assert_eq!((u64_at(64), u64_at(72)), (1, 2));
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o400, "only its user reads it");
        drop(page);
        assert!(!path.exists());
    }

    /// A reader that follows the sequence never sees half of a change.
    #[test]
    fn a_reader_sees_whole_assignments_only() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("1");
        let page = Page::create(&path, crate::sys::uid(), 0).expect("a page");
        struct Shared<'a>(&'a Page);
        // SAFETY: the page is atomics.
        unsafe impl Sync for Shared<'_> {}
        let shared = Shared(&page);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (shared, stop) = (&shared, &stop);
            scope.spawn(move || {
                for n in 0..200_000u32 {
                    let set = if n % 2 == 0 { "0" } else { "1" };
                    let set = CpuSet::parse(set).expect("a list");
                    let cpus = Cpus::thousandths(1 + n % 2);
                    shared.0.publish(
                        0,
                        &Assignment {
                            cpus,
                            request: cpus,
                            set,
                        },
                    );
                }
                stop.store(true, Ordering::Relaxed);
            });
            let mut seen = 0;
            while !stop.load(Ordering::Relaxed) {
                let page = shared.0;
                let before = page.u64(16).load(Ordering::Acquire);
                let (cpus, word) = (
                    page.u32(32).load(Ordering::Relaxed),
                    page.u64(64).load(Ordering::Relaxed),
                );
                fence(Ordering::Acquire);
                if before % 2 == 0 && before > 0 && page.u64(16).load(Ordering::Relaxed) == before {
                    assert_eq!(u64::from(cpus), word);
                    seen += 1;
                }
            }
            assert!(seen > 0);
        });
    }
}
