//! Analytic solvers, and the choice between them and simulation.
//!
//! `auto` takes an exact solver where one applies to the whole model. Otherwise the layered approximation answers at once,
//! if it applies, and simulation confirms: the answer is the simulation's, with the other beside it. A solver that does not
//! apply says why.

pub mod contention;
pub mod demands;
pub mod layered;
pub mod mva;
pub mod product_form;
pub mod queues;

use crate::answer::{Answer, AtOnce};
use crate::model::Model;
use crate::run::{Options, simulate};
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
    /// Layers of finite-source queues: thread pools and locks, approximately.
    Layered,
}

impl Solver {
    /// Names on the command line.
    pub const NAMES: [&str; 5] = ["auto", "simulate", "mva", "approximate", "layered"];
}

impl FromStr for Solver {
    type Err = String;

    fn from_str(name: &str) -> Result<Solver, String> {
        Ok(match name {
            "auto" => Solver::Auto,
            "simulate" => Solver::Simulate,
            "mva" | "exact" => Solver::Mva,
            "approximate" | "amva" => Solver::Approximate,
            "layered" => Solver::Layered,
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
        Solver::Layered => layered::solve(model).map_err(|e| {
            format!("the layered approximation does not apply: {e}; try --solver simulate")
        }),
        Solver::Auto => match product_form::solve(model, true) {
            Ok(answer) => Ok(answer),
            Err(_) => {
                let mut answer = simulate(model, options);
                answer.at_once = layered::solve(model).ok().map(|a| AtOnce::from(&a));
                Ok(answer)
            }
        },
    }
}
