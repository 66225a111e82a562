//! Analytic solvers, and the choice between them and simulation.
//!
//! `auto` takes an exact solver where one applies to the whole model, and simulation elsewhere. Means of an exact solver
//! are exact; percentiles that it does not give are simulated beside them, because an objective is about percentiles. A
//! solver that does not apply says why.

pub mod demands;
pub mod mva;
pub mod product_form;
pub mod queues;

use crate::answer::{Answer, ClassAnswer, ResponseTime};
use crate::model::Model;
use crate::run::{Options, simulate};
use loadline_stats::Estimate;
use std::str::FromStr;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// An exact solver if one applies, else simulation.
    Auto,
    /// Simulation.
    Simulate,
    /// Exact: product forms and closed forms.
    Mva,
    /// Bard and Schweitzer's approximation.
    Approximate,
}

impl Solver {
    /// Names on the command line.
    pub const NAMES: [&str; 4] = ["auto", "simulate", "mva", "approximate"];
}

impl FromStr for Solver {
    type Err = String;

    fn from_str(name: &str) -> Result<Solver, String> {
        Ok(match name {
            "auto" => Solver::Auto,
            "simulate" => Solver::Simulate,
            "mva" | "exact" => Solver::Mva,
            "approximate" | "amva" => Solver::Approximate,
            _ => {
                return Err(format!(
                    "there is no solver {name}; there are {}",
                    Solver::NAMES.join(", ")
                ));
            }
        })
    }
}

/// Answers a model by the solver that was asked for.
pub fn evaluate(model: &Model, solver: Solver, options: &Options) -> Result<Answer, String> {
    match solver {
        Solver::Simulate => Ok(simulate(model, options)),
        Solver::Mva => product_form::solve(model, true)
            .map_err(|e| format!("no exact solver applies: {e}; try --solver simulate")),
        Solver::Approximate => product_form::solve(model, false)
            .map_err(|e| format!("the approximation does not apply: {e}; try --solver simulate")),
        Solver::Auto => match product_form::solve(model, true) {
            Ok(answer) => Ok(with_percentiles(answer, model, options)),
            Err(_) => Ok(simulate(model, options)),
        },
    }
}

/// An exact answer, with simulated percentiles where no closed form gives them.
fn with_percentiles(mut exact: Answer, model: &Model, options: &Options) -> Answer {
    let known = exact
        .classes
        .0
        .iter()
        .all(|c| c.1.response_time.p95.is_finite());
    if known || exact.problem.is_some() {
        return exact;
    }
    let simulated = simulate(model, options);
    if simulated.problem.is_some() {
        // Near its limit a run may look unstable that is not; means are known all the same.
        exact
            .warnings
            .push("percentiles are missing: the simulation found no steady state".into());
        return exact;
    }
    for (name, class) in &mut exact.classes.0 {
        if let Some(s) = simulated.classes.get(name) {
            class.response_time = ResponseTime {
                mean: class.response_time.mean,
                ..s.response_time.clone()
            };
        }
    }
    exact.all = simulated
        .all
        .and_then(|percentiles| together(&exact, model, percentiles));
    exact.solver += ", percentiles by simulation";
    exact.warnings = simulated.warnings;
    exact.run = simulated.run;
    exact
}

/// What the classes of an exact answer come to together, with percentiles from elsewhere.
fn together(exact: &Answer, model: &Model, percentiles: ClassAnswer) -> Option<ClassAnswer> {
    let asked: Vec<&ClassAnswer> = model
        .classes
        .iter()
        .filter(|c| !c.background)
        .map(|c| exact.classes.get(&c.name))
        .collect::<Option<_>>()?;
    let sum = |of: fn(&ClassAnswer) -> f64| asked.iter().map(|c| of(c)).sum::<f64>();
    let throughput = sum(|c| c.throughput.value);
    let time = sum(|c| c.throughput.value * c.response_time.mean.value);
    Some(ClassAnswer {
        throughput: Estimate::exact(throughput),
        response_time: ResponseTime {
            mean: Estimate::exact(time / throughput),
            ..percentiles.response_time
        },
        in_system: Estimate::exact(sum(|c| c.in_system.value)),
        offered: sum(|c| c.offered),
        failures: percentiles.failures,
    })
}
