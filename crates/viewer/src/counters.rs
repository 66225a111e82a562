//! Counters by role over time, and what a request cost: what a recording with counters has more than others.
//!
//! What always holds: what a lane's intervals add up to is what the counter grew, however few of them are told.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

use crate::confined::Session;
use crate::model::Model;

/// Counters of the roles of a trace, as they grow.
#[derive(Debug, Default)]
pub struct Counters {
    /// When they were read, ns since the recording began.
    pub times: Vec<i64>,
    /// Roles, in the order of the tables.
    pub roles: Vec<String>,
    /// By name, a list of readings for each role.
    pub readings: BTreeMap<String, Vec<Vec<f64>>>,
}

/// What the page draws.
#[derive(Debug, Serialize, PartialEq)]
pub struct Lanes {
    roles: Vec<String>,
    /// Bounds of the intervals: one more than there are of these.
    times: Vec<i64>,
    lanes: Vec<CounterLane>,
}

#[derive(Debug, Serialize, PartialEq)]
struct CounterLane {
    name: String,
    /// By role, what it grew in each interval.
    grown: Vec<Vec<f64>>,
}

impl Counters {
    /// Takes one reading, in the order of times.
    pub fn push(&mut self, at: i64, role: &str, name: &str, value: f64) {
        if self.times.last() != Some(&at) {
            self.times.push(at);
        }
        let role = match self.roles.iter().position(|r| r == role) {
            Some(known) => known,
            None => {
                self.roles.push(role.to_owned());
                self.roles.len() - 1
            }
        };
        let lane = self.readings.entry(name.to_owned()).or_default();
        if lane.len() <= role {
            lane.resize(role + 1, Vec::new());
        }
        lane[role].push(value);
    }

    /// At most `bins` intervals of all that grew at all.
    pub fn lanes(&self, bins: usize) -> Lanes {
        let last = self.times.len().saturating_sub(1);
        let step = last.div_ceil(bins.max(1)).max(1);
        let mut bounds: Vec<usize> = (0..last).step_by(step).collect();
        bounds.push(last);
        let lanes = self.readings.iter().filter_map(|(name, of_roles)| {
            let grown: Vec<Vec<f64>> = of_roles
                .iter()
                .map(|values| {
                    let at = |bound: usize| values.get(bound).copied().unwrap_or(0.0);
                    bounds.windows(2).map(|w| at(w[1]) - at(w[0])).collect()
                })
                .collect();
            let any = grown.iter().flatten().any(|v| *v > 0.0);
            any.then(|| CounterLane {
                name: name.clone(),
                grown,
            })
        });
        Lanes {
            roles: self.roles.clone(),
            lanes: lanes.collect(),
            times: match self.times.is_empty() {
                true => Vec::new(),
                false => bounds.iter().map(|b| self.times[*b]).collect(),
            },
        }
    }
}

/// What a request cost: name, value, whether it is an estimate.
pub fn of_request(model: &Model, sql: Session<'_>, id: i64) -> Result<Value> {
    let Some(&index) = model.span_index.get(&id) else {
        return Ok(json!([]));
    };
    let span = &model.spans[index as usize];
    let begin = model.meta.begin_ns;
    let answer = sql.own(&format!(
        "SELECT name, value, estimated FROM request_counters_within({}, {}) WHERE request = {id} ORDER BY estimated, name",
        span.begin + begin,
        span.end + begin
    ))?;
    Ok(json!(answer.rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters() -> Counters {
        let mut all = Counters::default();
        for (at, workers) in [(0, 0.0), (10, 4.0), (20, 5.0), (30, 9.0)] {
            all.push(at, "workers", "cpu_ns", workers);
            all.push(at, "gc", "cpu_ns", 1.0);
            all.push(at, "workers", "major_faults", 0.0);
            all.push(at, "gc", "major_faults", 0.0);
        }
        all
    }

    #[test]
    fn a_lane_tells_what_its_counter_grew() {
        let lanes = counters().lanes(100);
        assert_eq!(lanes.times, [0, 10, 20, 30]);
        assert_eq!(lanes.roles, ["workers", "gc"]);
        assert_eq!(lanes.lanes.len(), 1, "what never grew is no lane");
        assert_eq!(lanes.lanes[0].grown, [[4.0, 1.0, 4.0], [0.0, 0.0, 0.0]]);
    }

    #[test]
    fn fewer_intervals_grow_as_much_together() {
        let lanes = counters().lanes(2);
        assert_eq!(lanes.times, [0, 20, 30]);
        assert_eq!(lanes.lanes[0].grown[0], [5.0, 4.0]);
        assert_eq!(Counters::default().lanes(9).times, [0i64; 0]);
    }
}
