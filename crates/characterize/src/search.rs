//! The load line by bisection.
//!
//! Points may be measured in any order, and noise may make one fail below another that holds. The
//! load line is sought below the lightest failing one: a server that fails at 40 does not carry 50. A
//! failure that the intervals leave in doubt does not count where a heavier load surely holds.

use serde::{Deserialize, Serialize};

/// How a point stands to the load line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Goodput and response time are as they should be.
    Holds,
    /// Goodput is less than 95% of what is offered.
    Goodput,
    /// The same, because the server refuses: of what it lets in, goodput is as it should be.
    Refused,
    /// The objective on response time is missed.
    Slow,
    /// The generator was the limit: nothing can be said of the server.
    Generator,
}

impl Judgement {
    /// Why the server does not carry more, in words.
    pub fn words(self) -> &'static str {
        match self {
            Judgement::Holds => "holds",
            Judgement::Goodput => "goodput falls below 95% of what is offered",
            Judgement::Refused => "more than 5% of what is offered is refused",
            Judgement::Slow => "response times miss the objective",
            Judgement::Generator => "the generator is the limit",
        }
    }
}

/// A load and what all runs at it say together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Offered load, sessions/s.
    pub rate: f64,
    /// How it stands to the load line.
    pub how: Judgement,
    /// Whether that is outside of the 95% intervals of goodput and response time.
    pub sure: bool,
    /// How often it was measured.
    pub runs: u32,
}

/// Where the load line lies, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bracket {
    /// The largest load that holds, below all that do not.
    pub holds: Option<f64>,
    /// The smallest that does not, and why.
    pub fails: Option<(f64, Judgement)>,
}

/// Brackets wider than this factor are worth another point.
pub const CLOSE_ENOUGH: f64 = 1.05;
/// How far the search goes down when even the lightest point fails, and up when all hold.
const STEP: f64 = 2.0;

/// What the points say.
pub fn bracket(points: impl IntoIterator<Item = Judged>) -> Bracket {
    let mut points: Vec<Judged> = points.into_iter().collect();
    points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let surely_held = points
        .iter()
        .rposition(|p| p.how == Judgement::Holds && p.sure);
    let fails = points
        .iter()
        .enumerate()
        .find(|(i, p)| p.how != Judgement::Holds && (p.sure || surely_held.is_none_or(|h| *i > h)))
        .map(|(_, p)| *p);
    let holds = points
        .iter()
        .take_while(|p| fails.is_none_or(|f| p.rate < f.rate))
        .filter(|p| p.how == Judgement::Holds)
        .map(|p| p.rate)
        .last();
    Bracket {
        holds,
        fails: fails.map(|f| (f.rate, f.how)),
    }
}

/// The interval of the load line: the largest load that surely holds below all that surely fail, and the
/// smallest that surely fails.
pub fn interval(points: &[Judged]) -> (Option<f64>, Option<f64>) {
    let sure = |holds: bool| {
        points
            .iter()
            .filter(move |p| p.sure && (p.how == Judgement::Holds) == holds)
            // Where the generator was the limit the server did not fail.
            .filter(|p| p.how != Judgement::Generator)
            .map(|p| p.rate)
    };
    let high = sure(false).min_by(f64::total_cmp);
    let low = sure(true)
        .filter(|rate| high.is_none_or(|h| *rate < h))
        .max_by(f64::total_cmp);
    (low, high)
}

/// Which of the two loads at the ends of the bracket to measure again: one that was measured once (what went wrong in
/// one run does not show in its own interval), or whose judgement is in doubt; less measured first, at most `most` times
/// beside the first.
pub fn again(b: &Bracket, points: &[Judged], most: u32) -> Option<f64> {
    [b.fails.map(|f| f.0), b.holds]
        .into_iter()
        .flatten()
        .filter_map(|rate| points.iter().find(|p| p.rate == rate))
        .filter(|p| (p.runs < 2 || !p.sure) && p.how != Judgement::Generator && p.runs <= most)
        .min_by_key(|p| p.runs)
        .map(|p| p.rate)
}

