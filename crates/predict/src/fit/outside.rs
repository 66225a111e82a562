//! How a database, or other services, slow down: their delays in recordings of different loads, as a fixed part and a queue.
//!
//! A statement, or a call, waits for a delay that is always the same (the network, the disk, commits) and for a processor-sharing
//! queue (the CPUs of the database, as far as one can see from here): `d + s / (1 - x s)` at `x` statements per second. Two
//! loads give the two unknowns. How many servers there are is not among them: one is taken, since that is what limits first.
//! All services together are taken for one.

use loadline_stats::law::Fitted;
use loadline_stats::{Random, Stream};
use serde::Serialize;

use super::{Class, Fit};

/// What requests wait for that is outside of the server.
pub(crate) struct Outside {
    /// Its station in the model.
    pub name: &'static str,
    /// What a request asks of it.
    pub asked: &'static str,
    /// What is not known, if that is so: how it slows down.
    pub how: &'static str,
    /// What one recording says of it.
    pub as_it_was: &'static str,
    /// What a station is taken for.
    pub taken_for: &'static str,
    /// How often a request of a class asks.
    pub times: fn(&Class) -> f64,
    /// What it waits for the answers.
    wait: fn(&Class) -> &Option<Fitted>,
    wait_mut: fn(&mut Class) -> &mut Option<Fitted>,
}

/// All of them.
pub(crate) const ALL: [Outside; 2] = [
    Outside {
        name: "database",
        asked: "statement",
        how: "how the database slows down",
        as_it_was: "its delays are taken as they were",
        taken_for: "how many CPUs the database has: its queue is taken to have one server",
        times: |c| c.statements,
        wait: |c| &c.sql_wait,
        wait_mut: |c| &mut c.sql_wait,
    },
    Outside {
        name: "services",
        asked: "call",
        how: "how the answers of other services grow",
        as_it_was: "they are modelled as a time that does not",
        taken_for: "how many CPUs other services have, and which of them slows down: all are taken for one queue with one server",
        times: |c| c.calls,
        wait: |c| &c.service_wait,
        wait_mut: |c| &mut c.service_wait,
    },
];

impl Outside {
    /// Whether a fit has waits for it.
    pub(super) fn is_waited_for(&self, classes: &[Class]) -> bool {
        classes.iter().any(|c| (self.wait)(c).is_some())
    }

    /// What one recording leaves open.
    pub(super) fn open(&self) -> String {
        format!("{}: {}", self.how, self.as_it_was)
    }

    /// A queue takes its part of what classes wait, if recordings of different loads, each fitted alone, tell of one.
    pub(super) fn queue_at(&self, all: &mut Fit, alone: &[Fit]) {
        let seen: Vec<Seen> = alone.iter().filter_map(|f| self.seen(f)).collect();
        if seen.len() < alone.len() {
            return;
        }
        // What a single recording says of it holds no longer.
        all.open.retain(|o| !o.starts_with(self.how));
        let queue = match queue(&seen, self.asked) {
            Ok(queue) => queue,
            Err(why) => {
                all.open.push(format!("{}: {why}", self.how));
                return;
            }
        };
        all.open.push(self.taken_for.into());
        for class in &mut all.classes {
            let part = (self.times)(class) * queue.residence;
            if let Some(wait) = (self.wait_mut)(class) {
                wait.mean = (wait.mean - part).max(0.0);
            }
        }
        all.queues.insert(self.name, queue);
    }

    /// What a recording says by its fit: waits of all classes by how often they ask.
    fn seen(&self, fit: &Fit) -> Option<Seen> {
        let (mut asked, mut waited, mut error) = (0.0, 0.0, 0.0);
        for class in &fit.classes {
            let n = class.count as f64;
            asked += n * (self.times)(class);
            if let Some(wait) = (self.wait)(class) {
                waited += n * wait.mean;
                error += (n * wait.ci95).powi(2);
            }
        }
        (asked > 0.0 && waited > 0.0).then(|| Seen {
            rate: asked / fit.about.seconds,
            delay: waited / asked,
            ci95: error.sqrt() / asked,
            count: asked,
        })
    }
}

/// Rates of statements whose quotient is below this are too much alike.
const APART: f64 = 1.3;
/// Draws for the intervals.
const DRAWS: usize = 200;
/// Steps of a bisection: the last changes no digit.
const STEPS: usize = 60;

/// A delay and a queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Queue {
    /// Seconds of the queue's server that a statement, or a call, takes.
    pub service: f64,
    /// Half the width of its 95% interval.
    pub ci95: f64,
    /// Seconds that it spends in the queue, its service included, on average over the recordings.
    pub residence: f64,
}

