//! The law that describes observations best: one of a few families by two moments, or a table of quantiles.
//!
//! Terms: a *shape* is a law of mean 1; observations are a mean and a shape, so that the mean can be changed alone.
//!
//! What always holds: the shape's mean is 1; the law's mean is that of the observations.

use crate::random::{Dist, by_mean_and_scv};
use crate::student::t_quantile;

/// Probabilities that every table of quantiles has: those that people ask for, and the tail.
const ALWAYS: [f64; 7] = [0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0];

/// Points of a table. With fewer, what lies between two humps is drawn as if it occurred.
const POINTS: usize = 16;

/// Fewer observations than this give no shape of their own: two moments have to do.
pub const LEAST: usize = 30;

/// A family is taken if its distribution function is nowhere further from the observed one than this; else the table is.
const NEAR_ENOUGH: f64 = 0.03;

/// What observations come to.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Fitted {
    /// Mean.
    pub mean: f64,
    /// Half the width of the mean's 95% interval; infinite for fewer than two.
    pub ci95: f64,
    /// Squared coefficient of variation.
    pub scv: f64,
    /// How many.
    pub count: usize,
    /// The law, with mean 1.
    pub shape: Shape,
    /// Largest distance between the law's distribution function and the observed one (Kolmogorov and Smirnov's).
    pub distance: f64,
}

/// A law of mean 1.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub enum Shape {
    /// All observations are the same.
    Constant,
    /// A family by its squared coefficient of variation.
    Family(Family, f64),
    /// Quantiles, over the mean: (probability, value).
    Table(Vec<(f64, f64)>),
}

/// Families of laws, each determined by mean and squared coefficient of variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Family {
    /// Exponential.
    Exponential,
    /// Gamma.
    Gamma,
    /// Lognormal.
    LogNormal,
    /// Mixtures of Erlang, or hyperexponential, by two moments.
    TwoMoments,
}

impl Fitted {
    /// Half of what the law describes is less.
    pub fn median(&self) -> f64 {
        let all = drawn(&self.shape);
        self.mean * all[all.len() / 2]
    }
}

impl Shape {
    /// As a distribution.
    pub fn dist(&self) -> Dist {
        match self {
            Shape::Constant => Dist::Constant(1.0),
            Shape::Family(family, scv) => match family {
                Family::Exponential => Dist::Exponential(1.0),
                Family::Gamma => Dist::Gamma(1.0 / scv, *scv),
                Family::LogNormal => {
                    let sigma2 = (1.0 + scv).ln();
                    Dist::LogNormal(-0.5 * sigma2, sigma2.sqrt())
                }
                Family::TwoMoments => by_mean_and_scv(1.0, *scv),
            },
            Shape::Table(table) => Dist::Quantiles(table.clone().into()),
        }
    }
}

/// Fits observations, which must be finite and 0 or more; the order does not matter. `None` of nothing.
pub fn fit(observations: &[f64]) -> Option<Fitted> {
    let n = observations.len();
    if n == 0 {
        return None;
    }
    let mut sorted = observations.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let squares: f64 = sorted.iter().map(|x| (x - mean).powi(2)).sum();
    let ci95 = if n < 2 {
        f64::INFINITY
    } else {
        t_quantile(0.975, (n - 1).min(500)) * (squares / (n - 1) as f64 / n as f64).sqrt()
    };
    let scv = if mean > 0.0 {
        squares / n as f64 / (mean * mean)
    } else {
        0.0
    };
    let (shape, distance) = shape_of(&sorted, mean, scv);
    Some(Fitted {
        mean,
        ci95,
        scv,
        count: n,
        shape,
        distance,
    })
}

fn shape_of(sorted: &[f64], mean: f64, scv: f64) -> (Shape, f64) {
    if mean <= 0.0 || scv < 1e-6 {
        return (Shape::Constant, 0.0);
    }
    let relative: Vec<f64> = sorted.iter().map(|x| x / mean).collect();
    let mut families = vec![Family::Gamma, Family::LogNormal];
    if (scv - 1.0).abs() < 0.2 {
        families.insert(0, Family::Exponential);
    }
    if sorted.len() < LEAST {
        let shape = Shape::Family(Family::TwoMoments, scv);
        let far = distance(&relative, &drawn(&shape));
        return (shape, far);
    }
    let best = families
        .into_iter()
        .map(|f| Shape::Family(f, scv))
        .map(|s| (distance(&relative, &drawn(&s)), s))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((far, shape)) if far <= NEAR_ENOUGH => (shape, far),
        _ => {
            let shape = Shape::Table(table(&relative));
            let far = distance(&relative, &drawn(&shape));
            (shape, far)
        }
    }
}

