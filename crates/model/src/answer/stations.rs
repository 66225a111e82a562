//! What was recorded at each part of the model: stations, pools, resources, machines, groups, heaps, guards.

use super::from_runs::{Evidence, Level, quotient};
use super::{ClassAt, Named, StationAnswer};
use crate::engine::Meters;
use crate::model::{Model, ResourceKind, Scheduler, UNLIMITED};
use loadline_stats::Estimate;

fn share(estimate: Estimate, of: u32) -> Estimate {
    if of == UNLIMITED {
        estimate
    } else {
        estimate.scaled(1.0 / f64::from(of))
    }
}

/// Every station, pool, resource, machine, group, heap and guard.
pub(super) fn stations(
    model: &Model,
    meters: &Meters,
    e: &Evidence,
    level: Level<'_>,
) -> Vec<(String, StationAnswer)> {
    let classes = model.classes.len();
    let mut list = Vec::new();
    let sum = |first: &dyn Fn(usize) -> usize, offset: usize| -> Vec<usize> {
        (0..classes).map(|c| first(c) + offset).collect()
    };
    let over = |above: Vec<usize>, below: Vec<usize>| -> Option<Estimate> {
        let count: f64 = below.iter().map(|&m| e.total(m)).sum();
        (count > 0.0)
            .then(|| e.estimate(|part| quotient(part, &above, None) / quotient(part, &below, None)))
    };
    let push_more = |more: &mut Vec<(String, f64)>, name: &str, value: f64| {
        if value > 0.0 {
            more.push((name.to_string(), value));
        }
    };
    for (i, s) in model.stations.iter().enumerate() {
        let first = |c: usize| meters.station(i, c);
        let done = sum(&first, 0);
        let per_class = |c: usize| -> Option<ClassAt> {
            let m = first(c);
            let residence = e.seen(m + 1, m)?;
            let holding = e.seen(m + 2, m)?;
            let queueing = Estimate {
                value: residence.value - holding.value,
                ..residence
            };
            Some(ClassAt {
                throughput: e.rate(m),
                queueing_time: queueing,
                holding_time: holding,
            })
        };
        let residence = over(sum(&first, 1), done.clone());
        let holding = over(sum(&first, 2), done.clone());
        let mut more = Vec::new();
        push_more(
            &mut more,
            "rejected",
            sum(&first, 3).iter().map(|&m| e.rate(m)).sum(),
        );
        push_more(
            &mut more,
            "gave_up",
            sum(&first, 4).iter().map(|&m| e.rate(m)).sum(),
        );
        let busy = e.ratio(level(meters.station_busy[i]), None);
        list.push((
            s.name.clone(),
            StationAnswer {
                kind: "station".into(),
                utilization: Some(share(busy, s.servers)),
                throughput: Some(e.estimate(|part| quotient(part, &done, None))),
                queueing_time: residence.zip(holding).map(|(r, h)| Estimate {
                    value: (r.value - h.value).max(0.0),
                    ..r
                }),
                holding_time: holding,
                queue_length: Some(e.rate(level(meters.station_present[i])) - busy.value),
                more: Named(more),
                classes: Named(by_class(model, per_class)),
                ..StationAnswer::default()
            },
        ));
    }
    for (i, p) in model.pools.iter().enumerate() {
        let first = |c: usize| meters.pool(i, c);
        let done = sum(&first, 0);
        let per_class = |c: usize| -> Option<ClassAt> {
            let m = first(c);
            Some(ClassAt {
                throughput: e.rate(m),
                queueing_time: e.seen(m + 1, m)?,
                holding_time: e.seen(m + 3, m)?,
            })
        };
        let mut more = Vec::new();
        push_more(
            &mut more,
            "rejected",
            sum(&first, 4).iter().map(|&m| e.rate(m)).sum(),
        );
        push_more(
            &mut more,
            "gave_up",
            sum(&first, 5).iter().map(|&m| e.rate(m)).sum(),
        );
        list.push((
            p.name.clone(),
            StationAnswer {
                kind: "pool".into(),
                utilization: Some(share(
                    e.ratio(level(meters.pool_busy[i]), None),
                    p.max_threads,
                )),
                throughput: Some(e.estimate(|part| quotient(part, &done, None))),
                queueing_time: over(sum(&first, 1), done.clone()),
                first_phase_time: over(sum(&first, 2), done.clone()),
                holding_time: over(sum(&first, 3), done.clone()),
                queue_length: Some(e.rate(level(meters.pool_waiting[i]))),
                threads: (p.min_threads != p.max_threads)
                    .then(|| e.rate(level(meters.pool_threads[i]))),
                more: Named(more),
                classes: Named(by_class(model, per_class)),
            },
        ));
    }
    for (i, r) in model.resources.iter().enumerate() {
        let m = meters.resource(i);
        let mut more = Vec::new();
        if e.total(m) > 0.0 {
            push_more(&mut more, "contended_share", e.total(m + 3) / e.total(m));
        }
        push_more(&mut more, "gave_up", e.rate(m + 4));
        let units = if matches!(r.kind, ResourceKind::ReadWrite { .. }) {
            UNLIMITED
        } else {
            r.units
        };
        list.push((
            r.name.clone(),
            StationAnswer {
                kind: "resource".into(),
                utilization: Some(share(e.ratio(level(meters.resource_held[i]), None), units)),
                throughput: Some(e.ratio(m, None)),
                queueing_time: e.seen(m + 1, m),
                holding_time: e.seen(m + 2, m),
                queue_length: Some(e.rate(level(meters.resource_waiting[i]))),
                more: Named(more),
                ..StationAnswer::default()
            },
        ));
    }
    for (i, machine) in model.machines.iter().enumerate() {
        let m = meters.machine(i);
        let busy = e.ratio(level(meters.machine_busy[i]), None);
        let mut more = Vec::new();
        if machine.scheduler != Scheduler::ProcessorSharing {
            more.push(("context_switches".to_string(), e.rate(m)));
            more.push(("involuntary_switches".to_string(), e.rate(m + 1)));
            more.push(("runnable_threads_waiting".to_string(), e.rate(m + 2)));
        }
        list.push((
            machine.name.clone(),
            StationAnswer {
                kind: "machine".into(),
                utilization: Some(share(busy, machine.cores)),
                queue_length: Some(
                    (e.rate(level(meters.machine_runnable[i])) - busy.value).max(0.0),
                ),
                more: Named(more),
                ..StationAnswer::default()
            },
        ));
    }
    for (i, g) in model.groups.iter().enumerate() {
        let mut more = vec![(
            "threads_wanting_cpu".to_string(),
            e.rate(level(meters.group_runnable[i])),
        )];
        push_more(
            &mut more,
            "throttled_share",
            e.rate(level(meters.group_throttled[i])),
        );
        push_more(
            &mut more,
            "assigned_cpus",
            e.rate(level(meters.group_cpus[i])),
        );
        list.push((
            g.name.clone(),
            StationAnswer {
                kind: "group".into(),
                more: Named(more),
                ..StationAnswer::default()
            },
        ));
    }
    for (i, h) in model.heaps.iter().enumerate() {
        let m = meters.heap(i);
        let more = vec![(
            "stopped_share".to_string(),
            e.rate(level(meters.heap_paused[i])),
        )];
        list.push((
            h.name.clone(),
            StationAnswer {
                kind: "heap".into(),
                throughput: Some(e.ratio(m, None)),
                holding_time: e.seen(m + 1, m),
                more: Named(more),
                ..StationAnswer::default()
            },
        ));
    }
    for (i, g) in model.guards.iter().enumerate() {
        let m = meters.guard(i);
        let more = vec![
            ("admitted".to_string(), e.rate(m)),
            ("refused".to_string(), e.rate(m + 1)),
        ];
        list.push((
            g.name.clone(),
            StationAnswer {
                kind: "guard".into(),
                more: Named(more),
                ..StationAnswer::default()
            },
        ));
    }
    unique(list)
}

/// Parts of different kinds may have the same name: all but the first get their kind as well.
fn unique(list: Vec<(String, StationAnswer)>) -> Vec<(String, StationAnswer)> {
    let mut seen = std::collections::BTreeSet::new();
    list.into_iter()
        .map(|(name, part)| {
            let name = if seen.contains(&name) {
                format!("{name} ({})", part.kind)
            } else {
                name
            };
            seen.insert(name.clone());
            (name, part)
        })
        .collect()
}

fn by_class(model: &Model, of: impl Fn(usize) -> Option<ClassAt>) -> Vec<(String, ClassAt)> {
    if model.classes.len() < 2 {
        return Vec::new();
    }
    (0..model.classes.len())
        .filter_map(|c| Some((model.classes[c].name.clone(), of(c)?)))
        .collect()
}
