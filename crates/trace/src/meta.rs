//! `trace.json`: what was recorded, of what, on what, how completely.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, io};
use crate::{FORMAT, OLDEST_SCHEMA, SCHEMA_VERSION};

/// The contents of `trace.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Always [`FORMAT`].
    pub format: String,
    /// [`SCHEMA_VERSION`] of the writer, at least [`OLDEST_SCHEMA`].
    pub schema: u32,
    /// Program and version that wrote the trace.
    pub writer: String,
    /// Start of the recording, CLOCK_MONOTONIC in ns.
    pub begin_ns: i64,
    /// End of the recording, CLOCK_MONOTONIC in ns.
    pub end_ns: i64,
    /// Wall-clock time at `begin_ns`, ns since 1970 (UTC).
    pub begin_unix_ns: i64,
    /// The process that was recorded.
    pub target: Target,
    /// The machine it ran on.
    pub machine: Machine,
    /// Which levels were recorded, and if not, why: keys `kernel`, `syscalls`, `jvm`, `server`, `app`.
    pub levels: BTreeMap<String, Level>,
    /// What was lost, per source, in events. A source that lost nothing is absent.
    pub losses: BTreeMap<String, u64>,
    /// How the recording ended: `stopped`, `target-exited`, `recovered`.
    pub ended: String,
    /// Things a reader should know, in sentences (probes that could not be placed, …).
    pub notes: Vec<String>,
    /// What was asked for, or would be expected, and is not in the trace.
    pub not_recorded: Vec<NotRecorded>,
    /// Events that the kernel and the agent delivered.
    pub events: u64,
    /// Rows per table.
    pub tables: BTreeMap<String, u64>,
}

/// The process that was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// Process id, in the recorder's pid namespace.
    pub pid: i32,
    /// Short name: main class or jar, without its path.
    pub name: String,
    /// Command line.
    pub command: Vec<String>,
    /// `java.vm.name` and version, as one text.
    pub jvm: String,
    /// `java.specification.version`: 17, 25.
    pub java: u32,
    /// Server, if one was recognized: `Apache Tomcat/11.0.9`.
    pub server: Option<String>,
}

/// The machine that the target ran on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// CPUs online.
    pub cpus: u32,
    /// CPUs the target might use when the recording began.
    pub target_cpus: u32,
    /// CPU model.
    pub cpu_model: String,
    /// Memory, bytes.
    pub memory_bytes: u64,
}

/// Whether one level was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Level {
    /// Whether the level is in the trace.
    pub recorded: bool,
    /// If not: why, and how to get it. Empty when it was simply not asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Something that is not in the trace although its level is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotRecorded {
    /// What, in the report's words: `texts of SQL statements`.
    pub what: String,
    /// Why not: `the probes would redefine loaded classes`.
    pub why: String,
    /// How to get it: `start the JVM with -javaagent:…`. Empty if there is no way.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub how_to_get: String,
}

impl Meta {
    /// Reads `DIR/trace.json` and refuses what this version does not know.
    pub fn load(dir: &Path) -> Result<Meta> {
        let path = dir.join("trace.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(if dir.join("raw").is_dir() {
                    Error::Unfinished(dir.into())
                } else {
                    Error::NotATrace(dir.into())
                });
            }
            Err(e) => return Err(io(path)(e)),
        };
        let malformed = |what: String| Error::Malformed {
            path: path.clone(),
            what,
        };
        let meta: Meta = serde_json::from_str(&text).map_err(|e| malformed(e.to_string()))?;
        if meta.format != FORMAT {
            return Err(malformed(format!(
                "its format is {:?}, not {FORMAT:?}: it is not a trace of Loadline",
                meta.format
            )));
        }
        if !(OLDEST_SCHEMA..=SCHEMA_VERSION).contains(&meta.schema) {
            return Err(Error::UnknownSchema {
                path: dir.into(),
                found: meta.schema,
                oldest: OLDEST_SCHEMA,
                newest: SCHEMA_VERSION,
                writer: meta.writer,
            });
        }
        Ok(meta)
    }

    /// Length of the recording, ns.
    pub fn duration_ns(&self) -> i64 {
        self.end_ns - self.begin_ns
    }

    /// Length of the recording, seconds.
    pub fn seconds(&self) -> f64 {
        self.duration_ns() as f64 / 1e9
    }

    /// Whether a level is in the trace.
    pub fn has(&self, level: &str) -> bool {
        self.levels.get(level).is_some_and(|l| l.recorded)
    }

    /// Events lost in all sources together.
    pub fn lost(&self) -> u64 {
        self.losses.values().sum()
    }
}