/// The next load to measure; none if the bracket is close enough.
pub fn next(b: &Bracket) -> Option<f64> {
    match (b.holds, b.fails) {
        (Some(low), Some((high, _))) if high / low > CLOSE_ENOUGH => Some((low * high).sqrt()),
        (None, Some((high, _))) => Some(high / STEP),
        (Some(low), None) => Some(low * STEP),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judge(rate: f64, line: f64) -> Judgement {
        if rate <= line {
            Judgement::Holds
        } else {
            Judgement::Slow
        }
    }

    fn sure(rate: f64, how: Judgement) -> Judged {
        Judged {
            rate,
            how,
            sure: true,
            runs: 1,
        }
    }

    fn unsure(rate: f64, how: Judgement) -> Judged {
        Judged {
            sure: false,
            ..sure(rate, how)
        }
    }

    /// Sweeps a server whose load line is known, then searches with so many points.
    fn found(line: f64, sweep: &[f64], budget: usize) -> Bracket {
        let mut points: Vec<Judged> = sweep.iter().map(|r| sure(*r, judge(*r, line))).collect();
        for _ in 0..budget {
            let Some(rate) = next(&bracket(points.clone())) else {
                break;
            };
            points.push(sure(rate, judge(rate, line)));
        }
        bracket(points)
    }

    #[test]
    fn four_points_place_a_known_load_line_within_five_percent() {
        let sweep = crate::plan::rates(50.0, 11, 4.0);
        for line in [8.0, 23.0, 41.0, 49.0, 120.0] {
            let b = found(line, &sweep, 4);
            let (low, high) = (b.holds.expect("some hold"), b.fails.expect("some fail").0);
            assert!(low <= line && line < high, "{line}: {b:?}");
            assert!(high / low < CLOSE_ENOUGH, "{line}: {b:?}");
        }
    }

    #[test]
    fn a_server_that_fails_at_the_lightest_load_is_searched_below() {
        let b = found(1.0, &[5.0, 10.0], 6);
        assert!(b.holds.is_some_and(|low| low <= 1.0 && low > 0.6), "{b:?}");
    }

    #[test]
    fn a_server_that_never_fails_has_no_upper_end() {
        let b = found(1e9, &[5.0, 10.0], 3);
        assert_eq!((b.holds, b.fails), (Some(80.0), None));
    }

    #[test]
    fn a_load_line_beyond_the_sweep_is_searched_above() {
        let b = found(33.0, &[5.0, 10.0], 8);
        let (low, high) = (b.holds.expect("some hold"), b.fails.expect("some fail").0);
        assert!(low <= 33.0 && 33.0 < high && high / low < 1.1, "{b:?}");
    }

    #[test]
    fn nothing_beyond_a_failing_point_counts_as_carried() {
        use Judgement::{Holds, Slow};
        let b = bracket([(10.0, Holds), (40.0, Holds), (20.0, Slow)].map(|(r, how)| sure(r, how)));
        assert_eq!((b.holds, b.fails), (Some(10.0), Some((20.0, Slow))));
    }

    #[test]
    fn a_doubtful_failure_does_not_bound_the_search_where_a_heavier_load_surely_holds() {
        use Judgement::{Holds, Slow};
        let points = [
            sure(10.0, Holds),
            unsure(20.0, Slow),
            sure(40.0, Holds),
            sure(80.0, Slow),
        ];
        let b = bracket(points);
        assert_eq!((b.holds, b.fails), (Some(40.0), Some((80.0, Slow))));
        // With nothing sure beyond it, it does, until it is measured again.
        let b = bracket([sure(10.0, Holds), unsure(20.0, Slow), unsure(40.0, Holds)]);
        assert_eq!((b.holds, b.fails), (Some(10.0), Some((20.0, Slow))));
    }

    #[test]
    fn the_interval_lies_between_what_is_sure() {
        use Judgement::{Generator, Holds, Slow};
        let points = [
            sure(10.0, Holds),
            unsure(20.0, Holds),
            unsure(21.0, Slow),
            sure(30.0, Slow),
        ];
        assert_eq!(interval(&points), (Some(10.0), Some(30.0)));
        assert_eq!(
            interval(&[sure(10.0, Holds), sure(30.0, Generator)]),
            (Some(10.0), None)
        );
        assert_eq!(interval(&[]), (None, None));
    }

    #[test]
    fn the_ends_of_the_bracket_are_measured_again_while_they_are_in_doubt() {
        use Judgement::{Holds, Slow};
        let twice = Judged {
            runs: 2,
            ..unsure(21.0, Slow)
        };
        let points = [sure(10.0, Holds), unsure(20.0, Holds), twice];
        let b = bracket(points);
        assert_eq!(again(&b, &points, 2), Some(20.0));
        assert_eq!(again(&b, &points, 0), None);
        let held = Judged {
            runs: 2,
            ..sure(20.0, Holds)
        };
        let points = [held, twice];
        assert_eq!(again(&bracket(points), &points, 2), Some(21.0));
        assert_eq!(again(&bracket(points), &points, 1), None);
        // What one run says is not believed, however narrow its interval.
        let points = [sure(20.0, Holds), sure(21.0, Slow)];
        assert_eq!(again(&bracket(points), &points, 5), Some(21.0));
        let points = points.map(|p| Judged { runs: 2, ..p });
        assert_eq!(again(&bracket(points), &points, 5), None);
    }

    #[test]
    fn no_points_no_bracket() {
        let b = bracket([]);
        assert_eq!((b.holds, b.fails, next(&b)), (None, None, None));
    }

    proptest! {
        #[test]
        fn the_line_is_always_inside_the_bracket(line in 0.1f64..400.0, budget in 0usize..12) {
            let b = found(line, &crate::plan::rates(50.0, 7, 4.0), budget);
            prop_assert!(b.holds.is_none_or(|low| low <= line));
            prop_assert!(b.fails.is_none_or(|(high, _)| high > line));
        }
    }
}
