//! A layered approximation for thread pools in front of machines (after Rolia and Sevcik, 1995, and Woodside et al.,
//! 1995, simplified to finite-source queues).
//!
//! Each pool and each machine is a queue whose customers are the threads or clients that can ask it. A queue's service
//! time is what its lower layers take; its customers' think time is what the rest of their cycle takes. Every queue is
//! solved exactly as a finite-source M/M/c (machine repair) given the others, and all are iterated until nothing
//! changes. Second phases delay the next request of the same client (overtaking) and count in utilization.
//!
//! For one class of closed clients. Exact for one layer of exponential service; with several layers typically within
//! ten percent, which the tests check against simulation.

use super::mva::{self, Center, Kind, Network};
use super::product_form::{blank, class_answer};
use crate::answer::{Answer, StationAnswer};
use crate::model::{Arrivals, Model, Step, UNLIMITED};
use crate::random::Dist;
use crate::stats::Estimate;

/// What one job of an entry takes, split at its reply.
#[derive(Debug, Clone, Copy, Default)]
struct Phases {
    first: f64,
    second: f64,
}

struct State<'m> {
    model: &'m Model,
    /// Wait for a thread of each pool.
    wait: Vec<f64>,
    /// How much longer CPU takes on each machine than its demand.
    stretch: Vec<f64>,
}

/// Solves `model`; `Err` says what stands against it.
pub fn solve(model: &Model) -> Result<Answer, String> {
    let [source] = &model.sources[..] else {
        return Err("there are several sources".into());
    };
    let Arrivals::Closed(clients) = source.arrivals else {
        return Err("arrivals are not closed".into());
    };
    if model.classes.len() != 1 || source.next.iter().any(|n| !n.is_empty()) {
        return Err("there are several classes".into());
    }
    if model.terminates() {
        return Err("clients leave when they have done their work".into());
    }
    if !model.resources.is_empty() {
        return Err("resources are held".into());
    }
    let think = source.think.as_ref().map_or(0.0, Dist::mean);
    let n = f64::from(clients);
    let mut state = State {
        model,
        wait: vec![0.0; model.pools.len()],
        stretch: vec![1.0; model.machines.len()],
    };
    let mut x = 0.0;
    let mut response = 0.0;
    for round in 0..5000 {
        response = state.program(&model.classes[0].program, 0)?.first;
        let before = x;
        x = n / (think + response);
        let mut change = (x - before).abs();
        for p in 0..model.pools.len() {
            let visits = state.visits(&model.classes[0].program, &|e| {
                f64::from(u8::from(model.entries[e].pool == p))
            });
            let threads = model.pools[p].max_threads;
            if visits == 0.0 || threads == UNLIMITED {
                continue;
            }
            let hold = state.holding(p)?;
            let customers = state.callers(p, clients);
            let cycle = f64::from(customers) / (x * visits) - hold.first - state.wait[p];
            let new = finite_source_wait(customers, cycle.max(0.0), hold, threads);
            let damped = if round < 2 {
                new
            } else {
                0.5 * (new + state.wait[p])
            };
            change += (damped - state.wait[p]).abs();
            state.wait[p] = damped;
        }
        for m in 0..model.machines.len() {
            let demand = state.cpu(&model.classes[0].program, m, None);
            if demand == 0.0 || model.machines[m].cores == UNLIMITED {
                continue;
            }
            let customers = state.threads_on(m, clients);
            let residence = demand * state.stretch[m];
            let cycle = f64::from(customers) / x - residence;
            let hold = Phases {
                first: demand,
                second: 0.0,
            };
            let wait = finite_source_wait(customers, cycle.max(0.0), hold, model.machines[m].cores);
            let new = 0.5 * (1.0 + wait / demand + state.stretch[m]);
            change += (new - state.stretch[m]).abs();
            state.stretch[m] = new;
        }
        if change < 1e-12 * (1.0 + x) {
            break;
        }
    }
    let mut answer = blank(model, "layered approximation");
    answer.classes.0.push((
        model.classes[0].name.clone(),
        class_answer(x, response, None),
    ));
    for p in 0..model.pools.len() {
        let visits = state.visits(&model.classes[0].program, &|e| {
            f64::from(u8::from(model.entries[e].pool == p))
        });
        let hold = state.holding(p)?;
        let total = hold.first + hold.second;
        let threads = f64::from(model.pools[p].max_threads);
        answer.stations.0.push((
            model.pools[p].name.clone(),
            StationAnswer {
                kind: "pool".into(),
                utilization: Some(Estimate::exact(if threads >= f64::from(UNLIMITED) {
                    x * visits * total
                } else {
                    x * visits * total / threads
                })),
                throughput: Some(Estimate::exact(x * visits)),
                queueing_time: Some(Estimate::exact(state.wait[p])),
                first_phase_time: Some(Estimate::exact(hold.first)),
                holding_time: Some(Estimate::exact(total)),
                queue_length: Some(x * visits * state.wait[p]),
                ..StationAnswer::default()
            },
        ));
    }
    Ok(answer)
}

