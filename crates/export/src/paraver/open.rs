//! Which value of a type of events holds for a thread: the innermost of those that are open.

use std::collections::HashMap;

/// An interval that is open: the type of its events, its id, its value.
type Interval = (u32, i64, i64);

/// Intervals that are open, per thread, the innermost last.
#[derive(Debug, Default)]
pub struct Open {
    of: HashMap<i64, Vec<Interval>>,
}

impl Open {
    /// Opens an interval: its value holds now.
    pub fn begin(&mut self, thread: i64, kind: u32, id: i64, value: i64) {
        self.of.entry(thread).or_default().push((kind, id, value));
    }

    /// Closes an interval; returns the value that holds after it, 0 for none.
    pub fn end(&mut self, thread: i64, kind: u32, id: i64) -> i64 {
        let Some(open) = self.of.get_mut(&thread) else {
            return 0;
        };
        if let Some(at) = open.iter().rposition(|(k, i, _)| (*k, *i) == (kind, id)) {
            open.remove(at);
        }
        let value = open.iter().rev().find(|(k, ..)| *k == kind);
        let value = value.map_or(0, |(.., v)| *v);
        if open.is_empty() {
            self.of.remove(&thread);
        }
        value
    }

    /// Types and values that hold for a thread now, by type.
    pub fn of(&self, thread: i64) -> Vec<(u32, i64)> {
        let mut found: Vec<(u32, i64)> = Vec::new();
        for (kind, _, value) in self.of.get(&thread).into_iter().flatten().rev() {
            if found.iter().all(|(k, _)| k != kind) {
                found.push((*kind, *value));
            }
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_an_inner_interval_the_outer_value_holds_again() {
        let mut open = Open::default();
        open.begin(1, 7, 10, 100);
        open.begin(1, 8, 20, 200);
        open.begin(1, 7, 11, 101);
        assert_eq!(open.of(1), [(7, 101), (8, 200)]);
        assert_eq!(open.end(1, 7, 11), 100);
        assert_eq!(open.end(1, 7, 10), 0);
        assert_eq!(open.end(1, 8, 20), 0);
        assert!(open.of(1).is_empty());
    }

    #[test]
    fn intervals_that_cross_end_by_their_id() {
        let mut open = Open::default();
        open.begin(1, 7, 10, 100);
        open.begin(1, 7, 11, 101);
        assert_eq!(open.end(1, 7, 10), 101);
        assert_eq!(open.end(1, 7, 11), 0);
    }
}
