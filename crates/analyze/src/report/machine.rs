//! What the JVM itself did, where that was asked for: phases of collections, compilations, deoptimizations, loaded classes.

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use serde::Serialize;

use super::page::Page;
use super::render::columns;
use super::table::{clip, fit, grouped, ms};
use super::{Report, rows};

/// Rows of one kind: what took most, or happened most often.
const MOST_OF_ONE: usize = 4;

/// One thing that the JVM did, all occurrences together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Work {
    /// gc_phase, compilation, deoptimization or class_load, as in `vm.kind`.
    pub kind: String,
    /// A phase, or a method; of compilations their compiler and level; of class loads where they came from.
    pub name: String,
    /// Of a phase the one that it lies in; of a deoptimization its reason and action; else empty.
    pub cause: String,
    /// How often.
    pub count: u64,
    /// All together; of a moment nothing.
    pub total_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

pub(super) fn work(db: &Connection) -> Result<Vec<Work>> {
    rows(
        db,
        // Where a phase is an outermost one its cause is the number of the collection.
        &format!(
            "WITH told AS (
                SELECT kind, if(kind IN ('compilation', 'class_load'), cause, name) AS name, ms(end_ns - begin_ns) AS ms,
                       CASE kind WHEN 'gc_phase' THEN if(cause LIKE 'GC(%', '', cause) WHEN 'deoptimization' THEN cause ELSE '' END AS cause
                FROM vm WHERE kind IN ('gc_phase', 'compilation', 'deoptimization', 'class_load'))
             SELECT kind, name, cause, count(*) AS n, sum(ms) AS total, max(ms) FROM told GROUP BY kind, name, cause
             QUALIFY row_number() OVER (PARTITION BY kind ORDER BY total DESC, n DESC, name, cause) <= {MOST_OF_ONE}
             ORDER BY list_position(['gc_phase', 'compilation', 'deoptimization', 'class_load'], kind), total DESC, n DESC, name, cause"
        ),
        |r| {
            Ok(Work {
                kind: r.get(0)?,
                name: r.get(1)?,
                cause: r.get(2)?,
                count: r.get::<_, i64>(3)? as u64,
                total_ms: r.get(4)?,
                max_ms: r.get(5)?,
            })
        },
    )
}

impl Report {
    pub(super) fn machine(&self, out: &mut Page) {
        if self.machine.is_empty() {
            return;
        }
        out.title("what the JVM did", "ms; the most of each kind");
        let mut table = columns(&["", "what", "in, or why"], &["count", "total", "max"], &[]);
        for w in &self.machine {
            table.row([
                w.kind.replace('_', " "),
                match w.kind.as_str() {
                    "class_load" => clip(&w.name, 36), // a path
                    _ => fit(&w.name, 36),
                },
                clip(&w.cause, 26),
                grouped(w.count),
                ms(w.total_ms),
                ms(w.max_ms),
            ]);
        }
        out.table(&table);
    }
}
