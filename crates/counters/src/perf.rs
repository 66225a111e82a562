//! What the processor counts, by perf events: a group of events per thread, read with the others.
//!
//! Events of one group are on the processor together or not at all, so that their ratios hold; groups take turns when
//! the processor has too few counters, and each group's values are scaled by the time that it was on. Names are the
//! kernel's generic ones, which it maps to each processor's own.

use std::collections::BTreeMap;
use std::io;

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Event, Hardware as Generic};
use perf_event::{Builder, Counter as Perf, Group};

use crate::counter::{Counter, Unit};
use crate::reading::ThreadKey;

/// An event of the processor: what it is called here, and how the kernel knows it.
#[derive(Clone)]
pub struct Wanted {
    name: &'static str,
    title: &'static str,
    builder: fn() -> Builder<'static>,
}

fn generic(event: Generic) -> Builder<'static> {
    Builder::new(event)
}

fn misses(which: CacheId) -> Builder<'static> {
    of(Cache {
        which,
        operation: CacheOp::READ,
        result: CacheResult::MISS,
    })
}

fn of(event: impl Event) -> Builder<'static> {
    Builder::new(event)
}

/// The groups: cycles come with each, so that misses per instruction and per cycle are of the same time.
fn groups() -> Vec<Vec<Wanted>> {
    let wanted = |name, title, builder| Wanted {
        name,
        title,
        builder,
    };
    vec![
        vec![
            wanted("cycles", "cycles", || generic(Generic::CPU_CYCLES)),
            wanted("instructions", "instructions", || {
                generic(Generic::INSTRUCTIONS)
            }),
            wanted("branches", "branches", || {
                generic(Generic::BRANCH_INSTRUCTIONS)
            }),
            wanted("branch_misses", "branch misses", || {
                generic(Generic::BRANCH_MISSES)
            }),
        ],
        vec![
            wanted("l1i_misses", "L1 instruction cache misses", || {
                misses(CacheId::L1I)
            }),
            wanted("l1d_misses", "L1 data cache misses", || {
                misses(CacheId::L1D)
            }),
            wanted("llc_misses", "last level cache misses", || {
                generic(Generic::CACHE_MISSES)
            }),
        ],
        vec![
            wanted("itlb_misses", "instruction TLB misses", || {
                misses(CacheId::ITLB)
            }),
            wanted("dtlb_misses", "data TLB misses", || misses(CacheId::DTLB)),
        ],
    ]
}

/// Why the processor's counters cannot be had, and who can grant them; `None` if they can.
pub fn unavailable() -> Option<String> {
    match opened(&groups()[0][0], 0, false) {
        Ok(_) => None,
        Err(e) => Some(reason(&e, paranoid())),
    }
}

fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Of an error of perf_event_open(2), given the kernel's setting.
fn reason(error: &io::Error, paranoid: Option<i32>) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this machine has no counters of the processor (a virtual machine that is given none): cycles, instructions and \
             misses are not counted; whoever runs the host can grant a virtual PMU"
                .into()
        }
        Some(libc::EACCES | libc::EPERM) => format!(
            "the kernel does not let you read counters of the processor (kernel.perf_event_paranoid is {}): run as root, with \
             CAP_PERFMON, or after `sysctl kernel.perf_event_paranoid=1`; in a container its profile must allow perf_event_open as well",
            paranoid.map_or("unknown".into(), |p| p.to_string())
        ),
        Some(libc::ENOSYS) => {
            "this kernel was built without perf events: cycles, instructions and misses are not counted".into()
        }
        _ => format!("counters of the processor cannot be opened: {error}"),
    }
}

/// `tid` 0 is the calling thread.
fn opened(wanted: &Wanted, tid: i32, kernel: bool) -> io::Result<Perf> {
    (wanted.builder)()
        .observe_pid(tid)
        .any_cpu()
        .exclude_user(kernel)
        .exclude_kernel(!kernel)
        .build()
}

/// Groups of one thread.
struct Open {
    groups: Vec<(Group, Vec<(usize, Perf)>)>,
}

/// The processor's counters of all threads of a process.
pub struct Hardware {
    plan: Vec<Vec<(usize, Wanted, bool)>>,
    counters: Vec<Counter>,
    open: BTreeMap<ThreadKey, Open>,
    /// Threads whose counters could not be opened, and the last reason.
    refused: BTreeMap<ThreadKey, String>,
    /// Share of the time that the least lucky group was on the processor, of all threads that ran.
    least_on: f64,
}

impl Hardware {
    /// What this processor can count of what is wanted, in user mode and in the kernel apart; nothing if none of it.
    pub fn available() -> Hardware {
        Hardware::of(groups(), |wanted, kernel| opened(wanted, 0, kernel).is_ok())
    }

    fn of(groups: Vec<Vec<Wanted>>, can: impl Fn(&Wanted, bool) -> bool) -> Hardware {
        let mut counters = Vec::new();
        let mut plan = Vec::new();
        for group in groups {
            let mut members = Vec::new();
            for wanted in group {
                for (kernel, mode) in [(false, "user"), (true, "kernel")] {
                    if can(&wanted, kernel) {
                        members.push((counters.len(), wanted.clone(), kernel));
                        counters.push(Counter {
                            name: format!("{}_{mode}", wanted.name),
                            title: format!("{}, {mode}", wanted.title),
                            unit: Unit::Count,
                        });
                    }
                }
            }
            if !members.is_empty() {
                plan.push(members);
            }
        }
        Hardware {
            plan,
            counters,
            open: BTreeMap::new(),
            refused: BTreeMap::new(),
            least_on: 1.0,
        }
    }

