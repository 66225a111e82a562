//! One file a policy: `grains(snapshot, requests)` says how many grains each application gets.

mod batch;
mod cost_aware;
mod dynamic_space_sharing;
mod equipartition;
mod goodput_aware;
mod priority_weighted;
mod round_robin;

use std::str::FromStr;

use crate::Snapshot;

/// How CPUs are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// First come, first served: each gets its whole request or waits.
    Batch,
    /// All of them to one application at a time, in turn.
    RoundRobin,
    /// Equal parts, water-filled.
    Equipartition,
    /// In proportion to the requests.
    DynamicSpaceSharing,
    /// In proportion to priority times request.
    PriorityWeighted,
    /// To those whose CPU seconds earn most.
    CostAware,
    /// Where they bring most goodput, by each application's curve.
    GoodputAware,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 7] = [
        Policy::Batch,
        Policy::RoundRobin,
        Policy::Equipartition,
        Policy::DynamicSpaceSharing,
        Policy::PriorityWeighted,
        Policy::CostAware,
        Policy::GoodputAware,
    ];

    /// Its name in configuration and models.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Batch => "batch",
            Policy::RoundRobin => "round-robin",
            Policy::Equipartition => "equipartition",
            Policy::DynamicSpaceSharing => "dynamic-space-sharing",
            Policy::PriorityWeighted => "priority-weighted",
            Policy::CostAware => "cost-aware",
            Policy::GoodputAware => "goodput-aware",
        }
    }

    /// Whether it hands out turns, so that a snapshot's `turn` has to advance.
    pub const fn takes_turns(self) -> bool {
        matches!(self, Policy::RoundRobin)
    }

    /// Grains for each application.
    pub(crate) fn grains(self, snapshot: &Snapshot<'_>) -> Vec<u64> {
        let requests = snapshot.requests();
        match self {
            Policy::Batch => batch::grains(snapshot, &requests),
            Policy::RoundRobin => round_robin::grains(snapshot, &requests),
            Policy::Equipartition => equipartition::grains(snapshot, &requests),
            Policy::DynamicSpaceSharing => dynamic_space_sharing::grains(snapshot, &requests),
            Policy::PriorityWeighted => priority_weighted::grains(snapshot, &requests),
            Policy::CostAware => cost_aware::grains(snapshot, &requests),
            Policy::GoodputAware => goodput_aware::grains(snapshot, &requests),
        }
    }
}

impl FromStr for Policy {
    type Err = ();

    fn from_str(name: &str) -> Result<Policy, ()> {
        Policy::ALL.into_iter().find(|p| p.name() == name).ok_or(())
    }
}
