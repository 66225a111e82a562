//! The adapter to `loadline record`: a child process of this same binary.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::child::{Child, Wait, how};

/// Attaching to a JVM that is overloaded takes its time, and so do tables.
const LATE: Duration = Duration::from_secs(120);

/// How a recording ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Recorded {
    /// The trace is there.
    Done,
    /// It could not be made; why, in the recorder's words.
    Refused(String),
    /// The user wants to stop.
    Stopped,
}

/// Records a JVM for some seconds into a folder that must not exist: all levels, or those of a list as `loadline record` has it.
pub fn record(
    exe: &Path,
    pid: i32,
    out: &Path,
    seconds: f64,
    levels: Option<&str>,
    cpus: &[usize],
    stop: &AtomicBool,
) -> Result<Recorded> {
    let log = PathBuf::from(format!("{}.log", out.display()));
    let said = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(exe);
    command
        .args([
            "record",
            "--pid",
            &pid.to_string(),
            "-d",
            &format!("{}ms", (1e3 * seconds).round()),
            "-o",
        ])
        .arg(out)
        .args(levels.iter().flat_map(|list| ["--levels", list]))
        .stdout(said.try_clone()?)
        .stderr(said);
    let mut child = Child::start(command, cpus).context("cannot start the recorder")?;
    let until = Instant::now() + Duration::from_secs_f64(seconds) + LATE;
    let ended = child.wait(until, stop)?;
    drop(child);
    Ok(match ended {
        Wait::Ended(status) if status.success() => Recorded::Done,
        Wait::Ended(status) => Recorded::Refused(last_words(&log).unwrap_or_else(|| how(status))),
        Wait::TimedOut => Recorded::Refused("the recorder did not end in its time".into()),
        Wait::Stopped => Recorded::Stopped,
    })
}

/// The recorder's error, or its last line.
fn last_words(log: &Path) -> Option<String> {
    let text = std::fs::read_to_string(log).ok()?;
    let error = text
        .lines()
        .rev()
        .find_map(|l| l.trim().strip_prefix("error: "));
    let last = text.lines().rev().map(str::trim).find(|l| !l.is_empty());
    error.or(last).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_that_fails_is_quoted() {
        let dir = tempfile::tempdir().expect("a directory");
        let fake = dir.path().join("fake");
        std::fs::write(
            &fake,
            "#!/bin/sh\necho attaching\necho 'error: process 77 is not a JVM' >&2\nexit 1\n",
        )
        .expect("written");
        std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("a mode");
        let recorded = record(
            &fake,
            77,
            &dir.path().join("t.trace"),
            0.1,
            None,
            &[],
            &AtomicBool::new(false),
        );
        assert_eq!(
            recorded.expect("it ran"),
            Recorded::Refused("process 77 is not a JVM".into())
        );
    }
}
