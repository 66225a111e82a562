//! One recording from its checks to its completed session.
//!
//! The order matters. The agent is started before the programs are attached, for its start takes a
//! second and more; the threads are read after the programs are attached, so that no change of
//! state falls between; the recording begins after that. At the end the CPU times are read, the
//! recording ends, and only then is anything detached.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loadline_trace::meta::{Level, NotRecorded};
use loadline_trace::private;
use loadline_trace::spool::agent::{Header, state};
use loadline_trace::spool::procfs::Line;
use loadline_trace::spool::session::Session;

use crate::agent::AgentSpool;
use crate::attach::{Attach, remove_dead_socket, start_agent};
use crate::child;
use crate::counters;
use crate::coverage;
use crate::door;
use crate::drain::{Drain, is_full};
use crate::error::{Error, Result, io};
use crate::flight::{Keeper, Live};
use crate::kernel::{Kernel, Storage};
use crate::options::{Options, Progress, Stage, Target};
use crate::place::Place;
use crate::prepare::{absolute, describe, load_kernel, new_agent, new_session, without_kernel};
use crate::procfs::{Known, Watcher};
use crate::ring::Ring;
use crate::subject::Subject;
use crate::sys::{self, now_ns};
use crate::trace_dir::TraceDir;

mod keeping;

/// How long a JVM may take to open its attach socket.
const ATTACH: Duration = Duration::from_secs(10);
/// How long the agent may take to place its probes, in a JVM that starts up meanwhile.
const AGENT_START: Duration = Duration::from_secs(60);
/// How long it may take to remove them.
const AGENT_STOP: Duration = Duration::from_secs(10);
/// How long a script may outlive the JVM that it started.
const SCRIPT_END: Duration = Duration::from_secs(5);
const TELL: Duration = Duration::from_millis(200);
/// How often the recorder looks whether it should end.
const LOOK: Duration = Duration::from_millis(50);

/// Records until `stop` is set, the duration is over or the target ends. Returns the completed
/// session; `raw/` then holds all spools.
pub fn record(
    o: &Options,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Session> {
    let wanted = o.levels.all();
    if !wanted.iter().any(|(_, w)| *w) {
        return Err(Error::NoLevel("no level was asked for".into()));
    }
    if o.levels.of_agent() != 0 {
        for path in [&o.agent.jar, &o.agent.library] {
            File::open(path).map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => Error::Missing { path: path.clone() },
                _ => io(path)(e),
            })?;
        }
    }
    let mut subject = match &o.target {
        Target::Pid(pid) => Some(Subject::running(*pid)?),
        Target::Command(_) => None,
    };
    let dir = TraceDir::create(&o.out)?;
    door::remove_all_dead();
    if let Target::Command(command) = &o.target
        && !child::is_java(command)
    {
        subject = Some(Subject::started(command, stop)?);
    }
    let mut storage = Storage::uninit();
    let mut recording = Recording::prepare(o, dir, subject, &mut storage, stop)?;
    recording.begin(progress)?;
    let ended = recording.run(progress);
    recording.end(ended, progress)
}

/// Why the loop ended.
enum Ended {
    Stopped,
    TargetExited,
    Failed(Error),
}

struct Recording<'a> {
    options: &'a Options,
    stop: &'a AtomicBool,
    drain: Drain,
    kernel: Option<Kernel<'a>>,
    agent: Option<Arc<AgentSpool>>,
    /// Where the agent's files are.
    place: Option<Place>,
    watcher: Watcher,
    counters: Option<counters::Spool>,
    /// Where the oldest is dropped.
    keeper: Option<Keeper>,
    live: Live,
    last_dump: Option<Instant>,
    rings: usize,
    session: Session,
    dir: TraceDir,
    begun: Instant,
    // Last, so that a child is ended after everything else was put away.
    subject: Subject,
}

