//! The virtual machine stops the program for something other than a collection: deoptimization, biased
//! locks, thread dumps, class redefinition, a profiler.
//!
//! Evidence: the part of the requests' time in which threads were stopped by the VM Thread without a
//! pause of the collector.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "safepoints",
    claim: "safepoints other than collections stop it",
    limit: "safepoint",
    queries: &["time"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.kernel || !f.levels.jvm {
        return Judgement::lacking("the kernel and the jvm level");
    }
    let share = f.time.cause("safepoint");
    let fact = format!(
        "{} of the requests' time stood still at safepoints that were no collections",
        percent(share)
    );
    if share < NOTABLE {
        return Judgement::refuted(fact);
    }
    Judgement::confirmed(
        share,
        format!("safepoints are the limit: {fact}; -Xlog:safepoint names their operations"),
    )
    .fact(fact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn time_at_safepoints_counts() {
        let mut f = sound();
        add(&mut f, "service", "safepoint", 900);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }
}
