use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use loadline_analyze::units::{self, Choice};
use loadline_counters::{
    Counted, Machine, Names, Sampler, Slice, Summary, Units, compare, plan, summarize,
};
use loadline_record::counters::Counting;
use loadline_record::{Levels, Options, Redefinition, Target};
use loadline_trace::Trace;
use loadline_trace::spool::RawDir;

use crate::scratch::Scratch;
use crate::{Usage, companions, interrupt, show};

/// The shortest slice: less than a tick of the kernel's would show ticks.
pub const SHORTEST: Duration = Duration::from_millis(10);

/// Count what a JVM costs the machine, by thread role and per request, transaction or message
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline counters --pid shop -d 30s                 (per request, as the server handles them)\n  \
    loadline counters --pid chat -d 30s --unit broadcast     (per span of that name, from loadline-api)\n  \
    loadline counters --pid shop -d 30s --unit none          (per second; the JVM is not touched at all)\n  \
    loadline counters --pid shop -d 30s --json > before.json\n  \
    loadline counters --pid shop -d 60s --html shop.html     (a page with plots over time)\n  \
    sudo loadline counters --pid shop -d 30s --events topdown-retiring,cpu/event=0xc2,umask=0x2/u,msr/tsc/\n  \
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
    /// Events to count as well, by the kernel's names (/sys/bus/event_source/devices/*/events), as PMU/NAME/ or PMU/term=value,…/, or perf's of software events; :u or :k behind one counts one mode only
    #[arg(long, value_name = "EVENT,…")]
    events: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write a row per counter
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also write a page with plots over time
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
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
    if args.slice < SHORTEST {
        return Err(Usage("--slice must be 10ms or more".into()).into());
    }
    let stop = interrupt::flag()?;
    let counting = counting(args.slice, args.events.as_deref())?;
    let unit = args.unit.as_deref();
    let aside = (args.json && !args.command.is_empty())
        .then(Aside::set)
        .transpose()?;
    let mut seen = match (&args.pid, unit) {
        (Some(pid), Some("none")) => {
            alone(loadline_record::resolve(pid)?, &args, &counting, &stop)?
        }
        (Some(pid), _) => {
            let target = Target::Pid(loadline_record::resolve(pid)?);
            recorded(target, &args, counting, &stop)?
        }
        (None, _) => recorded(
            Target::Command(args.command.clone()),
            &args,
            counting,
            &stop,
        )?,
    };
    if seen.counted.slices.is_empty() {
        anyhow::bail!(
            "the process ended before anything was counted: count for longer, or with a shorter --slice"
        );
    }
    let mut notes = std::mem::take(&mut seen.counted.notes);
    notes.extend(seen.notes);
    let summary = summarize(
        seen.target,
        Machine::this(),
        &seen.counted,
        &seen.names,
        seen.units.as_ref(),
        notes,
    );
    for (file, text) in [
        (&args.csv, Summary::csv as fn(&Summary) -> String),
        (&args.html, Summary::html),
    ] {
        if let Some(file) = file {
            std::fs::write(file, text(&summary)).with_context(|| file.display().to_string())?;
        }
    }
    drop(aside);
    show::out(&if args.json {
        serde_json::to_string_pretty(&summary)?
    } else {
        summary.render()
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Our stdout while it leads to stderr: what a program prints that we start goes there, so that what is piped on are the
/// figures alone. Back in its place when dropped.
struct Aside(OwnedFd);

impl Aside {
    fn set() -> Result<Aside> {
        let stdout = std::io::stdout()
            .as_fd()
            .try_clone_to_owned()
            .context("stdout cannot be set aside")?;
        // SAFETY: both are descriptors of ours, and nothing is printed meanwhile.
        match unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } {
            -1 => Err(std::io::Error::last_os_error()).context("stdout cannot be set aside"),
            _ => Ok(Aside(stdout)),
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // SAFETY: as above. It could fail only if there were no such descriptor.
        unsafe { libc::dup2(self.0.as_raw_fd(), libc::STDOUT_FILENO) };
    }
}

/// What is to be counted: everything that this machine can, and the events that were named.
pub fn counting(every: Duration, events: Option<&str>) -> Result<Counting> {
    let named = loadline_counters::resolve(events.unwrap_or_default()).map_err(Usage)?;
    Ok(Counting {
        every,
        plan: plan(named),
    })
}

struct Seen {
    target: String,
    counted: Counted,
    names: Names,
    units: Option<Units>,
    notes: Vec<String>,
}

/// From outside: nothing in the process is touched.
fn alone(pid: i32, args: &Args, counting: &Counting, stop: &AtomicBool) -> Result<Seen> {
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
    let sampler =
        Sampler::begin(pid, &counting.plan).with_context(|| format!("process {pid} is gone"))?;
    let over = Arc::new(AtomicBool::new(false));
    let bar = progress(args);
    let mut counted = std::thread::scope(|scope| {
        let counting = scope.spawn({
            let over = over.clone();
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
    leave_rest(&mut counted.slices, args.slice);
    Ok(Seen {
        target: format!("{name} (pid {pid})"),
        counted,
        names: Names::new(),
        units: None,
        notes: Vec::new(),
    })
}

fn progress(args: &Args) -> ProgressBar {
    show::bar(
        args.duration.map_or(0, |d| d.as_millis() as u64),
        "  counting   {bar:25} {elapsed}",
    )
}

/// What is left at the end joins nothing: too short for a rate, it would be an outlier.
fn leave_rest(slices: &mut Vec<Slice>, every: Duration) {
    let short = |s: &Slice| s.end_ns - s.begin_ns < every.as_nanos() as i64 / 2;
    if slices.len() > 1 && slices.last().is_some_and(short) {
        slices.pop();
    }
}

/// While the server and application levels are recorded, which tell units of work and Java's names of threads.
fn recorded(
    target: Target,
    args: &Args,
    counting: Counting,
    stop: &Arc<AtomicBool>,
) -> Result<Seen> {
    let scratch = Scratch::create("counters")?;
    let starts = matches!(target, Target::Command(_));
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
        stacks: None,
        samples: None,
        allocations: None,
        objects: Vec::new(),
        vm_log: 0,
        methods: None,
        ring_bytes: 1 << 20,
        redact: false,
        agent_capacity: 4 << 30,
        max_size: None,
        flight: None,
        counters: Some(counting),
    };
    let mut described = String::new();
    let bar = progress(args);
    let session = loadline_record::record(&options, stop, &mut |p| {
        bar.set_position(p.elapsed.as_millis() as u64);
        described.clone_from(&p.target);
    });
    bar.finish_and_clear();
    session?;
    let spool = RawDir::of(&scratch.trace()).counters();
    let text = std::fs::read_to_string(&spool).with_context(|| spool.display().to_string())?;
    let mut counted = Counted::read(&text);
    // The start of a JVM is no unit of work's.
    if starts && counted.slices.len() > 1 {
        counted.slices.remove(0);
    }
    leave_rest(&mut counted.slices, args.slice);
    loadline_analyze::build(&scratch.trace(), false, &mut |_, _| {})?;
    let trace = Trace::open(&scratch.trace())?;
    let names = names(&trace)?;
    let (units, notes) = match counted.slices.is_empty() {
        true => (None, Vec::new()),
        false => units(&trace, args.unit.as_deref(), &counted.slices)?,
    };
    Ok(Seen {
        target: described,
        counted,
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

/// The unit that was asked for, or the one that suits: requests, else the most frequent span of the application.
fn units(
    trace: &Trace,
    asked: Option<&str>,
    slices: &[Slice],
) -> Result<(Option<Units>, Vec<String>)> {
    let asked: Vec<String> = asked
        .map(|names| names.split(',').map(str::to_owned).collect())
        .unwrap_or_default();
    let names = match units::choose(trace, &asked)? {
        Choice::Names(names) => names,
        Choice::None(note) => return Ok((None, vec![note])),
    };
    let (done, wanted) = (units::DONE, units::is_one_of(&names));
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
            "WITH slice(begin_ns, nr) AS (VALUES {}) SELECT nr, count(*) FROM ({done}) AS done ASOF JOIN slice \
             ON done.end_ns >= slice.begin_ns WHERE {wanted} AND done.end_ns < {end} GROUP BY nr",
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
