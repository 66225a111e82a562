//! A file that grows at its end, and is one stretch of memory from its first byte to its last.
//!
//! Terms: a range of addresses is *reserved* for as long as it may become; of it the *written* part is the file, mapped, and
//! the *tail* behind it a block of plain memory that is filled. A full tail is written to the file, whose pages then take its
//! place, and its memory moves on: appending to a mapping itself would fault, zero and dirty each page.
//!
//! What always holds: the written part and the tail are blocks, whole and without gap; what was written has its room on
//! the disk, so that a full one is an error of a write and no signal.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{NonNull, null_mut};

/// Addresses are reserved for so many bytes, which take neither memory nor disk: more than a recording's lists become.
const RESERVED: usize = 1 << 36;
/// Blocks are of so many bytes times something: a multiple of every page size there is.
pub const UNIT: usize = 1 << 16;
/// After so many blocks that were written the pages of those before are let go.
const PACE: usize = 8;

/// The file.
#[derive(Debug)]
pub struct Mapped {
    file: File,
    begin: NonNull<u8>,
    /// Bytes of a block.
    block: usize,
    /// Bytes in the file.
    written: usize,
    /// Bytes.
    len: usize,
}

impl Mapped {
    /// Of an empty file that nobody else has open, in blocks of about so many bytes.
    pub fn new(file: File, block: usize) -> io::Result<Mapped> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: it is a new mapping, wherever the kernel finds room for it.
        let begin = unsafe { libc::mmap(null_mut(), RESERVED, libc::PROT_NONE, flags, -1, 0) };
        if begin == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let Some(begin) = NonNull::new(begin.cast()) else {
            return Err(io::Error::other("a mapping at address 0"));
        };
        let mut mapped = Mapped {
            file,
            begin,
            block: block.max(1).next_multiple_of(UNIT),
            written: 0,
            len: 0,
        };
        mapped.new_tail()?;
        Ok(mapped)
    }

    /// Where it begins, at the begin of a page.
    pub fn begin(&self) -> NonNull<u8> {
        self.begin
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Drops what lies behind the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends so many bytes.
    ///
    /// # Safety
    ///
    /// They are there, and not in here. Nobody holds a reference to what was dropped by truncating.
    pub unsafe fn append(&mut self, mut from: *const u8, mut bytes: usize) -> io::Result<()> {
        while bytes > 0 {
            if self.len == self.written && bytes >= self.block {
                let whole = bytes / self.block * self.block;
                self.write(from, whole)?;
                self.len += whole;
                // SAFETY: they are as many.
                from = unsafe { from.add(whole) };
                bytes -= whole;
                continue;
            }
            let room = self.written + self.block - self.len;
            if room == 0 {
                self.write(self.at(self.written), self.block)?;
                continue;
            }
            let some = room.min(bytes);
            // SAFETY: written part and tail may be written to, from their begin to the tail's end.
            unsafe {
                self.at(self.len).copy_from_nonoverlapping(from, some);
                from = from.add(some);
            }
            self.len += some;
            bytes -= some;
        }
        Ok(())
    }

    /// Unmaps the pages of the file that were touched: they come back when they are looked at.
    pub fn let_go(&self) {
        if self.written > 0 {
            // SAFETY: it is a shared mapping of a file: what was stored is in the file's pages.
            let done = unsafe { libc::madvise(self.address(0), self.written, libc::MADV_DONTNEED) };
            debug_assert!(done == 0, "{}", io::Error::last_os_error());
        }
    }

    fn at(&self, byte: usize) -> *mut u8 {
        debug_assert!(byte <= RESERVED);
        // SAFETY: so much is reserved.
        unsafe { self.begin.as_ptr().add(byte) }
    }

    fn address(&self, byte: usize) -> *mut c_void {
        self.at(byte).cast()
    }

    /// Makes the block behind the written part plain memory.
    fn new_tail(&mut self) -> io::Result<()> {
        if self.written + self.block > RESERVED {
            return Err(io::Error::other(format!(
                "one list of more than {RESERVED} bytes"
            )));
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let at = self.address(self.written);
        // SAFETY: the block is reserved, and nothing is there yet.
        let tail = unsafe { libc::mmap(at, self.block, access, flags, -1, 0) };
        done(tail)
    }

    /// Writes blocks behind those that are, in place of the tail, which holds nothing else.
    fn write(&mut self, mut from: *const u8, bytes: usize) -> io::Result<()> {
        if self.written + bytes + self.block > RESERVED {
            return Err(io::Error::other(format!(
                "one list of more than {RESERVED} bytes"
            )));
        }
        let (mut left, mut place) = (bytes, self.written);
        while left > 0 {
            let fd = self.file.as_raw_fd();
            // SAFETY: the caller's bytes, of which so many are left; padding between fields may be anything.
            let some = unsafe { libc::pwrite(fd, from.cast(), left, place as libc::off_t) };
            match usize::try_from(some) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(some) => {
                    // SAFETY: they are as many.
                    from = unsafe { from.add(some) };
                    left -= some;
                    place += some;
                }
                Err(_) => match io::Error::last_os_error() {
                    why if why.kind() == io::ErrorKind::Interrupted => {}
                    why => return Err(why),
                },
            }
        }
        let has_tail = self.tail_moves(bytes);
        let (flags, access) = (
            libc::MAP_SHARED | libc::MAP_FIXED,
            libc::PROT_READ | libc::PROT_WRITE,
        );
        let (at, fd) = (self.address(self.written), self.file.as_raw_fd());
        let offset = self.written as libc::off_t;
        // SAFETY: the tail's bytes are in the file, as are all others that were written.
        done(unsafe { libc::mmap(at, bytes, access, flags, fd, offset) })?;
        let paces = |bytes: usize| bytes / self.block / PACE;
        if paces(self.written + bytes) > paces(self.written) {
            self.let_go();
        }
        self.written += bytes;
        if has_tail {
            return Ok(());
        }
        self.new_tail()
    }

    /// Moves the tail's memory so many bytes on, where the kernel can (from 5.7 on): its pages need not be zeroed again.
    fn tail_moves(&self, bytes: usize) -> bool {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP;
        let (from, to) = (
            self.address(self.written),
            self.address(self.written + bytes),
        );
        // SAFETY: it goes to where nothing is yet but addresses that are reserved; where it was stays mapped, as zeros,
        // until the file takes that place.
        let moved = unsafe { libc::mremap(from, self.block, self.block, flags, to) };
        moved == to
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: all of it is this one's, and nobody can reach it any more.
        let done = unsafe { libc::munmap(self.address(0), RESERVED) };
        debug_assert!(done == 0, "{}", io::Error::last_os_error());
    }
}

