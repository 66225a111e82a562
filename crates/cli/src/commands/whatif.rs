use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use loadline_model::language::Setting;
use loadline_model::sweep::Range;
use loadline_predict::whatif::{self, Find, Question};

use super::simulate::setting;
use crate::{Usage, show};

/// Find the load line of a model, and what would move it
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline whatif shop.toml --p95 200ms\n  \
    loadline whatif shop.toml --p95 200ms --cpus 1,2,4 --pool 5,10,20\n  \
    loadline whatif shop.toml --over resume_later=0..1:0.5 --html whatif.html\n  \
    loadline whatif shop.toml --p95 200ms --find \"smallest pool=1..50 at 300\"\n  \
    loadline whatif shop.toml --sensitivities")]
pub struct Args {
    #[command(flatten)]
    model: Evaluated,
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
    /// Search a parameter: `smallest pool=1..50 at 300`, `largest think=…`; needs --p95
    #[arg(long, value_name = "WHAT", requires = "p95")]
    find: Option<Find>,
    /// Say what 1% less CPU of each kind would bring (the parameters that end in _factor)
    #[arg(long)]
    sensitivities: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// A model and how it is to be evaluated: what `whatif` and `compare` both take.
#[derive(clap::Args)]
pub struct Evaluated {
    /// The model
    #[arg(value_name = "MODEL.toml")]
    model: PathBuf,
    /// Set a parameter of the model (repeat for more)
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// The parameter that is the offered load
    #[arg(long, value_name = "NAME", default_value = "rate")]
    load: String,
    /// Change the load over each run as this scenario of `loadline load` does (a built-in one's name, or a file): its phases
    #[arg(long, value_name = "NAME|FILE")]
    arrivals: Option<String>,
    /// Requests of one run: many times what a session lasts, whose beginning does not count
    #[arg(long, value_name = "N", default_value = "40000")]
    requests: NonZeroU64,
    /// Equal seeds, equal results
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
}

/// How the load of a scenario changes over a run.
pub fn schedule(scenario: Option<&str>) -> Result<Option<loadline_load::Schedule>> {
    let Some(name) = scenario else {
        return Ok(None);
    };
    let schedule = super::load::scenario(name)?.schedule;
    if schedule.is_constant() {
        let what = "the load of this scenario does not change: it has no [[arrivals.phase]]";
        return Err(Usage(format!("--arrivals {name}: {what}")).into());
    }
    Ok(Some(schedule))
}

impl Evaluated {
    /// What is asked of it, with no objective and nothing varied. Errors of the model's text come when it is evaluated.
    pub fn question(self) -> Result<Question> {
        let file = self.model.display().to_string();
        Ok(Question {
            text: std::fs::read_to_string(&self.model)
                .with_context(|| format!("{file}: cannot be read"))?,
            file,
            settings: self.set,
            load: self.load,
            schedule: schedule(self.arrivals.as_deref())?,
            p95: None,
            over: Vec::new(),
            sensitivities: false,
            find: None,
            requests: self.requests.get(),
            seed: self.seed,
            workers: self.workers.map_or_else(
                || std::thread::available_parallelism().map_or(1, usize::from),
                usize::from,
            ),
        })
    }
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
        p95: args.p95.map(|d| d.as_secs_f64()),
        over,
        sensitivities: args.sensitivities,
        find: args.find,
        ..args.model.question()?
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
