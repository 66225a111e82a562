//! What a model answers: one structure, whoever computed it, as JSON, as text and as a page.

mod from_runs;
mod html;
mod over_time;
mod stations;
mod text;

pub use from_runs::{from_runs, precise_over_runs, ratio};
pub use html::{frame, page, sweep_page};
pub use over_time::Interval;
pub use text::{answer_text, sweep_text};

use loadline_stats::Estimate;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A list of named things that becomes a JSON object in its own order.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    /// The thing called `name`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, t)| t)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// All that is known about a model's steady state. Times in seconds, rates per second.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Answer {
    /// What was modelled.
    pub title: String,
    /// Who computed it: simulation, or a solver's name.
    pub solver: String,
    /// Parameters used.
    pub parameters: Named<String>,
    /// Per request class.
    pub classes: Named<ClassAnswer>,
    /// All classes together but those of the background; absent from a solver's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<ClassAnswer>,
    /// Per station, pool, resource and machine.
    pub stations: Named<StationAnswer>,
    /// Interval by interval, if the load changes over the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_time: Vec<Interval>,
    /// Per phase that programs mark.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub phases: Named<PhaseAnswer>,
    /// About the run itself; absent from a solver's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunAnswer>,
    /// Why there is no steady state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What is suspicious.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A request class.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ClassAnswer {
    /// Requests completed well per second.
    pub throughput: Estimate,
    /// From the client's sending to its program's end.
    pub response_time: ResponseTime,
    /// Mean number in the system.
    pub in_system: Estimate,
    /// Requests per second that began.
    pub offered: f64,
    /// What did not go well, per second: only what occurs.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub failures: Named<f64>,
}

/// Response times of a class.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ResponseTime {
    /// Mean.
    pub mean: Estimate,
    /// Median; NaN where a solver gives only means.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Half width of the 95% interval of the 95th percentile.
    pub p95_ci95: f64,
    /// Half width of the 95% interval of the 99th percentile.
    pub p99_ci95: f64,
    /// (from, to, count): about forty cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<(f64, f64, u64)>,
}

/// A part of the system where requests queue or are held.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct StationAnswer {
    /// station, pool, resource or machine.
    pub kind: String,
    /// Mean share of servers, threads, units or cores in use; of an unlimited one, their mean number.
    pub utilization: Option<Estimate>,
    /// Services per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Estimate>,
    /// From coming until being served, or until having it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_time: Option<Estimate>,
    /// Of a pool: until the reply or the forwarding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_phase_time: Option<Estimate>,
    /// Being served, or having it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holding_time: Option<Estimate>,
    /// Mean number that wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_length: Option<f64>,
    /// Mean number of threads of a pool that grows and shrinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<f64>,
    /// Other rates and shares: context switches, contention, rejections.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub more: Named<f64>,
    /// The times per class, where several classes come.
    #[serde(skip_serializing_if = "Named::is_empty")]
    pub classes: Named<ClassAt>,
}

/// One class at one part.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ClassAt {
    /// Services per second.
    pub throughput: f64,
    /// Waiting.
    pub queueing_time: Estimate,
    /// Being served.
    pub holding_time: Estimate,
}

/// A marked part of programs.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct PhaseAnswer {
    /// How often per second.
    pub throughput: Estimate,
    /// How long.
    pub time: Estimate,
}

/// About a run.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RunAnswer {
    /// Seed.
    pub seed: u64,
    /// Independent runs.
    pub replications: u32,
    /// Requests completed, warm-up included.
    pub requests: u64,
    /// Simulated seconds, warm-up included.
    pub simulated_seconds: f64,
    /// Seconds that MSER-5 cut off; `null` if the run was too short to tell.
    pub warm_up_seconds: Option<f64>,
    /// Events.
    pub events: u64,
    /// Whether the wanted precision was reached.
    pub precise: bool,
    /// (simulated second, mean response time of those that completed then).
    pub curve: Vec<(f64, f64)>,
}
