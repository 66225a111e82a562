//! The points of one CPU count as a curve: judged, with its load line, peak and knee.

use serde::{Deserialize, Serialize};

use crate::level::{by_rate, judge};
use crate::measured::{Point, Probe};
use crate::objective::Objective;
use crate::search::{Judged, Judgement, bracket, interval};
use crate::words::percent;

/// Goodput over offered load that a server must keep.
pub const GOODPUT: f64 = 0.95;

/// Sessions refused from this share on are worth a word.
const NOTABLE: f64 = 0.005;

/// Throughput of a closed program from this share of its peak has levelled off. Runs of a second differ by some two
/// percent: at half of the distance noise decides, at double the last tenth of the growth is called none.
const LEVEL: f64 = 0.95;

/// The load line. Loads of a closed program stand in the fields of sessions/s, its units of work in those of replies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadLine {
    /// The largest offered load that holds.
    pub sessions_per_s: f64,
    /// Goodput there.
    pub replies_per_s: f64,
    /// 95th percentile of response time there.
    pub p95_ms: f64,
    /// The smallest offered load that does not hold; none if all of them did.
    pub fails_at: Option<f64>,
    /// Why it does not. If that is the generator, the load line is at least what was found.
    pub because: Option<Judgement>,
    /// The largest offered load that surely holds: outside of the 95% intervals, with nothing failing surely below.
    #[serde(default)]
    pub low: Option<f64>,
    /// The smallest that surely does not.
    #[serde(default)]
    pub high: Option<f64>,
}

/// A point of note.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// Offered load.
    pub sessions_per_s: f64,
    /// Goodput.
    pub replies_per_s: f64,
    /// The generator was the limit there: the server may carry more.
    pub at_least: bool,
}

/// What became of the server at the heaviest load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Far {
    /// Offered load as a multiple of what the server carried at its peak.
    pub multiple: f64,
    /// Goodput over that of the peak.
    pub of_peak: f64,
    /// Share of sessions walked to their end.
    pub completed: Option<f64>,
    /// Share of sessions that were never let in.
    #[serde(default)]
    pub refused: Option<f64>,
    /// Of those that were let in, the share that was walked to its end.
    #[serde(default)]
    pub kept: Option<f64>,
    /// Whether the generator was the limit there.
    pub generator: bool,
}

impl Far {
    /// Shares of sessions, in words; those who were refused apart.
    pub fn sessions(&self) -> Option<String> {
        match (self.refused, self.kept) {
            (Some(refused), kept) if refused >= NOTABLE => Some(format!(
                "{} of sessions refused{}",
                percent(refused),
                kept.map_or(String::new(), |k| format!(
                    ", {} of the others completed",
                    percent(k)
                ))
            )),
            _ => self
                .completed
                .map(|share| format!("{} of sessions", percent(share))),
        }
    }
}

/// What the points of one CPU count say together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The objective used; none without points.
    pub objective: Option<Objective>,
    /// By offered load, what all runs at it say together.
    pub judged: Vec<Judged>,
    /// None if not even the lightest load holds.
    pub load_line: Option<LoadLine>,
    /// Largest goodput.
    pub peak: Option<Spot>,
    /// Of a closed program: the smallest load from which on more load brings no more throughput.
    #[serde(default)]
    pub levels_off: Option<Spot>,
    /// Largest throughput over response time.
    pub knee: Option<Spot>,
    /// The heaviest point.
    pub far: Option<Far>,
}

/// The objective: the user's, or from the lightest point.
pub fn objective(given: Option<Objective>, points: &[Point]) -> Option<Objective> {
    given.or_else(|| {
        points
            .iter()
            .filter(|p| p.load.replies > 0)
            .min_by(|a, b| a.rate.total_cmp(&b.rate))
            .map(|p| Objective::from_light(&p.load.response))
    })
}

/// Judges all loads.
pub fn judge_all(points: &[Point], given: Option<Objective>, clicks: f64) -> Vec<Judged> {
    let Some(objective) = objective(given, points) else {
        return Vec::new();
    };
    by_rate(points)
        .iter()
        .map(|runs| judge(runs, objective, clicks))
        .collect()
}

