//! CPU that no request shows: of visits, of going to sleep and waking, of dispatchers; of the collector, the compiler and
//! the rest of the virtual machine.

use loadline_stats::law::{self, Fitted, Shape};
use loadline_stats::nnls;
use serde::Serialize;

use super::aging::{self, Aging};
use super::several::{Growth, line};
use super::{fitted, mean_of};
use crate::observe::{Observed, Overheads, Stretch};

/// Fewer collections than this do not tell how often there will be one.
const FEWEST_PAUSES: usize = 3;
/// A line through fewer is drawn by chance; so is one through rates that scatter by less than a share of their mean.
const FEWEST_FOR_A_LINE: usize = 8;
const ALIKE: f64 = 0.1;
/// Background work below this share of a CPU is left out.
const MATTERS: f64 = 1e-4;

/// Overheads of serving, seconds of CPU each, and who is in whose way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    /// Of a visit, outside of requests and handshakes.
    pub visit: Fitted,
    /// Of taking the next connection from the queue.
    pub next: Fitted,
    /// Of a worker that was asleep, on top of it.
    pub woken: Fitted,
    /// Of handing a connection to a worker.
    pub dispatch: Fitted,
    /// Of the dispatcher each time that it was asleep, when a connection becomes readable and when one is given back.
    pub dispatcher_woken: Fitted,
    /// Waits of the dispatcher for a lock, per time that it was awake: of workers that wake it and lose their CPU to it
    /// before they have let go of its selector.
    pub dispatcher_locked: f64,
    /// Whether workers take their work from a queue.
    pub queued: bool,
    /// Of accepting a connection.
    pub accept: Fitted,
    /// Of everything else in the process that grows with what is served: full handshake, resumed, request.
    pub per_event: [f64; 3],
}

impl Costs {
    /// All that can be scaled.
    pub(super) fn each(&mut self) -> impl Iterator<Item = &mut Fitted> {
        [
            &mut self.visit,
            &mut self.next,
            &mut self.woken,
            &mut self.dispatch,
            &mut self.dispatcher_woken,
            &mut self.accept,
        ]
        .into_iter()
    }
}

impl Costs {
    /// Adds CPU that was used while threads were woken, the same to each time.
    pub(super) fn add_to_wakings(&mut self, cpu: f64, o: &Overheads) {
        let wakings = o.slept.len() + o.dispatcher.len() + o.connections as usize;
        if wakings > 0 {
            for cost in [
                &mut self.woken,
                &mut self.dispatcher_woken,
                &mut self.accept,
            ] {
                cost.mean += cpu / wakings as f64;
            }
        }
    }
}

/// Work that comes by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stream {
    /// `compiler` or `other`.
    pub name: &'static str,
    /// Bursts per second.
    pub rate: f64,
    /// CPU of one.
    pub cpu: Fitted,
}

/// The collector, as a function of what is allocated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collections {
    /// How many were seen.
    pub count: usize,
    /// Bytes between two of them.
    pub young: Fitted,
    /// Length of a pause.
    pub pause: Fitted,
    /// Bytes allocated per second of CPU of requests and handshakes.
    pub bytes_per_cpu_second: f64,
    /// How pauses grow with the rate of allocation, in bytes per second, if several recordings tell: from its mean, as a
    /// share of it.
    pub growth: Option<Growth>,
    /// What becomes old, if it can be told.
    pub aging: Option<Aging>,
}

/// A value without a law of its own.
pub(super) fn constant(mean: f64, ci95: f64, count: usize) -> Fitted {
    Fitted {
        mean,
        ci95,
        scv: 0.0,
        count,
        shape: Shape::Constant,
        distance: 0.0,
    }
}

fn average(values: &[f64]) -> Fitted {
    if values.is_empty() {
        return constant(0.0, 0.0, 0);
    }
    let e = mean_of(values);
    constant(
        e.value,
        if e.ci95.is_finite() { e.ci95 } else { 0.0 },
        values.len(),
    )
}

