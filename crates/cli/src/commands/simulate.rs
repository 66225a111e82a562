use std::process::ExitCode;

use anyhow::{Result, anyhow};
use loadline_model::{args, command};

use crate::{Usage, show};

/// Evaluate a model of a server: throughput, response times, queues, with confidence intervals
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// As `loadline simulate --help` says
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let arguments =
        args::parse(args.arguments).map_err(|e| Usage(format!("{e}\n\n{}", args::USAGE)))?;
    let output = command::run(&arguments).map_err(|e| anyhow!(e))?;
    show::out(&output.text)?;
    Ok(ExitCode::from(u8::from(!output.steady)))
}