/// What one recording says: statements per second, waiting for each, half the width of its 95% interval, statements.
#[derive(Debug, Clone, Copy)]
struct Seen {
    rate: f64,
    delay: f64,
    ci95: f64,
    count: f64,
}

/// The queue that makes a delay grow as it did; the error says why there is none.
fn queue(seen: &[Seen], asked: &str) -> Result<Queue, String> {
    let (Some(low), Some(high)) = (
        seen.iter().min_by(|a, b| a.rate.total_cmp(&b.rate)),
        seen.iter().max_by(|a, b| a.rate.total_cmp(&b.rate)),
    ) else {
        return Err(format!("the recordings have no {asked} that waited"));
    };
    if high.rate < APART * low.rate {
        return Err(format!(
            "the recordings had {:.0} to {:.0} {asked}s a second, which is too much alike",
            low.rate, high.rate
        ));
    }
    let grown = high.delay - low.delay;
    if grown <= low.ci95.hypot(high.ci95) {
        return Err(format!(
            "from {:.0} to {:.0} {asked}s a second their delay did not grow by more than chance ({:.3} ms and {:.3} ms)",
            low.rate,
            high.rate,
            1e3 * low.delay,
            1e3 * high.delay
        ));
    }
    let service = service_of(low.rate, high.rate, grown)
        .min(most(low))
        .min(most(high));
    let mut stream = Stream::new(1, "database");
    let drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let of = |s: &Seen, z: f64| s.delay + z * s.ci95 / 1.96;
            let grown = of(high, stream.normal()) - of(low, stream.normal());
            service_of(low.rate, high.rate, grown.max(0.0))
        })
        .collect();
    let mean = drawn.iter().sum::<f64>() / DRAWS as f64;
    let variance = drawn.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64;
    let count: f64 = seen.iter().map(|s| s.count).sum();
    let residence = seen
        .iter()
        .map(|s| s.count * service / (1.0 - s.rate * service).max(1e-3))
        .sum::<f64>()
        / count;
    Ok(Queue {
        service,
        ci95: 1.96 * variance.sqrt(),
        residence,
    })
}

/// The service with which no delay is left beside the queue: a longer one contradicts what was seen.
fn most(s: &Seen) -> f64 {
    s.delay / (1.0 + s.rate * s.delay)
}

/// The service whose time in the queue grows by so much between two rates.
fn service_of(low: f64, high: f64, grown: f64) -> f64 {
    let (mut from, mut to) = (0.0, 1.0 / high);
    for _ in 0..STEPS {
        let s = 0.5 * (from + to);
        if s / (1.0 - high * s) - s / (1.0 - low * s) < grown {
            from = s;
        } else {
            to = s;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rate: f64, delay: f64, ci95: f64) -> Seen {
        Seen {
            rate,
            delay,
            ci95,
            count: 1000.0 * rate,
        }
    }

    #[test]
    fn a_delay_and_a_queue_are_told_apart_by_two_loads() {
        // 0.4 ms and a queue of 1 ms: at 100/s 1/0.9, at 700/s 1/0.3.
        let of = |rate: f64, ci95| at(rate, 0.4e-3 + 1e-3 / (1.0 - rate * 1e-3), ci95);
        let d = queue(&[of(100.0, 5e-6), of(700.0, 50e-6)], "call").expect("it grew");
        assert!((d.service - 1e-3).abs() < 1e-9, "{d:?}");
        assert!(d.ci95 > 1e-6 && d.ci95 < 0.05e-3, "{d:?}");
        // Weighted by statements: an eighth of them at the low rate.
        let residence = (1e-3 / 0.9 + 7.0 * 1e-3 / 0.3) / 8.0;
        assert!((d.residence - residence).abs() < 1e-6, "{d:?}");
    }

    #[test]
    fn what_did_not_grow_or_was_not_apart_is_no_queue() {
        let no =
            queue(&[at(100.0, 1e-3, 1e-4), at(700.0, 1.1e-3, 1e-4)], "call").expect_err("chance");
        assert!(no.contains("did not grow"), "{no}");
        let no = queue(&[at(100.0, 1e-3, 1e-6), at(110.0, 2e-3, 1e-6)], "call").expect_err("alike");
        assert!(no.contains("too much alike"), "{no}");
        assert!(queue(&[], "call").is_err());
    }

    #[test]
    fn no_more_is_in_the_queue_than_was_waited_for() {
        // Growth that would need a queue longer than the delay that there was at the low rate.
        let d = queue(&[at(100.0, 0.2e-3, 1e-6), at(500.0, 2e-3, 1e-6)], "call").expect("it grew");
        assert!(
            d.service / (1.0 - 0.1 * d.service * 1e3) <= 0.2e-3 * 1.001,
            "{d:?}"
        );
    }
}
