//! Symptoms: what is wrong as seen from outside, before any reason.

use serde::Serialize;

use super::figures::Figures;
use crate::report::table::{duration, grouped, percent};

/// Times its peers' mean service time from which on a thread stands out.
const OUTLIER: f64 = 5.0;
/// Times the median endpoint's from which on an endpoint does.
const SLOW_ENDPOINT: f64 = 10.0;
/// Part of the requests' time that is not spent running, above which they mostly wait.
const WAITING: f64 = 0.5;
/// Use of the CPUs below which throughput is less than they allow.
const LEFT: f64 = 0.75;
/// Requests of an endpoint below which it is passed over.
const FEW: u64 = 5;

/// An observation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Symptom {
    /// In words, with its figures.
    pub text: String,
    /// A moment at which it can be seen, seconds since the beginning.
    pub at_s: Option<f64>,
}

/// All that are seen.
pub fn symptoms(f: &Figures, begin_ns: i64) -> Vec<Symptom> {
    let seen = |text: String, at: Option<i64>| Symptom {
        text,
        at_s: at.map(|ns| (ns - begin_ns) as f64 / 1e9),
    };
    let mut all = Vec::new();
    if let Some(o) = f
        .outlier
        .as_ref()
        .filter(|o| o.mean_ms > OUTLIER * o.peers_ms && o.mean_ms > 1.0)
    {
        let times = o.mean_ms / o.peers_ms;
        all.push(seen(
            format!(
                "service time of {} is {times:.0} times its peers' ({} against {})",
                o.thread,
                duration(o.mean_ms),
                duration(o.peers_ms)
            ),
            Some(o.at_ns),
        ));
    }
    if let Some(e) = slow_endpoint(f) {
        all.push(seen(
            format!(
                "{} takes {} (median), many times the other pages; {} of the requests' time",
                e.name,
                duration(e.p50_ms),
                percent(e.share)
            ),
            Some(e.longest_ns),
        ));
    }
    let waits = 1.0 - f.time.cause("running") - f.time.cause("unknown");
    if let Some(used) = f
        .cpu
        .utilization
        .filter(|u| *u < LEFT && waits > WAITING && f.time.total() > 0.0)
    {
        all.push(seen(
            format!("throughput is below what the CPUs allow: requests wait for {} of their time, and the target used {} of its CPUs", percent(waits), percent(used)),
            f.requests.slowest_ns,
        ));
    }
    let r = &f.requests;
    if r.p50_ms > 0.0 && r.p95_ms > 20.0 * r.p50_ms && r.p95_ms > 20.0 {
        all.push(seen(
            format!(
                "response times are uneven: median {}, 95th percentile {}",
                duration(r.p50_ms),
                duration(r.p95_ms)
            ),
            r.slowest_ns,
        ));
    }
    if r.server_errors > 0 {
        all.push(seen(
            format!(
                "{} of {} requests failed (5xx)",
                grouped(r.server_errors),
                grouped(r.count)
            ),
            None,
        ));
    }
    if r.hanging > 0 {
        all.push(seen(
            format!(
                "{} requests had been unanswered for a second and more at the end",
                grouped(r.hanging)
            ),
            None,
        ));
    }
    if let Some(n) = f
        .doors
        .overflows
        .filter(|n| *n > 0 && f.doors.accept_queue.unwrap_or(0.0) > 0.0)
    {
        all.push(seen(
            format!(
                "{} connections were dropped before the server saw them",
                grouped(n)
            ),
            None,
        ));
    }
    if f.doors.failed > 0 && f.doors.failed * 20 > f.doors.full + f.doors.resumed {
        all.push(seen(
            format!(
                "{} handshakes failed or were given up",
                grouped(f.doors.failed)
            ),
            None,
        ));
    }
    all
}

/// An endpoint whose median is many times that of the median endpoint, and that takes a part of the time.
fn slow_endpoint(f: &Figures) -> Option<&super::figures::Endpoint> {
    let mut medians: Vec<f64> = f
        .endpoints
        .iter()
        .filter(|e| e.count >= FEW)
        .map(|e| e.p50_ms)
        .collect();
    medians.sort_by(f64::total_cmp);
    let typical = *medians.get(medians.len() / 2)?;
    f.endpoints
        .iter()
        .filter(|e| {
            e.count >= FEW && e.p50_ms > SLOW_ENDPOINT * typical && e.share > super::NOTABLE
        })
        .max_by(|a, b| a.share.total_cmp(&b.share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::figures::{Endpoint, Outlier};
    use crate::diagnose::hypotheses::tests::{add, sound};

    fn texts(f: &Figures) -> Vec<String> {
        symptoms(f, 0).into_iter().map(|s| s.text).collect()
    }

    #[test]
    fn a_sound_site_has_none() {
        assert_eq!(texts(&sound()), Vec::<String>::new());
    }

    #[test]
    fn a_worker_an_endpoint_and_idle_cpus_stand_out() {
        let mut f = sound();
        f.outlier = Some(Outlier {
            thread: "exec-9".into(),
            mean_ms: 31.0,
            peers_ms: 1.0,
            at_ns: 9_200_000_000,
        });
        assert_eq!(symptoms(&f, 0)[0].at_s, Some(9.2));
        assert!(
            texts(&f)[0].starts_with("service time of exec-9 is 31 times its peers'"),
            "{:?}",
            texts(&f)
        );
        let slow = Endpoint {
            name: "GET /bids".into(),
            count: 50,
            p50_ms: 40.0,
            share: 0.4,
            ..Endpoint::default()
        };
        f.endpoints
            .extend([slow, f.endpoints[0].clone(), f.endpoints[0].clone()]);
        assert!(
            texts(&f)[1].starts_with("GET /bids takes 40 ms"),
            "{:?}",
            texts(&f)
        );
        add(&mut f, "pool_wait", "pool", 9000);
        assert!(
            texts(&f)[2].starts_with("throughput is below what the CPUs allow"),
            "{:?}",
            texts(&f)
        );
    }

    #[test]
    fn errors_and_hanging_requests_are_symptoms() {
        let mut f = sound();
        f.requests.server_errors = 7;
        f.requests.hanging = 2;
        assert_eq!(texts(&f).len(), 2);
    }
}
