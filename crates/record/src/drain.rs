//! The thread that moves what the kernel gathered into the spools, and keeps room before the agent.
//!
//! What always holds: it does nothing that can block but writing spools, so that a slow terminal or
//! a large `/proc` never costs events; its first error ends it, and is kept for whoever asks.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::agent::AgentSpool;
use crate::ring::Ring;
use crate::sys;

/// Time between two drains: also the most that a killed recorder loses.
pub const INTERVAL: Duration = Duration::from_millis(25);

/// Counts of a running drain.
#[derive(Debug, Default)]
pub struct Counts {
    /// Records moved.
    pub records: AtomicU64,
    /// Bytes moved.
    pub bytes: AtomicU64,
    /// CPU time of the thread, ns.
    pub cpu_ns: AtomicI64,
}

/// The running thread.
pub struct Drain {
    counts: Arc<Counts>,
    stop: Arc<AtomicBool>,
    failed: Arc<Mutex<Option<io::Error>>>,
    /// Spools to go on in, one for each ring, until the thread has taken them.
    next: Arc<Mutex<Option<Vec<File>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Drain {
    /// Starts it over all rings and, if there is one, the agent's spool.
    pub fn start(rings: Vec<Ring>, agent: Option<Arc<AgentSpool>>) -> io::Result<Drain> {
        let counts = Arc::new(Counts::default());
        let stop = Arc::new(AtomicBool::new(false));
        let failed = Arc::new(Mutex::new(None));
        let next = Arc::new(Mutex::new(None));
        let work = Work {
            rings,
            agent,
            counts: counts.clone(),
            stop: stop.clone(),
            next: next.clone(),
        };
        let report = failed.clone();
        let thread = std::thread::Builder::new()
            .name("loadline-drain".into())
            .spawn(move || {
                if let Err(e) = work.run() {
                    *report.lock().unwrap_or_else(|e| e.into_inner()) = Some(e);
                }
            })?;
        Ok(Drain {
            counts,
            stop,
            failed,
            next,
            thread: Some(thread),
        })
    }

    /// Has the rings go on in other spools, once all that they hold now is in the old ones. An error that has ended the
    /// thread is not told here.
    pub fn go_on_in(&self, spools: Vec<File>) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(spools);
        while !self.has_failed()
            && self
                .next
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_some()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// What was moved so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether an error has ended it.
    pub fn has_failed(&self) -> bool {
        self.failed
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .is_some()
    }

    /// Drains what is left and ends; the error if there was one.
    pub fn finish(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            return Err(io::Error::other("the drain thread failed"));
        }
        match self.failed.lock().unwrap_or_else(|e| e.into_inner()).take() {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        // Only on the way out of another error, which says more than one of ours would.
        let _ = self.finish();
    }
}

struct Work {
    rings: Vec<Ring>,
    agent: Option<Arc<AgentSpool>>,
    counts: Arc<Counts>,
    stop: Arc<AtomicBool>,
    next: Arc<Mutex<Option<Vec<File>>>>,
}

impl Work {
    fn run(mut self) -> io::Result<()> {
        loop {
            let last = self.stop.load(Ordering::Acquire);
            // Looked at before the rings are: whoever asks wants what they held then.
            let spools = self
                .next
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_some();
            if let Some(agent) = &self.agent {
                agent.keep_ahead()?;
            }
            for ring in &mut self.rings {
                let moved = ring.drain()?;
                self.counts
                    .records
                    .fetch_add(moved.records, Ordering::Relaxed);
                self.counts.bytes.fetch_add(moved.bytes, Ordering::Relaxed);
            }
            if spools {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                for (ring, spool) in self.rings.iter_mut().zip(next.take().unwrap_or_default()) {
                    ring.go_on_in(spool);
                }
            }
            self.counts
                .cpu_ns
                .store(sys::thread_cpu_ns(), Ordering::Relaxed);
            if last {
                return Ok(());
            }
            std::thread::sleep(INTERVAL);
        }
    }
}

/// Whether an error means that there is no room for what we write.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}
