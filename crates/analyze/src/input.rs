//! The raw spools of one recording, opened.
//!
//! Spools are mapped, not read: they are large and passed over once or twice. The agent's is a sparse
//! file far larger than what was written; only what was claimed is looked at. Its events are a stream, by time.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadline_trace::spool::agent::{self, Chunks, Kinds};
use loadline_trace::spool::frames::Frame;
use loadline_trace::spool::kernel::Record;
use loadline_trace::spool::session::Session;
use loadline_trace::spool::{RawDir, counters, procfs};
use memmap2::{Mmap, UncheckedAdvice};

use crate::merge::merged;

/// What the spools hold.
pub struct Input {
    /// Who, what, when.
    pub session: Session,
    /// Kernel spools, mapped.
    kernel: Vec<Mmap>,
    /// The agent's header, if there is an agent's spool.
    pub header: Option<agent::Header>,
    /// The agent's spool, mapped, as far as it was written.
    agent: Spool,
    /// What is older than a ring's horizon and still matters, and that horizon.
    carry: Option<(Spool, i64)>,
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
    let agent = Spool::open(&raw.agent())?;
    let mut header = agent.header();
    let carry = Spool::open(&raw.carry())?;
    let carry = carry.header().map(|dropped| {
        if let Some(header) = &mut header {
            header.lost = header.lost.saturating_sub(dropped.lost);
            header.lost_strings = header.lost_strings.saturating_sub(dropped.lost_strings);
            header.lost_stacks = header.lost_stacks.saturating_sub(dropped.lost_stacks);
            header.lost_samples = header.lost_samples.saturating_sub(dropped.lost_samples);
        }
        (carry, dropped.begin)
    });
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
        agent,
        carry,
        vm_log,
        proc,
        counted,
    })
}

/// A spool of the agent's layout.
struct Spool(Option<Mmap>);

impl Spool {
    /// Without a file it holds nothing.
    fn open(path: &PathBuf) -> Result<Spool> {
        Ok(Spool(match path.exists() {
            true => map(path)?,
            false => None,
        }))
    }

    fn header(&self) -> Option<agent::Header> {
        agent::header(self.0.as_deref()?)
    }

    fn chunks(&self) -> Chunks<'_> {
        match (&self.0, self.header()) {
            (Some(spool), Some(header)) => {
                let mut looked_at = 0;
                Chunks::read(
                    &spool[..header.extent(spool.len() as u64) as usize],
                    &mut || {
                        looked_at += 1;
                        if looked_at % LET_GO_AFTER_CHUNKS == 0 {
                            let_go(spool);
                        }
                    },
                )
            }
            _ => Chunks::default(),
        }
    }
}

/// After so many records their pages are let go: some megabytes.
const LET_GO_AFTER: u32 = 1 << 17;
/// After so many where others between them were passed over.
const LET_GO_AFTER_FEW: u32 = 1 << 12;

/// Of the agent's chunks so many, of 64 KiB.
const LET_GO_AFTER_CHUNKS: u32 = 64;

/// Records out of mapped spools, in bounded memory: now and then the pages that were read are let go. They come back
/// from the file if they are read again.
fn letting_go<'a, T>(
    spools: impl Iterator<Item = &'a Mmap> + Clone,
    records: impl Iterator<Item = T>,
    after: u32,
) -> impl Iterator<Item = T> {
    let mut left = after;
    records.inspect(move |_| {
        left -= 1;
        if left == 0 {
            left = after;
            spools.clone().for_each(let_go);
        }
    })
}

fn let_go(spool: &Mmap) {
    // SAFETY: it maps a file and nothing is written through it, so that what is read next is what the file holds.
    let let_go = unsafe { spool.unchecked_advise(UncheckedAdvice::DontNeed) };
    debug_assert!(let_go.is_ok(), "a mapping of a file: {let_go:?}");
}

/// What the agent said.
pub struct Said<'a> {
    spool: Option<&'a Mmap>,
    /// Of the time before the horizon.
    carried: Chunks<'a>,
    chunks: Chunks<'a>,
    horizon: i64,
}

impl Said<'_> {
    /// All events, by time.
    pub fn events(&self) -> impl Iterator<Item = agent::Event> + '_ {
        self.some(Kinds::ALL, LET_GO_AFTER)
    }

    /// Events of these kinds, by time, and of each chunk, which is one thread's, the first.
    pub fn of_kinds(&self, kinds: &[u32]) -> impl Iterator<Item = agent::Event> + '_ {
        self.some(Kinds::of(kinds), LET_GO_AFTER_FEW)
    }

    fn some(&self, kinds: Kinds, after: u32) -> impl Iterator<Item = agent::Event> + '_ {
        // What is older than the horizon and still lies in a chunk is in what was carried on, if it matters.
        let kept = self.chunks.some(self.horizon, kinds);
        let events = self.carried.some(i64::MIN, kinds).chain(kept);
        letting_go(self.spool.into_iter(), events, after)
    }

    /// Frames of stacks.
    pub fn frames(&self) -> Vec<Frame> {
        self.chunks.frames()
    }

    /// Texts by id.
    pub fn strings(&self) -> HashMap<u32, String> {
        self.chunks.strings()
    }

    fn latest(&self) -> Option<i64> {
        self.chunks.latest().max(self.carried.latest())
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
    /// What the agent said.
    pub fn said(&self) -> Said<'_> {
        let said = Said {
            spool: self.agent.0.as_ref(),
            carried: self
                .carry
                .as_ref()
                .map(|c| c.0.chunks())
                .unwrap_or_default(),
            chunks: self.agent.chunks(),
            horizon: self.carry.as_ref().map_or(i64::MIN, |c| c.1),
        };
        said.spool.into_iter().for_each(let_go); // all chunks were looked at
        said
    }

    /// The kernel's records, by time.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        letting_go(
            self.kernel.iter(),
            merged(self.kernel.iter().map(|m| &m[..])),
            LET_GO_AFTER,
        )
    }

    /// When the recording ended: as the session says, or after a crash the last event of any source.
    pub fn end(&self, said: &Said) -> i64 {
        if self.session.end_ns > 0 {
            return self.session.end_ns.max(self.session.begin_ns);
        }
        let last_kernel = self.records().map(|r| r.ts).max().unwrap_or(0);
        let agent = said.latest().unwrap_or(0);
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
                ("samples", h.lost_samples),
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
