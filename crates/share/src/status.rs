//! How things are, for people, programs and Prometheus.

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::applications::Origin;
use crate::manager::Manager;

/// One application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApplicationStatus {
    /// While this daemon lives.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its leading process.
    pub pid: i32,
    /// Its user.
    pub uid: u32,
    /// `run`, `adopted` or `registered`.
    pub origin: String,
    /// Against the others.
    pub priority: f64,
    /// CPUs requested.
    pub wants: f64,
    /// Whether that is an estimate.
    pub estimated: bool,
    /// CPUs assigned, as it was told.
    pub has: f64,
    /// CPUs and its part of each, as `(cpu, part)`.
    pub cpus: Vec<(u32, f64)>,
    /// CPUs in use over the last sample.
    pub using: f64,
    /// CPUs waited for over the last sample, where the kernel says.
    pub waiting: Option<f64>,
    /// Replies within the objective per second, as it says.
    pub goodput: Option<f64>,
    /// 95th percentile of its response time, as it says.
    pub p95_ms: Option<f64>,
    /// Since it came.
    pub account: Account,
    /// How often it was told something else.
    pub changes: u64,
}

/// The daemon and its applications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The daemon's process.
    pub pid: u32,
    /// How CPUs are divided.
    pub policy: String,
    /// Who may share one.
    pub sharing: String,
    /// How the kernel is told.
    pub mechanism: String,
    /// More about that.
    pub mechanism_about: String,
    /// Better mechanisms, and why they cannot be had.
    pub passed_over: Vec<String>,
    /// The CPUs that are handed out, as a list.
    pub cpus: String,
    /// Milliseconds between decisions.
    pub quantum_ms: f64,
    /// Decisions so far.
    pub quanta: u64,
    /// Assignments that changed so far.
    pub changes: u64,
    /// Longest time from a decision that changed something to the kernel's having it, in milliseconds; grace not counted.
    pub slowest_apply_ms: f64,
    /// 95th percentile of the last thousand.
    pub p95_apply_ms: f64,
    /// `real time`, or why the daemon runs among all others.
    pub scheduling: String,
    /// CPU time of the daemon itself, in seconds.
    pub cpu_seconds: f64,
    /// Settings that the kernel refused.
    pub errors: u64,
    /// The last of them.
    pub last_error: Option<String>,
    /// Where the history is.
    pub history: Option<String>,
    /// All of them, in the order in which they came.
    pub applications: Vec<ApplicationStatus>,
}

impl Status {
    pub(crate) fn of(manager: &Manager, passed_over: &[String]) -> Status {
        let (floor, all) = (manager.config.floor, manager.all());
        let application = |app: &crate::applications::App| ApplicationStatus {
            id: app.id,
            name: app.name.clone(),
            pid: app.pid,
            uid: app.uid,
            origin: match app.origin {
                Origin::Run => "run",
                Origin::Adopted => "adopted",
                Origin::Registered => "registered",
            }
            .into(),
            priority: app.demand.priority,
            wants: app.demand.request(floor, all).as_f64(),
            estimated: app.demand.asked.is_none(),
            has: app.has.lane.told.as_f64(),
            cpus: app
                .has
                .lane
                .target
                .iter()
                .map(|s| (s.cpu, s.part.as_f64()))
                .collect(),
            using: app.sampled.using,
            waiting: app.sampled.waiting,
            goodput: app.reported.goodput,
            p95_ms: app.reported.p95_ms,
            account: app.account,
            changes: app.has.changes,
        };
        let figures = &manager.figures;
        Status {
            pid: std::process::id(),
            policy: manager.config.policy.name().into(),
            sharing: manager.config.sharing.name().into(),
            mechanism: manager.mechanism.kind().name().into(),
            mechanism_about: manager.mechanism.about(),
            passed_over: passed_over.to_vec(),
            cpus: manager.managed.to_string(),
            quantum_ms: manager.config.quantum.as_secs_f64() * 1e3,
            quanta: figures.quanta,
            changes: figures.changes,
            slowest_apply_ms: figures.applying.slowest_ns as f64 / 1e6,
            p95_apply_ms: figures.applying.p95_ns() as f64 / 1e6,
            scheduling: figures.scheduling.clone(),
            cpu_seconds: crate::sys::process_cpu_ns(std::process::id() as i32).unwrap_or(0) as f64
                / 1e9,
            errors: figures.mechanism_errors,
            last_error: figures.last_error.clone(),
            history: manager
                .config
                .history
                .as_ref()
                .map(|p| p.display().to_string()),
            applications: manager.apps.iter().map(application).collect(),
        }
    }
}
