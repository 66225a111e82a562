//! From what runs recorded to an answer.

use super::{
    Answer, ClassAnswer, ClassAt, Named, PhaseAnswer, ResponseTime, RunAnswer, StationAnswer,
};
use crate::engine::{Engine, Meters, Segment};
use crate::model::{Model, ResourceKind, Scheduler, UNLIMITED};
use crate::run::{Options, Outcome, Problem};
use crate::stats::{Estimate, Histogram, by_batches, by_replications};

/// The sum of one meter over that of another, or over time.
pub fn ratio(segments: &[Segment], above: usize, below: Option<usize>) -> Estimate {
    by_batches(segments, |part| quotient(part, &[above], below))
}

fn quotient(part: &[Segment], above: &[usize], below: Option<usize>) -> f64 {
    let sum: f64 = part
        .iter()
        .map(|s| above.iter().map(|&m| s.meters[m]).sum::<f64>())
        .sum();
    sum / part
        .iter()
        .map(|s| below.map_or(s.seconds, |m| s.meters[m]))
        .sum::<f64>()
}

/// All runs' segments, with one way of estimating from them.
struct Evidence {
    runs: Vec<Vec<Segment>>,
}

impl Evidence {
    fn estimate(&self, each: impl Fn(&[Segment]) -> f64) -> Estimate {
        match self.runs.as_slice() {
            [one] => by_batches(one, each),
            several => by_replications(&several.iter().map(|run| each(run)).collect::<Vec<_>>()),
        }
    }

    fn ratio(&self, above: usize, below: Option<usize>) -> Estimate {
        self.estimate(|part| quotient(part, &[above], below))
    }

    /// As [`Evidence::ratio`]; `None` if the denominator never counts anything.
    fn seen(&self, above: usize, below: usize) -> Option<Estimate> {
        (self.total(below) > 0.0).then(|| self.ratio(above, Some(below)))
    }

    fn total(&self, meter: usize) -> f64 {
        self.runs.iter().flatten().map(|s| s.meters[meter]).sum()
    }

    fn rate(&self, meter: usize) -> f64 {
        self.total(meter) / self.runs.iter().flatten().map(|s| s.seconds).sum::<f64>()
    }

    fn quantile(&self, class: usize, p: f64) -> Estimate {
        // Percentiles of short batches are biased: ten long ones instead of thirty short ones.
        let of = |part: &[Segment]| {
            let mut all = Histogram::default();
            part.iter().for_each(|s| all.add(&s.responses[class]));
            all.quantile(p)
        };
        match self.runs.as_slice() {
            [one] => {
                let whole = of(one);
                let values: Vec<f64> = one
                    .chunks(one.len().div_ceil(15).max(1))
                    .map(of)
                    .filter(|x| x.is_finite())
                    .collect();
                Estimate {
                    value: whole,
                    ..by_replications(&values)
                }
            }
            several => by_replications(&several.iter().map(|run| of(run)).collect::<Vec<_>>()),
        }
    }
}

