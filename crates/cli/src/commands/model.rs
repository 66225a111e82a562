use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use loadline_predict::fit;
use loadline_predict::observe::Observed;
use loadline_predict::write::{Assumed, summary, text};
use loadline_trace::Trace;

use crate::show;

/// Fit a model of a server to a recording under light or moderate load, or to several under different loads
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline model monday.trace -o shop.toml\n  \
    loadline model monday.trace -o shop.toml --scenario browsing --think 500ms --pool 10\n  \
    loadline model light.trace moderate.trace -o shop.toml      # and what changes with load\n  \
    loadline model --from recordings -o shop.toml               # all traces in a folder\n  \
    loadline simulate shop.toml --set rate=40 --set cpus=2\n  \
    loadline whatif shop.toml --p95 200ms --cpus 1,2,4 --pool 5,10,20")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote); several, of one server, also tell what changes with load
    #[arg(value_name = "TRACE", required_unless_present = "from")]
    traces: Vec<PathBuf>,
    /// A folder: all traces in it
    #[arg(long, value_name = "DIR", conflicts_with = "traces")]
    from: Option<PathBuf>,
    /// Where the model goes [default: stdout]
    #[arg(short, long, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// The scenario of `loadline load` that was driven: its sessions, instead of connections as the recording shows them
    #[arg(long, value_name = "NAME|FILE")]
    scenario: Option<String>,
    /// The scenario's mean think time, if it was driven with another than its own
    #[arg(long, value_name = "TIME", value_parser = loadline_load::parse_duration, requires = "scenario")]
    think: Option<Duration>,
    /// Connections that each pool has, in place of what the recording says, or HikariCP's default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pool: Option<u32>,
    /// Worker threads that the server has, in place of what the recording says, or Tomcat's default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    workers: Option<u32>,
    /// Print what was fitted as JSON
    #[arg(long)]
    json: bool,
}

/// The traces in a folder, by name.
fn traces_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let name = dir.display();
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| format!("{name}: cannot be read"))? {
        let path = entry
            .with_context(|| format!("{name}: cannot be read"))?
            .path();
        if path.join("trace.json").is_file() {
            traces.push(path);
        }
    }
    if traces.is_empty() {
        bail!("{name}: no trace is in this folder (a trace is a folder with a trace.json)");
    }
    traces.sort();
    Ok(traces)
}

pub fn run(args: Args) -> Result<ExitCode> {
    let traces = match &args.from {
        Some(dir) => traces_in(dir)?,
        None => args.traces.clone(),
    };
    let mut recordings = Vec::new();
    for trace in &traces {
        recordings.push(loadline_predict::observe::read(&Trace::open(trace)?)?);
    }
    let scenario = match &args.scenario {
        None => None,
        Some(name) => {
            let mut scenario = super::load::scenario(name)?;
            scenario.think_mean = args.think.unwrap_or(scenario.think_mean);
            Some(scenario)
        }
    };
    let visitors = |seen: &Observed| match &scenario {
        None => fit::from_trace(seen),
        Some(scenario) => fit::from_scenario(scenario, seen),
    };
    let fitted = fit::fit_several(&recordings, visitors).map_err(|e| match &traces[..] {
        [one] => anyhow!("{}: {e}", one.display()),
        _ => anyhow!(e),
    })?;
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
