//! Garbage collection: allocation fills a heap; a collection uses CPU of its own threads, and either stops the
//! application meanwhile or runs beside it.

use super::machine::Thread;
use super::program::Site;
use super::step::Flow;
use super::{Engine, Role};
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
}

impl HeapState {
    pub(super) fn new(cpu: Site) -> HeapState {
        HeapState {
            stops: Vec::new(),
            stopped: false,
            cpu,
            allocated: 0.0,
            frees: 0.0,
            collectors: Vec::new(),
            active: 0,
            since: Time::ZERO,
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
        if h.active == 0 {
            let trigger = if spec.concurrent {
                spec.young_bytes * spec.start_at
            } else {
                spec.young_bytes
            };
            if h.allocated >= trigger {
                self.collect(heap as u32);
            }
        }
        let h = &self.heaps[heap];
        if h.active > 0 && !h.stopped && h.allocated >= spec.young_bytes {
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
        h.frees = h.allocated;
        h.since = now;
        h.active = h.collectors.len() as u32;
        let share = Nanos::from_seconds(total / h.collectors.len() as f64);
        let share = self.machines[spec.machine].takes(share).max(Nanos(1));
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
    }
}
