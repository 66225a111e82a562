//! The distributions that a model can name: each with its exact mean and squared coefficient of variation, which the
//! analytic solvers use, and a way to draw.

use super::Random;
use super::normal::{density, normal_cdf};
use std::sync::Arc;

/// A distribution of non-negative numbers: seconds, bytes, counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Dist {
    /// Always the same.
    Constant(f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Uniform between two bounds.
    Uniform(f64, f64),
    /// The sum of `k` exponentials, with this mean altogether.
    Erlang(u32, f64),
    /// With probability `p` exponential with the first mean, else with the second.
    Hyperexponential {
        /// Probability of the first branch.
        p: f64,
        /// Mean of the first branch.
        first: f64,
        /// Mean of the second branch.
        second: f64,
    },
    /// Gamma by shape and scale.
    Gamma(f64, f64),
    /// The exponential of a normal with these `mu` and `sigma`.
    LogNormal(f64, f64),
    /// Weibull by shape and scale.
    Weibull(f64, f64),
    /// Pareto by shape and least value.
    Pareto(f64, f64),
    /// Normal with this mean and deviation before negative values are drawn again.
    Normal(f64, f64),
    /// Triangular by least, most likely and greatest value.
    Triangular(f64, f64, f64),
    /// Geometric number of trials with this mean (1 or more).
    Geometric(f64),
    /// One of several, by weight; weights sum to 1.
    Mixture(Vec<(f64, Dist)>),
    /// The sum of independent draws.
    Sum(Vec<Dist>),
    /// A multiple of another.
    Scaled(f64, Box<Dist>),
    /// One of the observed values, each as likely.
    Empirical(Arc<[f64]>),
    /// By its quantile function: (probability, value), both rising, the first probability 0 and the last 1; linear between.
    Quantiles(Arc<[(f64, f64)]>),
}

impl Dist {
    /// The mean; infinite for a Pareto of shape 1 or less.
    pub fn mean(&self) -> f64 {
        match self {
            Dist::Constant(x) | Dist::Exponential(x) | Dist::Erlang(_, x) | Dist::Geometric(x) => {
                *x
            }
            Dist::Uniform(a, b) => 0.5 * (a + b),
            Dist::Hyperexponential { p, first, second } => p * first + (1.0 - p) * second,
            Dist::Gamma(shape, scale) => shape * scale,
            Dist::LogNormal(mu, sigma) => (mu + 0.5 * sigma * sigma).exp(),
            Dist::Weibull(shape, scale) => scale * gamma_function(1.0 + 1.0 / shape),
            Dist::Pareto(shape, least) if *shape > 1.0 => shape * least / (shape - 1.0),
            Dist::Pareto(..) => f64::INFINITY,
            Dist::Normal(mean, sd) => mean + sd * truncation(*mean, *sd).0,
            Dist::Triangular(a, m, b) => (a + m + b) / 3.0,
            Dist::Mixture(parts) => parts.iter().map(|(w, d)| w * d.mean()).sum(),
            Dist::Sum(parts) => parts.iter().map(Dist::mean).sum(),
            Dist::Scaled(factor, inner) => factor * inner.mean(),
            Dist::Empirical(values) => values.iter().sum::<f64>() / values.len() as f64,
            Dist::Quantiles(table) => pieces(table).map(|(p, a, b)| p * 0.5 * (a + b)).sum(),
        }
    }

