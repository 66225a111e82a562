//! What an application had, used, waited for and did without, in CPU seconds: for bills.

use loadline_policy::Cpus;
use serde::{Deserialize, Serialize};

/// Sums over a time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Account {
    /// Seconds that it covers.
    pub seconds: f64,
    /// CPU seconds that were its own, used or not.
    pub assigned: f64,
    /// CPU seconds that its threads ran.
    pub used: f64,
    /// CPU seconds that its threads were ready and waited for a CPU.
    pub waited: f64,
    /// CPU seconds that it requested and was not given.
    pub lacked: f64,
}

impl Account {
    /// `seconds` with so many CPUs assigned and requested.
    pub(crate) fn had(&mut self, seconds: f64, assigned: Cpus, requested: Cpus) {
        self.seconds += seconds;
        self.assigned += seconds * assigned.as_f64();
        self.lacked += seconds * (requested - assigned).as_f64();
    }

    /// What came since an earlier state of the same account.
    pub(crate) fn since(&self, earlier: &Account) -> Account {
        Account {
            seconds: self.seconds - earlier.seconds,
            assigned: self.assigned - earlier.assigned,
            used: self.used - earlier.used,
            waited: self.waited - earlier.waited,
            lacked: self.lacked - earlier.lacked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_given_is_counted() {
        let mut a = Account::default();
        a.had(2.0, Cpus::ONE, Cpus::thousandths(2500));
        let before = a;
        a.had(1.0, Cpus::whole(3), Cpus::ONE);
        assert_eq!((a.seconds, a.assigned, a.lacked), (3.0, 5.0, 3.0));
        assert_eq!(
            (a.since(&before).assigned, a.since(&before).lacked),
            (3.0, 0.0)
        );
    }
}
