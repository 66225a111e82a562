//! The kernel side alone, on any process, for `bench/drain-rate`: how many events a second reach
//! the spools without loss, and what the draining costs.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::drain::Drain;
use crate::error::{Error, Result, io};
use crate::kernel::{Kernel, Storage, Wanted};
use crate::ring::Ring;
use crate::sys::now_ns;

/// What was drained in a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drained {
    /// The time, in seconds.
    pub seconds: f64,
    /// Records that reached the spools.
    pub records: u64,
    /// Records that found their ring full.
    pub lost: u64,
    /// Bytes of the spools.
    pub bytes: u64,
    /// CPU time of the draining thread, in seconds.
    pub cpu_seconds: f64,
}

/// Drains the events of `pid`, whatever it is, into `dir` for `time`.
pub fn drain(
    pid: i32,
    dir: &Path,
    syscalls: bool,
    ring_bytes: usize,
    time: Duration,
) -> Result<Drained> {
    let mut storage = Storage::uninit();
    let wanted = Wanted {
        scheduler: true,
        syscalls,
    };
    let mut kernel = Kernel::load(&mut storage, wanted, ring_bytes).map_err(Error::NoLevel)?;
    let (maps, size) = kernel.rings();
    let mut rings = Vec::new();
    for (cpu, map) in maps.iter().enumerate() {
        let path = dir.join(format!("kernel.{cpu}"));
        let spool = File::create(&path).map_err(io(&path))?;
        rings.push(Ring::new(map, size, spool).map_err(io(&path))?);
    }
    let mut drain = Drain::start(rings, None).map_err(io(dir))?;
    kernel.attach(pid).map_err(Error::NoLevel)?;
    let begin = now_ns();
    std::thread::sleep(time);
    let seconds = (now_ns() - begin) as f64 / 1e9;
    kernel.detach();
    drain.finish().map_err(io(dir))?;
    let counts = drain.counts();
    Ok(Drained {
        seconds,
        records: counts.records.load(Ordering::Relaxed),
        lost: kernel.lost(),
        bytes: counts.bytes.load(Ordering::Relaxed),
        cpu_seconds: counts.cpu_ns.load(Ordering::Relaxed) as f64 / 1e9,
    })
}
