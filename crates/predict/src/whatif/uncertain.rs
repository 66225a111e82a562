//! What follows from the intervals of what was fitted, and from less CPU: models whose parameters are a little different.

use anyhow::Result;
use loadline_model::language::Setting;
use loadline_model::model::Model;
use loadline_model::run::in_parallel;
use loadline_stats::random::{Random, Stream};

use super::line::{Bracket, RESOLUTION};
use super::{Cell, Question, Sensitivity};

/// Models whose parameters are drawn within their intervals.
const DRAWS: usize = 8;
/// A factor of a sensitivity, and what it is divided by to speak of one per cent.
const LESS: f64 = 0.8;

impl Question {
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
    pub(super) fn interval(
        &self,
        values: &[Setting],
        objective: f64,
        found: &Bracket,
    ) -> Result<f64> {
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

    pub(super) fn sensitivities(&self, cell: &Cell, model: &Model) -> Result<Vec<Sensitivity>> {
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
