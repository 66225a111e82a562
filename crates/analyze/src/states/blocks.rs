//! States as they come, of all threads, put together by thread in the end.
//!
//! Invariant: the blocks of a thread follow each other in the order of time.

use crate::bounded::{Grouped, List, Room};
use crate::model::Interval;

/// States of one thread that follow each other are kept together, so many at a time: 5 KiB for each thread that lives.
/// With fewer, gathering a thread's at the end jumps more often.
pub const BLOCK: usize = 128;
/// After so many blocks their pages are let go; a look at one may map 64 KiB around it.
const LET_GO_AFTER: usize = 256;

/// States of all threads, a block of one thread's after another.
pub struct Blocks {
    states: List<Interval>,
    /// Of each block, its thread's number and its begin in `states`.
    begins: Vec<(u32, usize)>,
}

impl Blocks {
    /// None yet.
    pub fn new(room: &Room) -> Blocks {
        Blocks {
            states: List::new(room),
            begins: Vec::new(),
        }
    }

    /// Takes what there is of a thread, and leaves it empty.
    pub fn take(&mut self, number: u32, states: &mut Vec<Interval>) {
        if !states.is_empty() {
            self.begins.push((number, self.states.len()));
            self.states.extend_from_slice(states);
            states.clear();
        }
    }

    /// Puts them together by thread, in the order of these numbers.
    pub fn by_thread(self, room: &Room, numbers: impl Iterator<Item = u32>) -> Grouped<Interval> {
        let ends = self.begins.iter().skip(1).map(|b| b.1);
        let ends = ends.chain([self.states.len()]);
        let mut blocks: Vec<(u32, usize, usize)> = (self.begins.iter().zip(ends))
            .map(|(&(number, begin), end)| (number, begin, end))
            .collect();
        blocks.sort_unstable();
        let mut grouped = Grouped::new(room);
        let mut copied = 0;
        for number in numbers {
            grouped.begin();
            let from = blocks.partition_point(|b| b.0 < number);
            for &(_, begin, end) in blocks[from..].iter().take_while(|b| b.0 == number) {
                grouped.extend_from_slice(&self.states[begin..end]);
                copied += 1;
                if copied % LET_GO_AFTER == 0 {
                    self.states.let_go();
                }
            }
        }
        grouped
    }
}
