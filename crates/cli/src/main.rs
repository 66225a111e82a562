//! The `loadline` binary: arguments in, one call, output.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage (also a value that makes no sense). Results go to
//! stdout, everything said on the way to stderr, so that output can be piped.

mod commands;
mod companions;
mod interrupt;
mod scratch;
mod show;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "loadline",
    version,
    about = "Shows where the time of every request of a Java server went",
    after_help = "Examples:\n  \
        loadline doctor\n  \
        sudo loadline record --pid shop -o monday.trace -d 20s\n  \
        loadline report monday.trace\n  \
        loadline open monday.trace\n  \
        loadline query monday.trace \"SELECT phase, cause, sum(duration_ns)/1e6 AS ms FROM breakdown GROUP BY ALL ORDER BY ms DESC\"\n\n\
        Every command has its own --help with examples.",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Doctor(commands::doctor::Args),
    Record(commands::record::Args),
    Arm(commands::arm::Args),
    Dump(commands::dump::Args),
    Top(commands::top::Args),
    Recover(commands::recover::Args),
    Report(commands::report::Args),
    Diagnose(commands::diagnose::Args),
    Open(commands::open::Args),
    Query(commands::query::Args),
    Diff(commands::diff::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Load(commands::load::Args),
    Characterize(commands::characterize::Args),
    Guard(commands::guard::Args),
    Simulate(commands::simulate::Args),
    Counters(commands::counters::Args),
    Share(commands::share::Args),
    Model(commands::model::Args),
    Whatif(commands::whatif::Args),
    Compare(commands::compare::Args),
}

/// An error in what the user asked for, as against one in doing it: exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

fn main() -> ExitCode {
    let args = match commands::record::with_config(std::env::args_os().collect()) {
        Ok(args) => args,
        Err(e) => return failed(&e),
    };
    let result = match Cli::parse_from(args).command {
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Record(args) => commands::record::run(args),
        Command::Arm(args) => commands::arm::run(args),
        Command::Dump(args) => commands::dump::run(args),
        Command::Top(args) => commands::top::run(args),
        Command::Recover(args) => commands::recover::run(args),
        Command::Report(args) => commands::report::run(args),
        Command::Diagnose(args) => commands::diagnose::run(args),
        Command::Open(args) => commands::open::run(args),
        Command::Query(args) => commands::query::run(args),
        Command::Diff(args) => commands::diff::run(args),
        Command::Export(args) => commands::export::run(args),
        Command::Import(args) => commands::import::run(args),
        Command::Load(args) => commands::load::run(args),
        Command::Guard(args) => commands::guard::run(args),
        Command::Characterize(args) => commands::characterize::run(args),
        Command::Simulate(args) => commands::simulate::run(args),
        Command::Counters(args) => commands::counters::run(args),
        Command::Share(args) => commands::share::run(args),
        Command::Model(args) => commands::model::run(args),
        Command::Whatif(args) => commands::whatif::run(args),
        Command::Compare(args) => commands::compare::run(args),
    };
    match result {
        Ok(code) => code,
        Err(e) if show::is_broken_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => failed(&e),
    }
}

fn failed(e: &anyhow::Error) -> ExitCode {
    eprintln!("error: {}", show::with_causes(e));
    ExitCode::from(if e.is::<Usage>() { 2 } else { 1 })
}