pub(super) fn fit(seen: &Observed, open: &mut Vec<String>) -> (Costs, Vec<Stream>) {
    let o = &seen.overheads;
    let (slept, awake) = (average(&o.slept), average(&o.awake));
    // Where hardly any worker went on without sleep, what that would cost is not known: all is the next visit's.
    let next = if o.awake.len() >= 100 {
        constant(awake.mean.min(slept.mean), awake.ci95, awake.count)
    } else {
        // A virtual thread is made for each visit.
        if o.pooled > 0 {
            open.push(format!(
                "what a worker saves that need not be woken: only {} of {} visits followed another at once",
                o.awake.len(),
                o.visits
            ));
        }
        constant(slept.mean, slept.ci95, slept.count)
    };
    let woken = constant((slept.mean - next.mean).max(0.0), slept.ci95, slept.count);
    let (dispatch, dispatcher_woken) = dispatcher(&o.dispatcher, o.visits);
    let accept = constant(
        o.acceptor / o.connections.max(1) as f64,
        0.0,
        o.connections as usize,
    );
    let (per_event, background) = rest(seen, open);
    let costs = Costs {
        visit: average(&o.visit),
        next,
        woken,
        dispatch,
        dispatcher_woken,
        dispatcher_locked: o.dispatcher_locked as f64 / o.dispatcher.len().max(1) as f64,
        queued: o.pooled > 0,
        accept,
        per_event,
    };
    (costs, background)
}

/// What a connection costs a dispatcher, and what waking does: a dispatcher that is awake hands on several.
fn dispatcher(awake: &[(f64, u32)], visits: u64) -> (Fitted, Fitted) {
    let none = || constant(0.0, 0.0, 0);
    if awake.is_empty() || visits == 0 {
        return (none(), none());
    }
    let costs = |part: &[(f64, u32)]| {
        let rows: Vec<Vec<f64>> = part.iter().map(|a| vec![f64::from(a.1), 1.0]).collect();
        let values: Vec<f64> = part.iter().map(|a| a.0).collect();
        nnls(&rows, &values)
    };
    let all = costs(awake);
    let interval = |i: usize| {
        let e = loadline_stats::by_batches(awake, |part| costs(part)[i]);
        if e.ci95.is_finite() { e.ci95 } else { 0.0 }
    };
    // Those handed on whose moment was not seen cost as well: what was used is used.
    let handed: f64 = awake.iter().map(|a| f64::from(a.1)).sum();
    let used: f64 = awake.iter().map(|a| a.0).sum();
    let visits = visits as f64;
    let factor = used / (all[0] * handed + all[1] * awake.len() as f64).max(1e-12);
    let each = factor * all[0] * handed / visits;
    (
        constant(each, interval(0), awake.len()),
        constant(factor * all[1], interval(1), awake.len()),
    )
}

/// The rest of the process by second, on what was served in it: what grows with it, and what comes by itself.
fn rest(seen: &Observed, open: &mut Vec<String>) -> ([f64; 3], Vec<Stream>) {
    let seconds = seen.others.first().map_or(0, |o| o.seconds.len());
    let mut rows = vec![vec![0.0, 0.0, 0.0, 1.0]; seconds];
    let stretches = seen.stretches();
    let mut count = |at: f64, column: usize| {
        let row = stretches.iter().find_map(|s| s.row(at));
        if let Some(row) = row.and_then(|i| rows.get_mut(i)) {
            row[column] += 1.0;
        }
    };
    seen.handshakes
        .iter()
        .for_each(|h| count(h.begin, usize::from(h.has_resumed())));
    seen.requests.iter().for_each(|r| count(r.begin, 2));
    let mut per_event = [0.0; 3];
    let mut streams = Vec::new();
    for o in seen.others.iter().filter(|o| o.kind != "gc") {
        let total: f64 = o.seconds.iter().sum();
        let share = total / seen.about.seconds;
        let Some(cpu) = fitted(&o.bursts).filter(|_| share > MATTERS) else {
            continue;
        };
        let by = if o.kind == "compiler" {
            // It compiles what has run often enough: that is over some day, and no cost of a request.
            if share > 0.02 {
                open.push(format!(
                    "what the server costs once it is warm: its compiler still used {:.0}% of a CPU",
                    100.0 * share
                ));
            }
            vec![0.0; 4]
        } else {
            nnls(&rows, &o.seconds)
        };
        let grows: f64 = rows
            .iter()
            .map(|r| (0..3).map(|c| r[c] * by[c]).sum::<f64>())
            .sum();
        (0..3).for_each(|c| per_event[c] += by[c]);
        let alone = (total - grows).max(0.0) / seen.about.seconds;
        if alone > MATTERS {
            streams.push(Stream {
                name: o.kind,
                rate: alone / cpu.mean,
                cpu,
            });
        }
    }
    (per_event, streams)
}

