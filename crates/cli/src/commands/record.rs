use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jiff::Timestamp;
use loadline_record::{
    Dumped, Flight, Levels, Measure, Methods, Options, Redefinition, Target, Trigger, methods,
};
use loadline_trace::Meta;
use signal_hook::consts::SIGUSR1;

use crate::{Usage, companions, interrupt, show};

mod config;
mod display;
mod values;

pub use config::with_config;
use display::Display;
pub use display::introduction;
pub use values::parse_filter;
use values::{
    Allocations, Samples, Stacks, parse_allocations, parse_class, parse_samples, parse_stacks,
    parse_thread_filter, vm_log,
};

/// Record a running JVM, or one that it starts, into a trace
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline record --pid 4121 -o monday.trace -d 20s\n  \
    sudo loadline record --pid shop                          (by main class or jar; until Ctrl-C)\n  \
    sudo loadline record --pid shop --counters -d 20s        (what threads and requests cost: docs/counters.md)\n  \
    sudo loadline record --pid shop --samples -d 20s         (also which code runs: docs/record.md)\n  \
    sudo loadline record --pid shop --allocations -d 20s     (also which code allocates what)\n  \
    sudo loadline record --pid shop --methods 'com.shop.**' --methods '!com.shop.model.*.get*' -d 20s\n  \
    sudo loadline record --pid shop --syscalls -d 5s         (also every system call: dearer, see docs/record.md)\n  \
    loadline record --levels jvm,server,app --pid shop       (needs no privilege)\n  \
    sudo loadline record -o start.trace -- java -jar shop.jar\n  \
    sudo loadline record --pid shop --keep 60s               (leave it on; then: loadline dump shop)\n  \
    sudo loadline record --pid shop --keep 60s --when \"p95>250ms for 5s\" --when \"gc>200ms\"\n  \
    loadline record --example-config > shop.toml; sudo loadline record --config shop.toml\n  \
    sudo loadline record --pid shop --max-size 2G            (ends there; --at-max drop-oldest does not)\n\n\
    The agent is attached, records, and is dormant afterwards; JDK 17 and later. No loaded class is\n\
    redefined unless you say --redefine; what that leaves out is said.")]
