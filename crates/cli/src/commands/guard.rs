use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use loadline_characterize::GuardFigures;

use crate::show;

/// Say what the guard inside a running server does: whom it lets in, whom it refuses and why
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline guard shop            (a JVM by a part of its main class or jar's name)\n  \
    loadline guard 4121 --json     (all its figures, as JMX has them; counts are since its start)\n\n\
    The server is asked by its attach mechanism, as jcmd does: as its user, or as root.")]
pub struct Args {
    /// A running JVM: its process id, or a part of its main class or jar's name
    #[arg(value_name = "PID|NAME")]
    jvm: String,
    /// Print JSON: an array, empty where there is no guard
    #[arg(long)]
    json: bool,
}

/// Before a guard's name among the system properties of its process (`Published.java`).
const PREFIX: &str = "dev.loadline.guard/";

pub fn run(args: Args) -> Result<ExitCode> {
    let pid = loadline_record::resolve(&args.jvm)?;
    let properties = match loadline_record::system_properties(pid) {
        // What is no JVM has no guard: for a program that is an answer.
        Err(loadline_record::Error::NotAJvm { .. }) if args.json => Default::default(),
        told => told?,
    };
    let mut guards = Vec::new();
    for (name, text) in properties {
        if name.starts_with(PREFIX) {
            let figures: serde_json::Value = serde_json::from_str(&text)
                .with_context(|| format!("what {name} says is no JSON: is its version another?"))?;
            guards.push(figures);
        }
    }
    let json = serde_json::to_string_pretty(&guards)?;
    if args.json {
        show::out(&json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if guards.is_empty() {
        bail!(
            "no guard runs in process {pid}: docs/guard.md says how it gets there. Where it guards requests it may begin with \
             the first one; one older than this program does not say that it is there"
        );
    }
    let texts: Vec<String> = GuardFigures::read(&json)?.iter().map(render).collect();
    show::out(texts.join("\n").trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn render(f: &GuardFigures) -> String {
    let n = |name: &str| show::count(f.count(name));
    let now = if f.stalled {
        "lets everybody in: its loop does not run".to_owned()
    } else if f.refusing {
        format!(
            "{}: who begins waits {:.0} ms, {:.0} are aimed at",
            if f.mode == "observe" {
                "would refuse"
            } else {
                "refusing"
            },
            f.delay_millis,
            f.target_delay_millis
        )
    } else {
        "lets everybody in".to_owned()
    };
    let refused: Vec<String> = f
        .refused()
        .into_iter()
        .map(|(why, n)| format!("{} {why}", show::count(n)))
        .collect();
    let refused = match refused.as_slice() {
        [] => "nobody".to_owned(),
        some => some.join(", "),
    };
    let came = if f.guards == "requests" {
        format!(
            "requests     {}: {} sessions began, {} returned",
            n("requests"),
            n("newSessions"),
            n("returningSessions")
        )
    } else {
        format!(
            "connections  {}, {} open: {} full handshakes, {} resumed, {} failed; {} requests",
            n("connections"),
            n("openConnections"),
            n("fullHandshakes"),
            n("resumedHandshakes"),
            n("failedHandshakes"),
            n("requests")
        )
    };
    let errors = match f.errors {
        0 => String::new(),
        errors => format!(
            "  errors       {} inside of it, each let somebody in: see the server's log\n",
            show::count(errors)
        ),
    };
    format!(
        "{} · guards {} · {} · {}\n  now          {now}; {:.0}% of {} CPUs used\n  \
         a session    {:.1} ms of CPU, {:.1} with a ticket or known (learnt from {})\n  {came}\n  {} {refused}\n{errors}",
        f.name,
        f.guards,
        f.mode,
        f.objective,
        100.0 * f.utilization,
        f.cpus,
        f.new_cost_millis,
        f.resumed_cost_millis,
        show::count(f.learnt_from),
        if f.mode == "observe" {
            "would refuse"
        } else {
            "refused     "
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_told_in_a_few_lines() {
        let figures = r#"[{"name":"https-jsse-nio-8443","guards":"connections","mode":"enforce","objective":"p95=250ms",
            "refusing":true,"delayMillis":91.2,"targetDelayMillis":75,"cpus":2,"utilization":0.99,"newCostMillis":11.2,
            "connections":18204,"refusedByBudget":12411,"shedRequests":3}]"#;
        let text = render(&GuardFigures::read(figures).expect("valid")[0]);
        for part in [
            "https-jsse-nio-8443 · guards connections · enforce · p95=250ms\n",
            "refusing: who begins waits 91 ms, 75 are aimed at; 99% of 2 CPUs used\n",
            "connections  18 k, 0 open",
            "  refused      12 k no room, 3 requests shed\n",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
        assert!(!text.contains("errors"));
    }
}
