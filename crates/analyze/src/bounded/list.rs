//! A list that is in memory as long as it is short, and in a mapped file from then on.

use std::io;
use std::ops::{Deref, DerefMut};

use super::mapped::Mapped;
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

/// Of what a list may hold in memory in any case, this part is a block of its file, up to so many bytes.
const PARTS: usize = 4;
const LARGEST_BLOCK: usize = 1 << 20;

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
        let len = self.len();
        if let Err(why) = self.add(new) {
            self.room.failed(why);
            let mut items = self[..len].to_vec();
            items.extend_from_slice(new);
            self.held = Held::Memory(items);
            self.limit = usize::MAX;
        }
    }

    fn add(&mut self, new: &[T]) -> io::Result<()> {
        self.make_room(self.len() + new.len())?;
        match &mut self.held {
            Held::Memory(items) => items.extend_from_slice(new),
            Held::File(file) => append(file, new)?,
        }
        Ok(())
    }

    /// Drops what lies behind the first `len` items.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.held {
            Held::Memory(items) => items.truncate(len),
            Held::File(file) => file.truncate(len * size_of::<T>()),
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

    /// Sees to it that `len` items may be in memory, or that there is a file.
    fn make_room(&mut self, len: usize) -> io::Result<()> {
        let Held::Memory(items) = &self.held else {
            return Ok(());
        };
        while len > self.limit && self.loan.more() {
            self.limit += self.most;
        }
        if len > self.limit {
            let block = (self.most * size_of::<T>() / PARTS).min(LARGEST_BLOCK);
            let mut file = Mapped::new(self.room.file()?, block)?;
            append(&mut file, items)?;
            self.held = Held::File(file);
            self.loan.give_back();
        }
        Ok(())
    }
}

/// Appends items to a file.
fn append<T: Copy>(file: &mut Mapped, items: &[T]) -> io::Result<()> {
    // SAFETY: so many bytes are items. Nobody who has a reference into the file's list can append to it.
    unsafe { file.append(items.as_ptr().cast(), size_of_val(items)) }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.held {
            Held::Memory(items) => items,
            // SAFETY: so many items were appended, by this process; nobody else has the file.
            Held::File(file) => unsafe {
                std::slice::from_raw_parts(file.begin().as_ptr().cast(), items::<T>(file))
            },
        }
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.held {
            Held::Memory(items) => items,
            // SAFETY: as above; who has the list to itself has the file to itself.
            Held::File(file) => unsafe {
                std::slice::from_raw_parts_mut(file.begin().as_ptr().cast(), items::<T>(file))
            },
        }
    }
}

impl<T: Copy> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

/// Items in a file.
fn items<T>(file: &Mapped) -> usize {
    file.len() / size_of::<T>()
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
            for n in 0..20_000u64 {
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
        assert_eq!((long.len(), long[2], long[3]), (16_333, 4, 7));
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