pub struct Args {
    /// A running JVM: its process id, or a part of its main class or jar's name
    #[arg(
        long,
        value_name = "PID|NAME",
        required_unless_present_any = ["command", "example_config"],
        conflicts_with = "command"
    )]
    pid: Option<String>,
    /// Take options from this file too; what is said here goes before it
    #[arg(long, value_name = "FILE.toml")]
    #[allow(dead_code, reason = "read before the others are")]
    config: Option<PathBuf>,
    /// Print a configuration with every key explained, and end
    #[arg(long)]
    example_config: bool,
    /// Where to write the trace: a directory that does not exist yet [default: NAME-DATE-TIME.trace]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How long to record [default: until Ctrl-C, or until the JVM ends]
    #[arg(short, long, value_name = "TIME", value_parser = show::parse_duration)]
    duration: Option<Duration>,
    /// Also record every system call
    #[arg(long)]
    syscalls: bool,
    /// The levels to record
    #[arg(long, value_delimiter = ',', default_value = "kernel,jvm,server,app", value_name = "LIST",
          value_parser = ["kernel", "jvm", "server", "app"])]
    levels: Vec<String>,
    /// Also record what threads count: CPU time, faults, switches, and the processor's events, every TIME
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "200ms", value_parser = show::parse_duration)]
    counters: Option<Duration>,
    /// With --counters: further events, by the kernel's names (see `loadline counters --help`)
    #[arg(long, value_name = "EVENT,…", requires = "counters")]
    events: Option<String>,
    /// Size of the kernel's ring buffer, per CPU (a power of two)
    #[arg(long, default_value = "32M", value_parser = show::parse_size)]
    ring: u64,
    /// The most that the JVM, server and application levels may write together
    #[arg(long, default_value = "4G", value_parser = show::parse_size)]
    agent_max: u64,
    /// The most that the recording may take on the disk [default: no bound; with --keep 1G]
    #[arg(long, value_name = "SIZE", value_parser = show::parse_size)]
    max_size: Option<u64>,
    /// What happens at --max-size: end the recording, or drop the oldest
    #[arg(long, value_name = "WHAT", value_parser = ["stop", "drop-oldest"])]
    at_max: Option<String>,
    /// Flight recorder: keep this much of the past; `loadline dump`, SIGUSR1 and --when make a trace of it
    #[arg(long, value_name = "TIME", value_parser = show::parse_duration)]
    keep: Option<Duration>,
    /// Flight recorder: keep as much of the past as this holds (--max-size SIZE --at-max drop-oldest)
    #[arg(long, value_name = "SIZE", value_parser = show::parse_size, conflicts_with_all = ["max_size", "at_max"])]
    flight: Option<u64>,
    /// Dump when this comes true: p50, p90, p95, p99 > TIME, gc > TIME, or cpu > N%, each second; `for TIME` without a break
    #[arg(long, value_name = "TRIGGER", value_parser = Trigger::parse)]
    when: Vec<Trigger>,
    /// Least time between two dumps by --when
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = show::parse_duration)]
    dump_every: Duration,
    /// Most dumps by --when and SIGUSR1
    #[arg(long, value_name = "N", default_value_t = 10)]
    dumps: u32,
    /// Record where in the code waits of this length and longer were (locks, conditions, parks): TIME, or off
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = parse_stacks)]
    stacks: Stacks,
    /// Record which code runs: its stack each time that a thread has used TIME on a CPU (20ms if none is said), or off
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_value = "off", default_missing_value = "20ms", value_parser = parse_samples)]
    samples: Samples,
    /// Record which code allocates what: a sample each time that a thread has allocated SIZE more, on average (512K if none is said); or off
    #[arg(long, value_name = "SIZE", num_args = 0..=1, default_value = "off", default_missing_value = "512K", value_parser = parse_allocations)]
    allocations: Allocations,
    /// Record every object of a class, from its allocation to where the collector finds it dead: com.shop.Cart, com.shop.*; each allocation of the program becomes dearer
    #[arg(long, value_name = "CLASS", value_parser = parse_class)]
    allocation_of: Vec<String>,
    /// Also record what the JVM itself does: gc-phases, compilations, deoptimizations, class-loads, or all
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["gc-phases", "compilations", "deoptimizations", "class-loads", "all"])]
    vm: Vec<String>,
    /// Record invocations of methods: com.shop.**, com.shop.Cart.add, !**.get*; several go in order, and the last that matches decides
    #[arg(long, value_name = "FILTER", value_parser = parse_filter)]
    methods: Vec<String>,
    /// With --methods: on these threads only, by name: http-*, !batch-*; in order too
    #[arg(long, value_name = "FILTER", value_parser = parse_thread_filter, requires = "methods")]
    method_threads: Vec<String>,
    /// With --methods and without the kernel level, which tells it anyway: also the CPU time of each invocation
    #[arg(long, requires = "methods")]
    method_cpu: bool,
    /// With --methods: only count invocations that are shorter than this
    #[arg(long, value_name = "TIME", value_parser = show::parse_duration, requires = "methods")]
    method_min: Option<Duration>,
    /// Redefine loaded classes for what hooks do not see; up to JDK 21 this throws all compiled code away, once
    #[arg(long, conflicts_with = "command")]
    redefine: bool,
    /// With --redefine: redefine them once more at the end, instead of leaving the probes dormant
    #[arg(long, requires = "redefine")]
    restore: bool,
    /// Leave addresses, and what stands for one customer in a path, out of the trace
    #[arg(long, conflicts_with = "keep_raw")]
    redact: bool,
    /// Keep the raw spools beside the tables
    #[arg(long)]
    keep_raw: bool,
    /// Start this JVM and record it until it ends
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Which methods are to be recorded, if any.
fn wanted_methods(args: &Args, levels: &Levels) -> Result<Option<Methods>> {
    if args.methods.is_empty() {
        return Ok(None);
    }
    if !(levels.jvm || levels.server || levels.app) {
        return Err(
            Usage("--methods needs the agent: add app, server or jvm to --levels".into()).into(),
        );
    }
    let wanted = Methods {
        filters: args.methods.clone(),
        threads: args.method_threads.clone(),
        cpu: args.method_cpu,
        shortest: args.method_min.unwrap_or_default(),
    };
    let filters = methods::text(&wanted).map_err(|e| Usage(format!("--methods: {e}")))?;
    methods::with_classes(filters, &args.allocation_of)
        .map_err(|e| Usage(format!("--methods and --allocation-of: {e}")))?;
    Ok(Some(wanted))
}

