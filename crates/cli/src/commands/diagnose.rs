use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use loadline_analyze::diagnose::{Query, diagnose};
use loadline_trace::Trace;

use crate::{Usage, show};

/// Say why a server is as slow as it is: symptoms, hypotheses with their evidence, a verdict
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline diagnose monday.trace\n  \
    loadline diagnose monday.trace --json | jq .confirmed\n  \
    loadline diagnose monday.trace --sql                                   (with the queries behind the figures)\n  \
    loadline query monday.trace \"$(loadline diagnose monday.trace --query 9)\"   (runs query 9)")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote)
    #[arg(value_name = "DIR")]
    trace: PathBuf,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["sql", "query"])]
    json: bool,
    /// Print the SQL of each query too
    #[arg(long)]
    sql: bool,
    /// Print the SQL of one query, and nothing else
    #[arg(long, value_name = "N", conflicts_with = "sql")]
    query: Option<usize>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    if let Some(n) = args.query {
        let query = Query::numbered(n)
            .ok_or_else(|| Usage(format!("there is no query {n}: --sql lists them")))?;
        show::out(query.sql)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = diagnose(&Trace::open(&args.trace)?)?;
    let text = if args.json {
        serde_json::to_string_pretty(&found)?
    } else {
        found.render(show::color(), args.sql)
    };
    show::out(&text)?;
    Ok(ExitCode::SUCCESS)
}
