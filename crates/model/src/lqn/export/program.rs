//! Steps of a program as what a network has words for.

use super::work::{Node, Work, call, cpu, repeated};
use super::{At, Exporter, Remark};
use crate::model::{Mode, ResourceKind, Step};
use loadline_stats::random::Dist;

impl Exporter<'_> {
    pub(super) fn nodes(&mut self, steps: &[Step], at: &At) -> Result<Vec<Node>, Remark> {
        let mut out = Vec::new();
        let mut i = 0;
        while i < steps.len() {
            if let Step::Acquire(resource, mode, patience) = &steps[i] {
                if patience.is_some() {
                    self.remark(&at.place, "timeout of a lock: all wait");
                }
                i = self.section(steps, i, (*resource, *mode), at, &mut out)?;
                continue;
            }
            self.step(&steps[i], at, &mut out)?;
            i += 1;
        }
        Ok(out)
    }

    fn step(&mut self, step: &Step, at: &At, out: &mut Vec<Node>) -> Result<(), Remark> {
        match step {
            Step::Cpu(time) => cpu(out, time.mean(), time.variance()),
            Step::Wait(time) => self.delay(time, out),
            Step::Sleep(time, _) => {
                self.remark(
                    &at.place,
                    "sleep: it ends when it is over, not at a tick of the timer",
                );
                self.delay(time, out);
            }
            Step::Visit(station, time) => {
                let task = self.station(*station);
                self.serve(task, time, out);
            }
            Step::Call(to, patience) => {
                if patience.is_some() {
                    self.remark(&at.place, "timeout of a call: the caller waits");
                }
                let name = self.entry_name(*to, at.class);
                call(out, &name, true);
            }
            Step::Send(to) => {
                let name = self.entry_name(*to, at.class);
                call(out, &name, false);
            }
            Step::Forward(to) => out.push(Node::Forward(self.entry_name(*to, at.class))),
            Step::Reply => out.push(Node::Reply),
            Step::Fork(branches, wait_for) => {
                let branches = branches
                    .iter()
                    .map(|b| self.nodes(b, at))
                    .collect::<Result<Vec<_>, _>>()?;
                let mut enough = *wait_for;
                if enough == 0 {
                    self.remark(&at.place, "a fork that is not waited for: it is waited for");
                    enough = branches.len() as u32;
                }
                out.push(Node::Fork(branches, enough));
            }
            Step::Branch(arms) => self.branch(arms, at, out)?,
            Step::ByClass(arms) => {
                if let Some((_, body)) = arms.iter().find(|a| a.0 == at.class) {
                    out.extend(self.nodes(body, at)?);
                }
            }
            Step::Loop(times, body) => {
                let body = self.nodes(body, at)?;
                let times = if let Dist::Constant(x) = times {
                    x.round()
                } else {
                    times.mean()
                };
                repeated(out, times, body);
            }
            Step::Phase(_, body) => out.extend(self.nodes(body, at)?),
            Step::Allocate(bytes) => {
                if let Some(heap) = at.heap {
                    let heap = &self.model.heaps[heap];
                    let share = heap.cpu.mean() / heap.young_bytes;
                    if at.machine == Some(heap.machine) {
                        cpu(out, share * bytes.mean(), 0.0);
                    }
                }
            }
            Step::Admit(..) => {}
            Step::Fail => self.remark(&at.place, "fail: the request goes on"),
            Step::KeepAlive(_) => self.remark(
                &at.place,
                "keep_alive within another step: connections are there",
            ),
            Step::Await { .. } | Step::Notify(..) => {
                return Err(refused(
                    at,
                    "conditions (await, notify) have no word in a network",
                ));
            }
            Step::Release(resource, _) => {
                let name = &self.model.resources[*resource].name;
                let what =
                    format!("{name} is released in another list of steps than it was acquired in");
                return Err(refused(at, &what));
            }
            // Taken with all that follows until its release.
            Step::Acquire(..) => {}
        }
        Ok(())
    }

    fn branch(
        &mut self,
        arms: &[(f64, Vec<Step>)],
        at: &At,
        out: &mut Vec<Node>,
    ) -> Result<(), Remark> {
        let mut found = Vec::new();
        let mut rest = 1.0;
        for (p, body) in arms.iter().filter(|a| a.0 > 0.0) {
            rest -= p;
            found.push((*p, self.nodes(body, at)?));
        }
        if let [(p, body)] = &mut found[..]
            && *p > 1.0 - 1e-9
        {
            out.append(body);
            return Ok(());
        }
        if found.iter().all(|a| a.1.is_empty()) {
            return Ok(());
        }
        if rest > 1e-9 {
            found.push((rest, Vec::new()));
        }
        out.push(Node::Branch(found));
        Ok(())
    }

    /// From an acquisition to its release in the same list: a call of the resource's task. Returns where to go on.
    fn section(
        &mut self,
        steps: &[Step],
        from: usize,
        (resource, mode): (usize, Mode),
        at: &At,
        out: &mut Vec<Node>,
    ) -> Result<usize, Remark> {
        let r = &self.model.resources[resource];
        let place = format!("resources.{}", r.name);
        let mut depth = 0;
        let end = steps[from..].iter().position(|s| {
            match s {
                Step::Acquire(x, ..) if *x == resource => depth += 1,
                Step::Release(x, _) if *x == resource => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(end) = end.map(|e| from + e) else {
            let what = format!(
                "{} is not released in the list of steps in which it is acquired",
                r.name
            );
            return Err(refused(at, &what));
        };
        let body = &steps[from + 1..end];
        if super::any(body, &|s| matches!(s, Step::Reply | Step::Forward(_))) {
            let what = format!("it replies or forwards while it holds {}", r.name);
            return Err(refused(at, &what));
        }
        if !matches!(mode, Mode::Units(1)) {
            self.remark(
                &place,
                "several units at once, readers and writers: one is held at a time by each",
            );
        }
        if r.lifo {
            self.remark(&place, "last in, first out: first in, first out instead");
        }
        if let ResourceKind::Connections {
            connect: Some(_), ..
        } = r.kind
        {
            self.remark(&place, "connect: connections are open");
        }
        let task = self.holder(resource, at);
        let name = format!("{}.{}", r.name, self.tasks[task].1.entries.len() + 1);
        let nodes = self.nodes(body, at)?;
        // The body may have held it in turn.
        let taken = self.tasks[task].1.entries.iter().any(|e| e.name == name);
        let name = if taken { format!("{name}_") } else { name };
        self.write_entry(task, name.clone(), nodes, at)?;
        call(out, &name, true);
        Ok(end + 1)
    }

    /// The task that a resource is, on the processor of whoever holds it first.
    fn holder(&mut self, resource: usize, at: &At) -> usize {
        let r = &self.model.resources[resource];
        if let Some(task) = self.resources.get(&resource) {
            let task = *task;
            if self.held_on.get(&resource) != Some(&at.machine) {
                let what = "held by threads of several machines: all use the CPU of the first";
                self.remark(&format!("resources.{}", r.name), what);
            }
            return task;
        }
        let units = if matches!(r.kind, ResourceKind::ReadWrite { .. }) {
            1
        } else {
            r.units
        };
        let processor = match at.machine {
            Some(m) => m,
            None => self.processor(&r.name, None, super::Scheduling::Infinite),
        };
        let task = self.add_task(processor, &r.name, super::TaskKind::Fcfs, Some(units));
        self.resources.insert(resource, task);
        self.held_on.insert(resource, at.machine);
        task
    }

    fn delay(&mut self, time: &Dist, out: &mut Vec<Node>) {
        let task = match self.delays {
            Some(task) => task,
            None => {
                let task = self.unlimited("delay");
                self.delays = Some(task);
                task
            }
        };
        self.serve(task, time, out);
    }

    /// A call of an entry that takes so long and does nothing else.
    fn serve(&mut self, task: usize, time: &Dist, out: &mut Vec<Node>) {
        if time.mean() <= 0.0 {
            return;
        }
        let work = Work {
            demand: time.mean(),
            variance: time.variance(),
            calls: Vec::new(),
        };
        let t = &mut self.tasks[task].1;
        let wanted = work.activity(String::new());
        let same = |e: &&super::Entry| {
            e.phases[0].1.demand == wanted.demand && e.phases[0].1.cvsq == wanted.cvsq
        };
        let name = match t.entries.iter().find(same) {
            Some(e) => e.name.clone(),
            None => {
                let name = format!("{}.{}", t.name, t.entries.len() + 1);
                let mut entry = super::Entry {
                    name: name.clone(),
                    ..Default::default()
                };
                entry.phases.push((1, work.activity(format!("{name}_1"))));
                t.entries.push(entry);
                name
            }
        };
        call(out, &name, true);
    }
}

fn refused(at: &At, what: &str) -> Remark {
    Remark {
        place: at.place.clone(),
        what: what.to_owned(),
    }
}
