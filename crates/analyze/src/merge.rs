//! Records of all CPUs as one stream in the order of time, without holding them all.
//!
//! A CPU's ring is in the order in which its programs began to write, which is that of time but
//! for interrupts: one may take its place in the ring before the program that it interrupted.
//! So each spool passes through a window of [`WINDOW`] records in which order is restored, and the
//! spools are then merged. A record that comes later than that keeps its place; who reads the
//! stream must not rely on more than "almost always sorted".

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use loadline_trace::spool::kernel::{self, Record};

/// Records looked ahead per spool. Interrupts nest a few deep; this is ample.
const WINDOW: usize = 64;

/// One spool, behind its window: the next records by time.
struct Source<I> {
    records: I,
    window: VecDeque<Record>,
}

impl<I: Iterator<Item = Record>> Source<I> {
    fn new(records: I) -> Source<I> {
        let mut source = Source {
            records,
            window: VecDeque::with_capacity(WINDOW),
        };
        while source.window.len() < WINDOW && source.take() {}
        source
    }

    /// Takes one record into the window, at its place; nearly always that is the last.
    fn take(&mut self) -> bool {
        let Some(record) = self.records.next() else {
            return false;
        };
        if self.window.back().is_none_or(|r| r.ts <= record.ts) {
            self.window.push_back(record);
            return true;
        }
        let before = self.window.iter().rev().take_while(|r| r.ts > record.ts);
        let at = self.window.len() - before.count();
        self.window.insert(at, record);
        true
    }

    fn ts(&self) -> Option<i64> {
        self.window.front().map(|r| r.ts)
    }

    fn next(&mut self) -> Option<Record> {
        let record = self.window.pop_front()?;
        self.take();
        Some(record)
    }
}

/// All records of the given spools, by time.
pub fn merged<'a>(spools: impl IntoIterator<Item = &'a [u8]>) -> impl Iterator<Item = Record> + 'a {
    let mut sources: Vec<_> = spools
        .into_iter()
        .map(|bytes| Source::new(kernel::records(bytes)))
        .collect();
    let mut heads: BinaryHeap<_> = (0..sources.len())
        .filter_map(|i| Some(Reverse((sources[i].ts()?, i))))
        .collect();
    std::iter::from_fn(move || {
        let mut head = heads.peek_mut()?;
        let Reverse((_, i)) = *head;
        let record = sources[i].next();
        match sources[i].ts() {
            Some(ts) => *head = Reverse((ts, i)),
            None => {
                PeekMut::pop(head);
            }
        }
        record
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::KernelSpool;

    #[test]
    fn spools_are_merged_by_time_and_small_disorder_is_repaired() {
        let mut a = KernelSpool::default();
        a.waking(10, 1, 2).waking(30, 1, 2).waking(20, 1, 2);
        let mut b = KernelSpool::default();
        b.waking(15, 1, 2).waking(40, 1, 2);
        let ts: Vec<i64> = merged([&a.0[..], &b.0[..]]).map(|r| r.ts).collect();
        assert_eq!(ts, [10, 15, 20, 30, 40]);
    }

    #[test]
    fn no_spool_is_no_record() {
        assert_eq!(merged([]).count(), 0);
    }
}
