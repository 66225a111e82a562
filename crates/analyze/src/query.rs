//! SQL over the trace: one statement in, rows out, as people or programs want them.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use arrow_ipc::writer::FileWriter;
use loadline_trace::Trace;
use loadline_trace::duckdb::arrow::array::RecordBatch;
use loadline_trace::duckdb::arrow::datatypes::DataType;
use loadline_trace::duckdb::arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::report::table::{Align, Table};

/// Widest text in a cell of the aligned table; JSON and CSV are never cut.
const WIDEST: usize = 60;

/// What a column holds, as far as rendering cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// Anything else.
    Text,
}

/// The rows of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Names and kinds of the columns.
    pub columns: Vec<(String, Kind)>,
    /// Values as text; `None` is null.
    pub rows: Vec<Vec<Option<String>>>,
}

/// Runs one statement (DuckDB's dialect) over the tables of the trace and the views of [`crate::views`].
///
/// An error carries DuckDB's own message, which points at the place in the text.
pub fn run(trace: &Trace, sql: &str) -> Result<Answer> {
    let db = crate::views::open(trace)?;
    let mut statement = db.prepare(sql).map_err(said)?;
    let batches: Vec<RecordBatch> = statement.query_arrow([]).map_err(said)?.collect();
    let schema = statement.schema();
    let columns = schema
        .fields()
        .iter()
        .map(|f| (f.name().clone(), kind(f.data_type())))
        .collect();
    let options = FormatOptions::default();
    let mut rows = Vec::new();
    for batch in &batches {
        let formatters = batch
            .columns()
            .iter()
            .map(|c| ArrayFormatter::try_new(c.as_ref(), &options))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cell = |(c, f): (usize, &ArrayFormatter)| {
                (!batch.column(c).is_null(row)).then(|| f.value(row).to_string())
            };
            rows.push(formatters.iter().enumerate().map(cell).collect());
        }
    }
    Ok(Answer { columns, rows })
}

/// A format of files that [`save`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Apache Parquet, zstd.
    Parquet,
    /// Apache Arrow's file format (Feather 2).
    Arrow,
    /// CSV with a header.
    Csv,
}

impl FileFormat {
    /// What the ending of a path says.
    pub fn of(path: &Path) -> Option<FileFormat> {
        Some(match path.extension()?.to_str()? {
            "parquet" => FileFormat::Parquet,
            "arrow" | "feather" => FileFormat::Arrow,
            "csv" => FileFormat::Csv,
            _ => return None,
        })
    }
}

/// Writes the rows of one statement to a file; returns how many. What was there is replaced once the rows are whole.
pub fn save(trace: &Trace, sql: &str, path: &Path, format: FileFormat) -> Result<u64> {
    let db = crate::views::open(trace)?;
    let sql = sql.trim().trim_end_matches(';');
    // The statement alone first: an error then points into what the user wrote.
    let mut statement = db.prepare(sql).map_err(said)?;
    let partial = path.with_extension("partial");
    let shown = || path.display().to_string();
    let written = (|| {
        let copy = |options: &str| {
            let to = partial.display().to_string().replace('\'', "''");
            let rows = db.execute(&format!("COPY ({sql}) TO '{to}' ({options})"), []);
            rows.map(|n| n as u64).map_err(said)
        };
        match format {
            FileFormat::Parquet => copy("FORMAT parquet, COMPRESSION zstd"),
            FileFormat::Csv => copy("FORMAT csv, HEADER"),
            FileFormat::Arrow => {
                let batches: Vec<RecordBatch> = statement.query_arrow([]).map_err(said)?.collect();
                let file = BufWriter::new(File::create(&partial).with_context(shown)?);
                let mut file = FileWriter::try_new(file, &statement.schema())?;
                let mut rows = 0;
                for batch in &batches {
                    file.write(batch)?;
                    rows += batch.num_rows() as u64;
                }
                file.finish()?;
                Ok(rows)
            }
        }
    })();
    match written {
        Ok(rows) => {
            std::fs::rename(&partial, path).with_context(shown)?;
            Ok(rows)
        }
        Err(e) => {
            // Nothing half-written is left; that it was never made is no second error.
            let _ = std::fs::remove_file(&partial);
            Err(e)
        }
    }
}

