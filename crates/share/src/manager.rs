//! The applications and the machine: takes samples, decides each quantum, and steps towards the decision. Knows nothing of
//! sockets.

use std::path::PathBuf;
use std::time::Duration;

use loadline_policy::{Application, Cpus, Curve, Slot, Snapshot, Topology, divide, place, weights};

use crate::applications::{App, Demand, Has, Origin, Reported, Sampled};
use crate::config::Config;
use crate::mechanism::{Former, Mechanism, Setting};
use crate::page::{Assignment, Page};
use crate::steps::{Lane, advance};
use crate::who::Limits;
use crate::{CpuSet, ShareError, processes, sys};

/// Between samples of an application whose need is estimated: shorter and a clock tick of the kernel's statistics shows.
const ESTIMATE_EVERY_NS: u64 = 200_000_000;
/// Of one that says what it needs: for the accounting only.
const SAMPLE_EVERY_NS: u64 = 1_000_000_000;
/// Its threads' waits, which cost a file read per thread.
const WAITS_EVERY_NS: u64 = 10_000_000_000;
/// Weight of an application that has nothing now: enough to answer a signal.
const WAITING_WEIGHT: f64 = 0.002;
/// Used part of its CPUs from which it can be that an application needs more, and its waits are looked at.
const WAITS_FROM: f64 = 0.7;
/// A change of weight that is worth a write.
const WEIGHT_STEP: f64 = 0.01;

/// A process that is to be managed.
pub(crate) struct Newcomer {
    pub name: String,
    pub pid: i32,
    pub uid: u32,
    pub gid: u32,
    pub origin: Origin,
    pub priority: f64,
    pub asked: Option<Cpus>,
    pub limits: Limits,
    pub force: bool,
}

