use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use loadline_model::lqn;

use super::export::write_new;
use crate::show;

/// Make a trace of a recording of Java's flight recorder (JFR), or a model of a layered queueing network (lqns)
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    jcmd shop JFR.dump filename=/tmp/shop.jfr\n  \
    loadline import /tmp/shop.jfr -o shop.trace\n  \
    loadline report shop.trace\n  \
    loadline export shop.trace --to flame\n  \
    loadline import shop.lqnx -o shop.toml && loadline simulate shop.toml\n\n\
    A flight recording takes a JDK 17 or later (`java`, or JAVA_HOME). What a flight recording cannot say (thread states of the\n\
    kernel, requests, SQL) is named in the report.")]
pub struct Args {
    /// The flight recording, or a layered queueing network in the XML of lqns
    #[arg(value_name = "FILE.jfr|FILE.lqnx")]
    file: PathBuf,
    /// Directory of the trace, or file of the model, to write; it must not exist yet
    #[arg(short, long, value_name = "DIR|FILE.toml")]
    output: PathBuf,
}

pub fn run(args: Args) -> Result<ExitCode> {
    // A flight recording is no text.
    if let Ok(text) = std::fs::read_to_string(&args.file)
        && lqn::is_lqn(&text)
    {
        let file = args.file.display().to_string();
        let model = lqn::import(&text, &file).map_err(|e| anyhow!("{e}"))?;
        write_new(&args.output, &model)?;
        show::out(&format!("wrote {}", args.output.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
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
