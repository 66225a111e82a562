//! The code that waited: which lines waited for each lock, and in which each type of request waited.

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::page::Page;
use super::render::columns;
use super::table::{class, clip, grouped, ms, percent};
use super::{Report, rows};

/// Lines of one lock, or of one type of request.
const MOST_OF_ONE: usize = 2;
/// Lines of all locks, and of all types of requests.
const MOST: usize = 8;
/// Shares below it are not worth a line.
const LEAST_SHARE: f64 = 0.01;

/// A place in the code that waited for a lock, or in a type of request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Code {
    /// lock or request.
    pub of: &'static str,
    /// Class of the lock, or name of the requests.
    pub name: String,
    /// The innermost method that is not the JDK's.
    pub code: String,
    /// Its source file.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<i32>,
    /// How many waits.
    pub waits: u64,
    /// All together.
    pub total_ms: f64,
    /// Share of all waiting for the lock, or of the time of the requests.
    pub share: f64,
    /// Its stack, in most of them: methods, the innermost first.
    pub stack: Vec<String>,
}

pub(super) fn code(db: &Connection) -> Result<Vec<Code>> {
    let mut all = places(
        db,
        "lock",
        "SELECT coalesce(class, '(unknown class)') AS name, sum(end_ns - begin_ns) AS ns FROM lock_waits GROUP BY 1",
        "SELECT c.*, coalesce(c.class, '(unknown class)') AS name FROM wait_code c SEMI JOIN lock_waits l ON l.id = c.wait",
    )?;
    all.extend(places(
        db,
        "request",
        "SELECT name, sum(end_ns - begin_ns) AS ns FROM spans WHERE kind = 'request' GROUP BY name",
        "SELECT *, request_name AS name FROM wait_code WHERE request IS NOT NULL",
    )?);
    Ok(all)
}

/// `totals` has the time of each name, `waits` the waits with a stack of each.
fn places(db: &Connection, of: &'static str, totals: &str, waits: &str) -> Result<Vec<Code>> {
    let found = rows(
        db,
        &format!(
            "WITH totals AS ({totals}), waits AS ({waits}),
                  places AS (SELECT name, code, any_value(file) AS file, line, count(*) AS n, sum(end_ns - begin_ns) AS ns, mode(stack) AS stack
                             FROM waits GROUP BY name, code, line)
             SELECT p.name, code, file, line, n, ms(p.ns), p.ns / t.ns AS share, stack
             FROM places p JOIN totals t ON t.name = p.name WHERE t.ns > 0 AND p.ns >= {LEAST_SHARE} * t.ns
             QUALIFY row_number() OVER (PARTITION BY p.name ORDER BY p.ns DESC, code, line) <= {MOST_OF_ONE}
             ORDER BY sum(p.ns) OVER (PARTITION BY p.name) DESC, p.name, p.ns DESC, code, line LIMIT {MOST}"
        ),
        |r| {
            let code = Code {
                of,
                name: r.get(0)?,
                code: r.get(1)?,
                file: r.get(2)?,
                line: r.get(3)?,
                waits: r.get::<_, i64>(4)? as u64,
                total_ms: r.get(5)?,
                share: r.get(6)?,
                stack: Vec::new(),
            };
            Ok((code, r.get::<_, i64>(7)?))
        },
    )?;
    found
        .into_iter()
        .map(|(mut code, stack)| {
            let sql = format!("SELECT name, line FROM stack_frames({stack}) ORDER BY depth DESC");
            code.stack = rows(db, &sql, |r| Ok(place(&r.get::<_, String>(0)?, r.get(1)?)))?;
            Ok(code)
        })
        .collect()
}

/// A method, with its line where that is known.
fn place(method: &str, line: Option<i32>) -> String {
    line.map_or(method.to_owned(), |line| format!("{method}:{line}"))
}

impl Report {
    pub(super) fn code(&self, out: &mut Page) {
        let parts = [
            (
                "lock",
                "the code that waited for a lock",
                "share of the waiting for it",
            ),
            (
                "request",
                "the code that requests waited in",
                "share of their time",
            ),
        ];
        for (of, title, note) in parts {
            let rows: Vec<&Code> = self.code.iter().filter(|c| c.of == of).collect();
            if rows.is_empty() {
                continue;
            }
            out.title(
                title,
                &format!("ms; {note}; of waits whose stack was taken"),
            );
            let mut table = columns(&["", "code"], &["waits", "total", "share"], &[]);
            for c in rows {
                let name = match of {
                    "lock" => class(&c.name, 26),
                    _ => clip(&c.name, 26),
                };
                table.row([
                    name,
                    class(&place(&c.code, c.line), 40),
                    grouped(c.waits),
                    ms(c.total_ms),
                    percent(c.share),
                ]);
            }
            out.table(&table);
        }
    }
}
