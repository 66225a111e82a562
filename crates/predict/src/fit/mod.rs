//! From what was observed to the numbers of a model, each with its interval; or why there can be no model.
//!
//! Terms: a *route* is a request's method and path without query and numbers; a *class* is a route, or the rare ones
//! gathered; a *part* of a request's CPU is that of the container, the service, with a pooled connection in hand, in
//! statements; an *overhead* is CPU that no request shows.
//!
//! What always holds: the CPU of all parts, times how often they occurred, is the CPU that the process was seen to use,
//! within [`UTILIZATION_LAW`]; else there is no model. What the recording does not determine is in `open`, by name.

mod aging;
mod classes;
mod locks;
pub(crate) mod outside;
mod overheads;
mod sessions;
mod several;
mod walk;
mod warmth;

use std::collections::BTreeMap;

use loadline_stats::law::{self, Fitted};
use loadline_stats::{Estimate, by_batches};
use serde::Serialize;

use crate::observe::{About, Observed, Pool, RECENT};
pub use aging::Aging;
pub use classes::{Class, Counts, Part, route};
pub use locks::HeldLock;
pub use outside::Queue;
pub use overheads::{Collections, Costs, Stream};
pub use sessions::{END, Think, Visitors, from_scenario, from_trace};
pub use several::{Growth, Recording, fit_several};

/// How far the sum of all demands may be from the CPU that was used. Beyond it, the demands are not what costs.
pub const UTILIZATION_LAW: f64 = 0.03;
/// Above this utilization of its CPUs a server's demands have grown by what its threads do to each other.
const MODERATE: f64 = 0.8;
/// A recording with fewer requests says too little of any class.
const FEWEST_REQUESTS: usize = 200;
/// CPU of a switch, its waking and its wakeup under the recorder's kernel programs, in seconds, and of an event of the
/// agent: 195, 220 and 173 ns (tracepoints on this kind of machine), 52 ns (`bench/event-cost`).
const RECORDED_SWITCH: f64 = 588e-9;
const RECORDED_EVENT: f64 = 52e-9;

/// CPU that `/proc` counts for a thread before the switch to it is seen, per switch: up to this is the kernel's switching, more
/// is something that was not seen. Seen were 1.2 µs, and 2.0 where a database on another CPU wakes threads.
const SWITCHING: f64 = 3e-6;

/// One kind of handshake.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Handshake {
    /// How many were seen.
    pub count: usize,
    /// Its pieces: pause of the client before, CPU.
    pub pieces: Vec<(Fitted, Fitted)>,
}

/// How CPU demands grow from idle CPUs to busy ones; below 0 they shrink.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Contention {
    /// The line.
    pub growth: Growth,
    /// The time before, over which the CPUs' utilization counts.
    pub over: f64,
}

impl Contention {
    /// Whether it is one of single requests, by what their CPU did just before them; else it is one of whole recordings.
    pub fn of_requests(&self) -> bool {
        self.over == RECENT
    }
}

/// Everything that the model's file says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// What was recorded.
    pub about: About,
    /// Classes, the most frequent first.
    pub classes: Vec<Class>,
    /// Full handshakes, if any were seen.
    pub full: Option<Handshake>,
    /// Resumed handshakes.
    pub resumed: Option<Handshake>,
    /// What serving costs besides.
    pub costs: Costs,
    /// The collector.
    pub collections: Option<Collections>,
    /// Work that nobody waits for.
    pub background: Vec<Stream>,
    /// Locks that determine something.
    pub locks: Vec<HeldLock>,
    /// What the delays of the `database` and of other `services` are made of, if several recordings tell.
    pub queues: BTreeMap<&'static str, Queue>,
    /// Pools of connections.
    pub pools: Vec<Pool>,
    /// Most workers busy at a time.
    pub most_workers: u64,
    /// Workers that there may be, if their executors say so.
    pub workers: Option<u64>,
    /// Who comes.
    pub visitors: Visitors,
    /// CPUs in use on average while it was recorded.
    pub used: f64,
    /// Demands times occurrences over CPU used, less 1.
    pub law: f64,
    /// CPU of the process by `/proc` over that by thread states, less 1, if both are known.
    pub counters: Option<f64>,
    /// CPU per request of the second half over the first, less 1.
    pub drift: f64,
    /// By how much demands were lowered for the cost of recording.
    pub recording: f64,
    /// How CPU demands grow with the utilization of the CPUs.
    pub contention: Option<Contention>,
    /// The recordings, if there are several.
    pub recordings: Vec<Recording>,
    /// What this recording does not determine, and why.
    pub open: Vec<String>,
}

