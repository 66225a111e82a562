//! Random choices that one seed repeats: SplitMix64 (Steele, Lea, Flood 2014), one stream a purpose.
//!
//! A session draws its path, its think times and its tickets from three streams, so that a change
//! of one (a reconnect, another think time) leaves the others' choices as they were.

use std::time::Duration;

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream that `seed` gives to one `owner` (a session) for one `purpose`.
    pub fn new(seed: u64, owner: u64, purpose: u64) -> Rng {
        let owner = mix(owner.wrapping_mul(GAMMA).wrapping_add(1));
        let purpose = mix(purpose.wrapping_mul(GAMMA).wrapping_add(2));
        Rng {
            state: mix(seed.wrapping_add(GAMMA)) ^ owner ^ purpose.rotate_left(17),
        }
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [0, bound); 0 if `bound` is 0. The bias is below bound / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        // 1 - unit() is in (0, 1], so its logarithm is finite.
        mean.mul_f64(-(1.0 - self.unit()).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_repeats_and_streams_differ() {
        let draw = |seed, owner, purpose| {
            let mut r = Rng::new(seed, owner, purpose);
            [r.next(), r.next(), r.next()]
        };
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        assert_ne!(draw(1, 2, 3), draw(2, 2, 3));
        assert_ne!(draw(1, 2, 3), draw(1, 3, 2));
        assert_ne!(draw(1, 2, 3), draw(1, 2, 4));
    }

    #[test]
    fn think_times_are_exponential() {
        let mut rng = Rng::new(7, 0, 0);
        let n = 20_000;
        let mean = Duration::from_millis(100);
        let times: Vec<f64> = (0..n)
            .map(|_| rng.exponential(mean).as_secs_f64() / 0.1)
            .collect();
        // Chi-square over ten equally likely bins; the 99.9% point with 9 degrees of freedom is 27.9.
        let mut bins = [0u32; 10];
        for t in &times {
            bins[(((1.0 - (-t).exp()) * 10.0) as usize).min(9)] += 1;
        }
        let expected = f64::from(n) / 10.0;
        let chi: f64 = bins
            .iter()
            .map(|&b| (f64::from(b) - expected).powi(2) / expected)
            .sum();
        assert!(chi < 27.9, "chi-square {chi}, bins {bins:?}");
        assert_eq!(rng.exponential(Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn below_reaches_every_value_and_no_other() {
        let mut rng = Rng::new(1, 1, 1);
        let mut seen = [0; 6];
        for _ in 0..6000 {
            seen[rng.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
    }
}
