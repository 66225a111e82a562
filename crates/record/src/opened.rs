//! What the target's descriptors lead to, as the kernel level's programs list it.

use crate::walk::Walk;

/// One descriptor, and what tells the file behind it from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Its number.
    pub fd: i32,
    /// Whether it is a socket, whose name is its inode's number.
    pub is_socket: bool,
    /// Of the file.
    pub inode: u64,
    /// Where the inode is.
    device: u64,
    /// What the kernel does for it: files without a name share an inode.
    operations: u64,
}

/// Who lists them; `None` if that failed.
pub type Listed = Box<dyn Fn() -> Option<Vec<Opened>>>;

/// Takes them from this walk.
pub fn listed_by(walk: Walk) -> Listed {
    Box::new(move || Some(walk.all()?.into_iter().map(decode).collect()))
}

/// `struct opened` of `kernel.bpf.c`.
fn decode([descriptor, inode, device, operations]: [u64; 4]) -> Opened {
    let [fd, is_socket]: [u32; 2] = halves(descriptor);
    Opened {
        fd: fd as i32,
        is_socket: is_socket != 0,
        inode,
        device,
        operations,
    }
}

/// The two fields of half a word, in the order in which they lie in memory.
fn halves(word: u64) -> [u32; 2] {
    match cfg!(target_endian = "little") {
        true => [word as u32, (word >> 32) as u32],
        false => [(word >> 32) as u32, word as u32],
    }
}
