//! Models whose steady state is known exactly: open and closed networks of product form, and single queues.
//!
//! Product form (Baskett, Chandy, Muntz and Palacios, 1975): delays of any law; processor sharing of any law; first
//! come, first served with exponential service of the same mean for all. Pools must have threads enough for everybody,
//! or be a plain queue: all their threads' time is CPU of a machine that has a core for each.

use super::demands::{self, Demands};
use super::mva::{self, Center, Kind, Network};
use super::queues;
use crate::answer::{Answer, ClassAnswer, Named, ResponseTime, StationAnswer};
use crate::model::{Arrivals, Discipline, Model, Scheduler, UNLIMITED};
use loadline_stats::Estimate;
use loadline_stats::random::Dist;

/// A part of the model that queues.
struct Part {
    name: String,
    kind: &'static str,
    servers: u32,
    sharing: bool,
    /// In the order of coming: then, and only then, the law of response times is that of the queue in closed form.
    in_order: bool,
    /// Demand and visits per class.
    demands: Vec<f64>,
    visits: Vec<f64>,
    /// The law of service, if one place alone asks for it.
    law: Option<Dist>,
    exponential: bool,
}

/// Solves `model`, exactly or approximately; `Err` says what stands against it.
pub fn solve(model: &Model, exactly: bool) -> Result<Answer, String> {
    let all = demands::of(model)?;
    if let Some(obstacle) = all.iter().find_map(|d| d.obstacle.clone()) {
        return Err(obstacle);
    }
    let parts = parts(model, &all)?;
    let closed = model
        .sources
        .iter()
        .all(|s| matches!(s.arrivals, Arrivals::Closed(_)));
    let open = model
        .sources
        .iter()
        .all(|s| matches!(s.arrivals, Arrivals::Open(_)));
    if closed {
        solve_closed(model, &all, &parts, exactly)
    } else if open && exactly {
        solve_open(model, &all, &parts)
    } else {
        Err("arrivals are neither all closed nor all open".into())
    }
}

fn parts(model: &Model, all: &[Demands]) -> Result<Vec<Part>, String> {
    if !model.managers.is_empty() {
        return Err("a CPU manager divides the CPUs".into());
    }
    let mut parts = Vec::new();
    for (i, s) in model.stations.iter().enumerate() {
        if s.queue.capacity != UNLIMITED || s.queue.patience.is_some() {
            return Err(format!(
                "{} has a bounded queue or impatient customers",
                s.name
            ));
        }
        let sharing = s.queue.discipline == Discipline::Sharing || s.servers == UNLIMITED;
        if !sharing && s.queue.discipline != Discipline::Fifo && model.classes.len() > 1 {
            return Err(format!("{} serves by priority", s.name));
        }
        parts.push(Part {
            name: s.name.clone(),
            kind: "station",
            servers: s.servers,
            sharing,
            in_order: s.queue.discipline != Discipline::Lifo && !sharing,
            demands: all.iter().map(|d| d.station[i]).collect(),
            visits: all.iter().map(|d| d.visits[i]).collect(),
            law: if all.len() == 1 {
                all[0].law[i].clone()
            } else {
                None
            },
            exponential: all.iter().all(|d| d.exponential),
        });
    }
    for (i, m) in model.machines.iter().enumerate() {
        if m.contention.is_some() {
            return Err(format!("demands on {} change with its load", m.name));
        }
        match m.scheduler {
            Scheduler::ProcessorSharing => {}
            Scheduler::RoundRobin { quantum } if quantum.is_infinite() && m.switch_cost == 0.0 => {}
            _ => {
                return Err(format!(
                    "{} has a scheduler that no product form covers",
                    m.name
                ));
            }
        }
        parts.push(Part {
            name: m.name.clone(),
            kind: "machine",
            servers: m.cores,
            sharing: m.scheduler == Scheduler::ProcessorSharing || m.cores == UNLIMITED,
            in_order: m.scheduler != Scheduler::ProcessorSharing && m.cores != UNLIMITED,
            demands: all.iter().map(|d| d.machine[i]).collect(),
            visits: all.iter().map(|d| d.bursts[i]).collect(),
            law: None,
            exponential: all.iter().all(|d| d.exponential),
        });
    }
    let most: f64 = model
        .sources
        .iter()
        .map(|s| {
            if let Arrivals::Closed(n) = s.arrivals {
                f64::from(n)
            } else {
                f64::INFINITY
            }
        })
        .sum();
    for (i, p) in model.pools.iter().enumerate() {
        if all.iter().all(|d| d.jobs[i] == 0.0) {
            continue;
        }
        let own_queue = p.keyed || f64::from(p.max_threads) < most && p.max_threads != UNLIMITED;
        if own_queue && !(p.keyed && f64::from(p.min_threads) >= most) {
            return Err(format!(
                "{} has fewer threads than there can be requests",
                p.name
            ));
        }
        let costs = [&p.create_cpu, &p.destroy_cpu, &p.start_delay, &p.wake_cpu];
        if costs.iter().any(|c| c.is_some()) {
            return Err(format!(
                "the threads of {} cost something to make or wake",
                p.name
            ));
        }
        let group = p.group.map(|g| &model.groups[g]);
        if p.affinity != u128::MAX || group.is_some_and(|g| g.quota.is_some()) {
            return Err(format!("the threads of {} may not use all CPUs", p.name));
        }
        if p.weight != model.pools[0].weight {
            return Err(format!(
                "the threads of {} have a weight of their own",
                p.name
            ));
        }
        if p.queue.capacity != UNLIMITED || p.queue.patience.is_some() {
            return Err(format!(
                "{} has a bounded queue or impatient customers",
                p.name
            ));
        }
    }
    for part in parts.iter().filter(|p| !p.sharing) {
        let means: Vec<f64> = part
            .demands
            .iter()
            .zip(&part.visits)
            .filter(|(_, v)| **v > 0.0)
            .map(|(d, v)| d / v)
            .collect();
        let same = means.windows(2).all(|w| (w[0] - w[1]).abs() < 1e-9 * w[0]);
        if !same {
            return Err(format!(
                "{} serves classes of different means first come, first served",
                part.name
            ));
        }
    }
    Ok(parts)
}

