//! The raw spools of one recording, opened.
//!
//! Spools are mapped, not read: they are large and passed over once or twice. The agent's is a sparse
//! file far larger than what was written; only what was claimed is looked at.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadline_trace::spool::frames::Frame;
use loadline_trace::spool::session::Session;
use loadline_trace::spool::{RawDir, agent, counters, procfs};
use memmap2::Mmap;

/// What the spools hold.
pub struct Input {
    /// Who, what, when.
    pub session: Session,
    /// Kernel spools, mapped.
    pub kernel: Vec<Mmap>,
    /// The agent's header, if there is an agent's spool.
    pub header: Option<agent::Header>,
    /// The agent's events, by time.
    pub events: Vec<agent::Event>,
    /// The agent's strings.
    pub strings: HashMap<u32, String>,
    /// Frames of the agent's stacks.
    pub frames: Vec<Frame>,
    /// What the JVM's log says of safepoints.
    pub vm_log: String,
    /// Lines of `proc.jsonl`.
    pub proc: Vec<procfs::Line>,
    /// What threads counted, if that was asked for.
    pub counted: counters::Counted,
}

/// Opens the spools of the trace in `dir`. Missing spools are empty ones; only `session.json` must be.
pub fn open(dir: &Path) -> Result<Input> {
    let raw = RawDir::of(dir);
    let session = Session::load(&raw.session()).with_context(|| {
        format!(
            "{} has no readable recording (raw/session.json)",
            dir.display()
        )
    })?;
    let mut kernel = Vec::new();
    for path in raw.kernels() {
        kernel.extend(map(&path)?);
    }
    let agent = match raw.agent() {
        path if path.exists() => map(&path)?,
        _ => None,
    };
    let agent = agent.as_deref().unwrap_or_default();
    let mut header = agent::header(agent);
    let agent::Said {
        mut events,
        strings,
        frames,
    } = written(header.as_ref(), agent);
    let carry = match raw.carry() {
        path if path.exists() => map(&path)?,
        _ => None,
    };
    if let Some(carry) = &carry
        && let Some(dropped) = agent::header(carry)
    {
        // What is older than the horizon and still lies in a chunk is in what was carried on, if it matters.
        events.retain(|e| e.ts >= dropped.begin);
        let mut carried = written(Some(&dropped), carry).events;
        carried.append(&mut events);
        events = carried;
        if let Some(header) = &mut header {
            header.lost = header.lost.saturating_sub(dropped.lost);
            header.lost_strings = header.lost_strings.saturating_sub(dropped.lost_strings);
            header.lost_stacks = header.lost_stacks.saturating_sub(dropped.lost_stacks);
        }
    }
    let mut proc = Vec::new();
    for path in raw.all_procfs() {
        proc.extend(procfs::lines(&text(&path)?));
    }
    let vm_log = text(&raw.vm_log())?;
    let mut counted = String::new();
    for path in raw.all_counters() {
        counted += &text(&path)?;
    }
    let mut counted = counters::Counted::read(&counted);
    counted.slices.retain(|s| s.end_ns > session.begin_ns);
    Ok(Input {
        session,
        kernel,
        header,
        events,
        strings,
        frames,
        vm_log,
        proc,
        counted,
    })
}

/// What a spool of the agent's layout says.
fn written(header: Option<&agent::Header>, spool: &[u8]) -> agent::Said {
    match header {
        Some(header) => agent::read(&spool[..header.extent(spool.len() as u64) as usize]),
        None => Default::default(),
    }
}

/// A file of text; empty if there is none.
fn text(path: &Path) -> Result<String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(e).with_context(|| path.display().to_string()),
    }
}

fn map(path: &PathBuf) -> Result<Option<Mmap>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    if file
        .metadata()
        .with_context(|| path.display().to_string())?
        .len()
        == 0
    {
        return Ok(None); // an empty file cannot be mapped
    }
    // SAFETY: recorder and agent only append to a spool and have ended; nothing truncates it.
    let map = unsafe { Mmap::map(&file) }.with_context(|| path.display().to_string())?;
    Ok(Some(map))
}

impl Input {
    /// When the recording ended: as the session says, or after a crash the last event of any source.
    pub fn end(&self, last_kernel: i64) -> i64 {
        if self.session.end_ns > 0 {
            return self.session.end_ns.max(self.session.begin_ns);
        }
        let agent = self.events.last().map_or(0, |e| e.ts);
        let proc = self.proc.iter().map(line_ts).max().unwrap_or(0);
        agent.max(proc).max(last_kernel).max(self.session.begin_ns)
    }

    /// What was lost, per source, the agent's own counts included.
    pub fn losses(&self) -> BTreeMap<String, u64> {
        let mut losses = self.session.losses.clone();
        if let Some(h) = &self.header {
            let lost = [
                ("agent", h.lost),
                ("strings", h.lost_strings),
                ("stacks", h.lost_stacks),
            ];
            for (source, lost) in lost {
                if lost > 0 {
                    *losses.entry(source.into()).or_default() = lost;
                }
            }
        }
        losses.retain(|_, n| *n > 0);
        losses
    }
}

fn line_ts(line: &procfs::Line) -> i64 {
    match line {
        procfs::Line::Threads { ts, .. }
        | procfs::Line::Fds { ts, .. }
        | procfs::Line::JavaThreads { ts, .. }
        | procfs::Line::Counters { ts, .. }
        | procfs::Line::CpuTime { ts, .. } => *ts,
    }
}
