//! Sweeps: a model evaluated over ranges of its parameters, points in parallel, with the load line and the knee.
//!
//! Every point has the same seed, so that points differ by their parameters and not by chance (common random numbers),
//! and results do not depend on the number of workers.

use crate::answer::{Answer, short, time};
use crate::load::{LoadError, Setting, from_text};
use crate::run::{Options, in_parallel};
use crate::solve::Solver;

/// A parameter and the values it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The parameter.
    pub name: String,
    /// Values as text.
    pub values: Vec<String>,
}

impl Range {
    /// Reads `name=1..16`, `name=1..16:3` (step), `name=1..64*2` (factor) or `name=1,2,5,A`.
    pub fn parse(text: &str) -> Result<Range, String> {
        let usage = "a sweep is name=1..16, name=1..16:3, name=1..64*2 or name=1,2,5";
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}`: {usage}"))?;
        let name = name.trim().to_string();
        let Some((low, rest)) = values.split_once("..") else {
            let values: Vec<String> = values
                .split(',')
                .map(|v| v.trim().to_string())
                .filter(|v| !v.is_empty())
                .collect();
            return if values.is_empty() {
                Err(format!("`{text}`: {usage}"))
            } else {
                Ok(Range { name, values })
            };
        };
        let number = |s: &str| {
            s.trim()
                .parse::<f64>()
                .map_err(|_| format!("`{}` in `{text}` is not a number; {usage}", s.trim()))
        };
        let low = number(low)?;
        let (high, step, factor) = match (rest.split_once(':'), rest.split_once('*')) {
            (Some((high, step)), _) => (number(high)?, number(step)?, 1.0),
            (_, Some((high, factor))) => (number(high)?, 0.0, number(factor)?),
            _ => (number(rest)?, 1.0, 1.0),
        };
        if high < low || (step <= 0.0 && factor <= 1.0) || (factor > 1.0 && low <= 0.0) {
            return Err(format!("`{text}` never arrives; {usage}"));
        }
        let mut values = Vec::new();
        let mut i = 0;
        loop {
            let x = if factor > 1.0 {
                low * factor.powi(i)
            } else {
                low + f64::from(i) * step
            };
            if x > high * (1.0 + 1e-12) + 1e-12 {
                break;
            }
            values.push(format!("{}", (x * 1e12).round() / 1e12));
            i += 1;
            if values.len() > 10_000 {
                return Err(format!("`{text}` has more than 10000 points"));
            }
        }
        Ok(Range { name, values })
    }
}

/// One point of a sweep.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Point {
    /// Parameters and their values.
    pub values: Vec<(String, String)>,
    /// What the model answers there.
    pub answer: Answer,
}

/// A whole sweep.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Sweep {
    /// The swept parameters.
    pub names: Vec<String>,
    /// All combinations of their values.
    pub points: Vec<Point>,
    /// The load line, if an offered load was swept and it lies within the sweep.
    pub load_line: Option<String>,
    /// The knee of the curve, if throughput bends within the sweep.
    pub knee: Option<String>,
}

/// Evaluates the model in `text` at every combination of the ranges.
pub fn sweep(
    text: &str,
    file: &str,
    settings: &[Setting],
    ranges: &[Range],
    solver: Solver,
    options: &Options,
) -> Result<Sweep, SweepError> {
    let mut combinations: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for range in ranges {
        combinations = combinations
            .iter()
            .flat_map(|c| {
                range.values.iter().map(move |v| {
                    let mut c = c.clone();
                    c.push((range.name.clone(), v.clone()));
                    c
                })
            })
            .collect();
    }
    let answers = in_parallel(combinations.len(), options.workers, |i| {
        let mut all = settings.to_vec();
        all.extend(combinations[i].iter().cloned());
        let model = from_text(text, file, &all)?;
        // The points are the parallel work; within a point one worker is enough.
        let options = Options {
            workers: 1,
            ..options.clone()
        };
        crate::solve::evaluate(&model, solver, &options).map_err(SweepError::Solver)
    });
    let mut points = Vec::new();
    for (values, answer) in combinations.into_iter().zip(answers) {
        points.push(Point {
            values,
            answer: answer?,
        });
    }
    let names: Vec<String> = ranges.iter().map(|r| r.name.clone()).collect();
    let (load_line, knee) = if names.len() == 1 {
        (load_line(&points), knee(&points))
    } else {
        (None, None)
    };
    Ok(Sweep {
        names,
        points,
        load_line,
        knee,
    })
}

/// Why a sweep could not be evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// The model is wrong.
    #[error("{0}")]
    Load(#[from] LoadError),
    /// The solver does not apply.
    #[error("{0}")]
    Solver(String),
}

/// The largest offered load at which goodput is at least 95% of it and the 95th percentile within four times its value
/// at the lightest load. Only for open models, whose offered load the sweep changes.
fn load_line(points: &[Point]) -> Option<String> {
    let of = |p: &Point| {
        let offered: f64 = p.answer.classes.0.iter().map(|c| c.1.offered).sum();
        let good: f64 = p
            .answer
            .classes
            .0
            .iter()
            .map(|c| c.1.throughput.value)
            .sum();
        let p95 = p
            .answer
            .classes
            .0
            .iter()
            .map(|c| c.1.response_time.p95)
            .fold(0.0, f64::max);
        (offered, good, p95, p.answer.problem.is_some())
    };
    let (light, _, p95_light, _) = of(points.first()?);
    let mut held: Option<(f64, f64, &str)> = None;
    let mut crossed = false;
    for point in points {
        let (offered, good, p95, problem) = of(point);
        if problem || good < 0.95 * offered || p95.is_nan() || p95 > 4.0 * p95_light {
            crossed = true;
            break;
        }
        held = Some((offered, p95, &point.values[0].1));
    }
    let (offered, p95, at) = held?;
    let varies = of(points.last()?).0 > light * 1.05;
    (crossed && varies && offered > 0.0).then(|| {
        format!(
            "load line: {} requests/s ({} = {at}), p95 {}",
            short(offered),
            points[0].values[0].0,
            time(p95)
        )
    })
}

/// Where throughput per step has fallen below half of what it was at the start: for closed models, the N* of
/// asymptotic analysis, found from the curve itself.
fn knee(points: &[Point]) -> Option<String> {
    let curve: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|p| {
            let x = p.values[0].1.parse().ok()?;
            Some((
                x,
                p.answer
                    .classes
                    .0
                    .iter()
                    .map(|c| c.1.throughput.value)
                    .sum(),
            ))
        })
        .collect();
    let first = curve.first()?;
    let last = curve.last()?;
    if curve.len() < 4 || first.0 <= 0.0 {
        return None;
    }
    let before = curve[curve.len() - 2];
    let end = (last.1 - before.1) / (last.0 - before.0);
    let slope = first.1 / first.0;
    if end.is_nan() || end > 0.5 * slope {
        // Still rising: the sweep ends before the knee.
        return None;
    }
    let most = curve.iter().map(|p| p.1).fold(0.0, f64::max);
    // The two asymptotes: through the origin with the slope at light load, and the highest throughput.
    let at = most / slope;
    (at > first.0 && at < last.0 && slope > 0.0).then(|| {
        format!(
            "knee: {} = {} (throughput levels off at {}/s)",
            points[0].values[0].0,
            short(at),
            short(most)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_by_step_by_factor_and_by_list() {
        let values = |text: &str| Range::parse(text).unwrap().values.join(" ");
        assert_eq!(values("a=1..4"), "1 2 3 4");
        assert_eq!(values("a=0.1..0.5:0.2"), "0.1 0.3 0.5");
        assert_eq!(values("a=1..64*4"), "1 4 16 64");
        assert_eq!(values("a=A,B"), "A B");
        for wrong in ["a", "a=", "a=5..1", "a=1..x", "a=0..8*2", "a=1..5:0"] {
            assert!(Range::parse(wrong).is_err(), "{wrong}");
        }
    }
}
