//! `loadline share`: the CPU manager.

mod change;
mod history;
mod run;
mod serve;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use loadline_share::ShareError;

use crate::Usage;

/// Divide this machine's CPUs among several JVMs by what each asks for and what each is worth
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline share serve &\n  \
    loadline share run --name shop --priority 2 -- java -jar shop.jar\n  \
    loadline share run --name batch -- java -jar batch.jar\n  \
    loadline share adopt 4121 --name clinic\n  \
    loadline share top\n  \
    loadline share set shop --priority 3\n  \
    loadline share stop                      (every process gets back what it had)\n\n\
    Every subcommand has its own --help.")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// The daemon's socket [default: $LOADLINE_SHARE_SOCKET, else /run/loadline/share.sock, for a user's own daemon below $XDG_RUNTIME_DIR]
    #[arg(long, value_name = "PATH", global = true)]
    socket: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    Serve(serve::Args),
    Status(show::StatusArgs),
    Top(show::TopArgs),
    Run(run::Args),
    Adopt(change::AdoptArgs),
    Release(change::ReleaseArgs),
    Set(change::SetArgs),
    History(history::Args),
    Stop(change::StopArgs),
}

pub fn run(args: Args) -> Result<ExitCode> {
    let socket = args.socket.unwrap_or_else(loadline_share::default_socket);
    match args.command {
        Command::Serve(args) => serve::run(args, &socket),
        Command::Status(args) => show::status(&args, &socket),
        Command::Top(args) => show::top(&args, &socket),
        Command::Run(args) => run::run(args, &socket),
        Command::Adopt(args) => change::adopt(args, &socket),
        Command::Release(args) => change::release(&args, &socket),
        Command::Set(args) => change::set(&args, &socket),
        Command::History(args) => history::run(&args, &socket),
        Command::Stop(args) => change::stop(&args, &socket),
    }
}

/// An error of the manager, with the exit code that it deserves.
fn told(e: ShareError) -> anyhow::Error {
    match e {
        ShareError::Usage(text) => Usage(text).into(),
        other => other.into(),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let parsed = text
        .parse()
        .ok()
        .filter(|v: &f64| *v > 0.0 && v.is_finite());
    parsed.ok_or_else(|| "it must be a number above 0".into())
}

/// CPUs, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Request {
    Cpus(f64),
    Auto,
}

fn request(text: &str) -> Result<Request, String> {
    if text == "auto" {
        return Ok(Request::Auto);
    }
    let parsed = text
        .parse()
        .ok()
        .filter(|v: &f64| *v >= 0.0 && v.is_finite());
    parsed
        .map(Request::Cpus)
        .ok_or_else(|| "it must be CPUs, such as 2 or 1.5, or auto".into())
}

impl Request {
    fn cpus(self) -> Option<f64> {
        match self {
            Request::Cpus(cpus) => Some(cpus),
            Request::Auto => None,
        }
    }
}
