//! How many new connections to admit (Guitart et al., 2007, section 5.2).
//!
//! In an interval of `k` seconds with `A` CPUs and `O` resumed connections that cost `CTO` CPU seconds each over their
//! life, while a new one costs `CTN`: N = floor((k A - O CTO) / CTN), and never below zero.
//!
//! A ceiling on resumers goes with it: with TLS 1.3 a resumed connection is not free, so that "admit every resumer"
//! would not bound the load by itself.

/// What is known at the start of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot {
    /// Length of the interval in seconds.
    pub interval: f64,
    /// CPUs at hand.
    pub cpus: f64,
    /// Resumed connections expected in the interval.
    pub resumed: f64,
    /// CPU seconds of a new connection over its life.
    pub cost_new: f64,
    /// CPU seconds of a resumed connection over its life.
    pub cost_resumed: f64,
}

/// How many to let in during the interval; `u64::MAX` is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// New connections.
    pub new: u64,
    /// Resumed connections.
    pub resumed: u64,
}

/// The budget of the next interval. Nothing left admits nobody, whatever they cost; what costs nothing is otherwise not
/// bounded. `models/vectors/admission.json` has cases that every implementation of this rule agrees with.
pub fn budget(s: &Snapshot) -> Budget {
    let capacity = (s.interval * s.cpus).max(0.0);
    Budget {
        new: fit_into(capacity - s.resumed * s.cost_resumed, s.cost_new),
        resumed: fit_into(capacity, s.cost_resumed),
    }
}

/// How many of `cost` go into `seconds`. A quotient that is a whole number in decimal fractions stays so in binary ones.
fn fit_into(seconds: f64, cost: f64) -> u64 {
    if seconds <= 1e-12 {
        0
    } else if cost <= 0.0 {
        u64::MAX
    } else {
        (seconds / cost + 1e-9).floor() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Snapshot = Snapshot {
        interval: 2.0,
        cpus: 4.0,
        resumed: 100.0,
        cost_new: 0.175,
        cost_resumed: 0.002,
    };

    #[test]
    fn new_connections_get_what_resumers_leave() {
        // (2 * 4 - 100 * 0.002) / 0.175 = 44.57
        assert_eq!(budget(&BASE).new, 44);
    }

    #[test]
    fn nothing_is_left_when_resumers_take_all() {
        assert_eq!(
            budget(&Snapshot {
                resumed: 5000.0,
                ..BASE
            })
            .new,
            0
        );
    }

    #[test]
    fn resumers_are_bounded_too() {
        assert_eq!(budget(&BASE).resumed, 4000);
    }

    #[test]
    fn no_cpus_admit_nobody_and_free_connections_are_not_bounded() {
        assert_eq!(
            budget(&Snapshot { cpus: 0.0, ..BASE }),
            Budget { new: 0, resumed: 0 }
        );
        assert_eq!(
            budget(&Snapshot {
                cost_resumed: 0.0,
                ..BASE
            })
            .resumed,
            u64::MAX
        );
    }

    #[test]
    fn more_cpus_never_admit_fewer() {
        let mut last = 0;
        for cpus in 0..64 {
            let now = budget(&Snapshot {
                cpus: f64::from(cpus),
                ..BASE
            })
            .new;
            assert!(now >= last);
            last = now;
        }
    }
}
