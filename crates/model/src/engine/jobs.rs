//! Jobs: requests to entries of pools, from being sent until a thread has ended them, in slots that are used again.

use crate::calendar::Handle;
use crate::time::Time;
use std::ops::{Index, IndexMut};

pub(super) struct Job {
    pub entry: u32,
    pub class: u32,
    pub client: u32,
    pub reply_to: u32,
    pub reply_generation: u32,
    pub sent: Time,
    pub taken: Time,
    pub first_phase_over: bool,
    pub patience: Option<Handle>,
}

/// All jobs of a run.
#[derive(Default)]
pub(super) struct Jobs {
    slots: Vec<Job>,
    free: Vec<u32>,
}

impl Jobs {
    pub(super) fn create(&mut self, job: Job) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self[id] = job;
                id
            }
            None => {
                self.slots.push(job);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Its slot may be used again.
    pub(super) fn free(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Slots, free ones too.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}

impl Index<u32> for Jobs {
    type Output = Job;

    #[inline]
    fn index(&self, id: u32) -> &Job {
        &self.slots[id as usize]
    }
}

impl IndexMut<u32> for Jobs {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Job {
        &mut self.slots[id as usize]
    }
}
