//! Acts: whoever executes a program, in slots that are used again.
//!
//! What always holds: a slot that nobody uses has [`Role::Free`]; its generation is raised when it becomes free, so that who
//! remembers an act by slot and generation sees that it is gone.

use super::NONE;
use super::kept::Kept;
use super::program::{LOOPS, PHASES};
use crate::calendar::Handle;
use crate::time::{Nanos, Time};
use std::ops::{Index, IndexMut};

/// What an act waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Nothing: it is ready, or has a core or wants one.
    Nothing,
    /// Time.
    Delay,
    /// A station's service.
    Station(u32),
    /// The reply to a job.
    Reply(u32),
    /// A resource.
    Resource(u32),
    /// A notification.
    Condition(u32),
    /// Its branches.
    Join,
    /// A place in a pool's queue.
    Place(u32),
    /// A job (threads).
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Worker {
        pool: u32,
        lane: u32,
    },
    Branch {
        parent: u32,
        generation: u32,
    },
    Collector(u32),
    /// Of a heap's collector, the thread that marks beside the application.
    Marker(u32),
    /// A slot nobody uses.
    Free,
}

/// Where a thread is with respect to its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// Waits for a job, or takes the next.
    Between,
    /// Executes a job's program.
    Serving,
    /// Burns the CPU of its own creation.
    Starting,
    /// Burns the CPU of its own end.
    Ending,
}

pub(super) struct Act {
    pub role: Role,
    pub duty: Duty,
    pub generation: u32,
    pub pc: u32,
    pub class: u32,
    pub source: u32,
    pub client: u32,
    pub thread: u32,
    pub job: u32,
    pub waiting: Waiting,
    pub failed: bool,
    /// Whether it has used the CPU that waking a thread for its present job costs.
    pub paid: bool,
    pub retries: u32,
    /// Requests that a client has made.
    pub made: u32,
    pub joins: u32,
    pub depth: u8,
    pub phase: u8,
    pub loops: [u32; LOOPS],
    pub phases: [Time; PHASES],
    /// Connections of a client, once it has any.
    pub kept: Vec<Kept>,
    /// When its request began (clients), or when it took its job (threads).
    pub began: Time,
    /// When the present wait began.
    pub mark: Time,
    /// How long the present visit was served (sharing stations: demand).
    pub demand: Nanos,
    pub tag: f64,
    pub timer: Option<Handle>,
    pub patience: Option<Handle>,
    pub deadline: Option<Handle>,
}

/// All acts of a run.
#[derive(Default)]
pub(super) struct Acts {
    slots: Vec<Act>,
    free: Vec<u32>,
}

impl Acts {
    /// A new act, which has nothing yet and waits for nothing; its program, class and client are the caller's to say.
    pub(super) fn create(&mut self, role: Role, now: Time) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Act::empty());
            (self.slots.len() - 1) as u32
        });
        let act = &mut self[id];
        act.role = role;
        act.duty = Duty::Between;
        act.waiting = Waiting::Nothing;
        act.failed = false;
        act.paid = false;
        act.retries = 0;
        act.made = 0;
        act.kept.clear();
        act.depth = 0;
        act.phase = 0;
        act.thread = NONE;
        act.job = NONE;
        act.began = now;
        id
    }

    /// Its slot may be used again.
    pub(super) fn free(&mut self, id: u32) {
        let act = &mut self[id];
        act.role = Role::Free;
        act.generation = act.generation.wrapping_add(1);
        self.free.push(id);
    }

    /// Slots, free ones too.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// All slots in order, free ones too.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Act> {
        self.slots.iter()
    }
}

impl Index<u32> for Acts {
    type Output = Act;

    #[inline]
    fn index(&self, id: u32) -> &Act {
        &self.slots[id as usize]
    }
}

impl IndexMut<u32> for Acts {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Act {
        &mut self.slots[id as usize]
    }
}

impl Act {
    fn empty() -> Act {
        Act {
            role: Role::Free,
            duty: Duty::Between,
            generation: 0,
            pc: 0,
            class: 0,
            source: NONE,
            client: 0,
            thread: NONE,
            job: NONE,
            waiting: Waiting::Nothing,
            failed: false,
            paid: false,
            retries: 0,
            made: 0,
            joins: 0,
            depth: 0,
            phase: 0,
            loops: [0; LOOPS],
            phases: [Time::ZERO; PHASES],
            kept: Vec::new(),
            began: Time::ZERO,
            mark: Time::ZERO,
            demand: Nanos::ZERO,
            tag: 0.0,
            timer: None,
            patience: None,
            deadline: None,
        }
    }
}
