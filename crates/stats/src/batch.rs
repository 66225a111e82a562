//! Confidence intervals by batch means and by independent replications.

use crate::student::t_quantile;
use serde::Serialize;

/// A value with half the width of its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Half the width of the 95% confidence interval; infinite if there is too little to tell, 0 of what is exact.
    pub ci95: f64,
    /// Degrees of freedom behind it, for intervals of another level.
    #[serde(skip)]
    pub freedom: usize,
}

impl Estimate {
    /// A value that is known, not estimated.
    pub fn exact(value: f64) -> Estimate {
        Estimate {
            value,
            ci95: 0.0,
            freedom: usize::MAX,
        }
    }

    /// Half the width of the interval at another level, such as 0.99.
    pub fn half_width(&self, level: f64) -> f64 {
        if self.freedom == usize::MAX || self.freedom == 0 || self.ci95 == 0.0 {
            return self.ci95;
        }
        self.ci95 * t_quantile(0.5 + level / 2.0, self.freedom) / t_quantile(0.975, self.freedom)
    }

    /// Whether `truth` lies within the interval at `level`.
    pub fn covers(&self, truth: f64, level: f64) -> bool {
        (self.value - truth).abs() <= self.half_width(level)
    }

    /// Half width of the 95% interval over the value.
    pub fn relative(&self) -> f64 {
        if self.value == 0.0 && self.ci95 == 0.0 {
            0.0
        } else {
            (self.ci95 / self.value).abs()
        }
    }

    /// The same in another unit.
    pub fn scaled(self, factor: f64) -> Estimate {
        Estimate {
            value: self.value * factor,
            ci95: self.ci95 * factor.abs(),
            ..self
        }
    }
}

fn interval(value: f64, values: &[f64]) -> Estimate {
    let n = values.len();
    if n < 2 {
        return Estimate {
            value,
            ci95: f64::INFINITY,
            freedom: 0,
        };
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    Estimate {
        value,
        ci95: t_quantile(0.975, n - 1) * (variance / n as f64).sqrt(),
        freedom: n - 1,
    }
}

/// Consecutive `parts` grouped into about thirty batches, `each` computing the estimator of a slice of them. While
/// neighbouring batches are correlated (lag-1 above what chance allows), batches are made longer, down to eight.
pub fn by_batches<T>(parts: &[T], each: impl Fn(&[T]) -> f64) -> Estimate {
    let whole = each(parts);
    let mut wanted = 32;
    loop {
        // Nothing that was observed is dropped, and no batch holds more than one part more than another: a mean over many
        // parts beside single ones would hide how much these vary.
        let count = wanted.min(parts.len());
        let values: Vec<f64> = (0..count)
            .map(|i| each(&parts[i * parts.len() / count..(i + 1) * parts.len() / count]))
            .filter(|v| v.is_finite())
            .collect();
        if wanted <= 8 || lag_one(&values) < 1.3 / (values.len().max(1) as f64).sqrt() {
            return interval(whole, &values);
        }
        wanted /= 2;
    }
}

/// The estimate of independent replications, each of which gave one value.
pub fn by_replications(values: &[f64]) -> Estimate {
    interval(
        values.iter().sum::<f64>() / values.len().max(1) as f64,
        values,
    )
}

fn lag_one(values: &[f64]) -> f64 {
    let n = values.len();
    if n < 3 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let total: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    if total == 0.0 {
        return 0.0;
    }
    values
        .windows(2)
        .map(|w| (w[0] - mean) * (w[1] - mean))
        .sum::<f64>()
        / total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    fn mean(xs: &[f64]) -> f64 {
        xs.iter().sum::<f64>() / xs.len() as f64
    }

    #[test]
    fn the_interval_covers_the_mean_of_independent_values_as_often_as_it_says() {
        let mut stream = Stream::new(1, "cover");
        let covered = (0..1000)
            .filter(|_| {
                let xs: Vec<f64> = (0..256).map(|_| stream.exponential()).collect();
                by_batches(&xs, mean).covers(1.0, 0.95)
            })
            .count();
        assert!((930..=970).contains(&covered), "{covered}");
    }

    #[test]
    fn correlated_parts_get_longer_batches_and_a_wider_interval() {
        let mut stream = Stream::new(2, "ar");
        let mut x = 0.0;
        let xs: Vec<f64> = (0..256)
            .map(|_| {
                x = 0.98 * x + stream.normal();
                x
            })
            .collect();
        let estimate = by_batches(&xs, mean);
        assert!(estimate.freedom < 16, "{estimate:?}");
    }

    #[test]
    fn too_little_gives_no_interval_rather_than_a_wrong_one() {
        assert_eq!(by_batches(&[3.0], mean).ci95, f64::INFINITY);
    }
}