fn done(mapping: *mut c_void) -> io::Result<()> {
    if mapping == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(mapped: &Mapped) -> &[u8] {
        // SAFETY: so many were appended.
        unsafe { std::slice::from_raw_parts(mapped.begin().as_ptr(), mapped.len()) }
    }

    fn append(mapped: &mut Mapped, bytes: &[u8]) {
        // SAFETY: a slice.
        unsafe { mapped.append(bytes.as_ptr(), bytes.len()) }.expect("room");
    }

    #[test]
    fn what_is_appended_in_any_pieces_is_one_stretch() {
        let mut mapped = Mapped::new(tempfile::tempfile().expect("a file"), 1).expect("a mapping");
        let all: Vec<u8> = (0..9 * UNIT).map(|n| (n / 3) as u8).collect();
        let mut at = 0;
        for piece in [1, UNIT - 1, 5, 3 * UNIT, UNIT + 7, 2 * UNIT, 11] {
            append(&mut mapped, &all[at..at + piece]);
            at += piece;
            mapped.let_go();
            assert!(bytes(&mapped) == &all[..at], "{at}");
        }
        assert_eq!(mapped.written, 7 * UNIT);
        // Shorter than what is in the file, and longer again.
        mapped.truncate(UNIT + 3);
        append(&mut mapped, &all[UNIT + 3..]);
        mapped.let_go();
        assert!(bytes(&mapped) == &all[..]);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_and_what_was_there_stays() {
        let read_only = File::open("/proc/self/cmdline").expect("a file");
        let mut mapped = Mapped::new(read_only, 1).expect("a mapping");
        append(&mut mapped, &[7; UNIT - 1]);
        // SAFETY: a slice. The first byte fills the tail, and the second has no room before that is written.
        let told = unsafe { mapped.append([8, 9].as_ptr(), 2) };
        assert!(told.is_err());
        assert!(bytes(&mapped)[..UNIT - 1] == [7; UNIT - 1]);
    }
}
