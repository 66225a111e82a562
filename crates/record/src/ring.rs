//! One CPU's BPF ring buffer, drained into its spool.
//!
//! The kernel's layout: a page with the consumer's position, a page with the producer's, then the
//! data, mapped twice in a row so that a record that wraps around is contiguous. Each record has an
//! 8-byte header whose first word is its length; the top bits say that it is still being written
//! (busy) or was given up (discarded).
//!
//! What always holds: the spools of a ring, one after another, are a prefix of the bytes that it held, and each ends on
//! a record's border; the kernel gets room back only after the bytes were written.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::sys::Mapping;

const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER: u64 = 8;

/// A ring and the spool that it is drained into.
pub struct Ring {
    consumer: Mapping,
    data: Mapping,
    page: usize,
    size: u64,
    position: u64,
    spool: File,
    /// Position at which the spool begins.
    begin: u64,
}

/// What one drain moved.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Bytes, with headers.
    pub bytes: u64,
    /// Records that were not given up.
    pub records: u64,
}

impl Ring {
    /// Maps the ring behind `map`, which holds `size` bytes.
    pub fn new(map: &impl AsFd, size: usize, spool: File) -> io::Result<Ring> {
        let fd = map.as_fd().as_raw_fd();
        let page = page_size();
        let consumer = Mapping::new(&fd, 0, page, true)?;
        let data = Mapping::new(&fd, page as u64, page + 2 * size, false)?;
        Ok(Ring {
            consumer,
            data,
            page,
            size: size as u64,
            position: 0,
            spool,
            begin: 0,
        })
    }

    /// From here on records go to another spool.
    pub fn go_on_in(&mut self, spool: File) {
        self.spool = spool;
        self.begin = self.position;
    }

    /// Writes all finished records to the spool. After an error nothing more can be drained.
    pub fn drain(&mut self) -> io::Result<Drained> {
        // SAFETY: the producer's position is an aligned word that the kernel stores with release.
        let producer = unsafe { &*self.data.at(0).cast::<AtomicU64>() }.load(Ordering::Acquire);
        let span = finished(self.position, producer, |at| self.header(at));
        if span.bytes == 0 {
            return Ok(span);
        }
        let begin = self
            .data
            .at(self.page + (self.position & (self.size - 1)) as usize);
        // SAFETY: at most one ring's worth of bytes from a place in the first of the two mappings,
        // which the kernel does not touch until the consumer's position has passed them.
        let bytes = unsafe { std::slice::from_raw_parts(begin, span.bytes as usize) };
        if let Err(e) = self.spool.write_all(bytes) {
            // What a full disk took stays, but for a record that was written in part.
            let written = self.begin + self.spool.stream_position()?;
            let whole = finished(self.position, written, |at| self.header(at));
            self.spool
                .set_len(self.position + whole.bytes - self.begin)?;
            return Err(e);
        }
        self.position += span.bytes;
        // SAFETY: the consumer's position is an aligned word that only we write.
        unsafe { &*self.consumer.at(0).cast::<AtomicU64>() }
            .store(self.position, Ordering::Release);
        Ok(span)
    }

    fn header(&self, at: u64) -> u32 {
        let word = self.data.at(self.page + (at & (self.size - 1)) as usize);
        // SAFETY: records are 8-byte aligned; the kernel clears the busy bit with an exchange.
        unsafe { &*word.cast::<AtomicU32>() }.load(Ordering::Acquire)
    }
}

/// The whole records between two positions, up to the first that is still being written.
fn finished(from: u64, to: u64, header: impl Fn(u64) -> u32) -> Drained {
    let mut at = from;
    let mut records = 0;
    while at < to {
        let word = header(at);
        let next = at + HEADER + u64::from(word & !(BUSY | DISCARDED)).next_multiple_of(8);
        if word & BUSY != 0 || next > to {
            break;
        }
        if word & DISCARDED == 0 {
            records += 1;
        }
        at = next;
    }
    Drained {
        bytes: at - from,
        records,
    }
}

/// Size of a page of memory.
pub fn page_size() -> usize {
    // SAFETY: no pointers; _SC_PAGESIZE always has a value.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// The size that the kernel accepts for a ring of at least `bytes`: a power of two of whole pages.
pub fn ring_size(bytes: usize) -> usize {
    bytes.clamp(page_size(), 1 << 30).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drain_ends_before_the_first_busy_record() {
        let header = |at| match at {
            0 => 32,
            40 => 24 | DISCARDED,
            72 => 32 | BUSY,
            _ => panic!("looked behind a busy record, at {at}"),
        };
        assert_eq!(
            finished(0, 200, header),
            Drained {
                bytes: 72,
                records: 1
            }
        );
    }

    #[test]
    fn a_drain_ends_at_the_producer() {
        assert_eq!(
            finished(80, 160, |_| 29),
            Drained {
                bytes: 80,
                records: 2
            }
        );
        assert_eq!(
            finished(80, 80, |_| panic!("nothing to look at")),
            Drained::default()
        );
    }

    #[test]
    fn a_record_that_was_written_in_part_does_not_count() {
        assert_eq!(
            finished(80, 199, |_| 29),
            Drained {
                bytes: 80,
                records: 2
            }
        );
    }

    #[test]
    fn sizes_are_powers_of_two_of_at_least_a_page() {
        assert_eq!(ring_size(1), page_size());
        assert_eq!(ring_size(3 << 20), 4 << 20);
        assert_eq!(ring_size(32 << 20), 32 << 20);
    }
}
