//! The objective on response time: the user's, or four times the value at light load.

use loadline_units::duration;
use serde::{Deserialize, Serialize};

use crate::measured::Quantiles;

/// What the 95th percentile may become, as a multiple of its value at light load.
pub const TIMES_LIGHT: f64 = 4.0;

/// Which percentile an objective is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Percentile {
    /// Median.
    P50,
    /// 90th.
    P90,
    /// 95th.
    P95,
    /// 99th.
    P99,
}

impl Percentile {
    /// Its value, ms.
    pub fn of(self, q: &Quantiles) -> f64 {
        match self {
            Percentile::P50 => q.p50_ms,
            Percentile::P90 => q.p90_ms,
            Percentile::P95 => q.p95_ms,
            Percentile::P99 => q.p99_ms,
        }
    }

    /// `p95`.
    pub fn name(self) -> &'static str {
        match self {
            Percentile::P50 => "p50",
            Percentile::P90 => "p90",
            Percentile::P95 => "p95",
            Percentile::P99 => "p99",
        }
    }
}

/// A bound on a percentile of response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// Which percentile.
    pub percentile: Percentile,
    /// Its bound.
    pub ms: f64,
    /// Whether it was derived from the value at light load.
    pub derived: bool,
}

impl Objective {
    /// Reads `p95=200ms`, `p99=1.5s`.
    pub fn parse(text: &str) -> Result<Objective, String> {
        let wrong = || format!("{text:?} is no objective: write p95=200ms (p50, p90, p95 or p99)");
        let (name, time) = text.split_once('=').ok_or_else(wrong)?;
        let percentile = match name.trim() {
            "p50" => Percentile::P50,
            "p90" => Percentile::P90,
            "p95" => Percentile::P95,
            "p99" => Percentile::P99,
            _ => return Err(wrong()),
        };
        let time = duration(time).ok_or_else(wrong)?;
        if time.is_zero() {
            return Err(format!("{text:?}: the time must be more than 0"));
        }
        let ms = 1e3 * time.as_secs_f64();
        Ok(Objective {
            percentile,
            ms,
            derived: false,
        })
    }

    /// Four times the 95th percentile at light load.
    pub fn from_light(light: &Quantiles) -> Objective {
        Objective {
            percentile: Percentile::P95,
            ms: TIMES_LIGHT * light.p95_ms,
            derived: true,
        }
    }

    /// Whether response times keep to it.
    pub fn holds(&self, q: &Quantiles) -> bool {
        self.percentile.of(q) <= self.ms
    }
}

impl std::fmt::Display for Objective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} ≤ {}",
            self.percentile.name(),
            crate::words::ms(self.ms)
        )?;
        if self.derived {
            write!(f, ", four times its value at light load")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_as_people_write_them() {
        let o = Objective::parse("p95=200ms").expect("valid");
        assert_eq!((o.percentile, o.ms), (Percentile::P95, 200.0));
        assert_eq!(Objective::parse("p99=1.5s").expect("valid").ms, 1500.0);
        for wrong in [
            "", "p95", "p95=200", "p96=1s", "p95=0ms", "p95=-1s", "p95=xms", "p95=infs",
        ] {
            assert!(Objective::parse(wrong).is_err(), "{wrong} was accepted");
        }
    }

    #[test]
    fn the_derived_objective_is_four_times_the_light_value() {
        let light = Quantiles {
            p95_ms: 22.0,
            ..Quantiles::default()
        };
        let o = Objective::from_light(&light);
        assert_eq!(o.ms, 88.0);
        assert!(o.holds(&Quantiles {
            p95_ms: 88.0,
            ..light
        }));
        assert!(!o.holds(&Quantiles {
            p95_ms: 88.1,
            ..light
        }));
    }
}
