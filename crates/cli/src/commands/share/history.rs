use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use loadline_analyze::report::table::{Align, Table};
use loadline_share::{Client, History, Totals};

use super::told;
use crate::show;

/// Print what each application had, used, waited for and did without
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline share history --last 24h\n  \
    loadline share history --plot cpus.svg\n  \
    loadline share history --csv > bill.csv\n\n\
    The daemon keeps a history if it was started with --history FILE or has `history` in its configuration.")]
pub struct Args {
    /// Of this file [default: the daemon's]
    #[arg(long, value_name = "FILE.csv")]
    file: Option<PathBuf>,
    /// Only so far back
    #[arg(long, value_name = "TIME", value_parser = show::parse_duration)]
    last: Option<Duration>,
    /// Print the rows as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print the sums as JSON
    #[arg(long)]
    json: bool,
    /// Draw CPUs over time
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

pub fn run(args: &Args, socket: &Path) -> Result<ExitCode> {
    let path = match &args.file {
        Some(path) => path.clone(),
        None => {
            let status = Client::connect(socket)
                .and_then(|mut c| c.status())
                .map_err(told)?;
            let Some(path) = status.history else {
                bail!(
                    "the daemon keeps no history: start it with --history FILE, or name a file with --file"
                )
            };
            path.into()
        }
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .context("the time of day")?;
    let since = args
        .last
        .map_or(0.0, |last| now.saturating_sub(last).as_secs_f64());
    let history = History::read(&path, since).map_err(told)?;
    if let Some(plot) = &args.plot {
        let Some(svg) = history.plot() else {
            bail!("{} has nothing to draw in that time", path.display())
        };
        std::fs::write(plot, svg).with_context(|| plot.display().to_string())?;
    }
    if args.csv {
        show::out(&history.csv())?;
    } else if args.json {
        let of =
            |t: Totals| serde_json::json!({"application": t.application, "account": t.account});
        let all: Vec<_> = history.totals().into_iter().map(of).collect();
        show::out(&serde_json::to_string_pretty(&all)?)?;
    } else {
        show::out(&table(&history.totals()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(totals: &[Totals]) -> String {
    if totals.is_empty() {
        return "  nothing in that time\n".into();
    }
    let right = |name| (name, Align::Right);
    let mut table = Table::new([
        ("application", Align::Left),
        right("hours"),
        right("assigned CPU s"),
        right("used"),
        right("waited"),
        right("not given"),
    ]);
    for t in totals {
        let a = &t.account;
        let cells = [a.assigned, a.used, a.waited, a.lacked].map(|v| format!("{v:.1}"));
        let first = [t.application.clone(), format!("{:.2}", a.seconds / 3600.0)];
        table.row(first.into_iter().chain(cells));
    }
    table.render("  ")
}
