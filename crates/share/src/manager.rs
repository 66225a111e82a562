//! The applications and the machine: takes samples, decides each quantum, and steps towards the decision. Knows nothing of
//! sockets.

mod members;
mod sampling;

use std::collections::VecDeque;
use std::path::PathBuf;

use loadline_policy::{
    Application, Cpus, Curve, Got, Slot, Snapshot, Topology, corrections, divide, place, weights,
    yields,
};

pub(crate) use self::members::{Newcomer, Orphan};
use crate::applications::App;
use crate::config::Config;
use crate::mechanism::{Mechanism, Setting};
use crate::page::Assignment;
use crate::steps::{Lane, advance};
use crate::{CpuSet, ShareError, sys};

/// Weight of an application that has nothing now: enough to answer a signal.
const WAITING_WEIGHT: f64 = 0.002;
/// Who uses so much more than it has for a second, in parts of that and CPUs, takes from others: a site of its request has
/// bursts too.
const OVERUSE: (f64, f64) = (1.25, 0.1);
/// For so long nobody gives way to it then: who asks for little and takes all it can gains a fifth by it at most.
const DISTRUST_NS: u64 = 5_000_000_000;
/// A change of weight that is worth a write.
const WEIGHT_STEP: f64 = 0.01;

pub(crate) struct Manager {
    pub config: Config,
    pub mechanism: Box<dyn Mechanism>,
    pub managed: CpuSet,
    pub apps: Vec<App>,
    topology: Topology,
    pages: PathBuf,
    next_id: u32,
    turn: usize,
    turn_ends_ns: u64,
    accounted_ns: u64,
    pub figures: Figures,
}

/// About the daemon itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub quanta: u64,
    pub changes: u64,
    /// Times from a decision that changed something to the kernel's having it all; grace not counted.
    pub applying: Applying,
    /// How the daemon itself is scheduled.
    pub scheduling: String,
    pub mechanism_errors: u64,
    pub last_error: Option<String>,
}

/// The longest time ever, and each of the last ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Applying {
    pub slowest_ns: u64,
    last_ns: VecDeque<u64>,
}

impl Applying {
    const KEPT: usize = 1000;

    fn took(&mut self, ns: u64) {
        self.slowest_ns = self.slowest_ns.max(ns);
        if self.last_ns.len() == Applying::KEPT {
            self.last_ns.pop_front();
        }
        self.last_ns.push_back(ns);
    }

    /// The 95th percentile of the last ones.
    pub(crate) fn p95_ns(&self) -> u64 {
        let mut sorted: Vec<u64> = self.last_ns.iter().copied().collect();
        sorted.sort_unstable();
        let at = (sorted.len() * 95).div_ceil(100);
        at.checked_sub(1).map_or(0, |at| sorted[at])
    }
}

impl Manager {
    pub(crate) fn new(
        config: Config,
        mechanism: Box<dyn Mechanism>,
        managed: CpuSet,
        topology: Topology,
        pages: PathBuf,
    ) -> Manager {
        Manager {
            config,
            mechanism,
            managed,
            apps: Vec::new(),
            topology,
            pages,
            next_id: 1,
            turn: 0,
            turn_ends_ns: 0,
            accounted_ns: sys::now_ns(),
            figures: Figures::default(),
        }
    }

    pub(crate) fn all(&self) -> Cpus {
        Cpus::whole(self.managed.len())
    }

    pub(crate) fn find(&self, id: u32) -> Option<&App> {
        self.apps.iter().find(|a| a.id == id)
    }

    pub(crate) fn find_mut(&mut self, id: u32) -> Option<&mut App> {
        self.apps.iter_mut().find(|a| a.id == id)
    }

    /// The application that a process belongs to.
    pub(crate) fn of_pid(&self, pid: i32) -> Option<&App> {
        let own = self.apps.iter().find(|a| a.pid == pid);
        own.or_else(|| {
            self.apps
                .iter()
                .find(|a| self.mechanism.pids(&a.key).contains(&pid))
        })
    }

    fn failed(&mut self, e: ShareError) {
        self.figures.mechanism_errors += 1;
        self.figures.last_error = Some(e.to_string());
    }

