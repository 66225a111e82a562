//! Spans as nested bars on the lanes of the threads that worked on them.
//!
//! Terms: a *piece* is the part of a span that lies on one thread: the span itself, or each of
//! its segments if several threads worked on it; a *row* is a depth of nesting on one thread.
//!
//! What always holds: pieces of a row do not overlap and are sorted; a row answers a window of
//! `px` pixels with at most `px` bars and `px` thin columns.

use crate::lane::Window;

/// What a span is drawn as. The order is part of the API.
pub const KINDS: [&str; 14] = [
    "connection",
    "tls_full",
    "tls_resumed",
    "request",
    "service",
    "pool_wait",
    "pool_use",
    "sql",
    "call",
    "app_state",
    "user",
    "method",
    "tls_unknown",
    "other",
];

/// Rows that a lane has at most; what is nested deeper is left out of the picture.
pub const MAX_ROWS: usize = loadline_analyze::DEPTHS;

/// A part of a span on one thread. Times are ns since the recording began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Begin.
    pub begin: i64,
    /// End.
    pub end: i64,
    /// Index of the span.
    pub span: u32,
    /// Index into [`KINDS`].
    pub kind: u8,
}

/// What is too thin to draw within one pixel: the kind that covers most of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thin {
    /// The pixel.
    pub column: u32,
    /// Index into [`KINDS`].
    pub kind: u8,
    /// Part of the pixel that is covered, of 255; at least 1.
    pub coverage: u8,
}

/// A row within a window.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RowView {
    /// Pieces at least a pixel wide.
    pub bars: Vec<Piece>,
    /// The others.
    pub thin: Vec<Thin>,
}

/// Index into [`KINDS`] of a span of this `spans.kind`.
pub fn kind_index(kind: &str, resumed: Option<bool>) -> u8 {
    let name = match (kind, resumed) {
        ("tls_handshake", Some(true)) => "tls_resumed",
        ("tls_handshake", Some(false)) => "tls_full",
        ("tls_handshake", None) => "tls_unknown",
        (kind, _) => kind,
    };
    KINDS
        .iter()
        .position(|k| *k == name)
        .unwrap_or(KINDS.len() - 1) as u8
}

/// Pieces of one depth on one thread, sorted and disjoint, with sums over every [`BLOCK`] of them: a window in which
/// thousands share a pixel costs no more than one in which each is seen.
#[derive(Debug, Default)]
pub struct Row {
    pieces: Vec<Piece>,
    /// Of whole blocks.
    blocks: Vec<Block>,
    /// What is too short to be a piece of its own here, by begin.
    sums: Vec<Sum>,
}

/// Pieces within a stretch of time of which only the times are known.
#[derive(Debug, Clone, Copy)]
pub struct Sum {
    /// Begin of the stretch.
    pub begin: i64,
    /// Its end.
    pub end: i64,
    /// By kind, ns.
    pub times: Times,
}

/// Pieces to a block.
const BLOCK: usize = 64;

#[derive(Debug, Default, Clone, Copy)]
struct Block {
    /// By kind, ns.
    times: Times,
    /// The longest piece, ns.
    longest: i64,
}

/// By kind, ns.
pub type Times = [i64; KINDS.len()];

/// Puts the pieces of one thread into rows: each lies one row below the deepest that goes on.
pub fn rows(mut pieces: Vec<Piece>) -> Vec<Row> {
    // An outer span may begin in the same nanosecond as an inner one.
    pieces.sort_by_key(|p| (p.begin, std::cmp::Reverse(p.end), p.kind));
    let mut rows: Vec<Row> = Vec::new();
    for piece in pieces {
        let open = |row: &Row| row.pieces.last().is_some_and(|p| p.end > piece.begin);
        let depth = rows.iter().rposition(open).map_or(0, |d| d + 1);
        if depth >= MAX_ROWS {
            continue;
        }
        if depth == rows.len() {
            rows.push(Row::default());
        }
        rows[depth].push(piece);
    }
    rows
}

