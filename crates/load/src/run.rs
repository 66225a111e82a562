//! A run: workers started, watched five times a second, joined, summed up.

use crate::clock::now_ns;
use crate::forge::Forger;
use crate::handshakes::HandshakeFile;
use crate::limits;
use crate::probe::probe;
use crate::scenario::Scenario;
use crate::session::Context;
use crate::stats::{Stats, Times, lock};
use crate::summary::{Circumstances, Summary};
use crate::target::Target;
use crate::tickets::Pool;
use crate::trust::Trust;
use crate::worker::{self, Share};
use crate::{Error, tls};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(200);
/// Ticks that the rates of [`Progress`] look back: a second.
const WINDOW: usize = 5;
/// A server that has refused every connection for so long, and at least so often, is not there.
const GONE_NS: u64 = 3_000_000_000;
const GONE_REFUSALS: u64 = 5;

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the load goes.
    pub target: Target,
    /// What visitors do.
    pub scenario: Scenario,
    /// For how long, after the warm-up.
    pub duration: Duration,
    /// How long the same load goes on before anything counts.
    pub warmup: Duration,
    /// Same seed, same walks, session by session.
    pub seed: u64,
    /// Worker threads.
    pub threads: usize,
    /// CSV of every handshake.
    pub handshakes: Option<PathBuf>,
    /// The host, if it is not this machine and the user says that it may be loaded.
    pub owned_target: Option<String>,
    /// Which certificates of the server are accepted.
    pub trust: Trust,
    /// CPUs for the workers, one each, in turn; none leaves them to the kernel.
    pub cpus: Vec<usize>,
    /// Which part of a load that several processes make together.
    pub part: Part,
}

/// A process's part of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub index: usize,
    /// How many there are.
    pub of: usize,
    /// When all begin, by CLOCK_MONOTONIC; 0 for at once.
    pub begin_ns: u64,
}

impl Part {
    /// The whole load.
    pub const WHOLE: Part = Part {
        index: 0,
        of: 1,
        begin_ns: 0,
    };
}

impl Options {
    /// Ten seconds on one thread with seed 1.
    pub fn new(target: Target, scenario: Scenario) -> Options {
        let duration = Duration::from_secs(10);
        Options {
            target,
            scenario,
            duration,
            warmup: Duration::ZERO,
            seed: 1,
            threads: 1,
            handshakes: None,
            owned_target: None,
            trust: Trust::System,
            cpus: Vec::new(),
            part: Part::WHOLE,
        }
    }
}

/// How a run stands, five times a second.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Since its start.
    pub elapsed: Duration,
    /// What was asked for, warm-up included.
    pub duration: Duration,
    /// Successful replies per second, over the last second.
    pub requests_per_s: f64,
    /// 95th percentile of response times over the last second; 0 without a reply.
    pub p95_ms: f64,
    /// Interactions that failed so far.
    pub failures: u64,
    /// Full handshakes so far.
    pub full: u64,
    /// Resumed handshakes so far.
    pub resumed: u64,
    /// Sessions under way.
    pub active: u64,
}

