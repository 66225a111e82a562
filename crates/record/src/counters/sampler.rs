//! Reads a process again and again, and keeps what each thread counted between two readings.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loadline_trace::spool::counters::{Counted, Counter, Slice};

use super::hardware::Hardware;
use super::plan::Plan;
use super::reading::{Reading, ThreadKey, read};
use super::software::{self, CPU, KERNEL, MAJOR, MINOR, SOFTWARE, USER};
use crate::sys::{thread_cpu_ns, thread_cpu_since};

/// A reading may take this part of the time until the next: one hundredth of a CPU.
const SHARE: u32 = 100;
/// How often the sampler looks whether it should end.
const LOOK: Duration = Duration::from_millis(20);

/// When to read: every so often, or less often where reading would take too much.
pub(super) struct Pace {
    every: Duration,
    pub(super) next: Instant,
}

impl Pace {
    pub(super) fn new(every: Duration) -> Pace {
        Pace {
            every,
            next: Instant::now() + every,
        }
    }

    pub(super) fn due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Reads, and sets the next time by what it cost.
    pub(super) fn take<T>(&mut self, read: impl FnOnce() -> T) -> T {
        let (begun, cpu) = (Instant::now(), thread_cpu_ns());
        let taken = read();
        self.next = begun + self.every.max(thread_cpu_since(cpu) * SHARE);
        taken
    }
}

/// Counts a process, slice by slice.
pub struct Sampler {
    pid: i32,
    hardware: Hardware,
    last: Reading,
    last_hardware: BTreeMap<ThreadKey, Vec<f64>>,
    /// The counters, in the order of each slice's values.
    pub counters: Vec<Counter>,
}

impl Sampler {
    /// Takes the first reading; `None` if the process is gone.
    pub fn begin(pid: i32, plan: &Plan) -> Option<Sampler> {
        let mut hardware = Hardware::new(plan);
        let last = read(pid)?;
        let last_hardware = last
            .threads
            .keys()
            .map(|&key| (key, hardware.read(key)))
            .collect();
        let mut counters = software::all();
        counters.extend_from_slice(hardware.counters());
        Some(Sampler {
            pid,
            hardware,
            last,
            last_hardware,
            counters,
        })
    }

    /// Ends a slice here; `None` if the process is gone.
    pub fn slice(&mut self) -> Option<Slice> {
        let now = read(self.pid)?;
        let hardware: BTreeMap<ThreadKey, Vec<f64>> = now
            .threads
            .keys()
            .map(|&key| (key, self.hardware.read(key)))
            .collect();
        self.hardware.keep(|key| now.threads.contains_key(key));
        let slice = difference(&self.last, &now, &self.last_hardware, &hardware);
        self.last = now;
        self.last_hardware = hardware;
        Some(slice)
    }

