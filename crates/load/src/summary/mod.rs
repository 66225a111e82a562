//! What a run came to: figures for programs (`Serialize`) and for people
//! ([`Summary::render`] in a terminal, [`Summary::page`] in a browser).
//!
//! Times are milliseconds, shares are 0 to 1, rates are per second of the whole run.

use crate::run::Options;
use crate::stats::{Failure, Sessions, Stats, Times};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod page;
mod render;
mod seconds;
mod warn;

pub use seconds::{Second, Steady};

/// Percentiles of durations, in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Quantiles {
    /// How many.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 90th percentile.
    pub p90_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

impl Quantiles {
    fn of(times: &Times) -> Quantiles {
        let mean_ms = if times.0.is_empty() {
            0.0
        } else {
            times.0.mean() / 1e3
        };
        Quantiles {
            count: times.0.len(),
            mean_ms,
            p50_ms: times.quantile_ms(0.5),
            p90_ms: times.quantile_ms(0.9),
            p95_ms: times.quantile_ms(0.95),
            p99_ms: times.quantile_ms(0.99),
            max_ms: times.0.max() as f64 / 1e3,
        }
    }
}

/// One interaction's successes.
#[derive(Debug, Clone, Serialize)]
pub struct InteractionSummary {
    /// Its name in the scenario.
    pub name: String,
    /// Response times.
    pub response: Quantiles,
}

/// Time by phase of a connection.
#[derive(Debug, Clone, Serialize)]
pub struct Phases {
    /// TCP connect.
    pub tcp: Quantiles,
    /// Full TLS handshake.
    pub tls_full: Quantiles,
    /// Resumed TLS handshake.
    pub tls_resumed: Quantiles,
    /// From a request sent to the first byte of its reply.
    pub wait: Quantiles,
    /// From the first byte of a reply to its last.
    pub transfer: Quantiles,
    /// From the click until the page and what belongs to it had come; if resources were fetched.
    pub page_load: Quantiles,
}

/// Handshakes by kind.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Handshakes {
    /// Full ones.
    pub full: u64,
    /// Resumed ones.
    pub resumed: u64,
    /// Failed or left in the middle.
    pub failed: u64,
    /// Completed ones per second.
    pub per_s: f64,
    /// Of the full ones, those that offered a ticket which the server did not take.
    pub tickets_declined: u64,
    /// Of all, those that offered a forged ticket.
    pub tickets_forged: u64,
    /// Bytes that a full one sends and receives on TCP, on average.
    pub full_bytes: HandshakeBytes,
    /// Bytes that a resumed one sends and receives on TCP, on average.
    pub resumed_bytes: HandshakeBytes,
}

/// Bytes of a handshake, on average.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct HandshakeBytes {
    /// By the client.
    pub sent: f64,
    /// By the client.
    pub received: f64,
}

impl HandshakeBytes {
    fn of(bytes: crate::stats::Bytes, count: u64) -> HandshakeBytes {
        let count = count.max(1) as f64;
        HandshakeBytes {
            sent: bytes.sent as f64 / count,
            received: bytes.received as f64 / count,
        }
    }
}

/// Images, styles and scripts of pages.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Resources {
    /// Times of those that were fetched.
    pub fetched: Quantiles,
    /// Not fetched: the session had them.
    pub cached: u64,
    /// Not had.
    pub failed: u64,
}

/// What the generator itself cost.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Generator {
    /// Processes.
    pub processes: usize,
    /// Worker threads of each.
    pub threads: usize,
    /// CPU time of all workers.
    pub cpu_seconds: f64,
    /// Of one core, per worker.
    pub cpu_share: f64,
    /// How late its timers were, 99th percentile. A millisecond is the timer's resolution.
    pub lag_p99_ms: f64,
}

