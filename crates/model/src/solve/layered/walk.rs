//! Following programs through calls: what they take as things are now, how often they visit a part, who can be there.

use super::{Phases, State};
use crate::model::Step;
use loadline_stats::random::Dist;

impl State<'_> {
    /// What a program takes as things are now.
    pub(super) fn steps(
        &self,
        steps: &[Step],
        class: usize,
        pool: Option<usize>,
        depth: usize,
    ) -> Result<Phases, String> {
        if depth > 60 {
            return Err("calls nest without end".into());
        }
        let mut total = Phases::default();
        let mut replied = false;
        for step in steps {
            let inner =
                |body: &[Step]| Ok::<f64, String>(self.steps(body, class, pool, depth + 1)?.first);
            let time = match step {
                Step::Cpu(d) => pool
                    .and_then(|p| self.model.pools[p].machine)
                    .map_or(0.0, |m| {
                        d.mean() / self.model.machines[m].speed * self.stretch[m][class]
                    }),
                Step::Wait(d) => d.mean(),
                Step::Visit(s, d) => d.mean() + self.queued[*s][class],
                Step::Call(e, None) => {
                    let entry = &self.model.entries[*e];
                    let own = self.steps(&entry.program, class, Some(entry.pool), depth + 1)?;
                    self.wait[entry.pool][class] + own.first
                }
                Step::Reply => {
                    replied = true;
                    0.0
                }
                Step::Branch(arms) => {
                    let mut sum = 0.0;
                    for (p, body) in arms {
                        sum += p * inner(body)?;
                    }
                    sum
                }
                Step::ByClass(arms) => match arms.iter().find(|a| a.0 == class) {
                    Some((_, body)) => inner(body)?,
                    None => 0.0,
                },
                Step::Loop(times, body) => times.mean() * inner(body)?,
                Step::Phase(_, body) => inner(body)?,
                _ => {
                    return Err(
                        "programs do more than CPU, waiting, visits and nested calls".into(),
                    );
                }
            };
            if replied {
                total.second += time;
            } else {
                total.first += time;
            }
        }
        Ok(total)
    }

    /// The mean over a pool's entries, by how often a class asks each.
    pub(super) fn holding(&self, pool: usize, class: usize) -> Result<Phases, String> {
        let (mut sum, mut count) = (Phases::default(), 0.0);
        for (e, entry) in self
            .model
            .entries
            .iter()
            .enumerate()
            .filter(|(_, e)| e.pool == pool)
        {
            let v = self.visits(class, |other| other == e);
            let p = self.steps(&entry.program, class, Some(pool), 0)?;
            sum.first += v * p.first;
            sum.second += v * p.second;
            count += v;
        }
        Ok(Phases {
            first: sum.first / f64::max(count, 1e-300),
            second: sum.second / f64::max(count, 1e-300),
        })
    }

    /// A sum over all steps that one request of a class executes, through all calls: `of(step, pool)`.
    fn sum(
        &self,
        steps: &[Step],
        class: usize,
        pool: Option<usize>,
        of: &dyn Fn(&Step, Option<usize>) -> f64,
    ) -> f64 {
        let inner = |body: &[Step]| self.sum(body, class, pool, of);
        let each = |step: &Step| {
            of(step, pool)
                + match step {
                    Step::Call(e, _) => {
                        let entry = &self.model.entries[*e];
                        self.sum(&entry.program, class, Some(entry.pool), of)
                    }
                    Step::Branch(arms) => arms.iter().map(|(p, b)| p * inner(b)).sum(),
                    Step::ByClass(arms) => arms
                        .iter()
                        .filter(|a| a.0 == class)
                        .map(|a| inner(&a.1))
                        .sum(),
                    Step::Loop(n, body) => n.mean() * inner(body),
                    Step::Phase(_, body) => inner(body),
                    _ => 0.0,
                }
        };
        steps.iter().map(each).sum()
    }

    fn request(&self, class: usize, of: &dyn Fn(&Step, Option<usize>) -> f64) -> f64 {
        self.sum(&self.model.classes[class].program, class, None, of)
    }

    /// Jobs of the entries that `counts`, per request.
    pub(super) fn visits(&self, class: usize, counts: impl Fn(usize) -> bool) -> f64 {
        self.request(class, &|step, _| match step {
            Step::Call(e, _) if counts(*e) => 1.0,
            _ => 0.0,
        })
    }

    /// CPU of one request on a machine.
    pub(super) fn cpu(&self, class: usize, machine: usize) -> f64 {
        let speed = self.model.machines[machine].speed;
        self.request(class, &|step, pool| match step {
            Step::Cpu(d) if pool.is_some_and(|p| self.model.pools[p].machine == Some(machine)) => {
                d.mean() / speed
            }
            _ => 0.0,
        })
    }

    /// Visits to a station and seconds of service there, per request.
    pub(super) fn service(&self, class: usize, station: usize) -> (f64, f64) {
        let of = |weight: fn(&Dist) -> f64| {
            self.request(class, &|step, _| match step {
                Step::Visit(s, d) if *s == station => weight(d),
                _ => 0.0,
            })
        };
        (of(|_| 1.0), of(Dist::mean))
    }

    /// Who can ask a pool at once on behalf of a class: its clients, or the threads of the pools that call it.
    pub(super) fn callers(&self, pool: usize, class: usize) -> u32 {
        let asks = |steps: &[Step]| {
            let mut found = false;
            crate::load::each_step(steps, &mut |s| {
                found |= matches!(s, Step::Call(e, _) if self.model.entries[*e].pool == pool);
            });
            found
        };
        if asks(&self.model.classes[class].program) {
            return u32::MAX;
        }
        let calling = |p: usize| {
            self.model
                .entries
                .iter()
                .any(|e| e.pool == p && asks(&e.program))
        };
        let pools = self.model.pools.iter().enumerate();
        pools
            .filter(|&(p, _)| p != pool && calling(p))
            .fold(0u32, |sum, (_, spec)| sum.saturating_add(spec.max_threads))
    }

    /// Threads that can be on a machine at once.
    pub(super) fn threads_on(&self, machine: usize) -> u32 {
        let here = self
            .model
            .pools
            .iter()
            .filter(|p| p.machine == Some(machine));
        here.fold(0u32, |sum, p| sum.saturating_add(p.max_threads))
    }
}
