//! Figures that are made of several counters.

use std::collections::BTreeMap;

use loadline_analyze::counters::Role;
use loadline_stats::Estimate;
use serde::{Deserialize, Serialize};

use crate::topdown;

/// How a ratio is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A part of one, as percents.
    Share,
    /// A number.
    Number,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratio {
    /// In JSON and CSV.
    pub name: String,
    /// For people.
    pub title: String,
    /// How it is written.
    pub unit: Kind,
    /// Of all threads, with the interval over batches of slices.
    pub value: Estimate,
    /// Of each role that counted something.
    pub by_role: BTreeMap<Role, f64>,
}

/// A ratio of counters by their names.
pub(crate) struct Value {
    pub name: String,
    pub title: String,
    pub unit: Kind,
    pub value: f64,
}

/// Names, titles, and which counters over which.
const OVER: [(&str, &str, Kind, &str, &str); 8] = [
    (
        "ipc_user",
        "instructions per cycle, user",
        Kind::Number,
        "instructions_user",
        "cycles_user",
    ),
    (
        "ipc_kernel",
        "instructions per cycle, kernel",
        Kind::Number,
        "instructions_kernel",
        "cycles_kernel",
    ),
    (
        "branch_miss_share_user",
        "branches mispredicted, user",
        Kind::Share,
        "branch_misses_user",
        "branches_user",
    ),
    (
        "branch_miss_share_kernel",
        "branches mispredicted, kernel",
        Kind::Share,
        "branch_misses_kernel",
        "branches_kernel",
    ),
    (
        "frontend_stall_share_user",
        "cycles stalled for instructions, user",
        Kind::Share,
        "stalls_frontend_user",
        "cycles_user",
    ),
    (
        "frontend_stall_share_kernel",
        "cycles stalled for instructions, kernel",
        Kind::Share,
        "stalls_frontend_kernel",
        "cycles_kernel",
    ),
    (
        "backend_stall_share_user",
        "cycles stalled for data, user",
        Kind::Share,
        "stalls_backend_user",
        "cycles_user",
    ),
    (
        "backend_stall_share_kernel",
        "cycles stalled for data, kernel",
        Kind::Share,
        "stalls_backend_kernel",
        "cycles_kernel",
    ),
];

/// Every ratio that can be made of these counters; top-down categories last.
pub(crate) fn of(value: &dyn Fn(&str) -> Option<f64>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for (name, title, unit, part, whole) in OVER {
        if let (Some(part), Some(whole)) = (value(part), value(whole))
            && whole > 0.0
        {
            all.push(Value {
                name: name.into(),
                title: title.into(),
                unit,
                value: part / whole,
            });
        }
    }
    all.extend(
        topdown::shares(value)
            .into_iter()
            .map(|(category, share)| Value {
                name: category.name().into(),
                title: format!("slots: {}", category.title()),
                unit: Kind::Share,
                value: share,
            }),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_there_where_both_its_counters_are() {
        let values = BTreeMap::from([
            ("instructions_user", 30.0),
            ("cycles_user", 20.0),
            ("cycles_kernel", 5.0),
        ]);
        let all = of(&|name| values.get(name).copied());
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].name.as_str(), all[0].value), ("ipc_user", 1.5));
        assert!(of(&|_| Some(0.0)).is_empty(), "nothing over nothing");
    }
}
