//! The sections that programs refer to: machines, groups, heaps, pools, stations, links, resources, controllers.

mod machines;

use super::LoadError;
use super::section::Section;
use crate::model::{
    Aging, Discipline, Group, Guard, Heap, HeapGrowth, Manager, Model, Pool, Queue, Resource,
    ResourceKind, Station, UNLIMITED, WhenFull,
};
use loadline_policy::Policy;
use loadline_stats::random::Dist;
use machines::{check_scheduler, check_sharing, machine};

const ANY: f64 = f64::INFINITY;

pub(super) fn read(root: &Section<'_>, model: &mut Model) -> Result<(), LoadError> {
    for (name, s) in root.named("machines")? {
        model.machines.push(machine(name, &s)?);
        s.finish()?;
    }
    for (name, s) in root.named("groups")? {
        let quota = s.number("quota", 1e-6, ANY)?;
        let period = s.seconds("period", 1e-4)?.unwrap_or(0.1);
        let priority = s.number("priority", 0.0, ANY)?.unwrap_or(1.0);
        model.groups.push(Group {
            name,
            quota: quota.map(|q| (q, period)),
            priority,
        });
        s.finish()?;
    }
    for (name, s) in root.named("heaps")? {
        let heap = heap(name, &s, model)?;
        model.heaps.push(heap);
        s.finish()?;
    }
    for (name, s) in root.named("pools")? {
        let pool = pool(name, &s, model)?;
        model.pools.push(pool);
    }
    for (name, s) in root.named("stations")? {
        model.stations.push(station(name, &s)?);
        s.finish()?;
    }
    for (name, s) in root.named("links")? {
        // A link whose bandwidth is shared is a queue in front of one server; others only delay.
        let servers = if s.flag("shared")? { 1 } else { UNLIMITED };
        s.known("latency");
        s.known("bandwidth");
        let queue = Queue {
            discipline: Discipline::Fifo,
            capacity: UNLIMITED,
            when_full: WhenFull::Reject,
            patience: None,
        };
        model.stations.push(Station {
            name,
            servers,
            queue,
        });
        s.finish()?;
    }
    for (name, s) in root.named("resources")? {
        model.resources.push(resource(name, &s)?);
        s.finish()?;
    }
    if let Some(list) = root.list("conditions")? {
        for node in list {
            model
                .conditions
                .push(root.context.text_of("conditions", node)?);
        }
    }
    for (name, s) in root.named("guards")? {
        let guard = Guard {
            name,
            interval: s.seconds("interval", 1e-3)?.unwrap_or(1.0),
            cpus: s.required("cpus", s.number("cpus", 0.0, ANY)?)?,
            cost_new: s.required("cost_new", s.seconds("cost_new", 0.0)?)?,
            cost_resumed: s.seconds("cost_resumed", 0.0)?.unwrap_or(0.0),
        };
        model.guards.push(guard);
        s.finish()?;
    }
    for (_, s) in root.named("managers")? {
        let manager = manager(&s, model)?;
        model.managers.push(manager);
        s.finish()?;
    }
    check_sharing(root, model)
}

fn queue(s: &Section<'_>, key: &str, extra: &[(&str, Discipline)]) -> Result<Queue, LoadError> {
    let mut kinds = vec![
        ("fifo", Discipline::Fifo),
        ("lifo", Discipline::Lifo),
        ("priority", Discipline::Priority),
    ];
    kinds.extend(extra);
    let when = [("reject", WhenFull::Reject), ("block", WhenFull::Block)];
    Ok(Queue {
        discipline: s.choice(key, &kinds)?.unwrap_or(Discipline::Fifo),
        capacity: s.count("capacity", 0.0)?.unwrap_or(UNLIMITED),
        when_full: s.choice("when_full", &when)?.unwrap_or(WhenFull::Reject),
        patience: s.patience("patience")?,
    })
}

fn names<T>(list: &[T], name: impl Fn(&T) -> &str) -> Vec<&str> {
    list.iter().map(name).collect()
}