/// What a run came to.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The target.
    pub target: String,
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// How long it ran.
    pub seconds: f64,
    /// It was stopped before its time.
    pub partial: bool,
    /// Why it could not go on, if that is the reason.
    pub error: Option<String>,
    /// The generator, not the server, may have set the figures: see the warnings.
    pub limited_by_generator: bool,
    /// Clicks that were due, per second.
    pub offered_per_s: f64,
    /// Successful replies: in time, status 2xx, the right page.
    pub replies: u64,
    /// Goodput: successful replies per second.
    pub replies_per_s: f64,
    /// Interactions that failed.
    pub failures: u64,
    /// Failures by what was wrong; only those that occurred.
    pub failures_by_kind: BTreeMap<Failure, u64>,
    /// Response times of successes, from when they were meant to begin.
    pub response: Quantiles,
    /// The same, interaction by interaction.
    pub interactions: Vec<InteractionSummary>,
    /// Times by phase.
    pub phases: Phases,
    /// Handshakes by kind.
    pub handshakes: Handshakes,
    /// Sessions by what became of them.
    pub sessions: Sessions,
    /// Requests sent again because the server had closed an idle connection.
    pub reopened: u64,
    /// Requests made again by the scenario's policy.
    pub retries: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// What pages embed, if it was fetched.
    pub resources: Resources,
    /// Bytes of replies, heads included, after TLS.
    pub bytes_received: u64,
    /// What the generator cost.
    pub generator: Generator,
    /// The run without its warm-up.
    pub steady: Steady,
    /// Second by second.
    pub series: Vec<Second>,
    /// Response times at many quantiles: (quantile, milliseconds).
    pub spectrum: Vec<(f64, f64)>,
    /// What the reader should know before trusting the figures.
    pub warnings: Vec<String>,
}

/// Under which circumstances was counted what was counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Circumstances {
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) partial: bool,
    pub(crate) error: Option<String>,
    pub(crate) processes: usize,
}

impl Summary {
    pub(crate) fn new(options: &Options, stats: &Stats, run: &Circumstances) -> Summary {
        let seconds = (run.end_ns - run.begin_ns) as f64 / 1e9;
        let replies = stats.response.0.len();
        let (full, resumed) = (stats.tls_full.0.len(), stats.tls_resumed.0.len());
        let cpu_seconds = stats.cpu_ns as f64 / 1e9;
        let interactions = options.scenario.interactions().zip(&stats.interactions);
        let mut summary = Summary {
            target: options.target.to_string(),
            scenario: options.scenario.name.clone(),
            seed: options.seed,
            seconds,
            partial: run.partial,
            error: run.error.clone(),
            limited_by_generator: false,
            offered_per_s: stats.series.rows.iter().map(|r| r.offered).sum::<u64>() as f64
                / seconds,
            replies,
            replies_per_s: replies as f64 / seconds,
            failures: stats.failures.iter().sum(),
            failures_by_kind: Failure::ALL
                .into_iter()
                .zip(stats.failures)
                .filter(|(_, n)| *n > 0)
                .collect(),
            response: Quantiles::of(&stats.response),
            interactions: interactions
                .map(|(name, (_, times))| InteractionSummary {
                    name: name.to_owned(),
                    response: Quantiles::of(times),
                })
                .collect(),
            phases: Phases {
                tcp: Quantiles::of(&stats.tcp),
                tls_full: Quantiles::of(&stats.tls_full),
                tls_resumed: Quantiles::of(&stats.tls_resumed),
                wait: Quantiles::of(&stats.wait),
                transfer: Quantiles::of(&stats.transfer),
                page_load: Quantiles::of(&stats.page_load),
            },
            handshakes: Handshakes {
                full,
                resumed,
                failed: stats.handshakes_failed,
                per_s: (full + resumed) as f64 / seconds,
                tickets_declined: stats.tickets_declined,
                tickets_forged: stats.tickets_forged,
                full_bytes: HandshakeBytes::of(stats.bytes_full, full),
                resumed_bytes: HandshakeBytes::of(stats.bytes_resumed, resumed),
            },
            sessions: stats.sessions,
            reopened: stats.reopened,
            retries: stats.retries,
            redirects: stats.redirects,
            resources: Resources {
                fetched: Quantiles::of(&stats.resources),
                cached: stats.resources_cached,
                failed: stats.resources_failed,
            },
            bytes_received: stats.bytes_received,
            generator: Generator {
                processes: run.processes,
                threads: options.threads,
                cpu_seconds,
                cpu_share: cpu_seconds / seconds / (options.threads * run.processes) as f64,
                lag_p99_ms: stats.lag.quantile_ms(0.99),
            },
            steady: Steady::of(&stats.series, seconds),
            series: seconds::of(&stats.series, seconds),
            spectrum: spectrum(&stats.response),
            warnings: Vec::new(),
        };
        summary.limited_by_generator = summary.is_limited_by_generator();
        summary.warnings = summary.warn(options, stats, run);
        summary
    }
}

/// From the median to the last reply, at quantiles that halve the distance to 1.
fn spectrum(times: &Times) -> Vec<(f64, f64)> {
    if times.0.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut left = 1.0;
    while left * times.0.len() as f64 >= 0.5 {
        for step in 0..4 {
            let q = 1.0 - left * (1.0 - f64::from(step) / 8.0);
            out.push((q, times.quantile_ms(q)));
        }
        left /= 2.0;
    }
    out
}
