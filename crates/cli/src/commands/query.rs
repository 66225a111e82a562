use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use loadline_analyze::query::FileFormat;
use loadline_trace::{Trace, tables};

use crate::{Usage, show};

/// Ask a trace in SQL (DuckDB's dialect); each table of the trace is a view
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline query monday.trace --tables\n  \
    loadline query monday.trace \"SELECT cause, sum(duration_ns)/1e6 AS ms FROM breakdown WHERE phase = 'tls_full' AND kind = 'tls_handshake' GROUP BY cause ORDER BY ms DESC\"\n  \
    loadline query monday.trace --csv \"SELECT * FROM spans WHERE kind = 'sql'\" > sql.csv\n  \
    loadline query monday.trace --out sql.parquet \"SELECT * FROM spans WHERE kind = 'sql'\"     # or .arrow, .csv\n\n\
    t(ns) is a time in seconds since the recording began, ms(ns) a duration in milliseconds;\n\
    request_type(name) makes one of names of requests that differ by numbers in their paths: GET /item/#.")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote)
    #[arg(value_name = "DIR")]
    trace: PathBuf,
    /// One SQL statement
    #[arg(required_unless_present = "tables")]
    sql: Option<String>,
    /// Print an array of JSON objects
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV with a header
    #[arg(long)]
    csv: bool,
    /// Write the rows to FILE.parquet, FILE.arrow or FILE.csv
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["json", "csv", "tables"])]
    out: Option<PathBuf>,
    /// Print the tables and columns there are, and what they mean
    #[arg(long)]
    tables: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let trace = Trace::open(&args.trace)?;
    if args.tables {
        show::out(&describe(&trace))?;
        return Ok(ExitCode::SUCCESS);
    }
    let sql = args.sql.unwrap_or_default();
    if sql.trim().is_empty() {
        return Err(
            Usage("the SQL is empty: see `loadline query --help` for examples".into()).into(),
        );
    }
    if let Some(out) = &args.out {
        let Some(format) = FileFormat::of(out) else {
            let out = out.display();
            return Err(Usage(format!(
                "{out}: name a file that ends in .parquet, .arrow or .csv"
            ))
            .into());
        };
        let rows = loadline_analyze::query::save(&trace, &sql, out, format)?;
        let size = std::fs::metadata(out)?.len();
        show::out(&format!(
            "wrote {} ({rows} rows, {})",
            out.display(),
            show::bytes(size)
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer = loadline_analyze::query::run(&trace, &sql)?;
    let text = if args.json {
        answer.json()
    } else if args.csv {
        answer.csv()
    } else {
        answer.table()
    };
    show::out(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn describe(trace: &Trace) -> String {
    let mut text = String::new();
    for table in tables::all() {
        let rows = trace.meta.tables.get(table.name).copied().unwrap_or(0);
        text += &format!("{} ({rows} rows): {}\n", table.name, table.doc);
        for c in table.columns {
            text += &format!(
                "  {:<13} {:<8} {}\n",
                c.name,
                c.sql_type.to_lowercase(),
                c.doc
            );
        }
        text += "\n";
    }
    text += "Views over them:\n";
    for view in loadline_analyze::views::ALL {
        text += &format!("{}: {}\n  {}\n\n", view.name, view.doc, view.example);
    }
    text
}
