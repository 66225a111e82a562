//! A run: workers started, watched five times a second, joined, summed up.

use crate::clock::now_ns;
use crate::handshakes::HandshakeFile;
use crate::scenario::{Arrivals, Scenario};
use crate::session::Context;
use crate::stats::{Stats, Times, lock};
use crate::summary::{Circumstances, Summary};
use crate::target::Target;
use crate::tickets::Pool;
use crate::worker::{self, Share};
use crate::{Error, tls};
use rustls::pki_types::ServerName;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(200);
/// Ticks that the rates of [`Progress`] look back: a second.
const WINDOW: usize = 5;
const PROBE: Duration = Duration::from_secs(3);
/// Descriptors for everything but connections.
const OTHER_DESCRIPTORS: u64 = 64;
const MAX_THREADS: usize = 1024;

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the load goes.
    pub target: Target,
    /// What visitors do.
    pub scenario: Scenario,
    /// For how long.
    pub duration: Duration,
    /// Same seed, same walks, session by session.
    pub seed: u64,
    /// Worker threads.
    pub threads: usize,
    /// CSV of every handshake.
    pub handshakes: Option<PathBuf>,
    /// The host, if it is not this machine and the user says that it may be loaded.
    pub owned_target: Option<String>,
}

impl Options {
    /// Ten seconds on one thread with seed 1.
    pub fn new(target: Target, scenario: Scenario) -> Options {
        let duration = Duration::from_secs(10);
        Options {
            target,
            scenario,
            duration,
            seed: 1,
            threads: 1,
            handshakes: None,
            owned_target: None,
        }
    }
}

/// How a run stands, five times a second.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Since its start.
    pub elapsed: Duration,
    /// What was asked for.
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
    check(options)?;
    let address = options.target.resolve(options.owned_target.as_deref())?;
    let capacity = capacity(options)?;
    probe(address)?;
    let mut file = options
        .handshakes
        .as_deref()
        .map(HandshakeFile::create)
        .transpose()?;

    let ended = Arc::new(AtomicBool::new(false));
    let begin_ns = now_ns();
    let until_ns = begin_ns + options.duration.as_nanos() as u64;
    let mut workers = Workers {
        running: Vec::new(),
        ended: ended.clone(),
    };
    for n in 0..options.threads {
        workers.start(options, address, n, capacity, until_ns)?;
    }

    let mut window = VecDeque::from([(Instant::now(), Times::default())]);
    while now_ns() < until_ns && !stop.load(Ordering::Relaxed) && !workers.one_ended() {
        std::thread::sleep(TICK.min(Duration::from_nanos(until_ns.saturating_sub(now_ns()))));
        let seen = workers.look(&mut window, file.as_mut())?;
        let elapsed = Duration::from_nanos(now_ns() - begin_ns);
        progress(&Progress {
            elapsed,
            duration: options.duration,
            ..seen
        });
    }
    let end_ns = now_ns().min(until_ns);
    let stats = workers.join(options)?;
    if let Some(mut file) = file {
        file.write(&stats.handshakes)?;
        file.finish()?;
    }
    let partial = end_ns < until_ns;
    Ok(Summary::new(
        options,
        &stats,
        &Circumstances {
            begin_ns,
            end_ns,
            partial,
        },
    ))
}

/// What a caller may have set to anything: a scenario's file was checked when it was read.
fn check(options: &Options) -> Result<(), Error> {
    let scenario = &options.scenario;
    scenario.arrivals.check().map_err(Error::Option)?;
    if scenario.timeout.is_zero() {
        return Err(Error::Option(
            "the client's timeout is 0s; it must be more than 0s".into(),
        ));
    }
    for (key, p) in [
        ("resume_within", scenario.resume_within),
        ("resume_across", scenario.resume_across),
    ] {
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::Option(format!(
                "tls.{key} is {p}; it must be from 0 to 1"
            )));
        }
    }
    if options.duration.is_zero() {
        return Err(Error::Option(
            "the duration is 0s; it must be more than 0s".into(),
        ));
    }
    if options.threads == 0 || options.threads > MAX_THREADS {
        return Err(Error::Option(format!(
            "threads is {}; it must be from 1 to {MAX_THREADS}",
            options.threads
        )));
    }
    Ok(())
}

