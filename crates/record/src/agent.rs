//! The recorder's side of the agent: its spool, its control FIFO, and its state.
//!
//! The agent's threads store into a shared mapping of the spool, and a store into a file whose
//! blocks cannot be allocated kills the JVM. So the recorder allocates blocks ahead of the agent
//! and tells it how far it may write (`capacity` in the header).
//!
//! Of a ring the recorder also says which chunk is claimed next, and gives chunks back to be claimed again
//! (`crate::flight::chunks` decides which).
//!
//! What always holds: every byte below `capacity`, and every chunk in a ring's table, is allocated; after
//! [`AgentSpool::close`] no chunk can be claimed any more, so that the file may be cut behind the last one.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, fchown};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loadline_trace::spool::RawDir;
use loadline_trace::spool::agent::{
    Asked, CHUNK, Header, LOSSES, RING_ENTRIES, at, header, new_header, state,
};

use crate::error::{Result, io};
use crate::sys::{self, Mapping};

/// How far the blocks are allocated ahead: at 50 MB/s, a busy agent's rate, a third of a second.
const AHEAD: u64 = 16 << 20;
/// The same of a ring: its chunks come back, and at 20 MB/s this is two fifths of a second.
const RING_AHEAD: u64 = 8 << 20;
const HEADER: usize = 4096;

/// Chunks of a ring.
#[derive(Default)]
struct Ring {
    /// Zeroed, in nobody's hands.
    free: VecDeque<u32>,
    /// In the table, with their places in the order of claims; what [`AgentSpool::claimed`] has told of is not here any more.
    published: VecDeque<(u64, u32)>,
    /// How many there are: 1 to `made`, as offsets in chunks.
    made: u32,
}

/// `raw/agent.events` and `raw/agent.control`.
pub struct AgentSpool {
    path: PathBuf,
    file: File,
    head: Mapping,
    size: u64,
    control: File,
    log: File,
    ring: Option<Mutex<Ring>>,
    /// A ring, whole.
    whole: Option<Mapping>,
}

