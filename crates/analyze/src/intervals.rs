//! Sweeps over sorted intervals, and look-ups in them.

use std::cell::Cell;

/// Overlapping, perhaps nested intervals made flat: at each moment of `[begin, end)` the one that
/// began last (of several, the later in `over`), or `base` where there is none.
///
/// The result is sorted, gapless and covers `[begin, end)` exactly.
pub fn flatten<T: Copy + PartialEq>(
    begin: i64,
    end: i64,
    base: T,
    over: &[(i64, i64, T)],
) -> Vec<(i64, i64, T)> {
    let mut order: Vec<usize> = (0..over.len()).collect();
    order.sort_by_key(|&i| over[i].0);
    let mut out: Vec<(i64, i64, T)> = Vec::with_capacity(2 * over.len() + 1);
    let mut open: Vec<(i64, T)> = Vec::new(); // (end, what), the innermost last
    let mut at = begin;
    let mut emit = |from: &mut i64, to: i64, what: T| {
        let to = to.min(end);
        if to > *from {
            match out.last_mut() {
                Some(last) if last.2 == what && last.1 == *from => last.1 = to,
                _ => out.push((*from, to, what)),
            }
            *from = to;
        }
    };
    let mut upto = |at: &mut i64, open: &mut Vec<(i64, T)>, to: i64| {
        while let Some(&(until, what)) = open.last() {
            emit(at, until.min(to), what);
            if until > to {
                return;
            }
            open.pop();
        }
        emit(at, to, base);
    };
    for i in order {
        let (b, e, what) = over[i];
        if e <= b || e <= begin || b >= end {
            continue;
        }
        upto(&mut at, &mut open, b.max(begin));
        open.push((e, what));
    }
    upto(&mut at, &mut open, end);
    out
}

/// The union of intervals: sorted, disjoint.
pub fn union(mut intervals: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    intervals.retain(|(b, e)| e > b);
    intervals.sort_unstable();
    let mut out: Vec<(i64, i64)> = Vec::with_capacity(intervals.len());
    for (b, e) in intervals {
        match out.last_mut() {
            Some(last) if b <= last.1 => last.1 = last.1.max(e),
            _ => out.push((b, e)),
        }
    }
    out
}

/// Whether sorted, disjoint intervals cover a moment; moments must come in order.
#[derive(Debug)]
pub struct Cursor<'a> {
    intervals: &'a [(i64, i64)],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Before the first interval.
    pub fn new(intervals: &'a [(i64, i64)]) -> Cursor<'a> {
        Cursor { intervals, at: 0 }
    }

    /// Whether `ts`, not earlier than the one asked before, is covered.
    pub fn covers(&mut self, ts: i64) -> bool {
        while self.intervals.get(self.at).is_some_and(|i| i.1 <= ts) {
            self.at += 1;
        }
        self.intervals.get(self.at).is_some_and(|i| i.0 <= ts)
    }
}

/// Looks up places in the sorted items of many threads. Each look-up begins where the last one of its
/// thread ended: what is asked for in about the order of time is near there, and a binary search over
/// all of them would wait for memory at each of its steps.
#[derive(Debug)]
pub struct Places(Vec<Cell<usize>>);

impl Places {
    /// Of so many threads.
    pub fn new(threads: usize) -> Places {
        Places(vec![Cell::new(0); threads])
    }

    /// The index of the first item that is `reached`, as `partition_point` finds it: those after it must be, too.
    pub fn first<T>(&self, thread: usize, items: &[T], reached: impl Fn(&T) -> bool) -> usize {
        let start = self.0.get(thread).map_or(0, Cell::get).min(items.len());
        let (mut from, mut to, mut step) = (0, items.len(), 1);
        if items.get(start).is_some_and(|i| !reached(i)) {
            from = start + 1;
            while let Some(item) = items.get(start + step) {
                if reached(item) {
                    to = start + step;
                    break;
                }
                from = start + step + 1;
                step *= 2;
            }
        } else {
            to = start;
            while let Some(at) = start.checked_sub(step) {
                if !reached(&items[at]) {
                    from = at + 1;
                    break;
                }
                to = at;
                step *= 2;
            }
        }
        let found = from + items[from..to].partition_point(|i| !reached(i));
        if let Some(place) = self.0.get(thread) {
            place.set(found);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_innermost_wins_and_the_base_fills() {
        let flat = flatten(
            0,
            100,
            '.',
            &[(10, 50, 'r'), (20, 40, 's'), (25, 30, 'q'), (60, 70, 'r')],
        );
        let want = [
            (0, 10, '.'),
            (10, 20, 'r'),
            (20, 25, 's'),
            (25, 30, 'q'),
            (30, 40, 's'),
            (40, 50, 'r'),
            (50, 60, '.'),
            (60, 70, 'r'),
            (70, 100, '.'),
        ];
        assert_eq!(flat, want);
    }

    #[test]
    fn a_cursor_answers_for_moments_in_order() {
        let i = [(10, 20), (30, 40)];
        let mut c = Cursor::new(&i);
        let asked = [5, 10, 19, 20, 35, 40].map(|ts| c.covers(ts));
        assert_eq!(asked, [false, true, true, false, true, false]);
    }

    proptest! {
        #[test]
        fn a_place_is_found_from_wherever_the_last_one_was(
            mut items in proptest::collection::vec(0i64..50, 0..40),
            asked in proptest::collection::vec(-1i64..52, 1..20)
        ) {
            items.sort_unstable();
            let places = Places::new(1);
            for ts in asked {
                let want = items.partition_point(|&i| i < ts);
                prop_assert_eq!(places.first(0, &items, |&i| i >= ts), want);
                prop_assert_eq!(places.first(7, &items, |&i| i >= ts), want);
            }
        }

        #[test]
        fn flat_intervals_are_gapless_and_agree_with_a_moment_by_moment_answer(
            over in proptest::collection::vec((-5i64..45, -5i64..45), 0..12)
        ) {
            let over: Vec<_> = over.iter().enumerate().map(|(i, &(b, e))| (b, e, i + 1)).collect();
            let flat = flatten(0, 40, 0, &over);
            let mut at = 0;
            for &(b, e, _) in &flat {
                prop_assert_eq!(b, at);
                prop_assert!(e > b);
                at = e;
            }
            prop_assert_eq!(at, 40);
            for ts in 0..40 {
                let want = over.iter().filter(|i| i.0 <= ts && ts < i.1).max_by_key(|i| (i.0.max(0), i.2));
                let got = flat.iter().find(|i| i.0 <= ts && ts < i.1).map(|i| i.2);
                if let Some(w) = want {
                    let same = over.iter().filter(|i| i.0 <= ts && ts < i.1 && i.0.max(0) == w.0.max(0)).any(|i| Some(i.2) == got);
                    prop_assert!(same, "at {}: {:?} of {:?}", ts, got, over);
                } else {
                    prop_assert_eq!(got, Some(0));
                }
            }
        }
    }
}
