//! Stations: queues and servers without threads.

use super::line::Line;
use super::program::{NO_SITE, Site};
use super::sharing::Sharing;
use super::step::Flow;
use super::{Engine, Event, Waiting};
use crate::calendar::Handle;
use crate::model::{Discipline, UNLIMITED, WhenFull};
use crate::time::{Nanos, Time};

pub(super) struct StationState {
    pub servers: u32,
    pub busy: u32,
    pub line: Line<u32>,
    pub capacity: u32,
    pub when_full: WhenFull,
    pub patience: Site,
    /// Those who found no place and wait for one.
    pub outside: std::collections::VecDeque<u32>,
    pub sharing: Option<Sharing>,
    pub event: Option<Handle>,
    /// Acts in service, for disciplines that interrupt.
    pub serving: Option<Vec<u32>>,
}

impl StationState {
    pub(super) fn new(station: &crate::model::Station, patience: Site) -> StationState {
        let shared =
            station.queue.discipline == Discipline::Sharing && station.servers != UNLIMITED;
        StationState {
            servers: station.servers,
            busy: 0,
            line: Line::new(station.queue.discipline),
            capacity: station.queue.capacity,
            when_full: station.queue.when_full,
            patience,
            outside: Default::default(),
            sharing: shared.then(|| Sharing::new(station.servers)),
            event: None,
            serving: (station.queue.discipline == Discipline::Preemptive).then(Vec::new),
        }
    }
}

