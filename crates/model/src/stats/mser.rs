//! Finding the warm-up: MSER-5 (White, 1997).
//!
//! Observations are averaged in groups of five; the truncation point is where the standard error of the mean of what
//! remains is least. To keep memory constant, neighbouring groups are merged whenever there are too many, so the group
//! is 5 x 2^k observations in a long run; the point is then found to within one group.

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
            size: 5,
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
    pub fn warm_up(&self) -> Option<f64> {
        let n = self.means.len();
        if n < 20 {
            return None;
        }
        let (mut sum, mut squares, mut best, mut cut) = (0.0, 0.0, f64::INFINITY, 0);
        for (d, &(_, x)) in self.means.iter().enumerate().rev() {
            sum += x;
            squares += x * x;
            let m = (n - d) as f64;
            // The last five groups are too few to judge by: their scatter can be small by chance.
            if n - d > 5 {
                let score = (squares - sum * sum / m).max(0.0) / (m * m);
                if score <= best {
                    best = score;
                    cut = d;
                }
            }
        }
        if cut > n / 2 {
            return None;
        }
        Some(if cut == 0 { 0.0 } else { self.means[cut - 1].0 })
    }

    /// (instant in seconds, mean of the group that ended then): the transient curve.
    pub fn curve(&self) -> &[(f64, f64)] {
        &self.means
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

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
}
