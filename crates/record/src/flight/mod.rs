//! Recording that drops the oldest: bounded, for as long as one likes, and dumped when something happened.
//!
//! Terms: a *segment* is what all sources wrote in a few seconds, in files of its own; it begins as a recording does,
//! with the state of all threads and all descriptors. The *horizon* is the begin of the oldest segment that is kept:
//! what the agent said before it is folded into what is *carried* on (`trace::spool::carry`). A *dump* is a trace of
//! what is kept, made while the recording goes on: files of closed segments are linked, chunks copied.
//!
//! What always holds:
//! * from the horizon on everything is there, and what of the time before matters for it is in the carried spool, which
//!   is written before anything is deleted: a crash at any moment leaves a raw directory that makes a trace;
//! * nothing of the recording waits for a dump: rings are drained by a thread of their own;
//! * the size stays below the bound, but for what comes between two looks and for one segment.

mod ask;
mod chunks;
mod dump;
mod live;
mod names;
mod when;

pub use ask::dump;
pub(crate) use ask::serve_one;
pub(crate) use live::Live;
pub use when::{Measure, Trigger};

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loadline_trace::meta::NotRecorded;
use loadline_trace::private;
use loadline_trace::spool::agent::{CHUNK, Event, LOSSES};
use loadline_trace::spool::procfs::Line;
use loadline_trace::spool::session::Session;
use loadline_trace::spool::{RawDir, carry};

use crate::agent::AgentSpool;
use crate::counters;
use crate::drain::Drain;
use crate::procfs::Watcher;
use crate::sys::{self, now_ns};
use chunks::Chunks;
use names::Names;

/// How long a segment is, as part of what is kept; within [`SHORTEST`] and [`LONGEST`].
const PARTS: u32 = 10;
const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(5);
/// Where only the size is bounded.
const OF_A_SIZE: Duration = Duration::from_secs(2);
/// A segment ends early when it has this part of the bound.
const PART_OF_SIZE: u64 = 16;
/// But not earlier than this.
const AT_LEAST: Duration = Duration::from_millis(100);
/// Beginning a segment may take this part of the time until the next.
const SHARE: u32 = 50;

/// Of a file: what file systems leave out at least.
const BLOCK: usize = 4096;
const EMPTY: [u8; BLOCK] = [0; BLOCK];

/// What is kept, and when it is dumped.
#[derive(Debug, Clone)]
pub struct Flight {
    /// So much of the past; `None`: as much as there is room for.
    pub keep: Option<Duration>,
    /// The most that all spools together may take.
    pub max_size: u64,
    /// Dumped when one of these comes true.
    pub when: Vec<Trigger>,
    /// Least time between two dumps by triggers.
    pub apart: Duration,
    /// Most dumps by triggers and signals.
    pub most: u32,
    /// Set by a signal handler: dump now.
    pub signal: Arc<std::sync::atomic::AtomicBool>,
}

impl Flight {
    /// Holds a minute of some 5,000 requests a second.
    pub const MAX_SIZE: u64 = 1 << 30;
    /// The least that makes sense: half of it is chunks, of which each thread takes two.
    pub const LEAST_SIZE: u64 = 32 << 20;

    /// What of it the agent may have.
    pub fn of_agent(&self) -> u64 {
        self.max_size / 2
    }
}

/// How much is kept, for who looks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// So much of the past.
    pub kept: Duration,
    /// Recorded before that, and dropped.
    pub dropped: Duration,
    /// Dumps that were made.
    pub dumps: u32,
}

/// What a segment is cut from.
pub(crate) struct Sources<'a> {
    pub drain: &'a Drain,
    pub watcher: &'a mut Watcher,
    pub counters: Option<&'a mut counters::Spool>,
    /// Rings that are drained.
    pub rings: usize,
    /// Records that the kernel lost so far.
    pub kernel_lost: u64,
}

