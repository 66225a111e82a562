//! The kernel's own names of events: `/sys/bus/event_source/devices` (Documentation/ABI/testing/sysfs-bus-event_source-devices-*).
//!
//! Terms: a *PMU* is a directory there: its `type`, its `format` (which bits of perf_event_attr a term is), its `events`
//! (names, as terms); a PMU of the *cores* is `cpu`, or has a file `cpus`, by which perf tells it too. A processor with
//! several of these is *hybrid*: an event counts on the cores of its PMU only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::plan::{Event, Mode};

/// Where the kernel has them.
pub const DEVICES: &str = "/sys/bus/event_source/devices";

/// A PMU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pmu {
    /// Its directory's name.
    pub name: String,
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// CPUs that it is of, as the kernel writes a list; empty if of all.
    pub cpus: String,
    dir: PathBuf,
    core: bool,
}

impl Pmu {
    /// Its names of events, sorted.
    pub fn events(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.join("events"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|n| !n.ends_with(".scale") && !n.ends_with(".unit"))
            .collect();
        names.sort();
        names
    }

    /// Whether it has an event of this name.
    pub fn has(&self, event: &str) -> bool {
        self.dir.join("events").join(event).is_file()
    }

    /// The event of this name, with its scale, in both modes.
    pub fn named(&self, event: &str) -> Result<Event, String> {
        let path = self.dir.join("events").join(event);
        let terms = read(&path).ok_or_else(|| format!("{} cannot be read", path.display()))?;
        let mut found = self.terms(&terms)?;
        found.name = column(event);
        found.title = event.to_owned();
        if let Some(scale) = read(&self.dir.join("events").join(format!("{event}.scale"))) {
            found.scale = scale
                .parse()
                .map_err(|_| format!("{}.scale is {scale:?}, not a number", path.display()))?;
        }
        Ok(found)
    }

    /// The event that terms describe (`event=0xc2,umask=0x02`), by this PMU's format.
    pub fn terms(&self, terms: &str) -> Result<Event, String> {
        let mut configs = [0u64; 4];
        for term in terms.split(',').filter(|t| !t.is_empty()) {
            let (name, value) = term.split_once('=').unwrap_or((term, "1"));
            if value == "?" {
                return Err(format!(
                    "{terms} of {} needs a value for {name}: write {}/…,{name}=N/",
                    self.name, self.name
                ));
            }
            let value = number(value)
                .ok_or_else(|| format!("{name}={value} of {} is not a number", self.name))?;
            let format = match read(&self.dir.join("format").join(name)) {
                Some(text) => text,
                // Whole words of perf_event_attr need no format.
                None if ["config", "config1", "config2"].contains(&name) => format!("{name}:0-63"),
                None => {
                    return Err(format!(
                        "{} has no term {name}: it has {}",
                        self.name,
                        self.formats().join(", ")
                    ));
                }
            };
            let (word, bits) = bits(&format)
                .ok_or_else(|| format!("format {name} of {} is {format:?}", self.name))?;
            configs[word] |= spread(value, &bits).ok_or_else(|| {
                format!(
                    "{name}={value:#x} of {} has more bits than its format, {format}",
                    self.name
                )
            })?;
        }
        Ok(Event {
            name: column(&format!("{}_{terms}", self.name)),
            title: format!("{}/{terms}/", self.name),
            kind: self.kind,
            config: configs[0],
            config1: configs[1],
            config2: configs[2],
            config3: configs[3],
            scale: 1.0,
            mode: Mode::Both,
        })
    }

