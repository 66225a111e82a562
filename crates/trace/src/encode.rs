//! The file of a table, encoded and written by a thread of its own while the rows are still being made.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use zstd::bulk::Compressor;

use crate::columns::{Chunk, Dictionary, LEVEL, Values, schema};
use crate::error::{Result, io};
use crate::table::Column;

/// Pages that wait at most: enough to even out the ends of row groups.
const AHEAD: usize = 2;

/// What a file is made of.
pub enum Step {
    /// A page of each column.
    Page(Vec<Values>),
    /// The end of a row group, with the dictionary of each column that has one.
    EndOfGroup(Vec<Option<Dictionary>>),
}

/// Takes pages and writes them; dropped before its end it leaves a file that nobody reads.
pub struct Encoder {
    steps: Option<SyncSender<Step>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Encoder {
    /// Begins to write a file.
    pub fn new(
        path: &Path,
        file: File,
        columns: Vec<Column>,
        properties: WriterProperties,
    ) -> Result<Encoder> {
        let (steps, next) = sync_channel::<Step>(AHEAD);
        let compressor = Compressor::new(LEVEL).map_err(io(path))?;
        let file = SerializedFileWriter::new(file, schema(&columns)?, Arc::new(properties))?;
        let work = move || write(file, &columns, compressor, &next);
        let thread = Builder::new().name("tables".into()).spawn(work);
        Ok(Encoder {
            steps: Some(steps),
            thread: Some(thread.map_err(io(path))?),
        })
    }

    /// Takes the next step.
    pub fn write(&mut self, step: Step) -> Result<()> {
        match &self.steps {
            Some(steps) if steps.send(step).is_ok() => Ok(()),
            _ => self.wait(), // its thread has ended: it says why
        }
    }

    /// No step comes any more.
    pub fn end(&mut self) {
        self.steps = None;
    }

    /// Waits until the file is whole.
    pub fn wait(&mut self) -> Result<()> {
        self.end();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

fn write(
    mut file: SerializedFileWriter<File>,
    columns: &[Column],
    mut compressor: Compressor,
    steps: &Receiver<Step>,
) -> Result<()> {
    let chunks = || columns.iter().map(|column| Chunk::new(*column));
    let mut group: Vec<Chunk> = chunks().collect();
    for step in steps {
        match step {
            Step::Page(values) => {
                for (chunk, values) in group.iter_mut().zip(&values) {
                    chunk.page(values, &mut compressor)?;
                }
            }
            Step::EndOfGroup(dictionaries) => {
                let ended = std::mem::replace(&mut group, chunks().collect());
                let places = file.schema_descr().columns().to_vec();
                let mut to = file.next_row_group()?;
                for ((chunk, dictionary), at) in ended.into_iter().zip(dictionaries).zip(places) {
                    let (bytes, told) = chunk.close(at, dictionary, &mut compressor)?;
                    to.append_column(&bytes, told)?;
                }
                to.close()?;
            }
        }
    }
    file.close()?;
    Ok(())
}

impl Drop for Encoder {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            // What went wrong in it is of no use any more: the table was given up before its end.
            drop(thread.join());
        }
    }
}
