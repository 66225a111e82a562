//! Values of options that are more than a number or a word.

use std::time::Duration;

use loadline_record::{Options, methods};
use loadline_trace::spool::agent::vm_log;

use crate::show;

/// From how long a wait on its stack is wanted.
#[derive(Clone, Copy)]
pub struct Stacks(pub Option<Duration>);

/// A time, or off.
pub fn parse_stacks(text: &str) -> Result<Stacks, String> {
    match text {
        "off" => Ok(Stacks(None)),
        time => show::parse_duration(time).map(|least| Stacks(Some(least))),
    }
}

/// After how much CPU time of a thread its stack is wanted.
#[derive(Clone, Copy)]
pub struct Samples(pub Option<Duration>);

/// A time that is not too short, or off.
pub fn parse_samples(text: &str) -> Result<Samples, String> {
    /// The kernel looks at CPU time once a tick, which is longer.
    const SHORTEST: Duration = Duration::from_millis(1);
    match text {
        "off" => Ok(Samples(None)),
        time => match show::parse_duration(time)? {
            every if every < SHORTEST => Err("it must be 1ms or more".into()),
            every => Ok(Samples(Some(every))),
        },
    }
}

/// After how many bytes that a thread allocates the allocation is sampled.
#[derive(Clone, Copy)]
pub struct Allocations(pub Option<u64>);

/// A size that the JVM can sample by, or off.
pub fn parse_allocations(text: &str) -> Result<Allocations, String> {
    match text {
        "off" => Ok(Allocations(None)),
        size => match show::parse_size(size)? {
            size if Options::ALLOCATIONS.contains(&size) => Ok(Allocations(Some(size))),
            _ => Err("it must be from 1K to 1G".into()),
        },
    }
}

/// What more the JVM's log is to say, as bits.
pub fn vm_log(wanted: &[String]) -> u64 {
    let bit = |name: &String| match name.as_str() {
        "gc-phases" => vm_log::GC_PHASES,
        "compilations" => vm_log::COMPILATIONS,
        "deoptimizations" => vm_log::DEOPTIMIZATIONS,
        "class-loads" => vm_log::CLASS_LOADS,
        _ => vm_log::ALL,
    };
    wanted.iter().map(bit).fold(0, |all, bit| all | bit)
}

/// A filter of methods.
pub fn parse_filter(text: &str) -> Result<String, String> {
    methods::check(text).map(|()| text.to_owned())
}

/// A filter of threads.
pub fn parse_thread_filter(text: &str) -> Result<String, String> {
    methods::check_thread(text).map(|()| text.to_owned())
}

/// A class, or what some begin with.
pub fn parse_class(text: &str) -> Result<String, String> {
    methods::check_class(text).map(|()| text.to_owned())
}