impl Row {
    /// Of pieces, and sums of what is shorter; both by begin.
    pub fn summed(long: Vec<Piece>, sums: Vec<Sum>) -> Row {
        let mut row = Row::default();
        long.into_iter().for_each(|piece| row.push(piece));
        row.sums = sums;
        row
    }

    /// The view of a row with sums: what is thin is as thick in a column as in the stretch that this lies in.
    fn of_sums(&self, window: Window) -> RowView {
        let mut view = RowView::default();
        let mut columns = vec![Times::default(); window.px as usize];
        for sum in &self.sums {
            let (begin, end) = (sum.begin.max(window.begin), sum.end.min(window.end));
            if begin >= end {
                continue;
            }
            for i in window.column(begin)..=window.column(end - 1) {
                let overlap = window.edge(i + 1).min(end) - window.edge(i).max(begin);
                for (time, all) in columns[i as usize].iter_mut().zip(sum.times) {
                    let part = i128::from(all) * i128::from(overlap.max(0));
                    *time += (part / i128::from(sum.end - sum.begin)) as i64;
                }
            }
        }
        for piece in &self.pieces {
            let (begin, end) = (piece.begin.max(window.begin), piece.end.min(window.end));
            if begin >= end {
                continue;
            }
            if (end - begin) as f64 >= window.ns_per_px() {
                view.bars.push(*piece);
            } else {
                let column = window.column(begin + (end - begin) / 2);
                columns[column as usize][piece.kind as usize] += end - begin;
            }
        }
        let covered = (0..)
            .zip(columns)
            .filter(|(_, times)| times.iter().any(|t| *t > 0));
        view.thin = covered
            .map(|column| thin(column, window.ns_per_px()))
            .collect();
        view
    }

    fn push(&mut self, piece: Piece) {
        self.pieces.push(piece);
        if self.pieces.len().is_multiple_of(BLOCK) {
            let mut block = Block::default();
            for p in &self.pieces[self.pieces.len() - BLOCK..] {
                block.times[p.kind as usize] += p.end - p.begin;
                block.longest = block.longest.max(p.end - p.begin);
            }
            self.blocks.push(block);
        }
    }

    /// The piece that `t` lies in.
    pub fn at(&self, t: i64) -> Option<&Piece> {
        let i = self.pieces.partition_point(|p| p.begin <= t);
        self.pieces[..i].last().filter(|p| p.end > t)
    }

    /// What a window shows of it.
    pub fn view(&self, window: Window) -> RowView {
        if !self.sums.is_empty() {
            return self.of_sums(window);
        }
        let mut view = RowView::default();
        let min_width = window.ns_per_px();
        let middle = |p: &Piece| {
            let (begin, end) = (p.begin.max(window.begin), p.end.min(window.end));
            window.column(begin + (end - begin) / 2)
        };
        let mut open: Option<(u32, Times)> = None;
        let mut at = self.pieces.partition_point(|p| p.end <= window.begin);
        while let Some(piece) = self.pieces.get(at).filter(|p| p.begin < window.end) {
            let (begin, end) = (piece.begin.max(window.begin), piece.end.min(window.end));
            let column = middle(piece);
            let block = self.blocks.get(at / BLOCK).filter(|block| {
                let last = &self.pieces[at / BLOCK * BLOCK + BLOCK - 1];
                at.is_multiple_of(BLOCK)
                    && (block.longest as f64) < min_width
                    && piece.begin >= window.begin
                    && last.end <= window.end
                    && middle(last) == column
            });
            if block.is_none() && (end - begin) as f64 >= min_width {
                view.bars.push(*piece);
                at += 1;
                continue;
            }
            if open.is_some_and(|(c, _)| c != column) {
                view.thin.extend(open.take().map(|o| thin(o, min_width)));
            }
            let (_, times) = open.get_or_insert((column, Times::default()));
            match block {
                Some(block) => {
                    times.iter_mut().zip(block.times).for_each(|(t, b)| *t += b);
                    at += BLOCK;
                }
                None => {
                    times[piece.kind as usize] += end - begin;
                    at += 1;
                }
            }
        }
        view.thin.extend(open.map(|o| thin(o, min_width)));
        view
    }
}

