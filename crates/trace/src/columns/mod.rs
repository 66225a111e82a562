//! Rows as columns, and columns as Parquet.
//!
//! The `parquet` crate frames files, row groups and pages, and keeps their metadata; what stands in a page is encoded
//! here. Its own way there, through Arrow arrays and a dictionary with a hash of each value, took half of the CPU time of
//! building tables: here numbers go into their page as differences, and a text that was just there is found by where it
//! lies in memory.
//!
//! Terms: a [`Buffer`] takes the values of one column, a page of rows at a time; [`Values`] are what such a page holds; a
//! [`Chunk`](chunk::Chunk) is a column of one row group, page behind page.
//!
//! What always holds: all buffers of a table take the same number of rows; a row group has one dictionary for each column
//! of texts, and no place in a page lies beyond it.

mod chunk;
mod encoding;
mod texts;

use crate::table::Column;

pub use chunk::{Chunk, LEVEL, schema};
pub use texts::{Dictionary, Texts};

/// Bits in a row.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Bits {
    /// Words that are full.
    words: Vec<u64>,
    /// The next.
    word: u64,
    len: usize,
    ones: usize,
}

impl Bits {
    #[inline]
    fn push(&mut self, bit: bool) {
        self.word |= u64::from(bit) << (self.len % 64);
        self.len += 1;
        self.ones += usize::from(bit);
        if self.len.is_multiple_of(64) {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    /// As bytes, the lowest bit first; as many as hold them.
    fn bytes(&self) -> impl Iterator<Item = u8> {
        let all = self.words.iter().chain([&self.word]);
        let bytes = all.flat_map(|word| word.to_le_bytes());
        bytes.take(self.len.div_ceil(8))
    }
}

/// Values that are not null.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// 64 bits.
    Longs(Vec<i64>),
    /// 32 bits.
    Ints(Vec<i32>),
    /// Floating point.
    Doubles(Vec<f64>),
    /// True or false.
    Bools(Bits),
    /// Places in the dictionary of the row group.
    Texts(Vec<u32>),
}

/// What a page of a column holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Which rows are not null; nothing of a column that cannot be.
    valid: Option<Bits>,
    data: Data,
}

impl Data {
    /// Nothing, of the same kind, with room for as much.
    fn take(&mut self) -> Data {
        match self {
            Data::Longs(v) => Data::Longs(renewed(v)),
            Data::Ints(v) => Data::Ints(renewed(v)),
            Data::Doubles(v) => Data::Doubles(renewed(v)),
            Data::Bools(bits) => Data::Bools(std::mem::take(bits)),
            Data::Texts(v) => Data::Texts(renewed(v)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Data::Longs(v) => v.len(),
            Data::Ints(v) => v.len(),
            Data::Doubles(v) => v.len(),
            Data::Bools(bits) => bits.len,
            Data::Texts(v) => v.len(),
        }
    }
}

/// Leaves room for as many items as were in it.
fn renewed<T>(items: &mut Vec<T>) -> Vec<T> {
    let room = Vec::with_capacity(items.len());
    std::mem::replace(items, room)
}

impl Values {
    /// Rows, those without a value included.
    fn rows(&self) -> usize {
        self.valid.as_ref().map_or(self.data.len(), |v| v.len)
    }
}

/// Takes the values of one column.
#[derive(Debug)]
pub struct Buffer {
    values: Values,
    texts: Texts,
}

impl Buffer {
    /// For values of this kind.
    pub fn new(data: Data, nullable: bool) -> Buffer {
        Buffer {
            values: Values {
                valid: nullable.then(Bits::default),
                data,
            },
            texts: Texts::default(),
        }
    }

    /// The values that it has taken since it was asked last.
    pub fn page(&mut self) -> Values {
        let data = self.values.data.take();
        let valid = self.values.valid.as_mut().map(std::mem::take);
        Values { valid, data }
    }

    /// The dictionary that their places are in, of a column of texts: the next row group has another.
    pub fn dictionary(&mut self) -> Option<Dictionary> {
        matches!(self.values.data, Data::Texts(_)).then(|| self.texts.take())
    }

    /// Takes whether the next row has a value.
    #[inline]
    fn has(&mut self, value: bool) -> bool {
        if let Some(valid) = &mut self.values.valid {
            valid.push(value);
        }
        value
    }

    /// Takes texts; of those that are `lasting`, which never give their place to another, equal places mean equal texts.
    pub fn texts<'a>(&mut self, texts: impl Iterator<Item = Option<&'a str>>, lasting: bool) {
        for text in texts {
            if self.has(text.is_some())
                && let (Data::Texts(places), Some(text)) = (&mut self.values.data, text)
            {
                places.push(self.texts.place(text, lasting));
            }
        }
    }

    /// Takes truths.
    pub fn bools(&mut self, truths: impl Iterator<Item = Option<bool>>) {
        for truth in truths {
            if self.has(truth.is_some())
                && let (Data::Bools(bits), Some(truth)) = (&mut self.values.data, truth)
            {
                bits.push(truth);
            }
        }
    }
}

/// Numbers, by their width.
macro_rules! takes_numbers {
    ($name:ident, $names:ident, $of:ty, $kind:ident) => {
        impl Buffer {
            /// Takes numbers, none of which is null.
            pub fn $names(&mut self, numbers: impl Iterator<Item = $of>) {
                if let Data::$kind(all) = &mut self.values.data {
                    all.extend(numbers);
                }
            }

            /// Takes numbers, or null.
            pub fn $name(&mut self, numbers: impl Iterator<Item = Option<$of>>) {
                for number in numbers {
                    if self.has(number.is_some())
                        && let (Data::$kind(all), Some(number)) = (&mut self.values.data, number)
                    {
                        all.push(number);
                    }
                }
            }
        }
    };
}

takes_numbers!(optional_longs, longs, i64, Longs);
takes_numbers!(optional_ints, ints, i32, Ints);
takes_numbers!(optional_doubles, doubles, f64, Doubles);

/// Whether readers may pass over row groups by a column's least and greatest value. Of texts nearly all lies in every row
/// group between the two.
fn has_extremes(column: &Column) -> bool {
    column.sql_type != "VARCHAR"
}

#[cfg(test)]
mod tests;
