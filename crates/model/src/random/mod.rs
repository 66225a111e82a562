//! Random numbers: a generator, streams of it, and the distributions drawn from them.
//!
//! Every place in a model that draws (an arrival, a service time, a branch) has a *stream* of its own, seeded by the
//! run's seed and the place's name. So a change in one place of a model leaves the numbers of all others as they were
//! (common random numbers between variants), and the order in which events happen cannot change what a place draws.

mod dist;
mod exponential;
mod fit;
mod normal;

pub use dist::Dist;
pub use fit::by_mean_and_scv;
pub use normal::{normal_cdf, normal_quantile};

/// xoshiro256++ 1.0 (Blackman and Vigna, 2019): period 2^256 - 1, passes BigCrush.
#[derive(Debug, Clone)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream of the place called `name` in a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Stream {
        // FNV-1a of the name, then splitmix64 to spread seed and name over the whole state.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash;
        let mut next = || {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Stream {
            state: [next(), next(), next(), next()],
        }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform on [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on (0, 1): safe to take the logarithm of.
    #[inline]
    pub fn open_uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Exponential with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        exponential::sample(self)
    }

    /// Normal with mean 0 and standard deviation 1 (polar method, Marsaglia and Bray 1964; the second value is dropped
    /// so that a draw has no hidden state).
    pub fn normal(&mut self) -> f64 {
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
    pub fn gamma(&mut self, shape: f64) -> f64 {
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

    #[test]
    fn streams_differ_by_seed_and_by_name_and_repeat_for_both() {
        let draw = |seed, name: &str| Stream::new(seed, name).bits();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    /// Chi-square over 256 cells at the 0.1% level, each byte of the output (255 degrees: critical value 330.5).
    #[test]
    fn every_byte_is_uniform() {
        for shift in (0..64).step_by(8) {
            let mut stream = Stream::new(7, "chi");
            let mut cells = [0u32; 256];
            for _ in 0..256_000 {
                cells[(stream.bits() >> shift) as usize & 255] += 1;
            }
            let chi: f64 = cells
                .iter()
                .map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0)
                .sum();
            assert!(chi < 330.5, "byte at {shift}: {chi}");
        }
    }
}
