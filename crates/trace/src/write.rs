//! Writing the tables of a trace: each a Parquet file, a row group at a time.
//!
//! Rows come in the order of the table's sort column, so that nothing is held but the row group that
//! is being filled. Where they cannot, and only then, they are gathered and sorted first. Who makes the rows
//! makes columns of them, a page at a time; encoding is another thread's ([`Encoder`]), of which each table has its own,
//! so that the last of one table is written while the next begins.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;

use crate::columns::Buffer;
use crate::encode::{Encoder, Step};
use crate::error::{Error, Result, io};
use crate::meta::Meta;
use crate::table::{Column, Row};
use crate::{FORMAT, SCHEMA_VERSION};
use crate::{order, private, schema1};

/// Rows of which columns are made at a time: as many as stay in a core's cache while each column is.
const BATCH: usize = 1 << 11;
/// Rows of a page: what is encoded and compressed as a whole.
const PAGE: usize = 1 << 14;
/// Rows of a row group: what a reader skips or reads as a whole.
const ROW_GROUP: usize = 1 << 17;
const _: () = assert!(PAGE.is_multiple_of(BATCH) && ROW_GROUP.is_multiple_of(PAGE));

/// Writes tables beside the raw spools, then makes them the trace in one step.
///
/// Nothing of the trace is visible until [`TraceWriter::finish`]; if the writer is dropped or
/// killed before, the spools are untouched and the next attempt starts afresh.
pub struct TraceWriter {
    dir: PathBuf,
    staging: PathBuf,
    rows: BTreeMap<String, u64>,
    /// Of the tables that have ended.
    encoders: Vec<Encoder>,
}

