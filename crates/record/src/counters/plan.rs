//! What is asked of the processor: events, in groups.

/// In which mode of the processor an event counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The program's own code.
    User,
    /// The kernel on its behalf.
    Kernel,
    /// Either.
    Both,
}

/// What perf_event_open(2) is asked to count.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Of the counter, in tables.
    pub name: String,
    /// For people.
    pub title: String,
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// And its configuration.
    pub config: u64,
    /// As above.
    pub config1: u64,
    /// As above.
    pub config2: u64,
    /// As above.
    pub config3: u64,
    /// What a count is worth, as the kernel's file `EVENT.scale` says.
    pub scale: f64,
    /// When it counts.
    pub mode: Mode,
}

/// Events that are on the processor together or not at all, so that their ratios hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The first leads: some processors want theirs there (Intel's `slots`).
    pub events: Vec<Event>,
    /// All of it or nothing: its events mean something together only. Else what the processor lacks is left out, and
    /// what does not fit together is counted apart.
    pub whole: bool,
}

/// Everything that is wanted of the processor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// They take turns where the processor has too few counters.
    pub groups: Vec<Group>,
    /// What a reader must know of it.
    pub notes: Vec<String>,
}

/// `perf_type_id` and `perf_hw_id` of linux/perf_event.h.
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;

fn event(name: &str, title: &str, kind: u32, config: u64) -> Event {
    Event {
        name: name.into(),
        title: title.into(),
        kind,
        config,
        config1: 0,
        config2: 0,
        config3: 0,
        scale: 1.0,
        mode: Mode::Both,
    }
}

/// `perf_hw_cache_id`, read, miss.
const fn misses(cache: u64) -> u64 {
    cache | 1 << 16
}

/// The kernel's generic events, which it maps to each processor's own. Cycles come with each group, so that misses per
/// instruction and per cycle are of the same time.
fn generic() -> [Vec<Event>; 4] {
    let cycles = || event("cycles", "cycles", HARDWARE, 0);
    [
        vec![
            cycles(),
            event("instructions", "instructions", HARDWARE, 1),
            event("branches", "branches", HARDWARE, 4),
            event("branch_misses", "branch misses", HARDWARE, 5),
        ],
        vec![
            cycles(),
            event("l1d_misses", "L1 data cache misses", CACHE, misses(0)),
            event(
                "l1i_misses",
                "L1 instruction cache misses",
                CACHE,
                misses(1),
            ),
            event("llc_misses", "last level cache misses", HARDWARE, 3),
        ],
        vec![
            cycles(),
            event("dtlb_misses", "data TLB misses", CACHE, misses(3)),
            event("itlb_misses", "instruction TLB misses", CACHE, misses(4)),
        ],
        vec![
            cycles(),
            event(
                "stalls_frontend",
                "cycles stalled for instructions",
                HARDWARE,
                7,
            ),
            event("stalls_backend", "cycles stalled for data", HARDWARE, 8),
        ],
    ]
}

/// A software event (`perf_sw_ids`), as perf calls it.
pub fn software(name: &str) -> Option<Event> {
    const NAMES: [(&str, u64); 9] = [
        ("cpu-clock", 0),
        ("task-clock", 1),
        ("page-faults", 2),
        ("context-switches", 3),
        ("cpu-migrations", 4),
        ("minor-faults", 5),
        ("major-faults", 6),
        ("alignment-faults", 7),
        ("emulation-faults", 8),
    ];
    let (_, config) = NAMES.iter().find(|n| n.0 == name)?;
    // A name of its own: /proc's figures are called minor_faults and so on.
    let column = format!("perf_{}", name.replace('-', "_"));
    Some(event(&column, name, SOFTWARE, *config))
}

impl Plan {
    /// The generic events in user mode and in the kernel, each group in one mode: in both it would be too large for most
    /// processors. `pmu` is the type of the PMU that they are for, where a processor has several.
    pub fn generic(pmu: Option<u32>) -> Plan {
        let mut groups = Vec::new();
        for (at, of) in generic().into_iter().enumerate() {
            for (mode, name, title) in [
                (Mode::User, "user", "user"),
                (Mode::Kernel, "kernel", "kernel"),
            ] {
                let events = of.iter().enumerate().map(|(place, event)| {
                    // One counter of each name: the cycles of later groups only keep these company.
                    let name = match (at, place) {
                        (1.., 0) => String::new(),
                        _ => format!("{}_{name}", event.name),
                    };
                    Event {
                        name,
                        title: format!("{}, {title}", event.title),
                        mode,
                        // PERF_PMU_CAP_EXTENDED_HW_TYPE: the PMU's type is the upper half.
                        config: event.config | u64::from(pmu.unwrap_or(0)) << 32,
                        ..event.clone()
                    }
                });
                groups.push(Group {
                    events: events.collect(),
                    whole: false,
                });
            }
        }
        Plan {
            groups,
            notes: Vec::new(),
        }
    }

    /// With events that a user named, each for itself.
    pub fn with(mut self, events: Vec<Event>) -> Plan {
        self.groups.extend(events.into_iter().map(|event| Group {
            events: vec![event],
            whole: true,
        }));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_of_one_mode_and_led_by_cycles() {
        let plan = Plan::generic(Some(10));
        assert_eq!(plan.groups.len(), 8);
        let mut names = std::collections::BTreeSet::new();
        for group in &plan.groups {
            assert!(
                group.events.len() <= 4,
                "most processors have four counters"
            );
            assert!(group.events.iter().all(|e| e.mode == group.events[0].mode));
            assert!(group.events.iter().all(|e| e.config >> 32 == 10));
            assert_eq!(group.events[0].title.split(',').next(), Some("cycles"));
            for event in group.events.iter().filter(|e| !e.name.is_empty()) {
                assert!(names.insert(event.name.clone()), "{} twice", event.name);
            }
        }
        assert!(names.contains("cycles_user") && names.contains("dtlb_misses_kernel"));
    }

    #[test]
    fn software_events_have_perfs_names() {
        assert_eq!(
            software("alignment-faults").map(|e| (e.kind, e.config)),
            Some((1, 7))
        );
        assert_eq!(software("cycles"), None);
    }
}
