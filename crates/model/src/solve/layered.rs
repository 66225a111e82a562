//! A layered approximation for thread pools in front of machines (after Rolia and Sevcik, 1995, and Woodside et al.,
//! 1995, simplified to one queue at a time).
//!
//! Each pool, machine and station is a queue whose customers, class by class, are the threads or clients that can ask it.
//! A queue's service time is what its lower layers take; its customers' think time is what the rest of their cycle takes.
//! Every queue is solved given the others ([`super::contention`]), and all are iterated until nothing changes. Second
//! phases delay the next request of the same client (overtaking) and count in utilization.
//!
//! For any number of closed and open classes, without locks. Exact for one layer of one class of exponential service;
//! with several layers or classes typically within ten percent, which the tests check against simulation.

mod walk;

use super::contention::{Customer, Order, Population, waits};
use super::product_form::{blank, class_answer};
use crate::answer::{Answer, StationAnswer};
use crate::model::{Arrivals, Discipline, Model, Scheduler, UNLIMITED};
use loadline_stats::Estimate;
use loadline_stats::random::Dist;

/// What one job of an entry takes, split at its reply.
#[derive(Debug, Clone, Copy, Default)]
struct Phases {
    first: f64,
    second: f64,
}

/// Where a class's requests come from.
#[derive(Debug, Clone, Copy)]
enum Origin {
    Closed(u32, f64),
    Open(f64),
}

struct State<'m> {
    model: &'m Model,
    /// Wait for a thread of each pool, per class.
    wait: Vec<Vec<f64>>,
    /// How much longer CPU takes on each machine than its demand, per class.
    stretch: Vec<Vec<f64>>,
    /// Wait at each station per visit, per class.
    queued: Vec<Vec<f64>>,
    /// Requests per second, per class.
    rate: Vec<f64>,
    origin: Vec<Origin>,
}

/// Solves `model`; `Err` says what stands against it.
pub fn solve(model: &Model) -> Result<Answer, String> {
    if model.terminates() {
        return Err("clients leave when they have done their work".into());
    }
    if !model.managers.is_empty() || model.groups.iter().any(|g| g.quota.is_some()) {
        return Err("CPUs are divided by quotas or a manager".into());
    }
    let origin = origins(model)?;
    let classes = model.classes.len();
    let mut state = State {
        model,
        wait: vec![vec![0.0; classes]; model.pools.len()],
        stretch: vec![vec![1.0; classes]; model.machines.len()],
        queued: vec![vec![0.0; classes]; model.stations.len()],
        rate: vec![0.0; classes],
        origin,
    };
    let mut response = vec![0.0; classes];
    let mut overloaded = 0;
    for _ in 0..5000 {
        let mut change = 0.0;
        for (c, response) in response.iter_mut().enumerate() {
            *response = state.steps(&model.classes[c].program, c, None, 0)?.first;
            let rate = match state.origin[c] {
                Origin::Closed(n, think) => f64::from(n) / (think + *response).max(1e-300),
                Origin::Open(rate) => rate,
            };
            change += (rate - state.rate[c]).abs();
            state.rate[c] = rate;
        }
        let round = state
            .pools()
            .and_then(|a| Ok(a + state.machines()? + state.stations()?));
        match round {
            Ok(moved) => {
                change += moved;
                overloaded = 0;
            }
            Err(Trouble::Inapplicable(why)) => return Err(why),
            // On the way to the solution waits may be too long for a while.
            Err(Trouble::Overload(_)) if overloaded < 100 => {
                overloaded += 1;
                change = f64::INFINITY;
            }
            Err(Trouble::Overload(what)) => {
                let mut answer = blank(model, "utilization law");
                answer.problem = Some(format!("unstable: {what} is asked for more than it has"));
                return Ok(answer);
            }
        }
        if change < 1e-11 * (1.0 + state.rate.iter().sum::<f64>()) {
            break;
        }
    }
    state.answer(&response)
}