/// Runs it until its duration is over or `stop` is set; then the summary says that it is partial.
pub fn run(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Summary, Error> {
    let (stats, run) = measure(options, stop, progress)?;
    Ok(Summary::new(options, &stats, &run))
}

/// The run itself: what was counted, and under which circumstances.
pub(crate) fn measure(
    options: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Stats, Circumstances), Error> {
    limits::check(options)?;
    let address = options.target.resolve(options.owned_target.as_deref())?;
    let capacity = limits::capacity(options)?;
    let tls = client(options)?;
    probe(options, address, tls.as_ref())?;
    let mut file = options
        .handshakes
        .as_deref()
        .map(HandshakeFile::create)
        .transpose()?;

    let begin_ns = now_ns().max(options.part.begin_ns);
    let count_ns = begin_ns + options.warmup.as_nanos() as u64;
    let until_ns = count_ns + options.duration.as_nanos() as u64;
    let mut workers = Workers {
        running: Vec::new(),
        ended: Arc::default(),
    };
    for n in 0..options.threads {
        let cpu = options.part.index * options.threads + n;
        let share = Share {
            worker: cpu as u64,
            workers: (options.threads * options.part.of) as u64,
            capacity: capacity / options.threads as u64,
            begin_ns,
            count_ns,
            until_ns,
            cpu: options.cpus.get(cpu % options.cpus.len().max(1)).copied(),
        };
        workers.start(options, address, tls.clone(), share)?;
    }

    let mut window = VecDeque::from([(Instant::now(), Times::default())]);
    let mut error = None;
    while now_ns() < until_ns
        && error.is_none()
        && !stop.load(Ordering::Relaxed)
        && !workers.one_ended()
    {
        std::thread::sleep(TICK.min(Duration::from_nanos(until_ns.saturating_sub(now_ns()))));
        let seen = workers.look(&mut window, file.as_mut())?;
        let elapsed = Duration::from_nanos(now_ns().saturating_sub(begin_ns));
        progress(&Progress {
            elapsed,
            duration: options.warmup + options.duration,
            ..seen
        });
        error = workers.trouble(address);
    }
    let end_ns = now_ns().min(until_ns);
    // Stopped in the warm-up: what there was of it is all that there is.
    let begin_ns = if end_ns > count_ns {
        count_ns
    } else {
        begin_ns
    };
    let end_ns = end_ns.max(begin_ns + 1);
    let stats = workers.join(options)?;
    if let Some(mut file) = file {
        file.write(&stats.handshakes)?;
        file.finish()?;
    }
    let partial = end_ns < until_ns;
    let run = Circumstances {
        begin_ns,
        end_ns,
        partial,
        error,
        processes: 1,
    };
    Ok((stats, run))
}

type Client = Option<(ClientConfig, ServerName<'static>)>;

/// What all connections' TLS is copied from; none for http.
fn client(options: &Options) -> Result<Client, Error> {
    if !options.target.tls {
        return Ok(None);
    }
    let name = ServerName::try_from(options.target.host.clone()).map_err(|_| Error::Target {
        target: options.target.to_string(),
        what: "its host is not a name or address".into(),
    })?;
    Ok(Some((
        tls::config(&options.scenario, &options.trust)?,
        name,
    )))
}

struct Running {
    thread: JoinHandle<std::io::Result<()>>,
    stats: Arc<Mutex<Stats>>,
}

/// Threads that end with this, whatever path leads out of the run.
struct Workers {
    running: Vec<Running>,
    ended: Arc<AtomicBool>,
}

impl Workers {
    fn start(
        &mut self,
        options: &Options,
        address: SocketAddr,
        tls: Client,
        share: Share,
    ) -> Result<(), Error> {
        let scenario = Arc::new(options.scenario.clone());
        let stats = Arc::new(Mutex::new(Stats::new(
            scenario.interactions.len(),
            options.handshakes.is_some(),
            share.begin_ns,
        )));
        let forger = match &tls {
            Some((config, name)) if scenario.tickets.forged > 0.0 => {
                Some(Forger::new(config, name)?)
            }
            _ => None,
        };
        let authority = options.target.authority();
        let (seed, shared, ended) = (options.seed, stats.clone(), self.ended.clone());
        let thread = std::thread::Builder::new()
            .name(format!("load-{}", share.worker))
            .spawn(move || {
                let context = Context {
                    address,
                    tls,
                    authority,
                    scenario,
                    seed,
                    stats: shared,
                    pool: RefCell::new(Pool::default()),
                    forger: RefCell::new(forger),
                    idle: RefCell::default(),
                };
                worker::work(context, share, &ended)
            })
            .map_err(|e| Error::Setup(format!("no thread: {e}")))?;
        self.running.push(Running { thread, stats });
        Ok(())
    }

    /// What makes going on senseless.
    fn trouble(&self, address: SocketAddr) -> Option<String> {
        let (mut refusals, mut since_ns, mut success_ns) = (0, u64::MAX, 0);
        for worker in &self.running {
            let stats = lock(&worker.stats);
            if stats.out_of_descriptors {
                return Some(
                    "no file descriptor was left for another connection: raise ulimit -n, or offer less".into(),
                );
            }
            if stats.sessions.not_started > 0 {
                return Some(format!(
                    "the limit on file descriptors holds {} sessions at once in this process, and another was due: raise ulimit -n, offer less, or give it more --processes",
                    stats.sessions.active()
                ));
            }
            if stats.refusals > 0 {
                refusals += stats.refusals;
                since_ns = since_ns.min(stats.refused_since_ns);
            }
            success_ns = success_ns.max(stats.last_success_ns);
        }
        let then = now_ns().saturating_sub(GONE_NS);
        (refusals >= GONE_REFUSALS && since_ns < then && success_ns < then).then(|| {
            format!(
                "the server at {address} has gone: it has refused every connection for {} s ({refusals} of them)",
                GONE_NS / 1_000_000_000
            )
        })
    }

    fn one_ended(&self) -> bool {
        self.running.iter().any(|r| r.thread.is_finished())
    }

    /// Writes the new handshakes and takes the figures of the display.
    fn look(
        &self,
        window: &mut VecDeque<(Instant, Times)>,
        mut file: Option<&mut HandshakeFile>,
    ) -> Result<Progress, Error> {
        let mut seen = Progress::default();
        let now = Instant::now();
        let mut tick = Times::default();
        for worker in &self.running {
            let mut stats = lock(&worker.stats);
            let handshakes = std::mem::take(&mut stats.handshakes);
            tick.merge(&stats.recent);
            stats.recent.0.reset();
            seen.failures += stats.failures.iter().sum::<u64>();
            seen.full += stats.tls_full.0.len();
            seen.resumed += stats.tls_resumed.0.len();
            seen.active += stats.sessions.active();
            drop(stats);
            if let Some(file) = file.as_deref_mut() {
                file.write(&handshakes)?;
            }
        }
        window.push_back((now, tick));
        if window.len() > WINDOW + 1 {
            window.pop_front();
        }
        // The first entry is where the window begins: its own replies came before.
        let mut second = Times::default();
        window.iter().skip(1).for_each(|(_, t)| second.merge(t));
        let seconds = (now - window[0].0).as_secs_f64();
        seen.requests_per_s = if seconds > 0.0 {
            second.0.len() as f64 / seconds
        } else {
            0.0
        };
        seen.p95_ms = second.quantile_ms(0.95);
        Ok(seen)
    }

    fn join(mut self, options: &Options) -> Result<Stats, Error> {
        self.ended.store(true, Ordering::Relaxed);
        let mut all = Stats::new(options.scenario.interactions.len(), false, 0);
        for worker in std::mem::take(&mut self.running) {
            match worker.thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(e)) => return Err(Error::Setup(format!("a worker stopped: {e}"))),
                Err(_) => {
                    return Err(Error::Setup(
                        "a worker thread panicked (its message is above)".into(),
                    ));
                }
            }
            let mut stats = lock(&worker.stats);
            all.merge(&stats);
            all.handshakes.append(&mut stats.handshakes);
        }
        Ok(all)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for worker in self.running.drain(..) {
            // Reached only when the run failed: that error is the one to tell.
            let _ended = worker.thread.join();
        }
    }
}
