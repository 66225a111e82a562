//! A waiting line: FIFO, LIFO or by priority (first in, first out among equals).

use crate::model::Discipline;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Those who wait.
pub struct Line<T> {
    last_first: bool,
    queue: VecDeque<T>,
    ranked: Option<BTreeMap<(Reverse<i32>, u64), T>>,
    sequence: u64,
}

impl<T> Line<T> {
    /// An empty line.
    pub fn new(discipline: Discipline) -> Line<T> {
        let ranked = matches!(discipline, Discipline::Priority | Discipline::Preemptive);
        Line {
            last_first: discipline == Discipline::Lifo,
            queue: VecDeque::new(),
            ranked: ranked.then(BTreeMap::new),
            // Room below for those who come back to the head.
            sequence: 1 << 40,
        }
    }

    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.ranked {
            None => self.queue.len(),
            Some(ranked) => ranked.len(),
        }
    }

    /// Joins the line.
    #[inline]
    pub fn push(&mut self, priority: i32, one: T) {
        match &mut self.ranked {
            None => self.queue.push_back(one),
            Some(ranked) => {
                self.sequence += 1;
                ranked.insert((Reverse(priority), self.sequence), one);
            }
        }
    }

    /// Comes back to the head of its priority: one that was interrupted.
    pub fn push_first(&mut self, priority: i32, one: T) {
        match &mut self.ranked {
            None => self.queue.push_front(one),
            Some(ranked) => {
                let first = ranked
                    .range((Reverse(priority), 0)..=(Reverse(priority), u64::MAX))
                    .next()
                    .map_or(1 << 40, |(key, _)| key.1);
                ranked.insert((Reverse(priority), first - 1), one);
            }
        }
    }

    /// Whoever is next.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        match &mut self.ranked {
            None if self.last_first => self.queue.pop_back(),
            None => self.queue.pop_front(),
            Some(ranked) => ranked.pop_first().map(|(_, one)| one),
        }
    }

    /// Takes out the first that `matches`.
    pub fn remove(&mut self, matches: impl Fn(&T) -> bool) -> Option<T> {
        match &mut self.ranked {
            None => {
                let at = self.queue.iter().position(matches)?;
                self.queue.remove(at)
            }
            Some(ranked) => {
                let key = ranked
                    .iter()
                    .find(|(_, one)| matches(one))
                    .map(|(key, _)| *key)?;
                ranked.remove(&key)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interrupted_go_before_their_equals_and_behind_their_betters() {
        let mut line = Line::new(Discipline::Priority);
        line.push(1, 'b');
        line.push(2, 'a');
        line.push_first(1, 'i');
        line.push(1, 'c');
        let order: String = std::iter::from_fn(|| line.pop()).collect();
        assert_eq!(order, "aibc");
    }

    #[test]
    fn one_that_gives_up_leaves_the_others_in_order() {
        let mut line = Line::new(Discipline::Fifo);
        for c in "xyz".chars() {
            line.push(0, c);
        }
        assert_eq!(line.remove(|&c| c == 'y'), Some('y'));
        assert_eq!(line.remove(|&c| c == 'y'), None);
        assert_eq!(
            (line.pop(), line.pop(), line.pop()),
            (Some('x'), Some('z'), None)
        );
    }
}
