use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use loadline_counters::{Hardware, Machine, Names, Sampler, Slice, Units, compare, summarize};
use loadline_record::{Levels, Options, Redefinition, Stage, Target};
use loadline_trace::Trace;

use crate::{Usage, companions, interrupt, show};

/// Count what a JVM costs the machine, by thread role and per request, transaction or message
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline counters --pid shop -d 30s                 (per request, as the server handles them)\n  \
    loadline counters --pid chat -d 30s --unit broadcast     (per span of that name, from loadline-api)\n  \
    loadline counters --pid shop -d 30s --unit none          (per second; the JVM is not touched at all)\n  \
    loadline counters --pid shop -d 30s --json > before.json\n  \
    loadline counters --compare before.json after.json\n\n\
    Units of work are counted by recording the server and application levels meanwhile, whose cost is in\n\
    the figures (docs/record.md). What this machine cannot count is said, with who can grant it.")]
pub struct Args {
    /// A running JVM: its process id, or a part of its main class or jar's name
    #[arg(
        long,
        value_name = "PID|NAME",
        required_unless_present_any = ["compare", "command"],
        conflicts_with_all = ["compare", "command"]
    )]
    pid: Option<String>,
    /// How long to count [default: until Ctrl-C, or until the JVM ends]
    #[arg(short, long, value_name = "TIME", value_parser = show::parse_duration)]
    duration: Option<Duration>,
    /// How often to read; longer where that would take more than a hundredth of a CPU
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = show::parse_duration)]
    slice: Duration,
    /// The unit of work: request, names of spans of loadline-api (any of these counts), or none [default: request, else the most frequent span]
    #[arg(long, value_name = "NAME,…")]
    unit: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write a row per counter
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Compare two counts that --json printed
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    compare: Option<Vec<PathBuf>>,
    /// Start this JVM and count until it ends
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if let Some(files) = &args.compare {
        return side_by_side(&files[0], &files[1]);
    }
    if args.slice < Duration::from_millis(10) {
        return Err(Usage("--slice must be 10ms or more".into()).into());
    }
    let stop = interrupt::flag()?;
    let unit = args.unit.as_deref();
    let counted = match (&args.pid, unit) {
        (Some(pid), Some("none")) => alone(loadline_record::resolve(pid)?, &args, &stop)?,
        (Some(pid), _) => recorded(Target::Pid(loadline_record::resolve(pid)?), &args, &stop)?,
        (None, _) => recorded(Target::Command(args.command.clone()), &args, &stop)?,
    };
    if counted.slices.is_empty() {
        anyhow::bail!(
            "the process ended before anything was counted: count for longer, or with a shorter --slice"
        );
    }
    let summary = summarize(
        counted.target,
        Machine::this(),
        &counted.sampler.counters,
        &counted.slices,
        &counted.names,
        counted.units.as_ref(),
        counted
            .sampler
            .notes()
            .into_iter()
            .chain(counted.notes)
            .collect(),
    );
    if let Some(file) = &args.csv {
        std::fs::write(file, summary.csv()).with_context(|| file.display().to_string())?;
    }
    show::out(&if args.json {
        serde_json::to_string_pretty(&summary)?
    } else {
        summary.render()
    })?;
    Ok(ExitCode::SUCCESS)
}

struct Counted {
    target: String,
    sampler: Sampler,
    slices: Vec<Slice>,
    names: Names,
    units: Option<Units>,
    notes: Vec<String>,
}

