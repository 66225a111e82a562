//! The load line of a model, over whatever may change; searches; sensitivities; what limits.
//!
//! Terms: the *load* is a parameter (`rate`); a *cell* is one choice of the parameters that are varied; an *objective*
//! bounds the 95th percentile of all requests' response times: the user's, or four times its value at a tenth of the
//! saturation. A load *holds* if goodput is at least 95% of what is offered and the objective holds; the *load line* is the
//! largest that does. This is what `characterize` measures.
//!
//! What always holds: every run has the same seed, so that cells differ by their parameters; the interval of a load line
//! is that of the fitted parameters, drawn anew from theirs, and never narrower than what the search leaves open.

mod find;
mod limit;
mod line;
mod page;
mod text;
mod uncertain;

use anyhow::{Result, anyhow, bail};
use loadline_arrivals::Schedule;
use loadline_model::language::{Setting, from_text};
use loadline_model::model::Model;
use serde::Serialize;

pub use find::{Find, Found};
pub use page::page;
pub use text::text;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The model's text.
    pub text: String,
    /// What errors call its file.
    pub file: String,
    /// Parameters that are set.
    pub settings: Vec<Setting>,
    /// The parameter that is the offered load.
    pub load: String,
    /// How the load changes over each run, whatever the model says.
    pub schedule: Option<Schedule>,
    /// Most that the 95th percentile may be, in seconds.
    pub p95: Option<f64>,
    /// Parameters that are varied, each with its values: all combinations.
    pub over: Vec<(String, Vec<String>)>,
    /// Whether to ask what 1% less CPU of each kind would bring.
    pub sensitivities: bool,
    /// Something to search for.
    pub find: Option<Find>,
    /// Requests of one run.
    pub requests: u64,
    /// Seed of all runs.
    pub seed: u64,
    /// Threads.
    pub workers: usize,
}

/// A load line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadLine {
    /// The load.
    pub load: f64,
    /// Half the width of its 95% interval.
    pub ci95: f64,
    /// Requests completed well per second there.
    pub goodput: f64,
    /// 95th percentile there, in seconds.
    pub p95: f64,
    /// What does not hold just above it: `goodput` or `objective`.
    pub because: &'static str,
    /// What limits.
    pub limit: limit::Limit,
}

/// A load that was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The load.
    pub load: f64,
    /// Goodput over what was offered.
    pub goodput_share: f64,
    /// Requests completed well per second.
    pub goodput: f64,
    /// Mean response time, in seconds.
    pub mean: f64,
    /// Its 95th percentile, in seconds.
    pub p95: f64,
    /// Whether there is a steady state, and it holds.
    pub holds: bool,
}

/// One choice of what is varied.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Names and values.
    pub values: Vec<(String, String)>,
    /// The bound on the 95th percentile, in seconds.
    pub objective: f64,
    /// `None` if not even a light load holds.
    pub load_line: Option<LoadLine>,
    /// All loads that were evaluated, by load.
    pub points: Vec<Point>,
}

/// What less CPU of a kind would bring.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The parameter.
    pub parameter: String,
    /// Per cent by which the load line moves if it is 1% less.
    pub per_percent: f64,
}

/// The whole answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// The model's title.
    pub title: String,
    /// The parameter that is the load, and its documentation.
    pub load: String,
    /// By what is varied.
    pub cells: Vec<Cell>,
    /// The largest first; of the first cell.
    pub sensitivities: Vec<Sensitivity>,
    /// What was searched for.
    pub found: Option<Found>,
}

/// Answers. Errors name the file's line, or the parameter that is missing.
pub fn ask(q: &Question, progress: &mut dyn FnMut(&str)) -> Result<WhatIf> {
    let plain = q.model(&[])?;
    q.check_names(&plain)?;
    let mut cells = Vec::new();
    for values in combinations(&q.over) {
        progress(&label(&values));
        cells.push(q.cell(values)?);
    }
    let mut sensitivities = Vec::new();
    if let Some(first) = cells.first().filter(|_| q.sensitivities) {
        progress("sensitivities");
        sensitivities = q.sensitivities(first, &plain)?;
    }
    let found = match &q.find {
        Some(find) => Some(find.search(q, &mut *progress)?),
        None => None,
    };
    Ok(WhatIf {
        title: plain.title,
        load: q.load.clone(),
        cells,
        sensitivities,
        found,
    })
}

impl Question {
    /// Everything that is set anew has to be a parameter: said before the first run, by the name of the option.
    fn check_names(&self, plain: &Model) -> Result<()> {
        let mut wanted = vec![(
            &self.load,
            "is the offered load: name the one that is with --load".to_owned(),
        )];
        for (name, _) in &self.over {
            let option = match name.as_str() {
                "cpus" | "pool" => format!("--{name}"),
                _ => "--over".to_owned(),
            };
            wanted.push((
                name,
                format!("{option} would vary: vary another with --over"),
            ));
        }
        if let Some(find) = &self.find {
            wanted.push((&find.name, "--find would search: search another".to_owned()));
        }
        for (name, why) in wanted {
            if !plain.parameters.contains_key(name) {
                let known: Vec<&str> = plain.parameters.keys().map(String::as_str).collect();
                bail!(
                    "{}: the model has no parameter `{name}`, which {why}; it has: {}",
                    self.file,
                    known.join(", ")
                );
            }
        }
        if let Some((name, _)) = self.over.iter().find(|(name, _)| *name == self.load) {
            bail!(
                "{}: `{name}` is the load, which is searched for: vary another",
                self.file
            );
        }
        Ok(())
    }
}

/// All combinations of the values, one of none.
fn combinations(over: &[(String, Vec<String>)]) -> Vec<Vec<Setting>> {
    let mut all: Vec<Vec<Setting>> = vec![Vec::new()];
    for (name, values) in over {
        all = all
            .iter()
            .flat_map(|before| {
                values.iter().map(move |v| {
                    let mut one = before.clone();
                    one.push((name.clone(), v.clone()));
                    one
                })
            })
            .collect();
    }
    all
}

fn label(values: &[Setting]) -> String {
    let words: Vec<String> = values.iter().map(|(n, v)| format!("{n} {v}")).collect();
    if words.is_empty() {
        "the load line".into()
    } else {
        words.join(", ")
    }
}

impl Question {
    pub(crate) fn model(&self, more: &[Setting]) -> Result<Model> {
        let mut all = self.settings.clone();
        all.extend_from_slice(more);
        let mut model = from_text(&self.text, &self.file, &all).map_err(|e| anyhow!("{e}"))?;
        if let Some(schedule) = &self.schedule {
            model.vary(schedule).map_err(|e| anyhow!(e))?;
        }
        Ok(model)
    }
}
