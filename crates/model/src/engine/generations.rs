//! Generations of a heap, as the G1 collector of JDK 11 to 25 treats them: what outlives a collection, what becomes old, when
//! the old generation is marked, and how much may be allocated until the next collection.
//!
//! What is held (by a connection, as long as it is open) is copied by each collection until it has outlived as many as the
//! survivor spaces allow, or they are full; then it is old, and once let go it is garbage that only marking finds. So a server
//! that allocates faster collects more often, more of what it collects is still held, less of the heap is left to allocate in,
//! and it collects more often still: collections grow faster than the load.
//!
//! What always holds: what is held and young, what is held and old, and what is garbage and old are all that outlived the
//! last collection.

use std::collections::VecDeque;

use crate::model::Aging;

/// Of the heap: kept free (`G1ReservePercent`), never worth collecting (`G1HeapWastePercent`), the least that is young
/// (`G1NewSizePercent`).
const RESERVE: f64 = 0.10;
const WASTE: f64 = 0.05;
const LEAST_YOUNG: f64 = 0.05;
/// Of what is young, one part in so many is for survivors (`SurvivorRatio`), and so much of that is to be used
/// (`TargetSurvivorRatio`).
const SURVIVOR_RATIO: f64 = 8.0;
const TARGET_SURVIVOR: f64 = 0.5;
/// Collections that something outlives at most before it is old (`MaxTenuringThreshold`).
const MOST_AGES: usize = 15;
/// Room for what is copied, over what it was last time (`G1ConfidencePercent`, `TargetPLABWastePct`).
const SAFETY: f64 = 2.2;
/// Collections after marking that take old regions as well, with as little young as can be. It may be up to eight
/// (`G1MixedGCCountTarget`); where a pause's goal is not in the way it takes two.
const MIXED: u32 = 2;

/// What was allocated between two collections and is held: bytes, by how many holders, and the part of it that is old.
#[derive(Debug, Clone, Copy, Default)]
struct Cohort {
    bytes: f64,
    holders: u32,
    old: f64,
}

impl Cohort {
    fn young(&self) -> f64 {
        // Sums of many additions and subtractions may end a little below 0.
        (self.bytes * (1.0 - self.old)).max(0.0)
    }
}

/// A piece of the heap that somebody holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    cohort: u64,
    bytes: f64,
}

/// The generations of one heap.
#[derive(Debug)]
pub(super) struct Generations {
    most: f64,
    young: f64,
    /// Oldest first; the last is that of what is allocated now.
    cohorts: VecDeque<Cohort>,
    /// How many cohorts came before the first.
    gone: u64,
    /// Held in the old generation, and garbage in it.
    old: f64,
    garbage: f64,
    /// Age from which on something becomes old.
    threshold: usize,
    /// What may be allocated until the next collection.
    eden: f64,
    /// Garbage that marking has found or will find; `None` when nothing is marked.
    marking: Option<f64>,
    mixed: u32,
}

impl Generations {
    pub(super) fn new(aging: &Aging, young: f64) -> Generations {
        Generations {
            most: aging.most,
            young,
            cohorts: VecDeque::from([Cohort::default()]),
            gone: 0,
            old: aging.old,
            garbage: 0.0,
            threshold: MOST_AGES,
            eden: young,
            marking: None,
            mixed: 0,
        }
    }

    /// What may be allocated between the last collection and the next.
    pub(super) fn eden(&self) -> f64 {
        self.eden
    }

    /// Share of the heap that is in use once it is collected.
    pub(super) fn occupied(&self) -> f64 {
        (self.old + self.garbage + self.survivors()) / self.most
    }

    fn survivors(&self) -> f64 {
        self.cohorts.iter().map(Cohort::young).sum()
    }

    /// Somebody allocates these bytes, and holds them.
    pub(super) fn hold(&mut self, bytes: f64) -> Held {
        let last = self.cohorts.len() - 1;
        self.cohorts[last].bytes += bytes;
        self.cohorts[last].holders += 1;
        Held {
            cohort: self.gone + last as u64,
            bytes,
        }
    }

    /// And lets them go.
    pub(super) fn release(&mut self, held: Held) {
        let cohort = &mut self.cohorts[(held.cohort - self.gone) as usize];
        let old = held.bytes * cohort.old;
        cohort.bytes -= held.bytes;
        cohort.holders -= 1;
        if cohort.holders == 0 {
            cohort.bytes = 0.0; // whatever rounding has left
        }
        self.old -= old;
        self.garbage += old;
        while self.cohorts.len() > 1 && self.cohorts[0].holders == 0 {
            self.cohorts.pop_front();
            self.gone += 1;
        }
    }

    /// A collection of the young generation is over, before which so much had been allocated; whether marking begins.
    pub(super) fn collected(&mut self, allocated: f64) -> bool {
        let copied = self.survivors();
        let survive = copied / (copied + allocated).max(1.0);
        let capacity = (self.eden + copied) / SURVIVOR_RATIO;
        let became_old = self.promote(copied, capacity);
        self.cohorts.push_back(Cohort::default());
        self.threshold = self.next_threshold(capacity * TARGET_SURVIVOR);
        let room = self.room(survive);
        self.mixed = self.mixed.saturating_sub(1);
        self.eden = if self.mixed > 0 {
            room.min(LEAST_YOUNG * self.most)
        } else {
            room
        };
        // What is allocated and becomes old while it is marked has to have room as well.
        let start = self.most * (1.0 - RESERVE - WASTE) - room - self.survivors() - became_old;
        let begins = self.marking.is_none() && self.mixed == 0 && self.old + self.garbage > start;
        if begins {
            self.marking = Some(self.garbage);
        }
        begins
    }

