//! Finding the warm-up: MSER-5 (White, 1997; White, Cobb and Spratt, "A Comparison of Five Steady-State Truncation
//! Heuristics for Simulation", 2000).
//!
//! Observations are averaged in groups of five; the truncation point is where the standard error of the mean of what
//! remains is least. A point in the second half of the series is not believed: the series is too short to tell.
//!
//! [`truncation`] finds the point of a finished series; [`Mser`] keeps a running one in constant memory: neighbouring
//! groups are merged whenever there are too many, so the group is 5 x 2^k observations in a long run, and the point is
//! found to within one group.

/// Observations to a group.
pub const GROUP: usize = 5;
/// The last groups are too few to judge by, since their scatter can be small by chance: never judged are so many in a
/// running series, which has hundreds,
const UNJUDGED: usize = 5;
/// and so many in a finished one, which may have no more than six, and whose growth shows at its very end.
const UNJUDGED_OF_FEW: usize = 2;

/// Where the warm-up of a series ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// How many to leave out at the beginning.
    pub cut: usize,
    /// Whether the point lies in the first half, and is to be believed.
    pub settled: bool,
}

/// The truncation point of group means, of which the last `unjudged` are not judged; `None` of fewer than `least`.
fn truncation_of_means(
    means: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator,
    unjudged: usize,
    least: usize,
) -> Option<Truncation> {
    let n = means.len();
    if n < least {
        return None;
    }
    // From the end, mean and sum of squared deviations of what remains (Welford 1962), so that a small scatter about
    // a large mean is not lost.
    let (mut mean, mut squares, mut best, mut cut) = (0.0, 0.0, f64::INFINITY, 0);
    for (d, x) in means.enumerate().rev() {
        let m = (n - d) as f64;
        let deviation = x - mean;
        mean += deviation / m;
        squares += deviation * (x - mean);
        if n - d > unjudged {
            let score = squares / (m * m);
            if score <= best {
                best = score;
                cut = d;
            }
        }
    }
    Some(Truncation {
        cut,
        settled: cut <= n / 2,
    })
}

/// The truncation point of a finished series of equally long intervals, in observations. Too few to tell is not settled.
pub fn truncation(observations: &[f64]) -> Truncation {
    let means: Vec<f64> = observations
        .chunks_exact(GROUP)
        .map(|b| b.iter().sum::<f64>() / GROUP as f64)
        .collect();
    truncation_of_means(means.into_iter(), UNJUDGED_OF_FEW, 6).map_or(
        Truncation {
            cut: 0,
            settled: false,
        },
        |t| Truncation {
            cut: t.cut * GROUP,
            ..t
        },
    )
}

const GROUPS: usize = 2048;

/// A running series of group means with the instants at which the groups ended.
#[derive(Debug, Clone)]
pub struct Mser {
    size: u64,
    count: u64,
    sum: f64,
    means: Vec<(f64, f64)>,
}

impl Default for Mser {
    fn default() -> Self {
        Mser {
            size: GROUP as u64,
            count: 0,
            sum: 0.0,
            means: Vec::with_capacity(GROUPS),
        }
    }
}

impl Mser {
    /// Adds one observation made at `at` seconds.
    #[inline]
    pub fn observe(&mut self, at: f64, value: f64) {
        self.sum += value;
        self.count += 1;
        if self.count == self.size {
            self.close(at);
        }
    }

    fn close(&mut self, at: f64) {
        self.means.push((at, self.sum / self.size as f64));
        self.sum = 0.0;
        self.count = 0;
        if self.means.len() == GROUPS {
            self.means = self
                .means
                .chunks_exact(2)
                .map(|p| (p[1].0, 0.5 * (p[0].1 + p[1].1)))
                .collect();
            self.size *= 2;
        }
    }

