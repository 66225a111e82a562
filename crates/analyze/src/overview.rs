//! What the first picture of a long recording is drawn of: times summed up over equal parts of it.
//!
//! Terms: the recording is cut into [`PARTS`] *parts*; a *sum* is the time of what is shorter than a part in one of them;
//! what is longer, *long* in short, stands for itself.
//!
//! What always holds: sums and long ones add up to what they were made of, to the nanosecond; they come in the order of
//! their begin; there are as many as parts, threads and kinds allow, however long the recording is.

use std::hash::Hash;
use std::sync::Arc;

use loadline_trace::tables::{self, names};
use rustc_hash::FxHashMap;

use crate::model::{Cause, Interval, State};
use crate::spans::{Part, Span};

/// About a part for each pixel of a picture.
const PARTS: i64 = 1024;

/// Depths of nesting on one thread that are drawn; what lies deeper is left out.
pub const DEPTHS: usize = 6;

/// Length of a part of a recording that is so long, ns.
pub fn part_ns(duration: i64) -> i64 {
    (duration / PARTS + 1).max(1)
}

/// A sum, or what is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<K> {
    /// Whose, and of what.
    pub key: K,
    /// Begin of the part, or of what is long.
    pub begin: i64,
    /// End of the part, or of what is long.
    pub end: i64,
    /// Time.
    pub ns: i64,
    /// How many began in it.
    pub count: i64,
    /// What is long, by the number that it was given.
    pub long: Option<i64>,
}

/// Sums up what comes by begin.
#[derive(Debug)]
pub struct Sums<K> {
    begin: i64,
    end: i64,
    width: i64,
    /// The part that begins are in now.
    part: i64,
    /// Times and counts in it, and in the next.
    sums: FxHashMap<K, (i64, i64)>,
    next: FxHashMap<K, (i64, i64)>,
    long: Vec<Row<K>>,
}

impl<K: Copy + Eq + Ord + Hash> Sums<K> {
    /// Of a recording.
    pub fn new((begin, end): (i64, i64)) -> Sums<K> {
        Sums {
            begin,
            end,
            width: part_ns(end - begin),
            part: 0,
            sums: FxHashMap::default(),
            next: FxHashMap::default(),
            long: Vec::new(),
        }
    }

    /// Takes what lies in `[begin, end)` and is called `number`; rows that are known by then go to `out`.
    pub fn add<E>(
        &mut self,
        key: K,
        (begin, end): (i64, i64),
        number: i64,
        out: &mut impl FnMut(Row<K>) -> Result<(), E>,
    ) -> Result<(), E> {
        while begin >= self.edge(self.part + 1) && self.edge(self.part + 1) < self.end {
            self.end_part(out)?;
        }
        let ns = end - begin;
        if ns >= self.width {
            self.long.push(Row {
                key,
                begin,
                end,
                ns,
                count: 1,
                long: Some(number),
            });
            return Ok(());
        }
        let beyond = (end - self.edge(self.part + 1)).clamp(0, ns);
        let sum = self.sums.entry(key).or_default();
        *sum = (sum.0 + ns - beyond, sum.1 + 1);
        if beyond > 0 {
            self.next.entry(key).or_default().0 += beyond;
        }
        Ok(())
    }

    /// Nothing comes any more.
    pub fn finish<E>(mut self, out: &mut impl FnMut(Row<K>) -> Result<(), E>) -> Result<(), E> {
        self.end_part(out)?;
        self.end_part(out)
    }

    fn edge(&self, part: i64) -> i64 {
        self.begin + part * self.width
    }

    fn end_part<E>(&mut self, out: &mut impl FnMut(Row<K>) -> Result<(), E>) -> Result<(), E> {
        let (begin, end) = (self.edge(self.part), self.edge(self.part + 1).min(self.end));
        let mut sums: Vec<_> = self.sums.drain().collect();
        sums.sort_unstable_by_key(|sum| sum.0);
        for (key, (ns, count)) in sums {
            let long = None;
            out(Row {
                key,
                begin,
                end,
                ns,
                count,
                long,
            })?;
        }
        self.long.drain(..).try_for_each(&mut *out)?;
        std::mem::swap(&mut self.sums, &mut self.next);
        self.part += 1;
        Ok(())
    }
}

/// A thread, and what it was at: its cause, or that it was preempted.
pub type StateKey = (u32, Cause, bool);

/// The key of a state.
pub fn state_key(thread: u32, i: &Interval) -> StateKey {
    (thread, i.cause, i.state == State::Preempted)
}

/// A row of states.
pub fn state_row(row: Row<StateKey>) -> tables::StateSum {
    let (thread, cause, preempted) = row.key;
    tables::StateSum {
        thread: thread.into(),
        begin_ns: row.begin,
        end_ns: row.end,
        cause: match preempted {
            true => names::PREEMPTED,
            false => cause.name(),
        },
        duration_ns: row.ns,
        states: row.count,
    }
}

/// A thread, a depth and a kind of spans.
pub type SpanKey = (u32, u8, Drawn);

/// What a span is drawn as: its kind, and of a handshake whether it resumed a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Drawn {
    kind: &'static str,
    resumed: Option<bool>,
}

impl Drawn {
    /// Of a span.
    pub fn of(span: &Span) -> Drawn {
        Drawn {
            kind: span.kind.name(),
            resumed: span.resumed,
        }
    }