    /// The variance; infinite where the law has none.
    pub fn variance(&self) -> f64 {
        match self {
            Dist::Constant(_) => 0.0,
            Dist::Exponential(x) => x * x,
            Dist::Uniform(a, b) => (b - a).powi(2) / 12.0,
            Dist::Erlang(k, mean) => mean * mean / f64::from(*k),
            Dist::Hyperexponential { p, first, second } => {
                2.0 * (p * first * first + (1.0 - p) * second * second) - self.mean().powi(2)
            }
            Dist::Gamma(shape, scale) => shape * scale * scale,
            Dist::LogNormal(_, sigma) => ((sigma * sigma).exp() - 1.0) * self.mean().powi(2),
            Dist::Weibull(shape, scale) => {
                scale * scale * gamma_function(1.0 + 2.0 / shape) - self.mean().powi(2)
            }
            Dist::Pareto(shape, least) if *shape > 2.0 => {
                least * least * shape / ((shape - 1.0).powi(2) * (shape - 2.0))
            }
            Dist::Pareto(..) => f64::INFINITY,
            Dist::Normal(mean, sd) => {
                let (shift, squeeze) = truncation(*mean, *sd);
                sd * sd * (squeeze - shift * shift)
            }
            Dist::Triangular(a, m, b) => (a * a + m * m + b * b - a * m - a * b - m * b) / 18.0,
            Dist::Geometric(mean) => mean * (mean - 1.0),
            Dist::Mixture(parts) => {
                let second: f64 = parts
                    .iter()
                    .map(|(w, d)| w * (d.variance() + d.mean().powi(2)))
                    .sum();
                second - self.mean().powi(2)
            }
            Dist::Sum(parts) => parts.iter().map(Dist::variance).sum(),
            Dist::Scaled(factor, inner) => factor * factor * inner.variance(),
            Dist::Empirical(values) => {
                let mean = self.mean();
                values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64
            }
            Dist::Quantiles(table) => {
                let second: f64 = pieces(table)
                    .map(|(p, a, b)| p * (a * a + a * b + b * b) / 3.0)
                    .sum();
                (second - self.mean().powi(2)).max(0.0)
            }
        }
    }

    /// The squared coefficient of variation: variance over squared mean; 0 where the mean is 0.
    pub fn scv(&self) -> f64 {
        let mean = self.mean();
        if mean == 0.0 {
            0.0
        } else {
            self.variance() / (mean * mean)
        }
    }

    /// Whether this is exponential, which product-form results for first-come-first-served ask for.
    pub fn is_exponential(&self) -> bool {
        match self {
            Dist::Exponential(_) => true,
            Dist::Scaled(_, inner) => inner.is_exponential(),
            _ => false,
        }
    }

    /// Draws one value.
    #[inline]
    pub fn sample(&self, stream: &mut impl Random) -> f64 {
        match self {
            Dist::Constant(x) => *x,
            Dist::Exponential(mean) => mean * stream.exponential(),
            other => other.sample_rarer(stream),
        }
    }

    fn sample_rarer(&self, stream: &mut impl Random) -> f64 {
        match self {
            Dist::Constant(x) => *x,
            Dist::Exponential(mean) => mean * stream.exponential(),
            Dist::Uniform(a, b) => a + (b - a) * stream.uniform(),
            Dist::Erlang(k, mean) => {
                mean / f64::from(*k) * (0..*k).map(|_| stream.exponential()).sum::<f64>()
            }
            Dist::Hyperexponential { p, first, second } => {
                let mean = if stream.uniform() < *p { first } else { second };
                mean * stream.exponential()
            }
            Dist::Gamma(shape, scale) => scale * stream.gamma(*shape),
            Dist::LogNormal(mu, sigma) => (mu + sigma * stream.normal()).exp(),
            Dist::Weibull(shape, scale) => scale * stream.exponential().powf(1.0 / shape),
            Dist::Pareto(shape, least) => least * stream.open_uniform().powf(-1.0 / shape),
            Dist::Normal(mean, sd) => loop {
                let x = mean + sd * stream.normal();
                if x >= 0.0 {
                    break x;
                }
            },
            Dist::Triangular(a, m, b) => {
                let u = stream.uniform();
                let turn = (m - a) / (b - a);
                if u < turn {
                    a + ((b - a) * (m - a) * u).sqrt()
                } else {
                    b - ((b - a) * (b - m) * (1.0 - u)).sqrt()
                }
            }
            Dist::Geometric(mean) => {
                if *mean <= 1.0 {
                    1.0
                } else {
                    (stream.open_uniform().ln() / (1.0 - 1.0 / mean).ln())
                        .ceil()
                        .max(1.0)
                }
            }
            Dist::Mixture(parts) => {
                let mut u = stream.uniform();
                for (weight, dist) in parts {
                    if u < *weight {
                        return dist.sample(stream);
                    }
                    u -= weight;
                }
                parts.last().map_or(0.0, |(_, dist)| dist.sample(stream))
            }
            Dist::Sum(parts) => parts.iter().map(|d| d.sample(stream)).sum(),
            Dist::Scaled(factor, inner) => factor * inner.sample(stream),
            Dist::Empirical(values) => {
                let index = (stream.uniform() * values.len() as f64) as usize;
                values[index.min(values.len() - 1)]
            }
            Dist::Quantiles(table) => {
                let u = stream.uniform();
                let after = table.partition_point(|&(p, _)| p <= u);
                let after = after.clamp(1, table.len() - 1);
                let ((p, a), (q, b)) = (table[after - 1], table[after]);
                if q > p {
                    a + (b - a) * (u - p) / (q - p)
                } else {
                    b
                }
            }
        }
    }
}

