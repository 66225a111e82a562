use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use loadline_analyze::report::table::{Align, Table, duration};
use loadline_share::{ApplicationStatus, Client, Status};

use super::told;
use crate::{interrupt, show};

/// Print what the CPU manager does, and who has what
#[derive(clap::Args)]
pub struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show who has what, live
#[derive(clap::Args)]
pub struct TopArgs {
    /// Between two looks
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = show::parse_duration)]
    every: Duration,
    /// End after so many looks
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
}

pub fn status(args: &StatusArgs, socket: &Path) -> Result<ExitCode> {
    let status = Client::connect(socket)
        .and_then(|mut c| c.status())
        .map_err(told)?;
    if args.json {
        show::out(&serde_json::to_string_pretty(&status)?)?;
    } else {
        show::out(&(daemon(&status) + "\n" + &table(&status)))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn top(args: &TopArgs, socket: &Path) -> Result<ExitCode> {
    let stop = interrupt::flag()?;
    let mut client = Client::connect(socket).map_err(told)?;
    let clear = std::io::stdout().is_terminal();
    let mut looks = 0;
    while !interrupt::requested(&stop) {
        let text = table(&client.status().map_err(told)?);
        // Home, the text, and what was below it cleared.
        show::out(&if clear {
            format!("\x1b[H\x1b[J{text}")
        } else {
            text
        })?;
        looks += 1;
        if args.count.is_some_and(|n| looks >= n) {
            break;
        }
        let until = std::time::Instant::now() + args.every;
        while !interrupt::requested(&stop) && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50).min(args.every));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn daemon(s: &Status) -> String {
    let mut text = format!(
        "  CPUs {} by {}, sharing {}, every {} ms    pid {}, {:.1} CPU s so far\n  {}: {}\n",
        s.cpus,
        s.policy,
        s.sharing,
        s.quantum_ms,
        s.pid,
        s.cpu_seconds,
        s.mechanism,
        s.mechanism_about
    );
    for why in &s.passed_over {
        text += &format!("  not {why}\n");
    }
    text += &format!(
        "  {} decisions, {} changes, in the kernel within {} (95%; slowest {})\n",
        show::count(s.quanta),
        show::count(s.changes),
        duration(s.p95_apply_ms),
        duration(s.slowest_apply_ms)
    );
    if s.scheduling != "real time" {
        text += &format!("  scheduled {}\n", s.scheduling);
    }
    if let Some(error) = &s.last_error {
        text += &format!("  {} refused, last: {error}\n", show::count(s.errors));
    }
    text
}

fn table(status: &Status) -> String {
    if status.applications.is_empty() {
        return "  no applications    next: loadline share run --name NAME -- java …\n".into();
    }
    let mut table = Table::new([
        ("application", Align::Left),
        ("priority", Align::Right),
        ("wants", Align::Right),
        ("has", Align::Right),
        ("CPUs", Align::Left),
        ("used", Align::Right),
        ("waits for", Align::Right),
        ("p95", Align::Right),
    ]);
    for a in &status.applications {
        table.row([
            a.name.clone(),
            a.priority.to_string(),
            format!("{:.1}{}", a.wants, if a.estimated { "~" } else { "" }),
            format!("{:.1}", a.has),
            cpus(a),
            format!("{:.1}", a.using),
            a.waiting.map_or("-".into(), |w| format!("{w:.1}")),
            a.p95_ms.map_or("-".into(), duration),
        ]);
    }
    table.render("  ")
}

/// `0-1,2:0.4`: whole CPUs, and parts of others.
fn cpus(a: &ApplicationStatus) -> String {
    let whole: loadline_share::CpuSet = a
        .cpus
        .iter()
        .filter(|(_, part)| *part >= 1.0)
        .map(|(cpu, _)| *cpu)
        .collect();
    let parts = a.cpus.iter().filter(|(_, part)| *part < 1.0);
    let mut text: Vec<String> = Some(whole.to_string())
        .filter(|w| !w.is_empty())
        .into_iter()
        .collect();
    text.extend(parts.map(|(cpu, part)| {
        if *part > 0.0 {
            format!("{cpu}:{part}")
        } else {
            format!("waits on {cpu}")
        }
    }));
    text.join(",")
}