/// DuckDB's message itself, without the wrapping of the error type around it.
pub(crate) fn said(e: loadline_trace::duckdb::Error) -> anyhow::Error {
    match e {
        loadline_trace::duckdb::Error::DuckDBFailure(_, Some(message)) => anyhow!("{message}"),
        e => anyhow!("{e}"),
    }
}

fn kind(t: &DataType) -> Kind {
    match t {
        DataType::Boolean => Kind::Bool,
        t if t.is_numeric() => Kind::Number,
        _ => Kind::Text,
    }
}

impl Answer {
    /// An aligned table with a header, numbers to the right, and the number of rows.
    pub fn table(&self) -> String {
        let align = |k: Kind| {
            if k == Kind::Number {
                Align::Right
            } else {
                Align::Left
            }
        };
        let mut table = Table::new(self.columns.iter().map(|(n, k)| (n.as_str(), align(*k))));
        for row in &self.rows {
            table.row(row.iter().map(|c| clip(c.as_deref().unwrap_or("-"))));
        }
        let rows = self.rows.len();
        format!(
            "{}{rows} row{}\n",
            table.render(""),
            if rows == 1 { "" } else { "s" }
        )
    }

    /// An array of objects; numbers and booleans as such, null as null.
    pub fn json(&self) -> String {
        let rows: Vec<serde_json::Value> = self
            .rows
            .iter()
            .map(|row| {
                let fields = self.columns.iter().zip(row);
                fields
                    .map(|((name, kind), cell)| (name.clone(), value(*kind, cell.as_deref())))
                    .collect()
            })
            .collect();
        serde_json::to_string_pretty(&rows).expect("JSON of plain values")
    }

    /// A header and a line a row, quoted where needed (RFC 4180); null is empty.
    pub fn csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let written = (|| {
            out.write_record(self.columns.iter().map(|c| &c.0))?;
            for row in &self.rows {
                out.write_record(row.iter().map(|c| c.as_deref().unwrap_or("")))?;
            }
            out.flush()?;
            Ok::<(), csv::Error>(())
        })();
        written.expect("memory takes all of it");
        let out = out.into_inner().expect("it is flushed");
        String::from_utf8(out).expect("it was text")
    }
}

fn value(kind: Kind, cell: Option<&str>) -> serde_json::Value {
    let Some(text) = cell else {
        return serde_json::Value::Null;
    };
    let number = || {
        let int = text.parse::<i64>().ok().map(Into::into);
        int.or_else(|| serde_json::Number::from_f64(text.parse().ok()?).map(Into::into))
    };
    match kind {
        Kind::Bool => (text == "true").into(),
        Kind::Number => number().unwrap_or_else(|| text.into()),
        Kind::Text => text.into(),
    }
}

fn clip(text: &str) -> String {
    let text = text.replace(['\n', '\t'], " ");
    if text.chars().count() <= WIDEST {
        return text;
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer {
            columns: vec![
                ("name".into(), Kind::Text),
                ("n".into(), Kind::Number),
                ("ok".into(), Kind::Bool),
            ],
            rows: vec![
                vec![
                    Some("a, \"b\"".into()),
                    Some("12".into()),
                    Some("true".into()),
                ],
                vec![None, Some("0.5".into()), None],
            ],
        }
    }

    #[test]
    fn json_keeps_types_and_nulls() {
        let parsed: serde_json::Value = serde_json::from_str(&answer().json()).expect("JSON");
        let want = serde_json::json!([{"name": "a, \"b\"", "n": 12, "ok": true}, {"name": null, "n": 0.5, "ok": null}]);
        assert_eq!(parsed, want);
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(
            answer().csv(),
            "name,n,ok\n\"a, \"\"b\"\"\",12,true\n,0.5,\n"
        );
    }

    #[test]
    fn a_table_aligns_numbers_to_the_right() {
        let want = "name      n  ok\na, \"b\"   12  true\n-       0.5  -\n2 rows\n";
        assert_eq!(answer().table(), want);
    }
}
