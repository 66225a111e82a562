//! The `/proc` side of a recording: threads, descriptors and counters, each second; the CPUs at hand when they change.
//!
//! What always holds: reading takes at most two hundredths of one CPU, because the time between two
//! readings grows with what a reading costs; lines of the spool are written whole, at once.

pub mod counters;
mod cpus;
mod fds;
pub mod limits;
mod links;
pub mod parse;
pub mod threads;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use loadline_trace::spool::procfs::Line;

use crate::sys::{now_ns, thread_cpu_ns, thread_cpu_since};
use crate::walk::Walk;
use crate::{closed, opened};
use counters::Counters;
use cpus::Cpus;
use fds::Fds;
use threads::Threads;

const PERIOD: Duration = Duration::from_secs(1);
/// A reading may take CPU time of this part of the time until the next. Not time: where it waits for a CPU, as on a
/// machine that is full, what was opened a moment ago would be known ten seconds later.
const SHARE: u32 = 50;

/// What the kernel level can be asked; nothing without it.
#[derive(Default)]
pub struct Known {
    /// What is open now.
    pub opened: Option<opened::Listed>,
    /// Connections that have been closed.
    pub closed: Option<closed::Asked>,
    /// How often each thread has left its CPU: two words, by itself and not.
    pub threads: Option<Walk>,
}

/// Writes `raw/proc.jsonl` for one process.
pub struct Watcher {
    pid: i32,
    threads: Threads,
    fds: Fds,
    cpus: Cpus,
    spool: File,
    bytes: u64,
    segment_bytes: u64,
    next: Instant,
    next_cpus: Instant,
    counters: Counters,
}

impl Watcher {
    /// Watches `pid`; `own_ids` if it lives in another pid namespace.
    pub fn new(pid: i32, own_ids: bool, spool: File, known: Known) -> Watcher {
        Watcher {
            pid,
            threads: Threads::new(pid, own_ids),
            fds: Fds::new(pid, known.opened, known.closed),
            cpus: Cpus::new(pid),
            spool,
            bytes: 0,
            segment_bytes: 0,
            next: Instant::now(),
            next_cpus: Instant::now(),
            counters: Counters::new(pid, known.threads),
        }
    }

    /// Writes one line.
    pub fn write(&mut self, line: &Line) -> io::Result<()> {
        self.write_all(std::slice::from_ref(line))
    }

    fn write_all(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        self.spool.write_all(&text)?;
        self.bytes += text.len() as u64;
        self.segment_bytes += text.len() as u64;
        Ok(())
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The state of all threads, and their CPU time: once at the start. Returns the threads' ids in the target's namespace.
    pub fn begin(&mut self) -> io::Result<HashSet<u32>> {
        let ids = self.all_threads()?;
        self.cpu_times()?;
        Ok(ids)
    }

    fn all_threads(&mut self) -> io::Result<HashSet<u32>> {
        let ts = now_ns();
        let threads = self.threads.all();
        let ids = threads.iter().map(|t| t.nstid as u32).collect();
        self.write(&Line::Threads { ts, threads })?;
        Ok(ids)
    }

    /// Goes on in another spool, which begins with all threads, descriptors and counters. Returns the threads' ids in the
    /// target's namespace.
    pub fn go_on_in(&mut self, spool: File) -> io::Result<HashSet<u32>> {
        self.spool = spool;
        self.segment_bytes = 0;
        let ids = self.all_threads()?;
        self.fds.begin_anew();
        self.read_changes()?;
        Ok(ids)
    }

    /// Bytes written into the present spool.
    pub fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    /// What is due: descriptors, counters and new threads, each second; CPUs more often.
    pub fn tick(&mut self) -> io::Result<()> {
        let begin = Instant::now();
        if begin >= self.next_cpus {
            let spent = thread_cpu_ns();
            if let Some(line) = self.cpus.changed() {
                self.write(&line)?;
            }
            self.next_cpus = begin + cpus::PERIOD.max(thread_cpu_since(spent) * SHARE);
        }
        let begin = Instant::now();
        if begin < self.next {
            return Ok(());
        }
        let spent = thread_cpu_ns();
        self.read_changes()?;
        self.next = begin + PERIOD.max(thread_cpu_since(spent) * SHARE);
        Ok(())
    }

    /// The last reading, with the CPU time of all threads as its last act.
    pub fn end(&mut self) -> io::Result<()> {
        self.last_of_segment()?;
        self.cpu_times()
    }

    /// A reading before it is due, of all sockets' addresses too: what has been written is about to be read.
    pub fn last_of_segment(&mut self) -> io::Result<()> {
        self.fds.hurry();
        self.read_changes()
    }

    fn read_changes(&mut self) -> io::Result<()> {
        let ts = now_ns();
        let threads = self.threads.new_ones();
        if !threads.is_empty() {
            self.write(&Line::Threads { ts, threads })?;
        }
        let descriptors = self.fds.changes();
        self.write_all(&descriptors)?;
        let counters = self.counters.read(&self.fds);
        self.write_all(&counters)?;
        // After the recorder's, which ends a reading.
        if let Some(line) = self.cpus.line() {
            self.write(&line)?;
        }
        Ok(())
    }

    fn cpu_times(&mut self) -> io::Result<()> {
        let ts = now_ns();
        let threads = threads::cpu_times(self.pid);
        self.write(&Line::CpuTime { ts, threads })
    }
}
