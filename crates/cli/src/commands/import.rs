use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::show;

/// Make a trace of a recording of Java's flight recorder (JFR)
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    jcmd shop JFR.dump filename=/tmp/shop.jfr\n  \
    loadline import /tmp/shop.jfr -o shop.trace\n  \
    loadline report shop.trace\n  \
    loadline export shop.trace --to flame\n\n\
    It takes a JDK 17 or later (`java`, or JAVA_HOME). What a flight recording cannot say (thread states of the\n\
    kernel, requests, SQL) is named in the report.")]
pub struct Args {
    /// The flight recording
    #[arg(value_name = "FILE.jfr")]
    file: PathBuf,
    /// Directory of the trace to write; it must not exist yet
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let meta = loadline_analyze::import::jfr(&args.file, &args.output)?;
    let rows: u64 = meta.tables.values().sum();
    show::out(&format!(
        "wrote {} ({:.1} s recorded, {} rows)",
        args.output.display(),
        meta.seconds(),
        show::count(rows)
    ))?;
    Ok(ExitCode::SUCCESS)
}
