//! Sweeps: a model evaluated over ranges of its parameters, points in parallel, with the load line and the knee.
//!
//! Every point has the same seed, so that points differ by their parameters and not by chance (common random numbers),
//! and results do not depend on the number of workers.

use crate::answer::Answer;
use crate::language::{LoadError, Setting, from_text};
use crate::model::{Arrivals, Model};
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
    /// Whether all clients wait for their replies before they ask again.
    #[serde(skip)]
    pub closed: bool,
}

/// The load line within a sweep of the offered load.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LoadLine {
    /// The swept parameter.
    pub parameter: String,
    /// Its value at the load line; in JSON a number, unless it is given as an expression.
    #[serde(serialize_with = "number_or_text")]
    pub value: String,
    /// Requests per second offered there.
    pub offered: f64,
    /// Requests per second completed well there.
    pub goodput: f64,
    /// 95th percentile of response time there, in seconds: of all requests, or where only classes are known, of the slowest.
    pub p95: f64,
    /// Requests per second offered at the next point, which does not hold.
    pub fails_at: f64,
}

fn number_or_text<S: serde::Serializer>(value: &str, to: S) -> Result<S::Ok, S::Error> {
    match value.parse::<f64>() {
        Ok(x) if x.is_finite() => to.serialize_f64(x),
        _ => to.serialize_str(value),
    }
}

/// Where throughput levels off.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Knee {
    /// The swept parameter.
    pub parameter: String,
    /// Where its asymptotes cross.
    pub value: f64,
    /// The largest throughput, per second.
    pub throughput: f64,
}

/// A whole sweep.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Sweep {
    /// The swept parameters.
    pub names: Vec<String>,
    /// All combinations of their values.
    pub points: Vec<Point>,
    /// The load line, if an offered load was swept and it lies within the sweep.
    pub load_line: Option<LoadLine>,
    /// Why there is none, if an offered load was swept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_load_line: Option<String>,
    /// The knee of the curve, if throughput bends within the sweep.
    pub knee: Option<Knee>,
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
    let load = |all: &[Setting]| -> Result<Model, SweepError> { Ok(from_text(text, file, all)?) };
    sweep_of(&load, settings, ranges, solver, options)
}

/// As [`sweep`], of a model that is made by a function of its settings.
pub fn sweep_of(
    load: &(dyn Fn(&[Setting]) -> Result<Model, SweepError> + Sync),
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
        let model = load(&all)?;
        // The points are the parallel work; within a point one worker is enough.
        let options = Options {
            workers: 1,
            ..options.clone()
        };
        let closed = model
            .sources
            .iter()
            .all(|s| matches!(s.arrivals, Arrivals::Closed(_)));
        crate::solve::evaluate(&model, solver, &options)
            .map(|answer| (answer, closed))
            .map_err(SweepError::Solver)
    });
    let mut points = Vec::new();
    for (values, answer) in combinations.into_iter().zip(answers) {
        let (answer, closed) = answer?;
        points.push(Point {
            values,
            answer,
            closed,
        });
    }
    let names: Vec<String> = ranges.iter().map(|r| r.name.clone()).collect();
    let one = names.len() == 1;
    let line = one.then(|| load_line(&points)).flatten();
    let knee = one.then(|| knee(&points)).flatten();
    let (load_line, no_load_line) = match line {
        Some(Ok(line)) => (Some(line), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    Ok(Sweep {
        names,
        points,
        load_line,
        no_load_line,
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
    /// The load cannot change over the run.
    #[error("{0}")]
    Varying(String),
}

/// What decides whether a point is below the load line.
struct Held<'a> {
    point: &'a Point,
    offered: f64,
    goodput: f64,
    /// Of the slowest class; NaN if it is not known of one of them.
    p95: f64,
}

impl Held<'_> {
    fn of(point: &Point) -> Held<'_> {
        // All together where that is known: an objective is about requests, whatever their class.
        if let Some(all) = &point.answer.all {
            return Held {
                point,
                offered: all.offered,
                goodput: all.throughput.value,
                p95: all.response_time.p95,
            };
        }
        let classes = || point.answer.classes.0.iter().map(|c| &c.1);
        Held {
            point,
            offered: classes().map(|c| c.offered).sum(),
            goodput: classes().map(|c| c.throughput.value).sum(),
            // f64::max would pass over what is not known.
            p95: classes()
                .map(|c| c.response_time.p95)
                .fold(0.0, |a: f64, b| {
                    if a.is_nan() || b.is_nan() {
                        f64::NAN
                    } else {
                        a.max(b)
                    }
                }),
        }
    }

    /// Whether it is overloaded, whatever its percentiles.
    fn overloaded(&self) -> bool {
        self.point.answer.problem.is_some() || self.goodput < GOODPUT * self.offered
    }
}

/// Goodput over offered load below which a point does not hold.
const GOODPUT: f64 = 0.95;
/// What the 95th percentile may become, as a multiple of its value at the lightest load.
const TIMES_LIGHT: f64 = 4.0;

/// The largest offered load at which goodput is at least 95% of it and the 95th percentile within four times its value
/// at the lightest load. `None` where the sweep does not change an offered load; `Err` says why it has no load line.
fn load_line(points: &[Point]) -> Option<Result<LoadLine, String>> {
    let mut held: Vec<Held<'_>> = points.iter().map(Held::of).collect();
    held.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    let (light, heavy) = (held.first()?, held.last()?);
    // Clients that wait for their replies offer what is carried: there is no load line, but a knee.
    if points.iter().all(|p| p.closed) || heavy.offered <= 1.05 * light.offered {
        return None;
    }
    if light.overloaded() {
        return Some(Err("even the lightest point is beyond the load line".into()));
    }
    let (most, light_p95) = (TIMES_LIGHT * light.p95, light.p95);
    let unknown = "percentiles are not known at every point, and without them there is no load line: use --solver auto or simulate";
    let mut last = light;
    for next in &held {
        if !next.overloaded() {
            if next.p95.is_nan() || light_p95.is_nan() {
                return Some(Err(unknown.into()));
            }
            if next.p95 <= most {
                last = next;
                continue;
            }
        }
        let (parameter, value) = last.point.values[0].clone();
        return Some(Ok(LoadLine {
            parameter,
            value,
            offered: last.offered,
            goodput: last.goodput,
            p95: last.p95,
            fails_at: next.offered,
        }));
    }
    Some(Err(
        "every point holds: sweep further to find the load line".into(),
    ))
}

/// Where throughput per step has fallen below half of what it was at the start: for closed models, the N* of
/// asymptotic analysis, found from the curve itself.
fn knee(points: &[Point]) -> Option<Knee> {
    let curve: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|p| {
            let x = p.values[0].1.parse().ok()?;
            Some((x, Held::of(p).goodput))
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
    (at > first.0 && at < last.0 && slope > 0.0).then(|| Knee {
        parameter: points[0].values[0].0.clone(),
        value: at,
        throughput: most,
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