fn pool(name: String, s: &Section<'_>, model: &Model) -> Result<Pool, LoadError> {
    let machine = s.reference("machine", "machine", &names(&model.machines, |m| &m.name))?;
    let fixed = s.count("threads", 1.0)?;
    let least = s.count("min_threads", 0.0)?;
    let min_threads = least.or(fixed.filter(|&n| n != UNLIMITED)).unwrap_or(0);
    let max_threads = s
        .count("max_threads", 1.0)?
        .or(fixed)
        .unwrap_or(if min_threads > 0 { min_threads } else { 1 });
    if max_threads < min_threads {
        return Err(s.wrong(
            "max_threads",
            format!("it is {max_threads}; it must be min_threads ({min_threads}) or more"),
        ));
    }
    // A single thread is there from the start, unless it is said that there may be none.
    let min_threads = if fixed.is_none() && least.is_none() && max_threads == 1 {
        1
    } else {
        min_threads
    };
    if min_threads > 1_000_000 {
        return Err(s.wrong(
            "threads",
            format!("it is {min_threads}; it must be from 1 to 1000000, or unlimited"),
        ));
    }
    let mut affinity = u128::MAX;
    if let Some(list) = s.list("cores")? {
        let cores = machine.map_or(0, |m| model.machines[m].cores);
        if cores > 128 {
            return Err(s.wrong("cores", "a choice of cores needs a machine of 1 to 128"));
        }
        affinity = 0;
        for node in list {
            let core = s.context.number_of("cores", node)?;
            if core < 0.0 || core >= f64::from(cores) || core.fract() != 0.0 {
                return Err(s.wrong(
                    "cores",
                    format!(
                        "core {core} is not there; the machine has 0 to {}",
                        cores.max(1) - 1
                    ),
                ));
            }
            affinity |= 1 << core as u32;
        }
    }
    let group = s.reference("group", "group", &names(&model.groups, |g| &g.name))?;
    let priority = s.number("priority", -1e6, 1e6)?.unwrap_or(0.0) as i32;
    let weight = s.number("weight", 1.0, 1e6)?.unwrap_or(1024.0);
    if let Some(m) = machine {
        check_scheduler(s, &model.machines[m], priority, weight)?;
    }
    let keyed = s.flag("keyed")?;
    if keyed && min_threads != max_threads {
        return Err(s.wrong(
            "keyed",
            "a pool with a thread for each client needs a fixed number of threads",
        ));
    }
    for key in ["program", "entries"] {
        s.known(key);
    }
    let pool = Pool {
        name,
        machine,
        min_threads,
        max_threads,
        idle_timeout: s
            .seconds_or_never("idle_timeout")?
            .unwrap_or(if min_threads == 0 { 0.0 } else { ANY }),
        create_cpu: s.time("create_cpu")?,
        destroy_cpu: s.time("destroy_cpu")?,
        wake_cpu: s.time("wake_cpu")?,
        start_delay: s.time("start_delay")?,
        queue: queue(s, "queue", &[])?,
        wake_last: s
            .choice("wake", &[("first", false), ("last", true)])?
            .unwrap_or(false),
        in_turn: s
            .choice("signal", &[("each", false), ("in-turn", true)])?
            .unwrap_or(false),
        keyed,
        weight,
        priority,
        affinity,
        group,
        heap: s.reference("heap", "heap", &names(&model.heaps, |h| &h.name))?,
    };
    s.finish()?;
    Ok(pool)
}

fn station(name: String, s: &Section<'_>) -> Result<Station, LoadError> {
    let servers = s.count("servers", 1.0)?.unwrap_or(1);
    let extra = [
        ("ps", Discipline::Sharing),
        ("preemptive", Discipline::Preemptive),
        ("fcfs", Discipline::Fifo),
    ];
    let queue = queue(s, "discipline", &extra)?;
    if queue.discipline == Discipline::Sharing
        && (queue.capacity != UNLIMITED || queue.patience.is_some())
    {
        return Err(s.wrong(
            "discipline",
            "under processor sharing nobody waits: no capacity, no patience",
        ));
    }
    Ok(Station {
        name,
        servers,
        queue,
    })
}

