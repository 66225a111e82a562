//! SQL over the trace, for the page's own tables and for the Query tab.
//!
//! What always holds for SQL from the page: it is one SELECT (DuckDB's own parser decides, in its
//! function `query`), it can read the trace's tables and no other file, and it ends within
//! [`MAX_TIME`], or when nobody waits for its answer any more, with at most [`MAX_ROWS`] rows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// How often a running query is looked after, and at most how long it outlives whoever asked. DuckDB forgets an
/// interruption that comes before the query began, so that one is not enough.
const LOOK: Duration = Duration::from_millis(50);

/// Name of the thread that looks after a running query: what tests look for.
pub const WATCHDOG: &str = "query-watchdog";

/// A database with the trace's tables as views.
pub struct Sql {
    /// Reaches the trace's files only, and cannot be reconfigured.
    confined: Mutex<Connection>,
    limit: Duration,
}

/// Whoever waits for an answer, and may leave before it is there.
#[derive(Debug, Default)]
pub struct Client {
    gone: AtomicBool,
}

impl Client {
    /// Nobody waits any more.
    pub fn leave(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// The database for one client: its queries end when it leaves.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    sql: &'a Sql,
    client: &'a Client,
}

/// Why a query was ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Late,
    Left,
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
            limit: MAX_TIME,
        })
    }

    /// The database for one client.
    pub fn session<'a>(&'a self, client: &'a Client) -> Session<'a> {
        Session { sql: self, client }
    }
}

impl Session<'_> {
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
            let confined = self.sql.confined.lock().unwrap_or_else(|e| e.into_inner());
            confined.try_clone()?
        };
        let began = Instant::now();
        let limit = self.sql.limit;
        let (answer, ended) = std::thread::scope(|scope| {
            let (done, waiting) = channel::<()>();
            let interrupt = db.interrupt_handle();
            let watchdog = std::thread::Builder::new()
                .name(WATCHDOG.into())
                .spawn_scoped(scope, move || {
                    let mut ended = None;
                    while waiting.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                        if self.client.gone.load(Ordering::Relaxed) {
                            ended = Some(Ended::Left);
                        } else if began.elapsed() > limit {
                            ended = Some(Ended::Late);
                        }
                        if ended.is_some() {
                            interrupt.interrupt();
                        }
                    }
                    ended
                })?;
            let answer = run(&db, sql);
            drop(done);
            Ok::<_, anyhow::Error>((answer, watchdog.join().unwrap_or(None)))
        })?;
        match ended {
            Some(Ended::Late) if answer.is_err() => bail!(
                "the query was stopped after {} s; narrow it with WHERE or LIMIT",
                limit.as_secs()
            ),
            Some(Ended::Left) if answer.is_err() => {
                bail!("the query was stopped: nobody waits for its answer any more")
            }
            _ => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Some 10^15 rows: hours.
    const ENDLESS: &str = "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range + c.range = 7";

    fn sql(limit: Duration) -> Result<Sql> {
        Ok(Sql {
            confined: Mutex::new(Connection::open_in_memory()?),
            limit,
        })
    }

    #[test]
    fn a_query_that_nobody_waits_for_any_more_ends() -> Result<()> {
        let (sql, client) = (sql(MAX_TIME)?, Client::default());
        let began = Instant::now();
        let answer = std::thread::scope(|scope| {
            let running = scope.spawn(|| sql.session(&client).user(ENDLESS));
            std::thread::sleep(Duration::from_millis(200));
            client.leave();
            running.join().map_err(|_| anyhow::anyhow!("it panicked"))
        })?;
        let message = answer.err().context("it must not be answered")?.to_string();
        assert!(message.contains("nobody waits"), "{message}");
        assert!(began.elapsed() < Duration::from_secs(5));
        Ok(())
    }

    #[test]
    fn a_query_ends_at_the_limit_and_the_next_one_is_answered() -> Result<()> {
        let (sql, client) = (sql(Duration::from_millis(300))?, Client::default());
        let late = sql.session(&client).user(ENDLESS);
        let message = late.err().context("it must not be answered")?.to_string();
        assert!(message.contains("narrow it"), "{message}");
        let next = sql.session(&client).user("SELECT 42 AS answer")?;
        assert_eq!(next.rows, [[json!(42)]]);
        Ok(())
    }
}