    /// Samples, decides and steps. The ids of those who have something else now.
    pub(crate) fn quantum(&mut self, now_ns: u64) -> Vec<u32> {
        self.figures.quanta += 1;
        let seconds = now_ns.saturating_sub(self.accounted_ns) as f64 / 1e9;
        self.account(now_ns);
        for at in 0..self.apps.len() {
            self.sample(at, now_ns, false);
            self.apps[at].page.beat(now_ns);
        }
        self.correct(seconds);
        self.decide(now_ns);
        self.step(now_ns)
    }

    /// When the next step of a change under way is due.
    pub(crate) fn next_step_ns(&self) -> Option<u64> {
        self.apps.iter().filter_map(|a| a.has.lane.narrow_at).min()
    }

    fn decide(&mut self, now_ns: u64) {
        if now_ns >= self.turn_ends_ns {
            self.turn += 1;
            self.turn_ends_ns = now_ns + self.config.turn.as_nanos() as u64;
            for app in &mut self.apps {
                app.has.waited = if app.has.owned == Cpus::ZERO {
                    app.has.waited + 1
                } else {
                    0
                };
            }
        }
        let (floor, all) = (self.config.floor, self.all());
        let curves: Vec<Option<Curve>> = self
            .apps
            .iter()
            .map(|a| a.demand.curve.clone().or_else(|| a.demand.learner.curve()))
            .collect();
        let of = |(app, curve)| {
            let app: &App = app;
            let curve: &Option<Curve> = curve;
            Application {
                request: app.demand.request(floor, all),
                priority: app.demand.priority,
                revenue: app.demand.revenue,
                had: app.has.owned,
                waited: app.has.waited,
                curve: curve.as_ref(),
            }
        };
        let applications: Vec<Application<'_>> = self.apps.iter().zip(&curves).map(of).collect();
        let snapshot = Snapshot {
            cpus: self.managed.len(),
            grain: self.config.grain,
            floor,
            turn: self.turn,
            applications: &applications,
        };
        let division = divide(self.config.policy, self.config.sharing, &snapshot);
        let before: Vec<Vec<Slot>> = self.apps.iter().map(|a| a.has.slots.clone()).collect();
        let slots = place(&self.topology, &before, &division);
        for (i, (app, slots)) in self.apps.iter_mut().zip(slots).enumerate() {
            app.page.note_request(applications[i].request);
            app.has.owned = division.owned[i];
            app.has.lane.target = if slots.is_empty() {
                vec![waiting_room(&self.topology, i)]
            } else {
                slots.clone()
            };
            app.has.slots = slots;
        }
    }

    /// Takes the steps that are due. The ids of those who have something else now.
    pub(crate) fn step(&mut self, now_ns: u64) -> Vec<u32> {
        let mut lanes: Vec<Lane> = self.apps.iter().map(|a| a.has.lane.clone()).collect();
        let todo = advance(&mut lanes, now_ns, self.config.grace.as_nanos() as u64);
        for (app, lane) in self.apps.iter_mut().zip(lanes) {
            app.has.lane = lane;
        }
        // Those who lose CPUs first: then nobody is where somebody else still is.
        let shrinks = |app: &App| {
            let was = app.has.setting.as_ref().map_or(0, |s| s.cpus.len());
            app.has.lane.applied.len() < was
        };
        let mut order: Vec<usize> = (0..self.apps.len()).collect();
        order.sort_by_key(|&i| !shrinks(&self.apps[i]));
        let (weights, yields) = (self.weights(), self.yields(now_ns));
        let mut changed = false;
        for i in order {
            changed |= self.apply(i, weights[i], yields[i]);
        }
        if changed {
            let took = sys::now_ns().saturating_sub(now_ns);
            self.figures.applying.took(took);
        }
        let (floor, all) = (self.config.floor, self.all());
        let mut told = Vec::new();
        for todo in todo.iter().filter(|t| t.tell) {
            let app = &mut self.apps[todo.lane];
            app.has.changes += 1;
            self.figures.changes += 1;
            let assignment = Assignment {
                cpus: app.has.lane.told,
                request: app.demand.request(floor, all),
                set: app.has.lane.told_set.clone(),
            };
            app.page.publish(now_ns, &assignment);
            told.push(app.id);
        }
        told
    }