    /// Makes old what has the age for it, and what the survivor spaces have no room for, the oldest first; how much that was.
    fn promote(&mut self, copied: f64, capacity: f64) -> f64 {
        let youngest = self.cohorts.len() - 1;
        let mut stays = copied;
        for (i, cohort) in self.cohorts.iter_mut().enumerate() {
            let young = cohort.young();
            let promoted = if youngest - i >= self.threshold {
                young
            } else {
                (stays - capacity).clamp(0.0, young)
            };
            if promoted > 0.0 {
                cohort.old = (cohort.old + promoted / cohort.bytes).min(1.0);
                stays -= promoted;
            }
        }
        self.old += copied - stays;
        copied - stays
    }

    /// What may be allocated until the next collection, if this share of what is young outlives it.
    fn room(&self, survive: f64) -> f64 {
        let survivors = self.survivors();
        let free = self.most * (1.0 - RESERVE) - self.old - self.garbage - survivors;
        let fits = (free - SAFETY * survive * survivors) / (1.0 + SAFETY * survive);
        let least = (LEAST_YOUNG * self.most).min(self.young);
        fits.min(self.young - survivors).max(least)
    }

    /// The oldest age that the survivor spaces have room for.
    fn next_threshold(&self, room: f64) -> usize {
        let mut sum = 0.0;
        let youngest_first = self.cohorts.iter().rev().skip(1);
        for (age, cohort) in (1..).zip(youngest_first) {
            sum += cohort.young();
            if sum > room {
                return age.min(MOST_AGES);
            }
        }
        MOST_AGES
    }

    /// Marking is over: the garbage that there was when it began is given back, but for what is not worth it.
    pub(super) fn marked(&mut self) {
        let found = self.marking.take().unwrap_or(0.0);
        let freed = (found - WASTE * self.most).max(0.0);
        self.garbage -= freed;
        if freed > 0.0 {
            self.mixed = MIXED + 1; // the one that is due, and those
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1e6;

    fn of(most: f64, old: f64, young: f64) -> Generations {
        let aging = Aging {
            most: most * MB,
            old: old * MB,
            mark_cpu: 0.0,
        };
        Generations::new(&aging, young * MB)
    }

    #[test]
    fn what_is_let_go_before_a_collection_costs_nothing() {
        let mut g = of(512.0, 100.0, 300.0);
        for _ in 0..100 {
            let held = g.hold(20.0 * MB);
            g.release(held);
            assert!(!g.collected(300.0 * MB));
        }
        assert_eq!(g.eden(), 300.0 * MB);
        assert!((g.occupied() - 100.0 / 512.0).abs() < 1e-9);
    }

    #[test]
    fn what_outlives_the_survivor_spaces_is_old_and_leaves_garbage_until_it_is_marked() {
        let mut g = of(512.0, 100.0, 300.0);
        let mut waiting: VecDeque<Held> = VecDeque::new();
        let (mut marks, mut least) = (0, f64::INFINITY);
        for _ in 0..200 {
            // Each is held over two collections.
            waiting.push_back(g.hold(30.0 * MB));
            if waiting.len() > 2 {
                g.release(waiting.pop_front().expect("it has three"));
            }
            if g.collected(g.eden()) {
                marks += 1;
                g.marked();
            }
            least = least.min(g.eden());
            assert!(g.old >= 0.0 && g.garbage >= -1e-3, "{g:?}");
            assert!(g.occupied() < 0.95, "{g:?}");
        }
        // Some 25 MB become garbage each time; there is room for about ten times that.
        assert!((10..40).contains(&marks), "{marks}");
        assert!(
            least < 30.0 * MB,
            "{least}: with little young after marking"
        );
        for held in waiting {
            g.release(held);
        }
        assert!(g.survivors().abs() < 1e-3 && (g.old - 100.0 * MB).abs() < 1.0);
    }

    #[test]
    fn whoever_comes_and_goes_it_stays_a_heap() {
        let mut g = of(512.0, 100.0, 300.0);
        let mut state = 1u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut held: Vec<Held> = Vec::new();
        for turn in 0..300_000 {
            if uniform() < 0.5 || held.is_empty() {
                held.push(g.hold(81_147.0 * 1e3 * uniform().powi(8)));
            } else {
                let which = (uniform() * held.len() as f64) as usize;
                g.release(held.swap_remove(which.min(held.len() - 1)));
            }
            if turn % 50 == 0 && g.collected(g.eden()) {
                g.marked();
            }
            assert!(g.survivors() >= 0.0 && g.eden() > 0.0, "{g:?}");
        }
        held.into_iter().for_each(|h| g.release(h));
        assert!(
            g.survivors() == 0.0 && (g.old - 100.0 * MB).abs() < 1e3,
            "{g:?}"
        );
    }

    #[test]
    fn a_full_old_generation_leaves_less_to_allocate_in() {
        let empty = {
            let mut g = of(512.0, 100.0, 300.0);
            g.collected(300.0 * MB);
            g.eden()
        };
        let mut full = of(512.0, 350.0, 300.0);
        full.collected(300.0 * MB);
        assert!(
            empty == 300.0 * MB && (full.eden() - 110.8 * MB).abs() < 1.0,
            "{}",
            full.eden()
        );
    }
}
