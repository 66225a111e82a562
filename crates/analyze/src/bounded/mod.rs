//! Lists that may be longer than memory: what tables are made of while they are made.
//!
//! Terms: a [`Room`] says how much lists may hold in memory, each by itself and all of them from one pool, and where the rest
//! lies. A [`List`] for which there is no more moves into a file without a name, which is mapped behind its writer, so that a list is a
//! slice wherever it lies. To *let go* of a list is to unmap the pages of it that were touched: they are in the file, and come back when
//! they are looked at. A [`Sorter`] sorts more than memory holds, by runs. A [`Grouped`] list has a slice for each thread.
//!
//! What always holds: what a list holds does not depend on where it lies. A file that cannot be written is an error
//! that [`Room::check`] tells; until then the list is in memory, and whole.

mod grouped;
mod list;
mod mapped;
mod sorter;

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result};

pub use grouped::Grouped;
pub use list::List;
pub use sorter::Sorter;

/// What each list, and each run of a sorter, may hold in memory in any case, in bytes. There are about twenty at a time. With half of
/// it a build takes as long; a sort of 50 million events has some ten to a hundred runs.
pub const MOST: usize = 8 << 20;
/// So many times that is a pool besides, from which those that come first take: a list in a file costs half as much CPU time
/// again, and up to some five million events all that tables are made of is in memory.
const POOL: usize = 16;

/// Where lists lie.
#[derive(Debug, Clone)]
pub struct Room(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    /// Bytes that a list may hold in memory in any case, and that it takes from the pool at a time.
    most: usize,
    /// Bytes in the pool.
    pool: Cell<usize>,
    failed: RefCell<Option<io::Error>>,
}

impl Room {
    /// Lists longer than `most` bytes, and than what the pool has left for them, lie in `dir`, in files that are gone when they
    /// are dropped.
    pub fn new(dir: &Path, most: usize) -> Room {
        Room(Rc::new(Inner {
            dir: dir.into(),
            most,
            pool: Cell::new(most.saturating_mul(POOL)),
            failed: RefCell::default(),
        }))
    }

    /// All lists are in memory, however long.
    #[cfg(test)]
    pub fn in_memory() -> Room {
        Room::new(Path::new("/nowhere"), usize::MAX)
    }

    /// An error if a list could not be put into a file.
    pub fn check(&self) -> Result<()> {
        let failed = self.0.failed.borrow_mut().take();
        failed.map_or(Ok(()), Err).with_context(|| {
            format!(
                "cannot keep what tables are made of in {}: it takes as much room as the spools there",
                self.0.dir.display()
            )
        })
    }

    /// So many items of this type are in memory in any case.
    fn most<T>(&self) -> usize {
        (self.0.most / size_of::<T>().max(1)).max(1)
    }

    fn file(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.0.dir)
    }

    /// Nothing of the pool yet.
    fn lends(&self) -> Loan {
        Loan {
            room: self.clone(),
            bytes: 0,
        }
    }

    fn failed(&self, why: io::Error) {
        self.0.failed.borrow_mut().get_or_insert(why);
    }
}

/// What a list has of the pool: given back when it is dropped.
#[derive(Debug)]
pub struct Loan {
    room: Room,
    bytes: usize,
}

impl Loan {
    /// Takes as much again as a list may hold in any case; false where the pool has no more.
    fn more(&mut self) -> bool {
        let Inner { pool, most, .. } = &*self.room.0;
        let left = pool.get().checked_sub(*most);
        if let Some(left) = left {
            pool.set(left);
            self.bytes += most;
        }
        left.is_some()
    }

    fn give_back(&mut self) {
        let pool = &self.room.0.pool;
        pool.set(pool.get() + std::mem::take(&mut self.bytes));
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.give_back();
    }
}
