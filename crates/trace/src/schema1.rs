//! What schema 1, and early traces of schema 2, lack, and what a reader is told instead.
//!
//! Readers know the present schema only. Of a trace of schema 1 every table that was added since is
//! an empty one, and every column that was added is an expression over the columns that are there:
//! null where nobody knows, else what follows from them.

use crate::meta::Meta;
use crate::table::Column;
use crate::tables::TableInfo;

/// Tables that schema 1 does not have.
const TABLES: [&str; 3] = ["mounts", "stacks", "samples"];

/// Tables that came to schema 2 later: a trace has them if `trace.json` counts their rows.
const LATER: [&str; 5] = [
    "thread_counters",
    "calls",
    "state_sums",
    "span_sums",
    "objects",
];

/// Those of them that a writer may leave out: what is in them follows from others.
const FOLLOWING: [&str; 2] = ["state_sums", "span_sums"];

/// Whether every trace that is written now has this table.
pub(crate) fn is_written(table: &str) -> bool {
    !FOLLOWING.contains(&table)
}

/// Columns that came to schema 2 later, null where a trace does not have them: table and column.
const LATER_COLUMNS: [(&str, &str); 1] = [("samples", "size")];

/// Columns that schema 1 does not have: table, column, and its value in SQL where it is not null.
const COLUMNS: [(&str, &str, Option<&str>); 5] = [
    ("threads", "parent", None),
    // Interrupts were told only where they came upon an idle CPU: of the others nothing is known.
    (
        "states",
        "interrupt",
        Some("CASE WHEN waker_tid = 0 THEN true END"),
    ),
    // Cut by the end, and so open there: what was cut by the begin has its own end.
    ("spans", "open", Some("NOT complete AND end_ns = $end")),
    ("spans", "cpu_ns", None),
    ("waits", "stack", None),
];

/// Whether a trace has a file for this table.
pub fn has_table(meta: &Meta, table: &str) -> bool {
    if LATER.contains(&table) {
        return meta.tables.contains_key(table);
    }
    meta.schema >= 2 || !TABLES.contains(&table)
}

/// The SELECT that gives a table of a trace in its present shape; `file` is SQL for its file.
pub(crate) fn select(meta: &Meta, table: &TableInfo, file: &str) -> String {
    if !has_table(meta, table.name) {
        let columns: Vec<String> = table.columns.iter().map(null).collect();
        return format!("SELECT {} WHERE false", columns.join(", "));
    }
    if meta.schema >= 2 {
        return present(table, file);
    }
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|c| {
            let added = COLUMNS.iter().find(|a| (a.0, a.1) == (table.name, c.name));
            match added {
                None => format!("\"{}\"", c.name),
                Some((_, _, None)) => null(c),
                Some((_, _, Some(value))) => {
                    let value = value.replace("$end", &meta.end_ns.to_string());
                    format!("{value} AS \"{}\"", c.name)
                }
            }
        })
        .collect();
    format!("SELECT {} FROM {file}", columns.join(", "))
}

/// Of a trace of schema 2, which may lack what came later.
fn present(table: &TableInfo, file: &str) -> String {
    let later = |c: &&Column| LATER_COLUMNS.contains(&(table.name, c.name));
    let nulls: Vec<String> = table.columns.iter().filter(later).map(null).collect();
    match nulls.is_empty() {
        true => format!("SELECT * FROM {file}"),
        false => format!(
            "SELECT * FROM {file} UNION ALL BY NAME SELECT {} WHERE false",
            nulls.join(", ")
        ),
    }
}

fn null(c: &Column) -> String {
    format!("NULL::{} AS \"{}\"", c.sql_type, c.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    #[test]
    fn what_is_filled_in_is_part_of_the_present_schema() {
        let all = tables::all();
        let has = |table: &str, column: Option<&str>| {
            all.iter().any(|t| {
                t.name == table && column.is_none_or(|c| t.columns.iter().any(|k| k.name == c))
            })
        };
        for table in TABLES.iter().chain(&LATER) {
            assert!(has(table, None), "{table}");
        }
        for (table, column) in LATER_COLUMNS {
            assert!(has(table, Some(column)), "{table}.{column}");
        }
        for (table, column, value) in COLUMNS {
            assert!(has(table, Some(column)), "{table}.{column}");
            let of = all.iter().find(|t| t.name == table).expect("it is there");
            let column = of.columns.iter().find(|c| c.name == column);
            // What cannot be null must follow from what is there.
            assert!(
                column.is_some_and(|c| c.nullable) || value.is_some(),
                "{table}"
            );
        }
    }
}
