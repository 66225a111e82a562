//! Running a simulation until it is precise enough: warm-up, stop rule, replications, and what must stop it early.

use crate::answer::{self, Answer};
use crate::engine::{End, Engine, Segment};
use crate::model::{Arrivals, Model, UNLIMITED};
use crate::time::Time;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The precision that is reached where nobody says one.
pub const PRECISION: f64 = 0.01;

/// Runs of a load that changes, whatever their precision: an overload that comes and goes has no precise mean.
const MOST_RUNS: usize = 50;

/// How long and how often to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What the random streams begin with; equal seeds give equal results, to the last bit.
    pub seed: u64,
    /// Wanted half width of the 95% interval of every class's mean response time and throughput, relative to the value;
    /// `None` is what the model says, else [`PRECISION`].
    pub precision: Option<f64>,
    /// Exactly so many requests instead of a precision.
    pub requests: Option<u64>,
    /// Requests after which to stop whatever the precision.
    pub most_requests: u64,
    /// Events after which to stop: some ten minutes.
    pub most_events: u64,
    /// Simulated seconds after which to stop.
    pub most_seconds: f64,
    /// Independent runs; intervals come from their scatter if there are several.
    pub replications: u32,
    /// Worker threads for replications and sweeps; never changes a result.
    pub workers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            precision: None,
            requests: None,
            most_requests: 20_000_000,
            most_events: 5_000_000_000,
            most_seconds: 1e9,
            replications: 1,
            workers: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl Options {
    /// The precision to reach for a model.
    pub fn precision_of(&self, model: &Model) -> f64 {
        self.precision.or(model.precision).unwrap_or(PRECISION)
    }
}

/// What one run left behind.
pub struct Outcome {
    /// What was recorded after the warm-up.
    pub segments: Vec<Segment>,
    /// The same interval by interval, if the load changes over the run.
    pub over_time: Vec<Segment>,
    /// When the warm-up ended, in seconds; `None` if the run was too short to tell (its second half is used).
    pub warm_up: Option<f64>,
    /// Mean response time over simulated time, from the very beginning: the transient.
    pub curve: Vec<(f64, f64)>,
    /// Simulated seconds.
    pub seconds: f64,
    /// Events taken from the calendar.
    pub events: u64,
    /// Requests completed.
    pub requests: u64,
    /// What stopped it before its time.
    pub problem: Option<Problem>,
    /// Whether the wanted precision was reached.
    pub precise: bool,
}

/// Why there is no steady state to report.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// Some can never go on.
    Deadlock(crate::engine::Deadlock),
    /// Requests come faster than they can be served; the parts that are at their limit.
    Unstable(Vec<String>),
    /// Nothing happens any more.
    Stopped,
    /// Requests follow each other without time passing.
    Timeless,
}

/// Simulates a model.
pub fn simulate(model: &Model, options: &Options) -> Answer {
    let outcomes = if model.terminates() && options.replications <= 1 {
        whole_runs(model, options)
    } else {
        replicate(model, options, 0..options.replications.max(1) as usize)
    };
    answer::from_runs(model, options, outcomes)
}

/// Independent runs of these numbers.
fn replicate(model: &Model, options: &Options, numbers: Range<usize>) -> Vec<Outcome> {
    let first = numbers.start;
    in_parallel(numbers.len(), options.workers, |i| {
        let seed = options.seed.wrapping_add((first + i) as u64 * 0x9e37_79b9);
        once(
            model,
            &Options {
                seed,
                ..options.clone()
            },
        )
    })
}

/// Runs that end of themselves: ten from beginning to end, and half as many more until they are precise enough.
fn whole_runs(model: &Model, options: &Options) -> Vec<Outcome> {
    let most = options.requests.unwrap_or(options.most_requests);
    let mut outcomes: Vec<Outcome> = Vec::new();
    loop {
        let more = (outcomes.len() / 2).max(10);
        let from = outcomes.len();
        outcomes.extend(replicate(model, options, from..from + more));
        let done: u64 = outcomes.iter().map(|o| o.requests).sum();
        let enough = options.requests.is_none()
            && answer::precise_over_runs(model, &outcomes, options.precision_of(model));
        if enough {
            outcomes.iter_mut().for_each(|o| o.precise = true);
        }
        let many = model.length().is_some() && outcomes.len() >= MOST_RUNS;
        if enough || many || done >= most || outcomes.iter().any(|o| o.problem.is_some()) {
            return outcomes;
        }
    }
}

