//! A list that is in memory as long as it is short, and in a mapped file from then on.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd;

use memmap2::{MmapMut, MmapOptions, RemapOptions, UncheckedAdvice};

use super::{Loan, Room};

/// A list of plain items; see the module.
#[derive(Debug)]
pub struct List<T> {
    room: Room,
    held: Held<T>,
    /// So many are held in memory in any case, and looked at before their pages are let go.
    most: usize,
    /// So many may be held in memory by now.
    limit: usize,
    loan: Loan,
}

#[derive(Debug)]
enum Held<T> {
    Memory(Vec<T>),
    File(Mapped),
}

/// A file whose blocks are all there, so that no store into the mapping can fail.
#[derive(Debug)]
struct Mapped {
    file: File,
    map: MmapMut,
    /// Items in it.
    len: usize,
}

impl<T: Copy> List<T> {
    /// An empty one.
    pub fn new(room: &Room) -> List<T> {
        List {
            room: room.clone(),
            held: Held::Memory(Vec::new()),
            most: room.most::<T>(),
            limit: room.most::<T>(),
            loan: room.lends(),
        }
    }

    /// Appends an item.
    pub fn push(&mut self, item: T) {
        match &mut self.held {
            Held::Memory(items) if items.len() < self.limit => items.push(item),
            _ => self.extend_from_slice(&[item]),
        }
    }

    /// Appends items.
    pub fn extend_from_slice(&mut self, new: &[T]) {
        let len = self.len() + new.len();
        if let Err(why) = self.make_room(len) {
            self.room.failed(why);
            self.held = Held::Memory(self.to_vec());
            self.limit = usize::MAX;
        }
        match &mut self.held {
            Held::Memory(items) => items.extend_from_slice(new),
            Held::File(file) => {
                // SAFETY: the file was made long enough above, its mapping begins at a page, and what is written lies
                // behind all items that somebody may hold a reference to.
                unsafe {
                    let end = file.map.as_mut_ptr().cast::<T>().add(file.len);
                    end.copy_from_nonoverlapping(new.as_ptr(), new.len());
                }
                let before = file.len / self.most;
                file.len = len;
                if len / self.most > before {
                    file.let_go();
                }
            }
        }
    }

    /// Drops what lies behind the first `len` items.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.held {
            Held::Memory(items) => items.truncate(len),
            Held::File(file) => file.len = file.len.min(len),
        }
    }

    /// Keeps the items for which `keep` is true, in their order.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        let mut kept = 0;
        for at in 0..self.len() {
            self.pace(at);
            let mut item = self[at];
            if keep(&mut item) {
                self[kept] = item;
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    /// Lets go of the pages that were touched, each time that a walk over the list has come so far as to be worth it.
    #[inline]
    pub fn pace(&self, at: usize) {
        if let Held::File(file) = &self.held
            && at.is_multiple_of(self.most)
        {
            file.let_go();
        }
    }

    /// Lets go of the pages that were touched.
    pub fn let_go(&self) {
        if let Held::File(file) = &self.held {
            file.let_go();
        }
    }

    /// Sees to it that `len` items are in memory, or fit into the file.
    fn make_room(&mut self, len: usize) -> io::Result<()> {
        let bytes = len * size_of::<T>();
        match &mut self.held {
            Held::Memory(items) if len > self.limit => {
                while len > self.limit && self.loan.more() {
                    self.limit += self.most;
                }
                if len <= self.limit {
                    return Ok(());
                }
                let mut file = Mapped::new(self.room.file()?, bytes)?;
                file.len = items.len();
                // SAFETY: the file is at least as long as the items, and mapped at the begin of a page.
                unsafe {
                    let begin = file.map.as_mut_ptr().cast::<T>();
                    begin.copy_from_nonoverlapping(items.as_ptr(), items.len());
                }
                self.held = Held::File(file);
                self.loan.give_back();
                Ok(())
            }
            Held::Memory(_) => Ok(()),
            Held::File(file) => file.reach(bytes),
        }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.held {
            Held::Memory(items) => items,
            // SAFETY: so many items were written there, by this process; nobody else has the file.
            Held::File(file) => unsafe {
                std::slice::from_raw_parts(file.map.as_ptr().cast(), file.len)
            },
        }
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.held {
            Held::Memory(items) => items,
            // SAFETY: as above; who has the list to itself has the mapping to itself.
            Held::File(file) => unsafe {
                std::slice::from_raw_parts_mut(file.map.as_mut_ptr().cast(), file.len)
            },
        }
    }
}

impl<T: Copy> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl Mapped {
    fn new(file: File, bytes: usize) -> io::Result<Mapped> {
        let bytes = roomy(bytes);
        allocate(&file, bytes)?;
        // SAFETY: the file has no name and nobody else has it open.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(&file)? };
        Ok(Mapped { file, map, len: 0 })
    }

    /// Makes it at least so long.
    fn reach(&mut self, bytes: usize) -> io::Result<()> {
        if bytes <= self.map.len() {
            return Ok(());
        }
        let bytes = roomy(bytes);
        allocate(&self.file, bytes)?;
        // SAFETY: the file is that long; items are reached through the mapping's present begin only.
        unsafe { self.map.remap(bytes, RemapOptions::new().may_move(true)) }
    }

    fn let_go(&self) {
        // SAFETY: it is a shared mapping of a file: what was stored is in the file's pages, which come back.
        let done = unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) };
        debug_assert!(done.is_ok(), "a mapping of a file: {done:?}");
    }
}

