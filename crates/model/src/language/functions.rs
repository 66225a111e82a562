//! The functions that expressions can call, and arithmetic with distributions.

use super::expr::{Value, dist, number};
use loadline_stats::random::{Dist, by_mean_and_scv};
use std::path::Path;

const FUNCTIONS: [&str; 25] = [
    "if",
    "min",
    "max",
    "round",
    "floor",
    "ceil",
    "sqrt",
    "abs",
    "exp",
    "exponential",
    "const",
    "uniform",
    "erlang",
    "hyper",
    "gamma",
    "lognormal",
    "weibull",
    "pareto",
    "normal",
    "triangular",
    "geometric",
    "fit",
    "mix",
    "empirical",
    "quantiles",
];

/// The sum: of a distribution and anything, the distribution of the sum of independent draws.
pub(super) fn add(a: Value, b: Value) -> Result<Value, String> {
    if let (Value::Number(a), Value::Number(b)) = (&a, &b) {
        return Ok(Value::Number(a + b));
    }
    let mut parts = Vec::new();
    for value in [a, b] {
        match dist(value)? {
            Dist::Sum(more) => parts.extend(more),
            one => parts.push(one),
        }
    }
    Ok(Value::Dist(Dist::Sum(parts)))
}

/// The product: of a distribution and a number, the distribution scaled.
pub(super) fn multiply(a: Value, b: Value) -> Result<Value, String> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Ok(Value::Number(a * b)),
        (Value::Dist(d), Value::Number(x)) | (Value::Number(x), Value::Dist(d)) => {
            if x < 0.0 {
                return Err("a distribution cannot be scaled by a negative number".into());
            }
            Ok(Value::Dist(match d {
                Dist::Exponential(mean) => Dist::Exponential(mean * x),
                Dist::Constant(value) => Dist::Constant(value * x),
                other => Dist::Scaled(x, Box::new(other)),
            }))
        }
        (Value::Dist(_), Value::Dist(_)) => Err("two distributions cannot be multiplied".into()),
        (Value::Text(t), _) | (_, Value::Text(t)) => {
            Err(format!("'{t}' is text where a number is needed"))
        }
    }
}

