//! A closed program that the user's own driver loads: the driver is run with each load, and what the program does
//! meanwhile is counted by recording its server and application levels.
//!
//! The program is the server that was started or named, or, without one, the driver itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::bench::{Bench, Traced, Used, remove, settle, sleep};
use super::child::{Child, how};
use super::recorder::{self, Recorded};
use super::server::{Server, tail};
use super::start::Words;
use super::{Refused, proc};
use crate::measured::{Generator, Load, Point, Probe};
use crate::plan::{self, Parameters};
use crate::result::Layout;
use crate::traced;
use crate::warming::Warmth;

/// What tells units of work, and costs least.
const LEVELS: &str = "server,app";
const TRACE: &str = "traces/units.trace";

/// A driver at a program.
pub struct Units<'a> {
    /// The program, unless the driver is it.
    pub server: Option<Server>,
    /// The `loadline` binary.
    pub exe: &'a Path,
    pub spec: &'a plan::Units,
    /// The report's folder.
    pub folder: PathBuf,
    /// The agent, for a driver that is the program.
    pub agent: Option<PathBuf>,
    pub cpus: u32,
    pub layout: &'a Layout,
    /// Whether the user asked for so many CPUs; otherwise nothing is placed.
    pub placed: bool,
    pub parameters: &'a Parameters,
    pub watch: &'a BTreeMap<String, i32>,
    pub stop: &'a AtomicBool,
}

/// A driver at work.
struct Driver {
    child: Child,
    load: f64,
    log: PathBuf,
    began: Instant,
}

impl Driver {
    /// An error with its last words if it has ended: it is to go on until it is ended.
    fn check(&mut self) -> Result<()> {
        let Some(status) = self.child.status()? else {
            return Ok(());
        };
        let (load, seconds) = (self.load, self.began.elapsed().as_secs_f64());
        let said = tail(&self.log);
        if status.success() {
            bail!(
                "the driver was done after {seconds:.1} s at load {load}, before it was measured: give it more to do, or shorten --warmup and --duration{said}"
            );
        }
        bail!(
            "the driver ended with {} after {seconds:.1} s at load {load}{said}",
            how(status)
        );
    }
}

impl Units<'_> {
    fn drive(&self, load: f64) -> Result<Driver> {
        let words: Vec<String> = shlex::split(&self.spec.command)
            .filter(|w| !w.is_empty())
            .ok_or_else(|| {
                let command = &self.spec.command;
                anyhow!(Refused(format!(
                    "--units {command:?}: not a command; is a quote missing?"
                )))
            })?;
        let port = self.server.as_ref().and_then(|s| s.port);
        let words: Vec<String> = words
            .iter()
            .map(|word| {
                let word = word.replace(plan::Units::LOAD, &load.to_string());
                match port {
                    Some(port) => word.replace(plan::Units::PORT, &port.to_string()),
                    None => word,
                }
            })
            .collect();
        let words = Words::of(&words, self.agent.as_deref());
        let log = self.folder.join(format!("driver-{}cpu.log", self.cpus));
        let output =
            File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command: Command = words.command();
        command.stdout(output.try_clone()?).stderr(output);
        let cpus: &[usize] = match (&self.server, self.placed) {
            (None, true) => &self.layout.server,
            (Some(_), true) => &self.layout.generator,
            (_, false) => &[],
        };
        let child = Child::start(command, cpus).map_err(|e| {
            let program = words.program();
            anyhow!(Refused(format!("--units: {program} cannot be run: {e}")))
        })?;
        Ok(Driver {
            child,
            load,
            log,
            began: Instant::now(),
        })
    }

    /// The process that does the units of work.
    fn program(&self, driver: &Driver) -> Option<i32> {
        match &self.server {
            Some(server) => server.pid(),
            // A script may have started the JVM.
            None => proc::family(driver.child.pid())
                .into_iter()
                .find(|pid| proc::name(*pid) == "java")
                .or(Some(driver.child.pid())),
        }
    }

    fn check(&mut self, driver: &mut Driver) -> Result<()> {
        if let Some(server) = &mut self.server {
            server.check()?; // why the driver failed, if it did
        }
        driver.check()
    }

    /// Lets the driver run so long; an error if it does not.
    fn run(&mut self, driver: &mut Driver, seconds: f64) -> Result<()> {
        let until = Instant::now() + Duration::from_secs_f64(seconds.max(0.0));
        while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
            self.check(driver)?;
            let left = until.saturating_duration_since(Instant::now());
            sleep(left.as_secs_f64().min(0.2), self.stop);
        }
        self.check(driver)
    }

    fn driver_cpu_seconds(driver: &Driver) -> f64 {
        let family = proc::family(driver.child.pid());
        family.into_iter().map(proc::cpu_seconds).sum()
    }

    fn used(&self, pid: i32) -> Used {
        let others = self.server.as_ref().map(Server::others).unwrap_or_default();
        Used::now(proc::cpu_seconds(pid), others, self.layout, self.watch)
    }

    fn settle(&self) {
        if let Some(server) = &self.server {
            settle(|| server.cpu_seconds(), self.stop);
        }
    }

    fn record(&self, pid: i32, dir: &Path, seconds: f64, levels: Option<&str>) -> Result<Recorded> {
        // A driver that is the program leaves the other CPUs to the recorder.
        let cpus: &[usize] = if self.placed {
            &self.layout.generator
        } else {
            &[]
        };
        recorder::record(self.exe, pid, dir, seconds, levels, cpus, self.stop)
    }
}

