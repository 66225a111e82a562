//! Simulated time.
//!
//! Instants and durations are whole nanoseconds, so that simultaneous events are exactly simultaneous (timer ticks,
//! deterministic arrivals) and comparing two of them is comparing two integers. 2^64 ns are 584 years.

use std::ops::{Add, AddAssign, Sub};

/// An instant of simulated time: nanoseconds since the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Time(pub u64);

/// A length of simulated time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Nanos(pub u64);

impl Time {
    /// The instant at which every run begins.
    pub const ZERO: Time = Time(0);

    /// Seconds since the run began.
    #[inline]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Time since `earlier`; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);

    /// The nearest whole number of nanoseconds; negative and NaN become zero, what is too long the longest there is.
    #[inline]
    pub fn from_seconds(seconds: f64) -> Nanos {
        // `as` saturates; the half makes it round to nearest.
        Nanos((seconds * 1e9 + 0.5) as u64)
    }

    /// This length in seconds.
    #[inline]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl Add<Nanos> for Time {
    type Output = Time;
    #[inline]
    fn add(self, length: Nanos) -> Time {
        Time(self.0.saturating_add(length.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond_and_never_go_negative() {
        assert_eq!(Nanos::from_seconds(1.4e-9), Nanos(1));
        assert_eq!(Nanos::from_seconds(1.6e-9), Nanos(2));
        assert_eq!(Nanos::from_seconds(-3.0), Nanos::ZERO);
        assert_eq!(Nanos::from_seconds(f64::NAN), Nanos::ZERO);
        assert_eq!(Nanos::from_seconds(1e30), Nanos(u64::MAX));
    }

    #[test]
    fn an_earlier_instant_since_a_later_one_is_zero() {
        assert_eq!(Time(3).since(Time(5)), Nanos::ZERO);
        assert_eq!(Time(5).since(Time(3)), Nanos(2));
    }
}
