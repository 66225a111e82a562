use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::record;

/// Make a trace of what a flight recorder keeps, while it goes on
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline record --pid shop --keep 60s &             (leave it on)\n  \
    sudo loadline dump shop -o slow.trace                    (something happened: the last 60 s)\n  \
    loadline report slow.trace\n\n\
    The recording goes on, and loses nothing. kill -USR1 to the recorder does the same beside its own directory.")]
pub struct Args {
    /// The recorded JVM: its process id, or a part of its main class or jar's name
    #[arg(value_name = "PID|NAME")]
    pid: String,
    /// Where to write the trace: a directory that does not exist yet [default: NAME-DATE-TIME.trace]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let pid = loadline_record::resolve(&args.pid)?;
    let out = match args.out {
        Some(out) => out,
        None => record::default_out(&loadline_record::Target::Pid(pid)),
    };
    loadline_record::dump(pid, &out)?;
    record::build_tables(&out, false)?;
    let out = out.display();
    eprintln!("  next: loadline report {out}     loadline open {out}");
    Ok(ExitCode::SUCCESS)
}
