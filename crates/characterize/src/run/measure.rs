//! One step at a time against a server that answers HTTP: warm-up, probe, point, recording.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};

use super::Refused;
use super::bench::{Bench, Traced, Used, remove, settle, sleep};
use super::generator::{Generator, Offered, Running};
use super::guard::{Found, Guard};
use super::recorder::{self, Recorded};
use super::server::Server;
use crate::guarded::{Figures, Guarded};
use crate::measured::{Load, Point, Probe};
use crate::plan::Parameters;
use crate::result::Layout;
use crate::traced;
use crate::warming::{self, Warmth};

/// Users of the probe per CPU: enough to keep it busy, few enough to keep the queue short.
const USERS_PER_CPU: u32 = 16;
/// A server that completes no session in so long is not worth sweeping.
const LONGEST_PROBE_S: f64 = 30.0;
/// A server whose throughput grows by this factor from look to look is still warming up.
const GROWS: f64 = 1.08;
/// All looks together, while it warms up.
const LONGEST_WARMING_S: f64 = 60.0;
/// The generator goes on so long after a recording should have ended.
const MARGIN_S: f64 = 60.0;
/// A look at a server that is warming up.
const SHORTEST_LOOK_S: f64 = 2.0;
const LONGEST_LOOK_S: f64 = 10.0;
/// A server that takes longer than this is measured as it is, and that is said.
const MOST_WARM_UP_S: f64 = 180.0;
/// Nor is a quick look at a server turned into a long one by its warm-up: at most so many times the least.
const MOST_TIMES: f64 = 10.0;
/// A first, short recording, which is thrown away.
const FIRST_ATTACH_S: f64 = 0.3;
const UNKNOWN: &str = "the server's process is not known: give its --pid";

/// Visitors at an HTTP server.
pub struct Http<'a> {
    pub server: Server,
    /// Its guard, as long as it may have one.
    pub guard: Option<Guard>,
    /// The `loadline` binary.
    pub exe: &'a Path,
    pub generator: &'a Generator,
    pub layout: &'a Layout,
    pub parameters: &'a Parameters,
    pub watch: &'a BTreeMap<String, i32>,
    pub stop: &'a AtomicBool,
}

impl Http<'_> {
    fn start(&self, offered: Offered, warmup_s: f64, duration_s: f64) -> Result<Running> {
        let cpus = &self.layout.generator;
        self.generator
            .start(&self.server.url, offered, warmup_s, duration_s, cpus)
    }

    fn users(&self) -> Offered {
        Offered::Users(USERS_PER_CPU * (self.layout.server.len() as u32).max(1))
    }

    fn record(&self, pid: i32, dir: &Path, seconds: f64) -> Result<Recorded> {
        let cpus = &self.layout.generator;
        recorder::record(self.exe, pid, dir, seconds, None, cpus, self.stop)
    }

    /// The figures of a run; none if the user wants to stop. A server that has died meanwhile is the error.
    fn finish(&mut self, run: Running) -> Result<Option<Load>> {
        let load = run.finish(self.stop);
        if !self.stop.load(Ordering::Relaxed) {
            self.server.check()?;
        }
        load
    }

    /// What its guard says now; none without a guard.
    fn figures(&self) -> Option<Result<Vec<Figures>>> {
        self.guard.as_ref().map(|guard| guard.figures(self.stop))
    }

    /// CPU seconds until now; none if the server's process is not known.
    fn used(&self) -> Option<Used> {
        let server = self.server.cpu_seconds()?;
        Some(Used::now(
            server,
            self.server.others(),
            self.layout,
            self.watch,
        ))
    }
}

/// Between two looks at a guard. One that does not answer under load has not told; that spoils no point.
fn did(before: Result<Vec<Figures>>, after: Result<Vec<Figures>>) -> Option<Guarded> {
    match (before, after) {
        (Ok(before), Ok(after)) => Guarded::between(&before, &after),
        (Err(e), _) | (_, Err(e)) => Some(Guarded {
            not_told: Some(format!("{e:#}")),
            ..Guarded::default()
        }),
    }
}

