//! Requests wait for the disk.
//!
//! Evidence: the part of the requests' time blocked in calls on files, or uninterruptibly, which is where the
//! kernel waits for a device.

use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::percent;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "disk",
    claim: "requests wait for the disk",
    limit: "file",
    queries: &["time"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.kernel {
        return Judgement::lacking("the kernel level");
    }
    let share = f.time.cause("file");
    let fact = format!("{} of the requests' time waits for files", percent(share));
    if share < NOTABLE {
        return Judgement::refuted(fact);
    }
    let how = if f.levels.syscalls {
        ""
    } else {
        "; --syscalls would tell which files"
    };
    Judgement::confirmed(share, format!("the disk is the limit: {fact}{how}")).fact(fact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{add, outcome, sound};

    #[test]
    fn time_blocked_on_files_is_the_disks() {
        let mut f = sound();
        add(&mut f, "service", "file", 2000);
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }
}
