//! The code that waited and the code that ran: which lines waited for each lock, in which each type of request waited, and
//! which methods it ran.

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::page::Page;
use super::render::columns;
use super::table::{class, clip, grouped, ms, percent};
use super::{Report, rows};

/// Lines of one lock, or of one type of request.
const MOST_OF_ONE: usize = 2;
/// Lines of all locks, and of all types of requests; of one if there is no other.
const MOST: usize = 8;
/// Shares below it are not worth a line.
const LEAST_SHARE: f64 = 0.01;

/// A place in the code that waited for a lock or in a type of request, or that ran on a CPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Code {
    /// lock (waited for it), request (waited in it) or cpu (ran in it).
    pub of: &'static str,
    /// Class of the lock, or name of the requests; of what ran where no request was seen, `all threads`.
    pub name: String,
    /// The innermost method that is not the JDK's.
    pub code: String,
    /// Its source file.
    pub file: Option<String>,
    /// Line in it; of what ran the one that most samples show.
    pub line: Option<i32>,
    /// How many waits, or samples.
    pub count: u64,
    /// All together; of what ran CPU time.
    pub total_ms: f64,
    /// Share of all waiting for the lock, of the time of the requests, or of what they ran.
    pub share: f64,
    /// Its stack, in most of them: methods, the innermost first.
    pub stack: Vec<String>,
}

pub(super) fn code(db: &Connection) -> Result<Vec<Code>> {
    let mut all = places(
        db,
        "lock",
        "SELECT coalesce(class, '(unknown class)') AS name, sum(end_ns - begin_ns) AS ns FROM lock_waits GROUP BY 1",
        "SELECT c.*, coalesce(c.class, '(unknown class)') AS name, end_ns - begin_ns AS ns, line AS of_line
         FROM wait_code c SEMI JOIN lock_waits l ON l.id = c.wait",
    )?;
    all.extend(places(
        db,
        "request",
        "SELECT request_type(name) AS name, sum(end_ns - begin_ns) AS ns FROM spans WHERE kind = 'request' GROUP BY 1",
        "SELECT *, request_type(request_name) AS name, end_ns - begin_ns AS ns, line AS of_line FROM wait_code WHERE request IS NOT NULL",
    )?);
    // Where a method spends its time is spread over its lines: they are taken together.
    let ran = |name: &str, of: &str| {
        let each =
            format!("SELECT *, {name} AS name, weight AS ns, NULL AS of_line FROM cpu_code {of}");
        places(
            db,
            "cpu",
            "SELECT name, sum(ns) AS ns FROM each GROUP BY name",
            &each,
        )
    };
    let mut of_requests = ran("request_type(request_name)", "WHERE request IS NOT NULL")?;
    if of_requests.is_empty() {
        of_requests = ran("'all threads'", "")?;
    }
    all.extend(of_requests);
    Ok(all)
}

/// `totals` has the time of each name; `each` the waits or samples with a stack: with `ns`, and a line if those of a
/// method are told apart.
fn places(db: &Connection, of: &'static str, totals: &str, each: &str) -> Result<Vec<Code>> {
    let found = rows(
        db,
        &format!(
            "WITH each AS ({each}), totals AS ({totals}),
                  places AS (SELECT name, code, any_value(file) AS file, mode(line) AS line, count(*) AS n, sum(ns) AS ns, mode(stack) AS stack
                             FROM each GROUP BY name, code, of_line)
             SELECT p.name, code, file, line, n, ms(p.ns), p.ns / t.ns AS share, stack
             FROM places p JOIN totals t ON t.name = p.name WHERE t.ns > 0 AND p.ns >= {LEAST_SHARE} * t.ns
             QUALIFY row_number() OVER (PARTITION BY p.name ORDER BY p.ns DESC, code, line)
                 <= CASE (SELECT count(DISTINCT name) FROM places) WHEN 1 THEN {MOST} ELSE {MOST_OF_ONE} END
             ORDER BY sum(p.ns) OVER (PARTITION BY p.name) DESC, p.name, p.ns DESC, code, line LIMIT {MOST}"
        ),
        |r| {
            let code = Code {
                of,
                name: r.get(0)?,
                code: r.get(1)?,
                file: r.get(2)?,
                line: r.get(3)?,
                count: r.get::<_, i64>(4)? as u64,
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
        let of_waits = "of waits whose stack was taken";
        let parts = [
            (
                "lock",
                "the code that waited for a lock",
                "share of the waiting for it",
                of_waits,
            ),
            (
                "request",
                "the code that requests waited in",
                "share of their time",
                of_waits,
            ),
            (
                "cpu",
                "the code that ran",
                "share of the CPU time of the same",
                "from samples",
            ),
        ];
        for (of, title, note, source) in parts {
            let rows: Vec<&Code> = self.code.iter().filter(|c| c.of == of).collect();
            if rows.is_empty() {
                continue;
            }
            out.title(title, &format!("ms; {note}; {source}"));
            let counted = if of == "cpu" { "samples" } else { "waits" };
            let mut table = columns(&["", "code"], &[counted, "total", "share"], &[]);
            for c in rows {
                let name = match of {
                    "lock" => class(&c.name, 26),
                    _ => clip(&c.name, 26),
                };
                table.row([
                    name,
                    class(&place(&c.code, c.line), 40),
                    grouped(c.count),
                    ms(c.total_ms),
                    percent(c.share),
                ]);
            }
            out.table(&table);
        }
    }
}
