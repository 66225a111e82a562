use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use loadline_export::Format;
use loadline_trace::Trace;

use crate::show;

/// Write a trace for another tool: Paraver, Perfetto, the Firefox profiler, a flame graph, CSV
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline export monday.trace --to perfetto                  # monday.pftrace: open it at ui.perfetto.dev\n  \
    loadline export monday.trace --to firefox -o monday.json    # open it at profiler.firefox.com\n  \
    loadline export monday.trace --to paraver                   # monday.paraver/: wxparaver monday.paraver/monday.prv\n  \
    loadline export monday.trace --to flame                     # monday.flame/index.html, and folded stacks\n  \
    loadline export monday.trace --to csv                       # monday.csv/: a file per table")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote)
    #[arg(value_name = "DIR")]
    trace: PathBuf,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    to: To,
    /// File (perfetto, firefox) or directory (the others) to write; it must not exist yet
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum To {
    /// BSC Paraver: .prv, .pcf, .row and views
    Paraver,
    /// Perfetto's protobuf
    Perfetto,
    /// The Firefox profiler's JSON
    Firefox,
    /// Folded stacks and a page
    Flame,
    /// A CSV file per table
    Csv,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let trace = Trace::open(&args.trace)?;
    let format = match args.to {
        To::Paraver => Format::Paraver,
        To::Perfetto => Format::Perfetto,
        To::Firefox => Format::Firefox,
        To::Flame => Format::Flame,
        To::Csv => Format::Csv,
    };
    let out = args
        .output
        .unwrap_or_else(|| format.default_output(&args.trace));
    let bar = show::bar(
        0,
        "  writing  {bar:24} {percent:>3}%  {human_pos} rows  {elapsed}",
    );
    // Sorting says nothing of how far it is; the clock at least goes on.
    bar.enable_steady_tick(Duration::from_millis(200));
    let written = loadline_export::export(&trace, format, &out, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    for note in &written.notes {
        eprintln!("note: {note}");
    }
    let more = match written.files.len() {
        0 | 1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    if let Some(first) = written.files.first() {
        let size = std::fs::metadata(first)?.len();
        show::out(&format!(
            "wrote {} ({}){more}",
            first.display(),
            show::bytes(size)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
