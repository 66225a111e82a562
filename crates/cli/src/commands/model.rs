use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use loadline_predict::fit;
use loadline_predict::write::{Assumed, summary, text};
use loadline_trace::Trace;

use crate::show;

/// Fit a model of a server to a recording under light or moderate load
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline model monday.trace -o shop.toml\n  \
    loadline model monday.trace -o shop.toml --scenario browsing --think 500ms --pool 10\n  \
    loadline simulate shop.toml --set rate=40 --set cpus=2\n  \
    loadline whatif shop.toml --p95 200ms --cpus 1,2,4 --pool 5,10,20")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote)
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Where the model goes [default: stdout]
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// The scenario of `loadline load` that was driven: its sessions, instead of connections as the recording shows them
    #[arg(long, value_name = "NAME|FILE")]
    scenario: Option<String>,
    /// The scenario's mean think time, if it was driven with another than its own
    #[arg(long, value_name = "TIME", value_parser = loadline_load::parse_duration, requires = "scenario")]
    think: Option<Duration>,
    /// Connections that the pool has: a recording shows only how many were used
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pool: Option<u32>,
    /// Worker threads that the server has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    workers: Option<u32>,
    /// Print what was fitted as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let trace = Trace::open(&args.trace)?;
    let seen = loadline_predict::observe::read(&trace)?;
    let name = args.trace.display();
    let why = |e: String| anyhow!("{name}: {e}");
    let visitors = match &args.scenario {
        None => fit::from_trace(&seen).map_err(why)?,
        Some(scenario) => {
            let mut scenario = super::load::scenario(scenario)?;
            scenario.think_mean = args.think.unwrap_or(scenario.think_mean);
            fit::from_scenario(&scenario, &seen).map_err(why)?
        }
    };
    let fitted = fit::fit(&seen, visitors).map_err(why)?;
    let assumed = Assumed {
        pool: args.pool,
        workers: args.workers,
    };
    let model = text(&fitted, &assumed);
    match &args.output {
        Some(file) => std::fs::write(file, &model).with_context(|| file.display().to_string())?,
        None if !args.json => show::out(&model)?,
        None => {}
    }
    if args.json {
        show::out(&serde_json::to_string_pretty(&fitted)?)?;
    } else {
        eprint!("{}", summary(&fitted));
    }
    Ok(ExitCode::SUCCESS)
}
