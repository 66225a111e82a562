use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use loadline_export::Format;
use loadline_model::language::Setting;
use loadline_model::{language, lqn};
use loadline_trace::Trace;

use super::simulate::setting;
use crate::{Usage, show};

/// Write a trace for another tool (Paraver, Perfetto, the Firefox profiler, a flame graph, CSV), or a model as an LQN
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline export monday.trace --to perfetto                  # monday.pftrace: open it at ui.perfetto.dev\n  \
    loadline export monday.trace --to firefox -o monday.json    # open it at profiler.firefox.com\n  \
    loadline export monday.trace --to paraver                   # monday.paraver/: wxparaver monday.paraver/monday.prv\n  \
    loadline export monday.trace --to flame                     # monday.flame/index.html, and folded stacks\n  \
    loadline export monday.trace --to csv                       # monday.csv/: a file per table\n  \
    loadline export models/tomcat.toml --to lqn                 # models/tomcat.lqnx: lqns, lqsim and LINE read it\n  \
    loadline export shop.toml --to lqn --set rate=40 --without  # go on without what an LQN cannot say")]
pub struct Args {
    /// The trace (a directory that `loadline record` wrote); for lqn a model (a file that `loadline simulate` reads)
    #[arg(value_name = "DIR|MODEL.toml")]
    source: PathBuf,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    to: To,
    /// File (perfetto, firefox, lqn) or directory (the others) to write; it must not exist yet
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Set a parameter of the model (lqn; repeat for more)
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
    /// Go on without what a layered queueing network cannot say, and list it (lqn)
    #[arg(long)]
    without: bool,
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
    /// Of a model: a layered queueing network, the XML of lqns
    Lqn,
}

/// A model as the XML of a layered queueing network.
fn model(args: &Args) -> Result<ExitCode> {
    let file = args.source.display();
    if args.source.is_dir() {
        bail!(
            "{file}: a layered queueing network is made of a model: run `loadline model {file} -o MODEL.toml` first"
        );
    }
    let model = language::from_file(&args.source, &args.set).map_err(|e| anyhow!("{e}"))?;
    let exported = lqn::export(&model).map_err(|remark| {
        anyhow!("{file}: {remark}: a layered queueing network has nothing like it")
    })?;
    let listed: Vec<String> = exported.remarks.iter().map(|r| format!("  {r}")).collect();
    if !args.without && !listed.is_empty() {
        bail!(
            "{file}: a layered queueing network cannot say\n{}\n--without goes on without",
            listed.join("\n")
        );
    }
    let out = match &args.output {
        Some(out) => out.clone(),
        None => args.source.with_extension("lqnx"),
    };
    write_new(&out, &exported.xml)?;
    for remark in &listed {
        eprintln!("note: without{}", &remark[1..]);
    }
    show::out(&format!("wrote {}", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that must not exist yet.
pub fn write_new(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let mut file = std::fs::File::create_new(path)
        .with_context(|| format!("{}: cannot be made", path.display()))?;
    file.write_all(text.as_bytes())
        .with_context(|| path.display().to_string())
}

pub fn run(args: Args) -> Result<ExitCode> {
    let format = match args.to {
        To::Paraver => Format::Paraver,
        To::Perfetto => Format::Perfetto,
        To::Firefox => Format::Firefox,
        To::Flame => Format::Flame,
        To::Csv => Format::Csv,
        To::Lqn => return model(&args),
    };
    if args.without || !args.set.is_empty() {
        return Err(
            Usage("--set and --without are of models: they go with --to lqn".into()).into(),
        );
    }
    let trace = Trace::open(&args.source)?;
    let out = args
        .output
        .unwrap_or_else(|| format.default_output(&args.source));
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
