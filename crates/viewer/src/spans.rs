//! Spans as nested bars on the lanes of the threads that worked on them.
//!
//! Terms: a *piece* is the part of a span that lies on one thread: the span itself, or each of
//! its segments if several threads worked on it; a *row* is a depth of nesting on one thread.
//!
//! What always holds: pieces of a row do not overlap and are sorted; a row answers a window of
//! `px` pixels with at most `px` bars and `px` thin columns.

use crate::lane::Window;

/// What a span is drawn as. The order is part of the API.
pub const KINDS: [&str; 11] = [
    "connection",
    "tls_full",
    "tls_resumed",
    "request",
    "service",
    "pool_wait",
    "pool_use",
    "sql",
    "app_state",
    "user",
    "other",
];

/// Rows that a lane has at most; what is nested deeper is left out of the picture.
pub const MAX_ROWS: usize = 6;

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
        ("tls_handshake", _) => "tls_full",
        (kind, _) => kind,
    };
    KINDS
        .iter()
        .position(|k| *k == name)
        .unwrap_or(KINDS.len() - 1) as u8
}

/// Puts the pieces of one thread into rows: each lies one row below the deepest that goes on.
pub fn rows(mut pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    // An outer span may begin in the same nanosecond as an inner one.
    pieces.sort_by_key(|p| (p.begin, std::cmp::Reverse(p.end), p.kind));
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        let open = |row: &Vec<Piece>| row.last().is_some_and(|last| last.end > piece.begin);
        let depth = rows.iter().rposition(open).map_or(0, |d| d + 1);
        if depth >= MAX_ROWS {
            continue;
        }
        if depth == rows.len() {
            rows.push(Vec::new());
        }
        rows[depth].push(piece);
    }
    rows
}

/// What a window shows of a row.
pub fn view(row: &[Piece], window: Window) -> RowView {
    let mut view = RowView::default();
    let min_width = window.ns_per_px();
    let mut open: Option<(u32, [i64; KINDS.len()])> = None;
    let from = row.partition_point(|p| p.end <= window.begin);
    for piece in row[from..].iter().take_while(|p| p.begin < window.end) {
        let (begin, end) = (piece.begin.max(window.begin), piece.end.min(window.end));
        if (end - begin) as f64 >= min_width {
            view.bars.push(*piece);
            continue;
        }
        let column = window.column(begin + (end - begin) / 2);
        if open.is_some_and(|(c, _)| c != column) {
            view.thin.extend(open.take().map(|o| thin(o, min_width)));
        }
        open.get_or_insert((column, Default::default())).1[piece.kind as usize] += end - begin;
    }
    view.thin.extend(open.map(|o| thin(o, min_width)));
    view
}

fn thin((column, times): (u32, [i64; KINDS.len()]), ns_per_px: f64) -> Thin {
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
            .map(|r| r.iter().map(|p| p.span).collect())
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
                for pair in row.windows(2) {
                    prop_assert!(pair[0].end <= pair[1].begin);
                }
                let view = view(&row, window);
                let inside = |p: &&Piece| p.begin < window.end && p.end > window.begin;
                prop_assert!(view.bars.len() <= px as usize);
                prop_assert!(view.thin.windows(2).all(|w| w[0].column < w[1].column));
                prop_assert_eq!(view.bars.is_empty() && view.thin.is_empty(), row.iter().filter(inside).count() == 0);
            }
        }
    }
}
