//! Who is managed: coming, being taken over from a daemon that died, and going.

use std::time::Duration;

use loadline_policy::Cpus;

use super::Manager;
use crate::applications::{App, Demand, Has, Origin, Reported, Sampled};
use crate::mechanism::{Former, Setting};
use crate::page::Page;
use crate::steps::Lane;
use crate::who::Limits;
use crate::{CpuSet, ShareError, processes, sys};

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

impl Manager {
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
            yields: false,
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
            yields: false,
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
                settled: false,
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
                used_at_waits_ns: used_ns,
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
}
