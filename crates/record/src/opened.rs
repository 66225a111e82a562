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
    /// Of the inode: its number may be used again.
    generation: u64,
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
fn decode([fd, is_socket, inode, device, generation, operations]: [u64; 6]) -> Opened {
    Opened {
        fd: fd as i32,
        is_socket: is_socket != 0,
        inode,
        device,
        generation,
        operations,
    }
}
