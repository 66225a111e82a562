//! The simulation as the tables of a trace.

use std::path::Path;

use loadline_trace::meta::{Level, Machine, Target};
use loadline_trace::tables::{
    Breakdown, Call, Counter, Mount, Object, Resource, Sample, Stack, State, Syscall, Thread,
    ThreadCounter,
};
use loadline_trace::{Meta, Result, TraceWriter};

use super::Size;
use super::sim::{BEGIN_NS, Sim};

/// The stack of those who want the cache's monitor.
pub(super) const IN_CACHE: i64 = 2;

/// One, in the first interval in which a thread ran for a millisecond.
fn sample(states: &[State]) -> Option<Sample> {
    let ran = |s: &&State| s.cause == "running" && s.end_ns - s.begin_ns > 1_000_000;
    states.iter().find(ran).map(|s| Sample {
        ts_ns: s.begin_ns + 500_000,
        thread: s.thread,
        kind: "cpu",
        weight: 20_000_000,
        class: None,
        stack: 1,
        size: None,
    })
}

fn stacks() -> Vec<Stack> {
    let frames = [
        ("java.lang.Thread.run", "Thread.java", 840),
        ("shop.ItemService.show", "ItemService.java", 52),
        ("shop.ItemCache.get", "ItemCache.java", 31),
    ];
    let row = |(id, (name, file, line)): (i64, (&str, &str, i32))| Stack {
        id,
        parent: (id > 0).then_some(id - 1),
        depth: id as i32,
        kind: "java",
        name: name.into(),
        file: Some(file.into()),
        line: Some(line),
    };
    (0..=IN_CACHE).zip(frames).map(row).collect()
}

/// Writes the trace of a simulated server into `dir`.
pub fn write(dir: &Path, size: Size, seed: u64) -> Result<Meta> {
    let sim = Sim::run(size, seed);
    let (end, record) = (sim.end, sim.record);
    let mut writer = TraceWriter::new(dir)?;
    writer.table(sim.threads.iter().enumerate().map(|(id, t)| Thread {
        id: id as i64,
        tid: Some(4_200 + id as i32),
        pid: 4_121,
        java_id: (t.kind == "platform").then_some(id as i64 + 30),
        name: t.name.clone(),
        kind: t.kind,
        begin_ns: BEGIN_NS,
        end_ns: end,
        parent: None,
    }))?;
    let sample = sample(&record.states);
    writer.table(record.states)?;
    writer.table(Vec::<Syscall>::new())?;
    writer.table(
        [
            (52, "127.0.0.1:49152 -> 127.0.0.1:13306", "socket"),
            (41, "/srv/shop/static/site.css", "file"),
        ]
        .into_iter()
        .enumerate()
        .map(|(id, (fd, name, kind))| Resource {
            id: id as i64,
            fd,
            kind,
            name: name.into(),
            local: None,
            remote: name.split_once(" -> ").map(|(_, r)| r.into()),
            inode: Some(77 + id as i64),
            begin_ns: BEGIN_NS,
            end_ns: end,
        }),
    )?;
    writer.table(record.spans)?;
    writer.table(Vec::<Call>::new())?;
    writer.table(record.segments)?;
    writer.table(record.marks)?;
    writer.table(record.waits)?;
    writer.table(record.vm)?;
    writer.table(Vec::<Mount>::new())?;
    writer.table(stacks())?;
    writer.table(sample)?;
    writer.table(Vec::<Object>::new())?;
    let counter = |s: i64, scope: &str, name: &str, value: f64| Counter {
        ts_ns: BEGIN_NS + s * 1_000_000_000,
        scope: scope.into(),
        name: name.into(),
        value,
    };
    writer.table((0..=size.seconds).flat_map(|s| {
        let grown = s as f64;
        [
            counter(s, "process", "rss_bytes", (500 << 20) as f64 + grown * 1e6),
            counter(s, "role workers", "cpu_ns", grown * 6e8),
            counter(s, "role gc", "cpu_ns", grown * 5e7),
            counter(s, "role workers", "minor_faults", grown * grown * 40.0),
            counter(s, "role gc", "minor_faults", 0.0),
        ]
    }))?;
    // Each thread's time and faults, second by second.
    let threads = sim.threads.len() as i64;
    let counted = (0..size.seconds).flat_map(|s| {
        (0..threads).flat_map(move |thread| {
            [("cpu_ns", 1e8), ("minor_faults", 50.0)].map(|(name, value)| ThreadCounter {
                thread,
                begin_ns: BEGIN_NS + s * 1_000_000_000,
                end_ns: BEGIN_NS + (s + 1) * 1_000_000_000,
                name: name.into(),
                value,
            })
        })
    });
    writer.table(counted)?;
    writer.table(
        record
            .breakdown
            .into_iter()
            .flat_map(|(span, kind, booked)| {
                booked
                    .into_iter()
                    .map(move |((phase, cause), duration_ns)| Breakdown {
                        span,
                        kind,
                        phase,
                        cause,
                        duration_ns,
                    })
            }),
    )?;
    let recorded = |recorded, why: &str| Level {
        recorded,
        why: why.into(),
    };
    writer.finish(Meta {
        writer: "synthetic trace of the viewer's tests".into(),
        begin_ns: BEGIN_NS,
        end_ns: end,
        begin_unix_ns: 1_795_420_800_000_000_000,
        target: Target {
            pid: 4_121,
            name: "shop".into(),
            command: vec!["java".into(), "-jar".into(), "shop.jar".into()],
            jvm: "OpenJDK 64-Bit Server VM 25.0.3+9".into(),
            java: 25,
            server: Some("Apache Tomcat/11.0.9".into()),
        },
        machine: Machine {
            host: "harbour".into(),
            kernel: "6.18.0".into(),
            cpus: size.cpus as u32,
            target_cpus: size.cpus as u32,
            cpu_model: "simulated".into(),
            memory_bytes: 24 << 30,
        },
        levels: [
            ("kernel", recorded(true, "")),
            ("syscalls", recorded(false, "")),
            ("jvm", recorded(true, "")),
            ("server", recorded(true, "")),
            ("app", recorded(true, "")),
        ]
        .into_iter()
        .map(|(name, level)| (name.to_string(), level))
        .collect(),
        ended: "stopped".into(),
        ..Meta::default()
    })
}
