//! Several recordings of one server under different loads: what changes with load, and everything else from all of them.
//!
//! Terms: *growth* is the share by which something grows while its cause goes from nothing to all (CPU demands by the
//! utilization of the CPUs), or doubles (collections by the rate of allocation), from where it is as written.
//!
//! What always holds: each recording is sound by itself, by the same checks as a single one; what it says of CPU is
//! undone of its load before the recordings are taken together.

use loadline_stats::student::t_quantile;
use serde::Serialize;

use super::{Class, Contention, Fit, Handshake, Visitors, fit, of_switching, outside};
use crate::observe::{Observed, end_to_end};

/// What recordings as a whole say of load holds over seconds.
const SETTLED: f64 = 1.0;
/// Recordings whose utilizations are nearer to each other say nothing of what changes with load.
const APART: f64 = 0.1;
/// Growth beyond these is chance, and the model's language does not take it.
pub(super) const CREDIBLE: std::ops::RangeInclusive<f64> = -0.9..=10.0;
/// Fewer of a class in any recording say too little of it there.
const FEWEST: usize = 30;

/// How something grows, and where it is as written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Growth {
    /// The share.
    pub growth: f64,
    /// Half the width of its 95% interval.
    pub ci95: f64,
    /// Where what grows is as written.
    pub at: f64,
}

impl Growth {
    /// What it makes of something where its cause is so much.
    pub fn factor(&self, cause: f64) -> f64 {
        1.0 + self.growth * (cause - self.at)
    }
}

/// One of several recordings, and what it gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recording {
    /// Its folder.
    pub trace: String,
    /// Its length.
    pub seconds: f64,
    /// Requests in it.
    pub requests: usize,
    /// Share of the CPUs that was used.
    pub utilization: f64,
    /// CPU of a request of the mix of all recordings, with its handshakes and visits.
    pub cpu: f64,
    /// Half the width of its 95% interval.
    pub ci95: f64,
    /// Its utilization law.
    pub law: f64,
    /// Its drift.
    pub drift: f64,
}

/// Fits several recordings together; one is fitted as one. The error names the recording that it is about.
pub fn fit_several(
    recordings: &[Observed],
    visitors: impl Fn(&Observed) -> Result<Visitors, String>,
) -> Result<Fit, String> {
    let as_they_are: Vec<(&Observed, f64)> = recordings.iter().map(|r| (r, 1.0)).collect();
    if let [one] = recordings {
        return fit(one, visitors(one)?);
    }
    let visitors = visitors(&end_to_end(&as_they_are))?;
    let mut alone = Vec::new();
    for one in recordings {
        let named = |e| format!("{}: {e}", one.about.trace);
        alone.push(fit(one, visitors.clone()).map_err(named)?);
    }
    let cpus = alone.first().map_or(1, |f| f.about.cpus);
    if let Some(other) = alone.iter().find(|f| f.about.cpus != cpus) {
        return Err(format!(
            "{} was recorded on {} CPUs and {} on {cpus}: what changes with load cannot be told from what changes with CPUs; fit each alone",
            other.about.trace, other.about.cpus, alone[0].about.trace
        ));
    }
    let list = compared(recordings, &alone);
    let (lowest, highest) = list.iter().fold((1.0f64, 0.0f64), |(low, high), r| {
        (low.min(r.utilization), high.max(r.utilization))
    });
    let points: Vec<(f64, f64, f64)> = list
        .iter()
        .map(|r| (r.utilization, r.cpu, r.ci95 / 1.96))
        .collect();
    let contention = (highest - lowest >= APART).then(|| line(&points)).flatten();
    let factors = alone.iter().zip(&list).map(|(f, r)| {
        let load = contention.map_or(1.0, |c| c.factor(r.utilization).max(0.1));
        (1.0 - f.recording) / load
    });
    let scaled: Vec<(&Observed, f64)> = recordings.iter().zip(factors).collect();
    let together = end_to_end(&scaled);
    let mut all = fit(&together, visitors)?;
    let switching = scaled
        .iter()
        .map(|(one, factor)| factor * of_switching(one));
    all.costs
        .add_to_wakings(switching.sum(), &together.overheads);
    let seconds: f64 = recordings.iter().map(|r| r.about.seconds).sum();
    let used: f64 = recordings.iter().map(|r| r.cpu).sum();
    let recorded: f64 = alone
        .iter()
        .zip(recordings)
        .map(|(f, r)| f.recording * r.cpu)
        .sum();
    all.used = used / seconds;
    all.recording = recorded / used;
    match contention {
        Some(growth) => all.contention = Some(Contention { growth, over: SETTLED }),
        None => all.open.push(format!(
            "how demands change with load: the recordings used {:.0}% to {:.0}% of the CPUs, which is too much alike",
            100.0 * lowest,
            100.0 * highest
        )),
    }
    if contention.is_some() && cpus > 1 {
        all.open.push(
            "how demands grow with load on another number of CPUs: the growth is that on these"
                .into(),
        );
    }
    all.open.push("how much two starts of this server differ: each recording shows one, and what they differ by is taken for load".into());
    all.recordings = list;
    for what in &outside::ALL {
        what.queue_at(&mut all, &alone);
    }
    Ok(all)
}

