//! The raw spools: what the sources wrote while recording, below `DIR/raw/`.
//!
//! | file | written by | content |
//! | --- | --- | --- |
//! | `session.json` | recorder, at start | [`session::Session`]: who, what, when |
//! | `kernel.N` | recorder, from the ring of CPU N | [`kernel`]: scheduler and system-call records |
//! | `agent.events` | the agent in the JVM, through a shared mapping | [`agent`]: events and strings |
//! | `agent.apart` | recorder, where the target has a file system of its own | a link that tells where the agent's files are meanwhile |
//! | `agent.carry` | recorder, where the oldest is dropped | [`carry`]: what was said before and still matters |
//! | `agent.control` | recorder (a FIFO) | `stop`; end of file means that the recorder is gone |
//! | `vm.log` | the JVM, where the agent asks it to | [`vmlog`]: safepoints; on request what the JVM does |
//! | `proc.jsonl` | recorder | [`procfs`]: threads, descriptors, counters, the JVM's thread dump |
//! | `counters.jsonl` | recorder, where counters were asked for | [`counters`]: what each thread counted, slice by slice |
//!
//! Where the oldest is dropped, what the recorder writes is in *segments*: `kernel.N.S`, `proc.S.jsonl`,
//! `counters.S.jsonl`, numbered by when they began. Each begins as a recording does, with all threads and descriptors;
//! `proc.carry.jsonl` has what is left of the thread dump.
//!
//! Every reader here takes whatever a crash left: it stops at the first byte that was never
//! written and never fails on a torn end.

pub mod agent;
pub mod carry;
pub mod counters;
pub mod frames;
pub mod kernel;
pub mod procfs;
pub mod session;
pub mod threaddump;
pub mod vmlog;

use std::path::{Path, PathBuf};

/// Paths of the spools of one trace.
#[derive(Debug, Clone)]
pub struct RawDir(PathBuf);

impl RawDir {
    /// Spools of the trace in `dir`.
    pub fn of(dir: &Path) -> RawDir {
        RawDir(dir.join("raw"))
    }

    /// Spools that lie in this directory itself.
    pub fn at(dir: PathBuf) -> RawDir {
        RawDir(dir)
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `session.json`.
    pub fn session(&self) -> PathBuf {
        self.0.join("session.json")
    }

    /// Spool of one CPU's ring.
    pub fn kernel(&self, cpu: usize) -> PathBuf {
        self.0.join(format!("kernel.{cpu}"))
    }

    /// A segment of it.
    pub fn kernel_segment(&self, cpu: usize, segment: u64) -> PathBuf {
        self.0.join(format!("kernel.{cpu}.{segment:08}"))
    }

    /// Spools of all CPUs' rings that exist, with their segments.
    pub fn kernels(&self) -> Vec<PathBuf> {
        self.named(|n| n.starts_with("kernel."))
    }

    fn named(&self, is: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(&self.0)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .filter(|p| p.file_name().is_some_and(|n| is(&n.to_string_lossy())))
            .collect();
        found.sort();
        found
    }

    /// `agent.events`.
    pub fn agent(&self) -> PathBuf {
        self.0.join("agent.events")
    }

    /// `agent.carry`.
    pub fn carry(&self) -> PathBuf {
        self.0.join("agent.carry")
    }

    /// `agent.control`.
    pub fn control(&self) -> PathBuf {
        self.0.join("agent.control")
    }

    /// `vm.log`.
    pub fn vm_log(&self) -> PathBuf {
        self.0.join("vm.log")
    }

    /// `proc.jsonl`.
    pub fn procfs(&self) -> PathBuf {
        self.0.join("proc.jsonl")
    }

    /// A segment of it.
    pub fn procfs_segment(&self, segment: u64) -> PathBuf {
        self.0.join(format!("proc.{segment:08}.jsonl"))
    }

    /// `proc.carry.jsonl`.
    pub fn procfs_carry(&self) -> PathBuf {
        self.0.join("proc.carry.jsonl")
    }

    /// All files of `proc.jsonl`'s kind that exist: in the order of their segments, then what was carried on.
    pub fn all_procfs(&self) -> Vec<PathBuf> {
        self.named(|n| n.starts_with("proc.") && n.ends_with(".jsonl"))
    }

    /// `counters.jsonl`.
    pub fn counters(&self) -> PathBuf {
        self.0.join("counters.jsonl")
    }

    /// A segment of it.
    pub fn counters_segment(&self, segment: u64) -> PathBuf {
        self.0.join(format!("counters.{segment:08}.jsonl"))
    }

    /// All files of `counters.jsonl`'s kind that exist, in the order of their segments.
    pub fn all_counters(&self) -> Vec<PathBuf> {
        self.named(|n| n.starts_with("counters.") && n.ends_with(".jsonl"))
    }
}
