//! The event calendar: what happens next.
//!
//! Events leave in the order of (time, rank, sequence): of two at the same instant the one of lower rank first, of two
//! of the same rank the one scheduled first. That makes a run a function of its model and seed alone.
//!
//! An implicit 4-ary heap of keys over a slab of payloads; each slab entry knows where its key lies, so cancelling and
//! moving an event are O(log n) like scheduling and taking the next. A [`Handle`] is valid until its event was taken or
//! cancelled; its owner forgets it then (slots are reused).
//!
//! The same heap orders the jobs of a processor-sharing server by attained service.

use crate::time::Time;

const ARITY: usize = 4;

/// A scheduled event, for cancelling or moving it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(u32);

#[derive(Clone, Copy)]
struct Key {
    at: u64,
    order: u64,
    slot: u32,
}

impl Key {
    #[inline]
    fn before(&self, other: &Key) -> bool {
        self.at < other.at || (self.at == other.at && self.order < other.order)
    }
}

struct Slot<E> {
    position: u32,
    event: E,
}

/// Events in the order in which they happen.
pub struct Calendar<E> {
    heap: Vec<Key>,
    slots: Vec<Slot<E>>,
    free: Vec<u32>,
    sequence: u64,
}

impl<E: Copy> Default for Calendar<E> {
    fn default() -> Self {
        Calendar {
            heap: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            sequence: 0,
        }
    }
}

impl<E: Copy> Calendar<E> {
    /// How many events are scheduled.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The instant of the next event.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        self.heap.first().map(|k| Time(k.at))
    }

    /// Schedules `event`; among events of the same instant those of lower `rank` leave first.
    #[inline]
    pub fn schedule(&mut self, at: Time, rank: u8, event: E) -> Handle {
        self.sequence += 1;
        let position = self.heap.len();
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Slot {
                    position: position as u32,
                    event,
                };
                slot
            }
            None => {
                self.slots.push(Slot {
                    position: position as u32,
                    event,
                });
                (self.slots.len() - 1) as u32
            }
        };
        self.heap.push(Key {
            at: at.0,
            order: u64::from(rank) << 56 | self.sequence,
            slot,
        });
        self.sift_up(position);
        Handle(slot)
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let top = *self.heap.first()?;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.heap[0] = last;
            self.sift_down(0);
        }
        self.free.push(top.slot);
        Some((Time(top.at), self.slots[top.slot as usize].event))
    }

    /// Takes an event out before its time.
    pub fn cancel(&mut self, handle: Handle) -> E {
        let position = self.slots[handle.0 as usize].position as usize;
        let last = self.heap.len() - 1;
        self.heap.swap_remove(position);
        if position < last {
            self.slots[self.heap[position].slot as usize].position = position as u32;
            self.restore(position);
        }
        self.free.push(handle.0);
        self.slots[handle.0 as usize].event
    }

    /// Moves an event to another instant, as if it were scheduled now.
    #[inline]
    pub fn reschedule(&mut self, handle: Handle, at: Time) {
        self.sequence += 1;
        let position = self.slots[handle.0 as usize].position as usize;
        let key = &mut self.heap[position];
        key.at = at.0;
        key.order = key.order >> 56 << 56 | self.sequence;
        self.restore(position);
    }

    fn restore(&mut self, position: usize) {
        if position > 0 && self.heap[position].before(&self.heap[(position - 1) / ARITY]) {
            self.sift_up(position);
        } else {
            self.sift_down(position);
        }
    }

    #[inline]
    fn sift_up(&mut self, mut position: usize) {
        let key = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / ARITY;
            if !key.before(&self.heap[parent]) {
                break;
            }
            let moved = self.heap[parent];
            self.heap[position] = moved;
            self.slots[moved.slot as usize].position = position as u32;
            position = parent;
        }
        self.heap[position] = key;
        self.slots[key.slot as usize].position = position as u32;
    }

    #[inline]
    fn sift_down(&mut self, mut position: usize) {
        let key = self.heap[position];
        let len = self.heap.len();
        loop {
            let first = position * ARITY + 1;
            if first >= len {
                break;
            }
            let mut least = first;
            for child in first + 1..(first + ARITY).min(len) {
                if self.heap[child].before(&self.heap[least]) {
                    least = child;
                }
            }
            if !self.heap[least].before(&key) {
                break;
            }
            let moved = self.heap[least];
            self.heap[position] = moved;
            self.slots[moved.slot as usize].position = position as u32;
            position = least;
        }
        self.heap[position] = key;
        self.slots[key.slot as usize].position = position as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn simultaneous_events_leave_by_rank_and_then_in_the_order_they_were_scheduled() {
        let mut calendar = Calendar::default();
        calendar.schedule(Time(5), 1, 'c');
        calendar.schedule(Time(5), 0, 'a');
        calendar.schedule(Time(5), 0, 'b');
        calendar.schedule(Time(4), 9, 'x');
        let order: String = std::iter::from_fn(|| calendar.pop())
            .map(|(_, e)| e)
            .collect();
        assert_eq!(order, "xabc");
    }

    #[test]
    fn a_moved_event_goes_behind_those_already_at_its_new_instant() {
        let mut calendar = Calendar::default();
        let moved = calendar.schedule(Time(1), 0, 'm');
        calendar.schedule(Time(2), 0, 'n');
        calendar.reschedule(moved, Time(2));
        assert_eq!(calendar.pop(), Some((Time(2), 'n')));
        assert_eq!(calendar.pop(), Some((Time(2), 'm')));
        assert!(calendar.is_empty());
    }

    proptest! {
        /// Against a sorted list: any mixture of scheduling, cancelling, moving and taking.
        #[test]
        fn it_agrees_with_a_sorted_list(steps in prop::collection::vec((0u8..4, 0u64..50, 0usize..64), 1..200)) {
            let mut calendar = Calendar::default();
            let mut list: Vec<(u64, u64, u32, Handle)> = Vec::new();
            let mut order = 0;
            for (i, (what, at, which)) in steps.into_iter().enumerate() {
                order += 1;
                match what {
                    0 | 1 => {
                        let handle = calendar.schedule(Time(at), 0, i as u32);
                        list.push((at, order, i as u32, handle));
                    }
                    2 if !list.is_empty() => {
                        let index = which % list.len();
                        let (_, _, event, handle) = list.swap_remove(index);
                        prop_assert_eq!(calendar.cancel(handle), event);
                    }
                    3 if !list.is_empty() => {
                        let index = which % list.len();
                        list[index].0 = at;
                        list[index].1 = order;
                        calendar.reschedule(list[index].3, Time(at));
                    }
                    _ => {}
                }
                prop_assert_eq!(calendar.len(), list.len());
            }
            list.sort_by_key(|&(at, order, ..)| (at, order));
            for (at, _, event, _) in list {
                prop_assert_eq!(calendar.pop(), Some((Time(at), event)));
            }
            prop_assert_eq!(calendar.pop(), None);
        }
    }
}
