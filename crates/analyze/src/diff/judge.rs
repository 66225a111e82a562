//! Which changes are more than noise. Pure.
//!
//! A measure's change is the logarithm of the ratio of its means. Its variance has two parts:
//! * within recordings, from their parts ([`loadline_stats::by_batches`]);
//! * between recordings: code is compiled in another order, a neighbour works, the clock changes. From three recordings of
//!   each side on their spread shows it, where it is larger than the first. With fewer, most measures of a program do not
//!   change, so they tell how much they vary besides: the variance is added with which half of all changes, from their
//!   median on, lie as near as Student's and the normal distribution say (the empirical null of Efron, "Large-Scale
//!   Simultaneous Hypothesis Testing", JASA 99, 2004, with an additive variance as in random-effects meta-analysis), and
//!   at least [`DRIFT`].
//!
//! The median of all changes, the host's speed or the load, is taken out. What is left is compared with Student's
//! distribution, and taken for a change by Holm's step-down procedure (1979), so that in 95% of comparisons of equals
//! nothing is named.

use loadline_stats::student::t_cdf;
use loadline_stats::{Estimate, by_batches};
use serde::Serialize;

/// Chance that a comparison of equals names a change.
const ALPHA: f64 = 0.05;
/// Relative standard deviation of a change between single recordings of one program, at least. With 3% of drift per
/// recording, 15% of comparisons of equals named a change without this floor and 5% with it; half of it gave 7%, and more
/// only costs power (the tests of this module draw such recordings).
const DRIFT: f64 = 0.04;
/// Recordings of a side from which on their own spread tells what they differ by.
const ENOUGH: usize = 3;
/// Fewer measures than this do not tell the centre and the spread of all.
const FEWEST_FOR_NULL: usize = 8;
/// A change that is sure and smaller than this is not worth a sentence.
const SMALLEST: f64 = 0.01;

/// A sum over some occurrences, and how many they were.
pub type Part = (f64, f64);

/// The parts of a measure, per recording of a side, in the order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side(pub Vec<Vec<Part>>);

/// A mean that both sides have.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// endpoint, phase, cause, lock, sql, pool, handshake, thread or vm.
    pub kind: &'static str,
    /// Which one.
    pub name: String,
    /// `ms per request`, …
    pub unit: &'static str,
    /// Before and now.
    pub sides: [Side; 2],
}

/// A measure before and now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// endpoint, phase, cause, lock, sql, pool, handshake, thread or vm.
    pub kind: &'static str,
    /// Which one.
    pub name: String,
    /// `ms per request`, …
    pub unit: &'static str,
    /// Mean before.
    pub before: f64,
    /// Mean now.
    pub now: f64,
    /// Relative change, the common factor taken out: 0.1 is 10% more.
    pub change: f64,
    /// Its 95% confidence interval.
    pub interval: [f64; 2],
    /// Chance of such a change if nothing had changed, before the correction for many comparisons.
    pub p: f64,
    /// Whether it is more than noise, all comparisons considered.
    pub real: bool,
    /// Its time now, all together, ms: by which changes are weighed.
    pub weight: f64,
}

/// The judgement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// What most measures changed by alike: 1.08 is 8% more.
    pub common: f64,
    /// Relative standard deviation that changes have besides what the parts of the recordings say.
    pub drift: f64,
    /// Changes, those that are real first, then by how sure they are.
    pub changes: Vec<Change>,
    /// Measures with too few occurrences to compare.
    pub too_few: usize,
}

impl Verdict {
    /// Changes that are more than noise.
    pub fn real(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|c| c.real)
    }
}

fn ratio(parts: &[Part]) -> f64 {
    let (sum, count) = parts
        .iter()
        .fold((0.0, 0.0), |(s, n), (sum, count)| (s + sum, n + count));
    sum / count
}

