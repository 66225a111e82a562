use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};
use loadline_load::{
    Arrivals, Error, Http, Options, Part, Progress, Scenario, Summary, Target, Trust,
};

use crate::{Usage, interrupt, show};

/// Drive load at a server: sessions over TLS, with control of resumption
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline load https://127.0.0.1:8443 --insecure --users 50 --think 500ms -d 30s\n  \
    loadline load https://127.0.0.1:8443 --ca site.pem --rate 20 -d 1m --html load.html   (20 new sessions a second)\n  \
    loadline load http://127.0.0.1:8080 --scenario keep-alive --users 32 --think 0        (as wrk does)\n  \
    loadline load http://127.0.0.1:8080 --replay access.log --speed 10\n  \
    loadline load --example-config > storm.toml && loadline load https://127.0.0.1:8443 --insecure --scenario storm.toml\n\n\
    Built-in scenarios: browsing, bidding, handshake-storm, flash-crowd, keep-alive.")]
pub struct Args {
    /// The server: https://HOST:PORT or http://HOST:PORT
    #[arg(required_unless_present = "example_config")]
    target: Option<String>,
    /// A built-in scenario's name, or a TOML file
    #[arg(long, default_value = "browsing", value_name = "NAME|FILE")]
    scenario: String,
    /// Replay an access log (common or combined format) or a session log of httperf
    #[arg(long, value_name = "LOG", conflicts_with = "scenario")]
    replay: Option<PathBuf>,
    /// Replay so many times faster than it was
    #[arg(long, value_name = "FACTOR", value_parser = positive, default_value = "1", requires = "replay")]
    speed: f64,
    /// Closed load: this many users, each of whom thinks and clicks
    #[arg(long, value_name = "N", conflicts_with_all = ["rate", "requests"], value_parser = clap::value_parser!(u32).range(1..))]
    users: Option<u32>,
    /// Partly-open load: this many new sessions per second
    #[arg(long, value_name = "PER_SECOND", conflicts_with = "requests", value_parser = positive)]
    rate: Option<f64>,
    /// Open load: this many clicks per second, each by an idle visitor or a new one
    #[arg(long, value_name = "PER_SECOND", value_parser = positive)]
    requests: Option<f64>,
    /// Mean think time between two clicks (0 for none)
    #[arg(long, value_name = "TIME", value_parser = loadline_load::parse_duration)]
    think: Option<Duration>,
    /// How long a visitor waits for a page before leaving
    #[arg(long, value_name = "TIME", value_parser = show::parse_duration)]
    timeout: Option<Duration>,
    /// Count replies within this response time, and sessions whose replies all were
    #[arg(long, value_name = "TIME", value_parser = show::parse_duration)]
    objective: Option<Duration>,
    /// Version of HTTP
    #[arg(long, value_name = "1.1|2", value_parser = ["1.1", "2"])]
    http: Option<String>,
    /// Fetch images, styles and scripts of pages as a browser does
    #[arg(long)]
    resources: bool,
    /// How long
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = show::parse_duration)]
    duration: Duration,
    /// Load as much for so long before anything counts
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = loadline_load::parse_duration)]
    warmup: Duration,
    /// Same seed, same walks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Accept any certificate of the server
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
    /// Accept what the certificates of this PEM file vouch for
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Worker threads (of each process)
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Generator processes, driven as one
    #[arg(long, default_value_t = 1, value_name = "N")]
    processes: usize,
    /// CPUs for the workers, one each, in turn: 1 or 2,3
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cpus: Vec<usize>,
    /// Write every TLS handshake to this CSV file: port, kind, version, begin, end
    #[arg(long, value_name = "FILE")]
    handshakes: Option<PathBuf>,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Allow a target that is not this machine: repeat its host's name
    #[arg(long, value_name = "HOST")]
    i_own_this_target: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print a scenario file with every key explained, and end
    #[arg(long)]
    example_config: bool,
    /// What this process is of several: INDEX,OF,BEGIN (set by --processes)
    #[arg(long, hide = true, value_parser = part)]
    part: Option<Part>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if args.example_config {
        show::out(Scenario::EXAMPLE)?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = options(&args)?;
    if args.part.is_some() {
        // Ctrl-C in a terminal reaches every process; the one that drives the others says when.
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
        loadline_load::run_part(&options).map_err(wrong_usage)?;
        return Ok(ExitCode::SUCCESS);
    }
    let arrivals = options.scenario.arrivals;
    // A page that cannot be written is better told before the run than after it.
    if let Some(path) = &args.html {
        std::fs::write(path, "").with_context(|| format!("--html {}", path.display()))?;
    }
    let stop = interrupt::flag()?;
    let bar = show::bar(
        (args.warmup + args.duration).as_millis() as u64,
        "  {bar:25} {msg}",
    );
    let mut show_progress = |p: &Progress| {
        bar.set_position(p.elapsed.as_millis() as u64);
        bar.set_message(line(p));
    };
    let summary = if args.processes == 1 {
        loadline_load::run(&options, &stop, &mut show_progress)
    } else {
        let myself = std::env::current_exe().context("where this program is")?;
        let command = |part: Part| {
            let mut command = Command::new(&myself);
            command.args(std::env::args_os().skip(1)).arg(format!(
                "--part={},{},{}",
                part.index, part.of, part.begin_ns
            ));
            command
        };
        loadline_load::run_parts(
            &options,
            args.processes,
            &command,
            &stop,
            &mut show_progress,
        )
    };
    bar.finish_and_clear();
    let summary = summary.map_err(wrong_usage)?;
    print(&args, arrivals, &summary)?;
    match &summary.error {
        None => Ok(ExitCode::SUCCESS),
        Some(why) => {
            anyhow::bail!("{why}. What was measured until then is above, marked as partial")
        }
    }
}

