//! A diagnosis as text.

use super::finding::{Finding, Outcome};
use super::{Diagnosis, Query};
use crate::report::page::Page;
use crate::report::table::percent;

/// Width of the words in the margin.
const MARGIN: usize = 11;

impl Diagnosis {
    /// For people: symptoms, hypotheses with their evidence, the verdict. With `sql`, the queries too.
    pub fn render(&self, color: bool, sql: bool) -> String {
        let mut out = Page::new(color);
        for s in &self.symptoms {
            let link = s.at_s.map(link).unwrap_or_default();
            out.paragraph(&label("symptom"), "33", &format!("{}{link}", s.text));
        }
        if self.symptoms.is_empty() {
            out.paragraph(&label("symptom"), "33", "none");
        }
        out.gap();
        for f in &self.findings {
            self.finding(&mut out, f);
        }
        out.gap();
        out.paragraph(&label("verdict"), "1", &self.verdict);
        if sql {
            for (i, q) in self.queries.iter().enumerate() {
                out.title(&format!("query {}: {}", i + 1, q.name), "");
                q.sql.lines().for_each(|l| out.line(l));
            }
        }
        out.text()
    }

    fn finding(&self, out: &mut Page, f: &Finding) {
        let (word, code) = match f.outcome {
            Outcome::Confirmed => ("confirmed", "1;31"),
            Outcome::Refuted => ("refuted", "2"),
            Outcome::NotEnoughData => ("not enough data", "33"),
        };
        let word = out.paint(code, word);
        let share = if f.outcome == Outcome::Confirmed {
            format!(", {} of {}", percent(f.share), f.share_of)
        } else {
            String::new()
        };
        let link = match (f.outcome, f.at_s) {
            (Outcome::Confirmed, Some(at)) => link(at),
            _ => String::new(),
        };
        out.line(&format!(
            "{:MARGIN$}  {:<17} {}: {word}{share}{link}",
            "hypothesis", f.name, f.hypothesis
        ));
        // Of what is refuted, the first figure says why; JSON and the viewer have the others.
        let most = if f.outcome == Outcome::Refuted {
            1
        } else {
            usize::MAX
        };
        let mut told: Vec<String> = f.evidence.iter().take(most).cloned().collect();
        if !f.record.is_empty() {
            told.push(format!("record {}", f.record));
        }
        let numbers: Vec<String> = f.queries.iter().map(usize::to_string).collect();
        let word = if numbers.len() == 1 {
            "query"
        } else {
            "queries"
        };
        let text = format!("{} ({word} {})", told.join("; "), numbers.join(", "));
        out.paragraph(&" ".repeat(MARGIN + 1), "", &text);
    }
}

impl Query {
    /// The query of that number, from 1.
    pub fn numbered(number: usize) -> Option<Query> {
        number
            .checked_sub(1)
            .and_then(|i| super::queries::ALL.get(i))
            .copied()
    }
}

fn label(word: &str) -> String {
    format!("{word:MARGIN$}")
}

/// Where the viewer shows a moment.
fn link(at_s: f64) -> String {
    format!("   [open#t={at_s:.3}s]")
}
