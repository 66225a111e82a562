use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use loadline_analyze::diff;
use loadline_trace::Trace;

use super::open;
use crate::{Usage, companions, show};

/// Compare recordings: what changed per endpoint, phase, cause, lock, SQL statement and method, and whether it is more than noise
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline diff monday.trace tuesday.trace\n  \
    loadline diff a1.trace,a2.trace,a3.trace b1.trace,b2.trace,b3.trace    # several of each, best recorded in turns\n  \
    loadline diff --threshold 10% main.trace branch.trace                  # in a pipeline: exit code 1 if anything takes 10% longer\n  \
    loadline diff before.trace after.trace --open                          # both in the viewer, beside each other\n  \
    loadline diff before.trace after.trace --html diff.html                # a page with both sides beside each other\n  \
    loadline diff --json before.trace after.trace | jq '.verdict.changes[] | select(.real)'")]
pub struct Args {
    /// The recordings before, separated by commas
    #[arg(
        value_name = "A1,A2,…",
        value_delimiter = ',',
        required = true,
        num_args = 1
    )]
    before: Vec<PathBuf>,
    /// The recordings now
    #[arg(
        value_name = "B1,B2,…",
        value_delimiter = ',',
        required = true,
        num_args = 1
    )]
    now: Vec<PathBuf>,
    /// Exit with 1 if a change that is more than noise takes this much longer: 10%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    threshold: Option<f64>,
    /// Write a page with both sides beside each other, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Serve both recordings beside each other, the first of each side, with what changed above them
    #[arg(long, conflicts_with_all = ["json", "threshold"])]
    open: bool,
    /// With --open: start no browser
    #[arg(long, requires = "open")]
    no_browser: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(p) if p.is_finite() && p > 0.0 => Ok(p / 100.0),
        _ => Err("write per cent above 0, as in 10%".into()),
    }
}

pub fn run(args: Args) -> Result<ExitCode> {
    let traces = |side: &[PathBuf]| -> Result<Vec<Trace>> {
        side.iter().map(|dir| Ok(Trace::open(dir)?)).collect()
    };
    if let Some(twice) = args.before.iter().find(|a| args.now.contains(a)) {
        let twice = twice.display();
        return Err(Usage(format!(
            "{twice} is on both sides: a recording is equal to itself"
        ))
        .into());
    }
    let diff = diff::diff(&traces(&args.before)?, &traces(&args.now)?)?;
    if let Some(path) = &args.html {
        std::fs::write(path, diff.html()).with_context(|| path.display().to_string())?;
    }
    let text = if args.json {
        serde_json::to_string_pretty(&diff)?
    } else {
        diff.render()
    };
    show::out(&text)?;
    if args.open {
        let server = loadline_viewer::serve(loadline_viewer::Options {
            show: loadline_viewer::Show::Both {
                before: args.before[0].clone(),
                now: args.now[0].clone(),
                diff: serde_json::to_string(&diff)?,
            },
            web: companions::beside_the_binary("web")?,
            port: 0,
        })?;
        open::until_interrupted(server, !args.no_browser)?;
    }
    let Some(threshold) = args.threshold else {
        return Ok(ExitCode::SUCCESS);
    };
    let slower = above(&diff.verdict.changes, threshold);
    for c in &slower {
        eprintln!(
            "above the threshold: {} {} takes {:.1}% longer",
            c.kind,
            c.name,
            c.change * 100.0
        );
    }
    Ok(ExitCode::from(u8::from(!slower.is_empty())))
}

/// Changes that are more than noise and take at least so much longer.
fn above(changes: &[diff::Change], threshold: f64) -> Vec<&diff::Change> {
    let worse = |c: &&diff::Change| c.real && c.change >= threshold;
    changes.iter().filter(worse).collect()
}

#[cfg(test)]
mod tests {
    use super::{above, percent};
    use loadline_analyze::diff::Change;

    #[test]
    fn only_what_is_real_and_slower_breaks_a_threshold() {
        let change = |name: &str, change: f64, real| Change {
            kind: "sql",
            name: name.into(),
            unit: "ms per call",
            before: 1.0,
            now: 1.0 + change,
            rare: false,
            change,
            interval: [change - 0.01, change + 0.01],
            p: 0.0,
            real,
            weight: 1.0,
        };
        let changes = [
            change("slower", 0.2, true),
            change("a little slower", 0.05, true),
            change("faster", -0.5, true),
            change("noise", 0.9, false),
        ];
        let names: Vec<&str> = above(&changes, 0.1)
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        assert_eq!(names, ["slower"]);
    }

    #[test]
    fn a_threshold_is_in_per_cent() {
        assert_eq!(percent("10%"), Ok(0.1));
        assert_eq!(percent("2.5"), Ok(0.025));
        for wrong in ["", "0", "-3%", "ten", "nan"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}