/// A law with the interval of its mean from batches in the order of time, in which neighbours may be alike.
fn fitted(values: &[f64]) -> Option<Fitted> {
    let mut f = law::fit(values)?;
    let batches = mean_of(values);
    if batches.ci95.is_finite() {
        f.ci95 = f.ci95.max(batches.ci95);
    }
    Some(f)
}

fn mean_of(values: &[f64]) -> Estimate {
    by_batches(values, |part| part.iter().sum::<f64>() / part.len() as f64)
}

/// Fits. The error says why there is no model, and what to do.
pub fn fit(seen: &Observed, visitors: Visitors) -> Result<Fit, String> {
    sound(seen)?;
    let mut open = Vec::new();
    let recording = (seen.switches as f64 * RECORDED_SWITCH
        + seen.agent_events as f64 * RECORDED_EVENT)
        / seen.cpu.max(1e-9);
    let mut classes = classes::fit(&seen.requests, &seen.pools, &seen.stretches());
    let mut full = handshakes(seen, false, &mut open);
    let mut resumed = handshakes(seen, true, &mut open);
    let (mut costs, mut background) = overheads::fit(seen, &mut open);
    let collections = overheads::collections(seen, &mut open);

    // The utilization law, before anything is corrected: what the demands come to over what was used.
    let of_classes: f64 = classes.iter().map(|c| c.cpu() * c.count as f64).sum();
    let of_handshakes: f64 = [&full, &resumed]
        .into_iter()
        .flatten()
        .map(|h| h.count as f64 * h.pieces.iter().map(|p| p.1.mean).sum::<f64>())
        .sum();
    let of_collector: f64 = seen
        .others
        .iter()
        .filter(|o| o.kind == "gc")
        .flat_map(|o| &o.seconds)
        .sum();
    let of_background: f64 =
        background.iter().map(|b| b.rate * b.cpu.mean).sum::<f64>() * seen.about.seconds;
    let o = &seen.overheads;
    let of_visits = o.visits as f64 * (costs.visit.mean + costs.next.mean + costs.dispatch.mean)
        + o.slept.len() as f64 * costs.woken.mean
        + costs.dispatcher_woken.mean * o.dispatcher.len() as f64
        + costs.accept.mean * o.connections as f64;
    // Of threads that serve no connection, what they do for each: those of a client of other services, for one.
    let resumptions = seen.handshakes.iter().filter(|h| h.has_resumed()).count();
    let events = [
        seen.handshakes.len() - resumptions,
        resumptions,
        seen.requests.len(),
    ];
    let of_events: f64 = costs
        .per_event
        .iter()
        .zip(events)
        .map(|(cpu, n)| cpu * n as f64)
        .sum();
    let demands = of_classes + of_handshakes + of_collector + of_background + of_events + of_visits;
    let law = demands / seen.cpu - 1.0;
    if law.abs() > UTILIZATION_LAW {
        return Err(format!(
            "the utilization law is off by {:+.1}%: what was seen of requests, handshakes and threads comes to {:.2} s of CPU, \
             the process used {:.2} s. A prediction would be off by as much. Requests or handshakes that the recording does not \
             see are the usual reason: start the server with the agent, or record for longer",
            100.0 * law,
            demands,
            seen.cpu
        ));
    }
    let counters = seen
        .counted
        .map(|(cpu, _)| cpu / seen.cpu_where_counted.max(1e-9) - 1.0);
    if let Some(off) = counters.filter(|off| off.abs() > UTILIZATION_LAW)
        && !(0.0..=SWITCHING).contains(&per_switch(seen))
    {
        return Err(format!(
            "the utilization law is off by {:+.1}%: /proc counted so much more CPU than the threads' states show. \
             Something ran in this process that the recorder did not see; record again",
            100.0 * off
        ));
    }
    costs.add_to_wakings(of_switching(seen), &seen.overheads);
    // Demands are those of the server alone.
    let scale = 1.0 - recording;
    for class in &mut classes {
        class
            .parts
            .iter_mut()
            .for_each(|p| scaled(&mut p.law, scale));
    }
    for h in [&mut full, &mut resumed].into_iter().flatten() {
        h.pieces.iter_mut().for_each(|p| scaled(&mut p.1, scale));
    }
    costs.each().for_each(|c| scaled(c, scale));
    background
        .iter_mut()
        .for_each(|b| scaled(&mut b.cpu, scale));
    for pool in seen.pools.iter().filter(|p| p.limit.is_none()) {
        open.push(format!(
            "how many connections pool {} may have: {} were in use at a time at most",
            pool.name, pool.most_used
        ));
    }
    for class in classes.iter().filter(|c| c.several_pools) {
        open.push(format!(
            "how {} shares its time among several pools: it is modelled at the one that it asks most",
            class.name
        ));
    }
    // As many virtual threads as there is work.
    if seen.workers.is_none() && costs.queued {
        open.push(format!(
            "how many workers there may be: {} were busy at a time at most",
            seen.most_workers
        ));
    }
    let locks = locks::fit(seen, &classes, &mut open);
    for (what, waits) in &seen.shared {
        open.push(format!(
            "how waiting for {what} grows: {waits} waits of requests for it are modelled as a time that does not"
        ));
    }
    for what in outside::ALL.iter().filter(|o| o.is_waited_for(&classes)) {
        let busy = seen.others_on_machine.map_or(String::new(), |o| {
            format!(
                " (all other processes of this machine used {:.0}% of a CPU)",
                100.0 * o
            )
        });
        open.push(what.open() + &busy);
    }
    open.push(
        "the time on the network and in the client: the server's recording does not see it".into(),
    );
    Ok(Fit {
        about: seen.about.clone(),
        classes,
        full,
        resumed,
        costs,
        collections,
        background,
        locks,
        queues: BTreeMap::new(),
        pools: seen.pools.clone(),
        most_workers: seen.most_workers,
        workers: seen.workers,
        visitors,
        used: seen.cpu / seen.about.seconds,
        law,
        counters,
        drift: drift(seen),
        recording,
        contention: warmth::warmth(seen).map(|growth| Contention {
            growth,
            over: RECENT,
        }),
        recordings: Vec::new(),
        open,
    })
}

