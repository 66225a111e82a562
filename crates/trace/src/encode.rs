//! The file of a table, encoded and written by a thread of its own while the rows are still being made.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use duckdb::arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;

use crate::error::{Result, io};

/// Batches that wait at most: enough to even out row groups, which are compressed at once.
const AHEAD: usize = 16;

/// Takes batches and writes them; dropped before its end it leaves a file that nobody reads.
pub struct Encoder {
    batches: Option<SyncSender<RecordBatch>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Encoder {
    /// Begins to write a file.
    pub fn new(path: &Path, mut file: ArrowWriter<File>) -> Result<Encoder> {
        let (batches, next) = sync_channel::<RecordBatch>(AHEAD);
        let work = move || {
            for batch in next {
                file.write(&batch)?;
            }
            file.close()?;
            Ok(())
        };
        let thread = Builder::new().name("tables".into()).spawn(work);
        Ok(Encoder {
            batches: Some(batches),
            thread: Some(thread.map_err(io(path))?),
        })
    }

    /// Takes the next batch.
    pub fn write(&mut self, batch: RecordBatch) -> Result<()> {
        match &self.batches {
            Some(batches) if batches.send(batch).is_ok() => Ok(()),
            _ => self.wait(), // its thread has ended: it says why
        }
    }

    /// No batch comes any more.
    pub fn end(&mut self) {
        self.batches = None;
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

impl Drop for Encoder {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            // What went wrong in it is of no use any more: the table was given up before its end.
            drop(thread.join());
        }
    }
}