/// Probability, least and greatest value of each piece of a quantile function.
fn pieces(table: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64, f64)> {
    table.windows(2).map(|w| (w[1].0 - w[0].0, w[0].1, w[1].1))
}

/// For a normal cut off at zero: how far the mean moves, in deviations, and E[Z^2] of the standardized rest.
fn truncation(mean: f64, sd: f64) -> (f64, f64) {
    let alpha = -mean / sd;
    let kept = 1.0 - normal_cdf(alpha);
    let lambda = density(alpha) / kept;
    (lambda, 1.0 + alpha * lambda)
}

/// The gamma function for positive arguments (Lanczos, g = 7, nine terms; relative error below 1e-14).
pub(super) fn gamma_function(x: f64) -> f64 {
    const C: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let z = x - 1.0;
    let mut sum = C[0];
    for (i, c) in C.iter().enumerate().skip(1) {
        sum += c / (z + i as f64);
    }
    let t = z + 7.5;
    (2.0 * std::f64::consts::PI).sqrt() * t.powf(z + 0.5) * (-t).exp() * sum
}

#[cfg(test)]
mod tests {
    use super::super::Stream;
    use super::*;

    fn all() -> Vec<Dist> {
        vec![
            Dist::Constant(2.0),
            Dist::Exponential(2.0),
            Dist::Uniform(1.0, 4.0),
            Dist::Erlang(4, 2.0),
            Dist::Hyperexponential {
                p: 0.3,
                first: 4.0,
                second: 0.5,
            },
            Dist::Gamma(0.5, 2.0),
            Dist::Gamma(3.0, 0.5),
            Dist::LogNormal(0.1, 0.5),
            Dist::Weibull(1.5, 2.0),
            Dist::Pareto(4.5, 1.0),
            Dist::Normal(1.0, 1.0),
            Dist::Triangular(1.0, 2.0, 5.0),
            Dist::Geometric(4.0),
            Dist::Mixture(vec![
                (0.25, Dist::Constant(8.0)),
                (0.75, Dist::Exponential(1.0)),
            ]),
            Dist::Sum(vec![Dist::Constant(1.0), Dist::Exponential(1.0)]),
            Dist::Scaled(3.0, Box::new(Dist::Exponential(1.0))),
            Dist::Empirical(vec![1.0, 2.0, 6.0].into()),
            Dist::Quantiles(vec![(0.0, 1.0), (0.5, 2.0), (0.9, 2.0), (1.0, 12.0)].into()),
        ]
    }

    /// Mean within 4 standard errors over 400,000 draws, variance within 5% (10% for the Pareto's heavy tail).
    #[test]
    fn draws_have_the_stated_mean_and_variance() {
        for dist in all() {
            let mut stream = Stream::new(11, "moments");
            let n = 400_000;
            let values: Vec<f64> = (0..n).map(|_| dist.sample(&mut stream)).collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            let error = (dist.variance() / f64::from(n)).sqrt();
            assert!(
                (mean - dist.mean()).abs() <= 4.0 * error + 1e-9,
                "{dist:?}: mean {mean} of {}",
                dist.mean()
            );
            let slack = if matches!(dist, Dist::Pareto(..)) {
                0.3
            } else {
                0.05
            };
            assert!(
                (variance - dist.variance()).abs() <= slack * dist.variance() + 1e-9,
                "{dist:?}: variance {variance} of {}",
                dist.variance()
            );
        }
    }

    #[test]
    fn the_gamma_function_gives_factorials_and_the_root_of_pi() {
        assert!((gamma_function(5.0) - 24.0).abs() < 1e-12);
        assert!((gamma_function(0.5) - std::f64::consts::PI.sqrt()).abs() < 1e-13);
    }
}
