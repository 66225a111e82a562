//! xoshiro256++ 1.0 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2019): period 2^256 - 1, passes
//! BigCrush.

use super::{Random, SplitMix64};

/// A stream of random numbers, long enough for any run.
#[derive(Debug, Clone)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// The stream of the place called `name` in a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Stream {
        // FNV-1a of the name, then SplitMix64 to spread seed and name over the whole state, as its authors advise.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut words = SplitMix64::from_state(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash);
        Stream {
            state: std::array::from_fn(|_| words.bits()),
        }
    }
}

impl Random for Stream {
    #[inline]
    fn bits(&mut self) -> u64 {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chi::bytes_are_uniform;

    #[test]
    fn streams_differ_by_seed_and_by_name_and_repeat_for_both() {
        let draw = |seed, name: &str| Stream::new(seed, name).bits();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    /// Known answer: state 1, 2, 3, 4 (the test vector of rand_xoshiro, from the authors' C).
    #[test]
    fn it_gives_the_published_sequence() {
        let mut stream = Stream {
            state: [1, 2, 3, 4],
        };
        let first: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223]);
    }

    #[test]
    fn every_byte_is_uniform() {
        bytes_are_uniform(|| Stream::new(7, "chi"));
    }
}
