use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use loadline_model::load::Setting;
use loadline_model::sweep::Range;
use loadline_predict::whatif::{self, Find, Question};

use super::simulate::setting;
use crate::show;

/// Find the load line of a model, and what would move it
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline whatif shop.toml --p95 200ms\n  \
    loadline whatif shop.toml --p95 200ms --cpus 1,2,4 --pool 5,10,20\n  \
    loadline whatif shop.toml --over resume_later=0..1:0.5 --html whatif.html\n  \
    loadline whatif shop.toml --p95 200ms --find \"smallest pool=1..50 at 300\"\n  \
    loadline whatif shop.toml --sensitivities")]
pub struct Args {
    /// The model
    #[arg(value_name = "MODEL.toml")]
    model: PathBuf,
    /// Most that the 95th percentile of response time may be [default: four times its value at light load]
    #[arg(long, value_name = "TIME", value_parser = show::parse_duration)]
    p95: Option<Duration>,
    /// CPU counts to compare: the parameter `cpus`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cpus: Vec<String>,
    /// Pool sizes to compare: the parameter `pool`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pool: Vec<String>,
    /// Any other parameter to vary: 1..16, 1..16:3 (step), 1..64*2 (factor) or 1,2,5 (repeat for all combinations)
    #[arg(long, value_name = "NAME=RANGE", value_parser = Range::parse)]
    over: Vec<Range>,
    /// Set a parameter of the model (repeat for more)
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// The parameter that is the offered load
    #[arg(long, value_name = "NAME", default_value = "rate")]
    load: String,
    /// Search a parameter: `smallest pool=1..50 at 300`, `largest think=…`; needs --p95
    #[arg(long, value_name = "WHAT", requires = "p95")]
    find: Option<Find>,
    /// Say what 1% less CPU of each kind would bring (the parameters that end in _factor)
    #[arg(long)]
    sensitivities: bool,
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

/// Reads a model's text; its own errors come when it is evaluated.
pub fn text_of(model: &std::path::Path) -> Result<String> {
    std::fs::read_to_string(model).with_context(|| format!("{}: cannot be read", model.display()))
}

/// Threads to use where nothing is said.
pub fn workers(given: Option<NonZeroUsize>) -> usize {
    given.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    )
}

pub fn run(args: Args) -> Result<ExitCode> {
    let mut over: Vec<(String, Vec<String>)> = Vec::new();
    for (name, values) in [("cpus", args.cpus), ("pool", args.pool)] {
        if !values.is_empty() {
            over.push((name.into(), values));
        }
    }
    over.extend(args.over.into_iter().map(|r| (r.name, r.values)));
    let question = Question {
        text: text_of(&args.model)?,
        file: args.model.display().to_string(),
        settings: args.set,
        load: args.load,
        p95: args.p95.map(|d| d.as_secs_f64()),
        over,
        sensitivities: args.sensitivities,
        find: args.find,
        requests: args.requests.get(),
        seed: args.seed,
        workers: workers(args.workers),
    };
    let bar = show::bar(0, "  {spinner} {msg}");
    let answer = whatif::ask(&question, &mut |at| {
        bar.set_message(at.to_owned());
        bar.tick();
    })?;
    bar.finish_and_clear();
    if let Some(path) = &args.html {
        std::fs::write(path, whatif::page(&answer)).with_context(|| path.display().to_string())?;
    }
    show::out(&if args.json {
        serde_json::to_string_pretty(&answer)?
    } else {
        whatif::text(&answer)
    })?;
    // A question that the model answers with "never" is answered; a load line that does not exist is not found.
    let nothing = answer.cells.iter().all(|c| c.load_line.is_none());
    Ok(ExitCode::from(u8::from(nothing)))
}
