//! What ran on the CPUs, and what was allocated: samples in the agent's spool become rows of `samples`.
//!
//! A sample of what ran names a thread of the kernel: if that carried a virtual thread then, it is that one's. One of what was
//! allocated is written by its thread. Both stand for more than themselves, so that sums of weights are what they estimate:
//! CPU time, and bytes.

use std::borrow::Cow;
use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::frames;
use loadline_trace::tables::Sample;

use crate::model::NONE;
use crate::mounts::Mounts;
use crate::threads::Threads;

/// Kind of what was running.
pub const CPU: &str = "cpu";
/// Kind of what was allocated.
pub const ALLOC: &str = "alloc";

/// The sample that an event of `thread` tells of, if it does and lies within the limits; its stack is the id of a frame in the spool.
pub fn sample(
    e: &Event,
    thread: u32,
    threads: &Threads,
    mounts: &Mounts,
    (begin, end): (i64, i64),
    text: &dyn Fn(u32) -> Option<Arc<str>>,
) -> Option<Sample> {
    if !matches!(e.kind, ev::SAMPLE | ev::ALLOCATION) || e.ts < begin || e.ts > end {
        return None;
    }
    if e.kind == ev::ALLOCATION {
        let (stack, size) = frames::of_allocation(e.b);
        return (thread != NONE).then(|| Sample {
            ts_ns: e.ts,
            thread: i64::from(thread),
            kind: ALLOC,
            weight: i64::try_from(e.a).unwrap_or(i64::MAX),
            class: text(e.c).map(|name| class_name(&name).into()),
            stack: i64::from(stack),
            size: Some(size),
        });
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
        size: None,
    })
}

/// A class as sources have it: `[[I` and `[Ljava.lang.String;` become `int[][]` and `java.lang.String[]`.
pub fn class_name(name: &str) -> Cow<'_, str> {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    if dimensions == 0 {
        return Cow::Borrowed(name);
    }
    let element = match element {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        other => other
            .strip_prefix('L')
            .map_or(other, |c| c.trim_end_matches(';')),
    };
    Cow::Owned(element.to_owned() + &"[]".repeat(dimensions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_named_as_in_sources() {
        for (name, shown) in [
            ("[B", "byte[]"),
            ("[[J", "long[][]"),
            ("[Ljava.lang.String;", "java.lang.String[]"),
            ("shop.Cart", "shop.Cart"),
            ("shop.Cart$$Lambda", "shop.Cart$$Lambda"),
        ] {
            assert_eq!(class_name(name), shown);
        }
    }
}
