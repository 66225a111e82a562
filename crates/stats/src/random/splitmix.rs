//! SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014): one word of state, so that
//! every one of a million sessions can have several streams. Period 2^64, which a session does not come near.

use super::Random;

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A small stream of random numbers.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl SplitMix64 {
    /// The stream that `seed` gives to one `owner` (a session) for one `purpose`: an owner that draws its path, its
    /// pauses and its tickets from three streams can change one and leave the others' choices as they were.
    pub fn new(seed: u64, owner: u64, purpose: u64) -> SplitMix64 {
        let owner = mix(owner.wrapping_mul(GAMMA).wrapping_add(1));
        let purpose = mix(purpose.wrapping_mul(GAMMA).wrapping_add(2));
        SplitMix64 {
            state: mix(seed.wrapping_add(GAMMA)) ^ owner ^ purpose.rotate_left(17),
        }
    }

    /// The stream that begins with this word; it seeds larger generators.
    pub(super) fn from_state(state: u64) -> SplitMix64 {
        SplitMix64 { state }
    }
}

impl Random for SplitMix64 {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chi::{bytes_are_uniform, chi_square};

    #[test]
    fn one_seed_repeats_and_streams_differ() {
        let draw = |seed, owner, purpose| {
            let mut r = SplitMix64::new(seed, owner, purpose);
            [r.bits(), r.bits(), r.bits()]
        };
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        assert_ne!(draw(1, 2, 3), draw(2, 2, 3));
        assert_ne!(draw(1, 2, 3), draw(1, 3, 2));
        assert_ne!(draw(1, 2, 3), draw(1, 2, 4));
    }

    /// Known answer: the first outputs for state 1234567 (Vigna's splitmix64.c, as tabulated on Rosetta Code).
    #[test]
    fn it_gives_the_published_sequence() {
        let mut r = SplitMix64::from_state(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| r.bits()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn every_byte_is_uniform() {
        bytes_are_uniform(|| SplitMix64::new(7, 1, 2));
    }

    /// Neighbouring sessions must not resemble each other: the first draw of each is uniform over them.
    #[test]
    fn first_draws_of_neighbouring_owners_are_uniform() {
        let mut cells = [0u32; 100];
        for owner in 0..100_000 {
            let u = SplitMix64::new(1, owner, 0).uniform();
            cells[(u * 100.0) as usize] += 1;
        }
        let chi = chi_square(&cells);
        // The 99.9% point with 99 degrees of freedom.
        assert!(chi < 148.2, "{chi}");
    }
}