/// How many connections the limit on descriptors allows, after raising it as far as may be.
fn capacity(options: &Options) -> Result<u64, Error> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit for both calls; failure of the second leaves the old limit.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let raised = libc::rlimit {
            rlim_cur: limit.rlim_max,
            ..limit
        };
        if limit.rlim_cur < limit.rlim_max && libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 {
            limit = raised;
        }
    }
    enough(limit.rlim_cur, options.scenario.arrivals)
}

/// How many connections fit below `descriptors`, if all users of a closed system do.
fn enough(descriptors: u64, arrivals: Arrivals) -> Result<u64, Error> {
    let capacity = descriptors.saturating_sub(OTHER_DESCRIPTORS);
    match arrivals {
        Arrivals::Closed { users } if u64::from(users) > capacity => Err(Error::Option(format!(
            "{users} users need {} file descriptors; the limit is {descriptors}: raise it with ulimit -n",
            u64::from(users) + OTHER_DESCRIPTORS
        ))),
        _ => Ok(capacity),
    }
}

/// One connection before the load, so that a wrong port is an error and not a million failures.
fn probe(address: SocketAddr) -> Result<(), Error> {
    TcpStream::connect_timeout(&address, PROBE)
        .map(drop)
        .map_err(|source| Error::Unreachable {
            address: address.to_string(),
            source,
        })
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
        n: usize,
        capacity: u64,
        until_ns: u64,
    ) -> Result<(), Error> {
        let stats = Arc::new(Mutex::new(Stats::new(
            options.scenario.interactions.len(),
            options.handshakes.is_some(),
        )));
        let tls = if options.target.tls {
            let name =
                ServerName::try_from(options.target.host.clone()).map_err(|_| Error::Target {
                    target: options.target.to_string(),
                    what: "its host is not a name or address".into(),
                })?;
            Some((tls::config(options.scenario.versions)?, name))
        } else {
            None
        };
        let (authority, scenario) = (
            options.target.authority(),
            Arc::new(options.scenario.clone()),
        );
        let (seed, workers, shared, ended) = (
            options.seed,
            options.threads as u64,
            stats.clone(),
            self.ended.clone(),
        );
        let thread = std::thread::Builder::new()
            .name(format!("load-{n}"))
            .spawn(move || {
                let context = Context {
                    address,
                    tls,
                    authority,
                    scenario,
                    seed,
                    stats: shared,
                    pool: RefCell::new(Pool::default()),
                };
                let share = Share {
                    worker: n as u64,
                    workers,
                    capacity: capacity / workers,
                };
                worker::work(context, &share, until_ns, &ended)
            })
            .map_err(|e| Error::Setup(format!("no thread: {e}")))?;
        self.running.push(Running { thread, stats });
        Ok(())
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
        let mut seen = Progress {
            elapsed: Duration::ZERO,
            duration: Duration::ZERO,
            requests_per_s: 0.0,
            p95_ms: 0.0,
            failures: 0,
            full: 0,
            resumed: 0,
            active: 0,
        };
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
            seen.active +=
                stats.sessions.started - stats.sessions.completed - stats.sessions.broken;
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
        let mut all = Stats::new(options.scenario.interactions.len(), false);
        for worker in std::mem::take(&mut self.running) {
            match worker.thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(e)) => return Err(Error::Setup(format!("no event loop: {e}"))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_users_must_fit_below_the_limit_on_descriptors() {
        let users = |users| Arrivals::Closed { users };
        assert_eq!(enough(1024, users(960)).expect("they fit"), 960);
        let error = enough(1024, users(961)).expect_err("one too many");
        assert_eq!(
            error.to_string(),
            "961 users need 1025 file descriptors; the limit is 1024: raise it with ulimit -n"
        );
        let open = Arrivals::PartlyOpen { rate: 1e6 };
        assert_eq!(enough(10, open).expect("they are refused one by one"), 0);
    }
}
