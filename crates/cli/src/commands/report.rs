use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use loadline_analyze::metrics;
use loadline_trace::Trace;

use crate::show;

/// Print the summary of a trace: throughput, response times, where requests spent their time
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline report monday.trace\n  \
    loadline report --json monday.trace | jq .throughput\n  \
    loadline report --example-metrics > metrics.toml                # metrics of your own: named SQL\n  \
    loadline report --metrics metrics.toml monday.trace")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote)
    #[arg(value_name = "DIR", required_unless_present = "example_metrics")]
    trace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show these metrics too: named SQL in a TOML file
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// Print an example of such a file
    #[arg(long)]
    example_metrics: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let Some(trace) = args.trace.filter(|_| !args.example_metrics) else {
        show::out(metrics::EXAMPLE)?;
        return Ok(ExitCode::SUCCESS);
    };
    let wanted = args.metrics.as_deref().map(metrics::load).transpose()?;
    let trace = Trace::open(&trace)?;
    let mut report = loadline_analyze::report::report(&trace)?;
    report.metrics = metrics::measure(&trace, &wanted.unwrap_or_default())?;
    let text = if args.json {
        serde_json::to_string_pretty(&report)?
    } else {
        report.render(show::color())
    };
    show::out(&text)?;
    Ok(ExitCode::SUCCESS)
}
