//! Machines, pools, and what of them a network has no word for.

use super::{Exporter, Scheduling, TaskKind};
use crate::model::{Discipline, Machine, Pool, Queue, Scheduler, UNLIMITED};

impl Exporter<'_> {
    pub(super) fn machines(&mut self) {
        let model = self.model;
        for m in &model.machines {
            self.machine(m);
        }
        for p in &model.pools {
            self.pool(p);
        }
        for g in model.groups.iter().filter(|g| g.quota.is_some()) {
            self.remark(&format!("groups.{}", g.name), "its quota");
        }
        for h in &model.heaps {
            let what =
                "its pauses: what a collection takes of the CPU is a share of what allocates";
            self.remark(&format!("heaps.{}", h.name), what);
        }
        for g in &model.guards {
            self.remark(
                &format!("guards.{}", g.name),
                "admission: everybody is let in",
            );
        }
        for m in &model.managers {
            let place = format!("managers of {}", model.machines[m.machine].name);
            self.remark(&place, "the division of its CPUs");
        }
    }

    fn machine(&mut self, m: &Machine) {
        let place = format!("machines.{}", m.name);
        let shared = |e: &mut Self, name: &str| {
            e.remark(
                &place,
                format!("scheduler {name}: processor sharing instead"),
            );
            Scheduling::Sharing
        };
        let scheduling = match &m.scheduler {
            Scheduler::ProcessorSharing => Scheduling::Sharing,
            Scheduler::RoundRobin { quantum } if quantum.is_infinite() => Scheduling::Fcfs,
            Scheduler::RoundRobin { .. } => shared(self, "round-robin"),
            Scheduler::Priority { preemptive: true } => Scheduling::Preemptive,
            Scheduler::Priority { preemptive: false } => Scheduling::HeadOfLine,
            Scheduler::Linux24 { .. } => shared(self, "linux24"),
            Scheduler::Cfs { .. } => shared(self, "cfs"),
            Scheduler::Eevdf { .. } => shared(self, "eevdf"),
        };
        if m.switch_cost > 0.0 {
            self.remark(&place, "switch_cost");
        }
        if m.contention.is_some() {
            self.remark(
                &place,
                "contention: demands are those of its `contention_at`",
            );
        }
        let (scheduling, cores) = match m.cores {
            UNLIMITED => (Scheduling::Infinite, None),
            n => (scheduling, Some(n)),
        };
        let p = self.processor(&m.name, cores, scheduling);
        self.processors[p].speed = m.speed;
    }

    fn pool(&mut self, p: &Pool) {
        let place = format!("pools.{}", p.name);
        for (there, what) in [
            (
                p.create_cpu.is_some(),
                "create_cpu: threads are there from the start",
            ),
            (p.destroy_cpu.is_some(), "destroy_cpu"),
            (p.wake_cpu.is_some(), "wake_cpu"),
            (p.in_turn, "signal: each job wakes a thread"),
            (p.start_delay.is_some(), "start_delay"),
            (p.keyed, "keyed: any thread serves any client"),
            (p.affinity != u128::MAX, "cores: its threads may use all"),
            (p.weight != 1024.0, "weight"),
        ] {
            if there {
                self.remark(&place, what);
            }
        }
        self.queue(&place, &p.queue);
        let (kind, threads) = match p.max_threads {
            UNLIMITED => (TaskKind::Infinite, None),
            n if p.queue.discipline == Discipline::Priority => (TaskKind::HeadOfLine, Some(n)),
            n => (TaskKind::Fcfs, Some(n)),
        };
        let processor = match p.machine {
            Some(m) => m,
            None => self.processor(&p.name, None, Scheduling::Infinite),
        };
        let task = self.add_task(processor, &p.name, kind, threads);
        let ranked = matches!(
            self.processors[processor].scheduling,
            Scheduling::Preemptive | Scheduling::HeadOfLine
        );
        if ranked && p.priority < 0 {
            self.remark(&place, "a priority below 0: 0 instead");
        }
        self.tasks[task].1.priority = if ranked { p.priority.max(0) } else { 0 };
    }

    pub(super) fn queue(&mut self, place: &str, queue: &Queue) {
        if queue.capacity != UNLIMITED {
            self.remark(place, "capacity: its queue has no bound");
        }
        if queue.patience.is_some() {
            self.remark(place, "patience: all wait");
        }
        if queue.discipline == Discipline::Lifo {
            self.remark(place, "last in, first out: first in, first out instead");
        }
    }

    /// The task that a station is.
    pub(super) fn station(&mut self, station: usize) -> usize {
        if let Some(task) = self.stations.get(&station) {
            return *task;
        }
        let s = &self.model.stations[station];
        let place = format!("stations.{}", s.name);
        self.queue(&place, &s.queue);
        if matches!(
            s.queue.discipline,
            Discipline::Priority | Discipline::Preemptive
        ) {
            self.remark(&place, "priorities of classes: first in, first out instead");
        }
        let task = match (s.servers, s.queue.discipline) {
            (UNLIMITED, _) => self.unlimited(&s.name),
            (n, Discipline::Sharing) => {
                let p = self.processor(&s.name, Some(n), Scheduling::Sharing);
                self.add_task(p, &s.name, TaskKind::Infinite, None)
            }
            // As many servers as processors: nobody who has one waits for the other.
            (n, _) => {
                let p = self.processor(&s.name, None, Scheduling::Infinite);
                self.add_task(p, &s.name, TaskKind::Fcfs, Some(n))
            }
        };
        self.stations.insert(station, task);
        task
    }
}
