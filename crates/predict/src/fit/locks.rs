//! Locks: how long they are held and how often they are taken, from the waits for them alone, since nothing else of them
//! is recorded.
//!
//! Terms: a *residual* is what is left of a hold when somebody comes; a *whole hold* is one that begins when the lock is
//! handed to a waiter while another waits.
//!
//! Who finds the lock taken sees a residual: until it changes hands next, which the waits show as long as one waits. Its moments are those of the hold's length-biased
//! law (Cox, *Renewal Theory*, 1962): E[r] = E[h²]/2E[h], E[r²] = E[h³]/3E[h]. With holds taken for gamma, two moments of
//! the one give two of the other. Where there are enough whole holds, they are the law themselves. A share of `rate * E[h]`
//! finds the lock taken (arrivals see time averages: Wolff, 1982), so that waits per second are `rate² E[h]`.

use loadline_stats::law::{Family, Fitted, Shape};
use loadline_stats::{Random, Stream, law};
use serde::Serialize;

use super::classes::{Class, route};
use crate::observe::{Lock, LockWait, Observed};

/// Fewer waits than this say too little; fewer than [`TOLD`] are not even mentioned.
const FEWEST: usize = 100;
const TOLD: usize = 20;
/// Whole holds from which on they are the law.
const FEWEST_WHOLE: usize = 50;
/// Owners that were kept from a CPU for longer than this share of the time: what was seen is the scheduler, not the hold.
const KEPT: f64 = 0.5;
/// Share of waits that must be of requests, which alone take locks in the model.
const OF_REQUESTS: f64 = 0.8;
/// A lock that could carry so many times what the CPUs can determines nothing.
const AMPLE: f64 = 20.0;
/// Most locks in a model.
const MOST: usize = 5;
/// Samples drawn anew for an interval.
const RESAMPLES: usize = 200;

/// A lock of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldLock {
    /// Class of the object.
    pub class: String,
    /// Waits that were seen.
    pub waits: usize,
    /// Whether the law of holds was seen itself.
    pub whole: bool,
    /// CPU while it is held.
    pub cpu: Fitted,
    /// Waiting for something else while it is held.
    pub wait: Option<Fitted>,
    /// How often a request takes it, on average, and half the width of the 95% interval.
    pub taken: (f64, f64),
    /// What taken is to be multiplied with for each class that takes it: name, factor.
    pub by_class: Vec<(String, f64)>,
    /// The part of a request in which it is taken.
    pub part: &'static str,
}

/// How long a lock is held.
#[derive(Debug, Clone, PartialEq)]
struct Holds {
    mean: f64,
    shape: Shape,
    scv: f64,
    whole: bool,
}

/// What waits say: residuals, whole holds.
fn told(waits: &[LockWait]) -> (Vec<f64>, Vec<f64>) {
    let end = |w: &LockWait| w.begin + w.seconds;
    let mut by_end: Vec<&LockWait> = waits.iter().collect();
    by_end.sort_by(|a, b| end(a).total_cmp(&end(b)));
    let whole = by_end
        .windows(2)
        .filter(|w| w[1].begin < end(w[0]))
        .map(|w| end(w[1]) - end(w[0]))
        .collect();
    let residual = |w: &LockWait| {
        let next = by_end.partition_point(|x| end(x) <= w.begin);
        by_end.get(next).map(|x| end(x) - w.begin)
    };
    (waits.iter().filter_map(residual).collect(), whole)
}