pub fn run(args: Args) -> Result<ExitCode> {
    if args.example_config {
        show::out(config::EXAMPLE)?;
        return Ok(ExitCode::SUCCESS);
    }
    let level = |name: &str| args.levels.iter().any(|l| l == name);
    let levels = Levels {
        kernel: level("kernel"),
        syscalls: args.syscalls,
        jvm: level("jvm"),
        server: level("server"),
        app: level("app"),
    };
    if args.syscalls && !levels.kernel {
        return Err(Usage("--syscalls needs the kernel level: add it to --levels".into()).into());
    }
    if args.samples.0.is_some() && !levels.jvm {
        return Err(Usage("--samples needs the jvm level: add it to --levels".into()).into());
    }
    if args.allocations.0.is_some() && !levels.jvm {
        return Err(Usage("--allocations needs the jvm level: add it to --levels".into()).into());
    }
    if !args.allocation_of.is_empty() {
        if !levels.jvm {
            return Err(
                Usage("--allocation-of needs the jvm level: add it to --levels".into()).into(),
            );
        }
        if args.allocations.0.is_some() {
            return Err(Usage(
                "--allocation-of looks at every allocation: leave --allocations out".into(),
            )
            .into());
        }
    }
    if !args.vm.is_empty() && !levels.jvm {
        return Err(Usage("--vm needs the jvm level: add it to --levels".into()).into());
    }
    if !args.ring.is_power_of_two() || args.ring < 1 << 16 || args.ring > 1 << 30 {
        return Err(Usage(format!(
            "--ring is {} bytes; it must be a power of two from 64K to 1G",
            args.ring
        ))
        .into());
    }
    if args
        .counters
        .is_some_and(|every| every < super::counters::SHORTEST)
    {
        return Err(Usage("--counters must be 10ms or more".into()).into());
    }
    let counters = match args.counters {
        Some(every) => Some(super::counters::counting(every, args.events.as_deref())?),
        None => None,
    };
    let flight = flight(&args, &levels)?;
    let methods = wanted_methods(&args, &levels)?;
    let target = match &args.pid {
        Some(text) => Target::Pid(loadline_record::resolve(text)?),
        None => Target::Command(args.command),
    };
    let out = match args.out {
        Some(dir) => dir,
        None => default_out(&target),
    };
    let options = Options {
        target,
        out: out.clone(),
        levels,
        duration: args.duration,
        agent: companions::agent()?,
        redact: args.redact,
        redefinition: match (args.redefine, args.restore) {
            (false, _) => Redefinition::Never,
            (true, false) => Redefinition::Allowed,
            (true, true) => Redefinition::AndRestored,
        },
        stacks: args.stacks.0,
        samples: args.samples.0,
        allocations: args.allocations.0,
        objects: args.allocation_of.clone(),
        vm_log: vm_log(&args.vm),
        methods,
        ring_bytes: args.ring as usize,
        agent_capacity: args.agent_max,
        counters,
        max_size: args.max_size,
        flight,
    };
    let stop = interrupt::flag()?;
    let mut display = Display::new(args.duration, args.max_size);
    let mut dumps = Dumps::default();
    let recorded = loadline_record::record(&options, &stop, &mut |p| {
        display.show(p);
        if let Some(dumped) = &p.dumped {
            display.bar.suspend(|| dumps.finish(dumped));
        }
    });
    display.end();
    let recorded = recorded?;
    for note in recorded
        .notes
        .iter()
        .filter(|n| n.starts_with("The recording ended"))
    {
        eprintln!("  note: {note}");
    }
    build_tables(&out, args.keep_raw)?;
    dumps.wait();
    let out = out.display();
    eprintln!("  next: loadline report {out}     loadline open {out}");
    Ok(match recorded.target_exit {
        Some(status) if status != 0 && !interrupt::requested(&stop) => {
            eprintln!("  note: the command ended with exit status {status}");
            ExitCode::from(1)
        }
        _ => ExitCode::SUCCESS,
    })
}

/// What is kept, if the oldest is to be dropped.
fn flight(args: &Args, levels: &Levels) -> Result<Option<Flight>> {
    let usage = |text: &str| Err(Usage(text.into()).into());
    // Caught in any case: otherwise it would kill a recorder that keeps nothing.
    let signal = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGUSR1, Arc::clone(&signal)).context("cannot catch SIGUSR1")?;
    for trigger in &args.when {
        match trigger.measure {
            Measure::Percentile(_) if !levels.server => {
                return usage(
                    "--when with a percentile needs the server level: add it to --levels",
                );
            }
            Measure::Gc if !levels.jvm => {
                return usage("--when with gc needs the jvm level: add it to --levels");
            }
            _ => {}
        }
    }
    let drops = args.at_max.as_deref() == Some("drop-oldest");
    if args.at_max.as_deref() == Some("stop") && args.keep.is_some() {
        return usage("--keep drops the oldest: leave --at-max stop out");
    }
    if drops && args.max_size.is_none() {
        return usage("--at-max drop-oldest needs --max-size: how much may it take?");
    }
    if args.keep.is_none() && args.flight.is_none() && !drops {
        return match args.when.is_empty() {
            true => Ok(None),
            false => {
                usage("--when dumps what is kept: say how much with --keep 60s or --flight 256M")
            }
        };
    }
    let max_size = args.flight.or(args.max_size).unwrap_or(Flight::MAX_SIZE);
    if max_size < Flight::LEAST_SIZE {
        return usage("the size to keep must be 32M or more: each thread takes 128 kB of it");
    }
    if args.keep.is_some_and(|keep| keep < Duration::from_secs(1)) {
        return usage("--keep must be 1s or more");
    }
    Ok(Some(Flight {
        keep: args.keep,
        max_size,
        when: args.when.clone(),
        apart: args.dump_every,
        most: args.dumps,
        signal,
    }))
}

