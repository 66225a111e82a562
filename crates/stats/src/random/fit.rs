//! A distribution from two moments, for those who know only the mean and how variable it is.

use super::Dist;

/// The usual choice for a mean and a squared coefficient of variation: constant for 0; a mixture of two Erlang laws of
/// neighbouring order below 1 (Tijms, 2003, appendix B); exponential for 1; hyperexponential with balanced means above.
pub fn by_mean_and_scv(mean: f64, scv: f64) -> Dist {
    if scv <= 0.0 || mean == 0.0 {
        return Dist::Constant(mean);
    }
    if (scv - 1.0).abs() < 1e-12 {
        return Dist::Exponential(mean);
    }
    if scv > 1.0 {
        let p = 0.5 * (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt());
        return Dist::Hyperexponential {
            p,
            first: 0.5 * mean / p,
            second: 0.5 * mean / (1.0 - p),
        };
    }
    let k = (1.0 / scv).ceil();
    let p = (k * scv - (k * (1.0 + scv) - k * k * scv).sqrt()) / (1.0 + scv);
    let stage = mean / (k - p);
    if p.abs() < 1e-12 {
        return Dist::Erlang(k as u32, mean);
    }
    Dist::Mixture(vec![
        (p, Dist::Erlang(k as u32 - 1, stage * (k - 1.0))),
        (1.0 - p, Dist::Erlang(k as u32, stage * k)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_moments_are_met_exactly() {
        for scv in [0.0, 0.03, 0.25, 0.3, 0.5, 0.9, 1.0, 1.5, 4.0, 20.0] {
            let dist = by_mean_and_scv(3.0, scv);
            assert!((dist.mean() - 3.0).abs() < 1e-12, "{scv}: {dist:?}");
            assert!(
                (dist.scv() - scv).abs() < 1e-10,
                "{scv}: {} of {dist:?}",
                dist.scv()
            );
        }
    }
}
