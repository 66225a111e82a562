//! What is asked of the processor.

use std::path::Path;

use loadline_record::counters::sysfs::{DEVICES, Pmus};
use loadline_record::counters::{Event, Plan};

use crate::topdown::{self, Processor};

/// Events that a user names, by the kernel's own names; see [`Pmus::resolve`]. The list is parted at commas outside of
/// `PMU/…/`.
pub fn resolve(list: &str) -> Result<Vec<Event>, String> {
    let pmus = Pmus::read(Path::new(DEVICES));
    parted(list).map(|name| pmus.resolve(name.trim())).collect()
}

fn parted(list: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    list.split(move |c| {
        inside ^= c == '/';
        c == ',' && !inside
    })
    .filter(|name| !name.trim().is_empty())
}

/// Everything that this machine may count: generic events, top-down categories, and what a user named.
pub fn plan(named: Vec<Event>) -> Plan {
    planned(&Pmus::read(Path::new(DEVICES)), &Processor::this(), named)
}

fn planned(pmus: &Pmus, processor: &Processor, named: Vec<Event>) -> Plan {
    let hybrid = pmus.hybrid();
    let first = pmus.cores().first().map(|pmu| pmu.kind);
    let mut plan = Plan::generic(first.filter(|_| hybrid.is_some())).with(named);
    plan.notes.extend(hybrid);
    // Without any, the reason why there are no counters at all says so.
    if first.is_some() {
        match topdown::groups(pmus, processor) {
            Ok(groups) => plan.groups.extend(groups),
            Err(why) => plan.notes.push(why),
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_parted_outside_of_slashes() {
        let all: Vec<&str> = parted("slots, cpu/event=0xc2,umask=1/u,msr/tsc/,").collect();
        assert_eq!(all, ["slots", " cpu/event=0xc2,umask=1/u", "msr/tsc/"]);
    }

    #[test]
    fn a_machine_without_a_pmu_is_asked_for_the_generic_events_alone() {
        let plan = planned(&Pmus::default(), &Processor::default(), Vec::new());
        assert_eq!(plan, Plan::generic(None));
    }
}
