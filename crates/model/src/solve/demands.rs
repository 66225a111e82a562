//! What a request of each class demands of every part, on average: programs followed through calls, with probabilities.

use crate::model::{Model, Step};
use loadline_stats::random::Dist;

/// Expected visits and seconds per request of one class.
#[derive(Debug, Clone, Default)]
pub struct Demands {
    /// Seconds of CPU per machine (at its speed).
    pub machine: Vec<f64>,
    /// Bursts per machine.
    pub bursts: Vec<f64>,
    /// Seconds of service per station.
    pub station: Vec<f64>,
    /// Visits per station.
    pub visits: Vec<f64>,
    /// Jobs per pool.
    pub jobs: Vec<f64>,
    /// Seconds of pure delay.
    pub delay: f64,
    /// Whether every service seen is exponential.
    pub exponential: bool,
    /// The law of service at each station, where there is one place that visits it.
    pub law: Vec<Option<Dist>>,
    /// What closed forms and product forms do not cover, if anything.
    pub obstacle: Option<String>,
}

/// The demands of each class; `Err` if calls nest without end.
pub fn of(model: &Model) -> Result<Vec<Demands>, String> {
    model
        .classes
        .iter()
        .enumerate()
        .map(|(class, c)| {
            let mut d = Demands {
                machine: vec![0.0; model.machines.len()],
                bursts: vec![0.0; model.machines.len()],
                station: vec![0.0; model.stations.len()],
                visits: vec![0.0; model.stations.len()],
                jobs: vec![0.0; model.pools.len()],
                law: vec![None; model.stations.len()],
                exponential: true,
                ..Demands::default()
            };
            if c.timeout.is_some() {
                d.obstacle = Some("clients time out".into());
            }
            if model.length().is_some() {
                d.obstacle = Some("the load changes over the run".into());
            } else if model.terminates() {
                d.obstacle = Some("clients leave when they have done their work".into());
            }
            let walk = Walk { model, class };
            walk.steps(&mut d, &c.program, 1.0, None, 0)?;
            Ok(d)
        })
        .collect()
}

struct Walk<'m> {
    model: &'m Model,
    class: usize,
}

impl Walk<'_> {
    fn steps(
        &self,
        d: &mut Demands,
        steps: &[Step],
        times: f64,
        pool: Option<usize>,
        depth: usize,
    ) -> Result<(), String> {
        if depth > 60 {
            return Err("calls nest without end".into());
        }
        let mut replied = false;
        let block = |d: &mut Demands, what: &str| {
            d.obstacle.get_or_insert_with(|| what.to_string());
        };
        for step in steps {
            if replied {
                block(d, "a second phase follows a reply");
            }
            match step {
                Step::Cpu(dist) => {
                    if let Some(machine) = pool.and_then(|p| self.model.pools[p].machine) {
                        d.machine[machine] +=
                            times * dist.mean() / self.model.machines[machine].speed;
                        d.bursts[machine] += times;
                        d.exponential &= dist.is_exponential();
                    }
                }
                Step::Wait(dist) => d.delay += times * dist.mean(),
                Step::Sleep(dist, tick) => {
                    d.delay += times * (dist.mean() + tick);
                    block(d, "sleeps end with timer ticks");
                }
                Step::Visit(s, dist) => {
                    d.station[*s] += times * dist.mean();
                    d.law[*s] = if d.visits[*s] == 0.0 {
                        Some(dist.clone())
                    } else {
                        None
                    };
                    d.visits[*s] += times;
                    d.exponential &= dist.is_exponential()
                        || self.model.stations[*s].servers == crate::model::UNLIMITED;
                }
                Step::Call(e, patience) | Step::Acquire(e, _, patience) if patience.is_some() => {
                    block(d, "something waits only for so long");
                    if let Step::Call(..) = step {
                        self.entry(d, *e, times, depth)?;
                    }
                }
                Step::Call(e, _) => self.entry(d, *e, times, depth)?,
                Step::Forward(e) => {
                    self.entry(d, *e, times, depth)?;
                    replied = true;
                }
                Step::Send(e) => {
                    self.entry(d, *e, times, depth)?;
                    block(d, "messages are sent that nobody waits for");
                }
                Step::Reply => replied = true,
                Step::Acquire(r, ..) => {
                    block(d, &format!("{} is held", self.model.resources[*r].name))
                }
                Step::Release(..) => {}
                Step::Await { .. } | Step::Notify(..) => block(d, "conditions are awaited"),
                Step::Fork(branches, _) => {
                    block(d, "programs fork");
                    for branch in branches {
                        self.steps(d, branch, times, None, depth + 1)?;
                    }
                }
                Step::Branch(arms) => {
                    for (p, body) in arms {
                        self.steps(d, body, times * p, pool, depth + 1)?;
                    }
                }
                Step::ByClass(arms) => {
                    for (class, body) in arms {
                        if *class == self.class {
                            self.steps(d, body, times, pool, depth + 1)?;
                        }
                    }
                }
                Step::Loop(n, body) => self.steps(d, body, times * n.mean(), pool, depth + 1)?,
                Step::Phase(_, body) => self.steps(d, body, times, pool, depth + 1)?,
                Step::KeepAlive(_) => block(d, "connections are kept open and closed"),
                Step::Allocate(_) => block(d, "collections stop threads"),
                Step::Admit(..) => block(d, "a guard refuses some"),
                Step::Fail => block(d, "requests fail"),
            }
        }
        Ok(())
    }

    fn entry(&self, d: &mut Demands, entry: usize, times: f64, depth: usize) -> Result<(), String> {
        let e = &self.model.entries[entry];
        d.jobs[e.pool] += times;
        self.steps(d, &e.program, times, Some(e.pool), depth + 1)
    }
}
