use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::record;

/// Turn a recording that was cut off (crash, kill, full disk) into a trace
#[derive(clap::Args)]
#[command(after_help = "Example:\n  loadline recover monday.trace && loadline report monday.trace")]
pub struct Args {
    /// The directory that `loadline record` was writing
    #[arg(value_name = "DIR")]
    trace: PathBuf,
    /// Keep the raw spools beside the tables
    #[arg(long)]
    keep_raw: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    loadline_record::recover(&args.trace)?;
    record::build_tables(&args.trace, args.keep_raw)?;
    Ok(ExitCode::SUCCESS)
}
