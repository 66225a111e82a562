//! What ran on the CPUs: samples in the agent's spool become rows of `samples`.
//!
//! A sample names a thread of the kernel: if that carried a virtual thread then, it is that one's.

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::frames;
use loadline_trace::tables::Sample;

use crate::mounts::Mounts;
use crate::threads::Threads;

/// Kind of what was running.
pub const CPU: &str = "cpu";

/// The sample that an event tells of, if it does and lies within the limits; its stack is the id of a frame in the spool.
pub fn sample(
    e: &Event,
    threads: &Threads,
    mounts: &Mounts,
    (begin, end): (i64, i64),
) -> Option<Sample> {
    if e.kind != ev::SAMPLE || e.ts < begin || e.ts > end {
        return None;
    }
    let (stack, weight) = frames::of_sample(e.b);
    let thread = threads.by_nstid(u32::try_from(e.a).ok()?, e.ts)?;
    Some(Sample {
        ts_ns: e.ts,
        thread: i64::from(mounts.on(thread, e.ts).unwrap_or(thread)),
        kind: CPU,
        weight,
        class: None,
        stack: i64::from(stack),
    })
}
