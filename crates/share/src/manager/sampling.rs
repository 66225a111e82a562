//! What the applications had, used and waited for: for their bills, and for the need of those who do not say it.

use loadline_policy::Cpus;

use super::Manager;
use crate::sys;

/// Between samples of an application whose need is estimated: shorter and a clock tick of the kernel's statistics shows.
const ESTIMATE_EVERY_NS: u64 = 200_000_000;
/// Of one that shares a CPU: who gets more or less of it than it has is found out within as much.
const WATCH_EVERY_NS: u64 = 100_000_000;
/// Of another one that says what it needs: for the accounting only.
const SAMPLE_EVERY_NS: u64 = 1_000_000_000;
/// What counts as lately, in seconds.
const LATELY_S: f64 = 1.0;
/// Its threads' waits, which cost a file read per thread: so often, where only the accounting wants to know,
const WAITS_EVERY_NS: u64 = 10_000_000_000;
/// and the less often the longer the reading takes, all applications together: a thousandth of a CPU at most.
const WAITS_COST: u64 = 1000;
/// Used part of its CPUs from which it can be that an application needs more, and its waits are looked at.
const WAITS_FROM: f64 = 0.7;

impl Manager {
    pub(super) fn account(&mut self, now_ns: u64) {
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

    pub(super) fn sample(&mut self, at: usize, now_ns: u64, in_any_case: bool) {
        let waits_take_ns: u64 = self.apps.iter().map(|a| a.sampled.waits_take_ns).sum();
        // Not all of them in one quantum, which would come late.
        let turn = in_any_case || self.figures.quanta as usize % self.apps.len() == at;
        let app = &mut self.apps[at];
        let estimated = app.demand.asked.is_none();
        let every = match (app.has.watched, estimated) {
            (_, true) => ESTIMATE_EVERY_NS,
            (true, false) => WATCH_EVERY_NS,
            (false, false) => SAMPLE_EVERY_NS,
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
        let fresh = 1.0 - (-seconds / LATELY_S).exp();
        app.sampled.lately += fresh * (app.sampled.using - app.sampled.lately);
        let had = (app.account.assigned - app.sampled.assigned) / seconds;
        let short = estimated && app.sampled.using >= WAITS_FROM * had;
        let over_ns = now_ns - app.sampled.waits_at_ns;
        let usual_ns = WAITS_EVERY_NS.max(WAITS_COST * waits_take_ns);
        let due = turn && over_ns >= if in_any_case { usual_ns / 2 } else { usual_ns };
        // A wait is counted when it ends, and then the thread runs: who has not run has waited for nothing that counts.
        let ran = used_ns != app.sampled.used_at_waits_ns;
        if short || (due && ran) {
            let began_ns = sys::now_ns();
            let pids = self.mechanism.pids(&app.key);
            let waited = app.sampled.waits.sample(&pids).map(|ns| ns as f64 / 1e9);
            app.sampled.waits_take_ns = sys::now_ns().saturating_sub(began_ns);
            app.sampled.used_at_waits_ns = used_ns;
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
}