    fn formats(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.join("format"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// A file of `caps`, as ARM's `slots`.
    pub fn cap(&self, name: &str) -> Option<u64> {
        read(&self.dir.join("caps").join(name)).and_then(|t| number(&t))
    }
}

/// All that a kernel exports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pmus(BTreeMap<String, Pmu>);

impl Pmus {
    /// Reads a tree as [`DEVICES`] is; an empty one if there is none.
    pub fn read(devices: &Path) -> Pmus {
        let mut all = BTreeMap::new();
        for entry in std::fs::read_dir(devices).into_iter().flatten().flatten() {
            let (dir, name) = (entry.path(), entry.file_name());
            let (Some(name), Some(kind)) = (
                name.to_str(),
                read(&dir.join("type")).and_then(|t| t.parse().ok()),
            ) else {
                continue;
            };
            let cpus = read(&dir.join("cpus"));
            all.insert(
                name.to_owned(),
                Pmu {
                    name: name.to_owned(),
                    kind,
                    core: name == "cpu" || cpus.is_some(),
                    cpus: cpus.unwrap_or_default(),
                    dir,
                },
            );
        }
        Pmus(all)
    }

    /// Those of the cores; the one that is counted on comes first: the largest of a hybrid processor's.
    pub fn cores(&self) -> Vec<&Pmu> {
        let mut cores: Vec<&Pmu> = self.0.values().filter(|p| p.core).collect();
        // Intel's cpu_core has what cpu_atom lacks, whatever their numbers are.
        cores.sort_by_key(|p| {
            (
                p.name != "cpu_core",
                std::cmp::Reverse(how_many(&p.cpus)),
                p.name.clone(),
            )
        });
        cores
    }

    /// What a reader must know if there are cores of several kinds.
    pub fn hybrid(&self) -> Option<String> {
        let cores = self.cores();
        let (first, others) = cores.split_first()?;
        if others.is_empty() {
            return None;
        }
        let all: Vec<String> = cores
            .iter()
            .map(|p| format!("{} (CPUs {})", p.name, p.cpus))
            .collect();
        Some(format!(
            "this processor has {} kinds of cores with counters of their own, {}: only those of {} are read, and what threads did \
             on the others is extrapolated from them; `taskset -c {} java …` keeps the JVM on these",
            cores.len(),
            all.join(" and "),
            first.name,
            first.cpus
        ))
    }

    /// The event that a user names: the kernel's name (`topdown-retiring`), `PMU/NAME/`, `PMU/term=value,…/`, or a
    /// software event as perf calls it; `:u` or `:k` behind it counts one mode only.
    pub fn resolve(&self, wanted: &str) -> Result<Event, String> {
        let (text, mode) = match wanted.rsplit_once([':', '/']) {
            Some((text, "u")) => (text, Mode::User),
            Some((text, "k")) => (text, Mode::Kernel),
            _ => (wanted, Mode::Both),
        };
        let mut event = self.either_mode(text.trim_end_matches('/'))?;
        event.mode = mode;
        match mode {
            Mode::Both => {}
            Mode::User => event.name += "_user",
            Mode::Kernel => event.name += "_kernel",
        }
        if mode != Mode::Both {
            event.title = wanted.to_owned();
        }
        Ok(event)
    }

    fn either_mode(&self, text: &str) -> Result<Event, String> {
        if let Some((pmu, what)) = text.split_once('/') {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let pmu = self.0.get(pmu).ok_or_else(|| {
                format!(
                    "{pmu} is no PMU of this kernel: it has {}",
                    known.join(", ")
                )
            })?;
            let mut event = match pmu.has(what) {
                true => pmu.named(what)?,
                false if !what.contains('=') => {
                    return Err(format!(
                        "{} has no event {what}: it has {}",
                        pmu.name,
                        or_none(&pmu.events())
                    ));
                }
                false => pmu.terms(what)?,
            };
            event.name = column(text);
            event.title = format!("{text}/");
            return Ok(event);
        }
        for core in self.cores() {
            if core.has(text) {
                return core.named(text);
            }
        }
        if let Some(event) = super::plan::software(text) {
            return Ok(event);
        }
        let mut others: Vec<String> = Vec::new();
        for pmu in self.0.values().filter(|p| !p.core) {
            others.extend(pmu.events().iter().map(|e| format!("{}/{e}/", pmu.name)));
        }
        let cores: Vec<String> = self.cores().iter().flat_map(|p| p.events()).collect();
        Err(format!(
            "the kernel has no event {text} for this processor: it names {}; others are {}; and software events as \
             page-faults, context-switches, alignment-faults",
            or_none(&cores),
            or_none(&others)
        ))
    }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

fn read(path: &Path) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `config1:0-7,32-35`: the word, and its ranges of bits from the lowest of the value's on.
fn bits(format: &str) -> Option<(usize, Vec<(u32, u32)>)> {
    let (word, ranges) = format.split_once(':')?;
    let word = match word {
        "config" => 0,
        "config1" => 1,
        "config2" => 2,
        "config3" => 3,
        _ => return None,
    };
    let ranges = ranges
        .split(',')
        .map(|range| {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
            (low <= high && high < 64).then_some((low, high))
        })
        .collect::<Option<Vec<_>>>()?;
    Some((word, ranges))
}

/// A value's bits where the ranges say; `None` if it has more.
fn spread(mut value: u64, ranges: &[(u32, u32)]) -> Option<u64> {
    let mut word = 0;
    for (low, high) in ranges {
        let width = high - low + 1;
        let mask = u64::MAX >> (64 - width);
        word |= (value & mask) << low;
        value = value.checked_shr(width).unwrap_or(0);
    }
    (value == 0).then_some(word)
}

/// CPUs of a list as `0-15,20`.
fn how_many(cpus: &str) -> usize {
    cpus.split(',')
        .filter_map(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high): (usize, usize) = (low.parse().ok()?, high.parse().ok()?);
            Some((high + 1).saturating_sub(low))
        })
        .sum()
}

/// A name that can be a column's.
fn column(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect();
    name.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_stands_where_the_format_says() {
        assert_eq!(bits("config:0-7"), Some((0, vec![(0, 7)])));
        // arch/x86/events/amd/core.c: the event's number has twelve bits, in two places.
        assert_eq!(bits("config:0-7,32-35"), Some((0, vec![(0, 7), (32, 35)])));
        assert_eq!(bits("config1:63"), Some((1, vec![(63, 63)])));
        assert_eq!(bits("config:9-3"), None);
        assert_eq!(bits("config4:0"), None);
        assert_eq!(spread(0x1a0, &[(0, 7), (32, 35)]), Some(0x1_0000_00a0));
        assert_eq!(spread(0x2a0, &[(0, 7)]), None);
        assert_eq!(spread(u64::MAX, &[(0, 63)]), Some(u64::MAX));
    }

    /// A tree as the kernel exports it: `path`, `content`.
    pub fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for (path, content) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            std::fs::write(path, format!("{content}\n")).expect("a file");
        }
        dir
    }

    /// Names and terms of arch/x86/events/intel/core.c (icl_td_events_attrs) and events/core.c.
    fn ice_lake() -> tempfile::TempDir {
        tree(&[
            ("cpu/type", "4"),
            ("cpu/format/event", "config:0-7"),
            ("cpu/format/umask", "config:8-15"),
            ("cpu/format/cmask", "config:24-31"),
            ("cpu/events/cpu-cycles", "event=0x3c"),
            ("cpu/events/slots", "event=0x00,umask=0x4"),
            ("cpu/events/topdown-retiring", "event=0x00,umask=0x80"),
            ("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"),
            ("msr/type", "9"),
            ("msr/format/event", "config:0-63"),
            ("msr/events/tsc", "event=0x00"),
            ("uncore_imc/type", "11"),
            ("uncore_imc/cpumask", "0"),
            ("uncore_imc/events/data_reads", "event=0x1"),
        ])
    }

    #[test]
    fn the_kernels_names_are_resolved_by_its_formats() {
        let dir = ice_lake();
        let pmus = Pmus::read(dir.path());
        assert_eq!(pmus.cores().len(), 1);
        assert_eq!(pmus.hybrid(), None);
        let slots = pmus.resolve("slots").unwrap();
        assert_eq!((slots.kind, slots.config), (4, 0x400));
        let retiring = pmus.resolve("topdown-retiring:u").unwrap();
        assert_eq!(retiring.config, 0x8000);
        assert_eq!(retiring.mode, Mode::User);
        assert_eq!(retiring.name, "topdown_retiring_user");
        let raw = pmus.resolve("cpu/event=0xc2,umask=0x2,cmask=1/k").unwrap();
        assert_eq!(raw.config, 0x0100_02c2);
        assert_eq!(raw.mode, Mode::Kernel);
        let tsc = pmus.resolve("msr/tsc/").unwrap();
        assert_eq!((tsc.kind, tsc.config, tsc.name.as_str()), (9, 0, "msr_tsc"));
        assert_eq!(pmus.resolve("page-faults").unwrap().kind, 1);
    }

    #[test]
    fn what_cannot_be_resolved_is_said_with_what_there_is() {
        let dir = ice_lake();
        let pmus = Pmus::read(dir.path());
        let e = |name: &str| pmus.resolve(name).unwrap_err();
        assert!(
            e("sluts").contains("cpu-cycles, mem-loads, slots"),
            "{}",
            e("sluts")
        );
        assert!(e("sluts").contains("msr/tsc/"));
        assert!(e("gpu/x/").contains("no PMU of this kernel: it has cpu, msr"));
        assert!(e("msr/aperf/").contains("it has tsc"));
        assert!(e("cpu/evnt=1/").contains("no term evnt: it has cmask, event, umask"));
        assert!(e("cpu/umask=0x100/").contains("more bits than its format"));
        assert!(e("mem-loads").contains("no term ldlat"));
        assert!(e("cpu/event=x/").contains("not a number"));
        let none = Pmus::read(Path::new("/nonexistent"));
        assert!(none.resolve("slots").unwrap_err().contains("it names none"));
    }

    #[test]
    fn a_scale_goes_with_its_event() {
        // arch/x86/events/intel/core.c: EVENT_ATTR_STR_HT(topdown-total-slots, …, "event=0x3c,umask=0x0,any=1"), scale "2".
        let dir = tree(&[
            ("cpu/type", "4"),
            ("cpu/format/event", "config:0-7"),
            ("cpu/format/umask", "config:8-15"),
            ("cpu/format/any", "config:21"),
            (
                "cpu/events/topdown-total-slots",
                "event=0x3c,umask=0x0,any=1",
            ),
            ("cpu/events/topdown-total-slots.scale", "2"),
        ]);
        let event = Pmus::read(dir.path())
            .resolve("topdown-total-slots")
            .unwrap();
        assert_eq!((event.scale, event.config), (2.0, 0x20_003c));
    }

    #[test]
    fn cores_of_two_kinds_are_told_with_what_to_do() {
        let dir = tree(&[
            ("cpu_atom/type", "10"),
            ("cpu_atom/cpus", "8-23"),
            ("cpu_core/type", "4"),
            ("cpu_core/cpus", "0-7"),
        ]);
        let pmus = Pmus::read(dir.path());
        let said = pmus.hybrid().unwrap();
        assert!(
            said.contains("cpu_core (CPUs 0-7) and cpu_atom (CPUs 8-23)")
                && said.contains("taskset -c 0-7"),
            "{said}"
        );
        let arm = tree(&[
            ("armv8_cortex_a53/type", "8"),
            ("armv8_cortex_a53/cpus", "0-3"),
            ("armv8_cortex_a72/type", "9"),
            ("armv8_cortex_a72/cpus", "4-5"),
        ]);
        assert_eq!(Pmus::read(arm.path()).cores()[0].name, "armv8_cortex_a53");
        assert_eq!(how_many("0-3,8,10-11"), 7);
    }
}