/// A function's value for its arguments; `folder` is where relative paths begin.
pub(super) fn call(name: &str, arguments: Vec<Value>, folder: &Path) -> Result<Value, String> {
    let count = arguments.len();
    let wants = |n: usize, usage: &str| {
        if count == n {
            Ok(())
        } else {
            Err(format!("{name} takes {usage}, not {count} arguments"))
        }
    };
    if name == "if" {
        wants(3, "(condition, then, else)")?;
        let mut arguments = arguments.into_iter();
        let truth = number(&arguments.next().unwrap_or(Value::Number(0.0)))? != 0.0;
        let chosen = if truth {
            arguments.next()
        } else {
            arguments.nth(1)
        };
        return chosen.ok_or_else(|| "if takes (condition, then, else)".into());
    }
    if name == "empirical" {
        wants(1, "('file') with one value a line")?;
        let Value::Text(file) = &arguments[0] else {
            return Err("empirical takes a file name in quotes".into());
        };
        return Ok(Value::Dist(Dist::Empirical(
            super::sources::numbers(&folder.join(file))?.into(),
        )));
    }
    if name == "mix" {
        if count < 2 || !count.is_multiple_of(2) {
            return Err("mix takes pairs (weight, distribution, …)".into());
        }
        let mut parts = Vec::new();
        for pair in arguments.chunks(2) {
            parts.push((number(&pair[0])?, dist(pair[1].clone())?));
        }
        let total: f64 = parts.iter().map(|p| p.0).sum();
        if total <= 0.0 || parts.iter().any(|p| p.0 < 0.0) {
            return Err("the weights of mix must be 0 or more and not all 0".into());
        }
        parts.iter_mut().for_each(|p| p.0 /= total);
        return Ok(Value::Dist(Dist::Mixture(parts)));
    }
    let a: Vec<f64> = arguments.iter().map(number).collect::<Result<_, _>>()?;
    if name == "quantiles" {
        return quantiles(&a).map(Value::Dist);
    }
    let positive = |x: f64, what: &str| {
        if x > 0.0 && x.is_finite() {
            Ok(x)
        } else {
            Err(format!("{what} of {name} is {x}; it must be above 0"))
        }
    };
    let at_least_zero = |x: f64, what: &str| {
        if x >= 0.0 && x.is_finite() {
            Ok(x)
        } else {
            Err(format!("{what} of {name} is {x}; it must be 0 or more"))
        }
    };
    let dist = match name {
        "min" if count > 0 => {
            return Ok(Value::Number(
                a.iter().copied().fold(f64::INFINITY, f64::min),
            ));
        }
        "max" if count > 0 => {
            return Ok(Value::Number(
                a.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ));
        }
        "round" | "floor" | "ceil" | "sqrt" | "abs" => {
            wants(1, "(x)")?;
            return Ok(Value::Number(match name {
                "round" => a[0].round(),
                "floor" => a[0].floor(),
                "ceil" => a[0].ceil(),
                "sqrt" => a[0].sqrt(),
                _ => a[0].abs(),
            }));
        }
        "exp" | "exponential" => {
            wants(1, "(mean)")?;
            let mean = at_least_zero(a[0], "the mean")?;
            if mean == 0.0 {
                Dist::Constant(0.0)
            } else {
                Dist::Exponential(mean)
            }
        }
        "const" => {
            wants(1, "(value)")?;
            Dist::Constant(at_least_zero(a[0], "the value")?)
        }
        "uniform" => {
            wants(2, "(least, greatest)")?;
            if !(0.0 <= a[0] && a[0] <= a[1]) {
                return Err(format!(
                    "uniform({}, {}) needs 0 <= least <= greatest",
                    a[0], a[1]
                ));
            }
            Dist::Uniform(a[0], a[1])
        }
        "erlang" => {
            wants(2, "(stages, mean)")?;
            let stages = positive(a[0], "the number of stages")?
                .round()
                .clamp(1.0, 1e6);
            Dist::Erlang(stages as u32, at_least_zero(a[1], "the mean")?)
        }
        "hyper" | "fit" => {
            wants(2, "(mean, squared coefficient of variation)")?;
            by_mean_and_scv(
                at_least_zero(a[0], "the mean")?,
                at_least_zero(a[1], "the variation")?,
            )
        }
        "gamma" => {
            wants(2, "(shape, mean)")?;
            let shape = positive(a[0], "the shape")?;
            Dist::Gamma(shape, at_least_zero(a[1], "the mean")? / shape)
        }
        "lognormal" => {
            wants(2, "(mean, squared coefficient of variation)")?;
            let sigma2 = (1.0 + at_least_zero(a[1], "the variation")?).ln();
            Dist::LogNormal(
                positive(a[0], "the mean")?.ln() - 0.5 * sigma2,
                sigma2.sqrt(),
            )
        }
        "weibull" => {
            wants(2, "(shape, mean)")?;
            let shape = positive(a[0], "the shape")?;
            let unit = Dist::Weibull(shape, 1.0).mean();
            Dist::Weibull(shape, at_least_zero(a[1], "the mean")? / unit)
        }
        "pareto" => {
            wants(2, "(shape, least)")?;
            Dist::Pareto(
                positive(a[0], "the shape")?,
                positive(a[1], "the least value")?,
            )
        }
        "normal" => {
            wants(2, "(mean, deviation)")?;
            if a[0] < -3.0 * a[1] {
                return Err("normal would draw hardly anything above 0".into());
            }
            Dist::Normal(a[0], positive(a[1], "the deviation")?)
        }
        "triangular" => {
            wants(3, "(least, likeliest, greatest)")?;
            if !(0.0 <= a[0] && a[0] <= a[1] && a[1] <= a[2] && a[0] < a[2]) {
                return Err("triangular needs 0 <= least <= likeliest <= greatest".into());
            }
            Dist::Triangular(a[0], a[1], a[2])
        }
        "geometric" => {
            wants(1, "(mean)")?;
            if a[0] < 1.0 {
                return Err(format!(
                    "the mean of geometric is {}; it must be 1 or more",
                    a[0]
                ));
            }
            Dist::Geometric(a[0])
        }
        _ => {
            let hint = super::nearest(name, FUNCTIONS.into_iter())
                .map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            return Err(format!("there is no function `{name}`{hint}"));
        }
    };
    Ok(Value::Dist(dist))
}

/// `quantiles(0, a, 0.5, b, 1, c)`: a quantile function by its points, linear between them.
fn quantiles(arguments: &[f64]) -> Result<Dist, String> {
    let usage =
        "quantiles takes pairs (probability, value, …), the first probability 0, the last 1";
    let table: Vec<(f64, f64)> = arguments.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    if arguments.len() < 4 || !arguments.len().is_multiple_of(2) {
        return Err(format!("{usage}; it has {} arguments", arguments.len()));
    }
    if table[0].0 != 0.0 || table[table.len() - 1].0 != 1.0 {
        return Err(usage.into());
    }
    let known = |x: f64| x >= 0.0 && x.is_finite();
    if let Some(pair) = table.iter().find(|&&(p, x)| !known(p) || !known(x)) {
        return Err(format!(
            "quantiles: ({}, {}) must be 0 or more and finite",
            pair.0, pair.1
        ));
    }
    match table
        .windows(2)
        .find(|w| w[1].0 <= w[0].0 || w[1].1 < w[0].1)
    {
        Some(w) => Err(format!(
            "quantiles: ({}, {}) after ({}, {}): probabilities must rise, values must not fall",
            w[1].0, w[1].1, w[0].0, w[0].1
        )),
        None => Ok(Dist::Quantiles(table.into())),
    }
}
