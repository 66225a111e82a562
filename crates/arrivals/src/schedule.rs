//! How the load changes over a run: constant, steps, ramps, bursts. Pure functions of time.
//!
//! Terms: the *level* is a factor on the scenario's rate or users; a *phase* holds it or takes it
//! from one level to another on a straight line; the *area* under the level is how many units of
//! arrivals (each of 1/rate) fall into a time.
//!
//! What always holds: levels are finite and 0 or more; phases are longer than 0; [`Schedule::when`]
//! never goes back in time and inverts [`Schedule::area`].

/// One stretch of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// How long, in seconds.
    pub seconds: f64,
    /// Level at its begin.
    pub from: f64,
    /// Level at its end.
    pub to: f64,
}

impl Phase {
    fn area(&self, seconds: f64) -> f64 {
        let slope = (self.to - self.from) / self.seconds;
        seconds * (self.from + 0.5 * slope * seconds)
    }

    /// When, counted from its begin, `area` has been gathered; the caller knows that it will be.
    fn when(&self, area: f64) -> f64 {
        let slope = (self.to - self.from) / self.seconds;
        // from·t + slope/2·t² = area, in the form that does not cancel when the slope is small.
        let root = (self.from * self.from + 2.0 * slope * area).max(0.0).sqrt();
        let t = if self.from + root > 0.0 {
            2.0 * area / (self.from + root)
        } else {
            0.0
        };
        t.clamp(0.0, self.seconds)
    }
}

/// The level over a run. After its last phase the last level stays, unless it repeats.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schedule {
    phases: Vec<Phase>,
    repeat: bool,
}

impl Schedule {
    /// The error says what is wrong with which phase, counted from 1.
    pub fn new(phases: Vec<Phase>, repeat: bool) -> Result<Schedule, String> {
        for (i, p) in phases.iter().enumerate() {
            let good = |level: f64| (0.0..=1e6).contains(&level);
            if !(p.seconds > 0.0 && p.seconds.is_finite()) {
                return Err(format!("phase {} must last longer than 0s", i + 1));
            }
            if !good(p.from) || !good(p.to) {
                return Err(format!(
                    "phase {}: a level must be from 0 to 1000000",
                    i + 1
                ));
            }
        }
        if repeat && !phases.is_empty() && phases.iter().all(|p| p.from == 0.0 && p.to == 0.0) {
            return Err("every level is 0: nobody would ever arrive".into());
        }
        Ok(Schedule { phases, repeat })
    }

    /// Whether the level is 1 all the time.
    pub fn is_constant(&self) -> bool {
        self.phases.is_empty()
    }

    /// Whether it begins anew after its last phase.
    pub fn repeats(&self) -> bool {
        self.repeat
    }

    /// Its phases.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The highest level.
    pub fn peak(&self) -> f64 {
        let highest = |peak: f64, p: &Phase| peak.max(p.from).max(p.to);
        if self.phases.is_empty() {
            1.0
        } else {
            self.phases.iter().fold(0.0, highest)
        }
    }

    /// Seconds from the begin of its first phase to the end of its last.
    pub fn length(&self) -> f64 {
        self.phases.iter().map(|p| p.seconds).sum()
    }

    fn last(&self) -> f64 {
        self.phases.last().map_or(1.0, |p| p.to)
    }

    /// The level at a time, in seconds from the start.
    pub fn level(&self, seconds: f64) -> f64 {
        let mut t = seconds.max(0.0);
        if self.repeat && !self.phases.is_empty() {
            t %= self.length();
        }
        for p in &self.phases {
            if t < p.seconds {
                return p.from + (p.to - p.from) * t / p.seconds;
            }
            t -= p.seconds;
        }
        self.last()
    }