/// `n` tasks on `workers` threads; results in the order of the tasks, whoever did them.
pub fn in_parallel<T: Send>(n: usize, workers: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<T>>> = Mutex::new((0..n).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, n.max(1)) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n {
                        return;
                    }
                    let result = task(i);
                    if let Ok(mut results) = results.lock() {
                        results[i] = Some(result);
                    }
                }
            });
        }
    });
    results
        .into_inner()
        .map(|r| r.into_iter().flatten().collect())
        .unwrap_or_default()
}

/// One run with one seed.
pub fn once(model: &Model, options: &Options) -> Outcome {
    let mut engine = Engine::new(model, options.seed, 2_000_000);
    let seconds = model.length().unwrap_or(f64::INFINITY);
    let until = Time((options.most_seconds.min(seconds) * 1e9).min(1e18) as u64);
    // A run that ends of itself goes on to its end; the number of requests then bounds that of runs.
    let wanted = options.requests.filter(|_| !model.terminates());
    let most = match wanted {
        _ if model.terminates() => u64::MAX,
        Some(requests) => requests,
        None => options.most_requests,
    };
    let mut checkpoint = wanted.unwrap_or(20_000).min(most);
    let mut precise_before = false;
    let mut precise = false;
    let mut problem = None;
    let mut stuck_since = 0.0;
    loop {
        // A run that completes nothing must still be looked at: simulated time doubles between looks.
        let look = Time(((stuck_since * 2.0 + 1000.0) * 1e9) as u64).min(until);
        let end = engine.run(checkpoint, look);
        let over = end == End::Empty;
        match end {
            End::Deadlocked(deadlock) => problem = Some(Problem::Deadlock(deadlock)),
            End::Timeless => problem = Some(Problem::Timeless),
            End::Flooded => problem = Some(Problem::Unstable(saturated(model, &engine))),
            End::Empty => {
                let ends = model.terminates() || is_trace_or_empty(model);
                problem = (!ends).then_some(Problem::Stopped);
            }
            End::Limit => {}
        }
        if problem.is_some() || over {
            break;
        }
        let completions = engine.record().completions;
        stuck_since = engine.now().seconds();
        problem = engine.find_deadlock().map(Problem::Deadlock);
        // A load that rises and falls may well be too high for a while.
        let may_grow = model.length().is_some();
        if problem.is_none() && completions >= 10_000 && !may_grow && grows(model, &engine) {
            problem = Some(Problem::Unstable(saturated(model, &engine)));
        }
        if problem.is_some()
            || completions >= most
            || engine.now() >= until
            || engine.events() >= options.most_events
        {
            break;
        }
        if completions < checkpoint {
            continue;
        }
        if options.requests.is_none() && !model.terminates() {
            let enough = precise_enough(model, &engine, options.precision_of(model));
            if enough && precise_before {
                precise = true;
                break;
            }
            precise_before = enough;
        }
        checkpoint = (checkpoint + checkpoint / 2).min(most);
    }
    finish(model, engine, problem, precise)
}

fn is_trace_or_empty(model: &Model) -> bool {
    model
        .sources
        .iter()
        .all(|s| matches!(s.arrivals, Arrivals::Trace(_) | Arrivals::Replay(_)))
}

fn finish(
    model: &Model,
    mut engine: Engine<'_>,
    problem: Option<Problem>,
    precise: bool,
) -> Outcome {
    // The last, unfinished segment is closed only if there is no other.
    if engine.record().segments().len() < 8 {
        engine.close_record();
    }
    let mut over_time = Vec::new();
    let (segments, warm_up) = if model.terminates() {
        engine.close_record();
        if model.length().is_some() {
            over_time = engine.record().segments().to_vec();
        }
        (Segment::merged(engine.record().segments()), Some(0.0))
    } else {
        steady(&engine)
    };
    Outcome {
        segments,
        over_time,
        warm_up,
        curve: engine.record().mser.curve().to_vec(),
        seconds: engine.now().seconds(),
        events: engine.events(),
        requests: engine.record().completions,
        problem,
        precise,
    }
}