impl<'a> Recording<'a> {
    /// Makes files, loads programs, and forks a java command that waits.
    fn prepare(
        o: &'a Options,
        dir: TraceDir,
        subject: Option<Subject>,
        storage: &'a mut Storage,
        stop: &'a AtomicBool,
    ) -> Result<Recording<'a>> {
        let mut levels: BTreeMap<String, Level> = o
            .levels
            .all()
            .iter()
            .map(|(n, w)| {
                (
                    (*n).into(),
                    Level {
                        recorded: *w,
                        why: String::new(),
                    },
                )
            })
            .collect();
        let kernel = load_kernel(o, storage, &mut levels)?;
        let has_kernel = levels.get("kernel").is_some_and(|l| l.recorded);
        let mut rings = Vec::new();
        if let Some(kernel) = &kernel {
            let (maps, size) = kernel.rings();
            for (cpu, map) in maps.iter().enumerate() {
                let path = match o.flight {
                    Some(_) => dir.raw().kernel_segment(cpu, 0),
                    None => dir.raw().kernel(cpu),
                };
                let spool = private::create_new(&path).map_err(io(&path))?;
                rings.push(Ring::new(map, size, spool).map_err(io(&path))?);
            }
        }
        let (agent, place) = match o.levels.of_agent() {
            0 => (None, None),
            bits => {
                let (spool, place) = new_agent(o, &dir, subject.as_ref(), bits, has_kernel)?;
                (Some(Arc::new(spool)), Some(place))
            }
        };
        let ring_count = rings.len();
        let drain = Drain::start(rings, agent.clone()).map_err(io(dir.raw().path()))?;
        let subject = match (subject, &o.target) {
            (Some(subject), _) => subject,
            (None, Target::Command(command)) if agent.is_some() => Subject::waiting(
                &child::with_agent(command, &absolute(&o.agent.jar)?, dir.raw().path()),
            )?,
            (None, Target::Command(command)) => Subject::waiting(command)?,
            (None, Target::Pid(pid)) => Subject::running(*pid)?,
        };
        let proc_path = match o.flight {
            Some(_) => dir.raw().procfs_segment(0),
            None => dir.raw().procfs(),
        };
        let spool = private::create_new(&proc_path).map_err(io(&proc_path))?;
        let known = match &kernel {
            Some(kernel) => kernel.known(subject.target.pid).map_err(Error::NoLevel)?,
            None => Known::default(),
        };
        let watcher = Watcher::new(subject.target.pid, !subject.target.our_pids, spool, known);
        let session = new_session(o, &subject, levels);
        session.store(&dir.raw().session())?;
        let begun = Instant::now();
        Ok(Recording {
            options: o,
            stop,
            drain,
            kernel,
            agent,
            place,
            watcher,
            counters: None,
            keeper: None,
            live: Live::new(o.flight.as_ref().map_or(&[][..], |f| &f.when)),
            last_dump: None,
            rings: ring_count,
            session,
            dir,
            begun,
            subject,
        })
    }

    /// Starts the agent, attaches the programs, reads the threads: from here on it records.
    fn begin(&mut self, progress: &mut dyn FnMut(&Progress)) -> Result<()> {
        self.tell(Stage::Attaching, progress);
        let waits = self.subject.child.is_some()
            && matches!(&self.options.target,
            Target::Command(c) if child::is_java(c));
        if !waits && self.agent.is_some() {
            self.attach_agent()?;
        }
        let pid = self.subject.target.pid;
        if let Some(kernel) = &mut self.kernel
            && let Err(why) = kernel.attach(pid)
        {
            self.kernel = None;
            without_kernel(&mut self.session.levels, why)?;
            if self.options.methods.as_ref().is_some_and(|m| m.cpu) {
                let untold = "CPU time of methods is not recorded: the kernel level was to tell it, and could not begin";
                self.session.notes.push(untold.into());
            }
        }
        let threads = self.watcher.begin().map_err(io(self.dir.raw().procfs()))?;
        if let Some(counting) = &self.options.counters {
            let path = match self.options.flight {
                Some(_) => self.dir.raw().counters_segment(0),
                None => self.dir.raw().counters(),
            };
            self.counters = private::create_new(&path)
                .and_then(|file| counters::Spool::begin(pid, counting, file))
                .map_err(io(&path))?;
            self.session.notes.extend(counters::unavailable());
        }
        self.session.begin_unix_ns = sys::unix_ns();
        self.session.begin_ns = now_ns();
        self.begun = Instant::now();
        self.session.store(&self.dir.raw().session())?;
        if let Some(flight) = &self.options.flight {
            let raw = self.dir.raw().clone();
            let agent = self.agent.clone();
            self.keeper = Some(Keeper::new(flight, raw, &self.session, agent, threads));
        }
        if waits && let Some(child) = &mut self.subject.child {
            child.release()?;
            self.await_agent()?;
        }
        self.dir.keep();
        Ok(())
    }

    fn attach_agent(&self) -> Result<()> {
        let (Some(spool), Some(place)) = (&self.agent, &self.place) else {
            return Ok(());
        };
        start_agent(&self.subject.target, place, ATTACH, AGENT_START)?;
        self.wait_recording(spool)
    }

    /// Waits for the agent of a JVM that we start; one that ends before that is no error.
    fn await_agent(&mut self) -> Result<()> {
        let Some(spool) = self.agent.clone() else {
            return Ok(());
        };
        match self.wait_recording(&spool) {
            Err(_) if self.subject.has_ended() || self.stop.load(Ordering::Relaxed) => {
                let why = "the process ended, or was stopped, before the agent had started";
                for name in ["jvm", "server", "app"] {
                    if let Some(level) = self.session.levels.get_mut(name).filter(|l| l.recorded) {
                        *level = Level {
                            recorded: false,
                            why: why.into(),
                        };
                    }
                }
                Ok(())
            }
            other => other,
        }
    }

    fn wait_recording(&self, spool: &AgentSpool) -> Result<()> {
        let give_up = || self.subject.has_ended() || self.stop.load(Ordering::Relaxed);
        spool
            .wait_recording(AGENT_START, give_up)
            .map_err(|why| Error::Agent {
                pid: self.subject.target.pid,
                why,
            })
    }

    /// Names, Java ids and kernel ids of the threads of a JVM that was running.
    fn dump_threads(&mut self) -> Result<()> {
        let ts = now_ns();
        let attach = Attach::open(&self.subject.target, ATTACH)?;
        let dump = attach.command("threaddump", ["", "", ""], ATTACH)?;
        if let Some(keeper) = &mut self.keeper {
            keeper.thread_dump(ts, &dump);
        }
        let line = Line::JavaThreads { ts, dump };
        self.watcher
            .write(&line)
            .map_err(io(self.dir.raw().procfs()))
    }

    fn run(&mut self, progress: &mut dyn FnMut(&Progress)) -> Ended {
        let waits = matches!(&self.options.target, Target::Command(c) if child::is_java(c));
        if let Some(agent) = &self.agent
            && !waits
            && !coverage::names_threads(&agent.header().info)
        {
            // After the begin, because it stops the program for a moment, which then is on record.
            if let Err(e) = self.dump_threads()
                && !self.subject.has_ended()
            {
                self.session
                    .notes
                    .push(format!("No thread dump at the start: {e}"));
            }
        }
        // The start of a JVM that we started is a slice of its own.
        if waits && let Err(e) = self.count(counters::Spool::slice) {
            return Ended::Failed(e);
        }
        let mut told = Instant::now() - TELL;
        loop {
            let next = self.counters.as_ref().map_or(LOOK, counters::Spool::until);
            if self.subject.process.wait_exit(next.min(LOOK)) {
                return Ended::TargetExited;
            }
            let over = self
                .options
                .duration
                .is_some_and(|d| self.begun.elapsed() >= d);
            if self.stop.load(Ordering::Relaxed) || over || self.drain.has_failed() {
                return Ended::Stopped; // what failed is told when the drain is finished
            }
            if let Err(e) = self.watcher.tick() {
                return Ended::Failed(io(self.dir.raw().procfs())(e));
            }
            if let Err(e) = self.count(counters::Spool::tick) {
                return Ended::Failed(e);
            }
            if let Some(why) = self.full() {
                self.session.notes.push(why);
                return Ended::Stopped;
            }
            if let Err(e) = self.keep(progress) {
                return Ended::Failed(e);
            }
            if told.elapsed() >= TELL {
                self.tell(Stage::Recording, progress);
                told = Instant::now();
            }
        }
    }

    fn count(
        &mut self,
        step: impl FnOnce(&mut counters::Spool) -> std::io::Result<()>,
    ) -> Result<()> {
        match &mut self.counters {
            Some(spool) => step(spool).map_err(io(self.dir.raw().counters())),
            None => Ok(()),
        }
    }

    /// Ends the recording: whatever fails, everything is detached and the session completed.
    fn end(mut self, ended: Ended, progress: &mut dyn FnMut(&Progress)) -> Result<Session> {
        let mut failed = None;
        self.session.ended = match ended {
            Ended::TargetExited => "target-exited",
            Ended::Stopped => "stopped",
            Ended::Failed(e) => {
                failed = Some(e);
                "stopped"
            }
        }
        .into();
        if failed.is_none()
            && let Err(e) = self.watcher.end()
        {
            failed = Some(io(self.dir.raw().procfs())(e));
        }
        if let Err(e) = self.count(counters::Spool::end) {
            failed.get_or_insert(e);
        }
        self.session.end_ns = now_ns();
        let seconds = self.begun.elapsed().as_secs_f64();
        self.tell(Stage::Stopping, progress);
        if let Some(kernel) = &mut self.kernel {
            kernel.detach();
        }
        if let Err(e) = self.drain.finish() {
            failed.get_or_insert(io(self.dir.raw().path())(e));
        }
        if let Some(lost) = self.kernel.as_ref().map(Kernel::lost).filter(|l| *l > 0) {
            self.session.losses.insert("kernel_ring".into(), lost);
        }
        self.end_agent(&mut failed);
        if let Some(keeper) = &self.keeper {
            keeper.tell(&mut self.session);
        }
        self.session.target_exit = self.subject.end_child(SCRIPT_END);
        if self.agent.is_some() && self.subject.has_ended() {
            remove_dead_socket(&self.subject.target);
        }
        if let Some(e) = &failed {
            self.session
                .notes
                .push(format!("The recording ended early: {e}"));
        }
        self.dir.store_last(&self.session)?;
        match failed {
            Some(Error::Io { source, .. }) if is_full(&source) => Err(Error::DiskFull {
                dir: self.dir.path().into(),
                seconds,
            }),
            Some(e) => Err(e),
            None => Ok(std::mem::take(&mut self.session)),
        }
    }

    fn end_agent(&mut self, failed: &mut Option<Error>) {
        let Some(agent) = &self.agent else { return };
        self.session.not_recorded = self.not_recorded(Some(&agent.header()));
        let started = agent.state() == state::RECORDING;
        match agent.stop(if started { AGENT_STOP } else { Duration::ZERO }, || self.subject.has_ended()) {
            Ok(true) => {}
            Ok(false) if !started => {}
            Ok(false) => self.session.notes.push(format!(
                "The agent did not confirm within {} s that it has removed its probes; it goes dormant \
                 when it sees that the recorder is gone.",
                AGENT_STOP.as_secs()
            )),
            Err(e) => _ = failed.get_or_insert(e),
        }
        if let Err(e) = agent.close() {
            failed.get_or_insert(e);
        }
        if let Some(place) = &mut self.place
            && let Err(e) = place.bring_home(agent, self.dir.raw())
        {
            failed.get_or_insert(e);
        }
    }

    fn not_recorded(&self, header: Option<&Header>) -> Vec<NotRecorded> {
        header.map_or_else(Vec::new, |h| {
            let jar = absolute(&self.options.agent.jar);
            let jar = jar.as_ref().unwrap_or(&self.options.agent.jar);
            let mut all = coverage::not_recorded(&h.info, self.subject.target.pid, jar);
            if self.options.levels.jvm && self.options.stacks.is_none() {
                all.push(coverage::no_stacks());
            }
            all
        })
    }

    fn tell(&self, stage: Stage, progress: &mut dyn FnMut(&Progress)) {
        progress(&self.progress(stage));
    }

    fn progress(&self, stage: Stage) -> Progress {
        let agent = self.agent.as_ref();
        let header = agent.map(|a| a.header());
        let kernel_lost = self.kernel.as_ref().map_or(0, Kernel::lost);
        Progress {
            stage,
            elapsed: if stage == Stage::Attaching {
                Duration::ZERO
            } else {
                self.begun.elapsed()
            },
            kernel_events: self.drain.counts().records.load(Ordering::Relaxed),
            agent_bytes: agent.map_or(0, |a| a.claimed_bytes()),
            bytes: self.bytes(),
            lost: kernel_lost + agent.map_or(0, |a| a.lost()),
            kept: self.keeper.as_ref().map(Keeper::kept),
            dumped: None,
            levels: self.session.levels.clone(),
            not_recorded: self.not_recorded(header.as_ref()),
            warnings: header.as_ref().map_or_else(Vec::new, Header::warnings),
            pid: self.subject.target.pid,
            target: describe(&self.subject, header.as_ref()),
        }
    }
}