/// The only class of each source, as long as sessions are single requests.
fn class_of(model: &Model, source: usize) -> Result<usize, String> {
    let s = &model.sources[source];
    match s.start[..] {
        [(class, _)] if s.next.iter().all(Vec::is_empty) => Ok(class),
        _ => Err(format!(
            "sessions of {} go through several requests",
            s.name
        )),
    }
}

fn solve_closed(
    model: &Model,
    all: &[Demands],
    parts: &[Part],
    exactly: bool,
) -> Result<Answer, String> {
    let classes = model.classes.len();
    let (mut population, mut think) = (vec![0; classes], vec![0.0; classes]);
    for (i, s) in model.sources.iter().enumerate() {
        let class = class_of(model, i)?;
        if let Arrivals::Closed(n) = s.arrivals {
            population[class] += n;
            think[class] = s.think.as_ref().map_or(0.0, Dist::mean);
        }
    }
    if let Some(part) = parts
        .iter()
        .find(|p| !p.sharing && !p.exponential && p.demands.iter().any(|d| *d > 0.0))
    {
        return Err(format!(
            "{} serves first come, first served, but not exponentially",
            part.name
        ));
    }
    let mut centers: Vec<Center> = parts
        .iter()
        .map(|p| Center {
            kind: if p.servers == UNLIMITED {
                Kind::Delay
            } else {
                Kind::Queue(p.servers)
            },
            demands: p.demands.clone(),
        })
        .collect();
    centers.push(Center {
        kind: Kind::Delay,
        demands: all.iter().map(|d| d.delay).collect(),
    });
    let network = Network {
        centers,
        population: population.clone(),
        think,
    };
    let (solution, name) = if exactly {
        let solution = mva::exact(&network).ok_or(
            "several classes meet at a part with several servers, or the population is too large",
        )?;
        (solution, "exact mean value analysis")
    } else {
        (
            mva::approximate(&network),
            "approximate mean value analysis (Bard and Schweitzer)",
        )
    };
    let mut answer = blank(model, name);
    for c in 0..classes {
        let x = solution.throughput[c];
        answer.classes.0.push((
            model.classes[c].name.clone(),
            class_answer(x, solution.response[c], None),
        ));
    }
    for (i, part) in parts.iter().enumerate() {
        let x: f64 = (0..classes)
            .map(|c| solution.throughput[c] * part.visits[c])
            .sum();
        let busy: f64 = (0..classes)
            .map(|c| solution.throughput[c] * part.demands[c])
            .sum();
        let queue: f64 = solution.queue[i].iter().sum();
        answer.stations.0.push(station_answer(part, x, busy, queue));
    }
    Ok(answer)
}

