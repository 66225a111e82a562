//! Top-down categories: what became of the slots in which the processor could have issued an operation.
//!
//! Terms: a *slot* is a place for one operation in one cycle. It *retired* one; or what it issued was thrown away (*bad
//! speculation*); or it stayed empty because none came from the front end (*frontend bound*), because the back end took
//! none (*backend bound*), or, where it can be told, because the core's other thread had it (*SMT contention*).
//! (A. Yasin, "A Top-Down Method for Performance Analysis and Counters Architecture", ISPASS 2014.)
//!
//! Encodings come from the kernel's names in sysfs. Those that it has no name for, AMD's, are in [`AMD`] by perf's
//! (tools/perf/pmu-events/arch/x86/amdzen4 and amdzen5); their bits are placed by the kernel's format all the same.
//!
//! What always holds: categories are of groups that were on the processor together, or have a count of slots each; a
//! processor that is not known has none.

use loadline_record::counters::sysfs::{Pmu, Pmus};
use loadline_record::counters::{Event, Group, Mode};

/// A category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Operations that retired.
    Retiring,
    /// Operations that were thrown away, and slots until the right ones came.
    BadSpeculation,
    /// Empty: none came from the front end.
    FrontendBound,
    /// Empty: the back end took none.
    BackendBound,
    /// Empty: the core's other thread had it.
    SmtContention,
}

impl Category {
    /// In the order of tables.
    pub const ALL: [Category; 5] = [
        Category::Retiring,
        Category::BadSpeculation,
        Category::FrontendBound,
        Category::BackendBound,
        Category::SmtContention,
    ];

    /// In JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Category::Retiring => "topdown_retiring_share",
            Category::BadSpeculation => "topdown_bad_speculation_share",
            Category::FrontendBound => "topdown_frontend_bound_share",
            Category::BackendBound => "topdown_backend_bound_share",
            Category::SmtContention => "topdown_smt_contention_share",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Category::Retiring => "retiring",
            Category::BadSpeculation => "bad speculation",
            Category::FrontendBound => "frontend bound",
            Category::BackendBound => "backend bound",
            Category::SmtContention => "SMT contention",
        }
    }
}

/// What `/proc/cpuinfo` says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processor {
    vendor: String,
    family: u32,
    model: u32,
}

