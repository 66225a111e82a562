use std::process::ExitCode;

use anyhow::Result;
use loadline_analyze::wrap;
use loadline_counters::Machine;
use loadline_record::doctor::{self, Can, Finding, Subject};

use crate::{companions, show};

/// Say what can be recorded here, and what each missing thing takes
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    loadline doctor          (this machine, and the JVMs that run on it)\n  \
    loadline doctor shop     (and one of them: nothing is attached to it)\n\n\
    Exit code: 0 if something can be recorded, 1 if nothing can.")]
pub struct Args {
    /// A running JVM: its process id, or a part of its main class or jar's name
    #[arg(value_name = "PID|NAME")]
    jvm: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Columns of a line.
const LINE: usize = 98;

pub fn run(args: Args) -> Result<ExitCode> {
    let agent = companions::agent()?;
    let pid = args
        .jvm
        .as_deref()
        .map(loadline_record::resolve)
        .transpose()?;
    let mut machine = doctor::machine(&agent);
    machine.findings.push(counters());
    let mut subjects = vec![machine];
    if let Some(pid) = pid {
        subjects.push(doctor::jvm(pid, &agent)?);
    }
    let any = subjects
        .last()
        .is_some_and(|s| s.findings.iter().any(records));
    if args.json {
        show::out(&serde_json::to_string_pretty(&subjects)?)?;
    } else {
        let mut text = subjects.iter().map(render).collect::<Vec<_>>().join("\n");
        if pid.is_none() {
            text += &jvms();
        }
        show::out(&text)?;
    }
    Ok(if any {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Whether it is a level, and there is something of it.
fn records(finding: &Finding) -> bool {
    finding.what.ends_with("level") && finding.can != Can::No
}

fn counters() -> Finding {
    const WHAT: &str = "counters";
    let missing = Machine::this().missing;
    if missing.is_empty() {
        return Finding::yes(WHAT, "of the scheduler, the kernel and the processor");
    }
    let text = missing.join("; ");
    match text.split_once(": ") {
        Some((why, remedy)) => Finding::partly(WHAT, why, remedy),
        None => Finding::partly(WHAT, text, ""),
    }
}

fn jvms() -> String {
    let running = loadline_record::running_jvms();
    if running.is_empty() {
        return "\nno JVM is running that this user may look into\n".into();
    }
    let mut text = String::from("\nJVMs: `loadline doctor PID` looks at one\n");
    for jvm in running {
        text += &format!("  {:>7}  {}\n", jvm.pid, jvm.name);
    }
    text
}

/// Of the column that says whether it can be.
const MARK: usize = 8;

fn render(subject: &Subject) -> String {
    let mut text = String::new();
    for (i, line) in wrap(&subject.title, LINE).into_iter().enumerate() {
        text += &format!("{}{line}\n", if i == 0 { "" } else { "  " });
    }
    let widest = subject.findings.iter().map(|f| f.what.len()).max();
    let what = widest.unwrap_or(0) + 2;
    let indent = 2 + what + MARK;
    for f in &subject.findings {
        let mark = match f.can {
            Can::Yes => "yes",
            Can::Partly => "partly",
            Can::No => "no",
        };
        let mut lines = wrap(&f.why, LINE - indent);
        if !f.remedy.is_empty() {
            let remedy = wrap(&f.remedy, LINE - indent - 2);
            lines.extend(
                remedy
                    .into_iter()
                    .enumerate()
                    .map(|(i, l)| format!("{} {l}", if i == 0 { "→" } else { " " })),
            );
        }
        for (i, line) in lines.iter().enumerate() {
            text += &match i {
                0 => format!("  {:<what$}{mark:<MARK$}{line}\n", f.what),
                _ => format!("{:indent$}{line}\n", ""),
            };
        }
    }
    text
}
