//! What was allocated, by type of request and by where in the code; only where allocations were sampled.

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::page::Page;
use super::render::columns;
use super::table::{bytes, class, clip, percent};
use super::{Report, rows};

/// Places of one type of request.
const MOST_OF_ONE: usize = 3;
/// Places of all of them.
const MOST: usize = 12;
/// Shares below it are not worth a line.
const LEAST_SHARE: f64 = 0.01;

/// A place in the code that allocated objects of a class, in requests of a type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Allocated {
    /// Name of the requests; where none was seen, `all threads`.
    pub name: String,
    /// The innermost method that is not the JDK's.
    pub code: String,
    /// Its source file.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<i32>,
    /// Class of the objects.
    pub class: String,
    /// Samples that tell of it.
    pub samples: u64,
    /// Bytes that they stand for.
    pub bytes: u64,
    /// Of these, a request's.
    pub bytes_per_request: Option<f64>,
    /// Share of what requests of this type allocated.
    pub share: f64,
}

pub(super) fn allocated(db: &Connection) -> Result<Vec<Allocated>> {
    let of_requests = places(db, "request_type", "WHERE request_type IS NOT NULL")?;
    match of_requests.is_empty() {
        true => places(db, "'all threads'", ""),
        false => Ok(of_requests),
    }
}

fn places(db: &Connection, name: &str, of: &str) -> Result<Vec<Allocated>> {
    rows(
        db,
        &format!(
            "WITH sites AS (SELECT {name} AS name, code, file, line, coalesce(class, '(unknown class)') AS class, sum(samples)::BIGINT AS samples,
                                   sum(bytes)::BIGINT AS bytes, sum(bytes_per_request) AS per_request
                            FROM allocation_sites {of} GROUP BY ALL),
                  shares AS (SELECT *, bytes / sum(bytes) OVER one AS share, sum(bytes) OVER one AS total
                             FROM sites WINDOW one AS (PARTITION BY name))
             SELECT name, code, file, line, class, samples, bytes, per_request, share FROM shares WHERE share >= {LEAST_SHARE}
             QUALIFY row_number() OVER (PARTITION BY name ORDER BY bytes DESC, code, line, class) <= {MOST_OF_ONE}
             ORDER BY total DESC, name, bytes DESC, code, line, class LIMIT {MOST}"
        ),
        |r| {
            Ok(Allocated {
                name: r.get(0)?,
                code: r.get(1)?,
                file: r.get(2)?,
                line: r.get(3)?,
                class: r.get(4)?,
                samples: r.get::<_, i64>(5)? as u64,
                bytes: r.get::<_, i64>(6)? as u64,
                bytes_per_request: r.get(7)?,
                share: r.get(8)?,
            })
        },
    )
}

impl Report {
    pub(super) fn allocated(&self, out: &mut Page) {
        if self.allocated.is_empty() {
            return;
        }
        let note = "from samples; share of what the same requests allocate";
        out.title("the code that allocates", note);
        let mut table = columns(
            &["", "code", "class"],
            &["samples", "all", "a request", "share"],
            &[],
        );
        for a in &self.allocated {
            let place = a.line.map_or(a.code.clone(), |l| format!("{}:{l}", a.code));
            table.row([
                clip(&a.name, 22),
                class(&place, 30),
                class(&a.class, 18),
                a.samples.to_string(),
                bytes(a.bytes as f64),
                a.bytes_per_request.map_or("-".into(), bytes),
                percent(a.share),
            ]);
        }
        out.table(&table);
    }
}
