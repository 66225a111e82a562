//! `session.json`: what the recorder knew when it started, and how it ended.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, io};
use crate::meta::{Level, Machine, NotRecorded, Target};
use crate::private;

/// What the recorder knows that no other spool says. Rewritten (by rename) when recording ends.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Program and version of the recorder.
    pub writer: String,
    /// Process id of the recorder: while it lives, the recording is under way.
    pub recorder_pid: i32,
    /// Start, CLOCK_MONOTONIC.
    pub begin_ns: i64,
    /// Wall-clock time at `begin_ns`, ns since 1970.
    pub begin_unix_ns: i64,
    /// End, once it is known; 0 after a crash.
    pub end_ns: i64,
    /// How it ended: `stopped`, `target-exited`; empty after a crash.
    pub ended: String,
    /// The recorded process. What only the agent knows (JVM, server) is in the agent's spool.
    pub target: Target,
    /// Thread ids are the target's own, which differ from the recorder's in a container.
    pub target_nspid: i32,
    /// Exit status of a command that the recorder started (128 + signal, as shells say it).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_exit: Option<i32>,
    /// The machine.
    pub machine: Machine,
    /// Levels as they were asked for and could be had.
    pub levels: BTreeMap<String, Level>,
    /// What the recorder itself lost, per source.
    pub losses: BTreeMap<String, u64>,
    /// Whether addresses, and what stands for one customer in a path, are left out of the tables.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redact: bool,
    /// Sentences for the reader.
    pub notes: Vec<String>,
    /// What was asked for, or would be expected, and is not recorded; it passes to `trace.json`.
    pub not_recorded: Vec<NotRecorded>,
}

impl Session {
    /// Reads `raw/session.json`.
    pub fn load(path: &Path) -> Result<Session> {
        let text = std::fs::read_to_string(path).map_err(io(path))?;
        serde_json::from_str(&text).map_err(|e| Error::Malformed {
            path: path.into(),
            what: e.to_string(),
        })
    }

    /// Writes it by rename, so that a crash leaves the old one or the new one.
    pub fn store(&self, path: &Path) -> Result<()> {
        let tmp = path.with_extension("json.new");
        let text = serde_json::to_string_pretty(self).expect("session is plain data");
        private::write(&tmp, &(text + "\n")).map_err(io(&tmp))?;
        std::fs::rename(&tmp, path).map_err(io(path))
    }
}
