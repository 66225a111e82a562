//! A trace in the formats that other tools read.
//!
//! Terms: the *timeline* is everything that a trace holds as one sequence of [`timeline::Event`]s in the order of time;
//! a *row* is what a format draws for a thread.
//!
//! What always holds:
//! * memory is bounded by dictionaries (names, threads), not by the trace: DuckDB sorts the timeline on disk, and what
//!   it sorted is read back batch by batch. The one exception is the Firefox profiler's format, which is held whole and
//!   therefore refused above [`firefox::MOST_MARKERS`];
//! * times in a file are those of the trace: nanoseconds, from its begin where the format has no clock of its own;
//! * what a format cannot say is left out and named in [`Written::notes`], never approximated in silence.

mod csv;
mod firefox;
mod flame;
mod paraver;
mod perfetto;
mod scratch;
mod timeline;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use loadline_trace::Trace;

/// A format that traces are exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// BSC Paraver: `.prv`, `.pcf`, `.row` and views (`.cfg`).
    Paraver,
    /// Perfetto's protobuf.
    Perfetto,
    /// The Firefox profiler's JSON.
    Firefox,
    /// Flame graph: folded stacks and a page.
    Flame,
    /// A CSV file per table.
    Csv,
}

impl Format {
    /// Name of the file, or of the directory, that is written for the trace in `dir` unless the user names one.
    pub fn default_output(self, dir: &Path) -> PathBuf {
        let stem = dir
            .file_stem()
            .map_or_else(|| "trace".into(), |s| s.to_string_lossy().into_owned());
        PathBuf::from(match self {
            Format::Paraver => format!("{stem}.paraver"),
            Format::Perfetto => format!("{stem}.pftrace"),
            Format::Firefox => format!("{stem}.firefox.json"),
            Format::Flame => format!("{stem}.flame"),
            Format::Csv => format!("{stem}.csv"),
        })
    }

    /// Whether it is several files, and its output therefore a directory.
    pub fn is_directory(self) -> bool {
        !matches!(self, Format::Perfetto | Format::Firefox)
    }
}

/// What was written.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The files, the one to open first.
    pub files: Vec<PathBuf>,
    /// What the format could not say of this trace, in sentences.
    pub notes: Vec<String>,
}

/// Progress: done so far, and of how many; called often.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Writes `trace` to `out` in `format`.
///
/// `out` must not exist, or must be an empty directory where the format wants one. If writing fails, what was written of
/// a single file is removed.
pub fn export(trace: &Trace, format: Format, out: &Path, progress: Progress) -> Result<Written> {
    prepare(format, out)?;
    let written = match format {
        Format::Paraver => paraver::write(trace, out, progress),
        Format::Perfetto => perfetto::write(trace, out, progress),
        Format::Firefox => firefox::write(trace, out, progress),
        Format::Flame => flame::write(trace, out),
        Format::Csv => csv::write(trace, out, progress),
    };
    if written.is_err() {
        // A file that ends in the middle would be read as a shorter recording.
        let _ = if format.is_directory() {
            std::fs::remove_dir_all(out)
        } else {
            std::fs::remove_file(out)
        };
    }
    written
}

fn prepare(format: Format, out: &Path) -> Result<()> {
    let shown = out.display();
    if !format.is_directory() {
        if out.exists() {
            bail!("{shown} exists already: remove it, or name another file with -o");
        }
        return Ok(());
    }
    if out.exists() {
        let empty = out.is_dir() && std::fs::read_dir(out)?.next().is_none();
        if !empty {
            bail!("{shown} exists already: remove it, or name another directory with -o");
        }
    }
    std::fs::create_dir_all(out).with_context(|| shown.to_string())
}