/// The segments after the warm-up.
fn steady(engine: &Engine<'_>) -> (Vec<Segment>, Option<f64>) {
    let all = engine.record().segments();
    let warm_up = engine.record().mser.warm_up();
    let from = warm_up.map_or(all.len() / 2, |w| {
        all.partition_point(|s| s.end - s.seconds < w)
    });
    (
        all[from.min(all.len().saturating_sub(1))..].to_vec(),
        warm_up,
    )
}

fn precise_enough(model: &Model, engine: &Engine<'_>, precision: f64) -> bool {
    let (segments, warm_up) = steady(engine);
    if segments.len() < 64 || warm_up.is_none() {
        return false;
    }
    let meters = engine.meters();
    (0..model.classes.len()).all(|class| {
        let m = meters.class(class);
        let total: f64 = segments.iter().map(|s| s.meters[m + 1]).sum();
        // A class of which nothing is seen cannot be waited for, nor one that nobody waits for.
        total == 0.0
            || model.classes[class].background
            || (answer::ratio(&segments, m + 2, Some(m + 1)).relative() <= precision
                && answer::ratio(&segments, m + 1, None).relative() <= precision)
    })
}

/// Whether the number in the system keeps growing in an open model: each quarter of the run clearly above the one
/// before, and something at its limit throughout the second half.
fn grows(model: &Model, engine: &Engine<'_>) -> bool {
    if model
        .sources
        .iter()
        .all(|s| matches!(s.arrivals, Arrivals::Closed(_)))
        || engine.in_system() < 100
    {
        return false;
    }
    let record = engine.record();
    let all = record.segments();
    if all.len() < 128 {
        return false;
    }
    let levels: Vec<usize> = engine
        .meters()
        .in_system
        .iter()
        .map(|&l| record.meter_of(l))
        .collect();
    let mean = |part: &[Segment]| {
        let seconds: f64 = part.iter().map(|s| s.seconds).sum();
        part.iter()
            .map(|s| levels.iter().map(|&m| s.meters[m]).sum::<f64>())
            .sum::<f64>()
            / seconds
    };
    let quarter = all.len() / 4;
    let q: Vec<f64> = (0..4)
        .map(|i| mean(&all[i * quarter..(i + 1) * quarter]))
        .collect();
    q[1] > 1.3 * q[0]
        && q[2] > 1.15 * q[1]
        && q[3] > 1.1 * q[2]
        && !saturated(model, engine).is_empty()
}

/// Whatever was at its limit in the second half of the run.
fn saturated(model: &Model, engine: &Engine<'_>) -> Vec<String> {
    let record = engine.record();
    let all = record.segments();
    let half = &all[all.len() / 2..];
    let seconds: f64 = half.iter().map(|s| s.seconds).sum();
    let meters = engine.meters();
    let mean = |level: usize| {
        half.iter()
            .map(|s| s.meters[record.meter_of(level)])
            .sum::<f64>()
            / seconds
    };
    let mut list = Vec::new();
    let mut check = |what: &str, name: &str, level: usize, limit: u32| {
        if limit != UNLIMITED && mean(level) > 0.985 * f64::from(limit) {
            list.push(format!("{what} {name}"));
        }
    };
    for (i, s) in model.stations.iter().enumerate() {
        check("station", &s.name, meters.station_busy[i], s.servers);
    }
    for (i, m) in model.machines.iter().enumerate() {
        check("machine", &m.name, meters.machine_busy[i], m.cores);
    }
    for (i, r) in model.resources.iter().enumerate() {
        check("resource", &r.name, meters.resource_held[i], r.units);
    }
    for (i, p) in model.pools.iter().enumerate() {
        check("pool", &p.name, meters.pool_busy[i], p.max_threads);
    }
    list
}