/// The curve of some points, in any order.
pub fn curve(points: &[Point], given: Option<Objective>, probe: &Probe) -> Curve {
    let mut sorted: Vec<&Point> = points.iter().collect();
    sorted.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let objective = objective(given, points);
    let judged = judge_all(points, given, probe.clicks);
    let b = bracket(judged.iter().copied());
    let (low, high) = interval(&judged);
    let load_line = b.holds.map(|rate| {
        let runs: Vec<&&Point> = sorted.iter().filter(|p| p.rate == rate).collect();
        let mean =
            |of: fn(&Point) -> f64| runs.iter().map(|p| of(p)).sum::<f64>() / runs.len() as f64;
        LoadLine {
            sessions_per_s: rate,
            replies_per_s: mean(|p| p.load.replies_per_s),
            p95_ms: mean(|p| p.load.response.p95_ms),
            fails_at: b.fails.map(|f| f.0),
            because: b.fails.map(|f| f.1),
            low: low.map(|l| l.min(rate)),
            high,
        }
    });
    let spot = |p: &&Point| Spot {
        sessions_per_s: p.rate,
        replies_per_s: p.load.replies_per_s,
        at_least: p.load.generator_limit().is_some(),
    };
    let answered = || sorted.iter().copied().filter(|p| p.load.replies > 0);
    let power = |p: &Point| p.load.replies_per_s / p.load.response.mean_ms.max(1e-3);
    // What was carried was carried, whoever was the limit.
    let peak = answered()
        .max_by(|a, b| a.load.replies_per_s.total_cmp(&b.load.replies_per_s))
        .as_ref()
        .map(spot);
    let knee = answered()
        .filter(|p| p.load.generator_limit().is_none())
        .max_by(|a, b| power(a).total_cmp(&power(b)))
        .as_ref()
        .map(spot);
    let far = sorted.last().zip(peak).map(|(p, peak)| Far {
        multiple: if probe.closed {
            p.rate / peak.sessions_per_s
        } else {
            p.rate * probe.clicks / peak.replies_per_s
        },
        of_peak: p.load.replies_per_s / peak.replies_per_s,
        completed: p.load.completed_share(),
        refused: p.load.refused_share(),
        kept: p.load.kept_share(),
        generator: p.load.generator_limit().is_some(),
    });
    let levels_off = answered()
        .find(|p| peak.is_some_and(|peak| p.load.replies_per_s >= LEVEL * peak.replies_per_s))
        .filter(|_| probe.closed)
        .as_ref()
        .map(spot);
    Curve {
        objective,
        judged,
        load_line,
        peak,
        levels_off,
        knee,
        far,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::measured::{CpuUse, Generator, Handshakes, Load, Quantiles, Sessions};

    /// A server of one CPU that carries `capacity` sessions/s of five clicks, and falls beyond.
    pub fn point(rate: f64, capacity: f64) -> Point {
        let carried = if rate <= capacity {
            rate
        } else {
            capacity * (capacity / rate).sqrt()
        };
        let utilization = (rate / capacity).min(0.99);
        let broken = ((rate - carried) * 100.0) as u64;
        let p95_ms = 10.0 / (1.0 - utilization);
        Point {
            cpus: 1,
            rate,
            search: false,
            load: Load {
                seconds: 100.0,
                replies: (500.0 * carried) as u64,
                replies_per_s: 5.0 * carried,
                failures: broken,
                failures_by_kind: [("timeout".to_owned(), broken)].into(),
                response: Quantiles {
                    count: 1,
                    mean_ms: p95_ms / 3.0,
                    p50_ms: p95_ms / 4.0,
                    p90_ms: p95_ms / 1.3,
                    p95_ms,
                    p99_ms: 1.5 * p95_ms,
                    max_ms: 2.0 * p95_ms,
                },
                sessions: Sessions {
                    started: (100.0 * rate) as u64,
                    completed: (100.0 * carried) as u64,
                    broken,
                    ..Sessions::default()
                },
                handshakes: Handshakes {
                    full: 30,
                    resumed: 70,
                    failed: 0,
                },
                generator: Generator {
                    cpu_share: 0.2,
                    cpu_seconds: 20.0,
                    lag_p99_ms: 1.1,
                },
                ..Load::default()
            },
            cpu: Some(CpuUse {
                server: utilization,
                on_its_cpus: utilization,
                ..CpuUse::default()
            }),
            guard: None,
        }
    }

    pub fn probe(capacity: f64) -> Probe {
        Probe {
            users: 16,
            sessions_per_s: capacity,
            replies_per_s: 5.0 * capacity,
            clicks: 5.0,
            generator_limit: None,
            closed: false,
        }
    }

    pub fn sweep(capacity: f64) -> Vec<Point> {
        crate::plan::rates(capacity, 11, 4.0)
            .into_iter()
            .map(|r| point(r, capacity))
            .collect()
    }

    #[test]
    fn the_load_line_of_a_queue_is_where_its_response_has_quadrupled() {
        // p95 is 10/(1-u) ms: 11.1 at a tenth of the capacity, four times that at u = 0.775.
        let mut points = sweep(40.0);
        while let Some(rate) = crate::search::next(&bracket(judge_all(&points, None, 5.0))) {
            points.push(point(rate, 40.0));
        }
        let c = curve(&points, None, &probe(40.0));
        let line = c.load_line.expect("there is one");
        assert!((line.sessions_per_s / 31.0 - 1.0).abs() < 0.05, "{line:?}");
        assert_eq!(line.because, Some(Judgement::Slow));
        assert!(points.len() <= 16, "{} points", points.len());
    }

    #[test]
    fn with_a_generous_objective_goodput_decides() {
        let slow = Objective::parse("p95=1h")
            .or(Objective::parse("p95=3600s"))
            .expect("valid");
        let c = curve(&sweep(40.0), Some(slow), &probe(40.0));
        assert_eq!(
            c.load_line.and_then(|l| l.because),
            Some(Judgement::Goodput)
        );
    }

    #[test]
    fn the_peak_lies_near_the_capacity_and_the_far_end_well_below_it() {
        let c = curve(&sweep(40.0), None, &probe(40.0));
        let (peak, far) = (c.peak.expect("a peak"), c.far.expect("a far end"));
        assert!(
            peak.sessions_per_s > 20.0 && peak.sessions_per_s < 60.0,
            "{peak:?}"
        );
        assert!(
            (far.multiple - 4.0).abs() < 0.5 && far.of_peak < 0.75,
            "{far:?}"
        );
        assert!(c.knee.expect("a knee").sessions_per_s < peak.sessions_per_s);
    }

    #[test]
    fn where_the_generator_was_the_limit_nothing_is_said_of_the_server() {
        let mut points = sweep(40.0);
        for p in points.iter_mut().filter(|p| p.rate > 20.0) {
            p.load.generator.cpu_share = 0.97;
        }
        let c = curve(&points, None, &probe(40.0));
        assert!(c.peak.expect("a peak").at_least);
        assert!(c.knee.expect("a knee").sessions_per_s <= 20.0);
        assert_eq!(
            c.load_line.and_then(|l| l.because),
            Some(Judgement::Generator)
        );
        assert!(c.far.expect("a far end").generator);
    }

    /// A closed program of one CPU: no queue below `fit`, and one that grows with the load beyond.
    fn closed(load: f64, fit: f64) -> Point {
        let mut p = point(load, 1e9);
        p.load.replies_per_s = 100.0 * load.min(fit);
        p.load.failures = 0;
        p.load.failures_by_kind.clear();
        p.load.response.p95_ms = 10.0 * (load / fit).max(1.0);
        p.load.response.mean_ms = p.load.response.p95_ms;
        p
    }

    #[test]
    fn a_closed_program_levels_off_where_more_load_brings_no_more_throughput() {
        let loads = [1u32, 2, 4, 8, 16, 32];
        let points: Vec<Point> = loads.map(|n| closed(f64::from(n), 4.0)).to_vec();
        let c = curve(&points, None, &Probe::closed(&loads));
        assert_eq!(c.levels_off.map(|s| s.sessions_per_s), Some(4.0));
        let line = c.load_line.expect("there is one");
        assert_eq!((line.sessions_per_s, line.fails_at), (16.0, Some(32.0)));
        assert_eq!(line.because, Some(Judgement::Slow));
        assert_eq!(curve(&sweep(40.0), None, &probe(40.0)).levels_off, None);
    }

    #[test]
    fn no_points_no_curve() {
        let c = curve(&[], None, &probe(40.0));
        assert!(
            c.objective.is_none() && c.load_line.is_none() && c.peak.is_none() && c.far.is_none()
        );
    }
}
