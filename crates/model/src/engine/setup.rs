//! Building a run: state for every part of the model, and the layout of what is recorded.

use super::program::{Code, NO_SITE, Sampler, Site};
use super::record::{LevelId, Meter, Recorder};
use super::{Engine, NONE};
use crate::calendar::Calendar;
use crate::model::{Model, ResourceKind};
use crate::time::{Nanos, Time};
use loadline_stats::random::{Dist, Stream};
use std::collections::VecDeque;

/// Meters of one class at one station: completions, residence, service, rejected, gave up.
const STATION: usize = 5;
/// Meters of one class at one pool: completions, queueing, first phase, holding, rejected, gave up.
const POOL: usize = 6;
/// Meters of a class: begun, completed, response, failed attempts, timeouts, refused, lost, retries.
const CLASS: usize = 8;
/// Meters of a resource: acquired, waiting, holding, contended, gave up.
const RESOURCE: usize = 5;

/// Where the record keeps what.
#[derive(Debug, Clone, Default)]
pub struct Meters {
    classes: usize,
    class: Meter,
    station: Meter,
    pool: Meter,
    resource: Meter,
    machine: Meter,
    phase: Meter,
    heap: Meter,
    guard: Meter,
    /// Requests in the system, per class.
    pub in_system: Vec<LevelId>,
    /// Busy servers, per station.
    pub station_busy: Vec<LevelId>,
    /// Requests waiting or in service, per station.
    pub station_present: Vec<LevelId>,
    /// Queued jobs, per pool.
    pub pool_waiting: Vec<LevelId>,
    /// Threads with a job, per pool.
    pub pool_busy: Vec<LevelId>,
    /// Threads, per pool.
    pub pool_threads: Vec<LevelId>,
    /// Holders, per resource.
    pub resource_held: Vec<LevelId>,
    /// Waiters, per resource.
    pub resource_waiting: Vec<LevelId>,
    /// Busy cores, per machine.
    pub machine_busy: Vec<LevelId>,
    /// Threads running or ready, per machine.
    pub machine_runnable: Vec<LevelId>,
    /// Whether out of quota, per group.
    pub group_throttled: Vec<LevelId>,
    /// CPUs assigned, per group.
    pub group_cpus: Vec<LevelId>,
    /// Threads running or ready, per group.
    pub group_runnable: Vec<LevelId>,
    /// Whether stopped by its collector, per heap.
    pub heap_paused: Vec<LevelId>,
    pub(super) timeout_site: Vec<Site>,
    pub(super) backoff_site: Vec<Site>,
}

impl Meters {
    /// First meter of a class: begun, completed, response, failed attempts, timeouts, refused, lost, retries.
    #[inline]
    pub fn class(&self, class: usize) -> Meter {
        self.class + class * CLASS
    }

    /// First meter of a class at a station: completions, residence, service, rejected, gave up.
    #[inline]
    pub fn station(&self, station: usize, class: usize) -> Meter {
        self.station + (station * self.classes + class) * STATION
    }

    /// First meter of a class at a pool: completions, queueing, first phase, holding, rejected, gave up.
    #[inline]
    pub fn pool(&self, pool: usize, class: usize) -> Meter {
        self.pool + (pool * self.classes + class) * POOL
    }

    /// First meter of a resource: acquired, waiting, holding, contended, gave up.
    #[inline]
    pub fn resource(&self, resource: usize) -> Meter {
        self.resource + resource * RESOURCE
    }

    /// First meter of a machine: context switches, involuntary ones, time ready before running.
    #[inline]
    pub fn machine(&self, machine: usize) -> Meter {
        self.machine + machine * 3
    }

    /// First meter of a phase: count, duration.
    #[inline]
    pub fn phase(&self, phase: usize) -> Meter {
        self.phase + phase * 2
    }

    /// First meter of a heap: collections, their duration.
    pub fn heap(&self, heap: usize) -> Meter {
        self.heap + heap * 2
    }

    /// First meter of a guard: admitted, refused.
    pub fn guard(&self, guard: usize) -> Meter {
        self.guard + guard * 2
    }

    /// The level of threads that want CPU in a group.
    #[inline]
    pub(super) fn group_wanting(&self, group: u32) -> Option<LevelId> {
        if group == NONE {
            None
        } else {
            Some(self.group_runnable[group as usize])
        }
    }

    fn lay_out(model: &Model, record: &mut Recorder) -> Meters {
        let classes = model.classes.len();
        let mut levels = |n: usize| -> Vec<LevelId> { (0..n).map(|_| record.level()).collect() };
        let mut meters = Meters {
            classes,
            in_system: levels(classes),
            station_busy: levels(model.stations.len()),
            station_present: levels(model.stations.len()),
            pool_waiting: levels(model.pools.len()),
            pool_busy: levels(model.pools.len()),
            pool_threads: levels(model.pools.len()),
            resource_held: levels(model.resources.len()),
            resource_waiting: levels(model.resources.len()),
            machine_busy: levels(model.machines.len()),
            machine_runnable: levels(model.machines.len()),
            group_throttled: levels(model.groups.len()),
            group_cpus: levels(model.groups.len()),
            group_runnable: levels(model.groups.len()),
            heap_paused: levels(model.heaps.len()),
            ..Meters::default()
        };
        meters.class = record.meters(classes * CLASS);
        meters.station = record.meters(model.stations.len() * classes * STATION);
        meters.pool = record.meters(model.pools.len() * classes * POOL);
        meters.resource = record.meters(model.resources.len() * RESOURCE);
        meters.machine = record.meters(model.machines.len() * 3);
        meters.phase = record.meters(model.phases.len() * 2);
        meters.heap = record.meters(model.heaps.len() * 2);
        meters.guard = record.meters(model.guards.len() * 2);
        meters
    }
}

