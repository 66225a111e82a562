//! The recorder's side of the agent: its spool, its control FIFO, and its state.
//!
//! The agent's threads store into a shared mapping of the spool, and a store into a file whose
//! blocks cannot be allocated kills the JVM. So the recorder allocates blocks ahead of the agent
//! and tells it how far it may write (`capacity` in the header).
//!
//! What always holds: every byte below `capacity` is allocated; after [`AgentSpool::close`] no
//! chunk can be claimed any more, so that the file may be cut behind the last one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, fchown};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use loadline_trace::spool::RawDir;
use loadline_trace::spool::agent::{Asked, CHUNK, Header, at, header, new_header, state};

use crate::error::{Result, io};
use crate::sys::{self, Mapping};

/// How far the blocks are allocated ahead: at 50 MB/s, a busy agent's rate, a third of a second.
const AHEAD: u64 = 16 << 20;
const HEADER: usize = 4096;

/// `raw/agent.events` and `raw/agent.control`.
pub struct AgentSpool {
    path: PathBuf,
    file: File,
    head: Mapping,
    size: u64,
    control: File,
}

impl AgentSpool {
    /// Creates both files; `size` is the most that the agent may ever write, `owner` the user and
    /// group that must be able to write.
    pub fn create(raw: &RawDir, size: u64, asked: &Asked, owner: (u32, u32)) -> Result<AgentSpool> {
        let path = raw.agent();
        let size = size.next_multiple_of(CHUNK as u64).max(2 * CHUNK as u64);
        let capacity = size.min(AHEAD);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let mut file = options.open(&path).map_err(io(&path))?;
        file.set_len(size).map_err(io(&path))?;
        sys::allocate(&file, 0, capacity).map_err(io(&path))?;
        let bytes = new_header(capacity, asked);
        file.write_all(&bytes).map_err(io(&path))?;
        let head = Mapping::new(&file, 0, HEADER, true).map_err(io(&path))?;

        let fifo = raw.control();
        sys::make_fifo(&fifo, 0o600).map_err(io(&fifo))?;
        // For reading too: so that opening does not wait for the agent, and a write before it came
        // is kept. Nobody else has it open for writing: the agent sees our end as end of file.
        let control = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&fifo)
            .map_err(io(&fifo))?;
        // The JVM appends to it.
        let log_path = raw.vm_log();
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(0o600);
        let log = options.open(&log_path).map_err(io(&log_path))?;
        if owner.0 != sys::euid() {
            let (user, group) = (Some(owner.0), Some(owner.1));
            fchown(&file, user, group).map_err(io(&path))?;
            fchown(&control, user, group).map_err(io(&fifo))?;
            fchown(&log, user, group).map_err(io(&log_path))?;
        }
        Ok(AgentSpool {
            path,
            file,
            head,
            size,
            control,
        })
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the header's 8-byte fields are aligned, and shared with the agent as atomics.
        unsafe { &*self.head.at(offset).cast() }
    }

    /// Allocates blocks until enough lie ahead of the agent; called often.
    pub fn keep_ahead(&self) -> io::Result<()> {
        let next = self.word(at::NEXT).load(Ordering::Acquire);
        let capacity = self.word(at::CAPACITY).load(Ordering::Relaxed);
        let grown = next_capacity(next, capacity, self.size);
        if grown > capacity {
            sys::allocate(&self.file, capacity, grown - capacity)?;
            self.word(at::CAPACITY).store(grown, Ordering::Release);
        }
        Ok(())
    }

    /// State of the agent.
    pub fn state(&self) -> u32 {
        // SAFETY: an aligned 4-byte field of the header, shared with the agent as an atomic.
        unsafe { &*self.head.at(at::STATE).cast::<AtomicU32>() }.load(Ordering::Acquire)
    }

    /// The header as it is now.
    pub fn header(&self) -> Header {
        // The agent may be writing a text in it; then we copy a part of it, and take it as it is.
        let mut bytes = vec![0; HEADER];
        // SAFETY: both are HEADER bytes long, and the copy is nobody else's.
        unsafe { std::ptr::copy_nonoverlapping(self.head.at(0), bytes.as_mut_ptr(), HEADER) };
        header(&bytes).unwrap_or_default()
    }

    /// Bytes that the agent has claimed.
    pub fn bytes(&self) -> u64 {
        let next = self.word(at::NEXT).load(Ordering::Relaxed) & !1;
        next.saturating_sub(CHUNK as u64)
    }

    /// Events that the agent lost.
    pub fn lost(&self) -> u64 {
        self.word(at::LOST).load(Ordering::Relaxed)
    }

    /// Waits until the agent records; asks `give_up` now and then. Err has its message.
    pub fn wait_recording(
        &self,
        at_most: Duration,
        mut give_up: impl FnMut() -> bool,
    ) -> std::result::Result<(), String> {
        let begin = Instant::now();
        loop {
            match self.state() {
                state::RECORDING | state::STOPPED => return Ok(()),
                state::FAILED => return Err(self.header().message),
                _ if give_up() => {
                    return Err("the process ended, or the recording was stopped".into());
                }
                s if begin.elapsed() > at_most => {
                    let seen = if s == state::CREATED {
                        "was not loaded"
                    } else {
                        "did not finish"
                    };
                    return Err(format!("it {seen} within {} s", at_most.as_secs()));
                }
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Tells the agent to stop, and waits until it has; false if it did not answer.
    pub fn stop(&self, at_most: Duration, mut gone: impl FnMut() -> bool) -> Result<bool> {
        (&self.control)
            .write_all(b"stop\n")
            .map_err(io(&self.path))?;
        let begin = Instant::now();
        while self.state() != state::STOPPED {
            if gone() {
                return Ok(true);
            }
            if begin.elapsed() > at_most {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(true)
    }

    /// Ends all writing, and gives back the blocks that were allocated for nothing.
    pub fn close(&self) -> Result<()> {
        // A thread may have read the old capacity and be about to claim: an odd `next`, which no
        // claim leaves and none will ever undo, makes its compare-and-swap fail for good.
        self.word(at::CAPACITY).store(0, Ordering::SeqCst);
        let next = self.word(at::NEXT).fetch_or(1, Ordering::SeqCst) & !1;
        let end = next.clamp(CHUNK as u64, self.size);
        self.file.set_len(end).map_err(io(&self.path))
    }
}

impl std::fmt::Debug for AgentSpool {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "AgentSpool({})", self.path.display())
    }
}

/// How far the blocks should be allocated when the agent's next chunk is at `next`.
fn next_capacity(next: u64, capacity: u64, size: u64) -> u64 {
    if next & 1 == 1 || capacity >= next.saturating_add(AHEAD) {
        return capacity; // closed, or enough
    }
    capacity
        .max((next + AHEAD).next_multiple_of(AHEAD))
        .min(size.max(capacity))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 30;

    #[test]
    fn capacity_stays_ahead_of_the_agent_up_to_the_files_size() {
        assert_eq!(next_capacity(CHUNK as u64, AHEAD, SIZE), 2 * AHEAD);
        assert_eq!(next_capacity(CHUNK as u64, 2 * AHEAD, SIZE), 2 * AHEAD);
        assert_eq!(next_capacity(5 * AHEAD, 2 * AHEAD, SIZE), 6 * AHEAD);
        assert_eq!(next_capacity(SIZE - 1024, SIZE - 512, SIZE), SIZE);
        assert_eq!(next_capacity(SIZE, SIZE, SIZE), SIZE);
    }

    #[test]
    fn a_closed_spool_never_grows() {
        assert_eq!(next_capacity(AHEAD | 1, 0, SIZE), 0);
    }

    #[test]
    fn closing_cuts_the_file_behind_the_last_chunk_and_ends_claims() {
        let dir = tempfile::tempdir().expect("a directory");
        let raw = RawDir::of(dir.path());
        std::fs::create_dir(raw.path()).expect("raw");
        let owner = (sys::euid(), 0);
        let spool = AgentSpool::create(&raw, SIZE, &Asked::default(), owner).expect("a spool");
        assert_eq!(std::fs::metadata(raw.agent()).expect("it").len(), SIZE);
        let claimed = 3 * CHUNK as u64;
        spool.word(at::NEXT).store(claimed, Ordering::SeqCst);
        spool.keep_ahead().expect("room");
        assert!(spool.word(at::CAPACITY).load(Ordering::SeqCst) >= claimed + AHEAD);
        assert_eq!(spool.bytes(), 2 * CHUNK as u64);
        spool.close().expect("closed");
        assert_eq!(std::fs::metadata(raw.agent()).expect("it").len(), claimed);
        let late = spool.word(at::NEXT).compare_exchange(
            claimed,
            claimed + CHUNK as u64,
            Ordering::SeqCst,
            Ordering::SeqCst,
        );
        assert!(late.is_err(), "a late claim must fail");
        spool.keep_ahead().expect("nothing to do");
        assert_eq!(std::fs::metadata(raw.agent()).expect("it").len(), claimed);
    }
}
