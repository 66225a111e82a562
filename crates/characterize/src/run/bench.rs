//! What every kind of load can do with a server: the steps of a characterization, and what they share.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::child::TICK;
use super::proc;
use super::recorder::Recorded;
use crate::measured::{CpuUse, Point, Probe};
use crate::result::Layout;
use crate::traced::Side;
use crate::warming::Warmth;

/// What an idle server may use of a CPU: the JIT and timers.
const IDLE: f64 = 0.2;
/// How long a server may work off what it was offered.
const SETTLE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(300);

/// One step at a time, with visitors of ours or with the user's own driver.
pub trait Bench {
    /// Before anything is measured: whether the server can be recorded at all, as far as that can be told now.
    fn attach(&mut self, dir: &Path) -> Result<Recorded>;
    /// Nothing of it counts; what became of it, if that can be told.
    fn warm_up(&mut self) -> Result<Option<Warmth>>;
    /// Whether the server has a guard, for the notes.
    fn find_guard(&mut self) -> Result<Option<String>> {
        Ok(None)
    }
    /// Where to look. None if the user wants to stop.
    fn probe(&mut self, cpus: u32) -> Result<Option<Probe>>;
    /// One load. None if the user wants to stop.
    fn point(&mut self, cpus: u32, rate: f64, search: bool) -> Result<Option<Point>>;
    /// Records while a load is offered.
    fn trace(&mut self, dir: &Path, rate: f64) -> Result<Traced>;
    /// Ends what was started.
    fn end(self: Box<Self>);
}

/// What became of a recording.
pub enum Traced {
    Side(Box<Side>),
    Refused(String),
    Stopped,
}

/// Waits, unless the user wants to stop.
pub fn sleep(seconds: f64, stop: &AtomicBool) {
    let until = Instant::now() + Duration::from_secs_f64(seconds.max(0.0));
    while Instant::now() < until && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
    }
}

/// Waits until the server has worked off what it was offered, so that one point does not burden the next.
pub fn settle(cpu_seconds: impl Fn() -> Option<f64>, stop: &AtomicBool) {
    let until = Instant::now() + SETTLE;
    while Instant::now() < until && !stop.load(Ordering::Relaxed) {
        let (begin, before) = (Instant::now(), cpu_seconds());
        std::thread::sleep(LOOK);
        let used = before.zip(cpu_seconds()).map(|(a, b)| b - a);
        if used.is_none_or(|u| u < IDLE * begin.elapsed().as_secs_f64()) {
            return;
        }
    }
}

/// Removes a trace of ours, if it is there.
pub fn remove(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        std::fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    Ok(())
}

/// Counters that only grow.
pub struct Used {
    at: Instant,
    server: f64,
    on_its_cpus: f64,
    watched: BTreeMap<String, f64>,
}

impl Used {
    /// CPU seconds until now: of the server, of what it started beside itself, of what the user asked to `watch`.
    pub fn now(
        server: f64,
        others: BTreeMap<String, f64>,
        layout: &Layout,
        watch: &BTreeMap<String, i32>,
    ) -> Used {
        let mut watched = others;
        let asked = watch.iter();
        watched.extend(asked.map(|(name, pid)| (name.clone(), proc::cpu_seconds(*pid))));
        Used {
            at: Instant::now(),
            server,
            on_its_cpus: proc::busy_seconds(&layout.server),
            watched,
        }
    }

    /// CPUs in use between two moments.
    pub fn since(&self, before: &Used) -> CpuUse {
        let seconds = (self.at - before.at).as_secs_f64().max(1e-3);
        let rate = |now: f64, then: f64| ((now - then) / seconds).max(0.0);
        CpuUse {
            server: rate(self.server, before.server),
            on_its_cpus: rate(self.on_its_cpus, before.on_its_cpus),
            watched: self
                .watched
                .iter()
                .filter_map(|(name, now)| {
                    Some((name.clone(), rate(*now, *before.watched.get(name)?)))
                })
                .collect(),
        }
    }
}
