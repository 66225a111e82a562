//! Garbage collection: allocation fills a heap; a collection uses CPU of its own threads, and either stops the
//! application meanwhile or runs beside it.

use super::generations::{Generations, Held};
use super::machine::Thread;
use super::program::Site;
use super::step::Flow;
use super::{Engine, NONE, Role};
use crate::model::Heap;
use crate::time::{Nanos, Time};

/// Bounds of what growth makes of a collection.
const LEAST: f64 = 0.1;
const MOST: f64 = 100.0;

pub(super) struct HeapState {
    /// Threads that a pause stops.
    pub stops: Vec<u32>,
    pub stopped: bool,
    pub cpu: Site,
    allocated: f64,
    /// Allocated when the present collection began: what it frees.
    frees: f64,
    collectors: Vec<u32>,
    active: u32,
    since: Time,
    generations: Option<Generations>,
    /// The thread that marks, where there are generations, beside the application.
    marker: u32,
    /// Whether the present pause is the end of marking.
    remarks: bool,
}

impl HeapState {
    pub(super) fn new(spec: &Heap, cpu: Site) -> HeapState {
        HeapState {
            stops: Vec::new(),
            stopped: false,
            cpu,
            allocated: 0.0,
            frees: 0.0,
            collectors: Vec::new(),
            active: 0,
            since: Time::ZERO,
            generations: spec.aging.map(|a| Generations::new(&a, spec.young_bytes)),
            marker: NONE,
            remarks: false,
        }
    }

    /// What may be allocated between two collections.
    fn room(&self, spec: &Heap) -> f64 {
        match &self.generations {
            Some(g) => g.eden(),
            None => spec.young_bytes,
        }
    }

    /// What the rate of allocation since the last collection makes of the next one's CPU.
    fn grown(&self, spec: &Heap, now: Time) -> f64 {
        let seconds = now.since(self.since).seconds();
        match spec.growth {
            Some(g) if seconds > 0.0 => {
                let rate = self.allocated / seconds;
                (1.0 + g.growth * (rate / g.at - 1.0)).clamp(LEAST, MOST)
            }
            _ => 1.0,
        }
    }
}

