//! Writing the tables of a trace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use duckdb::Connection;

use crate::error::{Error, Result, io};
use crate::meta::Meta;
use crate::table::Row;
use crate::{FORMAT, SCHEMA_VERSION};

/// Rows gathered before they are handed to DuckDB, as one Arrow batch each.
const BATCH: usize = 1 << 16;

/// Writes tables beside the raw spools, then makes them the trace in one step.
///
/// Nothing of the trace is visible until [`TraceWriter::finish`]; if the writer is dropped or
/// killed before, the spools are untouched and the next attempt starts afresh.
pub struct TraceWriter {
    dir: PathBuf,
    staging: PathBuf,
    db: Connection,
    rows: BTreeMap<String, u64>,
}

impl TraceWriter {
    /// Prepares to write the tables of the trace in `dir`.
    pub fn new(dir: &Path) -> Result<TraceWriter> {
        let staging = dir.join("raw").join("tables");
        match fs::remove_dir_all(&staging) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(io(&staging)(e)),
            _ => {}
        }
        fs::create_dir_all(&staging).map_err(io(&staging))?;
        let db = Connection::open_in_memory()?;
        // Larger traces than memory spill here, inside the trace: a crash leaves nothing outside.
        db.execute_batch(&format!(
            "SET memory_limit = '2GB'; SET preserve_insertion_order = false; SET temp_directory = {};",
            quoted(&staging.join("spill"))
        ))?;
        Ok(TraceWriter {
            dir: dir.into(),
            staging,
            db,
            rows: BTreeMap::new(),
        })
    }

    /// Writes one whole table, sorted.
    pub fn table<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<()> {
        let columns: Vec<String> = R::columns()
            .iter()
            .map(|c| {
                format!(
                    "{} {}{}",
                    ident(c.name),
                    c.sql_type,
                    if c.nullable { "" } else { " NOT NULL" }
                )
            })
            .collect();
        self.db.execute_batch(&format!(
            "CREATE TABLE {} ({})",
            R::TABLE,
            columns.join(", ")
        ))?;
        let mut count = 0u64;
        {
            let mut appender = self.db.appender(R::TABLE)?;
            let mut batch = Vec::with_capacity(BATCH);
            for row in rows {
                batch.push(row);
                if batch.len() == BATCH {
                    count += BATCH as u64;
                    appender.append_record_batch(R::batch(&batch))?;
                    batch.clear();
                }
            }
            if !batch.is_empty() {
                count += batch.len() as u64;
                appender.append_record_batch(R::batch(&batch))?;
            }
            appender.flush()?;
        }
        let file = self.staging.join(format!("{}.parquet", R::TABLE));
        self.db.execute_batch(&format!(
            "COPY (SELECT * FROM {t} ORDER BY {s}) TO {f} (FORMAT parquet, COMPRESSION zstd); DROP TABLE {t};",
            t = R::TABLE,
            s = ident(R::SORTED_BY),
            f = quoted(&file)
        ))?;
        self.rows.insert(R::TABLE.into(), count);
        Ok(())
    }

    /// Moves the tables into place, writes `trace.json` last, and returns what it holds.
    ///
    /// The raw spools stay: removing them is the caller's, once this returned.
    pub fn finish(self, mut meta: Meta) -> Result<Meta> {
        meta.format = FORMAT.into();
        meta.schema = SCHEMA_VERSION;
        meta.tables = self.rows;
        for table in crate::tables::all() {
            if !meta.tables.contains_key(table.name) {
                return Err(Error::Malformed {
                    path: self.dir,
                    what: format!("table {} was not written", table.name),
                });
            }
            let name = format!("{}.parquet", table.name);
            let to = self.dir.join(&name);
            fs::rename(self.staging.join(&name), &to).map_err(io(&to))?;
        }
        let text = serde_json::to_string_pretty(&meta).expect("meta is plain data");
        let (tmp, path) = (self.staging.join("trace.json"), self.dir.join("trace.json"));
        fs::write(&tmp, text + "\n").map_err(io(&tmp))?;
        fs::rename(&tmp, &path).map_err(io(&path))?;
        drop(self.db);
        fs::remove_dir_all(&self.staging).map_err(io(&self.staging))?;
        Ok(meta)
    }
}

/// A path as an SQL string literal.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}

/// A name as an SQL identifier.
pub(crate) fn ident(name: &str) -> String {
    format!("\"{name}\"")
}