fn resource(name: String, s: &Section<'_>) -> Result<Resource, LoadError> {
    let kinds = [
        ("mutex", 0),
        ("rwlock", 1),
        ("semaphore", 2),
        ("connections", 3),
    ];
    let kind = s.required("kind", s.choice("kind", &kinds)?)?;
    let units = if kind >= 2 {
        s.required("units", s.count("units", 1.0)?)?
    } else {
        1
    };
    let kind = match kind {
        0 => ResourceKind::Mutex,
        1 => ResourceKind::ReadWrite {
            prefer_readers: s
                .choice("prefer", &[("order", false), ("readers", true)])?
                .unwrap_or(false),
        },
        2 => ResourceKind::Semaphore,
        _ => ResourceKind::Connections {
            connect: s.time("connect")?,
            idle: s.seconds_or_never("idle_timeout")?.unwrap_or(ANY),
            uses: s.count("uses", 1.0)?.unwrap_or(UNLIMITED),
        },
    };
    let lifo = s
        .choice("queue", &[("fifo", false), ("lifo", true)])?
        .unwrap_or(false);
    Ok(Resource {
        name,
        units,
        lifo,
        kind,
    })
}

fn heap(name: String, s: &Section<'_>, model: &Model) -> Result<Heap, LoadError> {
    let machine = s.reference("machine", "machine", &names(&model.machines, |m| &m.name))?;
    Ok(Heap {
        name,
        young_bytes: s.required("young", s.number("young", 1.0, ANY)?)?,
        machine: s.required("machine", machine)?,
        cpu: s.required("cpu", s.time("cpu")?)?,
        threads: s.count("threads", 1.0)?.unwrap_or(1).min(1024),
        concurrent: s
            .choice("mode", &[("stop-the-world", false), ("concurrent", true)])?
            .unwrap_or(false),
        start_at: s.number("start_at", 0.01, 1.0)?.unwrap_or(0.5),
        growth: match s.number("growth", -0.9, 10.0)?.unwrap_or(0.0) {
            0.0 => {
                s.known("growth_at");
                None
            }
            growth => Some(HeapGrowth {
                growth,
                at: s.required("growth_at", s.number("growth_at", 1.0, ANY)?)?,
            }),
        },
        aging: aging(s)?,
    })
}

fn aging(s: &Section<'_>) -> Result<Option<Aging>, LoadError> {
    let Some(most) = s.number("max", 1.0, ANY)? else {
        let needs = ["old", "mark_cpu"]
            .into_iter()
            .find(|key| s.node(key).is_some());
        return match needs {
            Some(key) => Err(s.wrong(key, "of which heap? `max` says how large it is")),
            None => Ok(None),
        };
    };
    if s.text("mode")?.as_deref() == Some("concurrent") {
        return Err(s.wrong(
            "max",
            "a concurrent collector is none whose objects grow old as in G1",
        ));
    }
    let old = s.number("old", 0.0, ANY)?.unwrap_or(0.0);
    if old >= most {
        return Err(s.wrong(
            "old",
            format!("of a heap of {most} bytes {old} cannot be in use for good"),
        ));
    }
    Ok(Some(Aging {
        most,
        old,
        mark_cpu: s.seconds("mark_cpu", 0.0)?.unwrap_or(0.0),
    }))
}

fn manager(s: &Section<'_>, model: &Model) -> Result<Manager, LoadError> {
    let policies = Policy::ALL.map(|policy| (policy.name(), policy));
    let machine = s.reference("machine", "machine", &names(&model.machines, |m| &m.name))?;
    let machine = s.required("machine", machine)?;
    if model.machines[machine].cores > 128 {
        return Err(s.wrong("machine", "a CPU manager divides 1 to 128 cores"));
    }
    let mut groups = Vec::new();
    for node in s.required("groups", s.list("groups")?)? {
        let name = s.context.text_of("groups", node)?;
        let found = super::section::find(&name, "group", &names(&model.groups, |g| &g.name));
        groups.push(found.map_err(|e| s.wrong("groups", e))?);
    }
    Ok(Manager {
        machine,
        policy: s.required("policy", s.choice("policy", &policies)?)?,
        interval: s.seconds("interval", 1e-3)?.unwrap_or(0.1),
        groups,
    })
}

/// The delay of a link and the time that a byte takes on it.
pub(super) fn link(root: &Section<'_>, name: &str) -> Result<(Dist, f64), LoadError> {
    for (known, s) in root.named("links")? {
        if known == name {
            let latency = s.time("latency")?.unwrap_or(Dist::Constant(0.0));
            let bandwidth = s.number("bandwidth", 1.0, ANY)?.unwrap_or(ANY);
            return Ok((latency, 1.0 / bandwidth));
        }
    }
    Ok((Dist::Constant(0.0), 0.0))
}
