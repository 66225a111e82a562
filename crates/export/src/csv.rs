//! A CSV file per table, as the schema has it (RFC 4180; null is empty).

use std::path::Path;

use anyhow::Result;
use loadline_trace::{Trace, tables};

use crate::scratch::{Scratch, quoted};
use crate::{Progress, Written};

pub fn write(trace: &Trace, out: &Path, progress: Progress) -> Result<Written> {
    let scratch = Scratch::open(trace, out)?;
    let all = tables::all();
    let rows = |name: &str| trace.meta.tables.get(name).copied().unwrap_or(0);
    let total = all.iter().map(|t| rows(t.name)).sum();
    let mut written = Written::default();
    let mut done = 0;
    // Rows keep the order of the tables, which is that of time.
    scratch
        .db
        .execute_batch("SET preserve_insertion_order = true")?;
    for table in all {
        let file = out.join(format!("{}.csv", table.name));
        scratch.db.execute(
            &format!(
                "COPY (SELECT * FROM {}) TO {} (FORMAT csv, HEADER)",
                table.name,
                quoted(&file)
            ),
            [],
        )?;
        done += rows(table.name);
        progress(done, total);
        written.files.push(file);
    }
    Ok(written)
}