fn solve_open(model: &Model, all: &[Demands], parts: &[Part]) -> Result<Answer, String> {
    let classes = model.classes.len();
    let mut rates = vec![0.0; classes];
    let mut poisson = true;
    let mut regular = None;
    for (i, s) in model.sources.iter().enumerate() {
        // A session that continues with a probability is, for mean values, a higher rate of a Poisson stream only in
        // product-form networks; the visit ratios of the chain give it.
        let Arrivals::Open(between) = &s.arrivals else {
            continue;
        };
        poisson &= between.is_exponential();
        if matches!(between, Dist::Constant(_)) {
            regular = Some(between.mean());
        }
        let visits = chain_visits(s, classes);
        if s.next.iter().any(|n| !n.is_empty()) && s.think.is_none() {
            return Err(format!(
                "sessions of {} go on without thinking",
                model.sources[i].name
            ));
        }
        for c in 0..classes {
            rates[c] += visits[c] / between.mean();
        }
    }
    let used: Vec<&Part> = parts
        .iter()
        .filter(|p| p.demands.iter().any(|d| *d > 0.0))
        .collect();
    let single = used.len() == 1 && classes == 1 && model.sources.len() == 1;
    for part in &used {
        let load: f64 = (0..classes).map(|c| rates[c] * part.demands[c]).sum();
        if part.servers != UNLIMITED && load >= f64::from(part.servers) {
            let mut answer = blank(model, "utilization law");
            answer.problem = Some(format!(
                "unstable: {} {} is asked for {:.1}% of what it has",
                part.kind,
                part.name,
                100.0 * load / f64::from(part.servers)
            ));
            // What is offered is known; what is carried, and how fast, is not.
            for (class, rate) in model.classes.iter().zip(&rates) {
                let unknown = ClassAnswer {
                    offered: *rate,
                    ..class_answer(f64::NAN, f64::NAN, None)
                };
                answer.classes.0.push((class.name.clone(), unknown));
            }
            return Ok(answer);
        }
    }
    let mut answer = blank(model, "closed forms (open product form)");
    let mut response = all.iter().map(|d| d.delay).collect::<Vec<_>>();
    let mut quantiles = None;
    for part in parts {
        let load: f64 = (0..classes).map(|c| rates[c] * part.demands[c]).sum();
        let x: f64 = (0..classes).map(|c| rates[c] * part.visits[c]).sum();
        let mut present = load;
        if load > 0.0 && part.servers != UNLIMITED {
            let service = x / load;
            if !part.sharing && !part.exponential || !poisson {
                // Not product form: only a single queue has a closed form.
                let law = part
                    .law
                    .as_ref()
                    .filter(|_| single && part.servers == 1 && part.visits[0] == 1.0);
                let law = law.ok_or_else(|| {
                    format!("{} serves neither exponentially nor by sharing", part.name)
                })?;
                let w = if poisson {
                    queues::mg1(x, law.mean(), law.scv())
                } else if regular.is_some() && law.is_exponential() {
                    queues::dm1(x, service)
                } else {
                    None
                };
                present = x * w.ok_or("arrivals are not Poisson")?;
            } else {
                let q = queues::mmc(x, service, part.servers).ok_or("unstable")?;
                present = x * q.response;
                if single && part.in_order && part.visits[0] == 1.0 && all[0].delay == 0.0 {
                    quantiles = Some([0.5, 0.95, 0.99].map(|p| q.quantile(p)));
                }
            }
        }
        if load > 0.0 {
            for (r, demand) in response.iter_mut().zip(&part.demands) {
                *r += present / load * demand;
            }
        }
        answer
            .stations
            .0
            .push(station_answer(part, x, load, present));
    }
    for ((class, rate), response) in model.classes.iter().zip(&rates).zip(&response) {
        answer.classes.0.push((
            class.name.clone(),
            class_answer(*rate, *response, quantiles),
        ));
    }
    Ok(answer)
}

/// Mean number of requests of each class in one session: the visit equations of its Markov chain.
fn chain_visits(source: &crate::model::Source, classes: usize) -> Vec<f64> {
    let mut visits = vec![0.0; classes];
    for _ in 0..100_000 {
        let mut next = vec![0.0; classes];
        for &(c, p) in &source.start {
            next[c] += p;
        }
        for (from, list) in source.next.iter().enumerate() {
            for &(to, p) in list {
                next[to] += visits[from] * p;
            }
        }
        let change: f64 = next.iter().zip(&visits).map(|(a, b)| (a - b).abs()).sum();
        visits = next;
        if change < 1e-14 {
            break;
        }
    }
    visits
}

pub(super) fn blank(model: &Model, solver: &str) -> Answer {
    Answer {
        title: model.title.clone(),
        solver: solver.into(),
        parameters: Named(
            model
                .parameters
                .iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
        ),
        warnings: model.warnings.clone(),
        ..Answer::default()
    }
}

pub(super) fn class_answer(
    throughput: f64,
    response: f64,
    quantiles: Option<[f64; 3]>,
) -> ClassAnswer {
    let [p50, p95, p99] = quantiles.unwrap_or([f64::NAN; 3]);
    ClassAnswer {
        throughput: Estimate::exact(throughput),
        response_time: ResponseTime {
            mean: Estimate::exact(response),
            p50,
            p95,
            p99,
            p95_ci95: 0.0,
            p99_ci95: 0.0,
            histogram: Vec::new(),
        },
        in_system: Estimate::exact(throughput * response),
        offered: throughput,
        failures: Named::default(),
    }
}

fn station_answer(part: &Part, x: f64, busy: f64, present: f64) -> (String, StationAnswer) {
    let utilization = if part.servers == UNLIMITED {
        busy
    } else {
        busy / f64::from(part.servers)
    };
    let per = |n: f64| (x > 0.0).then(|| Estimate::exact(n / x));
    let answer = StationAnswer {
        kind: part.kind.into(),
        utilization: Some(Estimate::exact(utilization)),
        throughput: Some(Estimate::exact(x)),
        queueing_time: per((present - busy).max(0.0)),
        holding_time: per(busy),
        queue_length: Some((present - busy).max(0.0)),
        ..StationAnswer::default()
    };
    (part.name.clone(), answer)
}