/// From outside: nothing in the process is touched.
fn alone(pid: i32, args: &Args, stop: &AtomicBool) -> Result<Counted> {
    let running = loadline_record::running_jvms();
    let Some(jvm) = running.iter().find(|jvm| jvm.pid == pid) else {
        let known: Vec<String> = running
            .iter()
            .map(|jvm| format!("{} {}", jvm.pid, jvm.name))
            .collect();
        anyhow::bail!(
            "process {pid} is not a Java virtual machine that you may look into\n  running JVMs: {}",
            if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            }
        );
    };
    let name = &jvm.name;
    let mut sampler = begin(pid)?;
    let over = Arc::new(AtomicBool::new(false));
    let bar = show::bar(
        args.duration.map_or(0, |d| d.as_millis() as u64),
        "  counting   {bar:25} {elapsed}",
    );
    let slices = std::thread::scope(|scope| {
        let counting = scope.spawn({
            let over = over.clone();
            let sampler = &mut sampler;
            move || sampler.run(args.slice, &over)
        });
        let begun = std::time::Instant::now();
        while !counting.is_finished()
            && !interrupt::requested(stop)
            && args.duration.is_none_or(|d| begun.elapsed() < d)
        {
            bar.set_position(begun.elapsed().as_millis() as u64);
            std::thread::sleep(Duration::from_millis(20));
        }
        over.store(true, Ordering::Relaxed);
        counting.join().expect("the sampler does not panic")
    });
    bar.finish_and_clear();
    Ok(Counted {
        target: format!("{name} (pid {pid})"),
        sampler,
        slices,
        names: Names::new(),
        units: None,
        notes: Vec::new(),
    })
}

fn begin(pid: i32) -> Result<Sampler> {
    Sampler::begin(pid, Hardware::available()).with_context(|| format!("process {pid} is gone"))
}

/// While the server and application levels are recorded, which tell units of work and Java's names of threads.
fn recorded(target: Target, args: &Args, stop: &Arc<AtomicBool>) -> Result<Counted> {
    let scratch = Scratch::create()?;
    let options = Options {
        target,
        out: scratch.trace(),
        levels: Levels {
            kernel: false,
            syscalls: false,
            jvm: false,
            server: true,
            app: true,
        },
        duration: args.duration,
        agent: companions::agent()?,
        redefinition: Redefinition::Never,
        ring_bytes: 1 << 20,
        agent_capacity: 4 << 30,
    };
    let over = Arc::new(AtomicBool::new(false));
    let mut counting = None;
    let mut described = String::new();
    let mut failed = None;
    let bar = show::bar(
        args.duration.map_or(0, |d| d.as_millis() as u64),
        "  counting   {bar:25} {elapsed}",
    );
    let session = loadline_record::record(&options, stop, &mut |p| {
        bar.set_position(p.elapsed.as_millis() as u64);
        if p.stage == Stage::Recording && counting.is_none() && failed.is_none() {
            described = p.target.clone();
            match begin(p.pid) {
                Ok(mut sampler) => {
                    let (over, every) = (over.clone(), args.slice);
                    counting = Some(std::thread::spawn(move || {
                        let slices = sampler.run(every, &over);
                        (sampler, slices)
                    }));
                }
                Err(e) => failed = Some(e),
            }
        }
        if p.stage == Stage::Stopping {
            over.store(true, Ordering::Relaxed);
        }
    });
    over.store(true, Ordering::Relaxed);
    bar.finish_and_clear();
    let counted = counting.map(|thread| thread.join().expect("the sampler does not panic"));
    session?;
    if let Some(e) = failed {
        return Err(e);
    }
    let (sampler, slices) =
        counted.context("the process ended before anything was counted: count for longer")?;
    loadline_analyze::build(&scratch.trace(), false, &mut |_, _| {})?;
    let trace = Trace::open(&scratch.trace())?;
    let names = names(&trace)?;
    let (units, notes) = units(&trace, args.unit.as_deref(), &slices)?;
    Ok(Counted {
        target: described,
        sampler,
        slices,
        names,
        units,
        notes,
    })
}

fn rows(trace: &Trace, sql: &str) -> Result<Vec<Vec<String>>> {
    let answer = loadline_analyze::query::run(trace, sql)?;
    Ok(answer
        .rows
        .into_iter()
        .map(|row| row.into_iter().map(Option::unwrap_or_default).collect())
        .collect())
}

fn names(trace: &Trace) -> Result<Names> {
    let rows = rows(
        trace,
        "SELECT tid, name FROM threads WHERE tid IS NOT NULL AND java_id IS NOT NULL",
    )?;
    Ok(rows
        .into_iter()
        .filter_map(|row| Some((row[0].parse().ok()?, row[1].clone())))
        .collect())
}