/// By how much counts of waits scatter more than independent ones would: waits come together while a lock is held long.
fn dispersion(waits: &[LockWait], seconds: f64) -> f64 {
    const PARTS: usize = 30;
    let mut counts = [0.0; PARTS];
    for w in waits {
        let part = w.begin / seconds.max(1e-9) * PARTS as f64;
        counts[(part as usize).min(PARTS - 1)] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / PARTS as f64;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (PARTS - 1) as f64;
    (variance / mean.max(1e-9)).max(1.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The shape of the gamma law of holds with these residuals.
fn shape(residuals: &[f64]) -> f64 {
    let squares = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
    // E[r²]/E[r]² = 4/3 (k + 2)/(k + 1) for a gamma of shape k: from 4/3 of a constant to 8/3 of the most uneven.
    let y = (0.75 * squares / mean(residuals).powi(2)).clamp(1.001, 1.85);
    (2.0 - y) / (y - 1.0)
}

/// The mean hold: by whole ones if there are enough.
fn mean_hold(residuals: &[f64], whole: &[f64]) -> f64 {
    if whole.len() >= FEWEST_WHOLE {
        return mean(whole);
    }
    let k = shape(residuals);
    2.0 * mean(residuals) * k / (k + 1.0)
}

fn holds(residuals: &[f64], whole: &[f64]) -> Option<Holds> {
    let mean = mean_hold(residuals, whole);
    if mean.is_nan() || mean <= 0.0 {
        return None;
    }
    if whole.len() >= FEWEST_WHOLE {
        let f = law::fit(whole)?;
        return Some(Holds {
            mean,
            shape: f.shape,
            scv: f.scv,
            whole: true,
        });
    }
    let scv = 1.0 / shape(residuals);
    Some(Holds {
        mean,
        shape: if scv < 0.01 {
            Shape::Constant
        } else {
            Shape::Family(Family::Gamma, scv)
        },
        scv,
        whole: false,
    })
}

/// The sum over recordings of seconds times the square of requests a second: what waits per `n² E[h]` there are, if a
/// request takes the lock `n` times.
fn exposure(seen: &Observed) -> f64 {
    let stretches = seen.stretches();
    let square = |s: &crate::observe::Stretch| {
        let n = seen.requests.iter().filter(|r| s.has(r.begin)).count() as f64;
        n * n / s.seconds.max(1e-9)
    };
    stretches.iter().map(square).sum()
}

/// Half widths of 95% intervals of the mean hold and of how often it is taken, by drawing the observations anew, and their
/// count with the standard deviation that it has.
fn intervals(residuals: &[f64], whole: &[f64], waits: (f64, f64), exposure: f64) -> (f64, f64) {
    let (n, scatter) = waits;
    let mut stream = Stream::new(1, "locks");
    let again = |of: &[f64], stream: &mut Stream| -> Vec<f64> {
        let pick = |_: &f64| of[((stream.uniform() * of.len() as f64) as usize).min(of.len() - 1)];
        of.iter().map(pick).collect()
    };
    let pairs: Vec<(f64, f64)> = (0..RESAMPLES)
        .map(|_| {
            let (r, w) = (again(residuals, &mut stream), again(whole, &mut stream));
            let mean = mean_hold(&r, &w);
            let count = (n + scatter * stream.normal()).max(1.0);
            (mean, (count / mean / exposure).sqrt())
        })
        .collect();
    let half = |of: fn(&(f64, f64)) -> f64| {
        let n = pairs.len() as f64;
        let mean = pairs.iter().map(of).sum::<f64>() / n;
        let variance = pairs.iter().map(|p| (of(p) - mean).powi(2)).sum::<f64>() / (n - 1.0);
        1.96 * variance.sqrt()
    };
    (half(|p| p.0), half(|p| p.1))
}

/// Fits the locks that determine something; what cannot be told of the others goes into `open`.
pub(super) fn fit(seen: &Observed, classes: &[Class], open: &mut Vec<String>) -> Vec<HeldLock> {
    let mut list = Vec::new();
    for lock in &seen.locks {
        match one(lock, seen, classes) {
            Ok(Some(held)) if list.len() < MOST => list.push(held),
            Ok(_) => {}
            Err(why) if lock.waits.len() >= TOLD => {
                open.push(format!("how long {} is held: {why}", lock.class))
            }
            Err(_) => {}
        }
    }
    list
}

fn one(lock: &Lock, seen: &Observed, classes: &[Class]) -> Result<Option<HeldLock>, String> {
    let n = lock.waits.len();
    if n < FEWEST {
        let seconds: f64 = lock.waits.iter().map(|w| w.seconds).sum();
        return Err(format!(
            "only {n} waits for it were seen, {:.2} ms each",
            1e3 * seconds / n.max(1) as f64
        ));
    }
    let of_requests = lock.waits.iter().filter(|w| w.request.is_some()).count();
    if (of_requests as f64) < OF_REQUESTS * n as f64 {
        return Err(format!(
            "{} of {n} waits for it were those of requests",
            if of_requests == 0 {
                "none".into()
            } else {
                format!("only {of_requests}")
            }
        ));
    }
    let o = &lock.owners;
    if o.held <= 0.0 || o.kept > KEPT * o.held {
        return Err(format!(
            "of the time that others waited, its owners were kept from a CPU, or waited for another lock, for {:.0}%",
            100.0 * o.kept / o.held.max(1e-12)
        ));
    }
    let (residuals, whole) = told(&lock.waits);
    let exposure = exposure(seen);
    let Some(held) = holds(&residuals, &whole) else {
        return Err("no wait for it took any time".into());
    };
    let scatter = (n as f64 * dispersion(&lock.waits, seen.about.seconds)).sqrt();
    let (mean_ci95, taken_ci95) = intervals(&residuals, &whole, (n as f64, scatter), exposure);
    let taken = (n as f64 / held.mean / exposure).sqrt();
    // What a hold is when nobody keeps its owner from a CPU.
    let own = 1.0 - o.kept / o.held;
    let share = o.running / (o.running + o.waiting).max(1e-12);
    // By its capacity beside that of the CPUs: requests per second of either, were it all that there is.
    let cpus = f64::from(seen.about.cpus) / (seen.cpu / seen.requests.len() as f64);
    if 1.0 / (taken * held.mean * own) > AMPLE * cpus {
        return Ok(None);
    }
    let part = of_part(&lock.waits);
    let law = |share: f64| Fitted {
        mean: held.mean * own * share,
        ci95: mean_ci95 * own * share,
        scv: held.scv,
        count: if held.whole {
            whole.len()
        } else {
            residuals.len()
        },
        shape: held.shape.clone(),
        distance: 0.0,
    };
    let cpu = law(share);
    Ok(Some(HeldLock {
        class: lock.class.clone(),
        waits: n,
        whole: held.whole,
        by_class: by_class(lock, classes, taken, cpu.mean, part),
        cpu,
        wait: (share < 0.9).then(|| law(1.0 - share)),
        taken: (taken, taken_ci95),
        part,
    }))
}

/// The part of a request that most of the waits were in.
fn of_part(waits: &[LockWait]) -> &'static str {
    let count = |part: &str| waits.iter().filter(|w| w.part == part).count();
    crate::observe::PARTS
        .into_iter()
        .max_by_key(|p| count(p))
        .unwrap_or("service")
}

/// Who takes it, relative to the mean request: all who come find it taken equally often, so that waits are in proportion
/// to how often each takes it. None can use more CPU in it than it has in that part.
fn by_class(
    lock: &Lock,
    classes: &[Class],
    taken: f64,
    cpu: f64,
    part: &str,
) -> Vec<(String, f64)> {
    let of_requests: Vec<String> = lock
        .waits
        .iter()
        .filter_map(|w| w.request.as_deref().map(route))
        .collect();
    let requests: usize = classes.iter().map(|c| c.count).sum();
    let share = |c: &Class| {
        let n = of_requests.iter().filter(|r| c.routes.contains(r)).count();
        let waits = n as f64 / of_requests.len() as f64;
        waits * requests as f64 / c.count as f64
    };
    let bounded = |c: &Class| {
        let found = c.parts.iter().find(|p| p.name == part);
        let most = found.map_or(0.0, |p| p.law.mean) / cpu.max(1e-12) / taken;
        share(c).min(most)
    };
    classes
        .iter()
        .map(|c| (c.name.clone(), bounded(c)))
        .filter(|(_, factor)| *factor > 1e-3)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{About, Owners, Request};
    use loadline_stats::random::Dist;

    /// A lock taken `rate` times a second, at random, first come, first served: what a recording shows of it.
    fn waits(rate: f64, hold: &Dist, seconds: f64, seed: u64) -> Vec<LockWait> {
        let mut stream = Stream::new(seed, "lock");
        let (mut at, mut free) = (0.0, 0.0f64);
        let mut list = Vec::new();
        while at < seconds {
            at += stream.exponential() / rate;
            if free > at {
                list.push(LockWait {
                    begin: at,
                    seconds: free - at,
                    request: Some("GET /a".into()),
                    part: "service",
                });
            }
            free = free.max(at) + hold.sample(&mut stream);
        }
        list
    }

    /// 100 requests a second for 300 s, of 4 ms in the service; each takes the lock twice.
    fn seen(hold: &Dist, seed: u64) -> Observed {
        let waits = waits(200.0, hold, 300.0, seed);
        Observed {
            about: About {
                seconds: 300.0,
                cpus: 1,
                ..About::default()
            },
            requests: (0..30_000)
                .map(|i| Request {
                    name: "GET /a".into(),
                    begin: f64::from(i) * 0.01,
                    end: f64::from(i) * 0.01 + 5e-3,
                    service: 4e-3,
                    ..Request::default()
                })
                .collect(),
            locks: vec![Lock {
                class: "L".into(),
                object: 1,
                waits,
                owners: Owners {
                    held: 1.0,
                    running: 1.0,
                    ..Owners::default()
                },
            }],
            cpu: 120.0,
            ..Observed::default()
        }
    }

    fn fitted(seen: &Observed) -> (Vec<HeldLock>, Vec<String>) {
        let mut open = Vec::new();
        let classes = super::super::classes::fit(&seen.requests, &seen.pools, &seen.stretches());
        (fit(seen, &classes, &mut open), open)
    }

    #[test]
    fn holds_of_any_law_and_how_often_they_are_taken_are_found_from_waits_alone() {
        // 0.3 ms, of which 6% of all who come find something: constant, exponential, uneven.
        for (name, hold) in [
            ("constant", Dist::Constant(0.3e-3)),
            ("exponential", Dist::Exponential(0.3e-3)),
            ("uneven", Dist::Gamma(0.5, 0.6e-3)),
        ] {
            let mut hits = [0, 0];
            for seed in 0..20 {
                let (locks, open) = fitted(&seen(&hold, seed));
                let lock = locks.first().unwrap_or_else(|| panic!("{name}: {open:?}"));
                assert!(lock.waits > 3000 && lock.part == "service", "{lock:?}");
                assert!(
                    lock.cpu.ci95 < 0.1e-3 && lock.taken.1 < 0.5,
                    "{name}: {lock:?}"
                );
                hits[0] += usize::from((lock.cpu.mean - 0.3e-3).abs() <= lock.cpu.ci95);
                hits[1] += usize::from((lock.taken.0 - 2.0).abs() <= lock.taken.1);
            }
            // 19 of 20, less what chance allows.
            assert!(hits.iter().all(|h| *h >= 15), "{name}: {hits:?} of 20");
        }
    }

    #[test]
    fn a_lock_under_load_shows_whole_holds() {
        // Half of the time: hands change while others wait.
        let hold = Dist::Exponential(2.5e-3);
        let (locks, _) = fitted(&seen(&hold, 5));
        assert!(locks[0].whole, "{locks:?}");
        let (cpu, taken) = (&locks[0].cpu, locks[0].taken);
        assert!(
            (cpu.mean - 2.5e-3).abs() <= 1.5 * cpu.ci95 && cpu.ci95 < 0.2e-3,
            "{cpu:?}"
        );
        assert!(
            (taken.0 - 2.0).abs() <= 1.5 * taken.1 && taken.1 < 0.2,
            "{taken:?}"
        );
    }

    #[test]
    fn what_waits_do_not_tell_is_said_and_what_determines_nothing_is_left_out() {
        let mut s = seen(&Dist::Exponential(0.3e-3), 1);
        s.locks[0].owners.kept = 0.8;
        let (locks, open) = fitted(&s);
        assert!(
            locks.is_empty() && open[0].contains("how long L is held") && open[0].contains("80%"),
            "{open:?}"
        );
        s.locks[0].owners.kept = 0.0;
        s.locks[0].waits.iter_mut().for_each(|w| w.request = None);
        assert!(fitted(&s).1[0].contains("those of requests"));
        s.locks[0].waits.truncate(30);
        assert!(fitted(&s).1[0].contains("only 30 waits"));
        // 2 x 20 µs of 4 ms: the CPU is full long before.
        let (locks, open) = fitted(&seen(&Dist::Constant(20e-6), 1));
        assert!(locks.is_empty() && open.is_empty(), "{locks:?} {open:?}");
    }

    #[test]
    fn half_of_a_hold_may_be_waiting() {
        let mut s = seen(&Dist::Exponential(0.3e-3), 1);
        s.locks[0].owners = Owners {
            held: 1.0,
            running: 0.4,
            kept: 0.2,
            waiting: 0.4,
        };
        let lock = fitted(&s).0.remove(0);
        let wait = lock.wait.expect("half of what is its own");
        assert!((wait.mean - lock.cpu.mean).abs() < 1e-12, "{wait:?}");
        assert!(
            (lock.cpu.mean / 0.12e-3 - 1.0).abs() < 0.3,
            "{:?}",
            lock.cpu
        );
    }
}
