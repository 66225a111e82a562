//! What stands on the terminal while recording.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::ProgressBar;
use loadline_record::{Progress, Stage};

use crate::show;

/// One line when it begins, then a bar.
pub struct Display {
    duration: Option<Duration>,
    /// ` of 2.0 GB`, if there is a bound.
    of: String,
    pub bar: ProgressBar,
    introduced: bool,
    /// Warnings of the agent's that were told.
    warned: usize,
    cpu_at_begin: Duration,
}

/// Warnings of the agent's that are told at once: one that fails at each class need not fill the terminal.
const WARNINGS: usize = 4;

impl Display {
    /// Of a recording that is to take so long and so much, if that is bounded.
    pub fn new(duration: Option<Duration>, max_size: Option<u64>) -> Display {
        let template = if duration.is_some() {
            "  recording  {bar:25} {msg}"
        } else {
            "  recording  {spinner} {msg}"
        };
        let total = duration.map_or(0, |d| d.as_millis() as u64);
        Display {
            duration,
            of: max_size.map_or(String::new(), |most| format!(" of {}", show::bytes(most))),
            bar: show::bar(total, template),
            introduced: false,
            warned: 0,
            cpu_at_begin: own_cpu(),
        }
    }

    /// Says how far it is.
    pub fn show(&mut self, p: &Progress) {
        if !self.introduced && p.stage == Stage::Recording {
            self.introduced = true;
            self.warned = p.warnings.len();
            self.cpu_at_begin = own_cpu();
            self.bar.suspend(|| eprintln!("{}", introduction(p)));
            if !std::io::stderr().is_terminal() {
                let until = self.duration.map_or("until stopped".into(), |d| {
                    format!("for {} s", d.as_secs_f64())
                });
                eprintln!("  recording {until}");
            }
            if p.kept.is_some() {
                let pid = p.pid;
                self.bar.suspend(|| {
                    eprintln!(
                        "  the oldest is dropped; a trace of what is kept: loadline dump {pid}"
                    );
                });
            }
        }
        // Of classes that were loaded since.
        if self.introduced && p.warnings.len() > self.warned {
            let new = warnings(&p.warnings[self.warned..]).join("\n");
            self.bar.suspend(|| eprintln!("{new}"));
            self.warned = p.warnings.len();
        }
        self.bar.set_position(p.elapsed.as_millis() as u64);
        self.bar.set_message(match p.stage {
            Stage::Attaching => "attaching".into(),
            Stage::Stopping => "stopping".into(),
            Stage::Recording => {
                format!(
                    "{:.1} s   {} kernel events   {}{}   lost {}   cost {:.1}% of a CPU",
                    p.elapsed.as_secs_f64(),
                    show::count(p.kernel_events),
                    show::bytes(p.bytes),
                    self.of,
                    show::count(p.lost),
                    100.0 * (own_cpu() - self.cpu_at_begin).as_secs_f64()
                        / p.elapsed.as_secs_f64().max(0.1)
                ) + &p.kept.map_or(String::new(), |k| {
                    format!(
                        "   kept {:.0} s   dropped {:.0} s   dumps {}",
                        k.kept.as_secs_f64(),
                        k.dropped.as_secs_f64(),
                        k.dumps
                    )
                })
            }
        });
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// CPU time of this process: what recording costs beside the probes themselves.
fn own_cpu() -> Duration {
    // SAFETY: getrusage writes only into `usage`.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let of = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// `shop (pid 4121, OpenJDK 25, Tomcat 11.0.9)   kernel ✓  jvm ✓ …`, then why what is missing is.
pub fn introduction(p: &Progress) -> String {
    let mark = |name: &str| match p.levels.get(name) {
        Some(l) if l.recorded => format!("{name} ✓"),
        _ => format!("{name} –"),
    };
    let marks: Vec<String> = ["kernel", "jvm", "server", "app"].map(mark).to_vec();
    let syscalls = if p.levels.get("syscalls").is_some_and(|l| l.recorded) {
        "on"
    } else {
        "off"
    };
    let mut text = format!(
        "  {}   {}   syscalls {syscalls}",
        p.target,
        marks.join("  ")
    );
    for level in p
        .levels
        .values()
        .filter(|l| !l.recorded && !l.why.is_empty())
    {
        text += &format!("\n  note: {}", level.why);
    }
    let mut remedies: Vec<&str> = Vec::new();
    for n in &p.not_recorded {
        if !remedies.contains(&n.how_to_get.as_str()) {
            remedies.push(&n.how_to_get);
        }
    }
    for (at, remedy) in remedies.iter().enumerate() {
        let of_it = p.not_recorded.iter().filter(|n| n.how_to_get == *remedy);
        let what: Vec<&str> = of_it.map(|n| n.what.as_str()).collect();
        text += &format!(
            "\n  {}not recorded: {}\n  to get {}: {remedy}",
            if at == 0 {
                "no class in it is redefined; "
            } else {
                ""
            },
            what.join(", "),
            if what.len() == 1 { "it" } else { "them" },
        );
    }
    for warning in warnings(&p.warnings) {
        text += &format!("\n{warning}");
    }
    text
}

/// A line each, but not of all where there are many.
fn warnings(all: &[String]) -> Vec<String> {
    let first = all.iter().take(WARNINGS);
    let mut told: Vec<String> = first.map(|line| format!("  note: {line}")).collect();
    if all.len() > WARNINGS {
        let more = all.len() - WARNINGS;
        told.push(format!("  note: and {more} more, which the report has"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_warnings_some_are_told() {
        assert!(warnings(&[]).is_empty());
        assert_eq!(warnings(&["one".into()]), ["  note: one"]);
        let many: Vec<String> = (0..WARNINGS + 2).map(|n| n.to_string()).collect();
        let told = warnings(&many);
        assert_eq!(told.len(), WARNINGS + 1);
        assert_eq!(told[WARNINGS], "  note: and 2 more, which the report has");
    }
}
