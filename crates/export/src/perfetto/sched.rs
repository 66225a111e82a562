//! From states of threads to what a kernel's tracer would have written: context switches and wake-ups.
//!
//! What of one moment belongs together arrives in any order: who leaves a CPU, and who comes. It is gathered per CPU and
//! becomes one switch when the moment is over.

use std::collections::{BTreeMap, HashMap};

use crate::timeline::STATES;
use loadline_trace::tables::names;

/// `prev_state` of a switch, in the bits of `include/linux/sched.h` since 4.14.
pub mod left {
    pub const RUNNABLE: u64 = 0;
    pub const INTERRUPTIBLE: u64 = 1;
    pub const UNINTERRUPTIBLE: u64 = 2;
    pub const DEAD: u64 = 16;
}

/// What the kernel's tracer would have written. `None` for a thread is none of the trace: idle, or another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sched {
    Switch {
        ts: i64,
        cpu: i64,
        prev: Option<i64>,
        left: u64,
        next: Option<i64>,
    },
    Waking {
        ts: i64,
        cpu: i64,
        waker: Option<i64>,
        woken: i64,
    },
}

/// Where a thread was last.
#[derive(Debug, Clone, Copy)]
struct Last {
    state: i64,
    cpu: Option<i64>,
}

/// Who leaves a CPU and who comes, in this moment.
#[derive(Debug, Default, Clone, Copy)]
struct Change {
    out: Option<(i64, u64)>,
    into: Option<i64>,
}

/// The state machine.
#[derive(Debug, Default)]
pub struct Machine {
    now: i64,
    on: HashMap<i64, i64>,
    last: HashMap<i64, Last>,
    changes: BTreeMap<i64, Change>,
    /// Who woke a thread in this moment.
    wakers: HashMap<i64, i64>,
}

fn code(state: &str) -> i64 {
    STATES
        .iter()
        .position(|s| *s == state)
        .map_or(0, |i| i as i64 + 1)
}

impl Machine {
    /// Time went on to `ts`: what belongs to the moment before is complete.
    pub fn advance(&mut self, ts: i64, emit: &mut impl FnMut(Sched)) {
        if ts == self.now {
            return;
        }
        self.wakers.clear();
        for (cpu, change) in std::mem::take(&mut self.changes) {
            let here = self.on.get(&cpu).copied();
            // Who is replaced without having left: an event was lost.
            let (prev, left) = match change.out {
                Some((thread, left)) => (Some(thread), left),
                None => (here, left::RUNNABLE),
            };
            match change.into {
                Some(thread) => self.on.insert(cpu, thread),
                None => self.on.remove(&cpu),
            };
            if prev != change.into {
                emit(Sched::Switch {
                    ts: self.now,
                    cpu,
                    prev,
                    left,
                    next: change.into,
                });
            }
        }
        self.now = ts;
    }

    /// A thread wakes another one now.
    pub fn wakes(&mut self, waker: i64, woken: i64) {
        self.wakers.insert(woken, waker);
    }

    /// A thread's next state begins now; `cpu` if it runs.
    pub fn state(
        &mut self,
        thread: i64,
        state: i64,
        cpu: Option<i64>,
        emit: &mut impl FnMut(Sched),
    ) {
        let cpu = cpu.filter(|_| state == code(names::RUNNING));
        let before = self.last.insert(thread, Last { state, cpu });
        let left = match STATES.get((state - 1) as usize) {
            Some(&names::BLOCKED) | Some(&names::UNKNOWN) => left::INTERRUPTIBLE,
            Some(&names::UNINTERRUPTIBLE) => left::UNINTERRUPTIBLE,
            _ => left::RUNNABLE,
        };
        let ran_on = before.and_then(|b| b.cpu);
        if ran_on == cpu && cpu.is_some() {
            return; // it runs on: only the cause is another
        }
        if let Some(cpu) = ran_on {
            self.changes.entry(cpu).or_default().out = Some((thread, left));
        }
        if let Some(cpu) = cpu {
            self.changes.entry(cpu).or_default().into = Some(thread);
        }
        let slept = before.is_some_and(|b| {
            b.state == code(names::BLOCKED) || b.state == code(names::UNINTERRUPTIBLE)
        });
        if slept && (state == code(names::RUNNABLE) || cpu.is_some()) {
            let waker = self.wakers.get(&thread).copied();
            let at = waker.and_then(|w| self.last.get(&w)?.cpu).unwrap_or(0);
            emit(Sched::Waking {
                ts: self.now,
                cpu: at,
                waker,
                woken: thread,
            });
        }
    }

    /// A thread ended now.
    pub fn exit(&mut self, thread: i64) {
        if let Some(Last { cpu: Some(cpu), .. }) = self.last.remove(&thread) {
            self.changes.entry(cpu).or_default().out = Some((thread, left::DEAD));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNNING: i64 = 1;
    const RUNNABLE: i64 = 2;
    const BLOCKED: i64 = 4;

    fn run(steps: &[(i64, i64, i64, Option<i64>)]) -> Vec<Sched> {
        let mut machine = Machine::default();
        let mut seen = Vec::new();
        for (ts, thread, state, cpu) in steps {
            machine.advance(*ts, &mut |s| seen.push(s));
            machine.state(*thread, *state, *cpu, &mut |s| seen.push(s));
        }
        machine.advance(i64::MAX, &mut |s| seen.push(s));
        seen
    }

    fn switch(ts: i64, prev: Option<i64>, left: u64, next: Option<i64>) -> Sched {
        Sched::Switch {
            ts,
            cpu: 0,
            prev,
            left,
            next,
        }
    }

    #[test]
    fn who_leaves_and_who_comes_in_one_moment_is_one_switch_in_either_order() {
        let begin = [(1, 7, RUNNING, Some(0))];
        let out = (5, 7, BLOCKED, None);
        let into = (5, 8, RUNNING, Some(0));
        let want = [
            switch(1, None, left::RUNNABLE, Some(7)),
            switch(5, Some(7), left::INTERRUPTIBLE, Some(8)),
        ];
        assert_eq!(run(&[begin[0], out, into]), want);
        assert_eq!(run(&[begin[0], into, out]), want);
    }

    #[test]
    fn a_cpu_that_nobody_of_the_trace_takes_goes_to_others() {
        let seen = run(&[(1, 7, RUNNING, Some(0)), (5, 7, RUNNABLE, None)]);
        assert_eq!(seen[1], switch(5, Some(7), left::RUNNABLE, None));
    }

    #[test]
    fn who_slept_was_woken() {
        let seen = run(&[(1, 7, BLOCKED, None), (5, 7, RUNNABLE, None)]);
        let want = Sched::Waking {
            ts: 5,
            cpu: 0,
            waker: None,
            woken: 7,
        };
        assert_eq!(seen, [want]);
    }

    #[test]
    fn a_change_of_cause_is_no_switch() {
        let seen = run(&[(1, 7, RUNNING, Some(0)), (3, 7, RUNNING, Some(0))]);
        assert_eq!(seen, [switch(1, None, left::RUNNABLE, Some(7))]);
    }
}
