//! What a run came to: figures for programs (`Serialize`) and for people ([`Summary::render`]).
//!
//! Times are milliseconds, shares are 0 to 1, rates are per second of the whole run.

use crate::run::Options;
use crate::scenario::Arrivals;
use crate::stats::{Failure, Sessions, Stats, Times};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Above this share of a core per worker, the generator may have been the limit.
const MAX_CPU_SHARE: f64 = 0.8;
/// Above this lag of its timers (99th percentile), the generator may have been the limit.
const MAX_LAG_MS: f64 = 5.0;
/// Silence at the end of a run that is worth a warning.
const SILENCE_NS: u64 = 2_000_000_000;

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
}

/// What the generator itself cost.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Generator {
    /// Worker threads.
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
    /// Bytes of replies, heads included, after TLS.
    pub bytes_received: u64,
    /// What the generator cost.
    pub generator: Generator,
    /// What the reader should know before trusting the figures.
    pub warnings: Vec<String>,
}

pub(crate) struct Circumstances {
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) partial: bool,
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
            },
            handshakes: Handshakes {
                full,
                resumed,
                failed: stats.handshakes_failed,
                per_s: (full + resumed) as f64 / seconds,
            },
            sessions: stats.sessions,
            reopened: stats.reopened,
            bytes_received: stats.bytes_received,
            generator: Generator {
                threads: options.threads,
                cpu_seconds,
                cpu_share: cpu_seconds / seconds / options.threads as f64,
                lag_p99_ms: stats.lag.quantile_ms(0.99),
            },
            warnings: Vec::new(),
        };
        summary.warnings = summary.warn(options, stats, run);
        summary
    }

    fn warn(&self, options: &Options, stats: &Stats, run: &Circumstances) -> Vec<String> {
        let mut out = Vec::new();
        if self.generator.cpu_share > MAX_CPU_SHARE {
            out.push(format!(
                "the generator used {:.0}% of a core per worker: it may have been the limit, not the server. Give it more --threads, or CPUs of its own",
                100.0 * self.generator.cpu_share
            ));
        }
        if self.generator.lag_p99_ms > MAX_LAG_MS {
            out.push(format!(
                "the generator's timers were {:.1} ms late (p99): it had to wait for a CPU, and what it waited is partly in the response times. Give it CPUs of its own",
                self.generator.lag_p99_ms
            ));
        }
        if let Some(n) = self.failures_by_kind.get(&Failure::NoResource) {
            out.push(format!(
                "{n} connections failed because this machine had no port or descriptor left: raise ulimit -n, widen net.ipv4.ip_local_port_range, or offer less"
            ));
        }
        if self.sessions.not_started > 0 {
            out.push(format!(
                "{} sessions arrived and were not begun: the limit on descriptors holds no more at once. Raise ulimit -n",
                self.sessions.not_started
            ));
        }
        let silence_ns = run
            .end_ns
            .saturating_sub(stats.last_success_ns.max(run.begin_ns));
        let thinking_ns = 3 * options.scenario.think_mean.as_nanos() as u64;
        if self.failures > 0 && self.replies == 0 {
            out.push("not one reply was right: is the scenario made for this server?".into());
        } else if self.failures > 0 && silence_ns > SILENCE_NS.max(thinking_ns) {
            out.push(format!(
                "the server gave no right reply in the last {:.1} s",
                silence_ns as f64 / 1e9
            ));
        }
        out
    }

    /// For people: a dozen lines, figures right-aligned.
    pub fn render(&self, arrivals: Arrivals) -> String {
        let mut out = String::new();
        self.write(&mut out, arrivals)
            .expect("a String takes everything");
        out
    }

    fn write(&self, out: &mut String, arrivals: Arrivals) -> std::fmt::Result {
        let who = match arrivals {
            Arrivals::Closed { users } => format!("{users} users"),
            Arrivals::PartlyOpen { rate } => format!("{rate} sessions/s"),
        };
        let partial = if self.partial { ", stopped early" } else { "" };
        writeln!(
            out,
            "{} · {} · {who} · {:.1} s{partial}\n",
            self.target, self.scenario, self.seconds
        )?;
        let r = &self.response;
        writeln!(
            out,
            "goodput {:.1} replies/s     response p50 {:.1} ms  p95 {:.1} ms  p99 {:.1} ms  max {:.1} ms",
            self.replies_per_s, r.p50_ms, r.p95_ms, r.p99_ms, r.max_ms
        )?;
        let h = &self.handshakes;
        writeln!(
            out,
            "handshakes {:.1}/s: {} full, {} resumed, {} failed",
            h.per_s, h.full, h.resumed, h.failed
        )?;
        let s = &self.sessions;
        writeln!(
            out,
            "sessions {} started: {} completed, {} broken, {} under way at the end",
            s.started, s.completed, s.broken, s.active_at_end
        )?;
        write!(out, "failures {}", self.failures)?;
        for (kind, n) in &self.failures_by_kind {
            write!(
                out,
                "{} {n} {}",
                if *n == self.failures { ":" } else { " ·" },
                kind.words()
            )?;
        }
        writeln!(
            out,
            "\n\n{:<30}{:>9}{:>10}{:>10}{:>10}{:>10}",
            "", "count", "mean ms", "p50", "p95", "p99"
        )?;
        let p = &self.phases;
        for (name, times) in [
            ("TCP connect", &p.tcp),
            ("TLS handshake, full", &p.tls_full),
            ("TLS handshake, resumed", &p.tls_resumed),
            ("wait for the reply", &p.wait),
            ("transfer", &p.transfer),
        ] {
            row(out, name, times)?;
        }
        writeln!(out)?;
        for i in &self.interactions {
            row(out, &i.name, &i.response)?;
        }
        let g = &self.generator;
        writeln!(
            out,
            "\ngenerator: {:.0}% of a core{}, timers {:.1} ms late (p99)",
            100.0 * g.cpu_share,
            if g.threads > 1 { " per worker" } else { "" },
            g.lag_p99_ms
        )?;
        for warning in &self.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        Ok(())
    }
}

/// A line of the table; what did not occur has none.
fn row(out: &mut String, name: &str, q: &Quantiles) -> std::fmt::Result {
    if q.count == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  {name:<28}{:>9}{:>10.2}{:>10.2}{:>10.2}{:>10.2}",
        q.count, q.mean_ms, q.p50_ms, q.p95_ms, q.p99_ms
    )
}
