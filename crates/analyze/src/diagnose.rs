//! Why the server is as slow as it is: symptoms, hypotheses, evidence, verdicts.
//!
//! The method is that of Guitart's thesis (2005, 3.4.2.1): a *symptom* is an observation that
//! something is wrong; a *hypothesis* is a reason that there might be; its *evidence* are figures that
//! would differ if it were so. Each hypothesis is asked of every trace, and is *confirmed*, *refuted*,
//! or the trace has *not enough data*, with what to record to get it.
//!
//! What always holds: judging is pure ([`judge`] from [`Figures`]); a hypothesis without its data is
//! never confirmed and never refuted; confirmed ones are ordered by the share of the requests' time
//! that they explain; one that only follows from another that is confirmed is refuted and says so;
//! every figure names the query that gave it, and `loadline query` runs that query.
//!
//! The report's verdict, the sweep's and the viewer's are these.

pub mod figures;
mod finding;
mod gather;
mod hypotheses;
mod queries;
mod render;
mod symptoms;
mod words;

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use loadline_trace::{Meta, Trace};
use serde::Serialize;

pub use figures::Figures;
pub use finding::{Finding, Judgement, Outcome};
pub use gather::others;
pub use queries::Query;
pub use symptoms::Symptom;

use finding::Hypothesis;

/// Share of the requests' time from which on a reason is worth naming. At half of it a healthy site's
/// noise (a collection, a moment of waiting for a CPU) is named; at double, faults that move the 95th
/// percentile by a tenth are not.
pub const NOTABLE: f64 = 0.1;

/// What a trace says about its reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The trace's directory.
    pub trace: String,
    /// What is wrong, as seen from outside.
    pub symptoms: Vec<Symptom>,
    /// Every hypothesis: confirmed ones first, the largest share first; then undecided ones.
    pub findings: Vec<Finding>,
    /// Names of the confirmed ones, in order.
    pub confirmed: Vec<&'static str>,
    /// The conclusion.
    pub verdict: String,
    /// The queries that the figures come from; `findings.queries` are positions from 1.
    pub queries: Vec<Query>,
    /// The figures.
    pub figures: Figures,
}

/// Diagnoses a trace.
pub fn diagnose(trace: &Trace) -> Result<Diagnosis> {
    let db = crate::views::open(trace)?;
    let mut found = of(&db, &trace.meta)?;
    found.trace = trace.dir.display().to_string();
    Ok(found)
}

/// Diagnoses an open trace, with the views.
pub fn of(db: &Connection, meta: &Meta) -> Result<Diagnosis> {
    let figures = gather::gather(db, meta)?;
    Ok(judge(figures, meta.begin_ns))
}

/// Judges figures; times in them are on the trace's clock, and `begin_ns` is its beginning.
pub fn judge(figures: Figures, begin_ns: i64) -> Diagnosis {
    let mut findings: Vec<Finding> = hypotheses::ALL
        .iter()
        .map(|h| finding(h, &figures, begin_ns))
        .collect();
    hypotheses::drop_consequences(&mut findings);
    let rank = |f: &Finding| match f.outcome {
        Outcome::Confirmed => 0,
        Outcome::NotEnoughData => 1,
        Outcome::Refuted => 2,
    };
    findings.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.share.total_cmp(&a.share)));
    let confirmed: Vec<&'static str> = findings
        .iter()
        .filter(|f| f.outcome == Outcome::Confirmed)
        .map(|f| f.name)
        .collect();
    Diagnosis {
        trace: String::new(),
        symptoms: symptoms::symptoms(&figures, begin_ns),
        verdict: words::verdict(&findings, &figures),
        findings,
        confirmed,
        queries: queries::ALL.to_vec(),
        figures,
    }
}

fn finding(h: &Hypothesis, figures: &Figures, begin_ns: i64) -> Finding {
    let j = (h.judge)(figures);
    Finding {
        name: h.name,
        hypothesis: h.claim,
        outcome: j.outcome,
        share: j.share,
        share_of: j.share_of,
        limit: h.limit,
        evidence: j.facts,
        queries: h
            .queries
            .iter()
            .filter_map(|q| queries::number(q))
            .collect(),
        at_s: j.at_ns.map(|ns| (ns - begin_ns) as f64 / 1e9),
        verdict: j.verdict,
        record: j.record,
    }
}