    /// Slices of `every`, or longer where reading them would take too much, until `stop`, or until the process ends.
    pub fn run(mut self, every: Duration, stop: &AtomicBool) -> Counted {
        let mut slices = Vec::new();
        let mut pace = Pace::new(every);
        loop {
            while !pace.due() && !stop.load(Ordering::Relaxed) {
                let left = pace.next.saturating_duration_since(Instant::now());
                std::thread::sleep(LOOK.min(left));
            }
            let Some(slice) = pace.take(|| self.slice()) else {
                break;
            };
            slices.push(slice);
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        let mut counted = Counted {
            counters: self.counters.clone(),
            slices,
            notes: self.notes(),
        };
        counted.leave_out(&self.never());
        counted
    }

    /// What of the processor's counters could not be had after all, for the reader of the figures.
    pub fn notes(&self) -> Vec<String> {
        self.hardware.notes()
    }

    /// Names of counters that never got on the processor.
    pub fn never(&self) -> Vec<String> {
        self.hardware.never()
    }
}

fn difference(
    before: &Reading,
    after: &Reading,
    hardware_before: &BTreeMap<ThreadKey, Vec<f64>>,
    hardware_after: &BTreeMap<ThreadKey, Vec<f64>>,
) -> Slice {
    let width = SOFTWARE + hardware_after.values().next().map_or(0, Vec::len);
    let mut threads = BTreeMap::new();
    let mut living = [0.0; SOFTWARE];
    for (key, now) in &after.threads {
        let then = before
            .threads
            .get(key)
            .map_or([0.0; SOFTWARE], |t| t.values);
        let mut values = vec![0.0; width];
        for (at, value) in values.iter_mut().enumerate().take(SOFTWARE) {
            *value = (now.values[at] - then[at]).max(0.0);
            living[at] += *value;
        }
        if let Some(now) = hardware_after.get(key) {
            let then = hardware_before.get(key);
            for (at, value) in now.iter().enumerate() {
                values[SOFTWARE + at] = (value - then.map_or(0.0, |t| t[at])).max(0.0);
            }
        }
        if values.iter().any(|v| *v > 0.0) {
            threads.insert(key.tid, (now.comm.clone(), values));
        }
    }
    let mut ended = vec![0.0; width];
    for at in [CPU, USER, KERNEL, MINOR, MAJOR] {
        // Reading takes time, in which threads run on: a little of one slice may stand in the next, so that this may be
        // less than nothing. Over all slices it is what ended threads counted.
        ended[at] = after.process[at] - before.process[at] - living[at];
    }
    Slice {
        begin_ns: before.at_ns,
        end_ns: after.at_ns,
        threads,
        ended,
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::ThreadReading;
    use super::*;

    fn reading(at_ns: i64, threads: &[(i32, u64, f64)], process_cpu: f64) -> Reading {
        let mut process = [0.0; SOFTWARE];
        process[CPU] = process_cpu;
        Reading {
            at_ns,
            threads: threads
                .iter()
                .map(|&(tid, began, cpu)| {
                    let mut values = [0.0; SOFTWARE];
                    values[CPU] = cpu;
                    let comm = format!("t{tid}");
                    (ThreadKey { tid, began }, ThreadReading { comm, values })
                })
                .collect(),
            process,
        }
    }

    fn between(before: &Reading, after: &Reading) -> Slice {
        difference(before, after, &BTreeMap::new(), &BTreeMap::new())
    }

    #[test]
    fn a_slice_has_what_each_thread_added() {
        let slice = between(
            &reading(10, &[(1, 0, 5.0), (2, 0, 7.0)], 12.0),
            &reading(20, &[(1, 0, 9.0), (2, 0, 7.0)], 16.0),
        );
        assert_eq!((slice.begin_ns, slice.end_ns), (10, 20));
        assert_eq!(slice.threads[&1].1[CPU], 4.0);
        assert!(!slice.threads.contains_key(&2), "it counted nothing");
        assert_eq!(slice.ended[CPU], 0.0);
    }

    #[test]
    fn a_thread_that_takes_the_id_of_one_that_ended_begins_at_zero() {
        let slice = between(
            &reading(0, &[(1, 100, 50.0)], 50.0),
            &reading(1, &[(1, 200, 3.0)], 60.0),
        );
        assert_eq!(slice.threads[&1].1[CPU], 3.0);
        assert_eq!(
            slice.ended[CPU], 7.0,
            "what the first counted before it ended"
        );
    }

    #[test]
    fn a_sampler_counts_what_this_process_does() {
        let pid = std::process::id() as i32;
        let mut sampler = Sampler::begin(pid, &Plan::generic(None)).unwrap();
        let begun = Instant::now();
        let mut sum = 0u64;
        while begun.elapsed() < Duration::from_millis(80) {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        let slice = sampler.slice().unwrap();
        let cpu: f64 = slice.threads.values().map(|(_, v)| v[CPU]).sum();
        let wall = (slice.end_ns - slice.begin_ns) as f64;
        // Waiting for a CPU counts as well: the machine may be busy.
        let waited: f64 = slice
            .threads
            .values()
            .map(|(_, v)| v[software::WAITING])
            .sum();
        assert!(cpu > 1e6 && cpu + waited > 0.7 * 80e6, "{cpu} of {wall}");
    }
}
