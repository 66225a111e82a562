//! Which changes are more than noise. Pure.
//!
//! A measure's change is the ratio of its means. The variance of each mean has two parts:
//! * within recordings, from their parts ([`loadline_stats::by_batches`]);
//! * between recordings: code is compiled in another order, a neighbour works, the clock changes. From three recordings of
//!   each side on their spread shows it, where it is larger than the first. With fewer, most measures of a program do not
//!   change, so they tell how much they vary besides: the variance is added with which half of all changes, from their
//!   median on, lie as near as Student's and the normal distribution say (the empirical null of Efron, "Large-Scale
//!   Simultaneous Hypothesis Testing", JASA 99, 2004, with an additive variance as in random-effects meta-analysis), and
//!   at least [`DRIFT`].
//!
//! The median of all changes, the host's speed or the load, is taken out. Whether what is left differs from 1 is asked of
//! the means themselves, not of their logarithms (Fieller's theorem): a mean that one slow call in thirty makes has an
//! error as large as itself, and its logarithm would look sure.
//!
//! A measure that happened too rarely for a mean is compared by its ranks ([`ranks`]): twenty calls that each take a
//! hundred times longer are a change, however few they are.
//!
//! All are taken for changes by Holm's step-down procedure (1979), so that in 95% of comparisons of equals nothing is named.
//! Measures of code are a family of their own with a part of those 5%, and have no say in what all changed by: whoever takes
//! samples would else find less in everything besides.

mod ranks;

use loadline_stats::student::{t_cdf, t_quantile};
use loadline_stats::{Estimate, by_batches};
use serde::Serialize;

use super::measures::{CODE, WAITING};

/// Chance that a comparison of equals names a change.
const ALPHA: f64 = 0.05;
/// What of it is for code, where there are other measures.
const ALPHA_OF_CODE: f64 = 0.01;
/// Relative standard deviation of a change between single recordings of one program, at least. Of ten recordings of the
/// auction site on a virtual machine, compared in pairs (1,269 changes), 4.8% then lie outside of 95% and 1.1% outside of
/// 99%; with 0.04 it was 7.3 and 2.8%, and without any 13 and 7%. More only costs power.
const DRIFT: f64 = 0.06;
/// Recordings of a side from which on their own spread tells what they differ by.
pub(super) const ENOUGH: usize = 3;
/// Fewer measures than this do not tell the centre and the spread of all.
const FEWEST_FOR_NULL: usize = 8;
/// A change that is sure and smaller than this is not worth a sentence.
const SMALLEST: f64 = 0.01;
/// Measures of code.
const CODE_KINDS: [&str; 2] = [CODE, WAITING];
/// Occurrences on each side from which on means are compared.
const FEWEST_FOR_MEANS: f64 = 30.0;
/// Relative error from which on a mean says nothing of what all changed by.
const VAGUE: f64 = 0.5;

/// A sum over some occurrences, and how many they were.
pub type Part = (f64, f64);

/// The parts of a measure, per recording of a side, in the order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side(pub Vec<Vec<Part>>);

/// A mean that both sides have.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// endpoint, phase, cause, lock, sql, handshake, vm, code or waiting in.
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
    /// endpoint, phase, cause, lock, sql, handshake, vm, code or waiting in.
    pub kind: &'static str,
    /// Which one.
    pub name: String,
    /// `ms per request`, …
    pub unit: &'static str,
    /// Mean before; of what happened rarely, the median.
    pub before: f64,
    /// The same now.
    pub now: f64,
    /// Whether it happened so rarely that medians and ranks were compared.
    pub rare: bool,
    /// Relative change, the common factor taken out: 0.1 is 10% more.
    pub change: f64,
    /// Its 95% confidence interval; without an upper end (`null` in JSON) if the mean before may be anything.
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

