//! All runs at one offered load together: goodput and response time with their intervals, and whether they hold.
//!
//! Intervals are those of batch means over the seconds of all runs at that load: within a run neighbouring seconds are
//! alike, which makes batches longer. That of a percentile is the relative interval of the seconds' own percentiles,
//! weighted by their replies. Between runs the machine may have become another, which no run can tell by itself: the
//! interval reaches at least as far as what any of the runs came to.

use loadline_stats::{Estimate, by_batches};

use crate::curve::GOODPUT;
use crate::measured::{Point, Second};
use crate::objective::{Objective, Percentile};
use crate::search::{Judged, Judgement};

/// Fewer seconds than this give no interval: what is measured so shortly stays in doubt.
const LEAST_SECONDS: usize = 10;

/// The points of each rate, by rate.
pub fn by_rate(points: &[Point]) -> Vec<Vec<&Point>> {
    let mut sorted: Vec<&Point> = points.iter().collect();
    sorted.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    sorted
        .chunk_by(|a, b| a.rate == b.rate)
        .map(<[_]>::to_vec)
        .collect()
}

/// Goodput over offered load; see [`crate::measured::Load::goodput_share`].
pub fn goodput(runs: &[&Point], clicks: f64) -> Estimate {
    let replies: u64 = runs.iter().map(|p| p.load.replies).sum();
    let value = if replies == 0 {
        0.0
    } else {
        let offered: f64 = runs
            .iter()
            .map(|p| match p.load.goodput_share(clicks) {
                share if share > 0.0 => p.load.replies as f64 / share,
                _ => p.load.failures as f64 * clicks.max(1.0),
            })
            .sum();
        replies as f64 / offered
    };
    let seconds = seconds_of(runs);
    let spread = by_batches(&seconds, |part| {
        let (good, bad) = part.iter().fold((0.0, 0.0), |(g, b), s| {
            (g + s.goodput as f64, b + s.failures as f64)
        });
        good / (good + bad * clicks.max(1.0))
    });
    let each = runs.iter().map(|p| p.load.goodput_share(clicks));
    around(value, &spread, seconds.len(), 1.0, each)
}

/// Goodput over what was offered and not refused; nothing of what was let in failed where nothing was.
fn goodput_of_admitted(runs: &[&Point], clicks: f64) -> f64 {
    let all = |of: fn(&Point) -> u64| runs.iter().map(|p| of(p)).sum::<u64>();
    let replies = all(|p| p.load.replies);
    let lost =
        all(|p| p.load.failures.saturating_sub(p.load.refused()) + p.load.sessions.not_started);
    match replies + lost {
        0 => 1.0,
        _ => replies as f64 / (replies as f64 + lost as f64 * clicks.max(1.0)),
    }
}

/// The objective's percentile, ms.
pub fn response(runs: &[&Point], objective: Objective) -> Estimate {
    let weight = |p: &Point| p.load.replies as f64;
    let all: f64 = runs.iter().map(|p| weight(p)).sum();
    let value = runs
        .iter()
        .map(|p| weight(p) * objective.percentile.of(&p.load.response))
        .sum::<f64>()
        / all;
    let of = |s: &Second| match objective.percentile {
        Percentile::P50 => s.p50_ms,
        Percentile::P90 | Percentile::P95 => s.p95_ms,
        Percentile::P99 => s.p99_ms,
    };
    let seconds = seconds_of(runs);
    let spread = by_batches(&seconds, |part| {
        let (sum, n) = part.iter().fold((0.0, 0.0), |(sum, n), s| {
            (sum + of(s) * s.goodput as f64, n + s.goodput as f64)
        });
        sum / n
    });
    let each = runs.iter().filter(|p| p.load.replies > 0);
    let each = each.map(|p| objective.percentile.of(&p.load.response));
    around(value, &spread, seconds.len(), value / spread.value, each)
}

fn seconds_of(runs: &[&Point]) -> Vec<Second> {
    runs.iter().flat_map(|p| &p.load.series).copied().collect()
}

/// `value` with the interval of `spread`, in its unit, or the reach of what `each` run came to if that is more.
fn around(
    value: f64,
    spread: &Estimate,
    seconds: usize,
    unit: f64,
    each: impl Iterator<Item = f64>,
) -> Estimate {
    let reach = each.map(|x| (x - value).abs()).fold(0.0, f64::max);
    let ci95 = spread.ci95 * unit;
    Estimate {
        value,
        ci95: if seconds < LEAST_SECONDS || !ci95.is_finite() {
            f64::INFINITY
        } else {
            ci95.max(reach)
        },
        freedom: spread.freedom,
    }
}