/// CPU per switch to a thread that `/proc` counted and the threads' states do not show. None of several recordings together:
/// each has been looked at by itself.
fn per_switch(seen: &Observed) -> f64 {
    let Some((cpu, _)) = seen.counted.filter(|_| seen.several.is_empty()) else {
        return 0.0;
    };
    let switches = seen.switches as f64 * seen.cpu_where_counted / seen.cpu;
    (cpu - seen.cpu_where_counted) / switches.max(1.0)
}

/// CPU of switching in all.
fn of_switching(seen: &Observed) -> f64 {
    per_switch(seen).clamp(0.0, SWITCHING) * seen.switches as f64
}

fn scaled(f: &mut Fitted, factor: f64) {
    f.mean *= factor;
    f.ci95 *= factor;
}

/// Whether the recording can be modelled at all.
fn sound(seen: &Observed) -> Result<(), String> {
    if seen.cpu <= 0.0 {
        return Err("the recording has no kernel level, and without it nobody knows what used how much CPU: record as root".into());
    }
    if seen.requests.len() < FEWEST_REQUESTS {
        return Err(format!(
            "the recording has {} whole requests; {FEWEST_REQUESTS} are the least that a model can be fitted to: record for longer, under load",
            seen.requests.len()
        ));
    }
    let used = seen.cpu / seen.about.seconds / f64::from(seen.about.cpus);
    if used > MODERATE {
        return Err(format!(
            "the server used {:.0}% of its CPUs: under such a load demands hold what threads do to each other. Record at half of it or less",
            100.0 * used
        ));
    }
    Ok(())
}