impl Bench for Http<'_> {
    /// A fresh JVM compiles what the load needs. Nothing of it counts. Goes on until the server's CPU time per reply no
    /// longer falls, and says what became of it; where its process is not known, for a fixed time.
    fn warm_up(&mut self) -> Result<Option<Warmth>> {
        let least_s = self.parameters.first_warmup_s();
        if least_s <= 0.0 {
            return Ok(None);
        }
        let look_s = (0.25 * least_s)
            .clamp(SHORTEST_LOOK_S, LONGEST_LOOK_S)
            .min(least_s);
        let most_s = (MOST_TIMES * least_s).min(MOST_WARM_UP_S).max(least_s);
        let (mut costs, mut spent_s, mut warmth) = (Vec::new(), 0.0, None);
        while spent_s < most_s && !self.stop.load(Ordering::Relaxed) {
            let before = self.server.cpu_seconds();
            let run = self.start(self.users(), 0.0, look_s)?;
            let load = self.finish(run)?;
            spent_s += look_s;
            let used = before.zip(self.server.cpu_seconds()).map(|(a, b)| b - a);
            if let (Some(used), Some(load)) = (used, load)
                && load.throughput() > 0.0
            {
                costs.push(used / (load.throughput() * load.seconds));
            }
            warmth = warming::warmth(&costs, look_s);
            let unknown = self.server.cpu_seconds().is_none();
            if spent_s >= least_s && (unknown || warmth.is_some_and(|w| w.settled)) {
                break;
            }
        }
        settle(|| self.server.cpu_seconds(), self.stop);
        Ok(warmth)
    }

    /// None if the user wants to stop. A server that is too slow at first is given more time.
    fn probe(&mut self, cpus: u32) -> Result<Option<Probe>> {
        let users = USERS_PER_CPU * cpus.max(1);
        let mut seconds = self.parameters.probe_s();
        let (mut before, mut spent) = (0.0, 0.0);
        loop {
            let run = self.start(self.users(), 0.0, seconds)?;
            let Some(load) = self.finish(run)? else {
                return Ok(None);
            };
            settle(|| self.server.cpu_seconds(), self.stop);
            spent += seconds;
            let only_slow = load.failures == 0 || load.replies > 0;
            // Few sessions, and what was cut off at either end weighs too much.
            let enough = load.sessions.completed >= 2 * u64::from(users);
            let time_left = seconds < LONGEST_PROBE_S;
            // On one CPU the JIT is far behind after the warm-up: while each look finds much more than
            // the one before, the server is not what it will be.
            let grows = load.replies_per_s > GROWS * before && spent < LONGEST_WARMING_S;
            before = load.replies_per_s;
            match Probe::of(users, &load) {
                Ok(_) if enough && grows => {}
                Ok(probe) if enough || !time_left => return Ok(Some(probe)),
                Ok(_) => seconds *= 2.0,
                Err(_) if only_slow && time_left => seconds *= 2.0,
                Err(e) => return Err(anyhow!(Refused(format!("{}: {e}", self.server.url)))),
            }
        }
    }

    /// One offered load. None if the user wants to stop.
    fn point(&mut self, cpus: u32, rate: f64, search: bool) -> Result<Option<Point>> {
        let p = self.parameters;
        let offered = Offered::Rate(rate);
        let run = self.start(offered, p.warmup_s, p.duration_s)?;
        sleep(p.warmup_s, self.stop);
        let figures = self.figures();
        let before = self.used();
        let load = self.finish(run);
        let cpu = before.zip(self.used()).map(|(a, b)| b.since(&a));
        let guard = figures.zip(self.figures()).and_then(|(a, b)| did(a, b));
        // What the server said when it died counts for more than what the generator made of it.
        self.server.check()?;
        let Some(load) = load? else {
            return Ok(None);
        };
        settle(|| self.server.cpu_seconds(), self.stop);
        Ok(Some(Point {
            cpus,
            rate,
            search,
            load,
            cpu,
            guard,
        }))
    }

    fn find_guard(&mut self) -> Result<Option<String>> {
        let Some(guard) = &self.guard else {
            return Ok(None);
        };
        let (there, note) = match guard.find(self.stop)? {
            Found::There(said) => (true, Some(format!("guarded by {said}"))),
            Found::None => (false, None),
            Found::Unknown(why) => (
                false,
                Some(format!(
                    "whether the server has a guard is not known: {why}"
                )),
            ),
        };
        if !there {
            self.guard = None;
        }
        Ok(note)
    }

    /// Attaches the recorder once to a server that has nothing to do. HotSpot throws its compiled code
    /// away when the first agent comes; later it has less to throw.
    fn attach(&mut self, dir: &Path) -> Result<Recorded> {
        let Some(pid) = self.server.pid() else {
            return Ok(Recorded::Refused(UNKNOWN.into()));
        };
        remove(dir)?; // of a run that was stopped
        let recorded = self.record(pid, dir, FIRST_ATTACH_S)?;
        remove(dir)?;
        self.server.check()?;
        Ok(recorded)
    }

    /// Records while a load is offered.
    fn trace(&mut self, dir: &Path, rate: f64) -> Result<Traced> {
        let Some(pid) = self.server.pid() else {
            return Ok(Traced::Refused(UNKNOWN.into()));
        };
        let p = self.parameters;
        remove(dir)?;
        let seconds = p.skipped_s() + p.trace_s;
        let run = self.start(Offered::Rate(rate), 0.0, p.warmup_s + seconds + MARGIN_S)?;
        sleep(p.warmup_s, self.stop);
        let recorded = self.record(pid, dir, seconds)?;
        let load = run.cut_short();
        self.server.check()?;
        settle(|| self.server.cpu_seconds(), self.stop);
        match recorded {
            Recorded::Stopped => {
                remove(dir)?;
                Ok(Traced::Stopped)
            }
            Recorded::Refused(why) => Ok(Traced::Refused(why)),
            Recorded::Done => {
                let side = traced::read(dir, rate, load?, p.skipped_s())?;
                Ok(Traced::Side(Box::new(side)))
            }
        }
    }

    fn end(self: Box<Self>) {
        self.server.end();
    }
}
