//! Reading a trace.

use std::path::{Path, PathBuf};

use duckdb::Connection;

use crate::error::{Error, Result};
use crate::meta::Meta;
use crate::schema1;
use crate::write::quoted;

/// A finished trace, open for reading.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Its directory.
    pub dir: PathBuf,
    /// Its `trace.json`.
    pub meta: Meta,
}

impl Trace {
    /// Opens the trace in `dir`; fails if it is unfinished, of another version or incomplete.
    pub fn open(dir: &Path) -> Result<Trace> {
        let meta = Meta::load(dir)?;
        for table in crate::tables::all() {
            let path = dir.join(format!("{}.parquet", table.name));
            if schema1::has_table(&meta, table.name) && !path.is_file() {
                return Err(Error::Malformed {
                    path,
                    what: "is missing, although trace.json says that the trace is complete".into(),
                });
            }
        }
        Ok(Trace {
            dir: dir.into(),
            meta,
        })
    }

    /// A new in-memory database in which every table of the trace is a view of its name, in the
    /// shape of the present schema whatever the trace's, with macros `t(ns)` (seconds since the recording began),
    /// `ms(ns)`, and `request_type(name)`: names of requests that differ by a query or by numbers in their paths are of one type.
    pub fn sql(&self) -> Result<Connection> {
        let db = Connection::open_in_memory()?;
        let mut setup = format!(
            "CREATE MACRO t(ns) AS (ns - {})/1e9; CREATE MACRO ms(ns) AS ns/1e6;
             CREATE MACRO request_type(name) AS
               regexp_replace(regexp_replace(name, '[?].*', ''), '([/_-])[0-9]+', '\\1#', 'g');",
            self.meta.begin_ns
        );
        for table in crate::tables::all() {
            let file = self.dir.join(format!("{}.parquet", table.name));
            let file = format!("read_parquet({})", quoted(&file));
            setup += &format!(
                "CREATE VIEW {} AS {};",
                table.name,
                schema1::select(&self.meta, &table, &file)
            );
        }
        db.execute_batch(&setup)?;
        Ok(db)
    }
}