impl Engine<'_> {
    /// Brings the collector threads into being. They go before everybody else where priorities count.
    pub(super) fn open_heaps(&mut self) {
        for heap in 0..self.heaps.len() as u32 {
            let spec = &self.model.heaps[heap as usize];
            for _ in 0..spec.threads {
                let act = self.acts.create(Role::Collector(heap), self.now);
                let priority = if spec.concurrent { 0 } else { i32::MAX };
                let thread = self.new_thread(Thread {
                    act,
                    machine: spec.machine as u32,
                    priority,
                    ..Thread::blank()
                });
                self.acts[act].thread = thread;
                self.heaps[heap as usize].collectors.push(act);
            }
            if spec.aging.is_some() {
                let act = self.acts.create(Role::Marker(heap), self.now);
                let thread = self.new_thread(Thread {
                    act,
                    machine: spec.machine as u32,
                    ..Thread::blank()
                });
                self.acts[act].thread = thread;
                self.heaps[heap as usize].marker = act;
            }
        }
    }

    /// Somebody allocates so much and holds it; `None` where nothing becomes old.
    pub(super) fn hold(&mut self, heap: u32, bytes: f64) -> Option<Held> {
        let generations = self.heaps[heap as usize].generations.as_mut();
        generations.map(|g| g.hold(bytes))
    }

    /// And lets it go.
    pub(super) fn release_held(&mut self, heap: u32, held: Held) {
        if let Some(g) = &mut self.heaps[heap as usize].generations {
            g.release(held);
        }
    }

    pub(super) fn allocate(&mut self, act: u32, bytes: f64) -> Flow {
        let super::Role::Worker { pool, .. } = self.acts[act].role else {
            return Flow::On;
        };
        let Some(heap) = self.model.pools[pool as usize].heap else {
            return Flow::On;
        };
        let spec = &self.model.heaps[heap];
        let h = &mut self.heaps[heap];
        h.allocated += bytes;
        let room = h.room(spec);
        if h.active == 0 {
            let trigger = if spec.concurrent {
                room * spec.start_at
            } else {
                room
            };
            if h.allocated >= trigger {
                self.collect(heap as u32);
            }
        }
        let h = &self.heaps[heap];
        if h.active > 0 && !h.stopped && h.allocated >= room {
            // The application was faster than the collector.
            self.stop_world(heap as u32);
        }
        Flow::Check
    }

    fn collect(&mut self, heap: u32) {
        let site = self.heaps[heap as usize].cpu;
        let drawn = self.draw(site);
        let now = self.now;
        let spec = &self.model.heaps[heap as usize];
        let h = &mut self.heaps[heap as usize];
        let total = drawn * h.grown(spec, now);
        h.frees = if h.remarks { 0.0 } else { h.allocated };
        h.since = now;
        h.active = h.collectors.len() as u32;
        let share = Nanos::from_seconds(total / h.collectors.len() as f64);
        let share = self.machines[spec.machine]
            .takes(share, self.now, None)
            .max(Nanos(1));
        let collectors = h.collectors.clone();
        if !self.model.heaps[heap as usize].concurrent {
            self.stop_world(heap);
        }
        for act in collectors {
            let thread = self.acts[act].thread;
            self.threads[thread as usize].remaining = share;
            self.wake_thread(thread);
        }
    }

    fn stop_world(&mut self, heap: u32) {
        let now = self.now;
        let h = &mut self.heaps[heap as usize];
        h.stopped = true;
        let stops = h.stops.clone();
        for thread in stops {
            self.freeze(thread);
        }
        self.record
            .change(self.meters.heap_paused[heap as usize], now, 1.0);
    }

    /// A collector thread has done its share.
    pub(super) fn collected(&mut self, heap: u32, act: u32) {
        let thread = self.acts[act].thread;
        self.block_thread(thread);
        let now = self.now;
        let h = &mut self.heaps[heap as usize];
        h.active -= 1;
        if h.active > 0 {
            return;
        }
        h.allocated = (h.allocated - h.frees).max(0.0);
        let length = now.since(h.since).seconds();
        let remarked = std::mem::take(&mut h.remarks);
        let marks = !remarked && h.generations.as_mut().is_some_and(|g| g.collected(h.frees));
        let meter = self.meters.heap(heap as usize);
        self.record.add(meter, 1.0);
        self.record.add(meter + 1, length);
        let h = &mut self.heaps[heap as usize];
        if std::mem::take(&mut h.stopped) {
            let stops = h.stops.clone();
            self.record
                .change(self.meters.heap_paused[heap as usize], now, -1.0);
            for thread in stops {
                self.thaw(thread);
            }
        }
        if marks {
            self.mark(heap);
        }
    }

    /// Marking begins, in proportion to what is in use.
    fn mark(&mut self, heap: u32) {
        let spec = &self.model.heaps[heap as usize];
        let h = &self.heaps[heap as usize];
        let (Some(aging), Some(g)) = (spec.aging, &h.generations) else {
            return;
        };
        let cpu = Nanos::from_seconds(aging.mark_cpu * g.occupied());
        let cpu = self.machines[spec.machine]
            .takes(cpu, self.now, None)
            .max(Nanos(1));
        let thread = self.acts[h.marker].thread;
        self.threads[thread as usize].remaining = cpu;
        self.wake_thread(thread);
    }

    /// It is over, which takes a pause; the next collection, if it is under way, is that.
    pub(super) fn marked(&mut self, heap: u32, act: u32) {
        let thread = self.acts[act].thread;
        self.block_thread(thread);
        let h = &mut self.heaps[heap as usize];
        if let Some(g) = &mut h.generations {
            g.marked();
        }
        if h.active == 0 {
            h.remarks = true;
            self.collect(heap);
        }
    }
}
