//! One statement reads far more than its peers: an index is missing.
//!
//! Without an index a statement reads its whole table each time, so that it takes many times what its peers
//! take, whatever it is asked for, and more as the table grows. One recording does not see the table grow:
//! it sees the ratio.
//!
//! Evidence: the work of a call (the median of its time without waiting for a CPU, a lock or the JVM) of one
//! statement against that of the ordinary one, and the part of the requests' time in it. The median, because a
//! database answers some calls from memory: the quickest tell nothing of a statement.

use super::slow_database::ordinary_ms;
use crate::diagnose::finding::{Hypothesis, Judgement};
use crate::diagnose::{Figures, NOTABLE};
use crate::report::table::{clip, duration, percent};

/// Times the ordinary statement's. Joins and searches of a sound site reach 8.
const TIMES: f64 = 15.0;
/// What it takes at least, ms: below that an index would bring nothing that anybody notices.
const LEAST_MS: f64 = 1.0;
/// Calls below which its median is not known.
const FEW: u64 = 5;
/// Columns for its text.
const ROOM: usize = 90;

pub const HYPOTHESIS: Hypothesis = Hypothesis {
    name: "slow-sql",
    claim: "one statement reads a whole table: an index is missing",
    limit: "database",
    queries: &["statements", "time"],
    judge,
};

fn judge(f: &Figures) -> Judgement {
    if !f.levels.server {
        return Judgement::lacking("the server level");
    }
    if !f.levels.sql {
        return Judgement::lacking(
            "statements: start the JVM with -javaagent, or `loadline arm` it",
        );
    }
    let ordinary = ordinary_ms(f).max(1e-3);
    let slowest = f
        .statements
        .iter()
        .filter(|s| s.calls >= FEW)
        .max_by(|a, b| (a.work_ms * a.calls as f64).total_cmp(&(b.work_ms * b.calls as f64)));
    let Some(s) = slowest else {
        return Judgement::refuted(format!("no statement was run {FEW} times"));
    };
    let share = f.with_those_behind(s.total_ms * 1e6 / f.time.total().max(1.0), s.total_ms);
    let times = s.work_ms / ordinary;
    let fact = format!(
        "`{}` works for {} a call, {times:.0} times the ordinary statement; {} calls, {} of the requests' time in it or behind it",
        clip(&s.text, ROOM),
        duration(s.work_ms),
        s.calls,
        percent(share)
    );
    if times < TIMES || s.work_ms < LEAST_MS || share < NOTABLE {
        return Judgement::refuted(fact);
    }
    Judgement::confirmed(share, format!("one statement is the limit: {fact}. Look at its plan: it seems to read a whole table, for want of an index")).fact(fact).at(s.longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Outcome;
    use crate::diagnose::figures::Statement;
    use crate::diagnose::hypotheses::tests::{outcome, sound};

    #[test]
    fn a_statement_that_takes_a_hundred_times_its_peers_lacks_an_index() {
        let mut f = sound();
        f.statements.push(Statement {
            text: "SELECT c".into(),
            calls: 60,
            p50_ms: 12.0,
            work_ms: 9.0,
            total_ms: 800.0,
            longest_ns: 0,
        });
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Confirmed);
        f.statements[2].work_ms = 0.5;
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
    }

    #[test]
    fn a_database_that_is_slow_throughout_lacks_none() {
        let mut f = sound();
        f.statements.iter_mut().for_each(|s| {
            s.work_ms *= 100.0;
            s.total_ms *= 100.0;
        });
        assert_eq!(outcome(HYPOTHESIS, &f), Outcome::Refuted);
    }
}