    /// Of a span's row.
    pub fn of_row(row: &tables::Span) -> Drawn {
        Drawn {
            kind: row.kind,
            resumed: row.resumed,
        }
    }
}

/// A row of spans; `name` is that of what is long.
pub fn span_row(row: Row<SpanKey>, name: Option<Arc<str>>) -> tables::SpanSum {
    let (thread, depth, drawn) = row.key;
    tables::SpanSum {
        thread: thread.into(),
        depth: depth.into(),
        begin_ns: row.begin,
        end_ns: row.end,
        kind: drawn.kind,
        resumed: drawn.resumed,
        duration_ns: row.ns,
        spans: row.count,
        span: row.long,
        name,
    }
}

/// How deep what comes by begin lies on each thread: below the deepest that goes on.
#[derive(Debug, Default)]
pub struct Depths(FxHashMap<u32, [i64; DEPTHS]>);

impl Depths {
    /// The depth of the next; none if it is left out.
    pub fn of(&mut self, thread: u32, begin: i64, end: i64) -> Option<u8> {
        let ends = self.0.entry(thread).or_insert([i64::MIN; DEPTHS]);
        let depth = ends.iter().rposition(|e| *e > begin).map_or(0, |d| d + 1);
        *ends.get_mut(depth)? = end;
        Some(depth as u8)
    }
}

/// Spans that lie on lanes by their pieces and not as a whole, by id.
#[derive(Debug, Default)]
pub struct InPieces(Vec<u64>);

impl InPieces {
    /// Those of these pieces.
    pub fn of<'a>(pieces: impl Iterator<Item = &'a Part>) -> InPieces {
        let mut bits = Vec::new();
        for piece in pieces {
            let at = piece.span as usize / 64;
            if bits.len() <= at {
                bits.resize(at + 1, 0);
            }
            bits[at] |= 1u64 << (piece.span % 64);
        }
        InPieces(bits)
    }

    /// Whether a span is one.
    pub fn has(&self, span: usize) -> bool {
        self.0
            .get(span / 64)
            .is_some_and(|bits| bits >> (span % 64) & 1 > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use proptest::prelude::*;

    fn summed(limits: (i64, i64), all: &[(u32, i64, i64)]) -> Vec<Row<u32>> {
        let mut rows = Vec::new();
        let mut out = |row| {
            rows.push(row);
            Ok::<_, Infallible>(())
        };
        let mut sums = Sums::new(limits);
        for (n, &(key, begin, end)) in (0..).zip(all) {
            let Ok(()) = sums.add(key, (begin, end), n, &mut out);
        }
        let Ok(()) = sums.finish(&mut out);
        rows
    }

    #[test]
    fn what_is_short_is_summed_up_in_the_parts_it_lies_in_and_what_is_long_stands_for_itself() {
        // Parts of 11.
        let all = [
            (1, 0, 4),
            (1, 4, 9),
            (2, 5, 8),
            (1, 9, 14),
            (1, 14, 90),
            (2, 60, 63),
        ];
        let sum = |key, part: i64, ns, count| Row {
            key,
            begin: part * 11,
            end: part * 11 + 11,
            ns,
            count,
            long: None,
        };
        let long = Row {
            key: 1,
            begin: 14,
            end: 90,
            ns: 76,
            count: 1,
            long: Some(4),
        };
        let rows = summed((0, PARTS * 10), &all);
        assert_eq!(
            rows,
            [
                sum(1, 0, 11, 3),
                sum(2, 0, 3, 1),
                sum(1, 1, 3, 0),
                long,
                sum(2, 5, 3, 1)
            ]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_all_comes_by_begin(
            mut all in proptest::collection::vec((0..3u32, 0..5_000i64, 0..40i64), 0..300), end in 5_040..9_000i64,
        ) {
            all.sort_by_key(|a| a.1);
            let all: Vec<_> = all.into_iter().map(|(key, begin, ns)| (key, begin, begin + ns)).collect();
            let rows = summed((0, end), &all);
            prop_assert!(rows.is_sorted_by_key(|r| r.begin));
            for key in 0..3 {
                let of = rows.iter().filter(|r| r.key == key);
                let (ns, count) = of.fold((0, 0), |sum, r| (sum.0 + r.ns, sum.1 + r.count));
                let mine = all.iter().filter(|a| a.0 == key);
                prop_assert_eq!(ns, mine.clone().map(|a| a.2 - a.1).sum::<i64>());
                prop_assert_eq!(count, mine.count() as i64);
            }
            for r in &rows {
                prop_assert!(r.ns <= (r.end - r.begin) * 300 && r.end <= end);
            }
        }
    }

    #[test]
    fn a_piece_lies_below_the_deepest_that_goes_on() {
        let mut depths = Depths::default();
        let pieces = [(0, 100), (0, 10), (20, 60), (30, 40), (60, 70), (100, 110)];
        let told = pieces.map(|(begin, end)| depths.of(7, begin, end));
        assert_eq!(told, [0, 1, 1, 2, 1, 0].map(Some));
        let deeper: Vec<_> = (0..8).map(|_| depths.of(8, 0, 9)).collect();
        assert_eq!(deeper[5..], [Some(5), None, None]);
    }
}