impl TraceWriter {
    /// Prepares to write the tables of the trace in `dir`.
    pub fn new(dir: &Path) -> Result<TraceWriter> {
        let staging = dir.join("raw").join("tables");
        match fs::remove_dir_all(&staging) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(io(&staging)(e)),
            _ => {}
        }
        private::create_dir_all(&staging).map_err(io(&staging))?;
        Ok(TraceWriter {
            dir: dir.into(),
            staging,
            rows: BTreeMap::new(),
            encoders: Vec::new(),
        })
    }

    /// Writes one whole table from rows in any order: they are held and sorted.
    pub fn table<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<()> {
        let rows: Vec<R> = rows.into_iter().collect();
        let keys: Vec<i64> = rows.iter().map(R::sort_key).collect();
        let order = order::sorted(&keys);
        drop(keys);
        let mut table = self.begin::<R>()?;
        let mut batch = Vec::with_capacity(BATCH);
        for some in order.chunks(BATCH) {
            batch.clear();
            batch.extend(some.iter().map(|&at| &rows[at]));
            R::put_each(&batch, &mut table.pages.columns);
            table.pages.took(batch.len())?;
        }
        self.end(table)
    }

    /// Writes one whole table from rows in the order of its sort column, as they come.
    pub fn sorted<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<()> {
        let mut table = self.begin()?;
        for row in rows {
            table.push(row)?;
        }
        self.end(table)
    }

    /// Begins a table whose rows come one after another, in the order of its sort column.
    pub fn begin<R: Row>(&self) -> Result<TableWriter<R>> {
        let path = self.staging.join(format!("{}.parquet", R::TABLE));
        Ok(TableWriter {
            pages: Pages::begin(path, R::columns(), R::SORTED_BY, R::buffers())?,
            batch: Vec::with_capacity(BATCH),
            last: i64::MIN,
        })
    }

    /// Ends it: no row is missing.
    pub fn end<R: Row>(&mut self, mut table: TableWriter<R>) -> Result<()> {
        table.flush()?;
        self.ended(R::TABLE, table.pages)
    }

    fn ended(&mut self, table: &str, mut pages: Pages) -> Result<()> {
        pages.end_page()?;
        pages.end_group()?;
        pages.file.end();
        self.rows.insert(table.into(), pages.count);
        self.encoders.push(pages.file);
        Ok(())
    }

    /// Moves the tables into place, writes `trace.json` last, and returns what it holds.
    ///
    /// The raw spools stay: removing them is the caller's, once this returned.
    pub fn finish(self, mut meta: Meta) -> Result<Meta> {
        for mut table in self.encoders {
            table.wait()?;
        }
        meta.format = FORMAT.into();
        meta.schema = SCHEMA_VERSION;
        meta.tables = self.rows;
        for table in crate::tables::all() {
            if !meta.tables.contains_key(table.name) {
                if !schema1::is_written(table.name) {
                    continue;
                }
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
        private::write(&tmp, &(text + "\n")).map_err(io(&tmp))?;
        fs::rename(&tmp, &path).map_err(io(&path))?;
        fs::remove_dir_all(&self.staging).map_err(io(&self.staging))?;
        Ok(meta)
    }
}

/// A table that is being written; [`TraceWriter::end`] makes it part of the trace.
pub struct TableWriter<R> {
    pages: Pages,
    batch: Vec<R>,
    /// Sort key of the last row.
    last: i64,
}

impl<R: Row> TableWriter<R> {
    /// Takes the next row; one that should have come earlier is an error.
    pub fn push(&mut self, row: R) -> Result<()> {
        let key = row.sort_key();
        if key < self.last {
            return Err(self.pages.too_late(R::SORTED_BY, key, self.last));
        }
        self.last = key;
        self.batch.push(row);
        if self.batch.len() == BATCH {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        R::put(&self.batch, &mut self.pages.columns);
        let rows = self.batch.len();
        self.batch.clear();
        self.pages.took(rows)
    }
}

/// What of a table that is being written is the same for rows of every type.
struct Pages {
    path: PathBuf,
    file: Encoder,
    /// A page that is being filled.
    columns: Vec<Buffer>,
    /// Rows that it has taken.
    count: u64,
    /// Of them, those in pages that have ended, and those in row groups that have.
    written: u64,
    grouped: u64,
}

impl Pages {
    fn begin(
        path: PathBuf,
        columns: Vec<Column>,
        sorted_by: &str,
        buffers: Vec<Buffer>,
    ) -> Result<Pages> {
        let file = private::create(&path).map_err(io(&path))?;
        let properties = properties(&columns, sorted_by);
        Ok(Pages {
            file: Encoder::new(&path, file, columns, properties)?,
            path,
            columns: buffers,
            count: 0,
            written: 0,
            grouped: 0,
        })
    }

    /// So many rows more are in the columns.
    fn took(&mut self, rows: usize) -> Result<()> {
        self.count += rows as u64;
        if rows > 0 && self.count.is_multiple_of(PAGE as u64) {
            self.end_page()?;
        }
        if rows > 0 && self.count.is_multiple_of(ROW_GROUP as u64) {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_page(&mut self) -> Result<()> {
        if self.count > self.written {
            self.written = self.count;
            let page = self.columns.iter_mut().map(Buffer::page).collect();
            self.file.write(Step::Page(page))?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        if self.count > self.grouped {
            self.grouped = self.count;
            let dictionaries = self.columns.iter_mut().map(Buffer::dictionary).collect();
            self.file.write(Step::EndOfGroup(dictionaries))?;
        }
        Ok(())
    }

    fn too_late(&self, sorted_by: &str, key: i64, last: i64) -> Error {
        Error::Malformed {
            path: self.path.clone(),
            what: format!("a row with {sorted_by} {key} came after {last}"),
        }
    }
}

/// What the file says of itself.
fn properties(columns: &[Column], sorted_by: &str) -> WriterProperties {
    let sorted_by = columns.iter().position(|c| c.name == sorted_by);
    let sorting = sorted_by.map(|i| {
        vec![SortingColumn {
            column_idx: i as i32,
            descending: false,
            nulls_first: false,
        }]
    });
    WriterProperties::builder()
        .set_sorting_columns(sorting)
        .build()
}

/// A path as an SQL string literal.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}
