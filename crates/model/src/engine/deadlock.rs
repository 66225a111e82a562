//! Finding those who can never go on, and saying who holds what.
//!
//! Whoever runs, waits for time or for service can go on. Whoever waits for a resource can if one of its holders can;
//! for a reply, if the thread that serves the job can, or, while the job is queued, if any thread of the pool can; for
//! branches, if one of them can. What is left over when nothing more follows from this is dead.

use super::{Duty, Engine, Role, Waiting};
use crate::model::ResourceKind;
use std::fmt;

/// Those who can never go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Deadlock {
    /// Simulated time at which it was found, in seconds.
    pub at: f64,
    /// One sentence for each: who, what it holds, what it waits for and who has that.
    pub stuck: Vec<String>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock at {:.6} s", self.at)?;
        for line in &self.stuck {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

impl Engine<'_> {
    /// Looks for acts that can never go on. Idle threads are not stuck; nobody waits for them.
    pub fn find_deadlock(&self) -> Option<Deadlock> {
        let n = self.acts.len();
        let mut serving = vec![None; self.jobs.len()];
        for (i, act) in self.acts.iter().enumerate() {
            if matches!(act.role, Role::Worker { .. })
                && act.duty == Duty::Serving
                && act.job != super::NONE
            {
                serving[act.job as usize] = Some(i);
            }
        }
        let mut alive = vec![false; n];
        loop {
            let mut changed = false;
            for i in 0..n {
                if !alive[i] && self.can_go_on(i, &alive, &serving) {
                    alive[i] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let dead: Vec<usize> = (0..n)
            .filter(|&i| {
                !alive[i]
                    && self.acts[i as u32].role != Role::Free
                    && self.acts[i as u32].waiting != Waiting::Idle
            })
            .collect();
        // Clients that wait are the consequence; threads and holders are the cause, and are named first.
        let mut named: Vec<usize> = dead
            .iter()
            .copied()
            .filter(|&i| self.acts[i as u32].role != Role::Client || !self.held_by(i).is_empty())
            .collect();
        if named.is_empty() {
            named = dead;
        }
        if named.is_empty() {
            return None;
        }
        let more = named.len().saturating_sub(12);
        let mut stuck: Vec<String> = named
            .iter()
            .take(12)
            .map(|&i| self.describe(i, &serving))
            .collect();
        if more > 0 {
            stuck.push(format!("and {more} more"));
        }
        Some(Deadlock {
            at: self.now.seconds(),
            stuck,
        })
    }

    fn can_go_on(&self, i: usize, alive: &[bool], serving: &[Option<usize>]) -> bool {
        let act = &self.acts[i as u32];
        if act.patience.is_some() && act.waiting != Waiting::Idle {
            return true;
        }
        match act.waiting {
            Waiting::Nothing => act.role != Role::Free,
            Waiting::Delay | Waiting::Station(_) => true,
            Waiting::Idle => false,
            // While anything can still happen, it may notify.
            Waiting::Condition(_) => !self.calendar.is_empty(),
            // Anybody may give back a semaphore's units while anything can still happen.
            Waiting::Resource(r)
                if self.model.resources[r as usize].kind == ResourceKind::Semaphore =>
            {
                !self.calendar.is_empty()
            }
            Waiting::Resource(r) => {
                let holders = &self.resources[r as usize].holders;
                holders.is_empty()
                    || holders
                        .iter()
                        .any(|h| alive[h.act as usize] || self.acts[h.act].role == Role::Free)
            }
            Waiting::Reply(job) => match serving[job as usize] {
                Some(thread) => alive[thread],
                None => self.pool_lives(
                    self.model.entries[self.jobs[job].entry as usize].pool,
                    alive,
                ),
            },
            Waiting::Place(pool) => self.pool_lives(pool as usize, alive),
            Waiting::Join => self.acts.iter().enumerate().any(|(b, other)| {
                matches!(other.role, Role::Branch { parent, generation }
                    if parent as usize == i && generation == act.generation)
                    && alive[b]
            }),
        }
    }

    fn pool_lives(&self, pool: usize, alive: &[bool]) -> bool {
        let p = &self.pools[pool];
        p.threads < self.model.pools[pool].max_threads
            || p.starting > 0
            || self.acts.iter().enumerate().any(|(i, act)| {
                matches!(act.role, Role::Worker { pool: own, .. } if own as usize == pool)
                    && (alive[i] || act.waiting == Waiting::Idle)
            })
    }

    fn held_by(&self, act: usize) -> Vec<&str> {
        (0..self.resources.len())
            .filter(|&r| {
                self.resources[r]
                    .holders
                    .iter()
                    .any(|h| h.act as usize == act)
            })
            .map(|r| self.model.resources[r].name.as_str())
            .collect()
    }

    fn name(&self, i: usize) -> String {
        let act = &self.acts[i as u32];
        match act.role {
            Role::Client => format!(
                "client {} ({})",
                act.client, self.model.classes[act.class as usize].name
            ),
            Role::Worker { pool, .. } => {
                format!("thread {i} of {}", self.model.pools[pool as usize].name)
            }
            Role::Branch { parent, .. } => format!("branch {i} of {}", self.name(parent as usize)),
            Role::Collector(heap) => {
                format!("collector of {}", self.model.heaps[heap as usize].name)
            }
            Role::Marker(heap) => format!("marker of {}", self.model.heaps[heap as usize].name),
            Role::Free => "nobody".into(),
        }
    }

    fn describe(&self, i: usize, serving: &[Option<usize>]) -> String {
        let held = self.held_by(i);
        let holds = if held.is_empty() {
            String::new()
        } else {
            format!(" holds {} and", held.join(", "))
        };
        let waits = match self.acts[i as u32].waiting {
            Waiting::Resource(r) => {
                let holders: Vec<String> = self.resources[r as usize]
                    .holders
                    .iter()
                    .take(4)
                    .map(|h| self.name(h.act as usize))
                    .collect();
                format!(
                    "{}, held by {}",
                    self.model.resources[r as usize].name,
                    holders.join(", ")
                )
            }
            Waiting::Reply(job) => {
                let entry = &self.model.entries[self.jobs[job].entry as usize].name;
                match serving[job as usize] {
                    Some(thread) => {
                        format!("the reply of {entry}, served by {}", self.name(thread))
                    }
                    None => {
                        format!("the reply of {entry}, which is queued while all its threads wait")
                    }
                }
            }
            Waiting::Condition(c) => {
                format!("a notification of {}", self.model.conditions[c as usize])
            }
            Waiting::Place(pool) => format!(
                "a place in the queue of {}",
                self.model.pools[pool as usize].name
            ),
            Waiting::Join => "its branches".into(),
            Waiting::Nothing | Waiting::Delay | Waiting::Station(_) | Waiting::Idle => {
                "nothing".into()
            }
        };
        format!("{}{holds} waits for {waits}", self.name(i))
    }
}
