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
mod page;
mod text;

use anyhow::{Result, anyhow, bail};
use loadline_characterize::GOODPUT;
use loadline_model::answer::Answer;
use loadline_model::load::{Setting, from_text};
use loadline_model::model::Model;
use loadline_model::run::{Options, in_parallel, simulate};
use loadline_stats::random::{Random, Stream};
use serde::Serialize;

pub use find::{Find, Found};
pub use page::page;
pub use text::text;

/// The objective without a user's: so many times the 95th percentile at light load.
const TIMES_LIGHT: f64 = 4.0;
/// Light load, as a share of the saturation.
const LIGHT: f64 = 0.1;
/// The search ends when the load line is known within this share.
const RESOLUTION: f64 = 0.01;
/// Models whose parameters are drawn within their intervals.
const DRAWS: usize = 8;
/// A run whose warm-up has no end yet becomes longer, up to so many times.
const LONGER: u64 = 4;
/// A factor of a sensitivity, and what it is divided by to speak of one per cent.
const LESS: f64 = 0.8;

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
        from_text(&self.text, &self.file, &all).map_err(|e| anyhow!("{e}"))
    }

    /// The answer at a load.
    pub(crate) fn at(&self, values: &[Setting], load: f64) -> Result<Answer> {
        let mut all = values.to_vec();
        all.push((self.load.clone(), format!("{load}")));
        let model = self.model(&all)?;
        let mut requests = self.requests;
        loop {
            let options = Options {
                seed: self.seed,
                requests: Some(requests),
                workers: 1,
                ..Options::default()
            };
            let answer = simulate(&model, &options);
            let settled = answer
                .run
                .as_ref()
                .is_some_and(|r| r.warm_up_seconds.is_some());
            // Sessions that have only begun to come are a lighter load than the one that is asked about.
            if settled || answer.problem.is_some() || requests >= LONGER * self.requests {
                return Ok(answer);
            }
            requests *= 2;
        }
    }

    /// The load at which something would be at its limit, from one run at a light one.
    fn saturation(&self, values: &[Setting]) -> Result<f64> {
        let mut load: f64 = self
            .model(values)?
            .parameters
            .get(&self.load)
            .and_then(|v| v.parse().ok())
            .filter(|x: &f64| *x > 0.0)
            .unwrap_or(1.0);
        for _ in 0..40 {
            let answer = self.at(values, load)?;
            let (_, most) = limit::busiest(&answer).unwrap_or_default();
            if answer.problem.is_some() || most > 0.9 {
                load /= 4.0;
            } else if most <= 0.0 {
                bail!(
                    "{}: nothing in the model can be at its limit: no load line exists",
                    self.file
                );
            } else if most < 0.02 {
                load *= 8.0;
            } else {
                return Ok(load / most);
            }
        }
        bail!(
            "{}: no load was found at which the model is neither idle nor overloaded",
            self.file
        )
    }

    pub(crate) fn cell(&self, values: Vec<Setting>) -> Result<Cell> {
        let saturation = self.saturation(&values)?;
        let light = self.point(&values, LIGHT * saturation, f64::INFINITY)?;
        let objective = self.p95.unwrap_or(TIMES_LIGHT * light.0.p95);
        let mut points = vec![Point {
            holds: light.0.holds && light.0.p95 <= objective,
            ..light.0
        }];
        let found = self.search(
            &values,
            objective,
            LIGHT * saturation,
            1.1 * saturation,
            &mut points,
        )?;
        // For the plot: the curve between light and the load line.
        for share in [0.25, 0.5, 0.75] {
            let load = share * found.map_or(saturation, |f| f.load);
            if load > LIGHT * saturation {
                points.push(self.point(&values, load, objective)?.0);
            }
        }
        points.sort_by(|a, b| a.load.total_cmp(&b.load));
        let load_line = match found {
            None => None,
            Some(found) => {
                let ci95 = self.interval(&values, objective, &found)?;
                let at = self.at(&values, found.load)?;
                Some(LoadLine {
                    load: found.load,
                    ci95,
                    goodput: found.goodput,
                    p95: found.p95,
                    because: found.because,
                    limit: limit::of(&at),
                })
            }
        };
        Ok(Cell {
            values,
            objective,
            load_line,
            points,
        })
    }

    fn point(&self, values: &[Setting], load: f64, objective: f64) -> Result<(Point, Answer)> {
        let answer = self.at(values, load)?;
        let all = answer.all.as_ref().ok_or_else(|| {
            anyhow!(
                "{}: the run gave no answer for all requests together",
                self.file
            )
        })?;
        let share = if all.offered > 0.0 {
            (all.throughput.value / all.offered).min(1.0)
        } else {
            0.0
        };
        let p95 = all.response_time.p95;
        let point = Point {
            load,
            goodput_share: share,
            goodput: all.throughput.value,
            mean: all.response_time.mean.value,
            p95,
            holds: answer.problem.is_none() && share >= GOODPUT && p95 <= objective,
        };
        Ok((point, answer))
    }

    /// The largest load between two that holds, within [`RESOLUTION`]; between the last that holds and the first that does
    /// not, where a line through their percentiles meets the objective.
    fn search(
        &self,
        values: &[Setting],
        objective: f64,
        low: f64,
        high: f64,
        seen: &mut Vec<Point>,
    ) -> Result<Option<Bracket>> {
        let mut low = self.point(values, low, objective)?.0;
        if !low.holds {
            return Ok(None);
        }
        let mut high = self.point(values, high, objective)?.0;
        let mut widened = 0;
        while high.holds && widened < 6 {
            seen.push(high.clone());
            let load = 1.5 * high.load;
            low = high;
            high = self.point(values, load, objective)?.0;
            widened += 1;
        }
        while high.load / low.load > 1.0 + RESOLUTION {
            let middle = self
                .point(values, (low.load * high.load).sqrt(), objective)?
                .0;
            seen.push(middle.clone());
            if middle.holds {
                low = middle;
            } else {
                high = middle;
            }
        }
        let because = if high.p95 > objective && high.goodput_share >= GOODPUT {
            "objective"
        } else {
            "goodput"
        };
        let part = if high.p95 > low.p95 && high.p95.is_finite() {
            ((objective - low.p95) / (high.p95 - low.p95)).clamp(0.0, 1.0)
        } else {
            0.5
        };
        Ok(Some(Bracket {
            load: low.load + part * (high.load - low.load),
            goodput: low.goodput,
            p95: low.p95,
            because,
        }))
    }

    /// Settings of models whose fitted parameters are drawn from their intervals; none if nothing was fitted.
    pub(crate) fn draws(&self, values: &[Setting], n: usize) -> Result<Vec<Vec<Setting>>> {
        let model = self.model(values)?;
        if model.uncertain.iter().all(|u| u.ci95 <= 0.0) {
            return Ok(Vec::new());
        }
        let draw = |i: usize| {
            let mut stream = Stream::new(self.seed, &format!("draw {i}"));
            let drawn = model.uncertain.iter().map(|u| {
                let (low, high) = u.range.unwrap_or((0.0, f64::INFINITY));
                let x = (u.value + stream.normal() * u.ci95 / 1.96).clamp(low, high);
                (u.name.clone(), format!("{x:e}"))
            });
            values.iter().cloned().chain(drawn).collect()
        };
        Ok((0..n).map(draw).collect())
    }

    /// Half the width of the load line's interval, from models whose fitted parameters are drawn within theirs.
    fn interval(&self, values: &[Setting], objective: f64, found: &Bracket) -> Result<f64> {
        let model = self.model(values)?;
        let least = 0.5 * RESOLUTION * found.load;
        if model.uncertain.iter().all(|u| u.ci95 <= 0.0) {
            return Ok(least);
        }
        let draws = self.draws(values, DRAWS)?;
        let lines = in_parallel(draws.len(), self.workers, |i| -> Result<f64> {
            let mut seen = Vec::new();
            // Near the line first; a draw that does not hold there is searched for below.
            let near = (0.85 * found.load, 1.15 * found.load);
            let below = (0.3 * found.load, near.0);
            for (low, high) in [near, below] {
                if let Some(line) = self.search(&draws[i], objective, low, high, &mut seen)? {
                    return Ok(line.load);
                }
            }
            Ok(below.0)
        });
        let lines = lines.into_iter().collect::<Result<Vec<f64>>>()?;
        let mean = lines.iter().sum::<f64>() / lines.len() as f64;
        let variance =
            lines.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (lines.len() - 1) as f64;
        Ok((1.96 * variance.sqrt()).max(least))
    }

    fn sensitivities(&self, cell: &Cell, model: &Model) -> Result<Vec<Sensitivity>> {
        let Some(line) = &cell.load_line else {
            return Ok(Vec::new());
        };
        let factors: Vec<&String> = model
            .parameters
            .keys()
            .filter(|name| name.ends_with("_factor"))
            .collect();
        let moved = in_parallel(factors.len(), self.workers, |i| -> Result<Sensitivity> {
            let mut values = cell.values.clone();
            values.push((factors[i].clone(), LESS.to_string()));
            let mut seen = Vec::new();
            let moved = self.search(
                &values,
                cell.objective,
                0.7 * line.load,
                1.3 * line.load,
                &mut seen,
            )?;
            let moved = moved.map_or(line.load, |m| m.load);
            Ok(Sensitivity {
                parameter: factors[i].clone(),
                per_percent: 100.0 * (moved / line.load - 1.0) / (100.0 * (1.0 - LESS)),
            })
        });
        let mut list = moved.into_iter().collect::<Result<Vec<_>>>()?;
        list.sort_by(|a, b| b.per_percent.total_cmp(&a.per_percent));
        Ok(list)
    }
}

/// Where a search ended.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    load: f64,
    goodput: f64,
    p95: f64,
    because: &'static str,
}
