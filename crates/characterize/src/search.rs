//! The load line by bisection.
//!
//! Points may be measured in any order, and noise may make one fail below another that holds. The
//! load line is sought below the lightest failing one: a server that fails at 40 does not carry 50.

use serde::{Deserialize, Serialize};

/// How a point stands to the load line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Goodput and response time are as they should be.
    Holds,
    /// Goodput is less than 95% of what is offered.
    Goodput,
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
            Judgement::Slow => "response times miss the objective",
            Judgement::Generator => "the generator is the limit",
        }
    }
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
pub fn bracket(points: impl IntoIterator<Item = (f64, Judgement)>) -> Bracket {
    let mut points: Vec<(f64, Judgement)> = points.into_iter().collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fails = points.iter().find(|p| p.1 != Judgement::Holds).copied();
    let holds = points
        .iter()
        .take_while(|p| p.1 == Judgement::Holds)
        .last()
        .map(|p| p.0);
    Bracket { holds, fails }
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

    /// Sweeps a server whose load line is known, then searches with so many points.
    fn found(line: f64, sweep: &[f64], budget: usize) -> Bracket {
        let mut points: Vec<(f64, Judgement)> =
            sweep.iter().map(|r| (*r, judge(*r, line))).collect();
        for _ in 0..budget {
            let Some(rate) = next(&bracket(points.clone())) else {
                break;
            };
            points.push((rate, judge(rate, line)));
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
        let b = bracket([(10.0, Holds), (40.0, Holds), (20.0, Slow)]);
        assert_eq!((b.holds, b.fails), (Some(10.0), Some((20.0, Slow))));
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
