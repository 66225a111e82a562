use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use loadline_load::{Arrivals, Error, Options, Progress, Scenario, Target};

use crate::{Usage, interrupt, show};

/// Drive load at a server: sessions over TLS, with control of resumption
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline load https://127.0.0.1:8443 --users 50 --think 500ms -d 30s\n  \
    loadline load https://127.0.0.1:8443 --rate 20 -d 1m --json         (20 new sessions a second)\n  \
    loadline load --example-config > storm.toml && loadline load https://127.0.0.1:8443 --scenario storm.toml\n\n\
    Certificates are not verified: this measures servers, it does not talk to strangers.")]
pub struct Args {
    /// The server: https://HOST:PORT or http://HOST:PORT
    #[arg(required_unless_present = "example_config")]
    target: Option<String>,
    /// A built-in scenario's name, or a TOML file
    #[arg(long, default_value = "browsing", value_name = "NAME|FILE")]
    scenario: String,
    /// Closed load: this many users, each of whom thinks and clicks
    #[arg(long, value_name = "N", conflicts_with = "rate", value_parser = clap::value_parser!(u32).range(1..))]
    users: Option<u32>,
    /// Partly-open load: this many new sessions per second
    #[arg(long, value_name = "PER_SECOND", value_parser = positive)]
    rate: Option<f64>,
    /// Mean think time between two clicks (0 for none)
    #[arg(long, value_name = "TIME", value_parser = loadline_load::parse_duration)]
    think: Option<Duration>,
    /// How long
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = show::parse_duration)]
    duration: Duration,
    /// Same seed, same walks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Worker threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Write every TLS handshake to this CSV file: port, kind, version, begin, end
    #[arg(long, value_name = "FILE")]
    handshakes: Option<PathBuf>,
    /// Allow a target that is not this machine: repeat its host's name
    #[arg(long, value_name = "HOST")]
    i_own_this_target: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print a scenario file with every key explained, and end
    #[arg(long)]
    example_config: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if args.example_config {
        show::out(Scenario::EXAMPLE)?;
        return Ok(ExitCode::SUCCESS);
    }
    let target = Target::parse(args.target.as_deref().unwrap_or_default()).map_err(wrong_usage)?;
    let mut scenario = scenario(&args.scenario)?;
    if let Some(users) = args.users {
        scenario.arrivals = Arrivals::Closed { users };
    }
    if let Some(rate) = args.rate {
        scenario.arrivals = Arrivals::PartlyOpen { rate };
    }
    if let Some(think) = args.think {
        scenario.think_mean = think;
    }
    let arrivals = scenario.arrivals;
    let options = Options {
        duration: args.duration,
        seed: args.seed,
        threads: args.threads,
        handshakes: args.handshakes,
        owned_target: args.i_own_this_target,
        ..Options::new(target, scenario)
    };
    let stop = interrupt::flag()?;
    let bar = show::bar(args.duration.as_millis() as u64, "  {bar:25} {msg}");
    let summary = loadline_load::run(&options, &stop, &mut |p| {
        bar.set_position(p.elapsed.as_millis() as u64);
        bar.set_message(line(p));
    });
    bar.finish_and_clear();
    let summary = summary.map_err(wrong_usage)?;
    if args.json {
        show::out(&serde_json::to_string_pretty(&summary)?)?;
        if !std::io::stderr().is_terminal() {
            summary
                .warnings
                .iter()
                .for_each(|w| eprintln!("warning: {w}"));
        }
    } else {
        show::out(&summary.render(arrivals))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn scenario(name: &str) -> Result<Scenario> {
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