/// Mean of a side, its relative standard error, and the degrees of freedom behind it.
#[derive(Debug, Clone, Copy)]
struct Mean {
    value: f64,
    error: f64,
    freedom: f64,
}

fn mean(side: &Side) -> Option<Mean> {
    let each: Vec<Estimate> = side
        .0
        .iter()
        .map(|parts| by_batches(parts, ratio))
        .collect();
    let known: Vec<&Estimate> = each
        .iter()
        .filter(|e| e.value >= 0.0 && e.freedom > 0 && e.freedom < usize::MAX)
        .collect();
    let n = known.len() as f64;
    let value = known.iter().map(|e| e.value).sum::<f64>() / n.max(1.0);
    // Of something that never occurred nothing can be a multiple.
    if value <= 0.0 {
        return None;
    }
    // Within recordings: standard errors of the parts, pooled.
    let error = |e: &Estimate| e.ci95 / t_quantile(0.975, e.freedom);
    let within = known.iter().map(|e| error(e).powi(2)).sum::<f64>() / (n * n);
    let within_freedom = known.iter().map(|e| e.freedom as f64).sum::<f64>();
    let between = if known.len() > 1 {
        known.iter().map(|e| (e.value - value).powi(2)).sum::<f64>() / (n - 1.0) / n
    } else {
        0.0
    };
    let (variance, freedom) = if between > within {
        (between, n - 1.0)
    } else {
        (within, within_freedom)
    };
    (variance > 0.0).then(|| Mean {
        value,
        error: variance.sqrt() / value,
        freedom,
    })
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

/// Means of both sides, before they are judged.
struct Raw<'a> {
    of: &'a Measure,
    before: Mean,
    now: Mean,
}

impl Raw<'_> {
    fn log(&self) -> f64 {
        (self.now.value / self.before.value).ln()
    }

    /// The change besides the factor `common`, if equals differ by the relative standard deviation `drift`, of which
    /// `drift_freedom` degrees of freedom tell.
    fn change(&self, common: f64, drift: f64, drift_freedom: f64) -> Change {
        let ratio = self.now.value / (self.before.value * common);
        // Relative variances of the means; each side has half of the drift.
        let (a, b) = (self.before.error.powi(2), self.now.error.powi(2));
        let half = drift.powi(2) / 2.0;
        let (of_before, of_now) = (a + half, b + half);
        // Welch and Satterthwaite.
        let freedom = (of_before + of_now).powi(2)
            / (a.powi(2) / self.before.freedom
                + b.powi(2) / self.now.freedom
                + drift.powi(4) / drift_freedom);
        let freedom = (freedom.floor() as usize).max(1);
        let t = (ratio - 1.0) / (of_before + ratio.powi(2) * of_now).sqrt();
        let squared = t_quantile(0.975, freedom).powi(2);
        let (before, now) = (1.0 - squared * of_before, 1.0 - squared * of_now);
        let root = (1.0 - before * now).max(0.0).sqrt();
        let interval = if before > 0.0 {
            let end = |sign: f64| ratio * (1.0 + sign * root) / before - 1.0;
            [end(-1.0).max(-1.0), end(1.0)]
        } else {
            // What was may be nothing: whatever is now may be any multiple of it.
            let low = if now > 0.0 {
                ratio * now / (1.0 + root)
            } else {
                0.0
            };
            [low - 1.0, f64::INFINITY]
        };
        Change {
            kind: self.of.kind,
            name: self.of.name.clone(),
            unit: self.of.unit,
            before: self.before.value,
            now: self.now.value,
            rare: false,
            change: ratio - 1.0,
            interval,
            p: (2.0 * (1.0 - t_cdf(t.abs(), freedom))).clamp(0.0, 1.0),
            real: false,
            weight: weight(self.of),
        }
    }
}

