//! What a hypothesis came to, and how it says so.

use serde::Serialize;

use super::figures::Figures;

/// What shares are of, unless said otherwise.
pub const REQUESTS_TIME: &str = "the requests' time";

/// What became of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The figures show it, and that it costs something.
    Confirmed,
    /// The figures speak against it, or show that it costs nothing worth naming.
    Refuted,
    /// The trace does not hold what would decide it.
    NotEnoughData,
}

/// What one hypothesis says of the figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What became of it.
    pub outcome: Outcome,
    /// Share of the requests' time that it explains, 0 to 1; or of what `share_of` says.
    pub share: f64,
    /// What it is a share of.
    pub share_of: &'static str,
    /// Figures for and against, each short.
    pub facts: Vec<String>,
    /// A moment at which it can be seen.
    pub at_ns: Option<i64>,
    /// If confirmed: a sentence without its full stop.
    pub verdict: String,
    /// If undecided: what to record.
    pub record: String,
}

impl Judgement {
    fn new(outcome: Outcome) -> Judgement {
        Judgement {
            outcome,
            share: 0.0,
            share_of: REQUESTS_TIME,
            facts: Vec::new(),
            at_ns: None,
            verdict: String::new(),
            record: String::new(),
        }
    }

    /// It is so, and explains a share of the requests' time.
    pub fn confirmed(share: f64, verdict: impl Into<String>) -> Judgement {
        Judgement {
            share: share.clamp(0.0, 1.0),
            verdict: verdict.into(),
            ..Judgement::new(Outcome::Confirmed)
        }
    }

    /// It is not so, for this reason.
    pub fn refuted(why: impl Into<String>) -> Judgement {
        Judgement::new(Outcome::Refuted).fact(why)
    }

    /// Nobody can tell without what is said here.
    pub fn lacking(record: impl Into<String>) -> Judgement {
        Judgement {
            record: record.into(),
            ..Judgement::new(Outcome::NotEnoughData)
        }
    }

    /// Its share is one of something else than the requests' time.
    pub fn of(mut self, what: &'static str) -> Judgement {
        self.share_of = what;
        self
    }

    /// Adds a figure.
    pub fn fact(mut self, fact: impl Into<String>) -> Judgement {
        self.facts.push(fact.into());
        self
    }

    /// Names a moment.
    pub fn at(mut self, ns: i64) -> Judgement {
        self.at_ns = Some(ns);
        self
    }
}

/// Something that may be the reason.
#[derive(Debug, Clone, Copy)]
pub struct Hypothesis {
    /// One word; the fault that plants it in the test beds has the same.
    pub name: &'static str,
    /// In words, as a claim.
    pub claim: &'static str,
    /// What it would make the limit, in the words of the report: cpu, lock, pool, …
    pub limit: &'static str,
    /// Names of the queries that its figures come from.
    pub queries: &'static [&'static str],
    /// Judges figures.
    pub judge: fn(&Figures) -> Judgement,
}

/// A judged hypothesis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its name.
    pub name: &'static str,
    /// Its claim.
    pub hypothesis: &'static str,
    /// What became of it.
    pub outcome: Outcome,
    /// Share of the requests' time that it explains, 0 to 1; or of what `share_of` says.
    pub share: f64,
    /// What it is a share of.
    pub share_of: &'static str,
    /// What it makes the limit.
    pub limit: &'static str,
    /// Figures for and against.
    pub evidence: Vec<String>,
    /// Numbers of the queries that they come from.
    pub queries: Vec<usize>,
    /// A moment at which it can be seen, seconds since the beginning.
    pub at_s: Option<f64>,
    /// If confirmed: a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verdict: String,
    /// If undecided: what to record.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub record: String,
}