/// Dumps that nobody waits for: their tables are made by processes of their own, of low priority.
#[derive(Default)]
struct Dumps(Vec<Child>);

impl Dumps {
    fn finish(&mut self, dumped: &Dumped) {
        let made = dumped.dir.as_ref().map_err(Clone::clone).and_then(|dir| {
            let own = std::env::current_exe().map_err(|e| e.to_string())?;
            let child = Command::new("nice")
                .args(["-n", "19"])
                .arg(own)
                .arg("recover")
                .arg(dir)
                .stdin(Stdio::null())
                .spawn()
                .map_err(|e| format!("cannot run nice: {e}; loadline recover {}", dir.display()))?;
            Ok((dir, child))
        });
        match made {
            Ok((dir, child)) => {
                eprintln!("  dumped {} ({})", dir.display(), dumped.why);
                self.0.push(child);
            }
            Err(e) => eprintln!("  no dump ({}): {e}", dumped.why),
        }
    }

    fn wait(&mut self) {
        for child in &mut self.0 {
            // What went wrong it has said itself.
            let _ = child.wait();
        }
    }
}

/// Turns raw spools into tables, with a bar, and says what came of it.
pub fn build_tables(dir: &Path, keep_raw: bool) -> Result<Meta> {
    let begin = Instant::now();
    let bar = show::bar(1000, "  writing    {bar:25} {msg}");
    let meta = loadline_analyze::build(dir, keep_raw, &mut |part, what| {
        bar.set_position((part * 1000.0) as u64);
        bar.set_message(what.to_owned());
    })
    .with_context(|| {
        format!(
            "the raw recording is kept in {0}/raw; `loadline recover {0}` tries again",
            dir.display()
        )
    })?;
    bar.finish_and_clear();
    loadline_record::give_to_caller(dir)
        .with_context(|| format!("cannot give {} to who called sudo", dir.display()))?;
    let rows: u64 = meta.tables.values().sum();
    eprintln!(
        "  wrote {} ({:.1} s recorded, {} rows, {}) in {:.1} s{}",
        dir.display(),
        meta.seconds(),
        show::count(rows),
        show::bytes(size_of_tables(dir)),
        begin.elapsed().as_secs_f64(),
        match meta.lost() {
            0 => String::new(),
            n => format!("; {} events LOST: {:?}", show::count(n), meta.losses),
        }
    );
    Ok(meta)
}

fn size_of_tables(dir: &Path) -> u64 {
    std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.metadata().ok())
        .filter(|m| m.is_file())
        .map(|m| m.len())
        .sum()
}

/// `shop-20261121-0930.trace`: sorts by time, and says what it is.
pub fn default_out(target: &Target) -> PathBuf {
    let name = match target {
        Target::Pid(pid) => loadline_record::running_jvms()
            .into_iter()
            .find(|jvm| jvm.pid == *pid)
            .map(|jvm| jvm.name),
        Target::Command(_) => None,
    };
    let name: String = name
        .unwrap_or_else(|| "java".into())
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    PathBuf::from(format!("{name}-{}.trace", stamp(Timestamp::now())))
}

/// UTC date and time without separators that a shell would mind.
fn stamp(now: Timestamp) -> String {
    now.strftime("%Y%m%d-%H%M%S").to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: super::Args,
    }

    #[test]
    fn samples_and_allocations_have_values_of_their_own() {
        let of = |words: &[&str]| {
            let line = ["record", "--pid", "1"].iter().chain(words);
            let args = Line::try_parse_from(line).expect("valid").args;
            (args.samples.0, args.allocations.0)
        };
        let ms = |n| Some(Duration::from_millis(n));
        assert_eq!(of(&[]), (None, None));
        assert_eq!(
            of(&["--samples", "--allocations", "-d", "5s"]),
            (ms(20), Some(512 << 10))
        );
        assert_eq!(
            of(&["--samples", "5ms", "--allocations=2M"]),
            (ms(5), Some(2 << 20))
        );
    }

    #[test]
    fn a_default_name_tells_the_time() {
        let then = jiff::Timestamp::from_second(1_795_246_200).expect("a time");
        assert_eq!(super::stamp(then), "20261121-073000");
    }
}
