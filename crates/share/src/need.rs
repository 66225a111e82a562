//! How many CPUs an application needs that does not say so itself.
//!
//! In an interval its threads *used* CPUs for some time and *waited* for one (runnable, in the run queue) for some more:
//! together, over the interval, that is how many CPUs it could have used. Where waiting cannot be told, an application
//! that used nearly all that it had is taken to want half as much again.

use loadline_policy::Cpus;

/// Rises within a few quanta, for a wait is felt at once; falls slowly, so that a pause between requests costs nothing.
/// At half or double the rise, a step in load is followed in 0.2 or 0.6 s; a faster fall hands CPUs to and fro.
const RISE_SECONDS: f64 = 0.3;
const FALL_SECONDS: f64 = 5.0;
/// Above what was seen, so that growth is seen as growth.
const HEADROOM: f64 = 1.1;
/// Used part of what one has from which it counts as all.
const FULL: f64 = 0.9;

/// An estimate that follows what is seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Need {
    level: Option<f64>,
}

impl Need {
    /// Takes in an interval of `seconds` with so many CPUs used, waited for (if known) and had.
    pub(crate) fn saw(&mut self, seconds: f64, used: f64, waited: Option<f64>, had: Cpus) {
        let had = had.as_f64();
        let wanted = match waited {
            Some(waited) => used + waited,
            None if used >= FULL * had => 1.5 * had.max(used),
            None => used,
        };
        if !(wanted.is_finite() && wanted >= 0.0 && seconds > 0.0) {
            return;
        }
        let level = self.level.unwrap_or(wanted);
        let lag = if wanted > level {
            RISE_SECONDS
        } else {
            FALL_SECONDS
        };
        self.level = Some(level + (wanted - level) * (1.0 - (-seconds / lag).exp()));
    }

    /// CPUs to request: all there are until something is known.
    pub(crate) fn request(&self, floor: Cpus, all: Cpus) -> Cpus {
        match self.level {
            Some(level) => Cpus::from_f64(level * HEADROOM).max(floor).min(all),
            None => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Cpus = Cpus::thousandths(100);
    const ALL: Cpus = Cpus::whole(4);

    fn after(list: &[(f64, Option<f64>)], had: Cpus) -> f64 {
        let mut need = Need::default();
        for &(used, waited) in list {
            need.saw(0.1, used, waited, had);
        }
        need.request(FLOOR, ALL).as_f64()
    }

    #[test]
    fn nothing_known_is_everything_wanted() {
        assert_eq!(Need::default().request(FLOOR, ALL), ALL);
    }

    #[test]
    fn waiting_for_cpus_is_needing_them() {
        let got = after(&[(1.0, Some(1.0)); 30], Cpus::ONE);
        assert!((got - 2.2).abs() < 0.01, "{got}");
    }

    #[test]
    fn without_the_wait_a_full_application_is_taken_to_want_more() {
        let got = after(&[(1.0, None); 30], Cpus::ONE);
        assert!((got - 1.65).abs() < 0.01, "{got}");
        let got = after(&[(0.5, None); 100], Cpus::ONE);
        assert!((got - 0.55).abs() < 0.01, "{got}");
    }

    #[test]
    fn it_rises_fast_and_falls_slowly() {
        let mut need = Need::default();
        (0..100).for_each(|_| need.saw(0.1, 0.1, Some(0.0), ALL));
        (0..5).for_each(|_| need.saw(0.1, 2.0, Some(1.0), ALL));
        assert!(need.request(FLOOR, ALL).as_f64() > 2.5);
        (0..5).for_each(|_| need.saw(0.1, 0.1, Some(0.0), ALL));
        assert!(need.request(FLOOR, ALL).as_f64() > 2.3);
        (0..300).for_each(|_| need.saw(0.1, 0.0, Some(0.0), ALL));
        assert_eq!(need.request(FLOOR, ALL), FLOOR);
    }
}
