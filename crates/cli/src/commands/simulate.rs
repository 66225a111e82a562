use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use loadline_model::command::{self, Arguments};
use loadline_model::language::Setting;
use loadline_model::run::Options;
use loadline_model::solve::Solver;
use loadline_model::sweep::Range;

use super::whatif::schedule;
use crate::show;

/// Evaluate a model of a server: throughput, response times, queues, with confidence intervals
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline simulate models/tomcat.toml --sweep rate=20..240:20\n  \
    loadline simulate models/threading/thread-pool.toml --set clients=64 --set servant_cpu=5ms\n  \
    loadline simulate models/weather.toml --sweep arrival_rate=1..18 --html weather.html\n  \
    loadline simulate shop.toml --arrivals flash-crowd --html crowd.html\n  \
    loadline simulate --example-config > shop.toml && loadline simulate shop.toml")]
pub struct Args {
    /// The model
    #[arg(value_name = "MODEL.toml", required_unless_present = "example_config")]
    model: Option<String>,
    /// Who answers: auto takes an exact solver if one applies, else simulation
    #[arg(
        long,
        value_name = "auto|simulate|mva|approximate",
        default_value = "auto"
    )]
    solver: Solver,
    /// Set a parameter of the model (repeat for more)
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// Evaluate over a range: 1..16, 1..16:3 (step), 1..64*2 (factor) or 1,2,5 (repeat for all combinations)
    #[arg(long, value_name = "NAME=RANGE", value_parser = Range::parse)]
    sweep: Vec<Range>,
    /// Change the rate over the run as this scenario of `loadline load` does (a built-in one's name, or a file): its phases
    #[arg(long, value_name = "NAME|FILE")]
    arrivals: Option<String>,
    /// Stop when every class's 95% interval is within so much of its mean [default: the model's, else 1%]
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "requests")]
    precision: Option<f64>,
    /// Simulate exactly so many requests instead
    #[arg(long, value_name = "N")]
    requests: Option<NonZeroU64>,
    /// Run so often with different seeds, and take intervals from their scatter
    #[arg(long, value_name = "N", default_value = "1")]
    replications: NonZeroU32,
    /// Equal seeds, equal results, on any number of workers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads for sweeps and replications [default: all cores]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Draw the model
    #[arg(long, value_name = "FILE.svg")]
    draw: Option<String>,
    /// Print a documented model
    #[arg(long)]
    example_config: bool,
}

/// `NAME=VALUE`.
pub fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn share(text: &str) -> Result<f64, String> {
    let parsed = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|p| p / 100.0),
        None => text.parse(),
    };
    parsed
        .ok()
        .filter(|p| *p > 0.0 && *p < 1.0)
        .ok_or_else(|| "it must be above 0 and below 100%, such as 1%".into())
}

pub fn run(args: Args) -> Result<ExitCode> {
    let defaults = Options::default();
    let arguments = Arguments {
        model: args.model.filter(|_| !args.example_config),
        solver: args.solver,
        settings: args.set,
        sweeps: args.sweep,
        schedule: schedule(args.arrivals.as_deref())?,
        options: Options {
            seed: args.seed,
            precision: args.precision,
            requests: args.requests.map(NonZeroU64::get),
            replications: args.replications.get(),
            workers: args.workers.map_or(defaults.workers, NonZeroUsize::get),
            ..defaults
        },
        json: args.json,
        html: args.html,
        draw: args.draw,
    };
    let output = command::run(&arguments).map_err(|e| anyhow!(e))?;
    show::out(&output.text)?;
    Ok(ExitCode::from(u8::from(!output.steady)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        args: Args,
    }

    fn of(text: &str) -> Result<Args, String> {
        let words = std::iter::once("simulate").chain(text.split_whitespace());
        Alone::try_parse_from(words)
            .map(|a| a.args)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn everything_is_understood_with_and_without_the_equals_sign() {
        let a = of("m.toml --solver=mva --set a=1 --sweep b=1..3 --precision 0.5% --seed 7 --json --html x.html")
            .expect("valid");
        assert_eq!(
            (a.model.as_deref(), a.solver, a.json),
            (Some("m.toml"), Solver::Mva, true)
        );
        assert_eq!(a.set, [("a".to_string(), "1".to_string())]);
        assert_eq!(a.sweep[0].values, ["1", "2", "3"]);
        assert_eq!((a.precision, a.seed), (Some(0.005), 7));
    }

    #[test]
    fn mistakes_are_answered_with_what_would_be_right() {
        for (text, part) in [
            ("m.toml --presicion 1%", "--precision"),
            ("m.toml --precision 0", "above 0"),
            ("m.toml --seed x", "invalid digit"),
            ("m.toml --requests 0", "zero"),
            ("m.toml --solver magic", "there are auto"),
            ("m.toml --set a", "NAME=VALUE"),
            ("m.toml --sweep a=5..1", "never arrives"),
            ("", "<MODEL.toml>"),
            ("a.toml b.toml", "unexpected argument"),
        ] {
            let error = of(text)
                .err()
                .unwrap_or_else(|| panic!("{text} was accepted"));
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
