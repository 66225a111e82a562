//! Changes of what happened too rarely for a mean: the test of Mann and Whitney (1947), with the shift estimate and the
//! interval of Hodges and Lehmann (1963), on logarithms, so that a shift is a factor.

use loadline_stats::random::normal_cdf;

use super::{Change, Measure, Side, median, weight};

/// Occurrences below which ranks cannot tell anything at the level that many comparisons demand.
const FEWEST: usize = 6;
/// Rare calls differ between recordings by what they met (a cold page, a collection). Only a change by more than this
/// factor is asked for.
const FACTOR: f64 = 2.0;
/// 97.5% quantile of the normal distribution.
const Z: f64 = 1.959_964;

/// Whether the occurrences of both sides are there one by one, and enough.
pub fn can(of: &Measure) -> bool {
    let [a, b] = [&of.sides[0], &of.sides[1]].map(values);
    let few = if a.len() <= b.len() { 0 } else { 1 };
    a.len().min(b.len()) >= FEWEST && of.sides[few].0.iter().flatten().all(|p| p.1 == 1.0)
}

/// Means of parts; of the side that is rare each part is one occurrence.
fn values(side: &Side) -> Vec<f64> {
    let parts = side.0.iter().flatten();
    parts
        .map(|(sum, count)| sum / count)
        .filter(|v| *v > 0.0)
        .collect()
}

/// The change besides the factor `common`.
pub fn change(of: &Measure, common: f64) -> Change {
    let [mut before, mut now] = [&of.sides[0], &of.sides[1]].map(values);
    let mut factors: Vec<f64> = before
        .iter()
        .flat_map(|a| now.iter().map(move |b| b / (a * common)))
        .collect();
    factors.sort_by(f64::total_cmp);
    let (n, m) = (before.len() as f64, now.len() as f64);
    let error = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let cut = (n * m / 2.0 - Z * error).floor().max(0.0) as usize;
    let ends = [factors[cut], factors[factors.len() - 1 - cut]];
    // In how many pairs the later is more than `factor` times the earlier, as a normal deviate.
    let deviate = |factor: f64| {
        let above = factors.len() - factors.partition_point(|f| *f <= factor);
        let ties = factors[..factors.len() - above]
            .iter()
            .rev()
            .take_while(|f| **f == factor)
            .count();
        (above as f64 + ties as f64 / 2.0 - n * m / 2.0) / error
    };
    let more = 1.0 - normal_cdf(deviate(FACTOR));
    let less = normal_cdf(deviate(1.0 / FACTOR));
    Change {
        kind: of.kind,
        name: of.name.clone(),
        unit: of.unit,
        before: median(&mut before),
        now: median(&mut now),
        rare: true,
        change: median(&mut factors) - 1.0,
        interval: ends.map(|f| f - 1.0),
        p: (2.0 * more.min(less)).clamp(0.0, 1.0),
        real: false,
        weight: weight(of),
    }
}
