//! What the reader should know before trusting the figures.

use super::{Circumstances, Summary};
use crate::run::Options;
use crate::stats::{Failure, Stats};

/// Above this share of a core per worker, the generator may have been the limit.
const MAX_CPU_SHARE: f64 = 0.8;
/// Above this lag of its timers (99th percentile), the generator may have been the limit.
const MAX_LAG_MS: f64 = 5.0;
/// Silence at the end of a run that is worth a warning.
const SILENCE_NS: u64 = 2_000_000_000;

impl Summary {
    /// Whether the generator, not the server, may have been what set the figures.
    pub(super) fn is_limited_by_generator(&self) -> bool {
        self.generator.cpu_share > MAX_CPU_SHARE
            || self.generator.lag_p99_ms > MAX_LAG_MS
            || self.sessions.not_started > 0
            || self.failures_by_kind.contains_key(&Failure::NoResource)
    }

    pub(super) fn warn(
        &self,
        options: &Options,
        stats: &Stats,
        run: &Circumstances,
    ) -> Vec<String> {
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
}
