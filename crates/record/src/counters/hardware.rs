//! The events of all threads of a process, open and read.

use std::collections::BTreeMap;
use std::io;

use super::perf::{self, Opened, Values, paranoid, reason};
use super::plan::{Event, Plan};
use super::reading::ThreadKey;
use loadline_trace::spool::counters::{Counter, Unit};

/// Share of the time below which a group took turns with others.
const TURNS: f64 = 0.999;

/// A group that this machine counts; of each event, its counter's place if it has one.
struct Fitted {
    events: Vec<Event>,
    places: Vec<Option<usize>>,
    /// Seconds in which it was wanted, and on the processor, of all threads.
    enabled: f64,
    on: f64,
}

/// A group that is open on a thread, and what it said last.
struct Open {
    opened: Opened,
    enabled: f64,
    on: f64,
}

/// The processor's counters of all threads of a process.
pub(super) struct Hardware {
    groups: Vec<Fitted>,
    counters: Vec<Counter>,
    open: BTreeMap<ThreadKey, Vec<Open>>,
    /// Threads whose counters could not be opened, and the last reason.
    refused: BTreeMap<ThreadKey, String>,
    notes: Vec<String>,
}

impl Hardware {
    /// What this machine can count of what is wanted; nothing if none of it.
    pub(super) fn new(plan: &Plan) -> Hardware {
        let hardware = Hardware::of(plan, &|events| perf::open(events, 0).map(drop));
        if !hardware.counters.is_empty() {
            perf::allow_descriptors();
        }
        hardware
    }

    fn of(plan: &Plan, can: &dyn Fn(&[Event]) -> io::Result<()>) -> Hardware {
        let mut hardware = Hardware {
            groups: Vec::new(),
            counters: Vec::new(),
            open: BTreeMap::new(),
            refused: BTreeMap::new(),
            notes: plan.notes.clone(),
        };
        for group in &plan.groups {
            let (fitted, notes) = perf::fit(group.clone(), can);
            hardware.notes.extend(notes);
            for events in fitted {
                hardware.take(events);
            }
        }
        hardware
    }

    fn take(&mut self, events: Vec<Event>) {
        let known = |name: &str| self.counters.iter().any(|c| c.name == name);
        // An event that was asked for twice is counted once.
        if events.iter().all(|e| e.name.is_empty() || known(&e.name)) {
            return;
        }
        let mut places = Vec::with_capacity(events.len());
        for event in &events {
            if event.name.is_empty() || self.counters.iter().any(|c| c.name == event.name) {
                places.push(None);
                continue;
            }
            places.push(Some(self.counters.len()));
            self.counters.push(Counter {
                name: event.name.clone(),
                title: event.title.clone(),
                unit: Unit::Count,
            });
        }
        self.groups.push(Fitted {
            events,
            places,
            enabled: 0.0,
            on: 0.0,
        });
    }

    /// What [`Hardware::read`] returns, in order.
    pub(super) fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// The thread's counters since they were opened, which the first call does.
    pub(super) fn read(&mut self, key: ThreadKey) -> Vec<f64> {
        let mut values = vec![0.0; self.counters.len()];
        if self.counters.is_empty() || self.refused.contains_key(&key) {
            return values;
        }
        if !self.open.contains_key(&key) {
            let groups = self.groups.iter();
            match groups.map(|g| begin(&g.events, key.tid)).collect() {
                Ok(open) => _ = self.open.insert(key, open),
                Err(e) => {
                    self.refused.insert(key, reason(&e, paranoid()));
                    return values;
                }
            }
        }
        let open = self.open.get_mut(&key).expect("it was just opened");
        for (group, open) in self.groups.iter_mut().zip(open) {
            let Some(read) = open.opened.read() else {
                continue;
            };
            group.enabled += read.enabled - open.enabled;
            group.on += read.on - open.on;
            (open.enabled, open.on) = (read.enabled, read.on);
            for ((place, event), count) in group.places.iter().zip(&group.events).zip(&read.counts)
            {
                if let Some(at) = place {
                    values[*at] = event.scale * scaled(*count, &read);
                }
            }
        }
        values
    }

    /// Closes the counters of threads that are gone.
    pub(super) fn keep(&mut self, alive: impl Fn(&ThreadKey) -> bool) {
        self.open.retain(|key, _| alive(key));
        self.refused.retain(|key, _| alive(key));
    }