struct Segment {
    number: u64,
    begin_ns: i64,
    begin_unix_ns: i64,
    begun: Instant,
    /// Before its threads were read.
    cut_ns: i64,
    /// Length of `vm.log` at its begin.
    vm_log: u64,
    /// Threads at its begin, by their ids in the target's namespace.
    threads: HashSet<u32>,
    /// Bytes, once it is closed.
    bytes: u64,
    /// The kernel's records that were lost by its begin.
    kernel_lost: u64,
    /// Of the agent's that were, as in [`LOSSES`].
    agent_lost: [u64; LOSSES.len()],
}

/// Keeps the newest of a recording.
pub(crate) struct Keeper {
    raw: RawDir,
    pid: i32,
    own_ids: bool,
    keep: Option<Duration>,
    max_size: u64,
    every: Duration,
    agent: Option<Arc<AgentSpool>>,
    chunks: Option<Chunks>,
    names: Names,
    segments: VecDeque<Segment>,
    next_cut: Instant,
    begun_ns: i64,
    carried: u64,
    dumps: u32,
    /// Of these, those that nobody asked for by a command.
    pub by_itself: u32,
}

impl Keeper {
    /// Begins with the segment that is being written, numbered 0, of a recording that has begun.
    pub fn new(
        flight: &Flight,
        raw: RawDir,
        session: &Session,
        agent: Option<Arc<AgentSpool>>,
        threads: HashSet<u32>,
    ) -> Keeper {
        let every = flight
            .keep
            .map_or(OF_A_SIZE, |k| (k / PARTS).clamp(SHORTEST, LONGEST));
        let first = Segment {
            number: 0,
            begin_ns: session.begin_ns,
            begin_unix_ns: session.begin_unix_ns,
            begun: Instant::now(),
            cut_ns: session.begin_ns,
            vm_log: 0,
            threads,
            bytes: 0,
            kernel_lost: 0,
            agent_lost: [0; LOSSES.len()],
        };
        Keeper {
            raw,
            pid: session.target.pid,
            own_ids: session.target_nspid != 0 && session.target_nspid != session.target.pid,
            keep: flight.keep,
            max_size: flight.max_size,
            every,
            chunks: agent.clone().map(Chunks::new),
            agent,
            names: Names::default(),
            segments: VecDeque::from([first]),
            next_cut: Instant::now() + every,
            begun_ns: session.begin_ns,
            carried: 0,
            dumps: 0,
            by_itself: 0,
        }
    }

    /// The segment that is being written.
    pub fn number(&self) -> u64 {
        self.segments.back().map_or(0, |s| s.number)
    }

    /// Keeps the thread dump beyond the segment that it is in.
    pub fn thread_dump(&mut self, ts: i64, dump: &str) {
        self.names.learn(ts, dump);
    }

    /// What is kept at the moment.
    pub fn kept(&self) -> Kept {
        let horizon = self.horizon();
        let of = |ns: i64| Duration::from_nanos(ns.max(0) as u64);
        Kept {
            kept: of(now_ns() - horizon),
            dropped: of(horizon - self.begun_ns),
            dumps: self.dumps,
        }
    }

    fn horizon(&self) -> i64 {
        self.segments.front().map_or(self.begun_ns, |s| s.begin_ns)
    }

    /// Events of these kinds since the last call.
    pub fn look(&mut self, kinds: &[u32]) -> Vec<Event> {
        self.chunks
            .as_mut()
            .map_or(Vec::new(), |chunks| chunks.look(kinds))
    }

    /// Bytes of all that is kept, with so many in the open segment of `/proc`.
    pub fn bytes(&self, open_proc: u64, rings: usize) -> u64 {
        let closed: u64 = self.segments.iter().map(|s| s.bytes).sum();
        closed
            + self.open_bytes(open_proc, rings)
            + self.agent.as_ref().map_or(0, |a| a.bytes())
            + self.carried
    }

