//! When the warm-up was over, and how sure the figures of the rest are.
//!
//! MSER-5 (White, Cobb, Spratt, "A Comparison of Five Steady-State Truncation Heuristics", WSC 2000):
//! observations are averaged by fives, and the warm-up ends where cutting makes the standard error of
//! the mean of what is left smallest; in the second half it is not believed. Confidence intervals are
//! those of batch means (Law, "Simulation Modeling and Analysis", 9.5.3).
//!
//! The simulator has these for its own series; the generator has them here, for it depends on no
//! other part of Loadline, and they are twenty lines.

const BATCH: usize = 5;
/// Fewer batches than this say nothing about a warm-up.
const LEAST_BATCHES: usize = 6;

/// The number of observations to leave out, and whether the series has settled by its middle.
pub(crate) fn mser5(observations: &[f64]) -> (usize, bool) {
    let batches: Vec<f64> = observations
        .chunks_exact(BATCH)
        .map(|b| b.iter().sum::<f64>() / BATCH as f64)
        .collect();
    let n = batches.len();
    if n < LEAST_BATCHES {
        return (0, false);
    }
    let statistic = |cut: usize| {
        let rest = &batches[cut..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
    };
    // The last few cuts leave too little to have a variance.
    let best = (0..n - 2)
        .map(|cut| (cut, statistic(cut)))
        .fold(
            (0, f64::INFINITY),
            |best, now| if now.1 < best.1 { now } else { best },
        )
        .0;
    (best * BATCH, best <= n / 2)
}

/// A mean and half the width of its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The true mean is within this of it with 95% confidence.
    pub ci95: f64,
}

const CI_BATCHES: usize = 10;

/// By ten batch means; none if there are too few observations.
pub(crate) fn estimate(observations: &[f64]) -> Option<Estimate> {
    /// Student's t, 97.5%, 9 degrees of freedom.
    const T: f64 = 2.262;
    let size = observations.len() / CI_BATCHES;
    if size == 0 {
        return None;
    }
    // What does not fill a batch is left out at the begin, where the warm-up may still be felt.
    let rest = &observations[observations.len() - size * CI_BATCHES..];
    let means: Vec<f64> = rest
        .chunks_exact(size)
        .map(|b| b.iter().sum::<f64>() / size as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / CI_BATCHES as f64;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (CI_BATCHES - 1) as f64;
    Some(Estimate {
        mean,
        ci95: T * (variance / CI_BATCHES as f64).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn noise(n: usize) -> Vec<f64> {
        let mut rng = Rng::new(5, 5, 5);
        (0..n).map(|_| 10.0 + rng.unit()).collect()
    }

    #[test]
    fn a_slow_start_is_cut_off_where_it_ends() {
        let mut series = noise(200);
        for (i, x) in series.iter_mut().take(40).enumerate() {
            *x += 40.0 - i as f64;
        }
        let (cut, settled) = mser5(&series);
        assert!((30..=60).contains(&cut) && settled, "{cut}");
    }

    #[test]
    fn a_series_without_warm_up_keeps_most_of_itself() {
        let (cut, settled) = mser5(&noise(200));
        assert!(cut <= 60 && settled, "{cut}");
    }

    #[test]
    fn a_series_that_never_settles_is_not_believed() {
        let series: Vec<f64> = (0..200).map(|i| (f64::from(i) / 10.0).powi(3)).collect();
        assert!(!mser5(&series).1);
        assert_eq!(mser5(&noise(10)), (0, false));
    }

    #[test]
    fn the_interval_covers_the_mean_as_often_as_it_says() {
        let mut rng = Rng::new(9, 9, 9);
        let covered = (0..400)
            .filter(|_| {
                let series: Vec<f64> = (0..100).map(|_| rng.unit()).collect();
                let e = estimate(&series).expect("enough");
                (e.mean - 0.5).abs() <= e.ci95
            })
            .count();
        // 380 expected, standard deviation 4.4.
        assert!((362..=396).contains(&covered), "{covered}");
        assert_eq!(estimate(&[1.0; 9]), None);
    }
}