    /// The area under the level from the start to a time.
    pub fn area(&self, seconds: f64) -> f64 {
        let (mut t, mut area) = (seconds.max(0.0), 0.0);
        if self.repeat && !self.phases.is_empty() {
            let round: f64 = self.phases.iter().map(|p| p.area(p.seconds)).sum();
            area = round * (t / self.length()).floor();
            t %= self.length();
        }
        for p in &self.phases {
            if t < p.seconds {
                return area + p.area(t);
            }
            area += p.area(p.seconds);
            t -= p.seconds;
        }
        area + t * self.last()
    }

    /// When, in seconds from the start, the area has reached this; none if it never does.
    pub fn when(&self, area: f64) -> Option<f64> {
        let (mut left, mut t) = (area.max(0.0), 0.0);
        if self.repeat && !self.phases.is_empty() {
            let round: f64 = self.phases.iter().map(|p| p.area(p.seconds)).sum();
            let rounds = (left / round).floor();
            left -= rounds * round;
            t = rounds * self.length();
        }
        for p in &self.phases {
            let whole = p.area(p.seconds);
            if left < whole {
                return Some(t + p.when(left));
            }
            left -= whole;
            t += p.seconds;
        }
        if self.repeat && !self.phases.is_empty() {
            // Only rounding leads here: the area is that of whole rounds.
            return Some(t);
        }
        let last = self.last();
        if last > 0.0 {
            Some(t + left / last)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn schedule(phases: &[(f64, f64, f64)], repeat: bool) -> Schedule {
        let phases = phases
            .iter()
            .map(|&(seconds, from, to)| Phase { seconds, from, to })
            .collect();
        Schedule::new(phases, repeat).expect("valid")
    }

    #[test]
    fn without_phases_the_level_is_one() {
        let s = Schedule::default();
        assert_eq!(
            (s.level(5.0), s.area(5.0), s.when(7.0)),
            (1.0, 5.0, Some(7.0))
        );
    }

    #[test]
    fn a_ramp_gathers_the_area_of_its_triangle() {
        let s = schedule(&[(10.0, 0.0, 4.0)], false);
        assert_eq!((s.level(5.0), s.area(10.0)), (2.0, 20.0));
        // t²·0.2 = 5 at t = 5.
        assert!((s.when(5.0).expect("reached") - 5.0).abs() < 1e-9);
        assert_eq!(s.when(24.0), Some(11.0));
    }

    #[test]
    fn bursts_repeat_and_silence_is_skipped() {
        let s = schedule(&[(9.0, 0.0, 0.0), (1.0, 3.0, 3.0)], true);
        assert_eq!(
            (s.level(9.5), s.level(19.5), s.level(12.0)),
            (3.0, 3.0, 0.0)
        );
        assert!((s.when(1.5).expect("reached") - 9.5).abs() < 1e-9);
        assert!((s.when(4.5).expect("reached") - 19.5).abs() < 1e-9);
    }

    #[test]
    fn after_a_last_level_of_zero_nobody_arrives() {
        let s = schedule(&[(1.0, 2.0, 0.0)], false);
        assert_eq!(s.when(1.5), None);
        assert!(s.when(0.9).is_some());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let phase = |seconds, from, to| Schedule::new(vec![Phase { seconds, from, to }], true);
        assert!(phase(0.0, 1.0, 1.0).is_err());
        assert!(phase(1.0, -1.0, 1.0).is_err());
        assert!(phase(1.0, f64::NAN, 1.0).is_err());
        assert!(phase(1.0, 0.0, 0.0).is_err());
    }

    proptest! {
        #[test]
        fn when_inverts_area(
            phases in prop::collection::vec((0.1f64..20.0, 0.1f64..5.0, 0.1f64..5.0), 0..5),
            repeat in any::<bool>(), t in 0.0f64..100.0,
        ) {
            let s = schedule(&phases, repeat);
            let back = s.when(s.area(t)).expect("levels are above 0");
            prop_assert!((back - t).abs() < 1e-6, "{} {}", back, t);
        }
    }
}
