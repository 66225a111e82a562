//! Records of all CPUs as one stream in the order of time, without holding them all.
//!
//! A CPU's ring is in the order in which its programs began to write, which is that of time but
//! for interrupts: one may take its place in the ring before the program that it interrupted.
//! So each spool passes through a window of [`WINDOW`] records in which order is restored, and the
//! spools are then merged. A record that comes later than that keeps its place; who reads the
//! stream must not rely on more than "almost always sorted".

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use loadline_trace::spool::kernel::{self, Record};

/// Records looked ahead per spool. Interrupts nest a few deep; this is ample.
const WINDOW: usize = 64;

struct Keyed(i64, u64, Record);

impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}
impl Eq for Keyed {}
impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Keyed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

struct Source<'a> {
    records: Box<dyn Iterator<Item = Record> + 'a>,
    window: BinaryHeap<Reverse<Keyed>>,
    seen: u64,
}

impl Source<'_> {
    fn next(&mut self) -> Option<Record> {
        while self.window.len() < WINDOW {
            let Some(record) = self.records.next() else {
                break;
            };
            self.seen += 1;
            self.window
                .push(Reverse(Keyed(record.ts, self.seen, record)));
        }
        self.window.pop().map(|Reverse(k)| k.2)
    }
}

/// All records of the given spools, by time.
pub fn merged<'a>(spools: impl IntoIterator<Item = &'a [u8]>) -> impl Iterator<Item = Record> + 'a {
    let mut sources: Vec<Source<'a>> = spools
        .into_iter()
        .map(|bytes| Source {
            records: Box::new(kernel::records(bytes)),
            window: BinaryHeap::with_capacity(WINDOW),
            seen: 0,
        })
        .collect();
    let mut heads = BinaryHeap::new();
    for (i, source) in sources.iter_mut().enumerate() {
        if let Some(r) = source.next() {
            heads.push(Reverse(Keyed(r.ts, i as u64, r)));
        }
    }
    std::iter::from_fn(move || {
        let Reverse(Keyed(_, i, record)) = heads.pop()?;
        if let Some(r) = sources[i as usize].next() {
            heads.push(Reverse(Keyed(r.ts, i, r)));
        }
        Some(record)
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
