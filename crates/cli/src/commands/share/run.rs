use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;
use loadline_share::{Client, SOCKET_VARIABLE};

use super::{Request, positive, request, told};

/// Start a program under the CPU manager; it keeps this process's id, terminal and exit code
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline share run --name shop --priority 2 -- java -jar shop.jar\n  \
    loadline share run --name kernel --request 2 -- java -jar kernel.jar")]
pub struct Args {
    /// What it is called [default: the program's name and process id]
    #[arg(long)]
    name: Option<String>,
    /// Its weight against the others; 1 is usual
    #[arg(long, value_name = "P", value_parser = positive)]
    priority: Option<f64>,
    /// CPUs that it wants; auto estimates them from what it uses and waits for
    #[arg(long, value_name = "CPUS|auto", value_parser = request, default_value = "auto")]
    request: Request,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn run(args: Args, socket: &Path) -> Result<ExitCode> {
    let program = &args.command[0];
    let name = args.name.unwrap_or_else(|| default_name(program));
    let mut client = Client::connect(socket).map_err(told)?;
    client
        .run(&name, args.priority, args.request.cpus())
        .map_err(told)?;
    // Only returns if it fails; the daemon sees this process end.
    let failed = Command::new(program)
        .args(&args.command[1..])
        .env(SOCKET_VARIABLE, socket)
        .exec();
    anyhow::bail!("cannot execute {}: {failed}", program.to_string_lossy())
}

fn default_name(program: &OsString) -> String {
    let file = Path::new(program)
        .file_name()
        .map(|f| f.to_string_lossy().into_owned())
        .unwrap_or_default();
    let good: String = file
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .take(40)
        .collect();
    format!("{good}-{}", std::process::id())
        .trim_start_matches('-')
        .to_owned()
}
