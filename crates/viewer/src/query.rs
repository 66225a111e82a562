//! SQL over the trace, for the page's own tables and for the Query tab.
//!
//! What always holds for SQL from the page: it is one SELECT (DuckDB's own parser decides, in its
//! function `query`), it can read the trace's tables and no other file, and it ends within
//! [`MAX_TIME`] with at most [`MAX_ROWS`] rows.

use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use loadline_trace::Trace;
use loadline_trace::duckdb::Connection;
use loadline_trace::duckdb::arrow::array::{Array, AsArray, RecordBatch};
use loadline_trace::duckdb::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use loadline_trace::duckdb::arrow::util::display::{ArrayFormatter, FormatOptions};
use serde::Serialize;
use serde_json::{Value, json};

/// Rows of an answer at most.
pub const MAX_ROWS: usize = 5_000;

/// Time for an answer at most.
pub const MAX_TIME: Duration = Duration::from_secs(20);

/// A database with the trace's tables as views.
pub struct Sql {
    /// Reaches the trace's files only, and cannot be reconfigured.
    confined: Mutex<Connection>,
}

/// The answer to a query.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Whether each column holds numbers.
    pub numeric: Vec<bool>,
    /// Rows.
    pub rows: Vec<Vec<Value>>,
    /// Whether there were more rows.
    pub more: bool,
    /// Time that it took, ms.
    pub ms: f64,
}

impl Sql {
    /// Opens the trace's tables and shuts everything else.
    pub fn open(trace: &Trace) -> Result<Sql> {
        let db = loadline_analyze::views::open(trace)?;
        let mut paths = Vec::new();
        for table in loadline_trace::tables::all() {
            let path = trace.dir.join(format!("{}.parquet", table.name));
            paths.push(format!(
                "'{}'",
                path.display().to_string().replace('\'', "''")
            ));
        }
        db.execute_batch(&format!(
            "SET allowed_paths = [{}]; SET enable_external_access = false;
             SET memory_limit = '1GB'; SET lock_configuration = true;",
            paths.join(", ")
        ))
        .context("confining the database to the trace")?;
        Ok(Sql {
            confined: Mutex::new(db),
        })
    }

    /// Answers one SELECT of the user.
    pub fn user(&self, sql: &str) -> Result<Answer> {
        let sql = sql.trim().trim_end_matches(';');
        if sql.is_empty() {
            bail!("the query is empty");
        }
        let quoted = sql.replace('\'', "''");
        self.own(&format!(
            "SELECT * FROM query('{quoted}') LIMIT {}",
            MAX_ROWS + 1
        ))
    }

    /// Answers one SELECT of this crate.
    pub fn own(&self, sql: &str) -> Result<Answer> {
        let db = {
            let confined = self.confined.lock().unwrap_or_else(|e| e.into_inner());
            confined.try_clone()?
        };
        let began = Instant::now();
        let (done, waiting) = channel::<()>();
        let interrupt = db.interrupt_handle();
        let watchdog = std::thread::spawn(move || {
            let late = waiting.recv_timeout(MAX_TIME) == Err(RecvTimeoutError::Timeout);
            if late {
                interrupt.interrupt();
            }
            late
        });
        let answer = run(&db, sql);
        drop(done);
        let late = watchdog.join().unwrap_or(false);
        if late && answer.is_err() {
            bail!(
                "the query was stopped after {} s; narrow it with WHERE or LIMIT",
                MAX_TIME.as_secs()
            );
        }
        let mut answer = answer?;
        answer.more = answer.rows.len() > MAX_ROWS;
        answer.rows.truncate(MAX_ROWS);
        answer.ms = began.elapsed().as_secs_f64() * 1e3;
        Ok(answer)
    }
}

fn run(db: &Connection, sql: &str) -> Result<Answer> {
    let mut statement = db.prepare(sql)?;
    let arrow = statement.query_arrow([])?;
    let schema = arrow.get_schema();
    let mut answer = Answer {
        columns: schema.fields().iter().map(|f| f.name().clone()).collect(),
        numeric: schema
            .fields()
            .iter()
            .map(|f| f.data_type().is_numeric())
            .collect(),
        rows: Vec::new(),
        more: false,
        ms: 0.0,
    };
    for batch in arrow {
        add_rows(&mut answer.rows, &batch)?;
    }
    Ok(answer)
}

fn add_rows(rows: &mut Vec<Vec<Value>>, batch: &RecordBatch) -> Result<()> {
    let first = rows.len();
    rows.resize_with(first + batch.num_rows(), || {
        Vec::with_capacity(batch.num_columns())
    });
    for column in batch.columns() {
        let values = values(column)?;
        for (row, value) in rows[first..].iter_mut().zip(values) {
            row.push(value);
        }
    }
    Ok(())
}

/// Numbers as numbers, the rest as DuckDB's text of it.
fn values(column: &dyn Array) -> Result<Vec<Value>> {
    macro_rules! numbers {
        ($t:ty) => {
            column
                .as_primitive::<$t>()
                .iter()
                .map(|v| json!(v))
                .collect()
        };
    }
    Ok(match column.data_type() {
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::Float32 => numbers!(Float32Type),
        DataType::Float64 => numbers!(Float64Type),
        DataType::Boolean => column.as_boolean().iter().map(|v| json!(v)).collect(),
        other => {
            let format = ArrayFormatter::try_new(column, &FormatOptions::default())?;
            let text = |i| format.value(i).try_to_string();
            let mut values = Vec::with_capacity(column.len());
            for i in 0..column.len() {
                let number = || text(i).ok()?.parse::<f64>().ok().map(|n| json!(n));
                values.push(match column.is_null(i) {
                    true => Value::Null,
                    false if other.is_numeric() => number().unwrap_or(Value::Null),
                    false => json!(text(i)?),
                });
            }
            values
        }
    })
}
