//! The summary of a trace: what it was, how fast, where the time went, what limits.
//!
//! Terms: *response time* is a request's time in the server, from the first look at its bytes by a
//! worker to its end; *utilization* is CPU time over the time of the CPUs that the target may use.
//! Means of the breakdown are per occurrence: per full handshake, per request, per connection.
//!
//! [`report`] reads the figures, one module a topic; the conclusion is that of [`crate::diagnose`]; [`Report::render`] is the only one that writes text.

mod allocations;
mod code;
mod contention;
mod costs;
mod load;
mod machine;
mod methods;
mod objects;
pub(crate) mod page;
mod phases;
mod render;
pub mod table;
pub mod verdict;

use std::collections::BTreeMap;

use anyhow::Result;
use loadline_trace::Trace;
use loadline_trace::duckdb::{Connection, Row};
use loadline_trace::meta::NotRecorded;
use serde::Serialize;

use crate::metrics::Measured;

pub use allocations::Allocated;
pub use code::Code;
pub use contention::{Callee, Gc, Monitor, Pool, WaitedFor};
pub use costs::Cost;
pub use load::{Connections, Cpu, RoleCpu, Throughput};
pub use machine::Work;
pub use methods::Called;
pub use objects::Lives;
pub use phases::{Phase, RequestType, ThreadTime, Times};
pub use verdict::Verdict;

/// Everything that the summary says.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What was recorded.
    pub about: About,
    /// Requests and their response times.
    pub throughput: Throughput,
    /// Use of the CPUs.
    pub cpu: Cpu,
    /// CPUs that threads kept busy, by what they are for, the most first; empty without the kernel level.
    pub roles: Vec<RoleCpu>,
    /// Connections and handshakes.
    pub connections: Connections,
    /// Mean time per occurrence, by phase and cause.
    pub breakdown: Vec<Phase>,
    /// Request types, the slowest first.
    pub requests: Vec<RequestType>,
    /// What a request cost the machine; only where counters were recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Cost>,
    /// Threads that ran most; only when no request was seen.
    pub threads: Vec<ThreadTime>,
    /// What handshakes and requests waited for, the most first.
    pub waited_for: Vec<WaitedFor>,
    /// Contended monitors and locks, the most waited-for first.
    pub monitors: Vec<Monitor>,
    /// The code that waited: by lock, then by request type, the most waited first. Of waits whose stack was taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<Code>,
    /// The code that allocates, by request type, what allocates most first; where allocations were sampled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allocated: Vec<Allocated>,
    /// Objects of chosen classes, by where they were allocated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Lives>,
    /// Paths of recorded methods, each below its caller's, those that took most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<Called>,
    /// Pools of connections.
    pub pools: Vec<Pool>,
    /// Statements, the most expensive first.
    pub sql: Vec<Callee>,
    /// Other services that were called, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Callee>,
    /// Garbage collections.
    pub gc: Gc,
    /// What else the JVM did, where it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub machine: Vec<Work>,
    /// The user's own metrics, if any were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Measured>,
    /// The conclusion.
    pub verdict: Verdict,
}

/// What was recorded, and how completely.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// The trace's directory.
    pub trace: String,
    /// Name of the target.
    pub name: String,
    /// Its process id.
    pub pid: i32,
    /// Its JVM.
    pub jvm: String,
    /// Its server.
    pub server: Option<String>,
    /// CPUs that it might use.
    pub cpus: u32,
    /// Length of the recording.
    pub seconds: f64,
    /// Events that the sources delivered.
    pub events: u64,
    /// Events lost, per source.
    pub losses: BTreeMap<String, u64>,
    /// How the recording ended.
    pub ended: String,
    /// Levels that are missing, and why.
    pub missing: BTreeMap<String, String>,
    /// What is not in the trace although its level is: why, and how to get it.
    pub not_recorded: Vec<NotRecorded>,
    /// Sentences of the recorder.
    pub notes: Vec<String>,
    /// Whether thread states are those of the kernel.
    pub has_kernel: bool,
}

/// Summarizes a trace.
pub fn report(trace: &Trace) -> Result<Report> {
    let db = crate::views::open(trace)?;
    let meta = &trace.meta;
    let about = about(trace);
    let throughput = load::throughput(&db, meta)?;
    let cpu = load::cpu(&db, meta)?;
    let roles = load::roles(&db, meta)?;
    let connections = load::connections(&db, meta)?;
    let breakdown = phases::breakdown(&db)?;
    let monitors = contention::monitors(&db)?;
    let pools = contention::pools(&db)?;
    let sql = contention::called(&db, "sql")?;
    let services = contention::called(&db, "call")?;
    let gc = contention::gc(&db, meta)?;
    let diagnosis = crate::diagnose::of(&db, meta)?;
    let others = &diagnosis.figures.others;
    let waited_for = contention::waited_for(&db, &cpu, &monitors, &pools, &sql, &services, others)?;
    let verdict = verdict::verdict(&diagnosis);
    Ok(Report {
        requests: phases::request_types(&db)?,
        costs: costs::costs(&db)?,
        code: code::code(&db)?,
        allocated: allocations::allocated(&db)?,
        objects: objects::lives(&db)?,
        methods: methods::tree(&db)?,
        threads: if throughput.requests == 0 {
            phases::threads(&db)?
        } else {
            Vec::new()
        },
        about,
        throughput,
        cpu,
        roles,
        connections,
        breakdown,
        waited_for,
        monitors,
        pools,
        sql,
        services,
        gc,
        machine: machine::work(&db)?,
        metrics: Vec::new(),
        verdict,
    })
}

fn about(trace: &Trace) -> About {
    let meta = &trace.meta;
    let missing = meta
        .levels
        .iter()
        .filter(|(_, level)| !level.recorded && !level.why.is_empty())
        .map(|(name, level)| (name.clone(), level.why.clone()))
        .collect();
    About {
        trace: trace.dir.display().to_string(),
        name: meta.target.name.clone(),
        pid: meta.target.pid,
        jvm: meta.target.jvm.clone(),
        server: meta.target.server.clone(),
        cpus: cpus(meta),
        seconds: meta.seconds(),
        events: meta.events,
        losses: meta.losses.clone(),
        ended: meta.ended.clone(),
        missing,
        not_recorded: meta.not_recorded.clone(),
        notes: meta.notes.clone(),
        has_kernel: meta.has("kernel"),
    }
}

/// CPUs that the target might use; the machine's if that was not recorded.
pub(crate) fn cpus(meta: &loadline_trace::Meta) -> u32 {
    if meta.machine.target_cpus > 0 {
        meta.machine.target_cpus
    } else {
        meta.machine.cpus.max(1)
    }
}

/// All rows of a query.
pub(crate) fn rows<T>(
    db: &Connection,
    sql: &str,
    of: impl FnMut(&Row) -> loadline_trace::duckdb::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The one row of a query that always has one.
fn row<T>(
    db: &Connection,
    sql: &str,
    of: impl FnOnce(&Row) -> loadline_trace::duckdb::Result<T>,
) -> Result<T> {
    Ok(db.query_row(sql, [], of)?)
}
