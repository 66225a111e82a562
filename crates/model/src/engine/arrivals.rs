//! Sources: sessions begin, make one request after the other, and end.

use super::program::{NO_SITE, Site};
use super::{Engine, Event, Role, Waiting};
use crate::model::Arrivals;
use crate::time::Nanos;
use loadline_stats::{Random, Stream};

pub(super) struct SourceState {
    pub arrival: Site,
    pub think: Site,
    /// For modulated arrivals: state of the chain and its stream.
    pub state: usize,
    pub stream: Stream,
    pub next_arrival: Option<crate::calendar::Handle>,
    /// For a trace: next position, and how often it was gone through.
    pub position: usize,
    pub round: u64,
    /// For a schedule: the area under its level so far.
    pub area: f64,
    /// Sessions so far, which number the clients.
    pub sessions: u32,
}

impl Engine<'_> {
    /// Schedules the first arrivals.
    pub(super) fn open_sources(&mut self) {
        for source in 0..self.model.sources.len() as u32 {
            match &self.model.sources[source as usize].arrivals {
                Arrivals::Closed(clients) => {
                    if self.model.sources[source as usize].quota.is_some() {
                        self.working += u64::from(*clients);
                    }
                    for client in 0..*clients {
                        let act = self.new_client(source, client);
                        self.think_then_begin(act, true);
                    }
                }
                Arrivals::Open(_)
                | Arrivals::Trace(_)
                | Arrivals::Varying { .. }
                | Arrivals::Replay(_) => self.plan_arrival(source),
                Arrivals::Modulated(_) => {
                    self.plan_arrival(source);
                    self.plan_modulation(source);
                }
            }
        }
    }

    fn new_client(&mut self, source: u32, client: u32) -> u32 {
        let act = self.acts.create(Role::Client, self.now);
        let a = &mut self.acts[act];
        a.source = source;
        a.client = client;
        let start = &self.model.sources[source as usize].start;
        a.class = if let [(only, _)] = start[..] {
            only as u32
        } else {
            choose(start, &mut self.choose).unwrap_or(0)
        };
        act
    }

    #[inline]
    fn plan_arrival(&mut self, source: u32) {
        let s = &mut self.sources[source as usize];
        let after = match &self.model.sources[source as usize].arrivals {
            Arrivals::Open(_) => Nanos::from_seconds(self.samplers[s.arrival as usize].draw()),
            Arrivals::Modulated(states) => {
                let rate = states[s.state].0;
                if rate <= 0.0 {
                    s.next_arrival = None;
                    return;
                }
                Nanos::from_seconds(s.stream.exponential() / rate)
            }
            Arrivals::Trace(times) => {
                let period = times.last().copied().unwrap_or(0.0);
                if s.position == times.len() {
                    s.position = 0;
                    s.round += 1;
                }
                let at = Nanos::from_seconds(s.round as f64 * period + times[s.position]);
                s.position += 1;
                Nanos(at.0.saturating_sub(self.now.0))
            }
            Arrivals::Varying { rate, schedule } => {
                s.area += s.stream.exponential() / rate;
                let Some(at) = schedule.when(s.area) else {
                    s.next_arrival = None;
                    return;
                };
                Nanos(Nanos::from_seconds(at).0.saturating_sub(self.now.0))
            }
            Arrivals::Replay(times) => {
                let Some(at) = times.get(s.position) else {
                    s.next_arrival = None;
                    return;
                };
                s.position += 1;
                Nanos(Nanos::from_seconds(*at).0.saturating_sub(self.now.0))
            }
            Arrivals::Closed(_) => return,
        };
        let handle = self
            .calendar
            .schedule(self.now + after, 1, Event::Arrival(source));
        self.sources[source as usize].next_arrival = Some(handle);
    }

    pub(super) fn arrive(&mut self, source: u32) {
        let s = &mut self.sources[source as usize];
        let client = s.sessions;
        s.sessions = s.sessions.wrapping_add(1);
        self.plan_arrival(source);
        let act = self.new_client(source, client);
        self.begin_request(act);
    }

    fn plan_modulation(&mut self, source: u32) {
        let s = &mut self.sources[source as usize];
        let Arrivals::Modulated(states) = &self.model.sources[source as usize].arrivals else {
            return;
        };
        let stay = states[s.state].1 * s.stream.exponential();
        self.schedule(Nanos::from_seconds(stay), Event::Modulate(source));
    }

    /// The chain moves on. Poisson arrivals have no memory, so the next one is drawn anew at the new rate.
    pub(super) fn modulate(&mut self, source: u32) {
        let s = &mut self.sources[source as usize];
        if let Arrivals::Modulated(states) = &self.model.sources[source as usize].arrivals {
            s.state = (s.state + 1) % states.len();
        }
        if let Some(handle) = s.next_arrival.take() {
            self.calendar.cancel(handle);
        }
        self.plan_arrival(source);
        self.plan_modulation(source);
    }

    /// A client thinks (if its source says so), then begins its request.
    fn think_then_begin(&mut self, act: u32, initially: bool) {
        let site = self.sources[self.acts[act].source as usize].think;
        if site == NO_SITE {
            if initially {
                // All at once at the start would be an artefact of the model: within a microsecond of each other.
                let spread = Nanos((self.place.uniform() * 1e3) as u64);
                let handle = self.schedule(spread, Event::Think(act));
                self.acts[act].timer = Some(handle);
                self.acts[act].waiting = Waiting::Delay;
            } else {
                self.begin_request(act);
            }
            return;
        }
        let pause = self.draw_nanos(site);
        let handle = self.schedule(pause, Event::Think(act));
        let a = &mut self.acts[act];
        a.timer = Some(handle);
        a.waiting = Waiting::Delay;
    }

    pub(super) fn begin_request(&mut self, act: u32) {
        let now = self.now;
        let a = &mut self.acts[act];
        a.began = now;
        a.retries = 0;
        let class = a.class as usize;
        self.in_system += 1;
        self.record.change(self.meters.in_system[class], now, 1.0);
        self.record.add(self.meters.class(class), 1.0);
        self.attempt(act);
    }

    /// Begins an attempt: the first, or a retry.
    pub(super) fn attempt(&mut self, act: u32) {
        let a = &mut self.acts[act];
        let class = a.class as usize;
        a.pc = self.code.classes[class];
        a.waiting = Waiting::Nothing;
        a.depth = 0;
        a.phase = 0;
        let site = self.meters.timeout_site[class];
        if site != NO_SITE {
            let length = self.draw_nanos(site);
            let handle = self.schedule(length, Event::ClientTimeout(act));
            self.acts[act].deadline = Some(handle);
        }
        self.ready.push_back(act);
    }

    /// A client's program has ended well.
    pub(super) fn complete_request(&mut self, act: u32) {
        let now = self.now;
        let a = &self.acts[act];
        let class = a.class as usize;
        let length = now.since(a.began);
        self.record.response(class, now, length);
        let meter = self.meters.class(class);
        self.record.add(meter + 1, 1.0);
        self.record.add(meter + 2, length.seconds());
        self.leave_system(act, true);
    }

    /// A request is over, well or not: the session goes on or ends.
    pub(super) fn leave_system(&mut self, act: u32, well: bool) {
        self.rest_connections(act);
        let now = self.now;
        let a = &mut self.acts[act];
        let class = a.class as usize;
        if let Some(handle) = a.deadline.take() {
            self.calendar.cancel(handle);
        }
        // Whatever still refers to this request must not find the next one.
        a.generation = a.generation.wrapping_add(1);
        self.in_system -= 1;
        self.record.change(self.meters.in_system[class], now, -1.0);
        a.made += 1;
        let source = &self.model.sources[a.source as usize];
        if let Some(quota) = source.quota
            && a.made >= quota.requests
            && now.seconds() >= quota.seconds
        {
            self.close_connections(act);
            self.acts.free(act);
            self.working -= 1;
            self.over = self.working == 0;
            return;
        }
        let goes_on = well || !source.leaves;
        if goes_on && let Some(next) = choose(&source.next[class], &mut self.choose) {
            a.class = next;
            self.think_then_begin(act, false);
            return;
        }
        if matches!(source.arrivals, Arrivals::Closed(_)) {
            a.class = if let [(only, _)] = source.start[..] {
                only as u32
            } else {
                choose(&source.start, &mut self.choose).unwrap_or(0)
            };
            self.think_then_begin(act, false);
        } else {
            self.close_connections(act);
            self.acts.free(act);
        }
    }
}

/// Draws one of several by probability; `None` for what is missing to 1.
fn choose(among: &[(usize, f64)], stream: &mut Stream) -> Option<u32> {
    if among.is_empty() {
        return None;
    }
    let mut u = stream.uniform();
    for &(which, p) in among {
        if u < p || p >= 1.0 {
            return Some(which as u32);
        }
        u -= p;
    }
    None
}
