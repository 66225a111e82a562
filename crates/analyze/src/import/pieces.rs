//! What a thread did, out of what is known of parts of its time.

use loadline_trace::tables::names;

/// A part of a thread's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    pub begin: i64,
    pub end: i64,
    pub cause: &'static str,
    pub wait: Option<i64>,
    pub syscall: Option<&'static str>,
}

/// The pieces of a thread (by their begin) from `begin` to `end` without gap or overlap.
pub fn gapless(pieces: &[Piece], begin: i64, end: i64) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let unknown = |begin, end| Piece {
        begin,
        end,
        cause: names::UNKNOWN,
        wait: None,
        syscall: None,
    };
    let mut now = begin;
    for p in pieces {
        let (from, to) = (p.begin.max(begin), p.end.min(end));
        if to <= from {
            continue;
        }
        // Who began later has its time: what is there is cut, and goes on after it.
        let mut rest = Vec::new();
        while let Some(last) = out.last_mut().filter(|l| l.end > from) {
            if last.end > to {
                rest.push(Piece {
                    begin: last.begin.max(to),
                    ..*last
                });
            }
            if last.begin >= from {
                out.pop();
            } else {
                last.end = from;
            }
        }
        now = out.last().map_or(begin, |l| l.end);
        if from > now {
            out.push(unknown(now, from));
        }
        out.push(Piece {
            begin: from,
            end: to,
            ..*p
        });
        out.extend(rest.into_iter().rev());
        now = out.last().map_or(to, |l| l.end);
    }
    if now < end {
        out.push(unknown(now, end));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(begin: i64, end: i64, cause: &'static str) -> Piece {
        Piece {
            begin,
            end,
            cause,
            wait: None,
            syscall: None,
        }
    }

    #[test]
    fn states_have_no_gap_and_no_overlap() {
        let pieces = [
            piece(10, 20, names::LOCK),
            piece(30, 60, names::OTHER),
            piece(40, 50, names::SOCKET),
            piece(90, 200, names::IDLE),
        ];
        let got = gapless(&pieces, 5, 100);
        let want = [
            piece(5, 10, names::UNKNOWN),
            piece(10, 20, names::LOCK),
            piece(20, 30, names::UNKNOWN),
            piece(30, 40, names::OTHER),
            piece(40, 50, names::SOCKET),
            piece(50, 60, names::OTHER),
            piece(60, 90, names::UNKNOWN),
            piece(90, 100, names::IDLE),
        ];
        assert_eq!(got, want);
    }
}
