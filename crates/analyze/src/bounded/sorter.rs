//! Sorting more than memory holds: runs that are sorted in memory, merged as they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{List, Loan, Room};

/// Takes items in any order and gives them back by key; of equal keys the one that came earlier comes first.
pub struct Sorter<T, K> {
    key: K,
    most: usize,
    /// Items of a run, by now.
    limit: usize,
    loan: Loan,
    run: Vec<T>,
    /// Sorted runs, one behind the other.
    runs: List<T>,
    ends: Vec<usize>,
}

impl<T: Copy, O: Ord, K: Fn(&T) -> O> Sorter<T, K> {
    /// Without any item.
    pub fn new(room: &Room, key: K) -> Sorter<T, K> {
        Sorter {
            key,
            most: room.most::<T>(),
            limit: room.most::<T>(),
            loan: room.lends(),
            run: Vec::new(),
            runs: List::new(room),
            ends: Vec::new(),
        }
    }

    /// Takes an item.
    pub fn push(&mut self, item: T) {
        if self.run.len() == self.limit {
            if self.loan.more() {
                self.limit += self.most;
            } else {
                self.end_run();
            }
        }
        self.run.push(item);
    }

    fn end_run(&mut self) {
        self.run.sort_by_key(&self.key);
        self.runs.extend_from_slice(&self.run);
        self.ends.push(self.runs.len());
        self.run.clear();
    }

    /// All items, by key.
    pub fn sorted(mut self) -> Sorted<T, O, K> {
        if self.ends.is_empty() {
            self.run.sort_by_key(&self.key);
            return Sorted::InMemory {
                items: self.run.into_iter(),
                _loan: self.loan,
            };
        }
        self.end_run();
        self.run = Vec::new();
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        let next: Vec<usize> = begins.take(self.ends.len()).collect();
        let heads = (next.iter().zip(&self.ends).zip(0..))
            .filter(|((from, to), _)| from < to)
            .map(|((&from, _), run)| Reverse(((self.key)(&self.runs[from]), run)))
            .collect();
        Sorted::Merged(Merged {
            key: self.key,
            runs: self.runs,
            ends: self.ends,
            next,
            heads,
            taken: 0,
        })
    }
}

impl<T: Copy, O: Ord, K: Fn(&T) -> O> Extend<T> for Sorter<T, K> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

/// The items of a [`Sorter`], in order.
pub enum Sorted<T, O, K> {
    /// There was one run.
    InMemory {
        /// What is left of it.
        items: std::vec::IntoIter<T>,
        /// Given back with them.
        _loan: Loan,
    },
    /// There are several.
    Merged(Merged<T, O, K>),
}

/// Runs that are being merged.
pub struct Merged<T, O, K> {
    key: K,
    runs: List<T>,
    ends: Vec<usize>,
    /// Of each run, its next item.
    next: Vec<usize>,
    /// Keys of the next items, with their runs.
    heads: BinaryHeap<Reverse<(O, usize)>>,
    taken: usize,
}

impl<T: Copy, O: Ord, K: Fn(&T) -> O> Iterator for Sorted<T, O, K> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Sorted::InMemory { items, .. } => items.next(),
            Sorted::Merged(merged) => merged.next(),
        }
    }
}

impl<T: Copy, O: Ord, K: Fn(&T) -> O> Merged<T, O, K> {
    fn next(&mut self) -> Option<T> {
        self.runs.pace(self.taken);
        self.taken += 1;
        let mut head = self.heads.peek_mut()?;
        let run = head.0.1;
        let item = self.runs[self.next[run]];
        self.next[run] += 1;
        if self.next[run] < self.ends[run] {
            head.0.0 = (self.key)(&self.runs[self.next[run]]);
        } else {
            PeekMut::pop(head);
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_what_a_stable_sort_gives(keys in proptest::collection::vec(0u8..20, 0..200), most in 1usize..60) {
            let dir = tempfile::tempdir().expect("a directory");
            let items: Vec<(u8, u32)> = keys.into_iter().zip(0..).collect();
            let mut sorter = Sorter::new(&Room::new(dir.path(), most * size_of::<(u8, u32)>()), |i: &(u8, u32)| i.0);
            sorter.extend(items.iter().copied());
            let mut want = items;
            want.sort_by_key(|i| i.0);
            prop_assert_eq!(sorter.sorted().collect::<Vec<_>>(), want);
        }
    }
}