/// Intervals in which what changes over a run is told: 1, 2 or 5 times a power of ten seconds, from 40 to 100 of them.
fn interval(length: f64) -> Nanos {
    let least = length / 100.0;
    let ten = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|x| x * ten);
    let first = steps.into_iter().find(|s| *s >= least * (1.0 - 1e-9));
    Nanos::from_seconds(first.unwrap_or(10.0 * ten)).max(Nanos(1000))
}

fn optional(code: &mut Code, dist: &Option<Dist>, name: String) -> Site {
    dist.as_ref().map_or(NO_SITE, |d| code.site(d, name))
}

impl<'m> Engine<'m> {
    /// A run of `model` that has not begun. More than `flood` requests in the system end it.
    pub fn new(model: &'m Model, seed: u64, flood: u64) -> Engine<'m> {
        let mut code = Code::of(model);
        let mut record = Recorder::new(model.classes.len(), model.length().map(interval));
        let mut meters = Meters::lay_out(model, &mut record);
        let stations = model
            .stations
            .iter()
            .map(|s| {
                let patience = optional(
                    &mut code,
                    &s.queue.patience,
                    format!("station.{}.patience", s.name),
                );
                super::station::StationState::new(s, patience)
            })
            .collect();
        let pools = model
            .pools
            .iter()
            .map(|p| {
                let sites = [
                    optional(
                        &mut code,
                        &p.queue.patience,
                        format!("pool.{}.patience", p.name),
                    ),
                    optional(&mut code, &p.create_cpu, format!("pool.{}.create", p.name)),
                    optional(
                        &mut code,
                        &p.destroy_cpu,
                        format!("pool.{}.destroy", p.name),
                    ),
                    optional(&mut code, &p.start_delay, format!("pool.{}.delay", p.name)),
                    optional(&mut code, &p.wake_cpu, format!("pool.{}.wake", p.name)),
                ];
                super::pool::PoolState::new(p, sites)
            })
            .collect();
        let resources = model
            .resources
            .iter()
            .map(|r| {
                let connect = match &r.kind {
                    ResourceKind::Connections { connect, .. } => {
                        optional(&mut code, connect, format!("resource.{}.connect", r.name))
                    }
                    _ => NO_SITE,
                };
                super::resource::ResourceState::new(r, connect)
            })
            .collect();
        let heaps = model
            .heaps
            .iter()
            .map(|h| {
                super::heap::HeapState::new(h, code.site(&h.cpu, format!("heap.{}.cpu", h.name)))
            })
            .collect();
        for c in &model.classes {
            meters.timeout_site.push(optional(
                &mut code,
                &c.timeout,
                format!("class.{}.timeout", c.name),
            ));
            meters.backoff_site.push(optional(
                &mut code,
                &c.backoff,
                format!("class.{}.backoff", c.name),
            ));
        }
        let sources = model
            .sources
            .iter()
            .map(|s| {
                let arrival = match &s.arrivals {
                    crate::model::Arrivals::Open(d) => {
                        code.site(d, format!("source.{}.arrival", s.name))
                    }
                    _ => NO_SITE,
                };
                super::arrivals::SourceState {
                    arrival,
                    think: optional(&mut code, &s.think, format!("source.{}.think", s.name)),
                    state: 0,
                    stream: Stream::new(seed, &format!("source.{}.modulation", s.name)),
                    next_arrival: None,
                    position: 0,
                    round: 0,
                    area: 0.0,
                    sessions: 0,
                }
            })
            .collect();
        let samplers = code
            .sites
            .iter()
            .map(|(dist, name)| Sampler {
                dist: dist.clone(),
                stream: Stream::new(seed, name),
            })
            .collect();
        let mut engine = Engine {
            model,
            samplers,
            code,
            now: Time::ZERO,
            events: 0,
            calendar: Calendar::default(),
            ready: VecDeque::new(),
            acts: super::Acts::default(),
            jobs: super::Jobs::default(),
            threads: Vec::new(),
            machines: model
                .machines
                .iter()
                .map(super::machine::MachineState::new)
                .collect(),
            pools,
            stations,
            resources,
            conditions: vec![VecDeque::new(); model.conditions.len()],
            groups: model
                .groups
                .iter()
                .map(super::groups::GroupState::new)
                .collect(),
            heaps,
            guards: model
                .guards
                .iter()
                .map(|_| super::control::GuardState::new())
                .collect(),
            managers: model
                .managers
                .iter()
                .map(|m| super::control::ManagerState::new(m.groups.len()))
                .collect(),
            sources,
            choose: Stream::new(seed, "choose"),
            place: Stream::new(seed, "place"),
            meters,
            record,
            in_system: 0,
            flood,
            working: 0,
            over: false,
            turns: 0,
        };
        engine.open_heaps();
        engine.open_pools();
        engine.open_controllers();
        engine.open_sources();
        engine
    }
}
