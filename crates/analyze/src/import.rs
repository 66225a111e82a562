//! A trace of a recording of Java's flight recorder (JFR).
//!
//! The JDK's own `jdk.jfr.consumer` reads the recording, in a small program that the binary carries and runs with `java`;
//! [`events`] takes its lines apart and [`tables`] says what they mean. Both are functions without I/O.
//!
//! What a flight recording cannot say is in the trace's `not_recorded`: thread states of the kernel (a thread is known to
//! be blocked while it parks, waits, sleeps or reads; of the rest of its time nothing is known), requests, statements,
//! and every wait shorter than the recording's thresholds.

mod events;
mod meta;
mod pieces;
mod tables;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use loadline_trace::{Meta, TraceWriter};

/// The program that prints a recording's events.
const PROGRAM: &str = include_str!("import/JfrEvents.java");
/// Its name as a file: a source file is named after its class.
const PROGRAM_FILE: &str = "JfrEvents.java";

/// Makes a trace in `out`, which must not exist yet, of the flight recording `file`.
pub fn jfr(file: &Path, out: &Path) -> Result<Meta> {
    let magic = {
        let mut magic = [0; 4];
        let read = std::fs::File::open(file)
            .and_then(|mut f| f.read(&mut magic))
            .with_context(|| file.display().to_string())?;
        magic[..read].to_vec()
    };
    if magic != *b"FLR\0" {
        bail!(
            "{} is not a flight recording: it does not begin with FLR (jcmd PID JFR.dump filename={} makes one)",
            file.display(),
            file.display()
        );
    }
    if out.exists() {
        bail!(
            "{} exists already: remove it, or name another directory with -o",
            out.display()
        );
    }
    let recording = read(file)?;
    std::fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    let written = (|| {
        let made = tables::tables(&recording, file)?;
        let mut writer = TraceWriter::new(out)?;
        made.write(&mut writer)?;
        Ok(writer.finish(made.meta)?)
    })();
    match written {
        Ok(meta) => {
            std::fs::remove_dir_all(out.join("raw"))
                .with_context(|| out.join("raw").display().to_string())?;
            Ok(meta)
        }
        Err(e) => {
            // Nothing of a trace is visible before it is whole.
            let _ = std::fs::remove_dir_all(out);
            Err(e)
        }
    }
}

/// `java` of JAVA_HOME, else of the path.
fn java() -> PathBuf {
    std::env::var_os("JAVA_HOME")
        .map(|home| PathBuf::from(home).join("bin/java"))
        .filter(|java| java.is_file())
        .unwrap_or_else(|| "java".into())
}

fn read(file: &Path) -> Result<events::Recording> {
    let dir = tempfile::tempdir().context("no temporary directory can be made")?;
    let program = dir.path().join(PROGRAM_FILE);
    std::fs::write(&program, PROGRAM).with_context(|| program.display().to_string())?;
    let java = java();
    let mut child = Command::new(&java)
        .arg(&program)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| {
            format!(
                "{} does not start: reading a flight recording takes a JDK 17 or later, on the path or in JAVA_HOME",
                java.display()
            )
        })?;
    let mut said = child.stderr.take().context("it is piped")?;
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        said.read_to_string(&mut text).map(|_| text)
    });
    let mut recording = events::Recording::default();
    let lines = BufReader::new(child.stdout.take().context("it is piped")?).lines();
    let mut wrong = None;
    for line in lines {
        let line = line.context("reading what java prints")?;
        if wrong.is_none() {
            wrong = recording.take(&line).err();
        }
    }
    let status = child.wait()?;
    let errors = errors.join().ok().and_then(Result::ok).unwrap_or_default();
    if let Some(e) = wrong {
        return Err(e);
    }
    if !status.success() || !recording.whole {
        let first = errors
            .lines()
            .find(|l| !l.trim().is_empty())
            .unwrap_or("no reason given");
        bail!(
            "{} cannot be read by {}: {first}",
            file.display(),
            java.display()
        );
    }
    Ok(recording)
}
