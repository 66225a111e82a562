//! The figures of a whole trace, and its overview: throughput and CPU over time.

use serde::Serialize;

use crate::model::Model;

/// What the top of the page says.
#[derive(Debug, Serialize, PartialEq)]
pub struct Figures {
    /// Complete requests.
    pub requests: usize,
    /// Complete requests per second.
    pub requests_per_second: f64,
    /// Response time: median, 95th and 99th percentile, ns; none without a request.
    pub percentiles_ns: Option<[i64; 3]>,
    /// CPU time as a part of all CPUs; none if no source knows it.
    pub cpu: Option<f64>,
    /// Handshakes that began a session.
    pub full_handshakes: usize,
    /// Handshakes that resumed one.
    pub resumed_handshakes: usize,
    /// Those that failed, and those of which it is not known.
    pub other_handshakes: usize,
    /// Connections.
    pub connections: usize,
    /// Pauses for garbage collection, and their sum in ns.
    pub pauses: usize,
    /// Sum of the pauses, ns.
    pub pause_ns: i64,
}

/// Throughput and CPU in bins of equal length.
#[derive(Debug, Serialize)]
pub struct Overview {
    /// Requests that ended, per second.
    pub requests_per_second: Vec<f64>,
    /// The slowest of these requests, ns; 0 where none ended.
    pub slowest_ns: Vec<i64>,
    /// CPUs busy, as a part of all; empty if no source knows it.
    pub cpu: Vec<f64>,
    /// CPUs at hand, as a part of those at the begin; empty if nobody knows, or they never changed.
    pub at_hand: Vec<f64>,
    /// Threads that waited for a CPU, on average; empty without the kernel level.
    pub waiting: Vec<f64>,
}

/// The value below which a share `q` of `sorted` lies (nearest rank).
pub fn percentile(sorted: &[i64], q: f64) -> Option<i64> {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The figures of a trace.
pub fn figures(model: &Model) -> Figures {
    let answered = &model.answered;
    let mut times: Vec<i64> = answered.requests.iter().map(|r| r.1).collect();
    times.sort_unstable();
    let percentiles = [0.5, 0.95, 0.99].map(|q| percentile(&times, q));
    Figures {
        requests: times.len(),
        requests_per_second: times.len() as f64 / model.meta.seconds().max(1e-9),
        percentiles_ns: percentiles[0].map(|_| percentiles.map(Option::unwrap_or_default)),
        cpu: cpu(model, 0, model.duration()),
        full_handshakes: answered.full_handshakes,
        resumed_handshakes: answered.resumed_handshakes,
        other_handshakes: answered.other_handshakes,
        connections: answered.connections,
        pauses: model.pauses.len(),
        pause_ns: model.pauses.iter().map(|p| p.end - p.begin).sum(),
    }
}

/// Throughput and CPU in `bins` bins.
pub fn overview(model: &Model, bins: usize) -> Overview {
    let duration = model.duration().max(1);
    let edge = |i: usize| (duration as i128 * i as i128 / bins as i128) as i64;
    let mut ended = vec![0usize; bins];
    let mut slowest_ns = vec![0; bins];
    for &(end, ns) in &model.answered.requests {
        let bin = (end as i128 * bins as i128 / duration as i128).clamp(0, bins as i128 - 1);
        ended[bin as usize] += 1;
        let slowest = &mut slowest_ns[bin as usize];
        *slowest = ns.max(*slowest);
    }
    let bin_seconds = duration as f64 / bins as f64 / 1e9;
    let over_bins = |f: &dyn Fn(i64, i64) -> Option<f64>| {
        (0..bins).map_while(|i| f(edge(i), edge(i + 1))).collect()
    };
    Overview {
        requests_per_second: ended.iter().map(|&n| n as f64 / bin_seconds).collect(),
        slowest_ns,
        cpu: over_bins(&|begin, end| cpu(model, begin, end)),
        at_hand: at_hand(model, &|i| (edge(i) + edge(i + 1)) / 2, bins),
        waiting: over_bins(&|begin, end| {
            let waited = |t: &crate::model::Thread| {
                let times = t.lane.times(begin, end);
                times[1] + times[2]
            };
            let waited: i64 = model.threads.iter().map(waited).sum();
            model
                .meta
                .has("kernel")
                .then(|| waited as f64 / (end - begin).max(1) as f64)
        }),
    }
}

/// CPU time within a range as a part of what all CPUs could give: from the kernel's states, else
/// from the process's counter in `/proc`.
fn cpu(model: &Model, begin: i64, end: i64) -> Option<f64> {
    let used_ns = if model.meta.has("kernel") {
        model
            .threads
            .iter()
            .map(|t| t.lane.times(begin, end)[0])
            .sum::<i64>() as f64
    } else {
        let at = |t| interpolate(&model.cpu_seconds, t);
        (at(end)? - at(begin)?) * 1e9
    };
    Some((used_ns / (end - begin).max(1) as f64 / model.cpus() as f64).clamp(0.0, 1.0))
}

/// CPUs at hand at the middle of each bin, as a part of all.
fn at_hand(model: &Model, middle: &dyn Fn(usize) -> i64, bins: usize) -> Vec<f64> {
    let readings = &model.cpus_at_hand;
    if readings.windows(2).all(|w| w[0].1 == w[1].1) {
        return Vec::new();
    }
    let part = |i| (last_of(readings, middle(i)) / f64::from(model.cpus())).min(1.0);
    (0..bins).map(part).collect()
}

/// The last reading until then; before the first, that.
fn last_of(readings: &[(i64, f64)], t: i64) -> f64 {
    let after = readings.partition_point(|r| r.0 <= t);
    readings.get(after.saturating_sub(1)).map_or(0.0, |r| r.1)
}

/// A value between two readings; outside of them, the nearest.
fn interpolate(readings: &[(i64, f64)], t: i64) -> Option<f64> {
    let after = readings.partition_point(|r| r.0 <= t);
    match (
        after.checked_sub(1).map(|i| readings[i]),
        readings.get(after),
    ) {
        (Some((t0, v0)), Some(&(t1, v1))) => {
            Some(v0 + (v1 - v0) * (t - t0) as f64 / (t1 - t0).max(1) as f64)
        }
        (Some((_, v)), None) | (None, Some(&(_, v))) => Some(v),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let sorted: Vec<i64> = (1..=100).collect();
        assert_eq!(
            [0.5, 0.95, 0.99, 1.0].map(|q| percentile(&sorted, q)),
            [50, 95, 99, 100].map(Some)
        );
        assert_eq!(percentile(&[7], 0.5), Some(7));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn what_is_assigned_holds_until_the_next_reading() {
        let readings = [(10, 2.0), (20, 0.5)];
        assert_eq!(
            [5, 10, 19, 20, 25].map(|t| last_of(&readings, t)),
            [2.0, 2.0, 2.0, 0.5, 0.5]
        );
    }

    #[test]
    fn between_two_readings_a_counter_grows_evenly() {
        let readings = [(10, 1.0), (20, 2.0)];
        assert_eq!(
            [5, 10, 15, 20, 25].map(|t| interpolate(&readings, t)),
            [1.0, 1.0, 1.5, 2.0, 2.0].map(Some)
        );
        assert_eq!(interpolate(&[], 3), None);
    }
}