enum Trouble {
    Inapplicable(String),
    Overload(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Trouble {
        Trouble::Inapplicable(why)
    }
}

/// Each class's own source; sessions of several requests have none.
fn origins(model: &Model) -> Result<Vec<Origin>, String> {
    let mut origin = vec![Origin::Open(0.0); model.classes.len()];
    for s in &model.sources {
        let ([(class, _)], true) = (&s.start[..], s.next.iter().all(Vec::is_empty)) else {
            return Err(format!(
                "sessions of {} go through several requests",
                s.name
            ));
        };
        origin[*class] = match &s.arrivals {
            Arrivals::Closed(n) => Origin::Closed(*n, s.think.as_ref().map_or(0.0, Dist::mean)),
            Arrivals::Open(between) if between.is_exponential() => {
                Origin::Open(1.0 / between.mean())
            }
            _ => return Err(format!("arrivals of {} are not Poisson", s.name)),
        };
    }
    if model.classes.iter().any(|c| c.timeout.is_some()) {
        return Err("clients time out".into());
    }
    Ok(origin)
}

impl State<'_> {
    fn classes(&self) -> std::ops::Range<usize> {
        0..self.model.classes.len()
    }

    /// Customers of a part: per class how often a request visits it, what a visit takes, what it now waits, and how many
    /// threads at most can be there for all classes together. Classes share those threads as they use them.
    fn customers(
        &self,
        of: impl Fn(usize) -> Option<(f64, Phases, f64, u32)>,
    ) -> (Vec<usize>, Vec<Customer>) {
        let present: Vec<(usize, (f64, Phases, f64, u32))> = self
            .classes()
            .filter_map(|c| Some((c, of(c).filter(|v| v.0 > 0.0)?)))
            .collect();
        let use_of = |c: usize, (visits, hold, wait, _): &(f64, Phases, f64, u32)| {
            self.rate[c] * visits * (hold.first + hold.second + wait)
        };
        let total: f64 = present.iter().map(|(c, v)| use_of(*c, v)).sum();
        let mut list = (Vec::new(), Vec::new());
        for (c, part) in &present {
            let (visits, hold, wait, most) = *part;
            let share = if present.len() == 1 || total <= 0.0 {
                1.0
            } else {
                use_of(*c, part) / total
            };
            let threads = (most != UNLIMITED).then(|| (f64::from(most.max(1)) * share).max(1e-3));
            let count = match (self.origin[*c], threads) {
                (Origin::Closed(n, _), None) => Some(f64::from(n.max(1))),
                (Origin::Closed(n, _), Some(t)) => Some(t.min(f64::from(n.max(1)))),
                (Origin::Open(_), threads) => threads,
            };
            let rate = (self.rate[*c] * visits).max(1e-300);
            list.0.push(*c);
            list.1.push(Customer {
                population: count.map_or(Population::Open(rate), |n| {
                    Population::Closed(n, (n / rate - hold.first - wait).max(0.0))
                }),
                first: hold.first,
                second: hold.second,
                priority: self.model.classes[*c].priority,
            });
        }
        list
    }

    fn pools(&mut self) -> Result<f64, Trouble> {
        let mut moved = 0.0;
        for (p, pool) in self.model.pools.iter().enumerate() {
            if pool.max_threads == UNLIMITED || pool.keyed {
                continue;
            }
            if pool.queue.capacity != UNLIMITED
                || pool.queue.patience.is_some()
                || pool.min_threads != pool.max_threads
            {
                return Err(format!(
                    "{} has a bounded queue or a changing number of threads",
                    pool.name
                )
                .into());
            }
            let mut holds = Vec::new();
            for c in self.classes() {
                holds.push((
                    self.visits(c, |e| self.model.entries[e].pool == p),
                    self.holding(p, c)?,
                ));
            }
            let (which, customers) = self.customers(|c| {
                let (visits, hold) = holds[c];
                Some((visits, hold, self.wait[p][c], self.callers(p, c)))
            });
            let new = waits(pool.max_threads, Order::Arrival, &customers)
                .ok_or_else(|| Trouble::Overload(format!("pool {}", pool.name)))?;
            for (c, new) in which.into_iter().zip(new) {
                moved += (new - self.wait[p][c]).abs();
                self.wait[p][c] = 0.5 * (self.wait[p][c] + new);
            }
        }
        Ok(moved)
    }

    fn machines(&mut self) -> Result<f64, Trouble> {
        let mut moved = 0.0;
        for (m, machine) in self.model.machines.iter().enumerate() {
            if machine.cores == UNLIMITED {
                continue;
            }
            if matches!(machine.scheduler, Scheduler::Priority { .. }) {
                return Err(format!("the threads of {} have priorities", machine.name).into());
            }
            let demands: Vec<f64> = self.classes().map(|c| self.cpu(c, m)).collect();
            let (which, customers) = self.customers(|c| {
                let hold = Phases {
                    first: demands[c],
                    second: 0.0,
                };
                let wait = demands[c] * (self.stretch[m][c] - 1.0);
                (hold.first > 0.0).then(|| (1.0, hold, wait, self.threads_on(m)))
            });
            let new = waits(machine.cores, Order::Sharing, &customers)
                .ok_or_else(|| Trouble::Overload(format!("machine {}", machine.name)))?;
            for (c, wait) in which.into_iter().zip(new) {
                let new = 0.5 * (1.0 + wait / demands[c] + self.stretch[m][c]);
                moved += (new - self.stretch[m][c]).abs();
                self.stretch[m][c] = new;
            }
        }
        Ok(moved)
    }

