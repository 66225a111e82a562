//! What the same work costs more after idle CPUs than after busy ones: caches, predictors and clocks forget.
//!
//! One recording under light load shows it: some requests and handshakes come after a time without any, some in the midst of
//! others. Told is one line for all of them: CPU, as a share of what its kind costs, by how busy the CPUs had just been.
//! They are compared within a second of each other only. Over longer times it is the other way round: where the host is
//! slow, everything costs more, and the CPUs are busier for it.

use std::collections::BTreeMap;

use loadline_stats::by_batches;

use super::classes::route;
use super::several::{CREDIBLE, Growth};
use crate::observe::Observed;

/// Fewer of a kind say too little of what it costs.
const FEWEST: usize = 100;
/// The dearest of a kind are left out, by share: what befell them has other reasons (a collection in their midst, a first
/// use).
const LEFT_OUT: f64 = 0.01;

/// A request or a handshake.
struct Unit {
    kind: usize,
    second: i64,
    busy: f64,
    /// CPU, and the mean of its kind.
    cpu: f64,
    mean: f64,
}

/// How CPU demands change from idle CPUs to busy ones within a recording; `None` where it shows no change.
pub(super) fn warmth(seen: &Observed) -> Option<Growth> {
    let units = units(seen);
    let growth = slope(&units)?;
    let batches = by_batches(&units, |part| slope(part).unwrap_or(0.0));
    let sure = batches.ci95.is_finite() && growth.abs() > batches.ci95;
    let all: f64 = units.iter().map(|u| u.cpu).sum();
    (sure && CREDIBLE.contains(&growth)).then(|| Growth {
        growth,
        ci95: batches.ci95,
        at: units.iter().map(|u| u.cpu * u.busy).sum::<f64>() / all,
    })
}

/// All of them in the order of time, without the dearest and the rare.
fn units(seen: &Observed) -> Vec<Unit> {
    let mut kinds: BTreeMap<String, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for r in &seen.requests {
        let cpu = r.container + r.service + r.held + r.sql;
        kinds
            .entry(route(&r.name))
            .or_default()
            .push((r.begin, r.busy, cpu));
    }
    for h in &seen.handshakes {
        let kind = if h.has_resumed() { "resumed" } else { "full" };
        let cpu = h.pieces.iter().map(|p| p.1).sum();
        kinds
            .entry(kind.into())
            .or_default()
            .push((h.begin, h.busy, cpu));
    }
    let mut units = Vec::new();
    for (kind, list) in kinds.values_mut().enumerate() {
        list.sort_by(|a, b| a.2.total_cmp(&b.2));
        list.truncate(((1.0 - LEFT_OUT) * list.len() as f64) as usize);
        let mean = list.iter().map(|u| u.2).sum::<f64>() / list.len().max(1) as f64;
        if list.len() >= FEWEST && mean > 0.0 {
            units.extend(list.iter().map(|&(begin, busy, cpu)| {
                (
                    begin,
                    Unit {
                        kind,
                        second: begin as i64,
                        busy,
                        cpu,
                        mean,
                    },
                )
            }));
        }
    }
    units.sort_by(|a, b| a.0.total_cmp(&b.0));
    units.into_iter().map(|u| u.1).collect()
}

/// By what share of their mean they grow from idle CPUs to busy ones: least squares around the means of each kind in each
/// second, each kind by what all of it costs.
fn slope(units: &[Unit]) -> Option<f64> {
    let mut cells: BTreeMap<(usize, i64), Vec<&Unit>> = BTreeMap::new();
    for u in units {
        cells.entry((u.kind, u.second)).or_default().push(u);
    }
    let (mut spread, mut with) = (0.0, 0.0);
    for cell in cells.values() {
        let n = cell.len() as f64;
        let (busy, cpu) = cell
            .iter()
            .fold((0.0, 0.0), |(b, c), u| (b + u.busy / n, c + u.cpu / n));
        for u in cell {
            spread += u.mean * (u.busy - busy).powi(2);
            with += (u.busy - busy) * (u.cpu - cpu);
        }
    }
    (spread > 0.0).then(|| with / spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Handshake, Request};
    use loadline_stats::{Random, Stream};

    /// 20 requests and 10 handshakes a second; the host is slower in every third second, in which the CPUs are busier.
    fn recording(change: f64) -> Observed {
        let mut stream = Stream::new(7, "units");
        let mut seen = Observed::default();
        for i in 0..6000 {
            let begin = f64::from(i) / 30.0;
            let slow = if begin as i64 % 3 == 0 { 1.3 } else { 1.0 };
            let busy = (0.7 * stream.uniform() * slow).min(1.0);
            let dear = slow * (1.0 + change * (busy - 0.35)) * (1.0 + 0.1 * stream.normal());
            if i % 3 == 0 {
                seen.handshakes.push(Handshake {
                    resumed: Some(i % 2 == 0),
                    begin,
                    busy,
                    pieces: vec![(0.0, 1e-3 * dear), (1e-4, 1e-4 * dear)],
                });
            } else {
                seen.requests.push(Request {
                    name: format!("GET /item/{i}"),
                    begin,
                    busy,
                    service: 1e-4 * dear,
                    // Some have a collection in their midst.
                    sql: if i % 500 == 7 { 20e-3 } else { 0.0 },
                    ..Request::default()
                });
            }
        }
        seen
    }

    #[test]
    fn what_idle_cpus_cost_is_found_whatever_the_host_does_and_nothing_where_nothing_is() {
        let g = warmth(&recording(-0.2)).expect("a change");
        assert!((g.growth + 0.2).abs() < 0.03, "{g:?}");
        assert!((0.33..0.45).contains(&g.at) && g.ci95 < 0.04, "{g:?}");
        assert_eq!(warmth(&recording(0.0)), None);
    }
}
