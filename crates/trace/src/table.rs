//! How a Rust struct becomes a table: the [`table!`](crate::table!) macro and the column types.

use std::sync::Arc;

use duckdb::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use duckdb::arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};

/// A column: its name, SQL type, whether it may be null, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name in SQL.
    pub name: &'static str,
    /// DuckDB's name of the type.
    pub sql_type: &'static str,
    /// Whether it may be null.
    pub nullable: bool,
    /// What it means, with its unit.
    pub doc: &'static str,
}

/// A row of a table of the trace.
pub trait Row: Sized {
    /// Name of the table, and of its file without `.parquet`.
    const TABLE: &'static str;
    /// What one row is.
    const DOC: &'static str;
    /// The column that the table is sorted by.
    const SORTED_BY: &'static str;
    /// This row's value in that column.
    fn sort_key(&self) -> i64;
    /// The columns, in order.
    fn columns() -> Vec<Column>;
    /// Rows as an Arrow batch of the same columns.
    fn batch<'a>(rows: impl ExactSizeIterator<Item = &'a Self> + Clone) -> RecordBatch
    where
        Self: 'a;
}

/// A Rust type that can be a column.
pub trait Cell: Sized {
    /// DuckDB's name of the type.
    const SQL: &'static str;
    /// Whether null is allowed.
    const NULLABLE: bool;
    /// An Arrow array of the values.
    fn array<'a>(values: impl ExactSizeIterator<Item = &'a Self> + Clone) -> ArrayRef
    where
        Self: 'a;
}

/// Bits of all values.
fn bits<T>(mut values: impl ExactSizeIterator<Item = T>, bit: impl Fn(T) -> bool) -> BooleanBuffer {
    BooleanBuffer::collect_bool(values.len(), |_| values.next().is_some_and(&bit))
}

/// Which of the values are not null.
fn valid<'a, T: 'a>(values: impl ExactSizeIterator<Item = &'a Option<T>>) -> Option<NullBuffer> {
    Some(NullBuffer::new(bits(values, Option::is_some))).filter(|n| n.null_count() > 0)
}

macro_rules! number_cell {
    ($rust:ty, $sql:literal, $array:ty) => {
        impl Cell for $rust {
            const SQL: &'static str = $sql;
            const NULLABLE: bool = false;
            fn array<'a>(values: impl ExactSizeIterator<Item = &'a Self> + Clone) -> ArrayRef {
                let values: ScalarBuffer<$rust> = values.copied().collect();
                Arc::new(<$array>::new(values, None))
            }
        }
        impl Cell for Option<$rust> {
            const SQL: &'static str = $sql;
            const NULLABLE: bool = true;
            fn array<'a>(values: impl ExactSizeIterator<Item = &'a Self> + Clone) -> ArrayRef {
                let valid = valid(values.clone());
                let values: ScalarBuffer<$rust> = values.map(|v| v.unwrap_or_default()).collect();
                Arc::new(<$array>::new(values, valid))
            }
        }
    };
}

number_cell!(i64, "BIGINT", Int64Array);
number_cell!(i32, "INTEGER", Int32Array);
number_cell!(f64, "DOUBLE", Float64Array);

impl Cell for bool {
    const SQL: &'static str = "BOOLEAN";
    const NULLABLE: bool = false;
    fn array<'a>(values: impl ExactSizeIterator<Item = &'a Self> + Clone) -> ArrayRef {
        Arc::new(BooleanArray::new(bits(values, |v| *v), None))
    }
}

impl Cell for Option<bool> {
    const SQL: &'static str = "BOOLEAN";
    const NULLABLE: bool = true;
    fn array<'a>(values: impl ExactSizeIterator<Item = &'a Self> + Clone) -> ArrayRef {
        let valid = valid(values.clone());
        Arc::new(BooleanArray::new(bits(values, |v| *v == Some(true)), valid))
    }
}

macro_rules! text_cell {
    ($($rust:ty),*) => {$(
        impl Cell for $rust {
            const SQL: &'static str = "VARCHAR";
            const NULLABLE: bool = false;
            fn array<'a>(values: impl ExactSizeIterator<Item = &'a Self> + Clone) -> ArrayRef {
                Arc::new(StringArray::from_iter_values(values.map(|v| -> &str { v.as_ref() })))
            }
        }
        impl Cell for Option<$rust> {
            const SQL: &'static str = "VARCHAR";
            const NULLABLE: bool = true;
            fn array<'a>(values: impl ExactSizeIterator<Item = &'a Self> + Clone) -> ArrayRef {
                Arc::new(values.map(|v| v.as_ref().map(|v| -> &str { v.as_ref() })).collect::<StringArray>())
            }
        }
    )*};
}

text_cell!(&'static str, String, Arc<str>);

/// Defines a row type and its table.
#[macro_export]
macro_rules! table {
    (
        #[doc = $doc:literal]
        $name:ident in $table:literal sorted by $sorted:ident {
            $( #[doc = $cdoc:literal] $col:ident : $ty:ty ),* $(,)?
        }
    ) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( #[doc = $cdoc] pub $col: $ty, )*
        }

        impl $crate::table::Row for $name {
            const TABLE: &'static str = $table;
            const DOC: &'static str = $doc;
            const SORTED_BY: &'static str = stringify!($sorted);

            fn sort_key(&self) -> i64 {
                self.$sorted
            }

            fn columns() -> Vec<$crate::table::Column> {
                vec![$( $crate::table::Column {
                    name: stringify!($col),
                    sql_type: <$ty as $crate::table::Cell>::SQL,
                    nullable: <$ty as $crate::table::Cell>::NULLABLE,
                    doc: $cdoc.trim_ascii(),
                } ),*]
            }

            fn batch<'a>(
                rows: impl ExactSizeIterator<Item = &'a Self> + Clone,
            ) -> $crate::duckdb::arrow::array::RecordBatch {
                $crate::duckdb::arrow::array::RecordBatch::try_from_iter_with_nullable([
                    $( (
                        stringify!($col),
                        <$ty as $crate::table::Cell>::array(rows.clone().map(|r| &r.$col)),
                        <$ty as $crate::table::Cell>::NULLABLE,
                    ) ),*
                ])
                .expect("columns of one struct have one length")
            }
        }
    };
}
