//! Logs that are replayed: who asked for what, and when. Read whole; the run only looks.
//!
//! Terms: a *burst* is a request and those that follow its reply at once (what httperf's session
//! logs indent: a page's images); a replay is *timed* if its log says when each request was made
//! (an access log), and not if it gives the pauses of a session only (httperf's `--wsesslog`).
//!
//! What always holds: the sessions of a timed replay are in the order of their begin, the requests
//! of a session in the order of theirs; a line that cannot be read is counted, never guessed at;
//! no bytes make the readers panic.

mod access_log;
mod session_log;

use crate::Error;
use crate::scenario::Ask;
use std::path::Path;

/// More different paths than this are counted together.
const MAX_NAMES: usize = 50;
const OTHERS: &str = "(other paths)";

/// A log, ready to be replayed.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Replay {
    pub(crate) sessions: Vec<Recorded>,
    names: Vec<String>,
    timed: bool,
    /// Lines that are no request; the first of them, from 1.
    skipped: Option<(u64, usize)>,
}

/// One session of a log.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) bursts: Vec<Burst>,
}

/// A request and those that follow its reply at once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Burst {
    /// In a timed replay, since its begin.
    pub(crate) at_ns: u64,
    /// In one that is not, the pause after it; none for the scenario's think time.
    pub(crate) think_ns: Option<u64>,
    pub(crate) interaction: usize,
    pub(crate) request: Ask,
    pub(crate) more: Vec<Ask>,
}

impl Replay {
    /// Reads an access log (common or combined format) or a session log of httperf, whichever it
    /// is. With a `speed` of 2 everything happens in half the time.
    pub fn read(path: &Path, speed: f64) -> Result<Replay, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        let text = String::from_utf8_lossy(&bytes);
        Replay::parse(&text, speed).map_err(|(line, what)| Error::Scenario {
            path: path.display().to_string(),
            line,
            what,
        })
    }

    /// The error is a line and what is wrong there.
    pub(crate) fn parse(text: &str, speed: f64) -> Result<Replay, (usize, String)> {
        let first = text
            .lines()
            .find(|l| !l.trim().is_empty() && !l.starts_with('#'));
        let mut replay = match first {
            None => return Err((1, "it has no request".into())),
            Some(line) if line.starts_with('/') => session_log::parse(text)?,
            Some(_) => access_log::parse(text),
        };
        if replay.sessions.is_empty() {
            let line = replay.skipped.map_or(1, |(_, first)| first);
            return Err((
                line,
                "neither an access log (common or combined format) nor a session log of httperf"
                    .into(),
            ));
        }
        for burst in replay.sessions.iter_mut().flat_map(|s| &mut s.bursts) {
            burst.at_ns = (burst.at_ns as f64 / speed) as u64;
            burst.think_ns = burst.think_ns.map(|t| (t as f64 / speed) as u64);
        }
        Ok(replay)
    }

    /// Whether the log says when each request was made.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// Requests in it.
    pub fn requests(&self) -> usize {
        let bursts = self.sessions.iter().flat_map(|s| &s.bursts);
        bursts.map(|b| 1 + b.more.len()).sum()
    }

    /// Lines that were no request.
    pub fn skipped(&self) -> u64 {
        self.skipped.map_or(0, |(n, _)| n)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The number of the interaction that a path counts under.
    fn name(&mut self, path: &str) -> usize {
        let path = path.split('?').next().unwrap_or(path);
        if let Some(known) = self.names.iter().position(|n| n == path) {
            return known;
        }
        let name = if self.names.len() < MAX_NAMES {
            path
        } else {
            OTHERS
        };
        if self.names.last().is_none_or(|last| last != name) {
            self.names.push(name.to_owned());
        }
        self.names.len() - 1
    }
}

#[cfg(test)]
#[path = "../replay_tests.rs"]
mod tests;
