//! Machines on which the same work takes more CPU the busier they are, or less: caches that threads share, clocks that
//! fall while a core is idle.
//!
//! What is written in programs holds at one utilization; elsewhere it is multiplied by a factor, by the utilization of the
//! time just passed. A burst is what it was when it began.

use super::{Engine, Event};
use crate::model::Contention;
use crate::time::Nanos;

/// Whatever the slope, work never becomes cheaper than this.
const LEAST: f64 = 0.1;

pub(super) struct ContentionState {
    spec: Contention,
    /// Integral of busy cores when it was last looked at.
    used: f64,
    /// What a unit of written CPU takes now.
    pub factor: f64,
}

impl ContentionState {
    pub(super) fn new(spec: Contention) -> ContentionState {
        ContentionState {
            spec,
            used: 0.0,
            factor: 1.0,
        }
    }
}

impl Engine<'_> {
    pub(super) fn open_contention(&mut self) {
        for machine in 0..self.machines.len() as u32 {
            self.look_again(machine);
        }
    }

    fn look_again(&mut self, machine: u32) {
        if let Some(c) = &self.machines[machine as usize].contention {
            let after = Nanos::from_seconds(c.spec.over);
            self.schedule(after, Event::Contention(machine));
        }
    }

    /// The factor of the time to come, by the utilization of the time just passed.
    pub(super) fn contend(&mut self, machine: u32) {
        let level = self.meters.machine_busy[machine as usize];
        let total = self.record.running_integral(level, self.now);
        let cores = f64::from(self.model.machines[machine as usize].cores);
        if let Some(c) = &mut self.machines[machine as usize].contention {
            let busy = (total - c.used) / c.spec.over / cores;
            c.used = total;
            c.factor = (1.0 + c.spec.growth * (busy - c.spec.at)).max(LEAST);
        }
        self.look_again(machine);
    }
}
