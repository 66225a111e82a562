//! The tables of a real recording hold the rows that they have always held.
//!
//! `data/shop/raw` are the spools of one second of the auction site (JDK 17, with system calls);
//! `data/shop/expected` what the builder made of them that held everything in memory and had DuckDB
//! sort and write it. A column that is newer than they are is not compared. A change that is meant to change
//! rows replaces the tables that it changes, and says so in its commit.

use std::path::{Path, PathBuf};

use loadline_trace::Trace;
use loadline_trace::tables;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/shop")
        .join(name)
}

/// Tables of the recorded spools, built afresh.
fn built(dir: &Path) -> Trace {
    loadline_analyze::testing::built(&data("raw"), dir)
}

#[test]
fn the_rows_of_a_real_recording_are_what_they_were() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = built(dir.path());
    let db = trace.sql().expect("views");
    let number = |sql: &str| -> i64 {
        db.query_row(sql, [], |r| r.get(0))
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    };
    let mut compared = 0;
    for table in tables::all() {
        let file = data("expected").join(format!("{}.parquet", table.name));
        if !file.exists() {
            continue; // it came later
        }
        let old = format!("read_parquet('{}')", file.display());
        let mut columns = db
            .prepare(&format!("DESCRIBE SELECT * FROM {old}"))
            .expect("a readable file");
        let columns: Vec<String> = columns
            .query_map([], |r| r.get::<_, String>(0))
            .expect("columns")
            .map(|c| format!("\"{}\"", c.expect("a name")))
            .collect();
        let columns = columns.join(", ");
        let (old, new) = (
            format!("SELECT {columns} FROM {old}"),
            format!("SELECT {columns} FROM {}", table.name),
        );
        for (a, b, what) in [(&old, &new, "missing"), (&new, &old, "new")] {
            let rows = number(&format!("SELECT count(*) FROM ({a} EXCEPT ALL {b})"));
            assert_eq!(rows, 0, "{}: {rows} rows are {what}", table.name);
        }
        compared += number(&format!("SELECT count(*) FROM ({old})"));
    }
    assert!(compared > 10_000, "only {compared} rows were compared");
}

#[test]
fn what_does_not_fit_in_memory_becomes_the_same_files() {
    let whole = tempfile::tempdir().expect("a directory");
    let bounded = tempfile::tempdir().expect("a directory");
    built(whole.path());
    // A list holds a few rows, a run of a sorter as many, and all together a hundred more.
    loadline_analyze::testing::copied(&data("raw"), bounded.path());
    loadline_analyze::testing::build_within(200, bounded.path()).expect("tables");
    let read = |dir: &Path, name: &str| {
        std::fs::read(dir.join(format!("{name}.parquet"))).expect("a table")
    };
    for table in tables::all() {
        let (a, b) = (
            read(whole.path(), table.name),
            read(bounded.path(), table.name),
        );
        assert!(a == b, "{} is another", table.name);
    }
}

#[test]
fn every_table_is_sorted() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = built(dir.path());
    let db = trace.sql().expect("views");
    for (table, by) in [
        ("threads", "begin_ns"),
        ("states", "begin_ns"),
        ("syscalls", "begin_ns"),
        ("spans", "begin_ns"),
        ("segments", "begin_ns"),
        ("waits", "begin_ns"),
        ("breakdown", "span"),
    ] {
        let sql = format!(
            "SELECT count(*), count(*) FILTER ({by} < before) FROM
             (SELECT {by}, lag({by}) OVER (ORDER BY file_row_number) AS before
              FROM read_parquet('{}/{table}.parquet', file_row_number = true))",
            trace.dir.display()
        );
        let (rows, wrong): (i64, i64) = db
            .query_row(&sql, [], |r| Ok((r.get(0)?, r.get(1)?)))
            .expect("an answer");
        assert!(rows > 10, "{table}: {rows} rows");
        assert_eq!(wrong, 0, "{table}");
    }
}
