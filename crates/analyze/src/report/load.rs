//! Requests, connections and CPUs: how much of each.

use anyhow::Result;
use loadline_trace::Meta;
use loadline_trace::duckdb::Connection;
use loadline_trace::tables::IS_CONNECTION;
use serde::Serialize;

use super::{cpus, row};
use crate::role::{ROLES, role};

/// Requests and their response times.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Throughput {
    /// Requests that began and ended in the recording.
    pub requests: u64,
    /// Per second.
    pub requests_per_s: f64,
    /// Mean response time.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Longest.
    pub max_ms: f64,
    /// Answered with 400 to 499.
    pub client_errors: u64,
    /// Answered with 500 and more.
    pub server_errors: u64,
}

/// Use of the CPUs, as shares of 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cpu {
    /// By the target, of the CPUs that it might use; null if not known.
    pub utilization: Option<f64>,
    /// Whether that comes from the kernel level (else from `/proc`).
    pub from_states: bool,
    /// By everything, of all CPUs of the machine.
    pub machine: Option<f64>,
    /// By the recorder, of one CPU.
    pub recorder: Option<f64>,
}

/// What threads of one role ran.
#[derive(Debug, Clone, Serialize)]
pub struct RoleCpu {
    /// What they are for: workers, poller, garbage collection, …
    pub role: &'static str,
    /// CPUs that they kept busy, on average.
    pub cpus: f64,
}

/// CPU time by what threads are for.
pub fn roles(db: &Connection, meta: &Meta) -> Result<Vec<RoleCpu>> {
    let threads = super::rows(
        db,
        "SELECT t.name, t.kind, sum(s.end_ns - s.begin_ns)::DOUBLE FROM states s JOIN threads t ON t.id = s.thread \
         WHERE s.state = 'running' GROUP BY ALL",
        |r| {
            Ok((
                r.get::<_, String>(0)?,
                r.get::<_, String>(1)?,
                r.get::<_, f64>(2)?,
            ))
        },
    )?;
    let mut ns = [0.0; ROLES.len()];
    for (name, kind, running) in threads {
        ns[role(&name, &kind)] += running;
    }
    let length = meta.duration_ns().max(1) as f64;
    let mut roles: Vec<RoleCpu> = ROLES
        .iter()
        .zip(ns)
        .filter(|(_, ns)| *ns > 0.0)
        .map(|(role, ns)| RoleCpu {
            role,
            cpus: ns / length,
        })
        .collect();
    roles.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    Ok(roles)
}

/// Connections and handshakes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Connections {
    /// Opened in the recording.
    pub opened: u64,
    /// Per second.
    pub opened_per_s: f64,
    /// Full handshakes that ended.
    pub full: u64,
    /// Resumed handshakes that ended.
    pub resumed: u64,
    /// Handshakes that failed or were given up.
    pub failed: u64,
    /// Those that were seen whole, and of which it is not known whether they resumed a session.
    pub unknown: u64,
    /// Full ones per second.
    pub full_per_s: f64,
    /// Resumed ones per second.
    pub resumed_per_s: f64,
    /// Unknown ones per second.
    pub unknown_per_s: f64,
}

pub(super) fn throughput(db: &Connection, meta: &Meta) -> Result<Throughput> {
    row(
        db,
        "SELECT count(*), coalesce(avg(ms), 0), coalesce(quantile_cont(ms, 0.5), 0),
                coalesce(quantile_cont(ms, 0.95), 0), coalesce(quantile_cont(ms, 0.99), 0),
                coalesce(max(ms), 0),
                count(*) FILTER (status BETWEEN 400 AND 499), count(*) FILTER (status >= 500)
         FROM (SELECT ms(end_ns - begin_ns) AS ms, status FROM spans WHERE kind = 'request' AND complete)",
        |r| {
            let requests = r.get::<_, i64>(0)? as u64;
            Ok(Throughput {
                requests,
                requests_per_s: per_second(requests, meta),
                mean_ms: r.get(1)?,
                p50_ms: r.get(2)?,
                p95_ms: r.get(3)?,
                p99_ms: r.get(4)?,
                max_ms: r.get(5)?,
                client_errors: r.get::<_, i64>(6)? as u64,
                server_errors: r.get::<_, i64>(7)? as u64,
            })
        },
    )
}

fn per_second(n: u64, meta: &Meta) -> f64 {
    n as f64 / meta.seconds().max(1e-9)
}

pub(super) fn connections(db: &Connection, meta: &Meta) -> Result<Connections> {
    let begin = meta.begin_ns;
    row(
        db,
        &format!(
            "SELECT count(*) FILTER ({IS_CONNECTION} AND begin_ns > {begin}),
                    count(*) FILTER (kind = 'tls_handshake' AND name = 'full'),
                    count(*) FILTER (kind = 'tls_handshake' AND name = 'resumed'),
                    count(*) FILTER (kind = 'tls_handshake' AND name = 'failed'),
                    count(*) FILTER (kind = 'tls_handshake' AND name = 'unknown' AND complete)
             FROM spans"
        ),
        |r| {
            let n = |i: usize| r.get::<_, i64>(i).map(|n| n as u64);
            Ok(Connections {
                opened: n(0)?,
                opened_per_s: per_second(n(0)?, meta),
                full: n(1)?,
                resumed: n(2)?,
                failed: n(3)?,
                unknown: n(4)?,
                full_per_s: per_second(n(1)?, meta),
                resumed_per_s: per_second(n(2)?, meta),
                unknown_per_s: per_second(n(4)?, meta),
            })
        },
    )
}

pub(super) fn cpu(db: &Connection, meta: &Meta) -> Result<Cpu> {
    let running: i64 = row(
        db,
        "SELECT coalesce(sum(end_ns - begin_ns), 0)::BIGINT FROM states WHERE state = 'running'",
        |r| r.get(0),
    )?;
    // Between the first and the last reading of a counter that only grows.
    let rate = |scope: &str, name: &str| {
        row(
            db,
            &format!(
                "SELECT (arg_max(value, ts_ns) - arg_min(value, ts_ns)) / nullif(max(ts_ns) - min(ts_ns), 0) * 1e9
                 FROM counters WHERE scope = '{scope}' AND name = '{name}'"
            ),
            |r| r.get::<_, Option<f64>>(0),
        )
    };
    let from_states = running > 0;
    let used = if from_states {
        Some(running as f64 / meta.duration_ns().max(1) as f64)
    } else {
        rate("process", "cpu_seconds")?
    };
    let (busy, idle) = (
        rate("machine", "busy_seconds")?,
        rate("machine", "idle_seconds")?,
    );
    let machine = busy
        .zip(idle)
        .filter(|(b, i)| b + i > 0.0)
        .map(|(b, i)| b / (b + i));
    Ok(Cpu {
        utilization: used.map(|u| u / f64::from(cpus(meta))),
        from_states,
        machine,
        recorder: rate("recorder", "cpu_seconds")?,
    })
}
