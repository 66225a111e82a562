//! What `/proc` says of a process and its threads at one moment.

use std::collections::BTreeMap;

use super::software::{
    CPU, INVOLUNTARY, KERNEL, MAJOR, MIGRATIONS, MINOR, SOFTWARE, USER, VOLUNTARY, WAITING,
};
use crate::procfs::counters::ticks_per_second;
use crate::procfs::{parse, threads};
use crate::sys::{now_ns, process_cpu_ns};

/// A thread: its id, and when it began, because ids are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadKey {
    pub tid: i32,
    pub began: u64,
}

/// One thread's counters so far.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadReading {
    /// The kernel's name of it: 15 characters at most.
    pub comm: String,
    pub values: [f64; SOFTWARE],
}

/// All that was counted so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// CLOCK_MONOTONIC.
    pub at_ns: i64,
    pub threads: BTreeMap<ThreadKey, ThreadReading>,
    /// Of the process with all threads that it ever had; what the kernel does not keep is 0.
    pub process: [f64; SOFTWARE],
}

/// Reads it. `None` if the process is gone.
pub fn read(pid: i32) -> Option<Reading> {
    let at_ns = now_ns();
    let mut all = BTreeMap::new();
    for tid in threads::tids(pid) {
        if let Some((key, reading)) = thread(pid, tid) {
            all.insert(key, reading);
        }
    }
    let stat = parse::stat(&file(&format!("/proc/{pid}/stat"))?)?;
    let mut process = [0.0; SOFTWARE];
    ticks_and_faults(&stat, &mut process);
    process[CPU] = process_cpu_ns(pid).ok()? as f64;
    Some(Reading {
        at_ns,
        threads: all,
        process,
    })
}

fn thread(pid: i32, tid: i32) -> Option<(ThreadKey, ThreadReading)> {
    let of = |name: &str| file(&format!("/proc/{pid}/task/{tid}/{name}"));
    let stat = parse::stat(&of("stat")?)?;
    let status = of("status")?;
    let mut values = [0.0; SOFTWARE];
    ticks_and_faults(&stat, &mut values);
    if let Some((running, waiting)) = parse::schedstat(&of("schedstat")?) {
        values[CPU] = running as f64;
        values[WAITING] = waiting as f64;
    }
    let count = |name| {
        parse::status(&status, name)
            .and_then(|v| v.parse().ok())
            .unwrap_or(0.0)
    };
    values[VOLUNTARY] = count("voluntary_ctxt_switches");
    values[INVOLUNTARY] = count("nonvoluntary_ctxt_switches");
    // Kernels without CONFIG_SCHED_DEBUG have no such file: `Machine` says so.
    values[MIGRATIONS] = of("sched").and_then(|t| migrations_of(&t)).unwrap_or(0.0);
    let key = ThreadKey {
        tid,
        began: stat.began,
    };
    let comm = stat.comm;
    Some((key, ThreadReading { comm, values }))
}

fn ticks_and_faults(stat: &parse::Stat, values: &mut [f64; SOFTWARE]) {
    let nanos = |ticks: u64| ticks as f64 * 1e9 / ticks_per_second();
    values[USER] = nanos(stat.ticks[0]);
    values[KERNEL] = nanos(stat.ticks[1]);
    values[MINOR] = stat.faults[0] as f64;
    values[MAJOR] = stat.faults[1] as f64;
}

/// Migrations: `se.nr_migrations : 12` of `/proc/PID/task/TID/sched`.
pub fn migrations_of(text: &str) -> Option<f64> {
    text.lines()
        .find_map(|l| l.strip_prefix("se.nr_migrations"))?
        .rsplit(':')
        .next()?
        .trim()
        .parse()
        .ok()
}

fn file(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_does_is_counted_with_it() {
        let pid = std::process::id() as i32;
        let before = read(pid).unwrap();
        // SAFETY: gettid has no arguments and cannot fail.
        let tid = unsafe { libc::gettid() };
        let mut memory = vec![0u8; 64 << 20];
        for page in memory.chunks_mut(4096) {
            page[0] = 1;
        }
        for _ in 0..5 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let after = read(pid).unwrap();
        assert_eq!(
            memory.iter().step_by(4096).filter(|b| **b == 1).count(),
            16_384
        );
        let of = |r: &Reading| {
            r.threads
                .iter()
                .find(|(k, _)| k.tid == tid)
                .map(|(_, t)| t.values)
                .unwrap()
        };
        let (b, a) = (of(&before), of(&after));
        assert!(a[CPU] > b[CPU]);
        assert!(
            a[VOLUNTARY] >= b[VOLUNTARY] + 5.0,
            "five sleeps: {b:?} {a:?}"
        );
        // Large pages may serve many of these at once.
        assert!(a[MINOR] >= b[MINOR] + 32.0, "{b:?} {a:?}");
        assert!(after.process[CPU] >= a[CPU] - b[CPU]);
    }

    #[test]
    fn migrations_are_read_from_the_schedulers_file() {
        let text = "java (1, #threads: 3)\n----\nse.exec_start                                :        123.4\nse.nr_migrations                             :                   17\n";
        assert_eq!(migrations_of(text), Some(17.0));
        assert_eq!(migrations_of("nothing"), None);
    }

    #[test]
    fn a_process_that_is_gone_has_no_reading() {
        assert!(read(i32::MAX).is_none());
    }
}
