//! Several generator processes driven as one: each does its part, the first process merges.
//!
//! Each part runs its share of the sessions (the numbers, and so the walks, are those of one process
//! with as many threads), begins at the same instant, and writes lines of JSON: how it stands, and at
//! the end everything that it counted. Histograms are sent value by value, so that merging loses
//! nothing. A part whose input ends stops: so no part outlives the process that drives it.

use crate::clock::now_ns;
use crate::error::Error;
use crate::run::{Options, Part, Progress, measure};
use crate::stats::Stats;
use crate::summary::{Circumstances, Summary};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// What starting takes, so that all begin at once.
const HEAD_START_NS: u64 = 500_000_000;
const TICK: Duration = Duration::from_millis(100);
const MAX_PROCESSES: usize = 256;

/// A line of a part.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Progress(Progress),
    Result(Box<(Stats, Circumstances)>),
    Error(String),
}

/// Runs one part as a child of [`run_parts`]: speaks on stdout, stops when stdin ends.
pub fn run_part(options: &Options) -> Result<(), Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = stop.clone();
    std::thread::spawn(move || {
        // Nothing is ever sent: the end of the input is the message, and so is an error.
        let _end = std::io::stdin().read_to_end(&mut Vec::new());
        told.store(true, Ordering::Relaxed);
    });
    let mut options = options.clone();
    options.handshakes = options
        .handshakes
        .map(|file| part_file(&file, options.part.index));
    let say = |line: &Line| {
        let text = serde_json::to_string(line).map_err(|e| Error::Setup(e.to_string()))?;
        writeln!(std::io::stdout(), "{text}").map_err(|source| Error::Io {
            path: "standard output".into(),
            source,
        })
    };
    let measured = measure(&options, &stop, &mut |p| {
        if say(&Line::Progress(*p)).is_err() {
            stop.store(true, Ordering::Relaxed);
        }
    });
    match measured {
        Ok(measured) => say(&Line::Result(Box::new(measured))),
        Err(e) => say(&Line::Error(e.to_string())),
    }
}

struct Running {
    child: Child,
    index: usize,
}

/// Children that end with this: their input ends with them.
struct Children(Vec<Running>);

impl Drop for Children {
    fn drop(&mut self) {
        for running in &mut self.0 {
            drop(running.child.stdin.take());
        }
        for running in &mut self.0 {
            // Told to stop, it ends within a tick; how is of no more interest.
            let _ended = running.child.wait();
        }
    }
}

/// Runs the load in `processes` parts. `command` makes the command of one: it must end in
/// [`run_part`] with the same options and this part.
pub fn run_parts(
    options: &Options,
    processes: usize,
    command: &dyn Fn(Part) -> Command,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Summary, Error> {
    if !(1..=MAX_PROCESSES).contains(&processes) {
        return Err(Error::Option(format!(
            "processes is {processes}; it must be from 1 to {MAX_PROCESSES}"
        )));
    }
    let begin_ns = now_ns() + HEAD_START_NS;
    let (said, heard) = channel();
    let mut children = Children(Vec::new());
    for index in 0..processes {
        let part = Part {
            index,
            of: processes,
            begin_ns,
        };
        children.0.push(start(command(part), index, said.clone())?);
    }
    drop(said);
    let measured = listen(&mut children, &heard, processes, stop, progress)?;
    if let Some(file) = &options.handshakes {
        join_files(file, processes)?;
    }
    let mut all = Stats::new(options.scenario.interactions.len(), false, 0);
    let mut run: Option<Circumstances> = None;
    for (stats, one) in measured {
        all.merge(&stats);
        run = Some(match run {
            None => one,
            Some(run) => Circumstances {
                begin_ns: run.begin_ns.min(one.begin_ns),
                end_ns: run.end_ns.max(one.end_ns),
                partial: run.partial || one.partial,
                error: run.error.or(one.error),
                processes: run.processes + one.processes,
            },
        });
    }
    let run = run.ok_or_else(|| Error::Setup("no generator process began".into()))?;
    Ok(Summary::new(options, &all, &run))
}

fn start(
    mut command: Command,
    index: usize,
    said: Sender<(usize, Line)>,
) -> Result<Running, Error> {
    let failed = |e: std::io::Error| Error::Part {
        part: index + 1,
        what: e.to_string(),
    };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || read_lines(out, index, &said));
    }
    Ok(Running { child, index })
}

fn read_lines(out: ChildStdout, index: usize, said: &Sender<(usize, Line)>) {
    for line in BufReader::new(out).lines() {
        let parsed = line
            .map_err(|e| e.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|e| format!("{e}: {text:.80}")));
        let line =
            parsed.unwrap_or_else(|e| Line::Error(format!("it said what is no result: {e}")));
        if said.send((index, line)).is_err() {
            return;
        }
    }
}

fn listen(
    children: &mut Children,
    heard: &Receiver<(usize, Line)>,
    processes: usize,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Vec<(Stats, Circumstances)>, Error> {
    let mut measured = Vec::new();
    let mut last = vec![Progress::default(); processes];
    loop {
        if stop.load(Ordering::Relaxed) {
            for running in &mut children.0 {
                drop(running.child.stdin.take());
            }
        }
        match heard.recv_timeout(TICK) {
            Ok((index, Line::Progress(p))) => {
                last[index] = p;
                if index == 0 {
                    progress(&together(&last));
                }
            }
            Ok((_, Line::Result(result))) => {
                measured.push(*result);
                if measured.len() == processes {
                    return Ok(measured);
                }
            }
            Ok((index, Line::Error(what))) => {
                return Err(Error::Part {
                    part: index + 1,
                    what,
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let lost = children.0.iter_mut().find_map(|r| match r.child.wait() {
                    Ok(status) if !status.success() => Some((r.index, status.to_string())),
                    _ => None,
                });
                let (index, what) = lost.unwrap_or((0, "it ended without a result".into()));
                return Err(Error::Part {
                    part: index + 1,
                    what,
                });
            }
        }
    }
}

/// The p95 of several is not to be had from theirs: the highest is shown while the run lasts.
fn together(parts: &[Progress]) -> Progress {
    parts.iter().fold(Progress::default(), |all, p| Progress {
        elapsed: all.elapsed.max(p.elapsed),
        duration: all.duration.max(p.duration),
        requests_per_s: all.requests_per_s + p.requests_per_s,
        p95_ms: all.p95_ms.max(p.p95_ms),
        failures: all.failures + p.failures,
        full: all.full + p.full,
        resumed: all.resumed + p.resumed,
        active: all.active + p.active,
    })
}

fn part_file(file: &Path, index: usize) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".part{}", index + 1));
    name.into()
}

/// Joins the parts' files of handshakes into the one that was asked for.
fn join_files(file: &Path, processes: usize) -> Result<(), Error> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { path, source }
    };
    let mut out = std::fs::File::create(file).map_err(io(file))?;
    for index in 0..processes {
        let part = part_file(file, index);
        let text = std::fs::read_to_string(&part).map_err(io(&part))?;
        // The heading once.
        let skip = if index == 0 {
            0
        } else {
            text.find('\n').map_or(0, |n| n + 1)
        };
        out.write_all(&text.as_bytes()[skip..]).map_err(io(file))?;
        std::fs::remove_file(&part).map_err(io(&part))?;
    }
    Ok(())
}