    fn open_bytes(&self, open_proc: u64, rings: usize) -> u64 {
        let number = self.number();
        let kernel: u64 = (0..rings)
            .map(|cpu| length(&self.raw.kernel_segment(cpu, number)))
            .sum();
        let first = self.segments.front().map_or(0, |s| s.vm_log);
        kernel
            + open_proc
            + length(&self.raw.counters_segment(number))
            + length(&self.raw.vm_log()).saturating_sub(first)
    }

    /// What is due: a new segment, and dropping the oldest ones. The session is told of what was dropped.
    pub fn tick(&mut self, sources: &mut Sources, session: &mut Session) -> io::Result<()> {
        let age = self
            .segments
            .back()
            .map_or(Duration::MAX, |s| s.begun.elapsed());
        let open = self.open_bytes(sources.watcher.segment_bytes(), sources.rings);
        let full = open > self.max_size / PART_OF_SIZE;
        let alone = self.segments.len() == 1 && self.is_too_large(sources);
        if Instant::now() >= self.next_cut || age >= AT_LEAST && (full || alone) {
            self.cut(sources)?;
        }
        let mut dropped = false;
        while self.segments.len() > 1 && (self.is_too_old() || self.is_too_large(sources)) {
            self.drop_oldest()?;
            dropped = true;
        }
        if dropped {
            self.tell(session);
            session
                .store(&self.raw.session())
                .map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn is_too_old(&self) -> bool {
        let (Some(keep), Some(second)) = (self.keep, self.segments.get(1)) else {
            return false;
        };
        second.begin_ns <= now_ns() - keep.as_nanos() as i64
    }

    fn is_too_large(&self, sources: &Sources) -> bool {
        self.bytes(sources.watcher.segment_bytes(), sources.rings) > self.max_size
            || self.agent.as_ref().is_some_and(|a| a.is_short())
    }

    /// Ends the segment that is being written and begins the next. Returns a time up to which the closed ones have all.
    pub fn cut(&mut self, sources: &mut Sources) -> io::Result<i64> {
        let (begun, cpu) = (Instant::now(), sys::thread_cpu_ns());
        let old = self.number();
        let number = old + 1;
        if let Some(counters) = &mut sources.counters {
            counters.go_on_in(private::create_new(&self.raw.counters_segment(number))?)?;
        }
        let end = now_ns();
        let kernel = (0..sources.rings)
            .map(|cpu| private::create_new(&self.raw.kernel_segment(cpu, number)))
            .collect::<io::Result<Vec<_>>>()?;
        if !kernel.is_empty() {
            sources.drain.go_on_in(kernel);
        }
        let proc = private::create_new(&self.raw.procfs_segment(number))?;
        let threads = sources.watcher.go_on_in(proc)?;
        if let Some(last) = self.segments.back_mut() {
            let files = files_of(&self.raw, old, sources.rings);
            last.bytes = files.iter().map(|f| length(f)).sum();
        }
        let agent = self.agent.as_ref();
        self.names.keep_only(&threads);
        self.segments.push_back(Segment {
            number,
            begin_ns: now_ns(),
            begin_unix_ns: sys::unix_ns(),
            begun: Instant::now(),
            cut_ns: end,
            vm_log: length(&self.raw.vm_log()),
            threads,
            bytes: 0,
            kernel_lost: sources.kernel_lost,
            agent_lost: agent.map_or([0; LOSSES.len()], |a| a.losses()),
        });
        // CPU time: the wait for the drain costs nobody anything.
        self.next_cut = begun + self.every.max(sys::thread_cpu_since(cpu) * SHARE);
        Ok(end)
    }

    /// Drops the oldest segment. What of it still matters is written first.
    fn drop_oldest(&mut self) -> io::Result<()> {
        let (Some(oldest), Some(next)) = (self.segments.front(), self.segments.get(1)) else {
            return Ok(());
        };
        let (horizon, lost) = (next.begin_ns, next.agent_lost);
        let seen_ns = self.segments.back().map_or(0, |s| s.cut_ns);
        let latest = self.segments.back().map(|s| &s.threads);
        let lives = |tid: u32| {
            next.threads.contains(&tid)
                || latest.is_some_and(|l| l.contains(&tid))
                // One that began while the threads were read; in another namespace ids cannot be looked up.
                || !self.own_ids && Path::new(&format!("/proc/{}/task/{tid}", self.pid)).exists()
        };
        let mut carried = 0;
        if let Some(chunks) = &mut self.chunks {
            chunks.fold(horizon, seen_ns, &lives, &mut |events| {
                let file = carry::file(events, horizon, lost);
                replace(&self.raw.carry(), &file, &mut carried)
            })?;
        }
        if let Some((ts, dump)) = self.names.line() {
            let line = serde_json::to_string(&Line::JavaThreads { ts, dump })? + "\n";
            replace(&self.raw.procfs_carry(), line.as_bytes(), &mut carried)?;
        }
        let rings = count(|cpu| self.raw.kernel_segment(cpu, oldest.number));
        for file in files_of(&self.raw, oldest.number, rings) {
            remove(&file)?;
        }
        let log = next.vm_log;
        self.carried = carried;
        if log > oldest.vm_log {
            sys::punch(&self.raw.vm_log(), 0, log)?;
        }
        self.segments.pop_front();
        Ok(())
    }

    /// Tells the session what is kept.
    pub fn tell(&self, session: &mut Session) {
        let Some(first) = self.segments.front() else {
            return;
        };
        if first.begin_ns == self.begun_ns {
            return;
        }
        session.begin_ns = first.begin_ns;
        session.begin_unix_ns = first.begin_unix_ns;
        const WHAT: &str = "what came before: ";
        session.not_recorded.retain(|n| !n.what.starts_with(WHAT));
        session.not_recorded.push(NotRecorded {
            what: format!(
                "{WHAT}the first {:.1} s of the recording",
                (first.begin_ns - self.begun_ns) as f64 / 1e9
            ),
            why: match self.keep {
                Some(keep) => format!(
                    "the oldest is dropped: --keep {} s, of at most {} MB",
                    keep.as_secs_f64(),
                    self.max_size >> 20
                ),
                None => format!("the oldest is dropped at {} MB", self.max_size >> 20),
            },
            how_to_get: "a longer --keep, or a larger --max-size".into(),
        });
        let lost = first.kernel_lost;
        if let Some(n) = session.losses.get_mut("kernel_ring") {
            *n = n.saturating_sub(lost);
        }
        session.losses.retain(|_, n| *n > 0);
    }
}

/// Files of one segment, whether they are there or not.
fn files_of(raw: &RawDir, number: u64, rings: usize) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = (0..rings)
        .map(|cpu| raw.kernel_segment(cpu, number))
        .collect();
    files.push(raw.procfs_segment(number));
    files.push(raw.counters_segment(number));
    files
}

/// How many of these are there, one after another.
fn count(file: impl Fn(usize) -> PathBuf) -> usize {
    (0..).take_while(|n| file(*n).exists()).count()
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |m| m.len())
}

/// By rename, so that a crash leaves the old file or the new one. Chunks are mostly empty: blocks that are zero at their ends
/// are left a hole; `size` grows by the rest.
fn replace(path: &Path, bytes: &[u8], size: &mut u64) -> io::Result<()> {
    let new = path.with_extension("new");
    let file = private::create(&new)?;
    for (n, chunk) in bytes.chunks(CHUNK).enumerate() {
        let last = chunk.chunks(BLOCK).rposition(|b| b != &EMPTY[..b.len()]);
        let used = last.map_or(0, |last| ((last + 1) * BLOCK).min(chunk.len()));
        file.write_all_at(&chunk[..used], (n * CHUNK) as u64)?;
        *size += used as u64;
    }
    file.set_len(bytes.len() as u64)?;
    fs::rename(&new, path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