/// What a request of the same mix cost in each recording.
fn compared(recordings: &[Observed], alone: &[Fit]) -> Vec<Recording> {
    // How often each thing occurred in all of them, and what it cost in each: mean and half width.
    let mut items: Vec<(f64, Vec<(f64, f64)>)> = Vec::new();
    for class in alone.first().map_or(&[][..], |f| f.classes.as_slice()) {
        let same: Option<Vec<_>> = alone
            .iter()
            .map(|f| {
                let found = f.classes.iter().find(|c| c.routes == class.routes);
                found.filter(|c| c.count >= FEWEST)
            })
            .collect();
        if let Some(same) = same {
            let half = |c: &Class| {
                c.parts
                    .iter()
                    .map(|p| p.law.ci95.powi(2))
                    .sum::<f64>()
                    .sqrt()
            };
            items.push((
                same.iter().map(|c| c.count as f64).sum(),
                same.iter().map(|c| (c.cpu(), half(c))).collect(),
            ));
        }
    }
    let requests: f64 = items.iter().map(|i| i.0).sum();
    let kinds: [fn(&Fit) -> Option<Handshake>; 2] = [|f| f.full.clone(), |f| f.resumed.clone()];
    for kind in kinds {
        let same: Option<Vec<_>> = alone
            .iter()
            .map(|f| kind(f).filter(|h| h.count >= FEWEST))
            .collect();
        if let Some(same) = same {
            let cost = |h: &Handshake| {
                let half = h
                    .pieces
                    .iter()
                    .map(|p| p.1.ci95.powi(2))
                    .sum::<f64>()
                    .sqrt();
                (h.pieces.iter().map(|p| p.1.mean).sum::<f64>(), half)
            };
            items.push((
                same.iter().map(|h| h.count as f64).sum(),
                same.iter().map(cost).collect(),
            ));
        }
    }
    items.push((
        recordings.iter().map(|r| r.overheads.visits as f64).sum(),
        alone
            .iter()
            .map(|f| (f.costs.visit.mean, f.costs.visit.ci95))
            .collect(),
    ));
    alone
        .iter()
        .zip(recordings)
        .enumerate()
        .map(|(i, (f, seen))| {
            let sum = |of: &dyn Fn(f64, (f64, f64)) -> f64| {
                items.iter().map(|(n, each)| of(*n, each[i])).sum::<f64>()
            };
            Recording {
                trace: f.about.trace.clone(),
                seconds: f.about.seconds,
                requests: seen.requests.len(),
                utilization: f.used / f64::from(f.about.cpus),
                cpu: sum(&|n, m| n * m.0) / requests.max(1.0),
                ci95: sum(&|n, m| (n * m.1).powi(2)).sqrt() / requests.max(1.0),
                law: f.law,
                drift: f.drift,
            }
        })
        .collect()
}

/// The weighted least-squares line through points (cause, value, standard error), as growth from the causes' mean.
/// `None` where it is not determined.
pub(super) fn line(points: &[(f64, f64, f64)]) -> Option<Growth> {
    let n = points.len();
    // An error of 0 would outweigh everything.
    let least = 1e-6 * points.iter().map(|p| p.1.abs()).fold(0.0, f64::max);
    let weight = |p: &(f64, f64, f64)| 1.0 / p.2.max(least).powi(2);
    let total: f64 = points.iter().map(weight).sum();
    let mean = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
        points.iter().map(|p| weight(p) * of(p)).sum::<f64>() / total
    };
    let (at, value) = (mean(&|p| p.0), mean(&|p| p.1));
    let spread: f64 = points.iter().map(|p| weight(p) * (p.0 - at).powi(2)).sum();
    if n < 2 || value.is_nan() || value <= 0.0 || spread.is_nan() || spread <= 0.0 {
        return None;
    }
    let with: f64 = points
        .iter()
        .map(|p| weight(p) * (p.0 - at) * (p.1 - value))
        .sum();
    let slope = with / spread;
    if !CREDIBLE.contains(&(slope / value)) {
        return None;
    }
    let off = |p: &(f64, f64, f64)| p.1 - value - slope * (p.0 - at);
    let misfit: f64 = points.iter().map(|p| weight(p) * off(p).powi(2)).sum();
    // Points further from a line than their errors explain: their scatter is the error.
    let scatter = if n > 2 { misfit / (n - 2) as f64 } else { 0.0 };
    let half = if scatter > 1.0 {
        t_quantile(0.975, n - 2) * (scatter / spread).sqrt()
    } else {
        1.96 / spread.sqrt()
    };
    Some(Growth {
        growth: slope / value,
        ci95: half / value,
        at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_stats::{Random, Stream};

    #[test]
    fn two_points_are_a_line_and_its_error_is_theirs() {
        // 1 ms at 0.2, 1.3 ms at 0.8: 0.5 ms from idle to full, of 1.15 ms in the middle.
        let g = line(&[(0.2, 1e-3, 1e-5), (0.8, 1.3e-3, 1e-5)]).expect("determined");
        assert!(
            (g.at - 0.5).abs() < 1e-9 && (g.growth - 0.5 / 1.15).abs() < 1e-9,
            "{g:?}"
        );
        // Standard error of the difference: 14 µs over 0.6.
        assert!(
            (g.ci95 - 1.96 * 1e-5 * 2f64.sqrt() / 0.6 / 1.15e-3).abs() < 1e-9,
            "{g:?}"
        );
        assert!(line(&[(0.5, 1.0, 0.1), (0.5, 1.1, 0.1)]).is_none());
        assert!(line(&[(0.5, 1.0, 0.1)]).is_none());
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        let mut stream = Stream::new(3, "points");
        let covered = (0..1000)
            .filter(|_| {
                let points: Vec<(f64, f64, f64)> = [0.1, 0.3, 0.5, 0.7]
                    .map(|x| (x, 1.0 + 0.4 * x + 0.02 * stream.normal(), 0.02))
                    .to_vec();
                let g = line(&points).expect("determined");
                (g.growth - 0.4 / (1.0 + 0.4 * g.at)).abs() <= g.ci95
            })
            .count();
        assert!((930..=985).contains(&covered), "{covered} of 1000");
    }
}
