//! One list with a slice for each group, as for the states of each thread.

use std::ops::{Index, IndexMut, Range};

use super::{List, Room};

/// Slices by the number of their group.
#[derive(Debug)]
pub struct Grouped<T> {
    list: List<T>,
    of: Vec<Range<usize>>,
}

impl<T: Copy> Grouped<T> {
    /// Without any group.
    pub fn new(room: &Room) -> Grouped<T> {
        Grouped {
            list: List::new(room),
            of: Vec::new(),
        }
    }

    /// Adds an item to the last group.
    pub fn push(&mut self, item: T) {
        self.list.push(item);
        if let Some(last) = self.of.last_mut() {
            last.end = self.list.len();
        }
    }

    /// Adds items to the last group.
    pub fn extend_from_slice(&mut self, items: &[T]) {
        self.list.extend_from_slice(items);
        if let Some(last) = self.of.last_mut() {
            last.end = self.list.len();
        }
    }

    /// Begins the next group.
    pub fn begin(&mut self) {
        let end = self.list.len();
        self.of.push(end..end);
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// The items of a group, if there is one of this number.
    pub fn get(&self, group: usize) -> Option<&[T]> {
        Some(&self.list[self.of.get(group)?.clone()])
    }

    /// All groups, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.of.iter().map(|range| &self.list[range.clone()])
    }

    /// Lets go of the pages that were touched, each time that a walk over the items has come so far as to be worth it.
    #[inline]
    pub fn pace(&self, at: usize) {
        self.list.pace(at);
    }

    /// Lets go of the pages that were touched.
    pub fn let_go(&self) {
        self.list.let_go();
    }

    /// Groups of these items, which come by group: those from 0 up to `groups`, without items where none come.
    pub fn of(
        room: &Room,
        groups: usize,
        items: impl Iterator<Item = (u32, T)>,
        mut add: impl FnMut(&mut Grouped<T>, T),
    ) -> Grouped<T> {
        let mut grouped = Grouped::new(room);
        for (group, item) in items {
            while grouped.len() <= group as usize {
                grouped.begin();
            }
            add(&mut grouped, item);
        }
        while grouped.len() < groups {
            grouped.begin();
        }
        grouped
    }

    /// The last item of the last group.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        let last = self.of.last()?.clone();
        self.list[last].last_mut()
    }
}

impl<T: Copy> Index<usize> for Grouped<T> {
    type Output = [T];

    fn index(&self, group: usize) -> &[T] {
        &self.list[self.of[group].clone()]
    }
}

impl<T: Copy> IndexMut<usize> for Grouped<T> {
    fn index_mut(&mut self, group: usize) -> &mut [T] {
        &mut self.list[self.of[group].clone()]
    }
}

#[cfg(test)]
impl<T: Copy> From<&[Vec<T>]> for Grouped<T> {
    fn from(groups: &[Vec<T>]) -> Grouped<T> {
        let mut grouped = Grouped::new(&Room::in_memory());
        for group in groups {
            grouped.begin();
            grouped.extend_from_slice(group);
        }
        grouped
    }
}
