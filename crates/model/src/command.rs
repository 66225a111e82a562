//! `loadline simulate`, apart from where its output goes: arguments in, text out.

use crate::answer::{answer_text, page, sweep_page, sweep_text};
use crate::language::Setting;
use crate::model::Model;
use crate::run::Options;
use crate::solve::Solver;
use crate::sweep::Range;
use crate::{draw, language, solve, sweep};
use loadline_arrivals::Schedule;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// The model file; `None` prints the example.
    pub model: Option<String>,
    /// Who answers.
    pub solver: Solver,
    /// Parameters.
    pub settings: Vec<Setting>,
    /// Swept parameters.
    pub sweeps: Vec<Range>,
    /// How the rate changes over the run, whatever the model says.
    pub schedule: Option<Schedule>,
    /// How long to simulate.
    pub options: Options,
    /// Print JSON.
    pub json: bool,
    /// Write a page.
    pub html: Option<String>,
    /// Draw the model.
    pub draw: Option<String>,
}

/// What a run has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// For stdout.
    pub text: String,
    /// Whether there is a steady state to speak of; if not, the text says why.
    pub steady: bool,
}

/// Does what the arguments ask for; `Err` says what was wrong, with the place.
pub fn run(arguments: &Arguments) -> Result<Output, String> {
    let steady = |text: String| Ok(Output { text, steady: true });
    let Some(file) = arguments.model.as_deref() else {
        return steady(language::example().to_string());
    };
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: cannot be read: {e}"))?;
    if !arguments.sweeps.is_empty() {
        let load = |all: &[Setting]| -> Result<Model, sweep::SweepError> {
            let mut model = language::from_text(&text, file, all)?;
            vary(&mut model, arguments).map_err(sweep::SweepError::Varying)?;
            Ok(model)
        };
        let sweep = sweep::sweep_of(
            &load,
            &arguments.settings,
            &arguments.sweeps,
            arguments.solver,
            &arguments.options,
        )
        .map_err(|e| e.to_string())?;
        if let Some(path) = &arguments.html {
            write(path, sweep_page(&sweep))?;
        }
        return steady(if arguments.json {
            json(&sweep)?
        } else {
            sweep_text(&sweep)
        });
    }
    let mut model =
        language::from_text(&text, file, &arguments.settings).map_err(|e| e.to_string())?;
    vary(&mut model, arguments)?;
    if let Some(path) = &arguments.draw {
        write(path, draw::drawing(&model).file())?;
    }
    let answer = solve::evaluate(&model, arguments.solver, &arguments.options)?;
    if let Some(path) = &arguments.html {
        write(path, page(&answer, &draw::drawing(&model)))?;
    }
    Ok(Output {
        text: if arguments.json {
            json(&answer)?
        } else {
            answer_text(&answer)
        },
        steady: answer.problem.is_none(),
    })
}

fn vary(model: &mut Model, arguments: &Arguments) -> Result<(), String> {
    arguments
        .schedule
        .as_ref()
        .map_or(Ok(()), |s| model.vary(s))
}

fn write(path: &str, content: String) -> Result<(), String> {
    std::fs::write(path, content).map_err(|e| format!("{path}: {e}"))
}

fn json(value: &impl serde::Serialize) -> Result<String, String> {
    Ok(serde_json::to_string_pretty(value).map_err(|e| e.to_string())? + "\n")
}