/// The mean wait for one of `servers` if `customers` come back after `think` on average. A second phase occupies the
/// server without the customer: it may meet its own (overtaking), and others wait for both phases.
fn finite_source_wait(customers: u32, think: f64, hold: Phases, servers: u32) -> f64 {
    let service = hold.first + hold.second;
    if service == 0.0 {
        return 0.0;
    }
    // A customer's own second phase is still in progress with probability s2 / (s2 + think) for exponential times.
    let overtaking = if servers == 1 && hold.second > 0.0 {
        hold.second * hold.second / (hold.second + think)
    } else {
        0.0
    };
    if customers <= servers {
        return overtaking;
    }
    let network = Network {
        centers: vec![Center {
            kind: Kind::Queue(servers),
            demands: vec![service],
        }],
        population: vec![customers],
        think: vec![(think - hold.second).max(0.0)],
    };
    let queued = mva::exact(&network)
        .map_or(0.0, |s| s.response[0] - service)
        .max(0.0);
    queued + overtaking
}

impl State<'_> {
    fn program(&self, steps: &[Step], depth: usize) -> Result<Phases, String> {
        if depth > 60 {
            return Err("calls nest without end".into());
        }
        let mut total = Phases::default();
        let mut replied = false;
        for step in steps {
            let time = match step {
                Step::Cpu(_) => 0.0,
                Step::Wait(d) => d.mean(),
                Step::Visit(s, d) if self.model.stations[*s].servers == UNLIMITED => d.mean(),
                Step::Call(e, None) => {
                    self.wait[self.model.entries[*e].pool] + self.entry(*e, depth)?.first
                }
                Step::Reply => {
                    replied = true;
                    0.0
                }
                Step::Branch(arms) => {
                    let mut sum = 0.0;
                    for (p, body) in arms {
                        sum += p * self.program(body, depth + 1)?.first;
                    }
                    sum
                }
                Step::Loop(times, body) => times.mean() * self.program(body, depth + 1)?.first,
                Step::Phase(_, body) => self.program(body, depth + 1)?.first,
                _ => return Err("programs do more than CPU, waiting and nested calls".into()),
            };
            if replied {
                total.second += time
            } else {
                total.first += time
            }
        }
        Ok(total)
    }

    /// One job of an entry: its program with its own CPU.
    fn entry(&self, e: usize, depth: usize) -> Result<Phases, String> {
        let entry = &self.model.entries[e];
        let mut phases = self.program(&entry.program, depth + 1)?;
        if let Some(m) = self.model.pools[entry.pool].machine {
            let speed = self.model.machines[m].speed;
            let stretch = self.stretch[m];
            let before: Vec<Step> = entry
                .program
                .iter()
                .take_while(|s| !matches!(s, Step::Reply))
                .cloned()
                .collect();
            let all = own_cpu(&entry.program) / speed * stretch;
            let first = own_cpu(&before) / speed * stretch;
            phases.first += first;
            phases.second += all - first;
        }
        Ok(phases)
    }

    /// The mean over a pool's entries, by how often each is asked.
    fn holding(&self, pool: usize) -> Result<Phases, String> {
        let program = &self.model.classes[0].program;
        let (mut sum, mut count) = (Phases::default(), 0.0);
        for e in (0..self.model.entries.len()).filter(|&e| self.model.entries[e].pool == pool) {
            let v = self.visits(program, &|other| f64::from(u8::from(other == e)));
            let p = self.entry(e, 0)?;
            sum.first += v * p.first;
            sum.second += v * p.second;
            count += v;
        }
        Ok(Phases {
            first: sum.first / f64::max(count, 1e-300),
            second: sum.second / f64::max(count, 1e-300),
        })
    }

    /// Jobs that one request makes, weighed by `weight` of their entry.
    fn visits(&self, steps: &[Step], weight: &dyn Fn(usize) -> f64) -> f64 {
        steps
            .iter()
            .map(|step| match step {
                Step::Call(e, _) | Step::Forward(e) | Step::Send(e) => {
                    weight(*e) + self.visits(&self.model.entries[*e].program, weight)
                }
                Step::Branch(arms) => arms.iter().map(|(p, b)| p * self.visits(b, weight)).sum(),
                Step::Loop(n, body) => n.mean() * self.visits(body, weight),
                Step::Phase(_, body) => self.visits(body, weight),
                _ => 0.0,
            })
            .sum()
    }

    /// CPU of one request on a machine, through all calls.
    fn cpu(&self, steps: &[Step], machine: usize, pool: Option<usize>) -> f64 {
        let here = pool.is_some_and(|p| self.model.pools[p].machine == Some(machine));
        steps
            .iter()
            .map(|step| match step {
                Step::Cpu(d) if here => d.mean() / self.model.machines[machine].speed,
                Step::Call(e, _) | Step::Forward(e) | Step::Send(e) => {
                    let entry = &self.model.entries[*e];
                    self.cpu(&entry.program, machine, Some(entry.pool))
                }
                Step::Branch(arms) => arms
                    .iter()
                    .map(|(p, b)| p * self.cpu(b, machine, pool))
                    .sum(),
                Step::Loop(n, body) => n.mean() * self.cpu(body, machine, pool),
                Step::Phase(_, body) => self.cpu(body, machine, pool),
                _ => 0.0,
            })
            .sum()
    }

    /// Who can ask a pool at once: the clients, or the threads of the pools that call it.
    fn callers(&self, pool: usize, clients: u32) -> u32 {
        let mut direct = false;
        crate::load::each_step(&self.model.classes[0].program, &mut |s| {
            direct |= matches!(s, Step::Call(e, _) if self.model.entries[*e].pool == pool);
        });
        if direct {
            return clients;
        }
        let mut sum = 0u32;
        for (p, spec) in self.model.pools.iter().enumerate() {
            let mut calls = false;
            for entry in self.model.entries.iter().filter(|e| e.pool == p) {
                crate::load::each_step(&entry.program, &mut |s| {
                    calls |= matches!(s, Step::Call(e, _) if self.model.entries[*e].pool == pool);
                });
            }
            if calls && p != pool {
                sum = sum.saturating_add(spec.max_threads);
            }
        }
        sum.clamp(1, clients.max(1))
    }

    /// Threads that can be on a machine at once.
    fn threads_on(&self, machine: usize, clients: u32) -> u32 {
        let threads = self
            .model
            .pools
            .iter()
            .filter(|p| p.machine == Some(machine))
            .fold(0u32, |sum, p| sum.saturating_add(p.max_threads));
        threads.clamp(1, clients.max(1))
    }
}

/// CPU of a program itself, without what it calls.
fn own_cpu(steps: &[Step]) -> f64 {
    steps
        .iter()
        .map(|step| match step {
            Step::Cpu(d) => d.mean(),
            Step::Branch(arms) => arms.iter().map(|(p, b)| p * own_cpu(b)).sum(),
            Step::Loop(n, body) => n.mean() * own_cpu(body),
            Step::Phase(_, body) => own_cpu(body),
            _ => 0.0,
        })
        .sum()
}