impl Bench for Units<'_> {
    /// The agent is there from the start, or comes with the first point.
    fn attach(&mut self, _dir: &Path) -> Result<Recorded> {
        Ok(Recorded::Done)
    }

    /// A server that stays is warmed up at the lightest load; a driver that is the program is another one each time, and
    /// has the warm-up of its point.
    fn warm_up(&mut self) -> Result<Option<Warmth>> {
        let lightest = self.spec.loads.first().copied().unwrap_or(1);
        if self.server.is_some() && self.parameters.first_warmup_s() > 0.0 {
            let mut driver = self.drive(f64::from(lightest))?;
            self.run(&mut driver, self.parameters.first_warmup_s())?;
            driver.child.end();
            self.settle();
        }
        Ok(None)
    }

    fn probe(&mut self, _cpus: u32) -> Result<Option<Probe>> {
        Ok(Some(Probe::closed(&self.spec.loads)))
    }

    fn point(&mut self, cpus: u32, rate: f64, search: bool) -> Result<Option<Point>> {
        let p = self.parameters;
        let dir = self.folder.join(TRACE);
        remove(&dir)?; // of a run that was stopped
        let mut driver = self.drive(rate)?;
        self.run(&mut driver, p.warmup_s)?;
        let pid = self.program(&driver).ok_or_else(|| anyhow!(UNKNOWN))?;
        // Attaching and recording are measured; making tables comes after that.
        let look = || (self.used(pid), Units::driver_cpu_seconds(&driver));
        let before = look();
        let (recorded, after) = std::thread::scope(|scope| {
            let after = scope.spawn(|| {
                sleep(p.duration_s, self.stop);
                look()
            });
            let recorded = self.record(pid, &dir, p.duration_s, Some(LEVELS));
            (
                recorded,
                after.join().expect("reading /proc does not panic"),
            )
        });
        match recorded? {
            Recorded::Stopped => {
                remove(&dir)?;
                return Ok(None);
            }
            Recorded::Refused(why) => {
                self.check(&mut driver)?;
                bail!("units of work could not be counted: {why}");
            }
            Recorded::Done => {}
        }
        self.check(&mut driver)?;
        driver.child.end();
        self.settle();
        let mut load = units(&dir, self.spec, rate)?;
        remove(&dir)?;
        if self.server.is_some() {
            let used = (after.1 - before.1).max(0.0);
            let on = self.layout.generator.len().max(1) as f64;
            load.generator = Generator {
                cpu_seconds: used,
                cpu_share: used / p.duration_s / on,
                lag_p99_ms: 0.0,
            };
        }
        Ok(Some(Point {
            guard: None,
            cpus,
            rate,
            search,
            load,
            cpu: Some(after.0.since(&before.0)),
        }))
    }

    fn trace(&mut self, dir: &Path, rate: f64) -> Result<Traced> {
        let p = self.parameters;
        remove(dir)?;
        let mut driver = self.drive(rate)?;
        self.run(&mut driver, p.warmup_s)?;
        let pid = self.program(&driver).ok_or_else(|| anyhow!(UNKNOWN))?;
        let recorded = self.record(pid, dir, p.skipped_s() + p.trace_s, None)?;
        self.check(&mut driver)?;
        driver.child.end();
        self.settle();
        Ok(match recorded {
            Recorded::Stopped => {
                remove(dir)?;
                Traced::Stopped
            }
            Recorded::Refused(why) => Traced::Refused(why),
            Recorded::Done => {
                let load = units(dir, self.spec, rate)?;
                let names = &self.spec.names;
                let side = traced::units::side(dir, names, rate, load, p.skipped_s())?;
                Traced::Side(Box::new(side))
            }
        })
    }

    fn end(self: Box<Self>) {
        if let Some(server) = self.server {
            server.end();
        }
    }
}

const UNKNOWN: &str = "the program's process is not known";

/// What a recording says of the units of work; an error if there were none.
fn units(dir: &Path, spec: &plan::Units, load: f64) -> Result<Load> {
    traced::units::load(dir, &spec.names)?.map_err(|why| {
        anyhow!(
            "at load {load}, {why}: does the program say its units of work through loadline-api, and is the warm-up long enough for it to begin? (--unit names them)"
        )
    })
}