/// A process that an earlier daemon managed, and left.
pub(crate) struct Orphan {
    pub newcomer: Newcomer,
    pub key: String,
    pub former: Former,
}

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
    /// Longest time from a decision to the kernel's having it all, in ns; grace not counted.
    pub slowest_apply_ns: u64,
    pub mechanism_errors: u64,
    pub last_error: Option<String>,
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

    /// Takes a process under management; its id.
    pub(crate) fn add(&mut self, newcomer: Newcomer) -> Result<u32, ShareError> {
        if self.apps.len() >= self.config.applications {
            return Err(ShareError::failed(format!(
                "{} applications are managed, and no more may be: applications = … in the daemon's configuration",
                self.apps.len()
            )));
        }
        if self.apps.iter().any(|a| a.name == newcomer.name) {
            return Err(ShareError::failed(format!(
                "an application {} is managed already",
                newcomer.name
            )));
        }
        let former = self
            .mechanism
            .former(newcomer.pid, &self.managed, newcomer.force)?;
        let key = format!("{}-{}", newcomer.name, newcomer.pid);
        let wide = Setting {
            cpus: self.managed.clone(),
            weight: 1.0,
            limit: None,
        };
        if let Err(e) = self.mechanism.take(&key, newcomer.pid, &wide) {
            // Half taken is not taken.
            if let Err(undo) = self.mechanism.release(&key, &former) {
                return Err(ShareError::failed(format!(
                    "{e}; and it could not be undone: {undo}"
                )));
            }
            return Err(e);
        }
        let undo = (key.clone(), former.clone());
        let entered = self.enter(newcomer, key, former, wide.cpus);
        if entered.is_err() {
            self.mechanism.release(&undo.0, &undo.1)?;
        }
        entered
    }

    /// Takes up what another daemon left.
    pub(crate) fn adopt_orphan(&mut self, orphan: Orphan) -> Result<u32, ShareError> {
        let wide = Setting {
            cpus: self.managed.clone(),
            weight: 1.0,
            limit: None,
        };
        self.mechanism
            .take(&orphan.key, orphan.newcomer.pid, &wide)?;
        self.enter(orphan.newcomer, orphan.key, orphan.former, wide.cpus)
    }

    fn enter(
        &mut self,
        new: Newcomer,
        key: String,
        former: Former,
        applied: CpuSet,
    ) -> Result<u32, ShareError> {
        let id = self.next_id;
        self.next_id += 1;
        let gone = || ShareError::failed(format!("process {} has gone", new.pid));
        let pidfd =
            sys::pidfd(new.pid).map_err(ShareError::while_(format!("process {}", new.pid)))?;
        let start_ticks = processes::start_ticks(new.pid).ok_or_else(gone)?;
        let page = Page::create(
            &self.pages.join(format!("{}-{id}", new.name)),
            new.uid,
            new.gid,
        )?;
        let now_ns = sys::now_ns();
        let wide = if new.origin == Origin::Run {
            self.config.wide_start
        } else {
            Duration::ZERO
        };
        let known = self.config.known(&new.name);
        let lane = Lane {
            told_set: applied.clone(),
            applied,
            // Until then it has what it had; then it has its share.
            narrow_at: (!wide.is_zero()).then(|| now_ns + wide.as_nanos() as u64),
            ..Lane::default()
        };
        let used_ns = self.mechanism.used_ns(&key).unwrap_or(0);
        self.apps.push(App {
            id,
            key,
            pid: new.pid,
            start_ticks,
            uid: new.uid,
            gid: new.gid,
            origin: new.origin,
            pidfd,
            former,
            page,
            demand: Demand {
                asked: new.asked,
                need: Default::default(),
                priority: known.and_then(|k| k.priority).unwrap_or(new.priority),
                limits: new.limits,
                revenue: known.map_or(1.0, |k| k.revenue),
                curve: known.and_then(|k| k.curve.clone()),
                learner: Default::default(),
            },
            has: Has {
                lane,
                ..Has::default()
            },
            account: Default::default(),
            told_history: Default::default(),
            sampled: Sampled {
                at_ns: now_ns,
                used_ns,
                waits_at_ns: now_ns,
                ..Sampled::default()
            },
            reported: Reported::default(),
            name: new.name,
        });
        Ok(id)
    }

    /// Lets an application go, as it was before; its CPUs are free from now on.
    pub(crate) fn remove(&mut self, id: u32) -> Result<App, ShareError> {
        let at = self.apps.iter().position(|a| a.id == id);
        let at = at.ok_or_else(|| ShareError::failed(format!("no application {id}")))?;
        let app = self.apps.remove(at);
        self.mechanism.release(&app.key, &app.former)?;
        Ok(app)
    }

    /// The leading process of an application has ended: another of its processes leads, or the application has ended too.
    /// True if it has.
    pub(crate) fn process_ended(&mut self, id: u32) -> bool {
        let Some(at) = self.apps.iter().position(|a| a.id == id) else {
            return true;
        };
        let others = self.mechanism.pids(&self.apps[at].key);
        let heir = others
            .into_iter()
            .find(|&pid| pid != self.apps[at].pid && processes::lives(pid));
        let heir =
            heir.and_then(|pid| Some((pid, sys::pidfd(pid).ok()?, processes::start_ticks(pid)?)));
        if let Some((pid, pidfd, start_ticks)) = heir {
            let app = &mut self.apps[at];
            (app.pid, app.pidfd, app.start_ticks) = (pid, pidfd, start_ticks);
            return false;
        }
        if let Err(e) = self.remove(id) {
            self.failed(e);
        }
        true
    }

    fn failed(&mut self, e: ShareError) {
        self.figures.mechanism_errors += 1;
        self.figures.last_error = Some(e.to_string());
    }

    /// Samples, decides and steps. The ids of those who have something else now.
    pub(crate) fn quantum(&mut self, now_ns: u64) -> Vec<u32> {
        self.figures.quanta += 1;
        self.account(now_ns);
        for at in 0..self.apps.len() {
            self.sample(at, now_ns, false);
            self.apps[at].page.beat(now_ns);
        }
        self.decide(now_ns);
        self.step(now_ns)
    }

    /// When the next step of a change under way is due.
    pub(crate) fn next_step_ns(&self) -> Option<u64> {
        self.apps.iter().filter_map(|a| a.has.lane.narrow_at).min()
    }

    fn account(&mut self, now_ns: u64) {
        let seconds = now_ns.saturating_sub(self.accounted_ns) as f64 / 1e9;
        self.accounted_ns = now_ns;
        let (floor, all) = (self.config.floor, self.all());
        for app in &mut self.apps {
            let request = app.demand.request(floor, all);
            app.account.had(seconds, app.has.lane.told, request);
        }
    }

    /// Brings an application's account up to now, for its last bill.
    pub(crate) fn settle(&mut self, id: u32) {
        let now_ns = sys::now_ns();
        self.account(now_ns);
        if let Some(at) = self.apps.iter().position(|a| a.id == id) {
            self.sample(at, now_ns, true);
        }
    }

    fn sample(&mut self, at: usize, now_ns: u64, in_any_case: bool) {
        let app = &mut self.apps[at];
        let estimated = app.demand.asked.is_none();
        let every = if estimated {
            ESTIMATE_EVERY_NS
        } else {
            SAMPLE_EVERY_NS
        };
        let due = app.sampled.at_ns + if in_any_case { 1 } else { every };
        if now_ns < due {
            return;
        }
        let Ok(used_ns) = self.mechanism.used_ns(&app.key) else {
            return; // it is just ending
        };
        let seconds = (now_ns - app.sampled.at_ns) as f64 / 1e9;
        let used = used_ns.saturating_sub(app.sampled.used_ns) as f64 / 1e9;
        app.account.used += used;
        app.sampled.using = used / seconds;
        let had = (app.account.assigned - app.sampled.assigned) / seconds;
        let short = estimated && app.sampled.using >= WAITS_FROM * had;
        if short || in_any_case || now_ns >= app.sampled.waits_at_ns + WAITS_EVERY_NS {
            let pids = self.mechanism.pids(&app.key);
            let waited = app.sampled.waits.sample(&pids).map(|ns| ns as f64 / 1e9);
            let over_ns = now_ns - app.sampled.waits_at_ns;
            app.account.waited += waited.unwrap_or(0.0);
            // Over a long time it says little about now.
            let recent = over_ns <= 2 * every;
            app.sampled.waiting = waited
                .filter(|_| recent)
                .map(|w| w / (over_ns.max(1) as f64 / 1e9));
            app.sampled.waits_at_ns = now_ns;
        } else if estimated {
            app.sampled.waiting = Some(0.0);
        }
        if estimated {
            let waiting = app.sampled.waiting;
            app.demand
                .need
                .saw(seconds, app.sampled.using, waiting, Cpus::from_f64(had));
        }
        if let Some(goodput) = app.reported.goodput {
            // Only where CPUs were the limit does goodput say what they carry.
            let lacked = app.account.lacked > app.sampled.lacked;
            if lacked || app.sampled.using >= 0.9 * had {
                app.demand.learner.saw(seconds, had, goodput);
            }
        }
        app.sampled.at_ns = now_ns;
        app.sampled.used_ns = used_ns;
        app.sampled.assigned = app.account.assigned;
        app.sampled.lacked = app.account.lacked;
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
        let weights = self.weights();
        for i in order {
            self.apply(i, weights[i]);
        }
        self.figures.slowest_apply_ns = self
            .figures
            .slowest_apply_ns
            .max(sys::now_ns().saturating_sub(now_ns));
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

    fn weights(&self) -> Vec<f64> {
        let slots: Vec<Vec<Slot>> = self.apps.iter().map(|a| a.has.slots.clone()).collect();
        let mut weights = weights(&slots);
        for (weight, slots) in weights.iter_mut().zip(&slots) {
            if slots.is_empty() {
                *weight = WAITING_WEIGHT;
            }
        }
        weights
    }

    fn apply(&mut self, at: usize, weight: f64) {
        let app = &mut self.apps[at];
        let told = app.has.lane.told;
        let limit = (self.config.cap && told > Cpus::ZERO && app.has.lane.narrow_at.is_none())
            .then_some(told);
        let setting = Setting {
            cpus: app.has.lane.applied.clone(),
            weight,
            limit,
        };
        let same = app.has.setting.as_ref().is_some_and(|s| {
            s.cpus == setting.cpus
                && s.limit == setting.limit
                && (s.weight / weight - 1.0).abs() < WEIGHT_STEP
        });
        if same || setting.cpus.is_empty() {
            return;
        }
        match self.mechanism.set(&app.key, &setting) {
            Ok(()) => app.has.setting = Some(setting),
            // Tried again in the next quantum; a process that has just ended is removed before that.
            Err(e) => self.failed(e),
        }
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
