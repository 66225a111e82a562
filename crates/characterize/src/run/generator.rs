//! The adapter to `loadline load`: its arguments and its JSON, and nothing else here knows them.
//!
//! The generator is a child process of this same binary, so that it has CPUs of its own.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::child::{Child, Wait, how};
use crate::measured::Load;

/// Beyond its time, a generator that has not ended is taken for stuck.
const LATE: Duration = Duration::from_secs(30);

/// Worker threads beyond which a generator of one server has nothing to gain.
const MOST_THREADS: usize = 8;

/// What kind of load.
#[derive(Debug, Clone, Copy)]
pub enum Offered {
    /// Closed: so many users, without think time.
    Users(u32),
    /// Partly open: new sessions per second.
    Rate(f64),
}

/// How to call it.
#[derive(Debug, Clone)]
pub struct Generator {
    /// This program.
    pub exe: PathBuf,
    /// Name or file.
    pub scenario: String,
    /// Mean think time, if not the scenario's.
    pub think_s: Option<f64>,
    /// Client timeout, if not the scenario's.
    pub timeout_s: Option<f64>,
    /// Seed of the visitors.
    pub seed: u64,
    /// A target that is not this machine, which the user owns.
    pub owned: Option<String>,
}

impl Generator {
    /// Starts it on `cpus`, one worker thread each.
    pub fn start(
        &self,
        url: &str,
        offered: Offered,
        warmup_s: f64,
        duration_s: f64,
        cpus: &[usize],
    ) -> Result<Running> {
        let mut command = Command::new(&self.exe);
        command.args(["load", url, "--json", "--scenario", &self.scenario]);
        command.args([
            "--duration",
            &time(duration_s),
            "--seed",
            &self.seed.to_string(),
        ]);
        command.args(["--threads", &cpus.len().clamp(1, MOST_THREADS).to_string()]);
        match offered {
            Offered::Users(n) => command.args(["--users", &n.to_string(), "--think", "0ms"]),
            Offered::Rate(r) => command.args(["--rate", &r.to_string()]),
        };
        if let (Some(think), Offered::Rate(_)) = (self.think_s, offered) {
            command.args(["--think", &time(think)]);
        }
        if let Some(timeout) = self.timeout_s {
            command.args(["--timeout", &time(timeout)]);
        }
        command.args(["--warmup", &time(warmup_s)]);
        // The server under test is the user's own, and its certificate often made by itself.
        command.arg("--insecure");
        if let Some(host) = &self.owned {
            command.args(["--i-own-this-target", host]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Child::start(command, cpus).context("cannot start the load generator")?;
        let (out, err) = child.take_output();
        let until = Instant::now() + Duration::from_secs_f64(warmup_s + duration_s) + LATE;
        Ok(Running {
            child,
            out: out.map(drain),
            err: err.map(drain),
            until,
        })
    }
}

fn time(seconds: f64) -> String {
    format!("{}ms", (1e3 * seconds).round())
}

/// Reads a pipe to its end, so that the process never waits for us.
pub fn drain(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks has said what it had to say.
        let _read = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// A generator at work.
pub struct Running {
    child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
    until: Instant,
}

impl Running {
    /// Waits for its end; none if the user wants to stop.
    pub fn finish(mut self, stop: &AtomicBool) -> Result<Option<Load>> {
        match self.child.wait(self.until, stop)? {
            Wait::Stopped => Ok(None),
            Wait::TimedOut => bail!("the load generator did not end in its time and was stopped"),
            Wait::Ended(_) => self.figures().map(Some),
        }
    }

    /// Ends it now and takes what it has.
    pub fn cut_short(mut self) -> Result<Load> {
        self.child.end();
        self.figures()
    }

    fn figures(mut self) -> Result<Load> {
        let status = self.child.end();
        let text = |handle: Option<JoinHandle<String>>| {
            handle.and_then(|h| h.join().ok()).unwrap_or_default()
        };
        let (out, err) = (text(self.out.take()), text(self.err.take()));
        if !status.success() {
            let why = err.trim().strip_prefix("error: ").unwrap_or(err.trim());
            bail!("the load generator ended with {}: {why}", how(status));
        }
        serde_json::from_str(&out).context("the load generator's JSON cannot be read")
    }
}