/// Quantiles where lines between them come nearest to all, scaled so that the lines' mean is 1.
fn table(sorted: &[f64]) -> Vec<(f64, f64)> {
    let last = sorted.len() - 1;
    let at = |p: f64| {
        let place = p * last as f64;
        let (low, part) = (place.floor() as usize, place.fract());
        sorted[low] + part * (sorted[(low + 1).min(last)] - sorted[low])
    };
    let mut table: Vec<(f64, f64)> = ALWAYS.iter().map(|&p| (p, at(p))).collect();
    // A line to the longest of all would give the tail far more than it has: it ends where the tail's mean is met.
    let end = table.len() - 1;
    let from = table[end - 1].1;
    let rest: Vec<f64> = sorted.iter().copied().filter(|v| *v > from).collect();
    if !rest.is_empty() {
        let tail = rest.iter().sum::<f64>() / rest.len() as f64;
        table[end].1 = (2.0 * tail - from).max(from);
    }
    // Where the lines are furthest from the quantiles, another point.
    let candidates: Vec<f64> = (1..200).map(|i| f64::from(i) / 200.0).collect();
    while table.len() < POINTS {
        let error = |&p: &f64| {
            let i = table.partition_point(|t| t.0 < p);
            let ((p0, x0), (p1, x1)) = (table[i - 1], table[i]);
            let line = x0 + (x1 - x0) * (p - p0) / (p1 - p0);
            // What an error costs the mean is its area.
            (at(p) - line).abs() * (p - p0).min(p1 - p)
        };
        let worst = candidates
            .iter()
            .filter(|p| !table.iter().any(|t| (t.0 - **p).abs() < 1e-9))
            .map(|p| (error(p), *p))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, p)) = worst.filter(|w| w.0 > 1e-4) else {
            break;
        };
        let i = table.partition_point(|t| t.0 < p);
        table.insert(i, (p, at(p)));
    }
    let mean = Dist::Quantiles(table.clone().into()).mean();
    if mean > 0.0 {
        table.iter_mut().for_each(|(_, v)| *v /= mean);
    }
    table
}

/// Many draws of a law, sorted: families have no common inverse.
fn drawn(shape: &Shape) -> Vec<f64> {
    let dist = shape.dist();
    let mut stream = crate::random::Stream::new(1, "law");
    let mut values: Vec<f64> = (0..20_000).map(|_| dist.sample(&mut stream)).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Largest distance between two empirical distribution functions.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut most) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        while i < a.len() && a[i] <= x {
            i += 1;
        }
        while j < b.len() && b[j] <= x {
            j += 1;
        }
        most = most.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn draw(dist: &Dist, n: usize) -> Vec<f64> {
        let mut stream = Stream::new(5, "law tests");
        (0..n).map(|_| dist.sample(&mut stream)).collect()
    }

    #[test]
    fn a_family_is_recognized_from_its_draws() {
        let of = |dist: Dist| fit(&draw(&dist, 5000)).expect("some").shape;
        assert!(matches!(
            of(Dist::Exponential(3.0)),
            Shape::Family(Family::Exponential | Family::Gamma, _)
        ));
        assert!(matches!(
            of(Dist::Gamma(4.0, 0.1)),
            Shape::Family(Family::Gamma, _)
        ));
        assert!(matches!(
            of(Dist::LogNormal(0.0, 0.8)),
            Shape::Family(Family::LogNormal, _)
        ));
        assert_eq!(of(Dist::Constant(2.0)), Shape::Constant);
    }

    #[test]
    fn what_is_of_no_family_is_a_table_that_keeps_mean_and_percentiles() {
        // Two humps: cached and not.
        let two = Dist::Mixture(vec![
            (0.8, Dist::Normal(1.0, 0.1)),
            (0.2, Dist::Normal(9.0, 0.5)),
        ]);
        let values = draw(&two, 4000);
        let f = fit(&values).expect("some");
        assert!(matches!(f.shape, Shape::Table(_)), "{:?}", f.shape);
        let dist = f.shape.dist();
        assert!((dist.mean() - 1.0).abs() < 1e-12);
        let mut again: Vec<f64> = draw(&dist, 40_000).iter().map(|x| x * f.mean).collect();
        again.sort_by(f64::total_cmp);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for p in [0.5, 0.9, 0.99] {
            let (a, b) = (
                again[(p * 40_000.0) as usize],
                sorted[(p * 4000.0) as usize],
            );
            assert!((a / b - 1.0).abs() < 0.05, "{p}: {a} of {b}");
        }
        assert!(f.distance < 0.06, "{}", f.distance);
    }

    #[test]
    fn the_interval_of_a_mean_covers_it_nineteen_times_of_twenty() {
        let mut stream = Stream::new(7, "coverage");
        let dist = Dist::Gamma(2.0, 0.5);
        let covered = (0..400)
            .filter(|_| {
                let values: Vec<f64> = (0..50).map(|_| dist.sample(&mut stream)).collect();
                let f = fit(&values).expect("some");
                (f.mean - 1.0).abs() <= f.ci95
            })
            .count();
        assert!((364..=396).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn few_observations_have_a_wide_interval_and_two_moments() {
        let f = fit(&[1.0, 2.0, 6.0]).expect("some");
        assert!(f.ci95 > 3.0 && matches!(f.shape, Shape::Family(Family::TwoMoments, _)));
        assert!(fit(&[2.0]).expect("one").ci95.is_infinite() && fit(&[]).is_none());
    }
}
