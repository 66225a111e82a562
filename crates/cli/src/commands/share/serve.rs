use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use loadline_share::{Config, EXAMPLE, Ready};

use super::told;
use crate::{interrupt, show};

/// Run the CPU manager until Ctrl-C or `loadline share stop`
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline share serve\n  \
    loadline share serve --example-config > share.toml && sudo loadline share serve --config share.toml\n  \
    loadline share serve                      (without root: for your own processes)")]
pub struct Args {
    /// Configuration
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Keep the accounting in this file [default: the configuration's]
    #[arg(long, value_name = "FILE.csv")]
    history: Option<PathBuf>,
    /// Print a configuration with every key explained, and end
    #[arg(long)]
    example_config: bool,
}

pub fn run(args: Args, socket: &Path) -> Result<ExitCode> {
    if args.example_config {
        show::out(EXAMPLE)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut config = match &args.config {
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
            Config::parse(&text, &name).map_err(told)?
        }
        None => Config::default(),
    };
    if let Some(history) = args.history {
        config.keep_history(history);
    }
    let stop = interrupt::flag()?;
    loadline_share::serve(config, socket, &stop, |ready| print(ready, socket)).map_err(told)?;
    eprintln!("  every process has back what it had");
    Ok(ExitCode::SUCCESS)
}

fn print(ready: &Ready, socket: &Path) {
    let s = &ready.status;
    eprintln!(
        "  CPUs {} by {}, sharing {}, every {} ms    {}: {}",
        s.cpus, s.policy, s.sharing, s.quantum_ms, s.mechanism, s.mechanism_about
    );
    for why in &s.passed_over {
        eprintln!("  not {why}");
    }
    if let Some(address) = &ready.metrics {
        eprintln!("  figures for Prometheus: http://{address}/metrics");
    }
    if !ready.taken_over.is_empty() {
        eprintln!(
            "  taken over from an earlier daemon: {}",
            ready.taken_over.join(", ")
        );
    }
    eprintln!(
        "  listening at {}    next: loadline share run --name NAME -- java …",
        socket.display()
    );
}
