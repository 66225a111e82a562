//! An amount of CPUs.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// CPUs, in thousandths: exact, so that shares add up and compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cpus(u32);

impl Cpus {
    /// None.
    pub const ZERO: Cpus = Cpus(0);
    /// One whole CPU.
    pub const ONE: Cpus = Cpus(1000);
    /// The most that can be said.
    pub const MAX: Cpus = Cpus(1_000_000_000);

    /// Whole CPUs.
    pub const fn whole(cpus: u32) -> Cpus {
        Cpus(if cpus > 1_000_000 {
            1_000_000_000
        } else {
            cpus * 1000
        })
    }

    /// From thousandths of a CPU.
    pub const fn thousandths(n: u32) -> Cpus {
        Cpus(n)
    }

    /// The nearest amount; zero for what is negative or no number.
    pub fn from_f64(cpus: f64) -> Cpus {
        // A float that does not fit saturates, NaN becomes 0.
        Cpus((cpus * 1000.0).round() as u32).min(Cpus::MAX)
    }

    /// In thousandths.
    pub const fn as_thousandths(self) -> u32 {
        self.0
    }

    /// As a real number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// Whole CPUs in it.
    pub const fn floor(self) -> u32 {
        self.0 / 1000
    }

    /// What is left beside the whole ones.
    pub const fn fraction(self) -> Cpus {
        Cpus(self.0 % 1000)
    }

    /// So many grains, rounded up.
    pub const fn grains(self, grain: Cpus) -> u64 {
        (self.0 as u64).div_ceil(grain.0 as u64)
    }

    /// The smaller of the two.
    pub fn min(self, other: Cpus) -> Cpus {
        Cpus(self.0.min(other.0))
    }

    /// The larger of the two.
    pub fn max(self, other: Cpus) -> Cpus {
        Cpus(self.0.max(other.0))
    }
}

impl Add for Cpus {
    type Output = Cpus;
    fn add(self, other: Cpus) -> Cpus {
        Cpus(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cpus {
    fn add_assign(&mut self, other: Cpus) {
        *self = *self + other;
    }
}

/// Stops at zero.
impl Sub for Cpus {
    type Output = Cpus;
    fn sub(self, other: Cpus) -> Cpus {
        Cpus(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Cpus {
    fn sub_assign(&mut self, other: Cpus) {
        *self = *self - other;
    }
}

impl Sum for Cpus {
    fn sum<I: Iterator<Item = Cpus>>(all: I) -> Cpus {
        all.fold(Cpus::ZERO, Add::add)
    }
}

/// `2`, `2.5`, `0.125`.
impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_amount_is_none() {
        for wrong in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            assert_eq!(Cpus::from_f64(wrong), Cpus::ZERO);
        }
        assert_eq!(Cpus::from_f64(f64::INFINITY), Cpus::MAX);
    }

    #[test]
    fn amounts_are_written_with_as_many_digits_as_they_have() {
        for (n, text) in [
            (2000, "2"),
            (2500, "2.5"),
            (125, "0.125"),
            (0, "0"),
            (10_000, "10"),
        ] {
            assert_eq!(Cpus::thousandths(n).to_string(), text);
        }
    }
}