    fn slots(&self) -> Vec<Vec<Slot>> {
        self.apps.iter().map(|a| a.has.slots.clone()).collect()
    }

    fn weights(&self) -> Vec<f64> {
        let mut weights = weights(&self.slots());
        for (weight, app) in weights.iter_mut().zip(&self.apps) {
            *weight = if app.has.slots.is_empty() {
                WAITING_WEIGHT
            } else {
                *weight * app.has.correction.exp()
            };
        }
        weights
    }

    /// Corrects the weights of those who share a CPU by what they got of late.
    fn correct(&mut self, seconds: f64) {
        let got = |a: &App| Got {
            owned: a.has.owned.as_f64(),
            used: a.sampled.using,
        };
        let got: Vec<Got> = self.apps.iter().map(got).collect();
        let before: Vec<f64> = self.apps.iter().map(|a| a.has.correction).collect();
        let corrected = corrections(&self.slots(), &got, &before, seconds);
        for (app, correction) in self.apps.iter_mut().zip(corrected) {
            app.has.correction = correction;
        }
    }

    /// Who gives way on a shared CPU.
    fn yields(&mut self, now_ns: u64) -> Vec<bool> {
        let (floor, all) = (self.config.floor, self.all());
        let content = |a: &mut App| {
            let owned = a.has.owned.as_f64();
            if a.sampled.lately > OVERUSE.0 * owned + OVERUSE.1 {
                a.has.distrusted_until_ns = now_ns + DISTRUST_NS;
            }
            a.demand.request(floor, all) <= a.has.owned && now_ns >= a.has.distrusted_until_ns
        };
        let content: Vec<bool> = self.apps.iter_mut().map(content).collect();
        let slots = self.slots();
        let shares = |s: &Slot| slots.iter().flatten().filter(|o| o.cpu == s.cpu).count() > 1;
        for (app, slots) in self.apps.iter_mut().zip(&slots) {
            app.has.watched = slots.iter().any(shares);
        }
        yields(&slots, &content)
    }

    /// Tells the kernel what an application is to have. Whether that was something else than before.
    fn apply(&mut self, at: usize, weight: f64, yields: bool) -> bool {
        let app = &mut self.apps[at];
        let told = app.has.lane.told;
        let limit = (self.config.cap && told > Cpus::ZERO && app.has.lane.narrow_at.is_none())
            .then_some(told);
        let setting = Setting {
            cpus: app.has.lane.applied.clone(),
            weight,
            yields,
            limit,
        };
        let same = app.has.setting.as_ref().is_some_and(|s| {
            s.cpus == setting.cpus
                && s.limit == setting.limit
                && s.yields == yields
                && (s.weight / weight - 1.0).abs() < WEIGHT_STEP
        });
        if same || setting.cpus.is_empty() {
            return false;
        }
        match self
            .mechanism
            .set(&app.key, &setting, app.has.setting.as_ref())
        {
            Ok(()) => app.has.setting = Some(setting),
            // Tried again in the next quantum, all of it; a process that has just ended is removed before that.
            Err(e) => {
                app.has.setting = None;
                self.failed(e);
            }
        }
        true
    }

    /// Restores everything. The first thing that went wrong, when all was tried.
    pub(crate) fn close(&mut self) -> Result<(), ShareError> {
        let mut first_error = None;
        while let Some(id) = self.apps.first().map(|a| a.id) {
            if let Err(e) = self.remove(id) {
                first_error = first_error.or(Some(e));
            }
        }
        let closed = self.mechanism.close();
        first_error.map_or(closed, Err)
    }
}

/// Where an application that has nothing now waits: at least weight, beside whoever is there.
fn waiting_room(topology: &Topology, at: usize) -> Slot {
    let cpus = topology.cpus();
    let cpu = cpus[(cpus.len() - 1).saturating_sub(at % cpus.len())];
    Slot {
        cpu: cpu.id,
        part: Cpus::ZERO,
    }
}
