//! What a recording on one side of the load line says: the part of a trace that the report shows.

pub mod units;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use loadline_analyze::report::report;
use loadline_trace::Trace;
use loadline_trace::tables::CONNECTIONS;
use serde::{Deserialize, Serialize};

use crate::measured::Load;

/// The causes that the report tells apart, in its order; any other is `other`.
pub const CAUSES: [&str; 11] = [
    "running",
    "runnable",
    "lock",
    "pool",
    "socket",
    "file",
    "gc",
    "queue",
    "admission",
    "idle",
    "other",
];

/// Time of one phase, ms, by cause; all of them together are its total.
pub type ByCause = BTreeMap<String, f64>;

/// One phase of a connection's life.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    /// What it is called.
    pub label: String,
    /// Mean per connection, ms.
    pub ms: ByCause,
}

impl PhaseTime {
    /// All causes together.
    pub fn total(&self) -> f64 {
        self.ms.values().sum()
    }
}

/// What was waited for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// cpu, lock, pool, database, client, worker, file, gc, other.
    pub what: String,
    /// In words.
    pub label: String,
    /// Share of the time of handshakes and requests.
    pub share: f64,
}

/// One recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// The trace's folder, inside the report's.
    pub trace: String,
    /// Offered load while it was recorded, sessions/s.
    pub rate: f64,
    /// Length of the recording.
    pub seconds: f64,
    /// Events lost.
    pub lost: u64,
    /// The recorder's remarks, and levels that are missing.
    pub notes: Vec<String>,
    /// Whether thread states are the kernel's.
    pub has_kernel: bool,
    /// Connections seen; where the server does not tell of them, requests.
    pub connections: u64,
    /// Handshakes that ended.
    pub full: u64,
    /// Resumed ones.
    pub resumed: u64,
    /// Failed ones.
    pub failed: u64,
    /// Mean time per connection by phase and cause.
    pub phases: Vec<PhaseTime>,
    /// Largest waits.
    pub waited_for: Vec<Wait>,
    /// Use of the server's CPUs, as a share.
    pub utilization: Option<f64>,
    /// Share of the recording in collections.
    pub gc_share: f64,
    /// What `loadline report` takes for the limit.
    pub limit: String,
    /// In its words.
    pub verdict: String,
    /// What the generator saw over the same run.
    pub load: Load,
}

impl Side {
    /// Resumed handshakes among those that succeeded.
    pub fn resumed_share(&self) -> Option<f64> {
        let all = self.full + self.resumed;
        (all > 0).then(|| self.resumed as f64 / all as f64)
    }

    /// The handshake phase, all kinds together.
    pub fn handshake(&self) -> PhaseTime {
        let mut sum = PhaseTime {
            label: HANDSHAKE.into(),
            ms: ByCause::new(),
        };
        for p in self
            .phases
            .iter()
            .filter(|p| p.label.starts_with(HANDSHAKE))
        {
            for (cause, ms) in &p.ms {
                *sum.ms.entry(cause.clone()).or_default() += ms;
            }
        }
        sum
    }

    /// Share of the handshake phase spent in one cause; none without a kernel level or handshakes.
    pub fn share_of_handshake(&self, cause: &str) -> Option<f64> {
        let phase = self.handshake();
        let total = phase.total();
        (self.has_kernel && total > 0.0)
            .then(|| phase.ms.get(cause).copied().unwrap_or(0.0) / total)
    }
}

const HANDSHAKE: &str = "TLS handshake";

/// Phases in the order in which a connection goes through them, and what they are called here.
const PHASES: [(&str, &str); 11] = [
    ("tls_full", "TLS handshake, full"),
    ("tls_resumed", "TLS handshake, resumed"),
    ("tls_failed", "TLS handshake, failed"),
    ("tls_unknown", "TLS handshake, full or resumed"),
    ("request", "request (no service)"),
    ("service", "service"),
    ("pool_wait", "waiting for the pool"),
    ("sql", "SQL"),
    ("call", "calls of services"),
    ("idle", "connection (no request)"),
    ("other", "other"),
];

/// Where a phase stands among the others.
pub fn order(label: &str) -> usize {
    PHASES
        .iter()
        .position(|(_, known)| *known == label)
        .unwrap_or(PHASES.len())
}

