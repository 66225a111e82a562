//! Goodput over CPUs.

use std::fmt;

/// Goodput (replies within the objective, per second) over CPUs: from the origin straight through known points, and level
/// beyond the last. At least one point; CPUs rise from point to point; all values are finite and not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    points: Vec<(f64, f64)>,
}

/// Why points are no curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveError(String);

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CurveError {}

impl Curve {
    /// Through `(CPUs, goodput)`, in any order.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Result<Curve, CurveError> {
        let mut points: Vec<(f64, f64)> = points.into_iter().collect();
        if points.is_empty() {
            return Err(CurveError("a curve needs at least one point".into()));
        }
        for (cpus, goodput) in &points {
            if !(cpus.is_finite() && *cpus > 0.0 && goodput.is_finite() && *goodput >= 0.0) {
                return Err(CurveError(format!(
                    "[{cpus}, {goodput}] is no point of a curve: CPUs are above 0, goodput is 0 or more"
                )));
            }
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(pair) = points.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(CurveError(format!("two points at {} CPUs", pair[0].0)));
        }
        Ok(Curve { points })
    }

    /// Its points, CPUs rising.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Goodput with so many CPUs.
    pub fn at(&self, cpus: f64) -> f64 {
        let mut before = (0.0, 0.0);
        for &(x, y) in &self.points {
            if cpus <= x {
                return before.1 + (y - before.1) * ((cpus - before.0) / (x - before.0)).max(0.0);
            }
            before = (x, y);
        }
        before.1
    }

    /// The least concave curve that is nowhere below it.
    pub fn hull(&self) -> Curve {
        let mut hull: Vec<(f64, f64)> = vec![(0.0, 0.0)];
        let mut most = 0.0f64;
        for &(x, y) in &self.points {
            // More CPUs never have to bring less: one can leave them idle.
            most = most.max(y);
            while hull.len() >= 2 {
                let (a, b) = (hull[hull.len() - 2], hull[hull.len() - 1]);
                let rises_more = (most - b.1) * (b.0 - a.0) > (b.1 - a.1) * (x - b.0);
                if !rises_more {
                    break;
                }
                hull.pop();
            }
            hull.push((x, most));
        }
        hull.remove(0);
        Curve { points: hull }
    }
}

/// Learns a curve from what an application reports: the goodput that it had with the CPUs that it had.
///
/// Terms: a *bin* holds the samples of one amount of CPUs, a quarter of a CPU wide, as a mean that forgets with a half-life.
/// Only samples count in which the CPUs were the limit: else goodput says how much was offered, not how much they carry.
#[derive(Debug, Clone, Default)]
pub struct Learner {
    bins: Vec<Bin>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    /// Seconds that count, and the integrals of CPUs and goodput over them.
    seconds: f64,
    cpus: f64,
    goodput: f64,
}

/// Width of a bin in CPUs: a request that wobbles by a grain stays within one or two.
const BIN: f64 = 0.25;
/// Seconds after which a sample counts half; load changes within minutes.
const HALF_LIFE: f64 = 120.0;
/// Seconds that must have been seen before a bin counts.
const ENOUGH: f64 = 2.0;
/// The most CPUs that are told apart.
const LARGEST: f64 = 1024.0;

impl Learner {
    /// Takes in `seconds` with `cpus` that were the limit, and a goodput of so many replies a second.
    pub fn saw(&mut self, seconds: f64, cpus: f64, goodput: f64) {
        let sane = [seconds, cpus, goodput]
            .iter()
            .all(|v| v.is_finite() && *v >= 0.0);
        if !sane || seconds == 0.0 || cpus == 0.0 {
            return;
        }
        let forget = 0.5f64.powf(seconds / HALF_LIFE);
        for bin in &mut self.bins {
            bin.seconds *= forget;
            bin.cpus *= forget;
            bin.goodput *= forget;
        }
        let i = (cpus.min(LARGEST) / BIN).round() as usize;
        if self.bins.len() <= i {
            self.bins.resize(i + 1, Bin::default());
        }
        let bin = &mut self.bins[i];
        bin.seconds += seconds;
        bin.cpus += cpus * seconds;
        bin.goodput += goodput * seconds;
    }

    /// The curve so far, if anything is known.
    pub fn curve(&self) -> Option<Curve> {
        let known = self.bins.iter().filter(|b| b.seconds >= ENOUGH);
        let points = known.map(|b| (b.cpus / b.seconds, b.goodput / b.seconds));
        Curve::new(points).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_straight_through_its_points_and_is_level_beyond() {
        let curve = Curve::new([(2.0, 30.0), (1.0, 20.0)]).expect("a curve");
        for (cpus, goodput) in [
            (0.0, 0.0),
            (0.5, 10.0),
            (1.0, 20.0),
            (1.5, 25.0),
            (8.0, 30.0),
        ] {
            assert_eq!(curve.at(cpus), goodput, "at {cpus}");
        }
    }

    #[test]
    fn the_hull_bridges_what_is_not_concave() {
        let curve = Curve::new([(1.0, 0.0), (2.0, 100.0), (3.0, 90.0)]).expect("a curve");
        assert_eq!(curve.hull().points(), [(2.0, 100.0), (3.0, 100.0)]);
    }

    #[test]
    fn what_is_no_curve_is_refused_with_the_point() {
        for (points, says) in [
            (vec![], "at least one"),
            (vec![(0.0, 1.0)], "[0, 1]"),
            (vec![(1.0, f64::NAN)], "[1, NaN]"),
            (vec![(1.0, 1.0), (1.0, 2.0)], "two points at 1"),
        ] {
            let e = Curve::new(points).expect_err(says).to_string();
            assert!(e.contains(says), "{e}");
        }
    }

    #[test]
    fn a_curve_is_learnt_and_forgotten() {
        let mut learner = Learner::default();
        assert_eq!(learner.curve(), None);
        for _ in 0..50 {
            learner.saw(0.1, 1.0, 100.0);
            learner.saw(0.1, 2.0, 150.0);
        }
        let curve = learner.curve().expect("enough was seen");
        assert!((curve.at(1.0) - 100.0).abs() < 1e-6);
        assert!((curve.at(2.0) - 150.0).abs() < 1e-6);
        for _ in 0..6000 {
            learner.saw(0.1, 1.0, 50.0);
        }
        let curve = learner.curve().expect("still");
        assert!((curve.at(1.0) - 50.0).abs() < 2.0, "{}", curve.at(1.0));
    }
}
