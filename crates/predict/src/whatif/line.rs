//! The search for a load line: evaluating a model at loads, and halving between one that holds and one that does not.

use anyhow::{Result, anyhow, bail};
use loadline_characterize::GOODPUT;
use loadline_model::answer::Answer;
use loadline_model::language::Setting;
use loadline_model::model::Model;
use loadline_model::run::{Options, simulate};

use super::{Cell, LoadLine, Point, Question, limit};

/// The objective without a user's: so many times the 95th percentile at light load.
const TIMES_LIGHT: f64 = 4.0;
/// Light load, as a share of the saturation.
const LIGHT: f64 = 0.1;
/// The search ends when the load line is known within this share.
pub(super) const RESOLUTION: f64 = 0.01;
/// A run whose warm-up has no end yet becomes longer, up to so many times.
const LONGER: u64 = 4;

/// Where a search ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    pub load: f64,
    pub goodput: f64,
    pub p95: f64,
    pub because: &'static str,
}

/// Names of the classes that are no requests.
fn background(model: &Model) -> Vec<String> {
    let classes = model.classes.iter().filter(|c| c.background);
    classes.map(|c| c.name.clone()).collect()
}

impl Question {
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
        let model = self.model(values)?;
        let background = background(&model);
        let mut load: f64 = model
            .parameters
            .get(&self.load)
            .and_then(|v| v.parse().ok())
            .filter(|x: &f64| *x > 0.0)
            .unwrap_or(1.0);
        for _ in 0..40 {
            let answer = self.at(values, load)?;
            let (_, most) = limit::busiest(&answer, &background).unwrap_or_default();
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
                let background = background(&self.model(&values)?);
                Some(LoadLine {
                    load: found.load,
                    ci95,
                    goodput: found.goodput,
                    p95: found.p95,
                    because: found.because,
                    limit: limit::of(&at, &background),
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

    pub(super) fn point(
        &self,
        values: &[Setting],
        load: f64,
        objective: f64,
    ) -> Result<(Point, Answer)> {
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
    pub(super) fn search(
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
}