/// The answer of one or several runs of `model`.
pub fn from_runs(model: &Model, options: &Options, outcomes: Vec<Outcome>) -> Answer {
    let layout = Engine::new(model, 0, 1);
    let meters = layout.meters();
    let level = |l: usize| layout.record().meter_of(l);
    let run = RunAnswer {
        seed: options.seed,
        replications: outcomes.len() as u32,
        requests: outcomes.iter().map(|o| o.requests).sum(),
        simulated_seconds: outcomes.iter().map(|o| o.seconds).sum(),
        warm_up_seconds: outcomes
            .iter()
            .map(|o| o.warm_up)
            .try_fold(0.0f64, |a, w| w.map(|w| a.max(w))),
        events: outcomes.iter().map(|o| o.events).sum(),
        precise: outcomes.iter().all(|o| o.precise),
        curve: outcomes
            .first()
            .map(|o| thin(&o.curve, 200))
            .unwrap_or_default(),
    };
    let problem = outcomes.iter().find_map(|o| o.problem.clone());
    let evidence = Evidence {
        runs: outcomes.into_iter().map(|o| o.segments).collect(),
    };
    let mut answer = Answer {
        title: model.title.clone(),
        solver: "simulation".into(),
        parameters: Named(
            model
                .parameters
                .iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
        ),
        classes: Named(
            (0..model.classes.len())
                .map(|c| class(model, meters, &evidence, &level, c))
                .collect(),
        ),
        stations: Named(stations(model, meters, &evidence, &level)),
        phases: Named(
            (0..model.phases.len())
                .map(|p| {
                    let m = meters.phase(p);
                    let time = evidence.seen(m + 1, m).unwrap_or(Estimate::exact(f64::NAN));
                    (
                        model.phases[p].clone(),
                        PhaseAnswer {
                            throughput: evidence.ratio(m, None),
                            time,
                        },
                    )
                })
                .collect(),
        ),
        warnings: model.warnings.clone(),
        problem: problem.map(|p| match p {
            Problem::Deadlock(d) => d.to_string(),
            Problem::Unstable(parts) if parts.is_empty() => {
                "unstable: requests come faster than they can be served".into()
            }
            Problem::Unstable(parts) => format!(
                "unstable: requests come faster than they can be served; at its limit: {}",
                parts.join(", ")
            ),
            Problem::Stopped => {
                "nothing happens any more: no client ever makes another request".into()
            }
        }),
        run: None,
    };
    if run.warm_up_seconds.is_none() && answer.problem.is_none() {
        answer.warnings.push(
            "the run was too short to find the end of its warm-up; its second half was used".into(),
        );
    }
    if !run.precise && options.requests.is_none() && answer.problem.is_none() {
        answer.warnings.push(format!(
            "the precision of {}% was not reached",
            options.precision * 100.0
        ));
    }
    answer.run = Some(run);
    answer
}

fn thin(curve: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let step = curve.len().div_ceil(most).max(1);
    curve
        .chunks(step)
        .filter_map(|c| {
            Some((
                c.last()?.0,
                c.iter().map(|x| x.1).sum::<f64>() / c.len() as f64,
            ))
        })
        .collect()
}

type Level<'a> = &'a dyn Fn(usize) -> usize;

fn class(
    model: &Model,
    meters: &Meters,
    e: &Evidence,
    level: Level<'_>,
    c: usize,
) -> (String, ClassAnswer) {
    let m = meters.class(c);
    let mut failures = Vec::new();
    for (name, offset) in [
        ("failed_attempts", 3),
        ("timed_out", 4),
        ("refused", 5),
        ("lost", 6),
        ("retried", 7),
    ] {
        if e.total(m + offset) > 0.0 {
            failures.push((name.to_string(), e.rate(m + offset)));
        }
    }
    let mut all = Histogram::default();
    e.runs
        .iter()
        .flatten()
        .for_each(|s| all.add(&s.responses[c]));
    let (p95, p99) = (e.quantile(c, 0.95), e.quantile(c, 0.99));
    let answer = ClassAnswer {
        throughput: e.ratio(m + 1, None),
        response_time: ResponseTime {
            mean: e.seen(m + 2, m + 1).unwrap_or(Estimate::exact(f64::NAN)),
            p50: all.quantile(0.5),
            p95: p95.value,
            p99: p99.value,
            p95_ci95: p95.ci95,
            p99_ci95: p99.ci95,
            histogram: all.coarse(40),
        },
        in_system: e.ratio(level(meters.in_system[c]), None),
        offered: e.rate(m),
        failures: Named(failures),
    };
    (model.classes[c].name.clone(), answer)
}

fn share(estimate: Estimate, of: u32) -> Estimate {
    if of == UNLIMITED {
        estimate
    } else {
        estimate.scaled(1.0 / f64::from(of))
    }
}

fn stations(
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
    list
}

fn by_class(model: &Model, of: impl Fn(usize) -> Option<ClassAt>) -> Vec<(String, ClassAt)> {
    if model.classes.len() < 2 {
        return Vec::new();
    }
    (0..model.classes.len())
        .filter_map(|c| Some((model.classes[c].name.clone(), of(c)?)))
        .collect()
}
