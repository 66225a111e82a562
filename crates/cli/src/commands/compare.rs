use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use loadline_predict::compare;

use super::whatif::Evaluated;
use crate::show;

/// Hold a model's predictions against measurements
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline compare shop.toml shop.characterize --html compare.html\n  \
    loadline load https://127.0.0.1:8443 --insecure --rate 40 -d 1m --json > at40.json && loadline compare shop.toml at40.json\n  \
    loadline compare shop.toml shop.characterize --set speed=0.93")]
pub struct Args {
    #[command(flatten)]
    model: Evaluated,
    /// What was measured: the folder of `characterize` (or its result.json), or the output of `loadline load --json`
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (measured, lines) = compare::read(&args.result)?;
    let question = args.model.question()?;
    let what = args.result.display().to_string();
    let comparison = compare::compare(&question, &measured, &lines, &what)?;
    if let Some(path) = &args.html {
        std::fs::write(path, compare::page(&comparison))
            .with_context(|| path.display().to_string())?;
    }
    show::out(&if args.json {
        serde_json::to_string_pretty(&comparison)?
    } else {
        compare::text(&comparison)
    })?;
    Ok(ExitCode::SUCCESS)
}