/// Judges the changes of all measures together.
pub fn judge(measures: &[Measure]) -> Verdict {
    let mut raw = Vec::new();
    let mut rare = Vec::new();
    let mut too_few = 0;
    for of in measures {
        let often = of.sides.iter().all(|s| occurrences(s) >= FEWEST_FOR_MEANS);
        let [before, now] = [&of.sides[0], &of.sides[1]].map(mean);
        match (before, now) {
            (Some(before), Some(now)) if often => raw.push(Raw { of, before, now }),
            _ if !often && ranks::can(of) => rare.push(of),
            _ => too_few += 1,
        }
    }
    let few = measures
        .iter()
        .flat_map(|m| m.sides.iter().map(|s| s.0.len()))
        .min()
        .is_some_and(|n| n < ENOUGH);
    // Code alone tells of itself.
    let (code, others): (Vec<&Raw>, Vec<&Raw>) = raw.iter().partition(|r| is_code(r.of));
    let tell = if others.is_empty() { &code } else { &others };
    let (centre, drift) = null(tell, few);
    let common = centre.exp();
    // Of the drift that was estimated, half as many degrees of freedom as measures; the floor is a constant.
    let drift_freedom = if drift > DRIFT {
        tell.len() as f64 / 2.0
    } else {
        f64::INFINITY
    };
    let mut changes: Vec<Change> = raw
        .iter()
        .map(|r| r.change(common, drift, drift_freedom))
        .chain(rare.into_iter().map(|of| ranks::change(of, common)))
        .collect();
    changes.sort_by(|a, b| a.p.total_cmp(&b.p));
    let (code, others): (Vec<_>, Vec<_>) = changes
        .iter_mut()
        .partition(|c| CODE_KINDS.contains(&c.kind));
    let of_code = if others.is_empty() {
        ALPHA
    } else {
        ALPHA_OF_CODE
    };
    let of_others = if code.is_empty() {
        ALPHA
    } else {
        ALPHA - ALPHA_OF_CODE
    };
    holm(code, of_code);
    holm(others, of_others);
    changes.sort_by(|a, b| {
        b.real
            .cmp(&a.real)
            .then_with(|| a.p.total_cmp(&b.p))
            .then_with(|| b.change.abs().total_cmp(&a.change.abs()))
    });
    Verdict {
        common,
        drift,
        changes,
        too_few,
    }
}

/// Holm: the surest against all comparisons, the next against all but one, until one fails.
fn holm(by_p: Vec<&mut Change>, alpha: f64) {
    let all = by_p.len();
    for (i, change) in by_p.into_iter().enumerate() {
        if change.p > alpha / (all - i) as f64 {
            break;
        }
        change.real = change.change.abs() >= SMALLEST;
    }
}

fn is_code(measure: &Measure) -> bool {
    CODE_KINDS.contains(&measure.kind)
}

/// Centre of the changes, and what they vary by besides their errors.
fn null(raw: &[&Raw], few: bool) -> (f64, f64) {
    let floor = if few { DRIFT } else { 0.0 };
    let told: Vec<(f64, f64)> = raw
        .iter()
        .map(|r| (r.log(), r.before.error.hypot(r.now.error)))
        .filter(|(_, error)| *error < VAGUE)
        .collect();
    if told.len() < FEWEST_FOR_NULL {
        return (0.0, floor);
    }
    let centre = median(&mut told.iter().map(|(log, _)| *log).collect::<Vec<_>>());
    if !few {
        return (centre, floor);
    }
    // Half of what is normal lies within 0.6745 standard deviations.
    let too_small = |drift: f64| {
        let mut distances: Vec<f64> = told
            .iter()
            .map(|(log, error)| (log - centre).abs() / error.hypot(drift))
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

fn occurrences(side: &Side) -> f64 {
    side.0.iter().flatten().map(|p| p.1).sum()
}

/// Time now, all together: what a change of it amounts to.
fn weight(m: &Measure) -> f64 {
    m.sides[1].0.iter().flatten().map(|p| p.0).sum()
}

#[cfg(test)]
mod tests;
