use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use loadline_share::{Client, Wish, undo_after_a_crash};

use super::{Request, positive, request, told};
use crate::Usage;

/// Take a running JVM under the CPU manager
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline share adopt shop --priority 2\n  \
    sudo loadline share adopt 4121 --name clinic --request 1.5")]
pub struct AdoptArgs {
    /// A process id, or a part of a JVM's main class or jar's name
    #[arg(value_name = "PID|NAME")]
    process: String,
    /// What it is called [default: pid-PID]
    #[arg(long)]
    name: Option<String>,
    /// Its weight against the others; 1 is usual
    #[arg(long, value_name = "P", value_parser = positive)]
    priority: Option<f64>,
    /// CPUs that it wants; auto estimates them from what it uses and waits for
    #[arg(long, value_name = "CPUS|auto", value_parser = request, default_value = "auto")]
    request: Request,
    /// Even if it is pinned to CPUs or in a cgroup that somebody else manages
    #[arg(long)]
    force: bool,
}

pub fn adopt(args: AdoptArgs, socket: &Path) -> Result<ExitCode> {
    let mut client = Client::connect(socket).map_err(told)?;
    let pid = match args.process.parse() {
        Ok(pid) => pid,
        Err(_) => loadline_record::resolve(&args.process)?,
    };
    let wish = Wish {
        name: args.name,
        priority: args.priority,
        request: args.request.cpus(),
    };
    client.adopt(pid, &wish, args.force).map_err(told)?;
    Ok(ExitCode::SUCCESS)
}

/// Let an application go; it gets back what it had
#[derive(clap::Args)]
pub struct ReleaseArgs {
    /// Its name
    name: String,
}

pub fn release(args: &ReleaseArgs, socket: &Path) -> Result<ExitCode> {
    Client::connect(socket)
        .and_then(|mut c| c.release(&args.name))
        .map_err(told)?;
    Ok(ExitCode::SUCCESS)
}

/// Change an application's priority or request, or how CPUs are divided
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline share set shop --priority 3\n  \
    loadline share set batch --request 0.5\n  \
    sudo loadline share set --policy equipartition --sharing never")]
pub struct SetArgs {
    /// The application's name
    #[arg(required_unless_present_any = ["policy", "sharing"])]
    name: Option<String>,
    /// Its weight against the others
    #[arg(long, value_name = "P", value_parser = positive, requires = "name")]
    priority: Option<f64>,
    /// CPUs that it wants; auto estimates them
    #[arg(long, value_name = "CPUS|auto", value_parser = request, requires = "name")]
    request: Option<Request>,
    /// What a CPU second of it earns, for cost-aware
    #[arg(long, value_name = "R", value_parser = positive, requires = "name")]
    revenue: Option<f64>,
    /// How CPUs are divided
    #[arg(long, value_parser = loadline_policy::Policy::ALL.map(|p| p.name()))]
    policy: Option<String>,
    /// When two applications may share a CPU
    #[arg(long, value_parser = loadline_policy::Sharing::ALL.map(|s| s.name()))]
    sharing: Option<String>,
}

pub fn set(args: &SetArgs, socket: &Path) -> Result<ExitCode> {
    let mut changes = Vec::new();
    changes.extend(args.priority.map(|p| ("priority", p.to_string())));
    changes.extend(
        args.request
            .map(|r| ("request", r.cpus().map_or("auto".into(), |c| c.to_string()))),
    );
    changes.extend(args.revenue.map(|r| ("revenue", r.to_string())));
    if args.name.is_some() && changes.is_empty() {
        return Err(Usage(
            "set needs --priority, --request or --revenue for an application".into(),
        )
        .into());
    }
    let mut client = Client::connect(socket).map_err(told)?;
    if args.policy.is_some() || args.sharing.is_some() {
        client
            .set_policy(args.policy.as_deref(), args.sharing.as_deref())
            .map_err(told)?;
    }
    if let Some(name) = &args.name {
        client.set(name, &changes).map_err(told)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// End the CPU manager; every process gets back what it had, also after a crash of the daemon
#[derive(clap::Args)]
pub struct StopArgs {}

pub fn stop(_: &StopArgs, socket: &Path) -> Result<ExitCode> {
    match Client::connect(socket) {
        Ok(mut client) => client.stop().map_err(told)?,
        // None answers: one may have died and left something.
        Err(none) => match undo_after_a_crash(socket).map_err(told)? {
            Some(names) if names.is_empty() => eprintln!(
                "  the daemon had died, and so had its applications; nothing is left of them"
            ),
            Some(names) => eprintln!("  the daemon had died; restored: {}", names.join(", ")),
            None => return Err(told(none)),
        },
    }
    Ok(ExitCode::SUCCESS)
}
