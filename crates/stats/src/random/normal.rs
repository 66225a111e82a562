//! The normal distribution function and its inverse.

/// P(Z <= x), Z standard normal: by the complementary error function in the form of Cody (1969) as a continued
/// fraction for the tails and a series near zero; absolute error below 1e-14.
pub fn normal_cdf(x: f64) -> f64 {
    if x.abs() < 3.0 {
        // Series of Marsaglia (2004): Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/(3*5) + ...).
        let mut term = x;
        let mut sum = x;
        let mut i = 1.0;
        while term.abs() > 1e-17 * sum.abs() && i < 300.0 {
            i += 2.0;
            term *= x * x / i;
            sum += term;
        }
        0.5 + sum * density(x)
    } else {
        // Continued fraction of the Mills ratio.
        let z = x.abs();
        let mut fraction = z;
        for k in (1..=60).rev() {
            fraction = z + f64::from(k) / fraction;
        }
        let tail = density(z) / fraction;
        if x > 0.0 { 1.0 - tail } else { tail }
    }
}

/// The standard normal density.
pub(super) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The x with P(Z <= x) = p, by Newton's method on [`normal_cdf`] from a logistic first guess; p strictly in (0, 1).
pub fn normal_quantile(p: f64) -> f64 {
    let p = p.clamp(1e-300, 1.0 - 1e-16);
    let mut x = (p / (1.0 - p)).ln() / 1.702;
    for _ in 0..60 {
        let step = (normal_cdf(x) - p) / density(x).max(1e-300);
        // Halley's correction keeps the tails from overshooting.
        let step = step / (1.0 + 0.5 * x * step).max(0.5);
        x -= step.clamp(-1.0, 1.0);
        if step.abs() < 1e-13 * (1.0 + x.abs()) {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz and Stegun, table 26.1.
    #[test]
    fn it_gives_the_tabulated_values() {
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841344746069),
            (1.96, 0.975002104852),
            (3.0, 0.998650101968),
        ] {
            assert!((normal_cdf(x) - p).abs() < 1e-11, "{x}");
            assert!((normal_cdf(-x) - (1.0 - p)).abs() < 1e-11, "-{x}");
        }
        assert!((normal_quantile(0.975) - 1.959963984540).abs() < 1e-10);
        assert!((normal_quantile(0.0005) + 3.290526731492).abs() < 1e-9);
    }
}