    /// What of it could not be had after all, for the reader of the figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        if let Some(why) = self.refused.values().next_back() {
            notes.push(format!(
                "{} threads are without counters of the processor: {why}",
                self.refused.len()
            ));
        }
        let never = self.never();
        if !never.is_empty() {
            notes.push(format!(
                "{} never got on the processor, whose counters something else holds (the NMI watchdog? `sysctl kernel.nmi_watchdog=0`): \
                 they are left out",
                never.join(", ")
            ));
        }
        let least = self
            .groups
            .iter()
            .filter(|g| g.on > 0.0)
            .map(|g| g.on / g.enabled);
        let least = least.fold(1.0, f64::min);
        if least < TURNS {
            notes.push(format!("the processor has fewer counters than were asked for: groups took turns, the least lucky was on for {:.0}% of the time, and its values are scaled", least * 100.0));
        }
        notes
    }

    /// Counters that threads wanted while they ran, and that the processor never had room for.
    pub(super) fn never(&self) -> Vec<String> {
        let starved = self
            .groups
            .iter()
            .filter(|g| g.enabled > 0.0 && g.on <= 0.0);
        let places = starved.flat_map(|g| g.places.iter().flatten());
        places.map(|at| self.counters[*at].name.clone()).collect()
    }
}

fn begin(events: &[Event], tid: i32) -> io::Result<Open> {
    Ok(Open {
        opened: perf::open(events, tid)?,
        enabled: 0.0,
        on: 0.0,
    })
}

/// A value that was counted for `on` of the `enabled` seconds, for all of them (perf_event_open(2), PERF_FORMAT_TOTAL_TIME_RUNNING).
fn scaled(count: u64, of: &Values) -> f64 {
    if of.on > 0.0 {
        count as f64 * of.enabled / of.on
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{Group, Mode, software};
    use super::*;
    use std::io::Write;

    #[test]
    fn a_group_that_was_on_for_half_of_the_time_counts_twice() {
        let of = |enabled, on| Values {
            counts: Vec::new(),
            enabled,
            on,
        };
        assert_eq!(scaled(300, &of(2.0, 1.0)), 600.0);
        assert_eq!(scaled(300, &of(2.0, 2.0)), 300.0);
        assert_eq!(scaled(0, &of(2.0, 0.0)), 0.0);
    }

    #[test]
    fn turns_and_what_never_had_one_are_said() {
        let mut hardware = Hardware::of(&Plan::generic(None), &|_| Ok(()));
        assert!(hardware.notes().is_empty());
        (hardware.groups[0].enabled, hardware.groups[0].on) = (10.0, 4.0);
        (hardware.groups[1].enabled, hardware.groups[1].on) = (10.0, 0.0);
        assert_eq!(
            hardware.never(),
            [
                "cycles_kernel",
                "instructions_kernel",
                "branches_kernel",
                "branch_misses_kernel"
            ]
        );
        let notes = hardware.notes();
        assert!(
            notes[0].contains("nmi_watchdog") && notes[1].contains("on for 40%"),
            "{notes:?}"
        );
    }

    /// The processor's events go through the same code: a software event stands in for them where there are none.
    #[test]
    fn groups_count_the_thread_that_they_were_opened_for() {
        let faults = Event {
            mode: Mode::User,
            scale: 2.0,
            ..software("page-faults").expect("perf has it")
        };
        let switches = software("context-switches").expect("perf has it");
        let plan = Plan {
            groups: vec![Group {
                events: vec![switches, faults],
                whole: true,
            }],
            notes: Vec::new(),
        };
        let mut hardware = Hardware::new(&plan);
        if hardware.counters().is_empty() {
            // Past the test runner's capture, where skipped tests are counted.
            let _ = writeln!(
                std::io::stderr(),
                "SKIP groups_count_the_thread: perf events are not to be had here: {:?}",
                hardware.notes()
            );
            return;
        }
        // SAFETY: gettid has no arguments and cannot fail.
        let tid = unsafe { libc::gettid() };
        let key = ThreadKey { tid, began: 0 };
        let before = hardware.read(key)[1];
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
        let after = hardware.read(key)[1];
        assert!(hardware.notes().is_empty(), "{:?}", hardware.notes());
        assert!(
            after - before >= 512.0,
            "each of 256 is worth 2: {before} {after}"
        );
        assert_eq!(hardware.counters()[1].name, "perf_page_faults");
    }

    #[test]
    fn what_the_processor_lacks_has_no_column() {
        let no_l1i = |events: &[Event]| match events.iter().any(|e| e.name.starts_with("l1i")) {
            true => Err(io::Error::from_raw_os_error(libc::ENOENT)),
            false => Ok(()),
        };
        let hardware = Hardware::of(&Plan::generic(None), &no_l1i);
        let names: Vec<&str> = hardware
            .counters()
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        assert!(names.contains(&"cycles_user") && names.contains(&"dtlb_misses_kernel"));
        assert!(!names.iter().any(|n| n.starts_with("l1i") || n.is_empty()));
        let none = Hardware::of(&Plan::generic(None), &|_| {
            Err(io::Error::from_raw_os_error(libc::ENOENT))
        });
        assert!(none.counters().is_empty() && none.notes().is_empty());
    }
}