/// A length with room for a quarter more, in whole megabytes but for short ones.
fn roomy(bytes: usize) -> usize {
    let unit = if bytes < 1 << 20 { 1 << 12 } else { 1 << 20 };
    (bytes + bytes / 4).next_multiple_of(unit)
}

/// Gives a file so many bytes that have blocks on the disk.
fn allocate(file: &File, bytes: usize) -> io::Result<()> {
    let bytes = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
    loop {
        // SAFETY: it only takes numbers.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
            0 => return Ok(()),
            libc::EINTR => {}
            code => return Err(io::Error::from_raw_os_error(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_the_same_wherever_it_lies() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut short = List::new(&Room::in_memory());
        let mut long = List::new(&Room::new(dir.path(), 100));
        let room = long.room.clone();
        for list in [&mut short, &mut long] {
            for n in 0..5_000u64 {
                list.push(n);
            }
            list.extend_from_slice(&[7; 3_000]);
            list[4] = 44;
            list.let_go();
            list.retain_mut(|n| {
                *n += 1;
                *n % 3 > 0
            });
        }
        assert!(matches!(long.held, Held::File(_)) && matches!(short.held, Held::Memory(_)));
        assert_eq!(*short, *long);
        assert_eq!((long.len(), long[2], long[3]), (6_333, 4, 7));
        room.check().expect("no error");
        assert_eq!(
            room.0.pool.get(),
            100 * super::super::POOL,
            "a list in a file has nothing of the pool"
        );
    }

    #[test]
    fn lists_are_in_memory_as_long_as_the_pool_has_room() {
        let dir = tempfile::tempdir().expect("a directory");
        let room = Room::new(dir.path(), 80);
        let fill = |items: u64| {
            let mut list = List::new(&room);
            list.extend(0..items);
            list
        };
        let in_file = |list: &List<u64>| matches!(list.held, Held::File(_));
        let pool = 10 * super::super::POOL as u64;
        let first = fill(10 + pool - 5);
        assert!(!in_file(&first), "what it may hold anyway, and the pool");
        assert!(
            !in_file(&fill(10)) && in_file(&fill(11)),
            "the pool is empty"
        );
        drop(first);
        assert!(!in_file(&fill(11)), "what was lent comes back");
        assert!(in_file(&fill(11 + pool)));
    }

    #[test]
    fn where_no_file_can_be_made_it_stays_in_memory_and_the_error_is_told() {
        let room = Room::new("/proc/no/such/place".as_ref(), 80);
        let mut list = List::new(&room);
        list.extend(0..1_000u64);
        assert!(list.iter().copied().eq(0..1_000));
        let told = format!("{:#}", room.check().expect_err("an error"));
        assert!(told.contains("/proc/no/such/place"), "{told}");
    }
}
