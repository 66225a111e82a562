//! The arguments of `loadline simulate`, in one place, so that every front end understands the same.

use crate::load::Setting;
use crate::run::Options;
use crate::solve::Solver;
use crate::sweep::Range;

/// What `--help` prints.
pub const USAGE: &str = "\
Evaluates a model of a multithreaded server: throughput, response times, queues, with confidence intervals.

Usage: loadline simulate MODEL.toml [options]

  --solver NAME        auto (an exact solver if one applies, else simulation), simulate, mva, approximate
  --set NAME=VALUE     sets a parameter of the model (repeat for more)
  --sweep NAME=RANGE   evaluates over a range: 1..16, 1..16:3, 1..64*2 or 1,2,5 (repeat for all combinations)
  --precision P        stops when every class's 95% interval is within P of its mean [the model's, else 1%]
  --requests N         simulates exactly N requests instead
  --replications N     runs N times with different seeds and takes intervals from their scatter [1]
  --seed N             equal seeds, equal results, on any number of workers [1]
  --workers N          threads for sweeps and replications [all cores]
  --json               prints JSON
  --html FILE          writes a page with plots
  --draw FILE.svg      draws the model
  --example-config     prints a documented model

Examples:
  loadline simulate models/threading/thread-pool.toml --set clients=64 --set servant_cpu=5ms
  loadline simulate models/weather.toml --sweep arrival_rate=1..18 --html weather.html
  loadline simulate --example-config > shop.toml && loadline simulate shop.toml
";

/// Parsed arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// The model file; none only with `--example-config` or `--help`.
    pub model: Option<String>,
    /// Who answers.
    pub solver: Solver,
    /// Parameters.
    pub settings: Vec<Setting>,
    /// Swept parameters.
    pub sweeps: Vec<Range>,
    /// How long to simulate.
    pub options: Options,
    /// Print JSON.
    pub json: bool,
    /// Write a page.
    pub html: Option<String>,
    /// Draw the model.
    pub draw: Option<String>,
    /// Print the example.
    pub example: bool,
    /// Print the usage.
    pub help: bool,
}

/// Reads arguments (without the program's name); `Err` says what was wrong and what would be right.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments {
        model: None,
        solver: Solver::Auto,
        settings: Vec::new(),
        sweeps: Vec::new(),
        options: Options::default(),
        json: false,
        html: None,
        draw: None,
        example: false,
        help: false,
    };
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let (name, inline) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => {
                (name.to_string(), Some(value.to_string()))
            }
            _ => (argument.clone(), None),
        };
        let mut value = || {
            inline
                .clone()
                .or_else(|| rest.next())
                .ok_or_else(|| format!("{name} needs a value"))
        };
        match name.as_str() {
            "--solver" => parsed.solver = value()?.parse()?,
            "--set" => {
                let text = value()?;
                let (key, val) = text
                    .split_once('=')
                    .ok_or_else(|| format!("--set {text}: it must be NAME=VALUE"))?;
                parsed
                    .settings
                    .push((key.trim().to_string(), val.trim().to_string()));
            }
            "--sweep" => parsed.sweeps.push(Range::parse(&value()?)?),
            "--precision" => {
                let text = value()?;
                let x = match text.strip_suffix('%') {
                    Some(percent) => percent.trim().parse::<f64>().map(|p| p / 100.0),
                    None => text.parse::<f64>(),
                };
                let x = x.ok().filter(|p| *p > 0.0 && *p < 1.0).ok_or_else(|| {
                    format!("--precision {text}: it must be above 0 and below 100%, such as 1%")
                })?;
                parsed.options.precision = Some(x);
            }
            "--requests" => {
                let n = number::<u64>("--requests", &value()?, 1)?;
                parsed.options.requests = Some(n);
            }
            "--replications" => {
                parsed.options.replications = number::<u32>("--replications", &value()?, 1)?
            }
            "--seed" => parsed.options.seed = number::<u64>("--seed", &value()?, 0)?,
            "--workers" => parsed.options.workers = number::<usize>("--workers", &value()?, 1)?,
            "--html" => parsed.html = Some(value()?),
            "--draw" => parsed.draw = Some(value()?),
            "--json" => parsed.json = true,
            "--example-config" => parsed.example = true,
            "--help" | "-h" => parsed.help = true,
            other if other.starts_with('-') => {
                let known = USAGE.split_whitespace().filter(|w| w.starts_with("--"));
                let hint = crate::load::nearest(other, known)
                    .map_or(String::new(), |n| format!("; did you mean {n}?"));
                return Err(format!("{other} is not known{hint}"));
            }
            _ if parsed.model.is_none() => parsed.model = Some(argument),
            _ => {
                return Err(format!(
                    "{argument}: there is already a model; one at a time"
                ));
            }
        }
    }
    if parsed.model.is_none() && !parsed.example && !parsed.help {
        return Err("which model? give a TOML file, or --example-config to see one".into());
    }
    Ok(parsed)
}

fn number<T>(name: &str, text: &str, least: T) -> Result<T, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    text.parse::<T>()
        .ok()
        .filter(|n| *n >= least)
        .ok_or_else(|| format!("{name} {text}: it must be a whole number, {least} or more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Arguments, String> {
        parse(text.split_whitespace().map(String::from))
    }

    #[test]
    fn everything_is_understood_with_and_without_the_equals_sign() {
        let a = of("m.toml --solver=mva --set a=1 --sweep b=1..3 --precision 0.5% --seed 7 --json --html x.html").unwrap();
        assert_eq!(
            (a.model.as_deref(), a.solver, a.json),
            (Some("m.toml"), Solver::Mva, true)
        );
        assert_eq!(a.settings, [("a".to_string(), "1".to_string())]);
        assert_eq!(a.sweeps[0].values, ["1", "2", "3"]);
        assert_eq!((a.options.precision, a.options.seed), (Some(0.005), 7));
    }

    #[test]
    fn mistakes_are_answered_with_what_would_be_right() {
        for (text, part) in [
            ("m.toml --presicion 1%", "did you mean --precision?"),
            ("m.toml --precision 0", "above 0"),
            ("m.toml --seed x", "whole number"),
            ("m.toml --solver magic", "there are auto"),
            ("m.toml --set a", "NAME=VALUE"),
            ("", "which model?"),
            ("a.toml b.toml", "one at a time"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