    fn stations(&mut self) -> Result<f64, Trouble> {
        let mut moved = 0.0;
        for (s, station) in self.model.stations.iter().enumerate() {
            if station.servers == UNLIMITED {
                continue;
            }
            let order = match station.queue.discipline {
                Discipline::Sharing => Order::Sharing,
                Discipline::Preemptive => Order::Priority,
                Discipline::Priority => {
                    return Err(format!("{} serves by priority", station.name).into());
                }
                Discipline::Fifo | Discipline::Lifo => Order::Arrival,
            };
            if station.queue.capacity != UNLIMITED || station.queue.patience.is_some() {
                return Err(format!("{} has a bounded queue", station.name).into());
            }
            let at: Vec<(f64, f64)> = self.classes().map(|c| self.service(c, s)).collect();
            let (which, customers) = self.customers(|c| {
                let (visits, seconds) = at[c];
                let hold = Phases {
                    first: seconds / visits.max(1e-300),
                    second: 0.0,
                };
                Some((visits, hold, self.queued[s][c], u32::MAX))
            });
            let new = waits(station.servers, order, &customers)
                .ok_or_else(|| Trouble::Overload(format!("station {}", station.name)))?;
            for (c, new) in which.into_iter().zip(new) {
                moved += (new - self.queued[s][c]).abs();
                self.queued[s][c] = 0.5 * (self.queued[s][c] + new);
            }
        }
        Ok(moved)
    }

    fn answer(&self, response: &[f64]) -> Result<Answer, String> {
        let model = self.model;
        let mut answer = blank(model, "layered approximation");
        for c in self.classes() {
            let class = class_answer(self.rate[c], response[c], None);
            answer
                .classes
                .0
                .push((model.classes[c].name.clone(), class));
        }
        for (p, pool) in model.pools.iter().enumerate() {
            let (mut x, mut busy, mut first, mut waiting) = (0.0, 0.0, 0.0, 0.0);
            for c in self.classes() {
                let jobs = self.rate[c] * self.visits(c, |e| model.entries[e].pool == p);
                let hold = self.holding(p, c)?;
                x += jobs;
                first += jobs * hold.first;
                busy += jobs * (hold.first + hold.second);
                waiting += jobs * self.wait[p][c];
            }
            let servers = if pool.max_threads == UNLIMITED {
                1.0
            } else {
                f64::from(pool.max_threads)
            };
            let per = |total: f64| (x > 0.0).then(|| Estimate::exact(total / x));
            let at = StationAnswer {
                kind: "pool".into(),
                utilization: Some(Estimate::exact(busy / servers)),
                throughput: Some(Estimate::exact(x)),
                queueing_time: per(waiting),
                first_phase_time: per(first),
                holding_time: per(busy),
                queue_length: Some(waiting),
                ..StationAnswer::default()
            };
            answer.stations.0.push((pool.name.clone(), at));
        }
        let used = |total: f64, servers: u32| {
            let servers = if servers == UNLIMITED {
                1.0
            } else {
                f64::from(servers)
            };
            Some(Estimate::exact(total / servers))
        };
        for (m, machine) in model.machines.iter().enumerate() {
            let busy = self.classes().map(|c| self.rate[c] * self.cpu(c, m)).sum();
            let taken = model.pools.iter().any(|p| p.name == machine.name);
            let name = if taken {
                format!("{} (machine)", machine.name)
            } else {
                machine.name.clone()
            };
            let at = StationAnswer {
                kind: "machine".into(),
                utilization: used(busy, machine.cores),
                ..StationAnswer::default()
            };
            answer.stations.0.push((name, at));
        }
        for (s, station) in model.stations.iter().enumerate() {
            let busy = self
                .classes()
                .map(|c| self.rate[c] * self.service(c, s).1)
                .sum();
            let at = StationAnswer {
                kind: "station".into(),
                utilization: used(busy, station.servers),
                ..StationAnswer::default()
            };
            answer.stations.0.push((station.name.clone(), at));
        }
        Ok(answer)
    }
}
