use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use loadline_trace::Trace;

use crate::show;

/// Print the summary of a trace: throughput, response times, where requests spent their time
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  loadline report monday.trace\n  loadline report --json monday.trace | jq .throughput"
)]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote)
    #[arg(value_name = "DIR")]
    trace: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let report = loadline_analyze::report::report(&Trace::open(&args.trace)?)?;
    let text = if args.json {
        serde_json::to_string_pretty(&report)?
    } else {
        report.render(show::color())
    };
    show::out(&text)?;
    Ok(ExitCode::SUCCESS)
}
