//! BSC Paraver: records (`.prv`), what their numbers mean (`.pcf`), names of rows (`.row`), and views (`.cfg`).
//!
//! The format is that of paraver-kernel's parser. One application with one task; a thread of Paraver is a thread of the
//! trace that has a kernel id, in the order of its name, and after them one row for the virtual machine. A state is the
//! kernel's; its cause is an event. A wake-up is a communication from the waker to the woken thread. What a virtual
//! thread does is shown on the carrier that it is mounted on, and nowhere while it is on none.

mod labels;
mod open;
mod records;
mod views;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use loadline_trace::Trace;

use crate::scratch::Scratch;
use crate::timeline::Timeline;
use crate::{Progress, Written};

/// Rows that a default build of Paraver holds: its ids are of 16 bits.
const MOST_ROWS: usize = 65_000;

/// Types of events: their numbers, which are fixed so that views made for one trace fit every other.
pub mod types {
    pub const CAUSE: u32 = 1000;
    /// Plus the code of the kind.
    pub const SPAN: u32 = 2000;
    pub const WAIT: u32 = 3000;
    pub const WAIT_CLASS: u32 = 3001;
    pub const WAIT_OBJECT: u32 = 3002;
    pub const WAIT_OWNER: u32 = 3003;
    pub const SYSCALL: u32 = 4000;
    pub const DESCRIPTOR: u32 = 4001;
    pub const BYTES: u32 = 4002;
    /// Plus the code of the kind.
    pub const VM: u32 = 5000;
    /// Plus the code of the kind.
    pub const MARK: u32 = 6000;
    pub const VIRTUAL_THREAD: u32 = 7000;
}

pub fn write(trace: &Trace, out: &Path, progress: Progress) -> Result<Written> {
    let timeline = Timeline::open(trace, Scratch::open(trace, out)?)?;
    let rows = records::Rows::of(&timeline.threads);
    if rows.count() > MOST_ROWS {
        bail!(
            "{} threads have a kernel id, and Paraver holds {MOST_ROWS} rows: export --to perfetto",
            rows.count()
        );
    }
    let stem = out
        .file_stem()
        .map_or_else(|| "trace".into(), |s| s.to_string_lossy().into_owned());
    let path = |ending: &str| out.join(format!("{stem}.{ending}"));
    let create = |ending: &str| -> Result<BufWriter<File>> {
        let path = path(ending);
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        Ok(BufWriter::with_capacity(1 << 20, file))
    };
    let cpus = records::cpus(&timeline, trace)?;

    let mut prv = create("prv")?;
    let seen = records::write(&mut prv, trace, &timeline, &rows, cpus, progress)?;
    prv.flush()?;
    let mut pcf = create("pcf")?;
    labels::pcf(&mut pcf, &timeline)?;
    pcf.flush()?;
    let mut row = create("row")?;
    labels::row(&mut row, trace, &rows, cpus)?;
    row.flush()?;

    let mut files = vec![path("prv"), path("pcf"), path("row")];
    // A view of events that the trace does not have would be refused.
    let shown = |view: &views::View| view.kinds().all(|kind| seen.types.contains(&kind));
    for view in views::all().iter().filter(|v| shown(v)) {
        let path = out.join(format!("{}.cfg", view.file));
        std::fs::write(&path, view.text()).with_context(|| path.display().to_string())?;
        files.push(path);
    }
    let mut notes = Vec::new();
    if seen.left_out > 0 {
        notes.push(format!(
            "{} events of virtual threads are left out: which carrier they ran on was not recorded",
            seen.left_out
        ));
    }
    Ok(Written { files, notes })
}
