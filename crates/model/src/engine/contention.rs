//! Machines on which the same work takes more CPU the busier they are, or less: caches that threads share, caches and clocks
//! that fall while a core is idle.
//!
//! What is written in programs holds at one utilization; elsewhere it is multiplied by a factor, by the utilization of the
//! time just passed, of which each moment counts by `exp(-age / over)`. A burst is what it was when it began.

use super::Engine;
use crate::model::Contention;
use crate::time::Time;

/// Whatever the slope, work never becomes cheaper than this.
const LEAST: f64 = 0.1;

pub(super) struct ContentionState {
    spec: Contention,
    /// How many busy cores make one of `parts` full.
    full: f64,
    /// By core; of a machine that its threads share, one for all.
    parts: Vec<Recent>,
}

/// Utilization of the time before `since`, and the cores that are busy from then on.
#[derive(Clone, Copy)]
struct Recent {
    share: f64,
    since: Time,
    busy: f64,
}

impl ContentionState {
    /// Of a machine with cores of its own, or whose threads share them.
    pub(super) fn new(spec: Contention, cores: u32, shared: bool) -> ContentionState {
        let idle = Recent {
            share: 0.0,
            since: Time::ZERO,
            busy: 0.0,
        };
        let (full, parts) = if shared {
            (cores, 1)
        } else {
            (1, cores.min(128))
        };
        ContentionState {
            spec,
            full: f64::from(full),
            parts: vec![idle; parts as usize],
        }
    }

    fn share(&self, part: &Recent, now: Time) -> f64 {
        let left = (-now.since(part.since).seconds() / self.spec.over).exp();
        part.share * left + part.busy / self.full * (1.0 - left)
    }

    /// What a unit of written CPU takes now on a core; without one, on the mean of them.
    pub(super) fn factor(&self, now: Time, core: Option<u32>) -> f64 {
        let share = match core.and_then(|c| self.parts.get(c as usize)) {
            Some(part) => self.share(part, now),
            None => {
                let all: f64 = self.parts.iter().map(|p| self.share(p, now)).sum();
                all / self.parts.len() as f64
            }
        };
        (1.0 + self.spec.growth * (share - self.spec.at)).max(LEAST)
    }
}

impl Engine<'_> {
    /// So many more cores of a machine are busy from now on: one of them, or those that its threads share.
    pub(super) fn busy_changes(&mut self, machine: u32, core: u32, by: f64) {
        let now = self.now;
        let level = self.meters.machine_busy[machine as usize];
        self.record.change(level, now, by);
        if let Some(c) = &mut self.machines[machine as usize].contention {
            let core = core as usize;
            c.parts[core].share = c.share(&c.parts[core], now);
            c.parts[core].since = now;
            c.parts[core].busy += by;
        }
    }
}