/// A collection: how long it took, and how fast had been allocated since the one before.
struct Collection {
    bytes: f64,
    rate: f64,
    length: f64,
}

/// Those of a recording that have one before them, and the CPU of what was served between the first and the last.
fn collections_in(seen: &Observed, stretch: &Stretch) -> (Vec<Collection>, f64) {
    let pauses: Vec<_> = seen
        .pauses
        .iter()
        .filter(|p| stretch.has(p.begin))
        .collect();
    let list = pauses
        .windows(2)
        .filter_map(|w| {
            let bytes = w[1].heap?.0 - w[0].heap?.1;
            (bytes > 0.0).then(|| Collection {
                bytes,
                rate: bytes / (w[1].begin - w[0].begin).max(1e-9),
                length: w[1].length,
            })
        })
        .collect();
    let (Some(first), Some(last)) = (pauses.first(), pauses.last()) else {
        return (list, 0.0);
    };
    let within = |at: f64| at >= first.begin && at < last.begin;
    let requests = seen.requests.iter().filter(|r| within(r.begin));
    let handshakes = seen.handshakes.iter().filter(|h| within(h.begin));
    let cpu = requests
        .map(|r| r.container + r.service + r.held + r.sql)
        .sum::<f64>()
        + handshakes.flat_map(|h| &h.pieces).map(|p| p.1).sum::<f64>();
    (list, cpu)
}

pub(super) fn collections(seen: &Observed, open: &mut Vec<String>) -> Option<Collections> {
    let (mut all, mut cpu) = (Vec::new(), 0.0);
    let stretches = seen.stretches();
    for stretch in &stretches {
        let (list, used) = collections_in(seen, stretch);
        all.extend(list);
        cpu += used;
    }
    let gc: f64 = seen
        .others
        .iter()
        .filter(|o| o.kind == "gc")
        .flat_map(|o| &o.seconds)
        .sum();
    if seen.pauses.len() < FEWEST_PAUSES || all.len() + 1 < FEWEST_PAUSES {
        open.push(format!(
            "how often memory is collected: {} collections were seen ({:.2}% of a CPU)",
            seen.pauses.len(),
            100.0 * gc / seen.about.seconds
        ));
        return None;
    }
    let growth = Some(all.as_slice())
        .filter(|_| stretches.len() > 1)
        .and_then(by_rate);
    let lengths: Vec<f64> = match growth {
        None => seen.pauses.iter().map(|p| p.length).collect(),
        Some(g) => all
            .iter()
            .map(|c| c.length / (1.0 + g.growth * (c.rate / g.at - 1.0)).max(0.1))
            .collect(),
    };
    let bytes: Vec<f64> = all.iter().map(|c| c.bytes).collect();
    Some(Collections {
        count: seen.pauses.len(),
        young: law::fit(&bytes)?,
        pause: law::fit(&lengths)?,
        bytes_per_cpu_second: bytes.iter().sum::<f64>() / cpu.max(1e-9),
        growth,
        aging: aging::aging(seen, &bytes),
    })
}

/// How pauses grow with the rate of allocation: least squares over all collections. `None` where their rates are alike.
fn by_rate(all: &[Collection]) -> Option<Growth> {
    let n = all.len() as f64;
    let mean = all.iter().map(|c| c.rate).sum::<f64>() / n;
    let variance = all.iter().map(|c| (c.rate - mean).powi(2)).sum::<f64>() / n;
    if all.len() < FEWEST_FOR_A_LINE || variance.sqrt() < ALIKE * mean {
        return None;
    }
    // All errors are alike, and what they are follows from the scatter: any value that is too small for it will do.
    let points: Vec<_> = all.iter().map(|c| (c.rate / mean, c.length, 0.0)).collect();
    line(&points).map(|g| Growth { at: mean, ..g })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dispatcher_that_hands_on_several_while_awake_pays_its_waking_once() {
        // 30 µs each time of being awake, 10 µs a connection.
        let awake: Vec<(f64, u32)> = (0..400)
            .map(|i| (30e-6 + 10e-6 * f64::from(i % 4), (i % 4) as u32))
            .collect();
        let visits: u64 = awake.iter().map(|a| u64::from(a.1)).sum();
        let (each, woken) = dispatcher(&awake, visits);
        assert!((each.mean - 10e-6).abs() < 1e-9, "{each:?}");
        assert!((woken.mean - 30e-6).abs() < 1e-9, "{woken:?}");
    }
}
