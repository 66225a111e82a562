//! `loadline simulate` as a program of its own: the same arguments, the same output.

use loadline_model::answer::{answer_text, page, sweep_page, sweep_text};
use loadline_model::{args, draw, load, solve, sweep};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match args::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(1)
        }
    }
}

/// Whether there is a steady state to speak of.
fn run(arguments: &args::Arguments) -> Result<bool, String> {
    if arguments.help {
        print!("{}", args::USAGE);
        return Ok(true);
    }
    let Some(file) = arguments.model.as_deref().filter(|_| !arguments.example) else {
        print!("{}", load::example());
        return Ok(true);
    };
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: cannot be read: {e}"))?;
    let write = |path: &str, content: String| {
        std::fs::write(path, content).map_err(|e| format!("{path}: {e}"))
    };
    if !arguments.sweeps.is_empty() {
        let sweep = sweep::sweep(
            &text,
            file,
            &arguments.settings,
            &arguments.sweeps,
            arguments.solver,
            &arguments.options,
        )
        .map_err(|e| e.to_string())?;
        if let Some(path) = &arguments.html {
            write(path, sweep_page(&sweep))?;
        }
        let json = || serde_json::to_string_pretty(&sweep).map_err(|e| e.to_string());
        print!(
            "{}",
            if arguments.json {
                json()? + "\n"
            } else {
                sweep_text(&sweep)
            }
        );
        return Ok(true);
    }
    let model = load::from_text(&text, file, &arguments.settings).map_err(|e| e.to_string())?;
    if let Some(path) = &arguments.draw {
        write(path, draw::svg(&model))?;
    }
    let answer = solve::evaluate(&model, arguments.solver, &arguments.options)?;
    if let Some(path) = &arguments.html {
        write(path, page(&answer, &draw::svg(&model)))?;
    }
    let json = || serde_json::to_string_pretty(&answer).map_err(|e| e.to_string());
    print!(
        "{}",
        if arguments.json {
            json()? + "\n"
        } else {
            answer_text(&answer)
        }
    );
    Ok(answer.problem.is_none())
}