impl Engine<'_> {
    pub(super) fn visit(&mut self, act: u32, station: u32, site: Site) -> Flow {
        let demand = self.draw_nanos(site);
        let now = self.now;
        let a = &mut self.acts[act];
        a.demand = demand;
        a.mark = now;
        let class = a.class as usize;
        let meter = self.meters.station(station as usize, class);
        self.record
            .change(self.meters.station_present[station as usize], now, 1.0);
        let s = &mut self.stations[station as usize];
        if s.sharing.is_some() {
            return self.visit_sharing(act, station);
        }
        if s.busy < s.servers {
            s.busy += 1;
            self.start_service(station, act, demand);
            self.wait_for(act, Waiting::Station(station));
            return Flow::Stop;
        }
        if let Some(victim) = self.interrupts(act, station) {
            self.interrupt_service(station, victim);
            self.start_service(station, act, demand);
            self.wait_for(act, Waiting::Station(station));
            return Flow::Stop;
        }
        let s = &mut self.stations[station as usize];
        if s.line.len() as u64 >= u64::from(s.capacity) {
            if s.when_full == WhenFull::Reject {
                self.record
                    .change(self.meters.station_present[station as usize], now, -1.0);
                self.record.add(meter + 3, 1.0);
                self.fail(act);
                return Flow::Stop;
            }
            s.outside.push_back(act);
        } else {
            let priority = self.model.classes[class].priority;
            s.line.push(priority, act);
        }
        let patience = s.patience;
        self.wait_for(act, Waiting::Station(station));
        if patience != NO_SITE {
            self.start_patience(act, patience);
        }
        Flow::Stop
    }

    #[inline]
    fn start_service(&mut self, station: u32, act: u32, demand: Nanos) {
        let handle = self.schedule(demand, Event::Served { station, act });
        let now = self.now;
        let a = &mut self.acts[act];
        a.timer = Some(handle);
        a.tag = now.seconds();
        self.record
            .change(self.meters.station_busy[station as usize], now, 1.0);
        if let Some(serving) = &mut self.stations[station as usize].serving {
            serving.push(act);
        }
    }

    /// Whom a new act may interrupt at a preemptive station: the lowest priority in service, the latest of them.
    fn interrupts(&self, act: u32, station: u32) -> Option<u32> {
        let serving = self.stations[station as usize].serving.as_ref()?;
        let priority = |a: u32| self.model.classes[self.acts[a].class as usize].priority;
        let victim = serving.iter().rev().copied().min_by_key(|&a| priority(a))?;
        (priority(victim) < priority(act)).then_some(victim)
    }

    fn interrupt_service(&mut self, station: u32, victim: u32) {
        let now = self.now;
        let a = &mut self.acts[victim];
        let Some(handle) = a.timer.take() else { return };
        self.calendar.cancel(handle);
        let served = Nanos::from_seconds(now.seconds() - a.tag);
        a.demand = a.demand - served;
        let class = a.class as usize;
        self.record
            .change(self.meters.station_busy[station as usize], now, -1.0);
        let meter = self.meters.station(station as usize, class);
        self.record.add(meter + 2, served.seconds());
        let priority = self.model.classes[class].priority;
        let s = &mut self.stations[station as usize];
        if let Some(serving) = &mut s.serving {
            serving.retain(|&a| a != victim);
        }
        s.line.push_first(priority, victim);
    }

    pub(super) fn served(&mut self, station: u32, act: u32) {
        let now = self.now;
        let a = &mut self.acts[act];
        a.timer = None;
        a.waiting = Waiting::Nothing;
        let class = a.class as usize;
        let (residence, demand) = (now.since(a.mark).seconds(), a.demand.seconds());
        let meter = self.meters.station(station as usize, class);
        self.record.add(meter, 1.0);
        self.record.add(meter + 1, residence);
        self.record.add(meter + 2, demand);
        self.record
            .change(self.meters.station_busy[station as usize], now, -1.0);
        self.record
            .change(self.meters.station_present[station as usize], now, -1.0);
        if let Some(serving) = &mut self.stations[station as usize].serving {
            serving.retain(|&a| a != act);
        }
        self.next_in_line(station);
        self.wake(act);
    }

    fn next_in_line(&mut self, station: u32) {
        let s = &mut self.stations[station as usize];
        match s.line.pop() {
            Some(next) => {
                if let Some(entering) = s.outside.pop_front() {
                    let priority = self.model.classes[self.acts[entering].class as usize].priority;
                    s.line.push(priority, entering);
                }
                self.begin_waiting_one(station, next);
            }
            None => match s.outside.pop_front() {
                // A waiting room without places.
                Some(next) => self.begin_waiting_one(station, next),
                None => s.busy -= 1,
            },
        }
    }

    fn begin_waiting_one(&mut self, station: u32, act: u32) {
        self.stop_patience(act);
        let demand = self.acts[act].demand;
        self.start_service(station, act, demand);
    }

    /// Takes an act out of a station, waiting or in service.
    pub(super) fn leave_station(&mut self, act: u32, station: u32) {
        let now = self.now;
        self.record
            .change(self.meters.station_present[station as usize], now, -1.0);
        let a = &mut self.acts[act];
        let (timer, tag, demand) = (a.timer.take(), a.tag, a.demand);
        let s = &mut self.stations[station as usize];
        if let Some(sharing) = &mut s.sharing {
            let before = sharing.busy();
            if let Some(handle) = timer {
                sharing.remove(now, handle, tag);
            }
            let after = sharing.busy();
            self.record.change(
                self.meters.station_busy[station as usize],
                now,
                after - before,
            );
            self.plan_sharing(station);
            return;
        }
        if let Some(handle) = timer {
            // In service: the server goes on to the next.
            self.calendar.cancel(handle);
            let served = Nanos::from_seconds(now.seconds() - tag).0.min(demand.0);
            let meter = self
                .meters
                .station(station as usize, self.acts[act].class as usize);
            self.record.add(meter + 2, Nanos(served).seconds());
            self.record
                .change(self.meters.station_busy[station as usize], now, -1.0);
            if let Some(serving) = &mut self.stations[station as usize].serving {
                serving.retain(|&a| a != act);
            }
            self.next_in_line(station);
        } else if s.line.remove(|&a| a == act).is_some() {
            if let Some(entering) = s.outside.pop_front() {
                let priority = self.model.classes[self.acts[entering].class as usize].priority;
                s.line.push(priority, entering);
            }
        } else if let Some(at) = s.outside.iter().position(|&a| a == act) {
            s.outside.remove(at);
        }
    }

    fn visit_sharing(&mut self, act: u32, station: u32) -> Flow {
        let now = self.now;
        let demand = self.acts[act].demand.max(Nanos(1));
        let s = &mut self.stations[station as usize];
        let Some(sharing) = &mut s.sharing else {
            return Flow::On;
        };
        let before = sharing.busy();
        let handle = sharing.add(now, act, demand);
        let tag = sharing.tag(demand);
        let after = sharing.busy();
        let a = &mut self.acts[act];
        a.timer = Some(handle);
        a.tag = tag;
        self.record.change(
            self.meters.station_busy[station as usize],
            now,
            after - before,
        );
        self.plan_sharing(station);
        self.wait_for(act, Waiting::Station(station));
        Flow::Stop
    }

    fn plan_sharing(&mut self, station: u32) {
        let s = &mut self.stations[station as usize];
        let next = s.sharing.as_ref().and_then(Sharing::next_end);
        plan(
            &mut self.calendar,
            &mut s.event,
            next,
            Event::Shared(station),
        );
    }

    pub(super) fn shared(&mut self, station: u32) {
        let now = self.now;
        let s = &mut self.stations[station as usize];
        s.event = None;
        let Some(sharing) = &mut s.sharing else {
            return;
        };
        let before = sharing.busy();
        let done = sharing.finish(now);
        let after = sharing.busy();
        self.record.change(
            self.meters.station_busy[station as usize],
            now,
            after - before,
        );
        self.plan_sharing(station);
        let Some(act) = done else { return };
        let a = &mut self.acts[act];
        a.timer = None;
        a.waiting = Waiting::Nothing;
        let (residence, demand, class) = (
            now.since(a.mark).seconds(),
            a.demand.seconds(),
            a.class as usize,
        );
        let meter = self.meters.station(station as usize, class);
        self.record.add(meter, 1.0);
        self.record.add(meter + 1, residence);
        self.record.add(meter + 2, demand);
        self.record
            .change(self.meters.station_present[station as usize], now, -1.0);
        self.wake(act);
    }
}

/// Keeps one event at the instant `next`.
#[inline]
pub(super) fn plan(
    calendar: &mut crate::calendar::Calendar<Event>,
    event: &mut Option<Handle>,
    next: Option<Time>,
    what: Event,
) {
    match (*event, next) {
        (Some(handle), Some(at)) => calendar.reschedule(handle, at),
        (None, Some(at)) => *event = Some(calendar.schedule(at, 1, what)),
        (Some(handle), None) => {
            calendar.cancel(handle);
            *event = None;
        }
        (None, None) => {}
    }
}