fn options(args: &Args) -> Result<Options> {
    let target = Target::parse(args.target.as_deref().unwrap_or_default()).map_err(wrong_usage)?;
    let mut scenario = match &args.replay {
        Some(log) => Scenario::replaying(log, args.speed).map_err(wrong_usage)?,
        None => scenario(&args.scenario)?,
    };
    change(args, &mut scenario)?;
    Ok(Options {
        duration: args.duration,
        warmup: args.warmup,
        seed: args.seed,
        threads: args.threads,
        handshakes: args.handshakes.clone(),
        owned_target: args.i_own_this_target.clone(),
        trust: match &args.ca {
            _ if args.insecure => Trust::Any,
            Some(file) => Trust::File(file.clone()),
            None => Trust::System,
        },
        cpus: args.cpus.clone(),
        part: args.part.unwrap_or(Part::WHOLE),
        ..Options::new(target, scenario)
    })
}

/// What the command line says goes over what the scenario says.
fn change(args: &Args, scenario: &mut Scenario) -> Result<()> {
    let asked = args
        .users
        .map(|users| Arrivals::Closed { users })
        .or(args.rate.map(|rate| Arrivals::PartlyOpen { rate }))
        .or(args.requests.map(|rate| Arrivals::Open { rate }));
    if let Some(arrivals) = asked {
        if scenario.arrivals == Arrivals::Replay {
            let what = "an access log says itself when requests come: leave out --users, --rate and --requests";
            return Err(Usage(what.into()).into());
        }
        scenario.arrivals = arrivals;
    }
    if let Some(think) = args.think {
        scenario.think_mean = think;
    }
    if let Some(timeout) = args.timeout {
        scenario.timeout = timeout;
    }
    scenario.client.objective = args.objective.or(scenario.client.objective);
    if let Some(http) = &args.http {
        scenario.http = if http == "2" { Http::Two } else { Http::One };
    }
    scenario.client.resources |= args.resources;
    if let Some(replay) = &scenario.replay
        && replay.skipped() > 0
        && args.part.is_none()
    {
        eprintln!(
            "warning: {} lines of the log are no request that can be replayed; {} requests are",
            replay.skipped(),
            replay.requests()
        );
    }
    Ok(())
}

fn print(args: &Args, arrivals: Arrivals, summary: &Summary) -> Result<()> {
    if let Some(path) = &args.html {
        write_page(path, arrivals, summary)?;
    }
    if !args.json {
        return show::out(&summary.render(arrivals));
    }
    show::out(&serde_json::to_string_pretty(summary)?)?;
    if !std::io::stderr().is_terminal() {
        summary
            .warnings
            .iter()
            .for_each(|w| eprintln!("warning: {w}"));
    }
    Ok(())
}

fn write_page(path: &Path, arrivals: Arrivals, summary: &Summary) -> Result<()> {
    std::fs::write(path, summary.page(arrivals))
        .with_context(|| format!("--html {}", path.display()))
}

/// A built-in scenario, or one from a file.
pub fn scenario(name: &str) -> Result<Scenario> {
    if let Some(builtin) = Scenario::builtin(name) {
        return Ok(builtin);
    }
    let text = std::fs::read_to_string(name).with_context(|| {
        let known: Vec<_> = Scenario::builtin_names().collect();
        format!(
            "--scenario {name}: neither a built-in scenario ({}) nor a file that can be read",
            known.join(", ")
        )
    })?;
    Scenario::from_toml(&text, name).map_err(wrong_usage)
}

/// What the user asked for wrongly is exit code 2; what went wrong on the way is 1.
fn wrong_usage(e: Error) -> anyhow::Error {
    match e {
        Error::Scenario { .. }
        | Error::Target { .. }
        | Error::NotLoopback { .. }
        | Error::Option(_) => Usage(e.to_string()).into(),
        e => e.into(),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate.is_finite() => Ok(rate),
        _ => Err("it must be a number greater than 0".into()),
    }
}

fn part(text: &str) -> Result<Part, String> {
    let numbers: Vec<u64> = text.split(',').filter_map(|n| n.parse().ok()).collect();
    match numbers[..] {
        [index, of, begin_ns] => Ok(Part {
            index: index as usize,
            of: of as usize,
            begin_ns,
        }),
        _ => Err("it must be INDEX,OF,BEGIN".into()),
    }
}

fn line(p: &Progress) -> String {
    format!(
        "{:.1} s   {:.0} replies/s   p95 {:.1} ms   handshakes {} full {} resumed   {} sessions   {} failed",
        p.elapsed.as_secs_f64(),
        p.requests_per_s,
        p.p95_ms,
        p.full,
        p.resumed,
        p.active,
        p.failures
    )
}
