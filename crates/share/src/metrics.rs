//! Figures in Prometheus' text format (exposition format 0.0.4).

use std::fmt::Write;

use crate::status::{ApplicationStatus, Status};

type Value = fn(&ApplicationStatus) -> Option<f64>;

const OF_APPLICATIONS: [(&str, &str, &str, Value); 10] = [
    ("cpus_assigned", "gauge", "CPUs assigned now", |a| {
        Some(a.has)
    }),
    (
        "cpus_requested",
        "gauge",
        "CPUs requested or estimated now",
        |a| Some(a.wants),
    ),
    (
        "cpus_used",
        "gauge",
        "CPUs in use over the last sample",
        |a| Some(a.using),
    ),
    ("priority", "gauge", "Priority", |a| Some(a.priority)),
    (
        "assigned_cpu_seconds_total",
        "counter",
        "CPU seconds assigned",
        |a| Some(a.account.assigned),
    ),
    (
        "used_cpu_seconds_total",
        "counter",
        "CPU seconds used",
        |a| Some(a.account.used),
    ),
    (
        "waited_cpu_seconds_total",
        "counter",
        "CPU seconds waited for in the run queue",
        |a| Some(a.account.waited),
    ),
    (
        "lacked_cpu_seconds_total",
        "counter",
        "CPU seconds requested and not assigned",
        |a| Some(a.account.lacked),
    ),
    (
        "changes_total",
        "counter",
        "Assignments that changed",
        |a| Some(a.changes as f64),
    ),
    (
        "goodput",
        "gauge",
        "Replies within the objective per second, as the application says",
        |a| a.goodput,
    ),
];

/// The whole page.
pub(crate) fn page(status: &Status) -> String {
    let mut out = String::new();
    let mut one = |name: &str, kind: &str, help: &str, value: f64| {
        let _ = writeln!(
            out,
            "# HELP loadline_share_{name} {help}\n# TYPE loadline_share_{name} {kind}\nloadline_share_{name} {value}"
        );
    };
    one("quanta_total", "counter", "Decisions", status.quanta as f64);
    one(
        "daemon_cpu_seconds_total",
        "counter",
        "CPU time of the daemon",
        status.cpu_seconds,
    );
    one(
        "errors_total",
        "counter",
        "Settings that the kernel refused",
        status.errors as f64,
    );
    for (name, kind, help, value) in OF_APPLICATIONS {
        let name = format!("loadline_share_{name}");
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for application in &status.applications {
            if let Some(value) = value(application) {
                // Names are letters, digits and -_. only: nothing to escape.
                let _ = writeln!(
                    out,
                    "{name}{{application=\"{}\"}} {value}",
                    application.name
                );
            }
        }
    }
    out
}

/// The answer to an HTTP request's first line.
pub(crate) fn answer(request_line: &str, status: impl FnOnce() -> Status) -> String {
    let path = request_line
        .strip_prefix("GET ")
        .and_then(|r| r.split(' ').next());
    let (code, body) = match path {
        Some("/metrics") => ("200 OK", page(&status())),
        Some(_) => ("404 Not Found", "figures are at /metrics\n".into()),
        None => ("405 Method Not Allowed", "GET only\n".into()),
    };
    format!(
        "HTTP/1.1 {code}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
