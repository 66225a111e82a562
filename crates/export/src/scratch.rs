//! Results of SQL that may be larger than memory: sorted by DuckDB on disk, read back batch by batch.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use loadline_trace::Trace;
use loadline_trace::duckdb::Connection;
use loadline_trace::duckdb::arrow::array::RecordBatch;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use tempfile::TempDir;

/// Memory that DuckDB may use before it goes on on disk.
const MEMORY: &str = "512MB";

/// A database over a trace that sorts and groups in bounded memory; its temporary files lie beside the output, where
/// there must be room for the output anyhow.
pub struct Scratch {
    /// The tables of the trace are its views.
    pub db: Connection,
    dir: TempDir,
}

impl Scratch {
    pub fn open(trace: &Trace, out: &Path) -> Result<Scratch> {
        let beside = match out.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let dir = tempfile::Builder::new()
            .prefix(".loadline-export-")
            .tempdir_in(beside)
            .with_context(|| format!("no temporary files can be made in {}", beside.display()))?;
        let db = trace.sql()?;
        db.execute_batch(&format!(
            "SET memory_limit = '{MEMORY}'; SET temp_directory = {}; SET preserve_insertion_order = false;",
            quoted(dir.path())
        ))?;
        Ok(Scratch { db, dir })
    }

    /// The rows of a SELECT: how many, and their batches.
    pub fn rows(&self, select: &str) -> Result<(u64, ParquetRecordBatchReader)> {
        let path = self.dir.path().join("rows.parquet");
        let to = quoted(&path);
        let rows = self.db.execute(
            &format!(
                "COPY ({select}) TO {to} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"
            ),
            [],
        )?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path)?)?
            .with_batch_size(1 << 14)
            .build()?;
        Ok((rows as u64, reader))
    }
}

/// A column of a batch as an array of the type that the statement gave it.
pub fn column<T: 'static>(batch: &RecordBatch, at: usize) -> Result<&T> {
    batch
        .column(at)
        .as_any()
        .downcast_ref::<T>()
        .with_context(|| format!("column {at} is {}", batch.column(at).data_type()))
}

/// A path as an SQL string literal.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}
