use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use loadline_model::load::Setting;
use loadline_predict::compare;
use loadline_predict::whatif::Question;

use super::simulate::setting;
use super::whatif::{text_of, workers};
use crate::show;

/// Hold a model's predictions against measurements
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline compare shop.toml shop.characterize --html compare.html\n  \
    loadline load https://127.0.0.1:8443 --insecure --rate 40 -d 1m --json > at40.json && loadline compare shop.toml at40.json\n  \
    loadline compare shop.toml shop.characterize --set speed=0.93")]
pub struct Args {
    /// The model
    #[arg(value_name = "MODEL.toml")]
    model: PathBuf,
    /// What was measured: the folder of `characterize` (or its result.json), or the output of `loadline load --json`
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Set a parameter of the model (repeat for more)
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// The parameter that is the offered load
    #[arg(long, value_name = "NAME", default_value = "rate")]
    load: String,
    /// Requests of one run: many times what a session lasts, whose beginning does not count
    #[arg(long, value_name = "N", default_value = "40000")]
    requests: NonZeroU64,
    /// Equal seeds, equal results
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (measured, lines) = compare::read(&args.result)?;
    let question = Question {
        text: text_of(&args.model)?,
        file: args.model.display().to_string(),
        settings: args.set,
        load: args.load,
        p95: None,
        over: Vec::new(),
        sensitivities: false,
        find: None,
        requests: args.requests.get(),
        seed: args.seed,
        workers: workers(args.workers),
    };
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
