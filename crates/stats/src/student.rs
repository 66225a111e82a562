//! Quantiles of Student's t distribution.

use crate::random::{normal_cdf, normal_quantile};

/// From so many degrees of freedom the sums, of as many terms, give no more than the normal deviate that is as unlikely.
const MANY: usize = 500;

/// The t with P(T <= t) = p for `df` degrees of freedom: exact for 1 and 2, otherwise the root of the distribution
/// function found from the normal quantile by Newton's method.
pub fn t_quantile(p: f64, df: usize) -> f64 {
    match df {
        0 => f64::INFINITY,
        1 => (std::f64::consts::PI * (p - 0.5)).tan(),
        2 => {
            let a = 2.0 * p - 1.0;
            a * (2.0 / (1.0 - a * a)).sqrt()
        }
        _ => {
            let n = df as f64;
            let mut t = normal_quantile(p);
            for _ in 0..50 {
                let step = (t_cdf(t, df) - p) / t_density(t, n);
                t -= step.clamp(-1.0, 1.0);
                if step.abs() < 1e-12 {
                    break;
                }
            }
            t
        }
    }
}

/// P(T <= t) for `df` degrees of freedom: the finite trigonometric sums of Abramowitz and Stegun 26.7.3 and 26.7.4; where
/// these are long, by [`as_normal`].
pub fn t_cdf(t: f64, df: usize) -> f64 {
    if df > MANY {
        return normal_cdf(as_normal(t, df as f64));
    }
    let theta = (t / (df as f64).sqrt()).atan();
    let (sin, cos) = (theta.sin(), theta.cos());
    let a = if df % 2 == 1 {
        let mut term = cos;
        let mut sum = if df > 1 { cos } else { 0.0 };
        let mut k = 3;
        while k + 2 <= df {
            term *= cos * cos * (k - 1) as f64 / k as f64;
            sum += term;
            k += 2;
        }
        2.0 / std::f64::consts::PI * (theta + sin * sum)
    } else {
        let mut term = 1.0;
        let mut sum = 1.0;
        let mut k = 2;
        while k + 2 <= df {
            term *= cos * cos * (k - 1) as f64 / k as f64;
            sum += term;
            k += 2;
        }
        sin * sum
    };
    0.5 + 0.5 * a
}

/// The normal deviate that is as unlikely as this t (Hill, Algorithm 395, Communications of the ACM 13, 1970): an
/// asymptotic series in 1/n.
fn as_normal(t: f64, n: f64) -> f64 {
    let a = n - 0.5;
    let b = 48.0 * a * a;
    let y = a * (t * t / n).ln_1p();
    let series = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b) + y + 3.0;
    (series / b + 1.0) * y.sqrt().copysign(t)
}

fn t_density(t: f64, n: f64) -> f64 {
    // Gamma((n+1)/2) / Gamma(n/2) by its recurrence would do; the ratio's asymptotic series is exact enough for a slope.
    let ratio = (n / 2.0).sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (32.0 * n * n));
    ratio / (n * std::f64::consts::PI).sqrt() * (1.0 + t * t / n).powf(-(n + 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_degrees_of_freedom_are_as_exact_and_as_fast_as_few() {
        for t in [-40.0, -3.0, -0.5, 0.0, 1e-4, 1.0, 1.96, 4.0, 10.0] {
            let (by_sums, by_series) = (t_cdf(t, MANY), normal_cdf(as_normal(t, MANY as f64)));
            assert!(
                (by_sums - by_series).abs() < 1e-9,
                "{t}: {by_sums} {by_series}"
            );
        }
        for df in [1_000, 1_000_000, 1 << 60, usize::MAX] {
            let t = t_quantile(0.975, df);
            assert!((t - 1.959964).abs() < 3.0 / df as f64 + 1e-6, "{df}: {t}");
        }
    }

    /// Abramowitz and Stegun, table 26.10.
    #[test]
    fn it_gives_the_tabulated_values() {
        for (df, p, t) in [
            (1, 0.975, 12.706),
            (2, 0.975, 4.303),
            (4, 0.975, 2.776),
            (9, 0.975, 2.262),
            (9, 0.995, 3.250),
            (29, 0.975, 2.045),
            (30, 0.995, 2.750),
            (120, 0.95, 1.658),
        ] {
            assert!(
                (t_quantile(p, df) - t).abs() < 6e-4,
                "{df} {p}: {}",
                t_quantile(p, df)
            );
        }
    }
}
