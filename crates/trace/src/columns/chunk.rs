//! A column of one row group: its pages, compressed as they come, and what the file says of them.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};
use zstd::bulk::Compressor;

use super::{Data, Dictionary, Values, encoding, has_extremes};
use crate::table::Column;

/// How hard pages are compressed: the level that is fastest but for those below zero.
pub const LEVEL: i32 = 1;

/// The columns of a table, as the format names their types.
pub fn schema(columns: &[Column]) -> Result<TypePtr> {
    let fields: Result<Vec<TypePtr>> = columns
        .iter()
        .map(|c| {
            let (physical, logical) = match c.sql_type {
                "BIGINT" => (Physical::INT64, None),
                "INTEGER" => (Physical::INT32, None),
                "DOUBLE" => (Physical::DOUBLE, None),
                "BOOLEAN" => (Physical::BOOLEAN, None),
                _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let repetition = match c.nullable {
                true => Repetition::OPTIONAL,
                false => Repetition::REQUIRED,
            };
            let of = Type::primitive_type_builder(c.name, physical)
                .with_repetition(repetition)
                .with_logical_type(logical);
            Ok(Arc::new(of.build()?))
        })
        .collect();
    Ok(Arc::new(
        Type::group_type_builder("schema")
            .with_fields(fields?)
            .build()?,
    ))
}

/// A page that is encoded and compressed.
struct Written {
    bytes: Vec<u8>,
    /// Bytes before it was compressed.
    uncompressed: usize,
    rows: u32,
    encoding: Encoding,
}

/// Least and greatest, of numbers.
#[derive(Debug, Clone, Copy)]
struct Extremes(i64, i64);

/// A column of one row group.
pub struct Chunk {
    column: Column,
    pages: Vec<Written>,
    rows: usize,
    nulls: usize,
    extremes: Option<Extremes>,
}

impl Chunk {
    /// Without a page.
    pub fn new(column: Column) -> Chunk {
        Chunk {
            column,
            pages: Vec::new(),
            rows: 0,
            nulls: 0,
            extremes: None,
        }
    }

    /// Takes the next page.
    pub fn page(&mut self, values: &Values, to: &mut Compressor) -> Result<()> {
        let mut page = Vec::with_capacity(values.data.len() * 4 + 64);
        if let Some(valid) = &values.valid {
            encoding::levels(&mut page, valid);
        }
        let encoding = encoded(&values.data, &mut page);
        let (uncompressed, rows) = (page.len(), values.rows());
        let bytes = to.compress(&page)?;
        self.rows += rows;
        self.nulls += rows - values.data.len();
        self.extremes = wider(self.extremes, extremes(&values.data));
        self.pages.push(Written {
            bytes,
            uncompressed,
            rows: rows as u32,
            encoding,
        });
        Ok(())
    }

    /// The bytes of the column, which is `at` in the file's schema, and what stands in the file's metadata.
    pub fn close(
        self,
        at: ColumnDescPtr,
        dictionary: Option<Dictionary>,
        to: &mut Compressor,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let statistics = has_extremes(&self.column).then(|| self.statistics());
        let mut sink = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut sink);
        let mut encodings = vec![Encoding::RLE];
        let (mut uncompressed, mut dictionary_at, mut data_at) = (0, None, None);
        if let Some(dictionary) = dictionary.filter(|d| d.texts > 0) {
            encodings.push(Encoding::PLAIN);
            let page = Page::DictionaryPage {
                buf: to.compress(&dictionary.page)?.into(),
                num_values: dictionary.texts as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let spec = pages.write_page(CompressedPage::new(page, dictionary.page.len()))?;
            dictionary_at = Some(spec.offset as i64);
            uncompressed += spec.uncompressed_size;
        }
        for page in self.pages {
            if !encodings.contains(&page.encoding) {
                encodings.push(page.encoding);
            }
            let len = page.uncompressed;
            let page = Page::DataPage {
                buf: page.bytes.into(),
                num_values: page.rows,
                encoding: page.encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let spec = pages.write_page(CompressedPage::new(page, len))?;
            data_at = data_at.or(Some(spec.offset as i64));
            uncompressed += spec.uncompressed_size;
        }
        let bytes: Bytes = sink.into_inner()?.into();
        let mut metadata = ColumnChunkMetaData::builder(at)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
            .set_encodings(encodings)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_num_values(self.rows as i64)
            .set_data_page_offset(data_at.unwrap_or(0))
            .set_dictionary_page_offset(dictionary_at);
        if let Some(statistics) = statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let result = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, result))
    }

    fn statistics(&self) -> Statistics {
        let nulls = Some(self.nulls as u64);
        let (least, greatest) = (self.extremes.map(|e| e.0), self.extremes.map(|e| e.1));
        match self.column.sql_type {
            "BIGINT" => Statistics::int64(least, greatest, None, nulls, false),
            "INTEGER" => {
                let int = |n: i64| n as i32; // they were
                Statistics::int32(least.map(int), greatest.map(int), None, nulls, false)
            }
            "DOUBLE" => Statistics::double(None, None, None, nulls, false),
            _ => Statistics::boolean(None, None, None, nulls, false),
        }
    }
}

/// Appends the values of a page; how they are encoded.
fn encoded(data: &Data, page: &mut Vec<u8>) -> Encoding {
    if data.len() == 0 {
        return Encoding::PLAIN; // all are null
    }
    match data {
        Data::Longs(numbers) => encoding::deltas(page, numbers),
        Data::Ints(numbers) => encoding::deltas(page, numbers),
        Data::Doubles(numbers) => {
            page.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
            return Encoding::PLAIN;
        }
        Data::Bools(bits) => {
            page.extend(bits.bytes());
            return Encoding::PLAIN;
        }
        Data::Texts(places) => {
            encoding::places(page, places);
            return Encoding::RLE_DICTIONARY;
        }
    }
    Encoding::DELTA_BINARY_PACKED
}

fn extremes(data: &Data) -> Option<Extremes> {
    match data {
        Data::Longs(all) => Some(Extremes(*all.iter().min()?, *all.iter().max()?)),
        Data::Ints(all) => Some(Extremes(
            (*all.iter().min()?).into(),
            (*all.iter().max()?).into(),
        )),
        _ => None,
    }
}

fn wider(a: Option<Extremes>, b: Option<Extremes>) -> Option<Extremes> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Extremes(a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}
