//! What is written is read back, by DuckDB and by the `parquet` crate, value for value.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;

use super::*;
use crate::encode::{Encoder, Step};
use crate::table::Row;

crate::table! {
    /// A row with a column of each type.
    Everything in "everything" sorted by at {
        /// Grows.
        at: i64,
        /// Anything.
        long: Option<i64>,
        /// Anything.
        int: i32,
        /// Anything.
        small: Option<i32>,
        /// Anything.
        double: Option<f64>,
        /// Anything.
        truth: bool,
        /// Anything.
        doubt: Option<bool>,
        /// Few.
        word: &'static str,
        /// Many.
        name: Option<Arc<str>>,
        /// Never there.
        nobody: Option<Arc<str>>,
        /// Never there.
        nothing: Option<i64>,
    }
}

const WORDS: [&str; 5] = ["running", "blocked", "", "Straße", "unknown"];

/// Writes rows in pages and row groups of these lengths, over and over.
fn written(rows: &[Everything], path: &Path, page: usize, pages: usize) {
    let file = File::create(path).expect("a file");
    let properties = WriterProperties::default();
    let mut file = Encoder::new(path, file, Everything::columns(), properties).expect("an encoder");
    let mut buffers = Everything::buffers();
    for group in rows.chunks(page * pages) {
        for page in group.chunks(page) {
            Everything::put(page, &mut buffers);
            let values = buffers.iter_mut().map(Buffer::page).collect();
            file.write(Step::Page(values)).expect("a page");
        }
        let dictionaries = buffers.iter_mut().map(Buffer::dictionary).collect();
        file.write(Step::EndOfGroup(dictionaries)).expect("a group");
    }
    file.wait().expect("a whole file");
}

/// As DuckDB reads it.
fn by_duckdb(path: &Path) -> Vec<Everything> {
    let db = duckdb::Connection::open_in_memory().expect("a database");
    let word = |read: String| *WORDS.iter().find(|w| **w == read).expect("a known word");
    let text = |read: Option<String>| read.map(Arc::from);
    db.prepare(&format!("SELECT * FROM read_parquet('{}')", path.display()))
        .expect("a readable file")
        .query_map([], |r| {
            Ok(Everything {
                at: r.get(0)?,
                long: r.get(1)?,
                int: r.get(2)?,
                small: r.get(3)?,
                double: r.get(4)?,
                truth: r.get(5)?,
                doubt: r.get(6)?,
                word: word(r.get(7)?),
                name: text(r.get(8)?),
                nobody: text(r.get(9)?),
                nothing: r.get(10)?,
            })
        })
        .expect("rows")
        .collect::<duckdb::Result<_>>()
        .expect("values")
}

/// As the crate reads it.
fn by_parquet(path: &Path) -> Vec<Vec<Field>> {
    let file = SerializedFileReader::new(File::open(path).expect("a file")).expect("a footer");
    let rows = file.get_row_iter(None).expect("rows");
    rows.map(|row| {
        let row = row.expect("a row");
        row.get_column_iter()
            .map(|(_, field)| field.clone())
            .collect()
    })
    .collect()
}

fn fields(row: &Everything) -> Vec<Field> {
    fn or_null<T>(value: Option<T>, field: impl Fn(T) -> Field) -> Field {
        value.map_or(Field::Null, field)
    }
    let text = |t: &Option<Arc<str>>| or_null(t.as_ref(), |t| Field::Str(t.to_string()));
    vec![
        Field::Long(row.at),
        or_null(row.long, Field::Long),
        Field::Int(row.int),
        or_null(row.small, Field::Int),
        or_null(row.double, Field::Double),
        Field::Bool(row.truth),
        or_null(row.doubt, Field::Bool),
        Field::Str(row.word.into()),
        text(&row.name),
        text(&row.nobody),
        or_null(row.nothing, Field::Long),
    ]
}

fn row() -> impl Strategy<Value = Everything> {
    let few = prop_oneof![Just(i64::MIN), Just(i64::MAX), -3..3i64, any::<i64>()];
    let ints = prop_oneof![Just(i32::MIN), Just(i32::MAX), -3..3i32, any::<i32>()];
    let numbers = (any::<i64>(), proptest::option::of(few), ints);
    let others = (
        proptest::option::of(0..200i32),
        proptest::option::of(-1e9..1e9f64),
        any::<bool>(),
        proptest::option::of(any::<bool>()),
    );
    let texts = (0..WORDS.len(), proptest::option::of("[a-zé]{0,2}"));
    (numbers, others, texts).prop_map(|((at, long, int), others, (word, name))| {
        let (small, double, truth, doubt) = others;
        Everything {
            at,
            long,
            int,
            small,
            double,
            truth,
            doubt,
            word: WORDS[word],
            name: name.map(Arc::from),
            nobody: None,
            nothing: None,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_written_is_read_back(
        rows in proptest::collection::vec(row(), 0..700), page in 1..300usize, pages in 1..4usize,
    ) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("everything.parquet");
        written(&rows, &path, page, pages);
        prop_assert_eq!(by_duckdb(&path), rows.clone());
        prop_assert_eq!(by_parquet(&path), rows.iter().map(fields).collect::<Vec<_>>());
    }
}

#[test]
fn a_file_says_of_each_row_group_what_its_numbers_lie_between() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("everything.parquet");
    let rows: Vec<Everything> = (0..1_000)
        .map(|n| Everything {
            at: n * 7,
            long: (n % 3 > 0).then_some(-n),
            int: n as i32,
            small: None,
            double: None,
            truth: n > 5,
            doubt: None,
            word: WORDS[n as usize % 5],
            name: None,
            nobody: None,
            nothing: None,
        })
        .collect();
    written(&rows, &path, 100, 5);
    let file = SerializedFileReader::new(File::open(&path).expect("a file")).expect("a footer");
    let groups = file.metadata().row_groups();
    let told: Vec<_> = groups
        .iter()
        .map(|g| {
            let of = |column: usize| g.column(column).statistics().cloned();
            (g.num_rows(), of(0), of(1), of(7))
        })
        .collect();
    use parquet::file::statistics::Statistics;
    let between = |least, greatest, nulls| {
        Some(Statistics::int64(
            Some(least),
            Some(greatest),
            None,
            Some(nulls),
            false,
        ))
    };
    assert_eq!(
        told,
        [
            (500, between(0, 499 * 7, 0), between(-499, -1, 167), None),
            (
                500,
                between(500 * 7, 999 * 7, 0),
                between(-998, -500, 167),
                None
            ),
        ]
    );
}
