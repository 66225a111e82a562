//! The sampler of a recording, and the spool that it writes.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use loadline_trace::spool::counters::Line;

use super::sampler::Pace;
use super::{Counting, Sampler};

/// Writes `raw/counters.jsonl` for one process.
pub(crate) struct Spool {
    sampler: Sampler,
    pace: Pace,
    file: File,
    bytes: u64,
}

impl Spool {
    /// Takes the first reading; nothing if the process is gone.
    pub(crate) fn begin(pid: i32, counting: &Counting, file: File) -> io::Result<Option<Spool>> {
        let Some(sampler) = Sampler::begin(pid, &counting.plan) else {
            return Ok(None);
        };
        let mut spool = Spool {
            pace: Pace::new(counting.every),
            sampler,
            file,
            bytes: 0,
        };
        let counters = spool.sampler.counters.clone();
        spool.write(&Line::Head { counters })?;
        Ok(Some(spool))
    }

    /// Ends a slice here if it is time to.
    pub(crate) fn tick(&mut self) -> io::Result<()> {
        if self.pace.due() {
            self.slice()
        } else {
            Ok(())
        }
    }

    /// Ends a slice here, and goes on in another file.
    pub(crate) fn go_on_in(&mut self, file: File) -> io::Result<()> {
        self.slice()?;
        self.file = file;
        let counters = self.sampler.counters.clone();
        self.write(&Line::Head { counters })
    }

    /// The line that would end it here: what is to be said of all.
    pub(crate) fn last_line(&self) -> Line {
        Line::End {
            notes: self.sampler.notes(),
            never: self.sampler.never(),
        }
    }

    /// Time until the next reading.
    pub(crate) fn until(&self) -> Duration {
        self.pace.next.saturating_duration_since(Instant::now())
    }

    /// Ends a slice here.
    pub(crate) fn slice(&mut self) -> io::Result<()> {
        let sampler = &mut self.sampler;
        match self.pace.take(|| sampler.slice()) {
            Some(slice) => self.write(&Line::Slice(slice)),
            None => Ok(()), // it has ended
        }
    }

    /// The last slice, and what is to be said of all.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.slice()?;
        let last = self.last_line();
        self.write(&last)
    }

    /// Bytes written so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }
}
