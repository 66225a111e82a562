//! `loadline simulate` as a program of its own: the same arguments, the same output.

use loadline_model::{args, command};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match args::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match command::run(&arguments) {
        Ok(output) => {
            print!("{}", output.text);
            ExitCode::from(u8::from(!output.steady))
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(1)
        }
    }
}