/// CPU per request of the recording's second half over its first, less 1, each class weighted as in the whole.
fn drift(seen: &Observed) -> f64 {
    let stretches = seen.stretches();
    let second_half = |at: f64| {
        let of = stretches.iter().find(|s| s.has(at));
        of.is_some_and(|s| at >= s.begin + 0.5 * s.seconds)
    };
    let mut sums: std::collections::BTreeMap<String, [(f64, f64); 2]> = Default::default();
    for r in &seen.requests {
        let cell = &mut sums.entry(route(&r.name)).or_default()[usize::from(second_half(r.begin))];
        cell.0 += r.container + r.service + r.held + r.sql;
        cell.1 += 1.0;
    }
    let (mut first, mut second) = (0.0, 0.0);
    for [a, b] in sums.values() {
        if a.1 > 0.0 && b.1 > 0.0 {
            first += a.0 / a.1 * (a.1 + b.1);
            second += b.0 / b.1 * (a.1 + b.1);
        }
    }
    if first > 0.0 {
        second / first - 1.0
    } else {
        0.0
    }
}

/// Handshakes of a kind, by the number of pieces that most of them have.
fn handshakes(seen: &Observed, resumed: bool, open: &mut Vec<String>) -> Option<Handshake> {
    let all: Vec<_> = seen
        .handshakes
        .iter()
        .filter(|h| h.has_resumed() == resumed)
        .collect();
    let mut lengths: std::collections::BTreeMap<usize, usize> = Default::default();
    all.iter()
        .for_each(|h| *lengths.entry(h.pieces.len()).or_default() += 1);
    let (&usual, _) = lengths.iter().max_by_key(|(_, n)| **n)?;
    let kind = if resumed { "resumed" } else { "full" };
    let unknown = all.iter().filter(|h| h.resumed.is_none()).count();
    if unknown > 0 {
        open.push(format!(
            "whether {unknown} handshakes resumed a session: they are taken for full ones, each for what those cost on average"
        ));
    }
    if all.len() < 20 {
        open.push(format!(
            "what a {kind} handshake costs: only {} were seen",
            all.len()
        ));
    }
    let same: Vec<_> = all.iter().filter(|h| h.pieces.len() == usual).collect();
    let column = |i: usize, of: fn(&(f64, f64)) -> f64| {
        let values: Vec<f64> = same.iter().map(|h| of(&h.pieces[i])).collect();
        fitted(&values)
    };
    let mut pieces = (0..usual)
        .map(|i| Some((column(i, |p| p.0)?, column(i, |p| p.1)?)))
        .collect::<Option<Vec<_>>>()?;
    // Those with another number of pieces cost what they cost: the mean is that of all.
    let total = |h: &crate::observe::Handshake| h.pieces.iter().map(|p| p.1).sum::<f64>();
    let mean = all.iter().map(|h| total(h)).sum::<f64>() / all.len() as f64;
    let of_same = same.iter().map(|h| total(h)).sum::<f64>() / same.len() as f64;
    pieces
        .iter_mut()
        .for_each(|p| scaled(&mut p.1, mean / of_same.max(1e-12)));
    Some(Handshake {
        count: all.len(),
        pieces,
    })
}
