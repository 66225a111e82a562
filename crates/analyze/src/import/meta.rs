//! What a flight recording says of itself, as `trace.json`.

use std::collections::BTreeMap;
use std::path::Path;

use loadline_trace::meta::{Level, Machine, Meta, NotRecorded, Target};

use super::events::Recording;

/// Of a recording from `begin`, ns since 1970, that is `end` ns long.
pub fn meta(r: &Recording, begin: i64, end: i64, file: &Path) -> Meta {
    // `OpenJDK 64-Bit Server VM (25.0.3+9-LTS) for linux-amd64 JRE (…)`.
    let version = r.jvm_version.split_once('(').map_or("", |(_, v)| v);
    let version = version.split([')', '+', '-']).next().unwrap_or_default();
    let java = version.split('.').next().and_then(|v| v.parse().ok());
    let command: Vec<String> = r.command.split_whitespace().map(str::to_owned).collect();
    let name = command
        .first()
        .map(|c| c.rsplit('/').next().unwrap_or(c).to_owned());
    let levels = [
        (
            "kernel",
            "a flight recording has no thread states of the kernel",
        ),
        (
            "syscalls",
            "a flight recording has reads and writes of Java's sockets and files only",
        ),
        ("jvm", ""),
        ("server", "a flight recording knows no requests"),
        ("app", "events of the application are not imported"),
    ];
    let missing = |what: &str, why: &str, how: &str| NotRecorded {
        what: what.into(),
        why: why.into(),
        how_to_get: how.into(),
    };
    let mut losses = BTreeMap::new();
    if r.lost > 0 {
        losses.insert("jfr, bytes".to_owned(), r.lost);
    }
    Meta {
        writer: concat!("loadline ", env!("CARGO_PKG_VERSION")).into(),
        begin_ns: 0,
        end_ns: end,
        begin_unix_ns: begin,
        target: Target {
            pid: r.pid,
            name: name.unwrap_or_default(),
            command,
            jvm: format!("{} {version}", r.jvm).trim().into(),
            java: java.unwrap_or(r.java),
            server: None,
        },
        machine: Machine {
            kernel: r.kernel.clone(),
            cpus: r.cpus,
            target_cpus: r.cpus,
            cpu_model: r.cpu.clone(),
            memory_bytes: r.memory,
            ..Machine::default()
        },
        levels: levels
            .map(|(level, why)| {
                let level_of = Level {
                    recorded: why.is_empty(),
                    why: why.into(),
                };
                (level.to_owned(), level_of)
            })
            .into(),
        losses,
        ended: "stopped".into(),
        notes: vec![format!(
            "imported from the flight recording {}; the clock begins with its first event",
            file.display()
        )],
        not_recorded: vec![
            missing(
                "running and runnable",
                "the flight recorder does not see the scheduler: what a thread did between its waits is unknown",
                "loadline record",
            ),
            missing(
                "short waits",
                "the flight recorder leaves out what is shorter than a threshold (20 ms by default)",
                "record with settings=profile, or with thresholds of your own",
            ),
            missing(
                "requests, handshakes, pools, SQL",
                "the flight recorder knows none of them",
                "loadline record",
            ),
        ],
        ..Meta::default()
    }
}