impl Processor {
    /// This machine's.
    pub fn this() -> Processor {
        Processor::of(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// Of that file's text.
    pub fn of(cpuinfo: &str) -> Processor {
        let value = |name: &str| {
            let mut lines = cpuinfo.lines().filter_map(|l| l.split_once(':'));
            lines.find(|(k, _)| k.trim() == name).map(|(_, v)| v.trim())
        };
        let number = |name| value(name).and_then(|v| v.parse().ok()).unwrap_or(0);
        Processor {
            vendor: value("vendor_id").unwrap_or_default().to_owned(),
            family: number("cpu family"),
            model: number("model"),
        }
    }

    /// Slots per cycle of AMD's processors that count them: `total_dispatch_slots` of perf's amdzen4/pipeline.json and
    /// amdzen5/pipeline.json; which is which: tools/perf/pmu-events/arch/x86/mapfile.csv, where of family 25 models 0 to
    /// 0xf, 0x2_, 0x4_ and 0x5_ are Zen 3, and all others Zen 4.
    fn amd_slots(&self) -> Option<u32> {
        let zen3 = self.model < 0x10 || matches!(self.model >> 4, 2 | 4 | 5);
        match (self.vendor.as_str(), self.family) {
            ("AuthenticAMD", 25) if !zen3 => Some(6),
            ("AuthenticAMD", 26) => Some(8),
            _ => None,
        }
    }
}

/// Names that perf gives to AMD's events, which the kernel exports none of, and their terms; the same in Zen 4 and Zen 5
/// (`EventCode` and `UMask` in amdzen4/core.json, amdzen4/other.json and amdzen5's).
const AMD: [(&str, &str); 6] = [
    ("ls_not_halted_cyc", "event=0x76"),
    (
        "de_no_dispatch_per_slot.no_ops_from_frontend",
        "event=0x1a0,umask=0x1",
    ),
    (
        "de_no_dispatch_per_slot.backend_stalls",
        "event=0x1a0,umask=0x1e",
    ),
    (
        "de_no_dispatch_per_slot.smt_contention",
        "event=0x1a0,umask=0x60",
    ),
    ("de_src_op_disp.all", "event=0xaa,umask=0x7"),
    ("ex_ret_ops", "event=0xc1"),
];

/// The groups of events that this processor's categories are made of; else why there are none.
pub fn groups(pmus: &Pmus, processor: &Processor) -> Result<Vec<Group>, String> {
    let Some(&pmu) = pmus.cores().first() else {
        return Err("this machine has no counters of the processor: no top-down categories".into());
    };
    let has = |names: &[&str]| names.iter().all(|n| pmu.has(n));
    if has(&METRICS) {
        // Intel from Ice Lake on: the group has to be led by slots. Without that event it is an efficient core (Tremont
        // and later), whose four events count slots themselves.
        let slots: &[&str] = if pmu.has("slots") { &["slots"] } else { &[] };
        return Ok(vec![named(pmu, &[slots, &METRICS].concat(), &|_, e| e)?]);
    }
    if has(&CLASSIC) {
        return Ok(vec![named(pmu, &CLASSIC, &|_, e| e)?]);
    }
    if has(&ARM) {
        let slots = pmu.cap("slots").filter(|slots| *slots > 0).ok_or_else(|| {
            format!(
                "no top-down categories: {} does not tell how many slots a cycle has (caps/slots)",
                pmu.name
            )
        })?;
        return Ok(vec![named(pmu, &ARM, &|name, e| match name {
            "cpu_cycles" => Event {
                name: "cycle_slots".into(),
                title: format!("{slots} × cpu_cycles"),
                scale: slots as f64,
                ..e
            },
            _ => e,
        })?]);
    }
    if let Some(slots) = processor.amd_slots() {
        return amd(pmu, slots);
    }
    Err(format!(
        "no top-down categories: the kernel names no events for them on this processor ({} has {})",
        pmu.name,
        match pmu.events() {
            names if names.is_empty() => "no names of events".to_owned(),
            names => names.join(", "),
        }
    ))
}

const METRICS: [&str; 4] = [
    "topdown-retiring",
    "topdown-bad-spec",
    "topdown-fe-bound",
    "topdown-be-bound",
];
const CLASSIC: [&str; 5] = [
    "topdown-total-slots",
    "topdown-slots-issued",
    "topdown-slots-retired",
    "topdown-fetch-bubbles",
    "topdown-recovery-bubbles",
];
const ARM: [&str; 6] = [
    "cpu_cycles",
    "stall_slot",
    "stall_slot_frontend",
    "stall_slot_backend",
    "op_spec",
    "op_retired",
];

fn named(
    pmu: &Pmu,
    names: &[&str],
    change: &dyn Fn(&str, Event) -> Event,
) -> Result<Group, String> {
    let events = names
        .iter()
        .map(|name| Ok(change(name, pmu.named(name)?)))
        .collect::<Result<Vec<_>, String>>()?;
    Ok(Group {
        events,
        whole: true,
    })
}

/// Two groups of four, for the kernel's watchdog may have one of six counters; each has its own count of slots.
fn amd(pmu: &Pmu, slots: u32) -> Result<Vec<Group>, String> {
    let event = |name: &str| -> Result<Event, String> {
        let (_, terms) = AMD
            .iter()
            .find(|e| e.0 == name)
            .expect("it is in the table");
        Ok(Event {
            name: name.replace('.', "_"),
            title: name.to_owned(),
            mode: Mode::Both,
            ..pmu.terms(terms)?
        })
    };
    let slots_of = |name: &str| -> Result<Event, String> {
        Ok(Event {
            name: name.into(),
            title: format!("{slots} × ls_not_halted_cyc"),
            scale: f64::from(slots),
            ..event("ls_not_halted_cyc")?
        })
    };
    let group = |slots: Event, names: &[&str]| -> Result<Group, String> {
        let mut events = vec![slots];
        for name in names {
            events.push(event(name)?);
        }
        Ok(Group {
            events,
            whole: true,
        })
    };
    Ok(vec![
        group(
            slots_of("dispatch_slots")?,
            &[
                "de_no_dispatch_per_slot.no_ops_from_frontend",
                "de_no_dispatch_per_slot.backend_stalls",
                "de_no_dispatch_per_slot.smt_contention",
            ],
        )?,
        group(
            slots_of("dispatch_slots_of_ops")?,
            &["de_src_op_disp.all", "ex_ret_ops"],
        )?,
    ])
}

/// Whether a counter is there for the categories only, so that it has no row among the figures for people.
pub fn is_part(name: &str) -> bool {
    let of = |names: &[&str]| names.iter().any(|n| n.replace('-', "_") == name);
    of(&METRICS)
        || of(&CLASSIC)
        || of(&ARM)
        || [
            "slots",
            "cycle_slots",
            "dispatch_slots",
            "dispatch_slots_of_ops",
        ]
        .contains(&name)
        || AMD.iter().any(|e| e.0.replace('.', "_") == name)
}

/// The categories' shares of all slots, from counters by their names; nothing if they are of no known set, or no slot
/// was counted.
pub fn shares(of: &dyn Fn(&str) -> Option<f64>) -> Vec<(Category, f64)> {
    use Category::{BackendBound, BadSpeculation, FrontendBound, Retiring, SmtContention};
    let all = |names: &[&str]| {
        let values = names.iter().map(|n| of(&n.replace('-', "_")));
        values.collect::<Option<Vec<f64>>>()
    };
    let over = |part: f64, slots: f64| if slots > 0.0 { part / slots } else { f64::NAN };
    // perf's icelake/icl-metrics.json, tma_retiring and its like: each over the sum of the four.
    let found = if let Some(v) = all(&METRICS) {
        let slots: f64 = v.iter().sum();
        vec![
            (Retiring, over(v[0], slots)),
            (BadSpeculation, over(v[1], slots)),
            (FrontendBound, over(v[2], slots)),
            (BackendBound, over(v[3], slots)),
        ]
    } else if let Some(v) = all(&CLASSIC) {
        // tools/perf/util/stat-shadow.c up to Linux 6.3, td_retiring and its like; Yasin 2014, table 1.
        let (slots, issued, retired, fetch, recovery) = (v[0], v[1], v[2], v[3], v[4]);
        let retiring = over(retired, slots);
        let bad = over(issued - retired + recovery, slots);
        let frontend = over(fetch, slots);
        vec![
            (Retiring, retiring),
            (BadSpeculation, bad),
            (FrontendBound, frontend),
            (BackendBound, 1.0 - retiring - bad - frontend),
        ]
    } else if let Some(v) = all(&[
        "cycle_slots",
        "stall_slot",
        "stall_slot_frontend",
        "stall_slot_backend",
        "op_spec",
        "op_retired",
    ]) {
        // perf's arm64/sbsa.json.
        let (slots, stalled, kept) = (v[0], over(v[1], v[0]), over(v[5], v[4]));
        vec![
            (Retiring, kept * (1.0 - stalled)),
            (BadSpeculation, (1.0 - kept) * (1.0 - stalled)),
            (FrontendBound, over(v[2], slots)),
            (BackendBound, over(v[3], slots)),
        ]
    } else if let Some(v) = all(&[
        "dispatch_slots",
        "de_no_dispatch_per_slot_no_ops_from_frontend",
        "de_no_dispatch_per_slot_backend_stalls",
        "de_no_dispatch_per_slot_smt_contention",
        "dispatch_slots_of_ops",
        "de_src_op_disp_all",
        "ex_ret_ops",
    ]) {
        // perf's amdzen4/pipeline.json and amdzen5/pipeline.json, group PipelineL1.
        vec![
            (Retiring, over(v[6], v[4])),
            (BadSpeculation, over(v[5] - v[6], v[4])),
            (FrontendBound, over(v[1], v[0])),
            (BackendBound, over(v[2], v[0])),
            (SmtContention, over(v[3], v[0])),
        ]
    } else {
        Vec::new()
    };
    if found.iter().any(|(_, share)| !share.is_finite()) {
        return Vec::new();
    }
    // What is small may come out a little below nothing: counters are not read at one instant.
    found
        .into_iter()
        .map(|(c, share)| (c, share.max(0.0)))
        .collect()
}

#[cfg(test)]
mod tests;
