//! The report's conclusion: the diagnosis's, in short.
//!
//! The report judges nothing itself: what it calls the limit is the first hypothesis that
//! [`crate::diagnose`] confirms.

use serde::Serialize;

use crate::diagnose::{Diagnosis, Outcome};

/// The conclusion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// cpu, lock, pool, database, service, worker, permits, accept, file, gc, safepoint, none or unknown.
    pub limit: &'static str,
    /// In a sentence or two.
    pub text: String,
    /// Names of the confirmed hypotheses, the largest share of the requests' time first.
    pub confirmed: Vec<&'static str>,
}

/// The verdict of a diagnosis.
pub fn verdict(d: &Diagnosis) -> Verdict {
    let first = d.findings.iter().find(|f| f.outcome == Outcome::Confirmed);
    let known = d.figures.levels.kernel && d.figures.time.total() > 0.0;
    Verdict {
        limit: first.map_or(if known { "none" } else { "unknown" }, |f| f.limit),
        text: d.verdict.clone(),
        confirmed: d.confirmed.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{Figures, judge};

    #[test]
    fn without_evidence_the_limit_is_unknown() {
        let blind = Figures {
            seconds: 1.0,
            ..Figures::default()
        };
        assert_eq!(verdict(&judge(blind, 0)).limit, "unknown");
    }

    #[test]
    fn a_program_without_requests_that_fills_its_cpus_is_limited_by_them() {
        let mut busy = Figures {
            seconds: 1.0,
            cpus: 2.0,
            ..Figures::default()
        };
        busy.cpu.utilization = Some(0.97);
        let v = verdict(&judge(busy, 0));
        assert_eq!((v.limit, v.confirmed), ("cpu", vec!["cpu"]));
    }
}