/// Mean of a side, the standard error of its logarithm, and the degrees of freedom behind it.
fn log_mean(side: &Side) -> Option<(f64, f64, f64)> {
    let each: Vec<Estimate> = side
        .0
        .iter()
        .map(|parts| by_batches(parts, ratio))
        .collect();
    let known: Vec<&Estimate> = each
        .iter()
        .filter(|e| e.value > 0.0 && e.freedom > 0 && e.freedom < usize::MAX)
        .collect();
    if known.is_empty() {
        return None;
    }
    let n = known.len() as f64;
    let mean = known.iter().map(|e| e.value).sum::<f64>() / n;
    // Within recordings: standard errors of the parts, pooled.
    let error = |e: &Estimate| e.ci95 / loadline_stats::student::t_quantile(0.975, e.freedom);
    let within = known.iter().map(|e| error(e).powi(2)).sum::<f64>() / (n * n);
    let within_freedom = known.iter().map(|e| e.freedom as f64).sum::<f64>();
    let between = if known.len() > 1 {
        known.iter().map(|e| (e.value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n
    } else {
        0.0
    };
    let (variance, freedom) = if between > within {
        (between, n - 1.0)
    } else {
        (within, within_freedom)
    };
    (variance > 0.0).then(|| (mean, variance.sqrt() / mean, freedom))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// A change before it is judged.
struct Raw<'a> {
    of: &'a Measure,
    before: f64,
    now: f64,
    log: f64,
    error: f64,
    freedom: f64,
}

/// Judges the changes of all measures together.
pub fn judge(measures: &[Measure]) -> Verdict {
    let mut raw = Vec::new();
    let mut too_few = 0;
    for of in measures {
        let [a, b] = [&of.sides[0], &of.sides[1]].map(log_mean);
        let (Some((before, ea, fa)), Some((now, eb, fb))) = (a, b) else {
            too_few += 1;
            continue;
        };
        let error = (ea * ea + eb * eb).sqrt();
        // Welch and Satterthwaite.
        let freedom = error.powi(4) / (ea.powi(4) / fa + eb.powi(4) / fb);
        raw.push(Raw {
            of,
            before,
            now,
            log: (now / before).ln(),
            error,
            freedom,
        });
    }
    let few = measures
        .iter()
        .flat_map(|m| m.sides.iter().map(|s| s.0.len()))
        .min()
        .is_some_and(|n| n < ENOUGH);
    let (centre, drift) = null(&raw, few);

    let mut changes: Vec<Change> = raw
        .iter()
        .map(|r| {
            let variance = r.error.powi(2) + drift.powi(2);
            // Of the drift that was estimated, half as many degrees of freedom as measures; the floor is a constant.
            let estimated = if drift > DRIFT { drift } else { 0.0 };
            let freedom = variance.powi(2)
                / (r.error.powi(4) / r.freedom + estimated.powi(4) / (raw.len() as f64 / 2.0));
            let freedom = (freedom.floor() as usize).max(1);
            let error = variance.sqrt();
            let half = loadline_stats::student::t_quantile(0.975, freedom) * error;
            let log = r.log - centre;
            let p = 2.0 * (1.0 - t_cdf((log / error).abs(), freedom));
            Change {
                kind: r.of.kind,
                name: r.of.name.clone(),
                unit: r.of.unit,
                before: r.before,
                now: r.now,
                change: log.exp() - 1.0,
                interval: [(log - half).exp() - 1.0, (log + half).exp() - 1.0],
                p: p.clamp(0.0, 1.0),
                real: false,
                weight: weight(r.of),
            }
        })
        .collect();
    changes.sort_by(|a, b| a.p.total_cmp(&b.p));
    // Holm: the surest against all comparisons, the next against all but one, until one fails.
    let all = changes.len();
    for (i, change) in changes.iter_mut().enumerate() {
        if change.p > ALPHA / (all - i) as f64 {
            break;
        }
        change.real = change.change.abs() >= SMALLEST;
    }
    changes.sort_by(|a, b| {
        b.real
            .cmp(&a.real)
            .then_with(|| a.p.total_cmp(&b.p))
            .then_with(|| b.change.abs().total_cmp(&a.change.abs()))
    });
    Verdict {
        common: centre.exp(),
        drift,
        changes,
        too_few,
    }
}

/// Centre of the changes, and what they vary by besides their errors.
fn null(raw: &[Raw], few: bool) -> (f64, f64) {
    let floor = if few { DRIFT } else { 0.0 };
    if raw.len() < FEWEST_FOR_NULL {
        return (0.0, floor);
    }
    let centre = median(&mut raw.iter().map(|r| r.log).collect::<Vec<_>>());
    if !few {
        return (centre, floor);
    }
    // Half of what is normal lies within 0.6745 standard deviations.
    let too_small = |drift: f64| {
        let mut distances: Vec<f64> = raw
            .iter()
            .map(|r| (r.log - centre).abs() / r.error.hypot(drift))
            .collect();
        median(&mut distances) > 0.6745
    };
    if !too_small(floor) {
        return (centre, floor);
    }
    let (mut low, mut high) = (floor, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if too_small(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (centre, high)
}

/// Time now, all together: what a change of it amounts to.
fn weight(m: &Measure) -> f64 {
    m.sides[1].0.iter().flatten().map(|p| p.0).sum()
}

#[cfg(test)]
mod tests;
