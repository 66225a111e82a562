//! Frames of call stacks in the agent's spool: chunks of kind 3, which like those of strings stay when a ring goes round.
//!
//! ```text
//! frame (24 bytes)    u32 id; u32 parent; u32 name; u32 file; i32 line; u32 kind
//! ```
//!
//! A frame is written once, below its caller's (`parent`; 0 for the outermost), whose id is smaller: so a stack is named
//! by its innermost frame, and two stacks share what they have in common. `id` counts from 1 and is stored last, with
//! release order: 0 ends a chunk. `name` (`package.Class.method`) and `file` are ids of strings; `line` is 0 if it is
//! not known; what stands for a frame that is no method has a name that begins with a parenthesis. `kind` is 0 of these and of methods,
//! 1 of a function of a library (`name` its symbol, or the library's if it has none; `file` the library), 2 of the kernel. The upper half of an
//! end's `b` names the stack of the wait that ended, see [`of_wait`]; that of a sample's, what ran; that of an allocation's, what allocated.

use super::agent::{EVENT, kind as ev};

/// Size of a frame.
pub const SIZE: usize = 24;

/// A frame of a stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    /// From 1.
    pub id: u32,
    /// The caller's, smaller; 0: it is the outermost.
    pub parent: u32,
    /// String id of `package.Class.method`.
    pub name: u32,
    /// String id of the source file, or 0.
    pub file: u32,
    /// Line in it, or 0.
    pub line: i32,
    /// A method (0), [`NATIVE`] or [`KERNEL`].
    pub kind: u32,
}

/// Of a frame: a function of a library.
pub const NATIVE: u32 = 1;
/// Of a frame: a system call.
pub const KERNEL: u32 = 2;

/// The stack that the end of a wait names; 0 if none was taken.
pub fn of_wait(kind: u32, b: u64) -> u32 {
    match kind {
        ev::MONITOR_ENTERED | ev::MONITOR_WAITED | ev::UNPARKED | ev::MOUNT => (b >> 32) as u32,
        _ => 0,
    }
}

/// The stack of a sample, and the CPU time that it stands for in ns.
pub fn of_sample(b: u64) -> (u32, i64) {
    ((b >> 32) as u32, i64::from(b as u32) * 1_000)
}

/// The stack of a sample of an allocation, and the object's size in bytes.
pub fn of_allocation(b: u64) -> (u32, i64) {
    ((b >> 32) as u32, i64::from(b as u32) * 8)
}

/// Where the finished frames of a chunk end; `id` reads the word at an offset.
pub fn end(length: usize, id: impl Fn(usize) -> u32) -> usize {
    let mut at = EVENT;
    while at + SIZE <= length && id(at) != 0 {
        at += SIZE;
    }
    at
}

/// The frames of a chunk. One whose parent is not before it (the spool is not ours to trust) is taken for an outermost one.
pub(super) fn read(chunk: &[u8], frames: &mut Vec<Frame>) {
    let word = |at: usize| u32::from_le_bytes(chunk[at..at + 4].try_into().expect("4 bytes"));
    for at in (EVENT..end(chunk.len(), word)).step_by(SIZE) {
        let (id, parent) = (word(at), word(at + 4));
        frames.push(Frame {
            id,
            parent: if parent < id { parent } else { 0 },
            name: word(at + 8),
            file: word(at + 12),
            line: word(at + 16) as i32,
            kind: word(at + 20),
        });
    }
}

/// A frame as it lies in a chunk.
pub fn bytes(frame: &Frame) -> [u8; SIZE] {
    let mut out = [0; SIZE];
    let words = [
        frame.id,
        frame.parent,
        frame.name,
        frame.file,
        frame.line as u32,
        frame.kind,
    ];
    for (word, to) in words.iter().zip(out.chunks_exact_mut(4)) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::agent::CHUNK;

    fn chunk(frames: &[Frame]) -> Vec<u8> {
        let mut chunk = vec![0; EVENT];
        chunk.extend(frames.iter().flat_map(bytes));
        chunk.resize(CHUNK, 0);
        chunk
    }

    #[test]
    fn frames_are_read_up_to_the_first_that_was_not_finished() {
        let frame = |id, parent| Frame {
            id,
            parent,
            name: 7,
            file: 8,
            line: -1,
            kind: NATIVE,
        };
        let (outer, inner) = (frame(1, 0), frame(2, 1));
        let mut read_back = Vec::new();
        read(
            &chunk(&[outer, inner, frame(0, 2), frame(3, 2)]),
            &mut read_back,
        );
        assert_eq!(read_back, [outer, inner]);
    }

    #[test]
    fn a_full_chunk_is_read_to_its_last_whole_frame() {
        let fits = (CHUNK - EVENT) / SIZE;
        let all: Vec<Frame> = (1..=fits as u32)
            .map(|id| Frame {
                id,
                parent: id - 1,
                ..Frame::default()
            })
            .collect();
        let mut read_back = Vec::new();
        read(&chunk(&all), &mut read_back);
        assert_eq!(read_back.len(), fits);
    }

    #[test]
    fn a_frame_whose_parent_is_not_before_it_has_none() {
        let torn = [(1, 1), (2, 9)].map(|(id, parent)| Frame {
            id,
            parent,
            ..Frame::default()
        });
        let mut read_back = Vec::new();
        read(&chunk(&torn), &mut read_back);
        assert!(read_back.iter().all(|f| f.parent == 0), "{read_back:?}");
    }

    #[test]
    fn only_ends_of_waits_name_a_stack() {
        let b = 5 << 32 | 1;
        assert_eq!(of_wait(ev::MONITOR_WAITED, b), 5);
        assert_eq!(of_wait(ev::PARK, b), 0, "its owner");
    }
}