    /// What [`Hardware::read`] returns, in order.
    pub fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// How many threads could not be counted, and why.
    pub fn refused(&self) -> Option<(usize, &str)> {
        let why = self.refused.values().next_back()?;
        Some((self.refused.len(), why))
    }

    /// Less than 1 if the processor had to take turns: values are estimates then.
    pub fn least_on(&self) -> f64 {
        self.least_on
    }

    /// The thread's counters since they were opened, which the first call does.
    pub fn read(&mut self, key: ThreadKey) -> Vec<f64> {
        let mut values = vec![0.0; self.counters.len()];
        if self.counters.is_empty() || self.refused.contains_key(&key) {
            return values;
        }
        if !self.open.contains_key(&key) {
            match self.begin(key.tid) {
                Ok(open) => {
                    self.open.insert(key, open);
                }
                Err(e) => {
                    self.refused.insert(key, reason(&e, paranoid()));
                    return values;
                }
            }
        }
        let open = self.open.get_mut(&key).expect("it was just opened");
        for (group, members) in &mut open.groups {
            // A thread that has ended is read once more without error; anything else is a bug of ours or the kernel's.
            let Ok(data) = group.read() else { continue };
            let enabled = data.time_enabled().map_or(0.0, |d| d.as_secs_f64());
            let on = data.time_running().map_or(0.0, |d| d.as_secs_f64());
            if enabled > 0.0 {
                self.least_on = self.least_on.min(on / enabled);
            }
            for (at, counter) in members {
                if let Some(entry) = data.get(counter) {
                    values[*at] = scaled(entry.value(), enabled, on);
                }
            }
        }
        values
    }

    fn begin(&self, tid: i32) -> io::Result<Open> {
        let mut groups = Vec::new();
        for members in &self.plan {
            let mut group = Group::builder().observe_pid(tid).any_cpu().build_group()?;
            let mut counters = Vec::new();
            for (at, wanted, kernel) in members {
                let counter = (wanted.builder)()
                    .observe_pid(tid)
                    .any_cpu()
                    .exclude_user(*kernel)
                    .exclude_kernel(!*kernel)
                    .build_with_group(&mut group)?;
                counters.push((*at, counter));
            }
            group.enable()?;
            groups.push((group, counters));
        }
        Ok(Open { groups })
    }

    /// Closes the counters of threads that are gone.
    pub fn keep(&mut self, alive: impl Fn(&ThreadKey) -> bool) {
        self.open.retain(|key, _| alive(key));
    }
}

/// A value that was counted during `on` of the `enabled` seconds, for all of them (perf_event_open(2), PERF_FORMAT_TOTAL_TIME_RUNNING).
fn scaled(value: u64, enabled: f64, on: f64) -> f64 {
    if on > 0.0 {
        value as f64 * enabled / on
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_event::events::Software;

    #[test]
    fn a_group_that_was_on_for_half_of_the_time_counts_twice() {
        assert_eq!(scaled(300, 2.0, 1.0), 600.0);
        assert_eq!(scaled(300, 2.0, 2.0), 300.0);
        assert_eq!(scaled(0, 2.0, 0.0), 0.0);
    }

    #[test]
    fn what_cannot_be_had_is_said_with_who_can_grant_it() {
        let of = |code| reason(&io::Error::from_raw_os_error(code), Some(3));
        assert!(of(libc::ENOENT).contains("virtual PMU"));
        assert!(of(libc::EACCES).contains("perf_event_paranoid is 3"));
        assert!(of(libc::EPERM).contains("CAP_PERFMON"));
        assert!(of(libc::ENOSYS).contains("built without perf events"));
        assert!(of(libc::EMFILE).contains("cannot be opened"));
    }

    /// The processor's events go through the same code: a software event stands in for them where there are none.
    #[test]
    fn groups_count_the_thread_that_they_were_opened_for() {
        let faults = Wanted {
            name: "faults",
            title: "faults",
            builder: || Builder::new(Software::PAGE_FAULTS),
        };
        let mut hardware = Hardware::of(vec![vec![faults]], |_, kernel| !kernel);
        if opened(&hardware.plan[0][0].1, 0, false).is_err() {
            println!("SKIP perf events are not to be had here: {:?}", paranoid());
            return;
        }
        // SAFETY: gettid has no arguments and cannot fail.
        let tid = unsafe { libc::gettid() };
        let key = ThreadKey { tid, began: 0 };
        let before = hardware.read(key)[0];
        // SAFETY: an anonymous private mapping of our own, advised and unmapped below.
        unsafe {
            let size = 4096 * 256;
            let at = libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(at, libc::MAP_FAILED);
            libc::madvise(at, size, libc::MADV_NOHUGEPAGE);
            for page in 0..256 {
                at.cast::<u8>().add(page * 4096).write_volatile(1);
            }
            libc::munmap(at, size);
        }
        let after = hardware.read(key)[0];
        assert!(hardware.refused().is_none(), "{:?}", hardware.refused());
        assert!(after - before >= 256.0, "{before} {after}");
        assert_eq!(hardware.counters()[0].name, "faults_user");
    }

    #[test]
    fn what_the_processor_lacks_has_no_column() {
        let hardware = Hardware::of(groups(), |wanted, _| wanted.name != "l1i_misses");
        let names: Vec<&str> = hardware
            .counters()
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        assert!(names.contains(&"cycles_user") && names.contains(&"dtlb_misses_kernel"));
        assert!(!names.iter().any(|n| n.starts_with("l1i")));
        assert!(Hardware::of(groups(), |_, _| false).counters().is_empty());
    }
}