impl AgentSpool {
    /// Creates both files; `size` is the most that the agent may ever write, `owner` the user and
    /// group that must be able to write.
    pub fn create(raw: &RawDir, size: u64, asked: &Asked, owner: (u32, u32)) -> Result<AgentSpool> {
        let path = raw.agent();
        let mut size = size.next_multiple_of(CHUNK as u64).max(2 * CHUNK as u64);
        if asked.ring {
            size = size.min(u64::from(RING_ENTRIES) * CHUNK as u64); // the first chunk's room is the header's
        }
        let capacity = match asked.ring {
            true => CHUNK as u64,
            false => size.min(AHEAD),
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let mut file = options.open(&path).map_err(io(&path))?;
        file.set_len(size).map_err(io(&path))?;
        sys::allocate(&file, 0, capacity).map_err(io(&path))?;
        let bytes = new_header(capacity, asked);
        file.write_all(&bytes).map_err(io(&path))?;
        let head = Mapping::new(&file, 0, CHUNK, true).map_err(io(&path))?;
        let whole = match asked.ring {
            true => Some(Mapping::new(&file, 0, size as usize, true).map_err(io(&path))?),
            false => None,
        };

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
        options.read(true).append(true).create_new(true).mode(0o600);
        let log = options.open(&log_path).map_err(io(&log_path))?;
        if owner.0 != sys::euid() {
            let (user, group) = (Some(owner.0), Some(owner.1));
            fchown(&file, user, group).map_err(io(&path))?;
            fchown(&control, user, group).map_err(io(&fifo))?;
            fchown(&log, user, group).map_err(io(&log_path))?;
        }
        let spool = AgentSpool {
            path,
            file,
            head,
            size,
            control,
            log,
            ring: asked.ring.then(Default::default),
            whole,
        };
        if asked.ring {
            spool.keep_ahead().map_err(io(&spool.path))?; // what follows waits for the drain: a disk may be small
        }
        Ok(spool)
    }

    /// `agent.events` and `vm.log`.
    pub fn files(&self) -> [&File; 2] {
        [&self.file, &self.log]
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the header's 8-byte fields are aligned, and shared with the agent as atomics.
        unsafe { &*self.head.at(offset).cast() }
    }

    /// Allocates blocks until enough lie ahead of the agent; called often.
    pub fn keep_ahead(&self) -> io::Result<()> {
        if let Some(mut ring) = self.ring() {
            return self.publish(&mut ring);
        }
        let next = self.word(at::NEXT).load(Ordering::Acquire);
        let capacity = self.word(at::CAPACITY).load(Ordering::Relaxed);
        let grown = next_capacity(next, capacity, self.size);
        if grown > capacity {
            sys::allocate(&self.file, capacity, grown - capacity)?;
            self.word(at::CAPACITY).store(grown, Ordering::Release);
        }
        Ok(())
    }

    fn ring(&self) -> Option<MutexGuard<'_, Ring>> {
        let ring = self.ring.as_ref()?;
        Some(ring.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts chunks into the table until enough lie ahead: those that came back, else new ones as long as there may be more.
    fn publish(&self, ring: &mut Ring) -> io::Result<()> {
        let next = self.word(at::NEXT).load(Ordering::Acquire);
        let mut capacity = self.word(at::CAPACITY).load(Ordering::Relaxed);
        if next & 1 == 1 {
            return Ok(()); // closed
        }
        let ahead = RING_AHEAD.min(self.size / 4);
        while capacity < next + ahead {
            let chunk = match ring.free.pop_front() {
                Some(chunk) => chunk,
                None if u64::from(ring.made + 2) * CHUNK as u64 <= self.size => {
                    let chunk = ring.made + 1;
                    sys::allocate(&self.file, u64::from(chunk) * CHUNK as u64, CHUNK as u64)?;
                    ring.made = chunk;
                    chunk
                }
                None => break,
            };
            let place = capacity / CHUNK as u64;
            let entry = at::TABLE + 4 * (place % u64::from(RING_ENTRIES)) as usize;
            // SAFETY: an aligned 4-byte entry of the table, which lies within the mapped first chunk.
            unsafe { &*self.head.at(entry).cast::<AtomicU32>() }.store(chunk, Ordering::Relaxed);
            ring.published.push_back((place, chunk));
            capacity += CHUNK as u64;
            self.word(at::CAPACITY).store(capacity, Ordering::Release);
        }
        Ok(())
    }

    /// Whether so few chunks are left that older ones should come back.
    pub fn is_short(&self) -> bool {
        let Some(ring) = self.ring() else {
            return false;
        };
        let next = self.word(at::NEXT).load(Ordering::Acquire);
        let capacity = self.word(at::CAPACITY).load(Ordering::Relaxed);
        let unmade = self.size / CHUNK as u64 - 1 - u64::from(ring.made);
        let left = capacity.saturating_sub(next) + (ring.free.len() as u64 + unmade) * CHUNK as u64;
        next & 1 == 0 && left < RING_AHEAD.min(self.size / 4)
    }

    /// Chunks of a ring that were claimed since the last call: places in the order of claims, and where they lie.
    pub fn claimed(&self) -> Vec<(u64, u32)> {
        let Some(mut ring) = self.ring() else {
            return Vec::new();
        };
        let next = (self.word(at::NEXT).load(Ordering::Acquire) & !1) / CHUNK as u64;
        let n = ring.published.partition_point(|(place, _)| *place < next);
        ring.published.drain(..n).collect()
    }

    /// Takes a chunk back that nobody will ever write to again, to be claimed anew.
    pub fn give_back(&self, chunk: u32) {
        let bytes = self.chunk(chunk);
        // SAFETY: the chunk's 64 KiB lie in the mapping; its writer has left it, and readers are this thread's.
        unsafe {
            // First what makes it one, so that a crash leaves a chunk or none.
            (*bytes.cast::<AtomicU32>()).store(0, Ordering::Release);
            std::ptr::write_bytes(bytes, 0, CHUNK);
        }
        if let Some(mut ring) = self.ring() {
            ring.free.push_back(chunk);
        }
    }

    /// Address of a ring's chunk, valid as long as the spool.
    pub fn chunk(&self, chunk: u32) -> *mut u8 {
        let whole = self.whole.as_ref().expect("asked of rings only");
        whole.at(chunk as usize * CHUNK)
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

    /// The first chunk, as bytes: header and table.
    pub fn first_chunk(&self) -> Vec<u8> {
        let mut bytes = vec![0; CHUNK];
        // SAFETY: both are CHUNK bytes long, and the copy is nobody else's; texts may be cut, as in `header`.
        unsafe { std::ptr::copy_nonoverlapping(self.head.at(0), bytes.as_mut_ptr(), CHUNK) };
        bytes
    }

    /// Bytes that it takes on the disk; of a spool that is no ring, what the agent has claimed.
    pub fn bytes(&self) -> u64 {
        if let Some(ring) = self.ring() {
            return u64::from(ring.made + 1) * CHUNK as u64;
        }
        let next = self.word(at::NEXT).load(Ordering::Relaxed) & !1;
        next.saturating_sub(CHUNK as u64)
    }

    /// Bytes that the agent has claimed in all, however often it claimed the same.
    pub fn claimed_bytes(&self) -> u64 {
        let next = self.word(at::NEXT).load(Ordering::Relaxed) & !1;
        next.saturating_sub(CHUNK as u64)
    }

    /// Events that the agent lost.
    pub fn lost(&self) -> u64 {
        self.word(at::LOST).load(Ordering::Relaxed)
    }

    /// What it lost, as in [`LOSSES`].
    pub fn losses(&self) -> [u64; LOSSES.len()] {
        LOSSES.map(|at| self.word(at).load(Ordering::Relaxed))
    }

    /// Whether it has written all that it may, and loses what comes.
    pub fn is_full(&self) -> bool {
        let next = self.word(at::NEXT).load(Ordering::Relaxed) & !1;
        self.ring.is_none() && next + CHUNK as u64 > self.size
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
        let end = match self.ring() {
            Some(ring) => u64::from(ring.made + 1) * CHUNK as u64,
            None => next.clamp(CHUNK as u64, self.size),
        };
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

    /// As the agent claims.
    fn claim(spool: &AgentSpool) -> Option<u32> {
        let next = spool.word(at::NEXT).load(Ordering::SeqCst);
        if next + CHUNK as u64 > spool.word(at::CAPACITY).load(Ordering::SeqCst) {
            return None;
        }
        let place = next / CHUNK as u64 % u64::from(RING_ENTRIES);
        let entry = spool.head.at(at::TABLE + 4 * place as usize);
        // SAFETY: an entry of the table.
        let chunk = unsafe { &*entry.cast::<AtomicU32>() }.load(Ordering::SeqCst);
        spool
            .word(at::NEXT)
            .store(next + CHUNK as u64, Ordering::SeqCst);
        Some(chunk)
    }

    #[test]
    fn a_ring_never_grows_past_its_size_and_its_chunks_come_back_empty() {
        let dir = tempfile::tempdir().expect("a directory");
        let raw = RawDir::of(dir.path());
        std::fs::create_dir(raw.path()).expect("raw");
        let asked = Asked {
            ring: true,
            ..Asked::default()
        };
        let size = 16 * CHUNK as u64;
        let spool = AgentSpool::create(&raw, size, &asked, (sys::euid(), 0)).expect("a spool");
        let mut held: VecDeque<u32> = VecDeque::new();
        // Many times round: the table too.
        for n in 0..3 * RING_ENTRIES as usize {
            spool.keep_ahead().expect("room");
            let chunk = claim(&spool).unwrap_or_else(|| panic!("nothing to claim at {n}"));
            assert!(!held.contains(&chunk), "{chunk} is claimed twice");
            assert!((1..16).contains(&chunk));
            // SAFETY: a chunk of the ring.
            let mark = unsafe { &*spool.chunk(chunk).add(CHUNK - 8).cast::<AtomicU64>() };
            assert_eq!(mark.swap(7, Ordering::SeqCst), 0, "it was not zeroed");
            held.push_back(chunk);
            if held.len() > 8 {
                spool.give_back(held.pop_front().expect("eight"));
            }
        }
        assert_eq!(spool.claimed().len(), 3 * RING_ENTRIES as usize);
        assert!(spool.bytes() <= size);
        assert!(std::fs::metadata(raw.agent()).expect("it").len() <= size);
        while claim(&spool).is_some() {
            spool.keep_ahead().expect("room");
        }
        assert!(spool.is_short(), "nobody gives any back");
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