/// Units of work that ended: requests, and the application's own spans by their names.
const DONE: &str = "SELECT if(kind = 'request', 'request', name) AS unit, end_ns FROM spans \
    WHERE kind IN ('request', 'user') AND complete";

/// The unit that was asked for, or the one that suits: requests, else the most frequent span of the application.
fn units(
    trace: &Trace,
    asked: Option<&str>,
    slices: &[Slice],
) -> Result<(Option<Units>, Vec<String>)> {
    let known = rows(
        trace,
        &format!(
            "SELECT unit, count(*) AS n FROM ({DONE}) GROUP BY unit ORDER BY unit = 'request' DESC, n DESC, unit"
        ),
    )?;
    let seen: Vec<&str> = known.iter().map(|row| row[0].as_str()).collect();
    let names: Vec<&str> = match asked {
        Some(asked) => {
            let (there, missing): (Vec<&str>, Vec<&str>) =
                asked.split(',').partition(|name| seen.contains(name));
            if let Some(name) = missing.first() {
                let note = match seen.is_empty() {
                    true => format!(
                        "no {name} ended meanwhile, nor anything else that could be counted"
                    ),
                    false => format!("no {name} ended meanwhile; there were {}", seen.join(", ")),
                };
                return Ok((None, vec![note]));
            }
            there
        }
        None => match seen.first() {
            Some(name) => vec![*name],
            None => {
                let note = "no unit of work was seen: no request of a server that Loadline knows ended, and no span of loadline-api";
                return Ok((None, vec![note.into()]));
            }
        },
    };
    let quoted = names
        .iter()
        .map(|name| format!("'{}'", name.replace('\'', "''")))
        .collect::<Vec<_>>()
        .join(", ");
    let name = names.join("+");
    let bounds: Vec<String> = slices
        .iter()
        .enumerate()
        .map(|(at, s)| format!("({}::BIGINT, {at})", s.begin_ns))
        .collect();
    let end = slices.last().map_or(0, |s| s.end_ns);
    let counts = rows(
        trace,
        &format!(
            "WITH slice(begin_ns, nr) AS (VALUES {}) SELECT nr, count(*) FROM ({DONE}) AS done ASOF JOIN slice \
             ON done.end_ns >= slice.begin_ns WHERE unit IN ({quoted}) AND done.end_ns < {end} GROUP BY nr",
            bounds.join(", ")
        ),
    )?;
    let mut done = vec![0; slices.len()];
    for row in counts {
        let at: usize = row[0].parse()?;
        done[at] = row[1].parse()?;
    }
    Ok((Some(Units { name, done }), Vec::new()))
}

fn side_by_side(a: &Path, b: &Path) -> Result<ExitCode> {
    let read = |file: &Path| -> Result<serde_json::Value> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        serde_json::from_str(&text).with_context(|| {
            format!(
                "{}: not what `loadline counters --json` prints",
                file.display()
            )
        })
    };
    let (left, right) = (read(a)?, read(b)?);
    let name = |file: &Path| {
        file.file_stem()
            .unwrap_or(file.as_os_str())
            .to_string_lossy()
            .into_owned()
    };
    show::out(&compare((&name(a), &left), (&name(b), &right))?)?;
    Ok(ExitCode::SUCCESS)
}

/// A directory for a recording that only serves to count, which goes away with this.
struct Scratch(PathBuf);

impl Scratch {
    fn create() -> Result<Scratch> {
        let template =
            std::env::temp_dir().join(format!("loadline-counters-{}", std::process::id()));
        std::fs::create_dir(&template).with_context(|| template.display().to_string())?;
        Ok(Scratch(template))
    }

    fn trace(&self) -> PathBuf {
        self.0.join("units.trace")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(e) = std::fs::remove_dir_all(&self.0) {
            eprintln!("  note: {} could not be removed: {e}", self.0.display());
        }
    }
}