    /// When the warm-up ended, in seconds; `None` if the point lies in the second half of the series, which says that
    /// the run is too short to tell (White, Cobb and Spratt, 2000).
    ///
    /// Not before observations came as often as later: where sessions begin one after another, what each request takes may be
    /// the same from the first on, while there are the fewer of them the earlier it is. How long each group took is judged as
    /// its mean is; if that never settles, as under bursts, it says nothing.
    pub fn warm_up(&self) -> Option<f64> {
        let t = truncation_of_means(self.means.iter().map(|m| m.1), UNJUDGED, 20)?;
        if !t.settled {
            return None;
        }
        let began = |i: usize| if i == 0 { 0.0 } else { self.means[i - 1].0 };
        let lasted = (0..self.means.len()).map(|i| self.means[i].0 - began(i));
        let rate = truncation_of_means(lasted, UNJUDGED, 20).filter(|t| t.settled);
        Some(began(t.cut.max(rate.map_or(0, |t| t.cut))))
    }

    /// (instant in seconds, mean of the group that ended then): the transient curve.
    pub fn curve(&self) -> &[(f64, f64)] {
        &self.means
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn a_decaying_start_is_cut_off_and_little_else() {
        let mut mser = Mser::default();
        let mut stream = Stream::new(5, "mser");
        for i in 0..5000 {
            let t = f64::from(i);
            mser.observe(t, 10.0 * (-t / 100.0).exp() + stream.uniform());
        }
        let cut = mser.warm_up().unwrap();
        assert!((250.0..1500.0).contains(&cut), "{cut}");
    }

    #[test]
    fn a_steady_series_needs_hardly_any_warm_up() {
        let mut mser = Mser::default();
        let mut stream = Stream::new(6, "mser");
        for i in 0..50_000 {
            mser.observe(f64::from(i), stream.uniform());
        }
        assert!(mser.warm_up().unwrap() < 15_000.0);
        assert!(mser.curve().len() < GROUPS);
    }

    #[test]
    fn a_series_that_keeps_growing_has_no_end_of_warm_up() {
        let mut mser = Mser::default();
        for i in 0..5000 {
            mser.observe(f64::from(i), f64::from(i));
        }
        assert_eq!(mser.warm_up(), None);
    }

    #[test]
    fn observations_that_come_ever_more_often_at_first_are_not_steady_yet() {
        let mut mser = Mser::default();
        let mut stream = Stream::new(8, "ramp");
        let mut at = 0.0;
        for _ in 0..20_000 {
            // The rate grows as that of sessions of ten seconds, up to 100 a second.
            let rate = 100.0 * (1.0_f64 - (-at / 10.0_f64).exp()).max(0.02);
            at -= (1.0 - stream.uniform()).ln() / rate;
            mser.observe(at, stream.uniform());
        }
        let cut = mser.warm_up().unwrap();
        assert!((10.0..100.0).contains(&cut), "{cut}");
    }

    fn noise(n: usize) -> Vec<f64> {
        let mut stream = Stream::new(5, "noise");
        (0..n).map(|_| 10.0 + stream.uniform()).collect()
    }

    #[test]
    fn the_slow_start_of_a_finished_series_is_cut_off_where_it_ends() {
        let mut series = noise(200);
        for (i, x) in series.iter_mut().take(40).enumerate() {
            *x += 40.0 - i as f64;
        }
        let t = truncation(&series);
        assert!((30..=60).contains(&t.cut) && t.settled, "{t:?}");
        let steady = truncation(&noise(200));
        assert!(steady.cut <= 60 && steady.settled, "{steady:?}");
    }

    #[test]
    fn a_finished_series_that_never_settles_or_is_short_is_not_believed() {
        let series: Vec<f64> = (0..200).map(|i| (f64::from(i) / 10.0).powi(3)).collect();
        assert!(!truncation(&series).settled);
        assert!(!truncation(&noise(10)).settled);
        assert_eq!(truncation(&[]).cut, 0);
    }

    #[test]
    fn a_small_scatter_about_a_large_mean_is_still_seen() {
        let mut stream = Stream::new(7, "far");
        let series: Vec<f64> = (0..2000)
            .map(|i| 1e9 + stream.uniform() + if i < 500 { 3.0 } else { 0.0 })
            .collect();
        let t = truncation(&series);
        assert!((495..=600).contains(&t.cut) && t.settled, "{t:?}");
    }
}
