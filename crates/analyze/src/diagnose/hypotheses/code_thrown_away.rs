//! Compiled code was thrown away: methods run interpreted until the compilers have them again.
//!
//! Up to JDK 21 the first redefinition of a class drops all compiled code, unless an agent that may redefine
//! was there at start (JDK-8324241). Then requests take several times the CPU that they took, compilers
//! take most of the rest, and both fall again over seconds to minutes.
//!
//! Evidence: the compilers' part of the target's CPU time, and the CPU time of workers per request, in the
//! first and in the last third of the recording. A JVM that has just started looks the same, and is.

use crate::diagnose::Figures;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::report::table::{duration, percent};

/// The compilers' part of the CPU time in the first third. A warm JVM is below 0.1.
const COMPILING: f64 = 0.4;
/// Times the CPU per request of the last third.
const DEARER: f64 = 2.0;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "code-thrown-away",
    claim: "compiled code was thrown away, or never made",
    limit: "cpu",
    queries: &["thirds"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    let (Some((first, last)), Some((before, after))) = (f.cpu.compilers, f.cpu.per_request_ms)
    else {
        return Judgement::lacking(
            "the kernel and the server level, with requests at the beginning and at the end",
        );
    };
    let compilers = format!(
        "compilers took {} of the target's CPU time in the first third, {} in the last",
        percent(first),
        percent(last)
    );
    let dearer = before / after.max(1e-9);
    let requests = format!(
        "a request took {} of CPU in the first third, {} in the last",
        duration(before),
        duration(after)
    );
    if first < COMPILING || dearer < DEARER {
        return Judgement::refuted(compilers).fact(requests);
    }
    Judgement::confirmed(
        1.0 - 1.0 / dearer,
        format!(
            "compiled code is missing: {requests}; {compilers}. Record again when the JVM is warm"
        ),
    )
    .fact(compilers)
    .fact(requests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::hypotheses::tests::{outcome, sound};

    #[test]
    fn requests_that_get_cheaper_while_compilers_work_ran_interpreted() {
        let mut f = sound();
        f.cpu.per_request_ms = Some((4.0, 0.9));
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted, "nobody compiles");
        f.cpu.compilers = Some((0.6, 0.2));
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
    }
}
