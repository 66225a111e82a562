use std::process::ExitCode;

use anyhow::Result;

use super::record::parse_filter;
use crate::companions;

/// Place the recording probes in a running JVM ahead of time, dormant
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    sudo loadline arm shop              (at a quiet hour; then record shop at any time, SQL included)\n  \
    sudo loadline arm shop --methods 'com.shop.**'   (also what record --methods needs in these methods)\n  \
    sudo loadline arm shop --restore    (take the probes out again)\n\n\
    Either redefines loaded classes. Up to JDK 21, the first time in a JVM that was started without the\n\
    agent throws all of its compiled code away: expect seconds to minutes of slow replies.")]
pub struct Args {
    /// A running JVM: its process id, or a part of its main class or jar's name
    #[arg(value_name = "PID|NAME")]
    jvm: String,
    /// Place probes in these methods too (see `loadline record --help`): com.shop.**, !com.shop.model.*.get*; several, in order
    #[arg(long, value_name = "FILTER", value_parser = parse_filter, conflicts_with = "restore")]
    methods: Vec<String>,
    /// Take the probes out instead
    #[arg(long)]
    restore: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let pid = loadline_record::resolve(&args.jvm)?;
    for line in loadline_record::arm(pid, &companions::agent()?, args.restore, &args.methods)? {
        eprintln!("  note: {line}");
    }
    eprintln!(
        "  {}",
        if args.restore {
            "the probes are out"
        } else {
            "the probes are in place, dormant until a recording"
        }
    );
    Ok(ExitCode::SUCCESS)
}
