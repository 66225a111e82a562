//! What can be recorded here, and what each missing thing takes. Nothing is attached to and nothing is changed: BPF
//! programs are loaded to see that they can be, and dropped again; of a JVM only `/proc` and its files are read.

mod jvm;
mod server;
mod this_machine;

use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::options::AgentFiles;

/// How far something can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Can {
    /// All of it.
    Yes,
    /// Some of it, or at a price.
    Partly,
    /// Nothing.
    No,
}

/// One thing that a recording may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What: a level, or a part of one.
    pub what: &'static str,
    /// How far it can be had.
    pub can: Can,
    /// What is there, or why it is not.
    pub why: String,
    /// What it takes to have it; empty if nothing is missing.
    pub remedy: String,
}

impl Finding {
    /// What can be had.
    pub fn yes(what: &'static str, why: impl Into<String>) -> Finding {
        Finding {
            what,
            can: Can::Yes,
            why: why.into(),
            remedy: String::new(),
        }
    }

    /// What can be had in part.
    pub fn partly(
        what: &'static str,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding {
            can: Can::Partly,
            remedy: remedy.into(),
            ..Finding::yes(what, why)
        }
    }

    /// What cannot be had.
    pub fn no(what: &'static str, why: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding {
            can: Can::No,
            ..Finding::partly(what, why, remedy)
        }
    }

    /// From a sentence of the kernel level's, which names the remedy behind a colon, unless something unforeseen failed.
    fn refused(what: &'static str, sentence: &str) -> Finding {
        match sentence.split_once(": ") {
            Some((why, remedy)) if !why.ends_with(" failed") => Finding::no(what, why, remedy),
            _ => Finding::no(what, sentence, ""),
        }
    }
}

/// Something that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Subject {
    /// In a few words.
    pub title: String,
    /// What can be had of it.
    pub findings: Vec<Finding>,
}

/// This machine and this user.
pub fn machine(agent: &AgentFiles) -> Subject {
    this_machine::look(agent)
}

/// One JVM; an error if there is no such process, or it is no JVM.
pub fn jvm(pid: i32, agent: &AgentFiles) -> Result<Subject> {
    jvm::look(pid, agent)
}

/// A file's text, or nothing.
fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_no_remedy() {
        let told = Finding::refused(
            "kernel level",
            "needs CAP_BPF and CAP_PERFMON: run with sudo",
        );
        assert_eq!(told.remedy, "run with sudo");
        let failed = Finding::refused(
            "kernel level",
            "loading the programs failed: EACCES (needs Linux 5.15)",
        );
        assert_eq!(failed.remedy, "");
        assert!(failed.why.contains("EACCES"));
    }
}