fn thin((column, times): (u32, Times), ns_per_px: f64) -> Thin {
    let kind = (0..KINDS.len()).max_by_key(|&k| times[k]).unwrap_or(0) as u8;
    let coverage = times.iter().sum::<i64>() as f64 / ns_per_px * 255.0;
    Thin {
        column,
        kind,
        coverage: coverage.clamp(1.0, 255.0) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(begin: i64, end: i64, span: u32) -> Piece {
        Piece {
            begin,
            end,
            span,
            kind: 3,
        }
    }

    #[test]
    fn what_lies_within_another_goes_one_row_below() {
        let rows = rows(vec![
            piece(0, 10, 0),
            piece(0, 100, 1),
            piece(20, 60, 2),
            piece(30, 40, 3),
            piece(60, 70, 4),
        ]);
        let spans: Vec<Vec<u32>> = rows
            .iter()
            .map(|r| r.pieces.iter().map(|p| p.span).collect())
            .collect();
        assert_eq!(spans, [vec![1], vec![0, 2, 4], vec![3]]);
    }

    #[test]
    fn a_handshake_is_drawn_by_its_kind() {
        assert_eq!(
            KINDS[kind_index("tls_handshake", Some(true)) as usize],
            "tls_resumed"
        );
        assert_eq!(
            KINDS[kind_index("tls_handshake", Some(false)) as usize],
            "tls_full"
        );
        assert_eq!(
            KINDS[kind_index("tls_handshake", None) as usize],
            "tls_unknown"
        );
        assert_eq!(KINDS[kind_index("method", None) as usize], "method");
        assert_eq!(KINDS[kind_index("something new", None) as usize], "other");
    }

    proptest! {
        #[test]
        fn rows_never_overlap_and_a_view_is_bounded_by_its_pixels(
            spans in prop::collection::vec((0..5_000i64, 1..400i64), 0..200),
            begin in 0..4_000i64, length in 1..3_000i64, px in 1..300u32,
        ) {
            let pieces = spans.iter().enumerate().map(|(i, (b, l))| piece(*b, b + l, i as u32)).collect();
            let window = Window { begin, end: begin + length, px };
            for row in rows(pieces) {
                for pair in row.pieces.windows(2) {
                    prop_assert!(pair[0].end <= pair[1].begin);
                }
                let view = row.view(window);
                let inside = |p: &&Piece| p.begin < window.end && p.end > window.begin;
                prop_assert!(view.bars.len() <= px as usize);
                prop_assert!(view.thin.windows(2).all(|w| w[0].column < w[1].column));
                prop_assert_eq!(view.bars.is_empty() && view.thin.is_empty(), row.pieces.iter().filter(inside).count() == 0);
            }
        }

        #[test]
        fn sums_over_blocks_show_what_the_pieces_would(
            spans in prop::collection::vec((0..6i64, 1..5i64, 0..3u8), 100..900),
            begin in 0..3_000i64, length in 1..4_000i64, px in 1..60u32,
        ) {
            let mut at = 0;
            let mut row = Row::default();
            for (i, (gap, length, kind)) in spans.into_iter().enumerate() {
                row.push(Piece { kind, ..piece(at + gap, at + gap + length, i as u32) });
                at += gap + length;
            }
            let window = Window { begin, end: begin + length, px };
            let one_by_one = Row { pieces: row.pieces.clone(), ..Row::default() };
            prop_assert!(!row.blocks.is_empty());
            prop_assert_eq!(row.view(window), one_by_one.view(window));
        }
    }
}
