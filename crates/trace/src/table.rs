//! How a Rust struct becomes a table: the [`table!`](crate::table!) macro and the column types.

use std::sync::Arc;

use crate::columns::{Bits, Buffer, Data};

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
    /// What takes the rows' values, a buffer for each column.
    fn buffers() -> Vec<Buffer>;
    /// Gives rows to such buffers. Of slices, and not of any iterator, so that it is compiled here once, and not in each crate
    /// that writes tables.
    fn put(rows: &[Self], to: &mut [Buffer]);
    /// The same of rows that lie elsewhere.
    fn put_each(rows: &[&Self], to: &mut [Buffer]);
}

/// A Rust type that can be a column.
pub trait Cell: Sized {
    /// DuckDB's name of the type.
    const SQL: &'static str;
    /// Whether null is allowed.
    const NULLABLE: bool;
    /// Nothing, of the kind that its values are.
    fn nothing() -> Data;
    /// Gives values to the buffer of their column.
    fn put<'a>(values: impl Iterator<Item = &'a Self>, to: &mut Buffer)
    where
        Self: 'a;
}

macro_rules! number_cell {
    ($rust:ty, $sql:literal, $data:ident, $numbers:ident, $optional:ident) => {
        impl Cell for $rust {
            const SQL: &'static str = $sql;
            const NULLABLE: bool = false;
            fn nothing() -> Data {
                Data::$data(Vec::new())
            }
            fn put<'a>(values: impl Iterator<Item = &'a Self>, to: &mut Buffer) {
                to.$numbers(values.copied());
            }
        }
        impl Cell for Option<$rust> {
            const SQL: &'static str = $sql;
            const NULLABLE: bool = true;
            fn nothing() -> Data {
                Data::$data(Vec::new())
            }
            fn put<'a>(values: impl Iterator<Item = &'a Self>, to: &mut Buffer) {
                to.$optional(values.copied());
            }
        }
    };
}

number_cell!(i64, "BIGINT", Longs, longs, optional_longs);
number_cell!(i32, "INTEGER", Ints, ints, optional_ints);
number_cell!(f64, "DOUBLE", Doubles, doubles, optional_doubles);

impl Cell for bool {
    const SQL: &'static str = "BOOLEAN";
    const NULLABLE: bool = false;
    fn nothing() -> Data {
        Data::Bools(Bits::default())
    }
    fn put<'a>(values: impl Iterator<Item = &'a Self>, to: &mut Buffer) {
        to.bools(values.map(|v| Some(*v)));
    }
}

impl Cell for Option<bool> {
    const SQL: &'static str = "BOOLEAN";
    const NULLABLE: bool = true;
    fn nothing() -> Data {
        Data::Bools(Bits::default())
    }
    fn put<'a>(values: impl Iterator<Item = &'a Self>, to: &mut Buffer) {
        to.bools(values.copied());
    }
}

macro_rules! text_cell {
    ($rust:ty, $lasting:literal) => {
        impl Cell for $rust {
            const SQL: &'static str = "VARCHAR";
            const NULLABLE: bool = false;
            fn nothing() -> Data {
                Data::Texts(Vec::new())
            }
            fn put<'a>(values: impl Iterator<Item = &'a Self>, to: &mut Buffer) {
                to.texts(values.map(|v| Some(v.as_ref())), $lasting);
            }
        }
        impl Cell for Option<$rust> {
            const SQL: &'static str = "VARCHAR";
            const NULLABLE: bool = true;
            fn nothing() -> Data {
                Data::Texts(Vec::new())
            }
            fn put<'a>(values: impl Iterator<Item = &'a Self>, to: &mut Buffer) {
                to.texts(values.map(|v| v.as_ref().map(|v| v.as_ref())), $lasting);
            }
        }
    };
}

text_cell!(&'static str, true);
text_cell!(String, false);
text_cell!(Arc<str>, false);

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

            fn buffers() -> Vec<$crate::columns::Buffer> {
                vec![$( $crate::columns::Buffer::new(
                    <$ty as $crate::table::Cell>::nothing(),
                    <$ty as $crate::table::Cell>::NULLABLE,
                ) ),*]
            }

            fn put(rows: &[Self], to: &mut [$crate::columns::Buffer]) {
                Self::put_all(rows.iter(), to);
            }

            fn put_each(rows: &[&Self], to: &mut [$crate::columns::Buffer]) {
                Self::put_all(rows.iter().copied(), to);
            }
        }

        impl $name {
            fn put_all<'a>(
                rows: impl Iterator<Item = &'a Self> + Clone,
                to: &mut [$crate::columns::Buffer],
            ) {
                let mut buffers = to.iter_mut();
                $( if let Some(buffer) = buffers.next() {
                    <$ty as $crate::table::Cell>::put(rows.clone().map(|r| &r.$col), buffer);
                } )*
            }
        }
    };
}
