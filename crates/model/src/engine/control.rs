//! Controllers inside the model: admission guards and CPU managers. They only take snapshots and apply decisions; the
//! decisions are [`crate::policy`]'s and those of `loadline-policy`.

use super::{Engine, Event};
use crate::admission;
use crate::time::Nanos;
use loadline_policy::{Application, Cpus, Sharing, Slot, Snapshot, Topology, divide, place};

pub(super) struct GuardState {
    left: admission::Budget,
    /// Resumed connections that came in the present interval.
    resumed: u64,
}

impl GuardState {
    pub(super) fn new() -> GuardState {
        GuardState {
            left: admission::Budget { new: 0, resumed: 0 },
            resumed: 0,
        }
    }
}

pub(super) struct ManagerState {
    turn: usize,
    slots: Vec<Vec<Slot>>,
    /// Decisions in a row that gave a group nothing.
    waited: Vec<u32>,
    /// Integral of wanted CPUs at the last decision, per group.
    wanted: Vec<f64>,
}

impl ManagerState {
    pub(super) fn new(groups: usize) -> ManagerState {
        ManagerState {
            turn: 0,
            slots: vec![Vec::new(); groups],
            waited: vec![0; groups],
            wanted: vec![0.0; groups],
        }
    }
}

impl Engine<'_> {
    pub(super) fn open_controllers(&mut self) {
        for guard in 0..self.guards.len() as u32 {
            self.guard_decides(guard);
        }
        for manager in 0..self.managers.len() as u32 {
            self.manager_decides(manager);
        }
    }

    /// The budget of the next interval; as many resumed connections are expected as came in the last.
    pub(super) fn guard_decides(&mut self, guard: u32) {
        let spec = &self.model.guards[guard as usize];
        let g = &mut self.guards[guard as usize];
        g.left = admission::budget(&admission::Snapshot {
            interval: spec.interval,
            cpus: spec.cpus,
            resumed: g.resumed as f64,
            cost_new: spec.cost_new,
            cost_resumed: spec.cost_resumed,
        });
        g.resumed = 0;
        self.schedule(Nanos::from_seconds(spec.interval), Event::Guard(guard));
    }

    pub(super) fn admits(&mut self, guard: u32, new: bool) -> bool {
        let meter = self.meters.guard(guard as usize);
        let g = &mut self.guards[guard as usize];
        let left = if new {
            &mut g.left.new
        } else {
            g.resumed += 1;
            &mut g.left.resumed
        };
        let admitted = *left > 0;
        *left -= u64::from(admitted);
        self.record.add(meter + usize::from(!admitted), 1.0);
        admitted
    }

    /// Divides a machine anew by what each group has wanted on average since the last decision.
    pub(super) fn manager_decides(&mut self, manager: u32) {
        let now = self.now;
        let spec = &self.model.managers[manager as usize];
        let cpus = self.model.machines[spec.machine].cores;
        let interval = spec.interval;
        let mut requests = Vec::with_capacity(spec.groups.len());
        for (i, &group) in spec.groups.iter().enumerate() {
            let mean = match self.meters.group_wanting(group as u32) {
                Some(level) => {
                    let total = self.record.running_integral(level, now);
                    let before =
                        std::mem::replace(&mut self.managers[manager as usize].wanted[i], total);
                    (total - before) / interval
                }
                None => 0.0,
            };
            let m = &self.managers[manager as usize];
            let priority = self.model.groups[group].priority;
            requests.push(Application {
                request: Cpus::whole((mean.ceil() as u32).clamp(1, cpus)),
                priority,
                // A group has but one worth.
                revenue: priority,
                had: Cpus::whole(m.slots[i].len() as u32),
                waited: m.waited[i],
                curve: None,
            });
        }
        let m = &mut self.managers[manager as usize];
        let snapshot = Snapshot::of_whole_cpus(cpus, m.turn, &requests);
        let division = divide(spec.policy, Sharing::Never, &snapshot);
        m.turn += 1;
        m.slots = place(&Topology::flat(cpus), &m.slots, &division);
        for (waited, slots) in m.waited.iter_mut().zip(&m.slots) {
            *waited = if slots.is_empty() { *waited + 1 } else { 0 };
        }
        let set = |slots: &Vec<Slot>| slots.iter().fold(0u128, |set, s| set | 1 << s.cpu);
        let sets: Vec<u128> = m.slots.iter().map(set).collect();
        for (&group, set) in spec.groups.iter().zip(sets) {
            self.record.set(
                self.meters.group_cpus[group],
                now,
                f64::from(set.count_ones()),
            );
            self.groups[group].affinity = Some(set);
            for thread in self.groups[group].threads.clone() {
                self.set_affinity(thread, set);
            }
        }
        self.schedule(Nanos::from_seconds(interval), Event::Manager(manager));
    }
}
