//! Random numbers: generators, streams of them, and the distributions drawn from them.
//!
//! Terms: a *stream* is a sequence of its own, fixed by the run's seed and by whom it belongs to. The simulator gives one
//! to every *place* that draws (an arrival, a service time, a branch), by name ([`Stream`]); the load generator gives
//! several to every session, by number ([`SplitMix64`]). So a change in one place leaves the numbers of all others as
//! they were (common random numbers between variants), and the order of events cannot change what a place draws.
//!
//! What always holds: equal seeds give equal numbers, on every machine; each generator and each law is tested by
//! chi-square.

mod dist;
mod exponential;
mod fit;
mod normal;
mod splitmix;
mod xoshiro;

pub use dist::Dist;
pub use fit::by_mean_and_scv;
pub use normal::{normal_cdf, normal_quantile};
pub use splitmix::SplitMix64;
pub use xoshiro::Stream;

/// A source of random bits, and what is drawn from it.
pub trait Random {
    /// 64 random bits.
    fn bits(&mut self) -> u64;

    /// Uniform on [0, 1).
    #[inline]
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on (0, 1): safe to take the logarithm of.
    #[inline]
    fn open_uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Uniform in [0, bound); 0 if `bound` is 0 (Lemire 2019, without his rejection: the bias is below bound / 2^64).
    #[inline]
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// True with this probability.
    #[inline]
    fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Exponential with mean 1, as fast as can be; takes one or more words from the stream.
    #[inline]
    fn exponential(&mut self) -> f64
    where
        Self: Sized,
    {
        exponential::sample(self)
    }

    /// Exponential with mean 1 by inversion: slower, but exactly one word a draw, so that what is drawn afterwards does
    /// not depend on what was drawn.
    #[inline]
    fn exponential_by_inversion(&mut self) -> f64 {
        // 1 - uniform() is in (0, 1], so its logarithm is finite.
        -(1.0 - self.uniform()).ln()
    }

    /// Normal with mean 0 and standard deviation 1 (polar method, Marsaglia and Bray 1964; the second value is dropped
    /// so that a draw has no hidden state).
    fn normal(&mut self) -> f64 {
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// Gamma with the given shape and scale 1 (Marsaglia and Tsang 2000; shapes below 1 by their boost).
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.open_uniform().powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.open_uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chi::chi_square;

    /// Ten equally likely cells; the 99.9% point with 9 degrees of freedom is 27.9.
    #[test]
    fn inversion_gives_the_exponential_law() {
        let mut stream = SplitMix64::new(7, 0, 0);
        let mut cells = [0u32; 10];
        for _ in 0..20_000 {
            let p = 1.0 - (-stream.exponential_by_inversion()).exp();
            cells[((p * 10.0) as usize).min(9)] += 1;
        }
        assert!(chi_square(&cells) < 27.9, "{cells:?}");
    }

    /// By the distribution function: 20 equally likely cells, 19 degrees of freedom, 99.9% point 43.8.
    #[test]
    fn normal_draws_follow_the_normal_law() {
        let mut stream = Stream::new(8, "normal");
        let mut cells = [0u32; 20];
        for _ in 0..100_000 {
            let p = normal_cdf(stream.normal());
            cells[((p * 20.0) as usize).min(19)] += 1;
        }
        assert!(chi_square(&cells) < 43.8, "{cells:?}");
    }

    /// A gamma of shape 1 is exponential, whatever the method says: 20 cells, 99.9% point 43.8.
    #[test]
    fn gamma_draws_of_shape_one_are_exponential() {
        let mut stream = Stream::new(9, "gamma");
        let mut cells = [0u32; 20];
        for _ in 0..100_000 {
            let p = 1.0 - (-stream.gamma(1.0)).exp();
            cells[((p * 20.0) as usize).min(19)] += 1;
        }
        assert!(chi_square(&cells) < 43.8, "{cells:?}");
    }

    /// 6 cells, 99.9% point with 5 degrees of freedom 20.5.
    #[test]
    fn below_reaches_every_value_alike_and_no_other() {
        let mut stream = SplitMix64::new(1, 1, 1);
        let mut cells = [0u32; 6];
        for _ in 0..60_000 {
            cells[stream.below(6) as usize] += 1;
        }
        assert!(chi_square(&cells) < 20.5, "{cells:?}");
        assert_eq!(stream.below(0), 0);
    }
}
