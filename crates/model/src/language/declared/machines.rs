//! Machines and their schedulers, and what pools may ask of them.

use super::ANY;
use crate::engine::limits::MOST_SETS;
use crate::language::LoadError;
use crate::language::section::Section;
use crate::model::{Contention, Machine, Model, Pool, Scheduler, UNLIMITED};

const SCHEDULER_KEYS: [&str; 10] = [
    "quantum",
    "tick",
    "slice_ticks",
    "preempt_lead",
    "accounting",
    "at_tick",
    "latency",
    "granularity",
    "wakeup_granularity",
    "slice",
];

/// Limits of processor sharing with affinity, and of quotas.
pub(super) fn check_sharing(root: &Section<'_>, model: &Model) -> Result<(), LoadError> {
    for (m, machine) in model.machines.iter().enumerate() {
        let here = || model.pools.iter().filter(move |p| p.machine == Some(m));
        let mut sets: Vec<u128> = here().map(|p| p.affinity).collect();
        sets.sort_unstable();
        sets.dedup();
        let managed = model.managers.iter().filter(|x| x.machine == m);
        let count = sets.len() + managed.map(|x| x.groups.len()).sum::<usize>();
        if machine.scheduler == Scheduler::ProcessorSharing && count > MOST_SETS {
            let message = format!(
                "machines.{} shares its cores among {count} different sets of them; under ps there can be {MOST_SETS}: \
                 use cfs or eevdf",
                machine.name
            );
            return Err(root.context.wrong(1, message));
        }
    }
    for (name, s) in root.named("groups")? {
        let own = |p: &&Pool| p.group.is_some_and(|g| model.groups[g].name == name);
        let mut machines: Vec<_> = model.pools.iter().filter(own).map(|p| p.machine).collect();
        machines.sort_unstable();
        machines.dedup();
        if machines.len() > 1 && s.node("quota").is_some() {
            return Err(s.wrong(
                "quota",
                "its pools are on several machines; give each machine a group",
            ));
        }
    }
    Ok(())
}

pub(super) fn machine(name: String, s: &Section<'_>) -> Result<Machine, LoadError> {
    let cores = s.count("cores", 1.0)?.unwrap_or(1);
    let speed = s.number("speed", 1e-9, 1e9)?.unwrap_or(1.0);
    let switch_cost = s.number("switch_cost", 0.0, 1.0)?.unwrap_or(0.0);
    let kinds = [
        ("ps", 0),
        ("fcfs", 1),
        ("round-robin", 2),
        ("priority", 3),
        ("priority-nonpreemptive", 4),
        ("linux24", 5),
        ("cfs", 6),
        ("eevdf", 7),
    ];
    // Below a microsecond a run would consist of nothing but turns.
    let positive = |key: &str, default: f64| -> Result<f64, LoadError> {
        Ok(s.seconds(key, 1e-6)?.unwrap_or(default))
    };
    // A model may choose its scheduler by a parameter: the others' keys then stand there too.
    for key in SCHEDULER_KEYS {
        s.known(key);
    }
    let scheduler = match s.choice("scheduler", &kinds)?.unwrap_or(0) {
        1 => Scheduler::RoundRobin { quantum: ANY },
        2 => Scheduler::RoundRobin {
            quantum: positive("quantum", 0.01)?,
        },
        3 => Scheduler::Priority { preemptive: true },
        4 => Scheduler::Priority { preemptive: false },
        5 => Scheduler::Linux24 {
            tick: positive("tick", 0.01)?,
            slice_ticks: s.count("slice_ticks", 1.0)?.unwrap_or(6).min(1000),
            preempt_lead: s.count("preempt_lead", 0.0)?.unwrap_or(1),
            compare_at_ticks: s
                .choice("at_tick", &[("expired", false), ("compare", true)])?
                .unwrap_or(false),
            sampled: !matches!(
                s.choice("accounting", &[("sampled", 0), ("exact", 1)])?,
                Some(1)
            ),
        },
        6 => Scheduler::Cfs {
            latency: positive("latency", 0.006)?,
            granularity: positive("granularity", 0.00075)?,
            wakeup_granularity: positive("wakeup_granularity", 0.001)?,
        },
        7 => Scheduler::Eevdf {
            slice: positive("slice", 0.003)?,
        },
        _ => Scheduler::ProcessorSharing,
    };
    if scheduler != Scheduler::ProcessorSharing && cores > 128 {
        return Err(s.wrong(
            "cores",
            format!("it is {cores}; it must be from 1 to 128 under this scheduler"),
        ));
    }
    if scheduler == Scheduler::ProcessorSharing && switch_cost > 0.0 {
        return Err(s.wrong(
            "switch_cost",
            "processor sharing switches infinitely often; use round-robin, cfs or eevdf",
        ));
    }
    Ok(Machine {
        name,
        cores,
        speed,
        scheduler,
        switch_cost,
        contention: contention(s, cores)?,
    })
}

/// `contention = 0.2, contention_at = 0.4`: what takes 1 ms at a utilization of 0.4 takes 1.12 ms at 1.
fn contention(s: &Section<'_>, cores: u32) -> Result<Option<Contention>, LoadError> {
    let growth = s.number("contention", -0.9, 10.0)?.unwrap_or(0.0);
    let contention = Contention {
        growth,
        at: s.number("contention_at", 0.0, 1.0)?.unwrap_or(0.0),
        over: s.seconds("contention_over", 1e-3)?.unwrap_or(1.0),
    };
    if growth != 0.0 && cores == UNLIMITED {
        return Err(s.wrong(
            "contention",
            "a machine with unlimited cores is never busy; give it cores",
        ));
    }
    Ok((growth != 0.0).then_some(contention))
}

/// Refuses what the machine's scheduler would not look at, rather than leave it without effect.
pub(super) fn check_scheduler(
    s: &Section<'_>,
    machine: &Machine,
    priority: i32,
    weight: f64,
) -> Result<(), LoadError> {
    use Scheduler::{Cfs, Eevdf, Priority, ProcessorSharing};
    if priority != 0 && !matches!(machine.scheduler, Priority { .. }) {
        let message = format!(
            "the scheduler of {} knows no priorities; use priority or priority-nonpreemptive",
            machine.name
        );
        return Err(s.wrong("priority", message));
    }
    if weight != 1024.0
        && !matches!(
            machine.scheduler,
            ProcessorSharing | Cfs { .. } | Eevdf { .. }
        )
    {
        let message = format!(
            "the scheduler of {} knows no weights; use ps, cfs or eevdf",
            machine.name
        );
        return Err(s.wrong("weight", message));
    }
    Ok(())
}