/// How the runs at one load stand to the load line. `runs` are one or more, of the same rate.
pub fn judge(runs: &[&Point], objective: Objective, clicks: f64) -> Judged {
    let goodput = goodput(runs, clicks);
    let replied = runs.iter().any(|p| p.load.replies > 0);
    let response = response(runs, objective);
    let enough = goodput.value >= GOODPUT;
    let fast = replied && response.value <= objective.ms;
    let limited = runs.iter().any(|p| p.load.generator_limit().is_some());
    let surely = |e: &Estimate, bound: f64| (e.value - bound).abs() > e.ci95;
    let (how, sure) = match (enough && fast, limited) {
        // What holds in spite of a busy generator holds.
        (true, _) => (
            Judgement::Holds,
            surely(&goodput, GOODPUT) && surely(&response, objective.ms),
        ),
        (false, true) => (Judgement::Generator, true),
        // One miss that is sure is enough.
        (false, false) => {
            let starved = !enough && surely(&goodput, GOODPUT);
            let slow = replied && !fast && surely(&response, objective.ms);
            let admitted = !enough && goodput_of_admitted(runs, clicks) >= GOODPUT;
            let how = if admitted && (fast || !replied) {
                Judgement::Refused
            } else if !enough && !admitted {
                Judgement::Goodput
            } else {
                Judgement::Slow
            };
            (how, !replied || starved || slow)
        }
    };
    Judged {
        rate: runs.first().map_or(0.0, |p| p.rate),
        how,
        sure,
        runs: runs.len() as u32,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::curve::tests::point;

    /// A run whose seconds have this 95th percentile, give or take.
    pub fn run(rate: f64, p95_ms: f64, give_or_take: f64, failures: u64) -> Point {
        let mut p = point(rate, 1e9);
        p.load.response.p95_ms = p95_ms;
        (p.load.replies, p.load.failures) = (6000, 60 * failures);
        p.load.failures_by_kind.clear();
        p.load.series = (0..60)
            .map(|i| Second {
                goodput: 100,
                failures,
                p95_ms: p95_ms + give_or_take * [-1.0, 0.6, 1.0, -0.6][i % 4],
                ..Second::default()
            })
            .collect();
        p
    }

    fn objective() -> Objective {
        Objective::parse("p95=100ms").expect("valid")
    }

    fn judged(runs: &[Point]) -> (Judgement, bool) {
        let refs: Vec<&Point> = runs.iter().collect();
        let j = judge(&refs, objective(), 5.0);
        (j.how, j.sure)
    }

    #[test]
    fn what_is_far_from_the_objective_is_sure_and_what_is_near_it_is_not() {
        use Judgement::{Holds, Slow};
        assert_eq!(judged(&[run(10.0, 60.0, 30.0, 0)]), (Holds, true));
        assert_eq!(judged(&[run(10.0, 99.0, 30.0, 0)]), (Holds, false));
        assert_eq!(judged(&[run(10.0, 101.0, 30.0, 0)]), (Slow, false));
        assert_eq!(judged(&[run(10.0, 160.0, 30.0, 0)]), (Slow, true));
    }

    #[test]
    fn goodput_that_surely_falls_short_needs_no_sure_response_time() {
        // 4 failures of 5 clicks each beside 100 replies: 83%.
        assert_eq!(
            judged(&[run(10.0, 99.0, 30.0, 4)]),
            (Judgement::Goodput, true)
        );
    }

    #[test]
    fn a_server_that_refuses_what_it_cannot_serve_did_not_fail() {
        let mut refusing = run(10.0, 60.0, 10.0, 4);
        refusing.load.failures_by_kind = [("tls".into(), 239), ("timeout".into(), 1)].into();
        assert_eq!(
            judged(std::slice::from_ref(&refusing)),
            (Judgement::Refused, true)
        );
        // What it lets in is slow: that is its own.
        refusing.load.response.p95_ms = 400.0;
        assert_eq!(judged(std::slice::from_ref(&refusing)).0, Judgement::Slow);
        refusing.load.failures_by_kind = [("tls".into(), 120), ("timeout".into(), 120)].into();
        assert_eq!(judged(&[refusing]).0, Judgement::Goodput);
        let mut closed = run(10.0, 0.0, 0.0, 4);
        (closed.load.replies, closed.load.failures) = (0, 240);
        closed.load.failures_by_kind = [("busy".into(), 240)].into();
        assert_eq!(judged(&[closed]).0, Judgement::Refused);
    }

    #[test]
    fn a_noisy_failure_is_outvoted_by_its_repetitions() {
        let noisy = run(10.0, 120.0, 60.0, 0);
        let good = || run(10.0, 70.0, 10.0, 0);
        assert_eq!(judged(std::slice::from_ref(&noisy)).0, Judgement::Slow);
        // Together they hold, in doubt: the runs differ by more than either of them shows.
        assert_eq!(judged(&[noisy, good(), good()]), (Judgement::Holds, false));
        assert_eq!(judged(&[good(), good()]), (Judgement::Holds, true));
    }

    #[test]
    fn without_seconds_nothing_is_sure() {
        let mut p = run(10.0, 60.0, 1.0, 0);
        p.load.series.truncate(5);
        assert_eq!(judged(&[p]), (Judgement::Holds, false));
    }
}
