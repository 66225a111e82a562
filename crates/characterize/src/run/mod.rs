//! Doing it: the server started, step after step measured and kept, the report written.
//!
//! What comes next is decided by [`step::next`](crate::step::next) from what is in the folder; here it
//! is only done. An error or the user's wish to stop ends the steps; what is done is reported.

mod bench;
mod child;
mod generator;
mod guard;
mod layout;
mod measure;
mod options;
mod proc;
mod recorder;
mod server;
mod start;
mod store;
mod units;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};

pub use options::{Event, Options, Outcome, Which};
pub use store::Refused;

use crate::curve::curve;
use crate::measured::Probe;
use crate::objective::Objective;
use crate::plan::Parameters;
use crate::render::page::page;
use crate::result::{self, Count, FORMAT, Layout, Machine, conclude};
use crate::step::{self, Done, Step};
use crate::traced::Side;
use crate::verdict::verdict;
use bench::{Bench, Traced};
use generator::Generator;
use guard::Guard;
use measure::Http;
use recorder::Recorded;
use server::{Ready, Server};
use store::Store;

/// Characterizes a server. An error means that there is nothing to report; one that comes later is in
/// the result, which is then partial.
pub fn characterize(
    options: &Options,
    stop: &AtomicBool,
    say: &mut dyn FnMut(Event),
) -> Result<Outcome> {
    let p = &options.parameters;
    let objective = p
        .objective
        .as_deref()
        .map(Objective::parse)
        .transpose()
        .map_err(|e| anyhow!(Refused(format!("--objective {e}"))))?;
    check_url(options)?;
    let layouts = layouts(options)?;
    let store = Store::open(&options.out, p, options.restart)?;
    let generator = generator(options);
    let mut counts = Vec::new();
    for (cpus, layout) in layouts {
        counts.push(Part::load(&store, p, cpus, layout)?);
    }
    let points_done: usize = counts.iter().map(|c| c.done.points.len()).sum();
    say(Event::Plan(
        p.announce(points_done),
        p.count_s() * counts.len() as f64 - points_done as f64 * p.point_s(),
    ));
    let mut failure = None;
    for part in &mut counts {
        if let Some(note) = layout::note(&part.layout) {
            say(Event::Note(note));
        }
        if let Err(e) = part.measure(options, objective, &store, &generator, stop, say) {
            failure = Some(e);
            break;
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let nothing = counts.iter().all(|c| c.done.points.is_empty());
    if let Some(e) = failure.take_if(|_| nothing) {
        return Err(e);
    }
    let unfinished = counts
        .iter()
        .any(|c| step::next(p, objective, &c.done).is_some());
    let counts: Vec<Count> = counts.into_iter().map(|c| c.count(objective)).collect();
    let result = result::Result {
        format: FORMAT,
        partial: unfinished,
        failure: failure.map(|e| format!("{e:#}")),
        parameters: p.clone(),
        machine: machine(),
        date: now(),
        conclusion: conclude(&counts),
        counts,
    };
    store.write("result.json", &result)?;
    store.write_text("index.html", &page(&result))?;
    Ok(Outcome {
        result,
        page: store.path("index.html"),
        stopped: stop.load(Ordering::Relaxed),
    })
}

/// Whether the load may go there, before anything is started.
fn check_url(options: &Options) -> Result<()> {
    let url = match &options.server {
        Which::Start { url: None, .. } | Which::Process { .. } | Which::Driver => return Ok(()),
        Which::Start { url: Some(url), .. } | Which::Running { url, .. } => url,
    };
    let target = loadline_load::Target::parse(url).map_err(|e| anyhow!(Refused(e.to_string())))?;
    target
        .resolve(options.owned.as_deref())
        .map_err(|e| anyhow!(Refused(e.to_string())))?;
    Ok(())
}

/// CPU counts and who gets which.
fn layouts(options: &Options) -> Result<Vec<(u32, Layout)>> {
    let allowed = proc::allowed_cpus(0);
    let counts = &options.parameters.cpus;
    if let Which::Running { pid: Some(pid), .. } | Which::Process { pid } = &options.server
        && !proc::exists(*pid)
    {
        return Err(anyhow!(Refused(format!(
            "--pid {pid}: there is no such process"
        ))));
    }
    if counts.is_empty() {
        let of_server = match &options.server {
            Which::Running { pid: Some(pid), .. } | Which::Process { pid } => {
                proc::allowed_cpus(*pid)
            }
            Which::Running { pid: None, .. } => Vec::new(),
            Which::Start { .. } | Which::Driver => allowed.clone(),
        };
        return Ok(vec![(
            of_server.len() as u32,
            layout::as_it_is(&allowed, &of_server),
        )]);
    }
    if matches!(options.server, Which::Running { pid: None, .. }) {
        return Err(anyhow!(Refused(
            "--cpus needs a server that can be placed: give --start, or its --pid".into()
        )));
    }
    counts
        .iter()
        .map(|n| {
            Ok((
                *n,
                layout::layout(&allowed, *n).map_err(|e| anyhow!(Refused(e)))?,
            ))
        })
        .collect()
}

fn generator(options: &Options) -> Generator {
    let p = &options.parameters;
    Generator {
        exe: options.exe.clone(),
        scenario: p.scenario.clone(),
        think_s: p.think_s,
        timeout_s: p.timeout_s,
        seed: p.seed,
        owned: options.owned.clone(),
    }
}

/// One CPU count on its way.
struct Part {
    cpus: u32,
    layout: Layout,
    done: Done,
    below: Option<Side>,
    above: Option<Side>,
    notes: Vec<String>,
}

impl Part {
    /// What the folder has of it.
    fn load(store: &Store, p: &Parameters, cpus: u32, layout: Layout) -> Result<Part> {
        let name = |what: &str| format!("points/{cpus}cpu-{what}.json");
        let below: Option<Side> = store.read(&name("below"))?;
        let above: Option<Side> = store.read(&name("above"))?;
        Ok(Part {
            done: Done {
                probe: match &p.units {
                    Some(units) => Some(Probe::closed(&units.loads)),
                    None => store.read(&name("probe"))?,
                },
                points: store.read_all("points", &format!("{cpus}cpu-at-"))?,
                below: below.is_some(),
                above: above.is_some(),
            },
            notes: layout::note(&layout).into_iter().collect(),
            cpus,
            layout,
            below,
            above,
        })
    }

    /// Step after step until all is done, or the user wants to stop. The server is started when the
    /// first step needs it, and ended however this ends.
    fn measure(
        &mut self,
        options: &Options,
        objective: Option<Objective>,
        store: &Store,
        generator: &Generator,
        stop: &AtomicBool,
        say: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let p = &options.parameters;
        if step::next(p, objective, &self.done).is_none() {
            return Ok(());
        }
        let name = crate::words::cpus(self.cpus);
        say(Event::Doing(
            format!("{name}: starting the server, warming it up"),
            p.prelude_s(),
        ));
        let layout = self.layout.clone();
        let Some(mut bench) = self.bench(options, &layout, store, generator, stop)? else {
            return Ok(());
        };
        let unit = p.load_unit();
        if p.trace_s > 0.0 {
            let dir = store.path("traces/first.trace");
            if let Recorded::Refused(why) = bench.attach(&dir)? {
                let note = format!("no traces: {why}");
                say(Event::Note(note.clone()));
                self.notes.push(note);
                (self.done.below, self.done.above) = (true, true);
            }
        }
        if let Some(warmth) = bench.warm_up()? {
            let note = warmth.to_string();
            say(Event::Note(format!("{name}: {note}")));
            self.notes.push(note);
        }
        // A guard of requests begins with the first.
        if let Some(note) = bench.find_guard()? {
            say(Event::Note(format!("{name}: {note}")));
            self.notes.push(note);
        }
        while let Some(step) = step::next(p, objective, &self.done) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let file = |what: String| format!("points/{}cpu-{what}.json", self.cpus);
            match step {
                Step::Probe => {
                    let Some(probe) = bench.probe(self.cpus)? else {
                        break;
                    };
                    store.write(&file("probe".into()), &probe)?;
                    self.done.probe = Some(probe);
                }
                Step::Sweep(n, rate) | Step::Search(n, rate) | Step::Repeat(n, rate) => {
                    let (kind, of) = match step {
                        Step::Sweep(..) => ("point", p.points.max(n)),
                        Step::Search(..) => ("search", p.search.max(n)),
                        _ => ("repetition", (2 * p.repeat).max(n)),
                    };
                    let search = !matches!(step, Step::Sweep(..));
                    let text = format!(
                        "{name}: {kind} {n} of {of}, {} {unit}",
                        crate::words::figure(rate)
                    );
                    say(Event::Doing(text, p.point_s()));
                    let Some(point) = bench.point(self.cpus, rate, search)? else {
                        break;
                    };
                    let run = 1 + self.done.points.iter().filter(|d| d.rate == rate).count();
                    let name = match run {
                        1 => format!("at-{rate}"),
                        _ => format!("at-{rate}-run{run}"),
                    };
                    store.write(&file(name), &point)?;
                    say(Event::Point(&point));
                    self.done.points.push(point);
                }
                Step::Trace(which, rate) => {
                    let below = which == step::Which::Below;
                    let side = if below { "below" } else { "above" };
                    let text = format!(
                        "{name}: recording {side} the load line, {} {unit}",
                        crate::words::figure(rate)
                    );
                    say(Event::Doing(text, p.traced_s()));
                    let dir = store.path(&format!("traces/{}cpu-{side}.trace", self.cpus));
                    match bench.trace(&dir, rate)? {
                        Traced::Stopped => break,
                        Traced::Side(found) => {
                            store.write(&file(side.into()), &*found)?;
                            *(if below {
                                &mut self.below
                            } else {
                                &mut self.above
                            }) = Some(*found);
                        }
                        Traced::Refused(why) => {
                            let note = format!("no trace {side} the load line: {why}");
                            say(Event::Note(note.clone()));
                            self.notes.push(note);
                        }
                    }
                    *(if below {
                        &mut self.done.below
                    } else {
                        &mut self.done.above
                    }) = true;
                }
            }
        }
        bench.end();
        Ok(())
    }

    /// Who loads the server, ready to begin. None if the user wants to stop.
    fn bench<'a>(
        &self,
        options: &'a Options,
        layout: &'a Layout,
        store: &Store,
        generator: &'a Generator,
        stop: &'a AtomicBool,
    ) -> Result<Option<Box<dyn Bench + 'a>>> {
        let (parameters, watch) = (&options.parameters, &options.watch);
        let server = match &options.server {
            Which::Driver => None,
            _ => match self.server(options, store, stop)? {
                Some(server) => Some(server),
                None => return Ok(None),
            },
        };
        let agent = agent(&options.exe).filter(|_| server.is_none());
        Ok(match (&parameters.units, server) {
            (Some(spec), server) => Some(Box::new(units::Units {
                server,
                exe: &options.exe,
                spec,
                folder: store.path(""),
                agent,
                cpus: self.cpus,
                layout,
                placed: !parameters.cpus.is_empty(),
                parameters,
                watch,
                stop,
            })),
            (None, Some(server)) => Some(Box::new(Http {
                guard: Guard::of(
                    options.guard.as_deref(),
                    &options.exe,
                    server.pid(),
                    &layout.generator,
                )?,
                server,
                exe: &options.exe,
                generator,
                layout,
                parameters,
                watch,
                stop,
            })),
            (None, None) => None,
        })
    }

    fn server(
        &self,
        options: &Options,
        store: &Store,
        stop: &AtomicBool,
    ) -> Result<Option<Server>> {
        let placed: &[usize] = if options.parameters.cpus.is_empty() {
            &[]
        } else {
            &self.layout.server
        };
        match &options.server {
            Which::Start { command, url } => {
                let words = shlex::split(command)
                    .filter(|w| !w.is_empty())
                    .ok_or_else(|| {
                        anyhow!(Refused(format!(
                            "--start {command:?}: not a command; is a quote missing?"
                        )))
                    })?;
                let log = store.path(&format!("server-{}cpu.log", self.cpus));
                // Units of work are counted by recording.
                let counted = options.parameters.units.is_some();
                let recorded = counted || options.parameters.trace_s > 0.0;
                let agent = agent(&options.exe).filter(|_| recorded);
                let words = start::Words::of(&words, agent.as_deref());
                let ready = match counted {
                    true => Ready::Listens,
                    false => Ready::Answers(url.as_deref()),
                };
                Server::start(&words, ready, placed, &log, stop)
            }
            Which::Running { url, pid } => Server::running(url, *pid, placed).map(Some),
            Which::Process { pid } => Server::process(*pid, placed).map(Some),
            Which::Driver => Ok(None),
        }
    }

    /// What it came to.
    fn count(mut self, objective: Option<Objective>) -> Count {
        self.done.points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let curve = self
            .done
            .probe
            .as_ref()
            .filter(|_| !self.done.points.is_empty())
            .map(|probe| curve(&self.done.points, objective, probe));
        let verdict = curve
            .as_ref()
            .map(|c| verdict(self.cpus, &self.done.points, c, self.above.as_ref()));
        let mut count = Count {
            cpus: self.cpus,
            layout: self.layout,
            probe: self.done.probe,
            points: self.done.points,
            curve,
            below: self.below,
            above: self.above,
            verdict,
            notes: self.notes,
        };
        let limited = count.limited_points();
        if limited > 0 {
            count.notes.push(format!(
                "at {limited} of {} points the generator may have been the limit: they are marked, and the server is not judged by them",
                count.points.len()
            ));
        }
        count
    }
}

/// The agent, if it lies beside the binary.
fn agent(exe: &Path) -> Option<PathBuf> {
    Some(exe.with_file_name("loadline-agent.jar")).filter(|jar| jar.exists())
}

fn machine() -> Machine {
    let first = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .find_map(|l| l.strip_prefix(key))
            .map(|l| l.trim_start_matches([' ', '\t', ':']).trim().to_owned())
            .unwrap_or_default()
    };
    Machine {
        cpus: proc::allowed_cpus(0).len() as u32,
        model: first("/proc/cpuinfo", "model name"),
        kernel: first("/proc/sys/kernel/osrelease", ""),
    }
}

/// `2026-11-21 10:00 UTC`.
fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%d %H:%M UTC")
        .to_string()
}