/// Reads what the report needs out of a trace. What ended in its first `skip_s` seconds does not
/// count: the JIT is compiling what the probes have changed.
pub fn read(dir: &Path, rate: f64, load: Load, skip_s: f64) -> Result<Side> {
    let trace = Trace::open(dir)?;
    let report = report(&trace).with_context(|| format!("cannot summarize {}", dir.display()))?;
    let from = trace.meta.begin_ns + (1e9 * skip_s) as i64;
    let count = |of: &str| -> Result<u64> {
        let sql = format!("SELECT count(*) FROM {of} s WHERE s.end_ns >= {from}");
        let n: i64 = trace.sql()?.query_row(&sql, [], |r| r.get(0))?;
        Ok(n.max(0) as u64)
    };
    let connections = count(CONNECTIONS)?;
    let shaken = |kind: &str| {
        count(&format!(
            "(FROM spans WHERE kind = 'tls_handshake' AND name = '{kind}')"
        ))
    };
    let mut notes = report.about.notes.clone();
    notes.extend(report.about.missing.values().cloned());
    Ok(Side {
        trace: dir
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default(),
        rate,
        seconds: report.about.seconds - skip_s,
        lost: report.about.losses.values().sum(),
        notes,
        has_kernel: report.about.has_kernel,
        connections,
        full: shaken("full")?,
        resumed: shaken("resumed")?,
        failed: shaken("failed")?,
        phases: phases(
            &trace,
            &format!("s.kind = 'connection' AND s.end_ns >= {from}"),
            connections,
        )?,
        waited_for: report
            .waited_for
            .iter()
            .map(|w| Wait {
                what: w.what.to_string(),
                label: w.label.clone(),
                share: w.share,
            })
            .collect(),
        utilization: report.cpu.utilization,
        gc_share: report.gc.share,
        limit: report.verdict.limit.to_string(),
        verdict: report.verdict.text.clone(),
        load,
    })
}

/// Time of some spans by phase and cause, per one of `n`.
fn phases(trace: &Trace, which: &str, n: u64) -> Result<Vec<PhaseTime>> {
    let db = trace.sql()?;
    let mut statement = db.prepare(&format!(
        "SELECT b.phase, b.cause, sum(b.duration_ns)::DOUBLE / 1e6
         FROM breakdown b JOIN spans s ON s.id = b.span
         WHERE {which} GROUP BY ALL"
    ))?;
    let rows = statement.query_map([], |r| {
        Ok((
            r.get::<_, String>(0)?,
            r.get::<_, String>(1)?,
            r.get::<_, f64>(2)?,
        ))
    })?;
    let mut out: Vec<PhaseTime> = PHASES
        .iter()
        .map(|(_, label)| PhaseTime {
            label: (*label).into(),
            ms: ByCause::new(),
        })
        .collect();
    for row in rows {
        let (phase, cause, ms) = row?;
        let at = PHASES
            .iter()
            .position(|(name, _)| *name == phase)
            .unwrap_or(PHASES.len() - 1);
        let cause = if CAUSES.contains(&cause.as_str()) {
            cause
        } else {
            "other".into()
        };
        *out[at].ms.entry(cause).or_default() += ms / n.max(1) as f64;
    }
    out.retain(|p| p.total() > 0.0);
    Ok(out)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A recording in which handshakes waited for a CPU `runnable` ms per connection.
    pub fn side(runnable: f64, limit: &str) -> Side {
        let phase = |label: &str, ms: &[(&str, f64)]| PhaseTime {
            label: label.into(),
            ms: ms.iter().map(|(c, v)| ((*c).to_owned(), *v)).collect(),
        };
        Side {
            rate: 30.0,
            seconds: 10.0,
            has_kernel: true,
            connections: 300,
            full: 200,
            resumed: 100,
            phases: vec![
                phase(
                    "TLS handshake, full",
                    &[("running", 5.0), ("runnable", runnable)],
                ),
                phase("TLS handshake, resumed", &[("running", 1.0)]),
                phase("service", &[("running", 2.0), ("lock", 1.0)]),
                phase("connection (no request)", &[("idle", 400.0)]),
            ],
            limit: limit.into(),
            ..Side::default()
        }
    }

    #[test]
    fn the_handshake_phase_is_all_kinds_of_handshakes() {
        let s = side(6.0, "cpu");
        assert_eq!(s.handshake().total(), 12.0);
        assert_eq!(s.share_of_handshake("runnable"), Some(0.5));
        assert_eq!(s.share_of_handshake("queue"), Some(0.0));
        assert_eq!(s.resumed_share(), Some(1.0 / 3.0));
        let blind = Side {
            has_kernel: false,
            ..s
        };
        assert_eq!(blind.share_of_handshake("runnable"), None);
    }
}
