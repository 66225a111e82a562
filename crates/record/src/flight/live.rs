//! What triggers look at, a second at a time, from events as they come. A response time here is from when the container
//! has the request until its response is out; what came before (parsing, queueing) the tables know.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use loadline_trace::spool::agent::{Event, kind as ev};

use super::Keeper;
use super::when::{Second, Trigger, Watched};
use crate::sys;

const PERIOD: Duration = Duration::from_secs(1);
/// Fewer requests in a second have no percentile.
const FEWEST: usize = 10;
/// Requests that began and whose end nobody tells.
const MOST_OPEN: usize = 100_000;
const KINDS: [u32; 4] = [ev::REQUEST, ev::REQUEST_END, ev::GC_START, ev::GC_END];

/// Watches a recording for its triggers.
pub struct Live {
    triggers: Vec<Watched>,
    next: Instant,
    open: HashMap<(u32, u64), i64>,
    pause: Option<i64>,
    /// CPU time of the target, and when it was read.
    cpu: Option<(i64, i64)>,
}

impl Live {
    /// Of these triggers.
    pub fn new(triggers: &[Trigger]) -> Live {
        Live {
            triggers: triggers.iter().cloned().map(Watched::new).collect(),
            next: Instant::now() + PERIOD,
            open: HashMap::new(),
            pause: None,
            cpu: None,
        }
    }

    /// What has come true since the last call, if that was a second ago.
    pub(crate) fn tick(&mut self, keeper: &mut Keeper, pid: i32) -> Option<String> {
        if self.triggers.is_empty() || Instant::now() < self.next {
            return None;
        }
        self.next = Instant::now() + PERIOD;
        let mut second = self.take(&keeper.look(&KINDS));
        second.cpu = self.cpu(pid);
        // Each takes each second, whichever speaks.
        let said: Vec<String> = self
            .triggers
            .iter_mut()
            .filter_map(|t| t.take(&second))
            .collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn cpu(&mut self, pid: i32) -> Option<f64> {
        let now = (sys::process_cpu_ns(pid).ok()?, sys::now_ns());
        let (cpu, at) = self.cpu.replace(now)?;
        let cpus = f64::from(sys::affinity(pid).max(1));
        Some((now.0 - cpu) as f64 / ((now.1 - at).max(1) as f64 * cpus))
    }

    fn take(&mut self, events: &[Event]) -> Second {
        let mut times = Vec::new();
        let mut longest: Option<i64> = None;
        for e in events {
            let who = match e.virtual_id {
                0 => (e.tid, 0),
                id => (0, id),
            };
            match e.kind {
                ev::REQUEST => {
                    self.open.insert(who, e.ts);
                }
                ev::REQUEST_END => times.extend(self.open.remove(&who).map(|b| e.ts - b)),
                ev::GC_START => self.pause = Some(e.ts),
                _ => {
                    if let Some(begin) = self.pause.take() {
                        longest = longest.max(Some(e.ts - begin));
                    }
                }
            }
        }
        if self.open.len() > MOST_OPEN {
            self.open.clear();
        }
        times.sort_unstable();
        let seconds = |ns: i64| ns.max(0) as f64 / 1e9;
        let at = |p: f64| {
            let rank = (times.len() as f64 * p).ceil() as usize;
            seconds(times[rank.clamp(1, times.len()) - 1])
        };
        Second {
            percentiles: (times.len() >= FEWEST).then(|| [0.5, 0.9, 0.95, 0.99].map(at)),
            pause: longest.map(seconds),
            cpu: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ts: i64, kind: u32, tid: u32) -> Event {
        Event {
            ts: ts * 1_000_000,
            kind,
            a: 0,
            b: 0,
            c: 0,
            tid,
            virtual_id: 0,
        }
    }

    #[test]
    fn requests_and_pauses_are_measured_across_seconds() {
        let mut live = Live::new(&[]);
        let mut first: Vec<Event> = (0..20)
            .flat_map(|n| [event(n, ev::REQUEST, 1), event(n + 10, ev::REQUEST_END, 1)])
            .collect();
        first.push(event(50, ev::REQUEST, 7));
        first.push(event(60, ev::GC_START, 9));
        let second = live.take(&first);
        assert_eq!(second.percentiles, Some([0.01; 4]));
        assert_eq!(second.pause, None, "it is not over");
        let second = live.take(&[event(90, ev::GC_END, 9), event(95, ev::REQUEST_END, 7)]);
        assert_eq!(second.pause, Some(0.03));
        assert_eq!(second.percentiles, None, "one request is no percentile");
    }
}
