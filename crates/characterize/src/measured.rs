//! What one run of the load generator said, and what else was measured beside it.
//!
//! The first half mirrors the JSON of `loadline load --json`: keys that are missing are zero, keys
//! that are not known are ignored, so that either side may gain some.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::guarded::Guarded;

/// Percentiles of durations, ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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

/// Times by phase of a connection, as the client saw them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Handshakes {
    /// Full ones.
    pub full: u64,
    /// Resumed ones.
    pub resumed: u64,
    /// Failed or left in the middle.
    pub failed: u64,
}

/// Sessions by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sessions {
    /// Begun.
    pub started: u64,
    /// Walked to their end.
    pub completed: u64,
    /// Left because something failed.
    pub broken: u64,
    /// Of the broken ones, those that were never let in.
    pub refused: u64,
    /// Arrived, but the generator could hold no more.
    pub not_started: u64,
    /// Under way when the run ended.
    pub active_at_end: u64,
}

/// What the generator cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Generator {
    /// CPU time of its workers.
    pub cpu_seconds: f64,
    /// Of one core, per worker.
    pub cpu_share: f64,
    /// How late its timers were, 99th percentile.
    pub lag_p99_ms: f64,
}

/// One second of a run, as far as intervals need it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// Right replies in time.
    pub goodput: u64,
    /// Interactions that failed.
    pub failures: u64,
    /// Median response time; 0 without a reply.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

/// The figures of one run of the generator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Load {
    /// Length of the measured part.
    pub seconds: f64,
    /// It was stopped before its time.
    pub partial: bool,
    /// Right replies in time.
    pub replies: u64,
    /// Goodput.
    pub replies_per_s: f64,
    /// Interactions that failed; each ends its session.
    pub failures: u64,
    /// The same by what was wrong.
    pub failures_by_kind: BTreeMap<String, u64>,
    /// Response times of right replies.
    pub response: Quantiles,
    /// Times by phase.
    pub phases: Phases,
    /// Handshakes by kind.
    pub handshakes: Handshakes,
    /// Sessions by what became of them.
    pub sessions: Sessions,
    /// What the generator cost.
    pub generator: Generator,
    /// What it warns of.
    pub warnings: Vec<String>,
    /// Second by second.
    pub series: Vec<Second>,
}

/// Failures that are refusals: a connection that was refused, or closed in its handshake; a 503 with `Retry-After`.
const REFUSED: [&str; 3] = ["connect", "tls", "busy"];
/// Failures that are replies all the same: the server did the work.
const ANSWERED: [&str; 3] = ["status", "server_error", "wrong_page"];
/// Above this share of a core per worker, the generator may have been the limit.
const MAX_CPU_SHARE: f64 = 0.8;
/// Timers later than this may have been the generator's want of a CPU …
const MAX_LAG_MS: f64 = 5.0;
/// … and matter if they are more than this share of the 95th percentile.
const LAG_THAT_MATTERS: f64 = 0.25;

impl Load {
    fn failed(&self, kinds: &[&str]) -> u64 {
        kinds
            .iter()
            .filter_map(|k| self.failures_by_kind.get(*k))
            .sum()
    }

    /// Replies per second, right or wrong; those that refuse are none.
    pub fn throughput(&self) -> f64 {
        self.replies_per_s + per_second(self.failed(&ANSWERED), self.seconds)
    }

    /// Connections and requests that were refused.
    pub fn refused(&self) -> u64 {
        self.failed(&REFUSED)
    }

    /// The same, per second.
    pub fn refused_per_s(&self) -> f64 {
        per_second(self.refused(), self.seconds)
    }

    /// Visitors who lost patience, per second.
    pub fn timeouts_per_s(&self) -> f64 {
        per_second(self.failed(&["timeout"]), self.seconds)
    }

    /// Everything else that failed, per second.
    pub fn errors_per_s(&self) -> f64 {
        let told = self.failed(&["timeout"]) + self.refused();
        per_second(self.failures.saturating_sub(told), self.seconds)
    }

    /// Of the sessions that ended, those that were walked to their end.
    pub fn completed_share(&self) -> Option<f64> {
        let ended = self.sessions.completed + self.sessions.broken;
        (ended > 0).then(|| self.sessions.completed as f64 / ended as f64)
    }

    /// Of the sessions that ended, those that were never let in.
    pub fn refused_share(&self) -> Option<f64> {
        let ended = self.sessions.completed + self.sessions.broken;
        (ended > 0).then(|| self.sessions.refused as f64 / ended as f64)
    }

    /// Of the sessions that were let in and ended, those that were walked to their end.
    pub fn kept_share(&self) -> Option<f64> {
        let let_in =
            (self.sessions.completed + self.sessions.broken).saturating_sub(self.sessions.refused);
        (let_in > 0).then(|| self.sessions.completed as f64 / let_in as f64)
    }

    /// Of the handshakes that succeeded, the resumed ones.
    pub fn resumed_share(&self) -> Option<f64> {
        let all = self.handshakes.full + self.handshakes.resumed;
        (all > 0).then(|| self.handshakes.resumed as f64 / all as f64)
    }

    /// Goodput over what was offered: a failure ends its session, and with it the clicks that the
    /// visitor would still have made (`clicks` on average, counting the one that failed).
    pub fn goodput_share(&self, clicks: f64) -> f64 {
        let lost = (self.failures + self.sessions.not_started) as f64 * clicks.max(1.0);
        let offered = self.replies as f64 + lost;
        if offered > 0.0 {
            self.replies as f64 / offered
        } else {
            0.0
        }
    }

    /// Why the generator and not the server may have been the limit.
    pub fn generator_limit(&self) -> Option<String> {
        let g = &self.generator;
        let no_resource = self.failures_by_kind.get("no_resource").copied();
        if let Some(n) = no_resource.filter(|n| *n > 0) {
            Some(format!("{n} connections found no port or descriptor"))
        } else if self.sessions.not_started > 0 {
            Some(format!(
                "{} sessions could not begin for want of descriptors",
                self.sessions.not_started
            ))
        } else if g.cpu_share > MAX_CPU_SHARE {
            Some(format!(
                "it used {} of its CPU",
                crate::words::percent(g.cpu_share)
            ))
        } else if g.lag_p99_ms > MAX_LAG_MS
            && g.lag_p99_ms > LAG_THAT_MATTERS * self.response.p95_ms
        {
            Some(format!(
                "its timers were {} late (p99)",
                crate::words::ms(g.lag_p99_ms)
            ))
        } else {
            None
        }
    }
}

fn per_second(n: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        n as f64 / seconds
    } else {
        0.0
    }
}

/// CPUs in use while a point was measured, in CPU seconds per second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuUse {
    /// By the server's process.
    pub server: f64,
    /// By anything, on the server's CPUs.
    pub on_its_cpus: f64,
    /// By what the server started beside itself, and by the processes that the user asked to watch,
    /// by name.
    pub watched: BTreeMap<String, f64>,
}

/// One offered load, measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// CPUs of the server.
    pub cpus: u32,
    /// Offered load, sessions/s.
    pub rate: f64,
    /// Whether it was measured in search of the load line.
    pub search: bool,
    /// What the generator saw.
    pub load: Load,
    /// Use of CPUs; absent if the server's process is not known.
    pub cpu: Option<CpuUse>,
    /// What the server's guard did, if it has one that can be asked.
    #[serde(default)]
    pub guard: Option<Guarded>,
}

/// The closed run that says where to look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Users without think time.
    pub users: u32,
    /// Sessions per second that these replies make: the estimate of the saturation.
    pub sessions_per_s: f64,
    /// Replies per second.
    pub replies_per_s: f64,
    /// Clicks per session.
    pub clicks: f64,
    /// Why the generator may have been the limit.
    pub generator_limit: Option<String>,
    /// There was no probe, and needed none: loads are those of a closed program, as they were asked for.
    #[serde(default)]
    pub closed: bool,
}

impl Probe {
    /// Of a closed program, whose loads are given.
    pub fn closed(loads: &[u32]) -> Probe {
        let lightest = loads.first().copied().unwrap_or(1);
        Probe {
            users: 0,
            sessions_per_s: f64::from(lightest),
            replies_per_s: 0.0,
            clicks: 1.0,
            generator_limit: None,
            closed: true,
        }
    }

    /// Of a closed run; the error says why it cannot be used.
    pub fn of(users: u32, load: &Load) -> Result<Probe, String> {
        let s = &load.sessions;
        if load.replies == 0 {
            let why: Vec<String> = load
                .failures_by_kind
                .iter()
                .map(|(k, n)| format!("{n} {}", k.replace('_', " ")))
                .collect();
            return Err(format!(
                "not one reply was right ({}): is the scenario made for this server?",
                if why.is_empty() {
                    "and none wrong".into()
                } else {
                    why.join(", ")
                }
            ));
        }
        if s.completed == 0 {
            return Err(format!(
                "no session was completed in {}: give the server more time to warm up with --warmup",
                crate::words::seconds(load.seconds)
            ));
        }
        // Those under way at the end have made half of their clicks, on average; those that were refused, none.
        let sessions = (s.completed + s.broken - s.refused) as f64 + 0.5 * s.active_at_end as f64;
        let clicks = load.replies as f64 / sessions;
        Ok(Probe {
            users,
            sessions_per_s: load.replies_per_s / clicks,
            replies_per_s: load.replies_per_s,
            clicks,
            generator_limit: load.generator_limit(),
            closed: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_be_missing_and_others_may_come() {
        let load: Load = serde_json::from_str(
            r#"{"replies": 7, "new_key": {"a": 1}, "sessions": {"refused": 3}}"#,
        )
        .expect("tolerant");
        assert_eq!((load.replies, load.sessions.started), (7, 0));
    }

    #[test]
    fn a_failure_costs_the_clicks_that_were_still_to_come() {
        let load = Load {
            replies: 950,
            failures: 10,
            ..Load::default()
        };
        assert_eq!(load.goodput_share(5.0), 0.95);
        assert_eq!(Load::default().goodput_share(5.0), 0.0);
    }

    #[test]
    fn throughput_counts_wrong_replies_and_goodput_does_not() {
        let load = Load {
            seconds: 10.0,
            replies: 100,
            replies_per_s: 10.0,
            failures: 50,
            failures_by_kind: [("server_error".into(), 20), ("timeout".into(), 30)].into(),
            ..Load::default()
        };
        assert_eq!(load.throughput(), 12.0);
        assert_eq!((load.timeouts_per_s(), load.errors_per_s()), (3.0, 2.0));
    }

    #[test]
    fn who_is_refused_is_told_from_what_failed() {
        let load = Load {
            seconds: 10.0,
            replies: 400,
            replies_per_s: 40.0,
            failures: 100,
            failures_by_kind: [
                ("busy".into(), 40),
                ("tls".into(), 50),
                ("timeout".into(), 4),
                ("server_error".into(), 6),
            ]
            .into(),
            sessions: Sessions {
                completed: 90,
                broken: 98,
                refused: 88,
                ..Sessions::default()
            },
            ..Load::default()
        };
        assert_eq!((load.refused(), load.refused_per_s()), (90, 9.0));
        assert!((load.errors_per_s() - 0.6).abs() < 1e-9);
        assert_eq!(load.kept_share(), Some(0.9));
        assert_eq!(load.refused_share(), Some(88.0 / 188.0));
        assert!((load.throughput() - 40.6).abs() < 1e-9);
    }

    #[test]
    fn late_timers_matter_only_beside_short_responses() {
        let with = |lag_p99_ms, p95_ms, cpu_share| Load {
            response: Quantiles {
                p95_ms,
                ..Quantiles::default()
            },
            generator: Generator {
                lag_p99_ms,
                cpu_share,
                cpu_seconds: 0.0,
            },
            ..Load::default()
        };
        assert!(with(1.2, 5.0, 0.3).generator_limit().is_none());
        assert!(with(20.0, 50.0, 0.3).generator_limit().is_some());
        assert!(with(20.0, 5000.0, 0.3).generator_limit().is_none());
        assert!(with(1.0, 5.0, 0.95).generator_limit().is_some());
    }

    #[test]
    fn a_probe_counts_sessions_under_way_as_half() {
        let load = Load {
            seconds: 4.0,
            replies: 400,
            replies_per_s: 100.0,
            sessions: Sessions {
                started: 48,
                completed: 32,
                active_at_end: 16,
                ..Sessions::default()
            },
            ..Load::default()
        };
        let probe = Probe::of(16, &load).expect("usable");
        assert_eq!((probe.clicks, probe.sessions_per_s), (10.0, 10.0));
    }

    #[test]
    fn a_probe_without_replies_says_what_it_got_instead() {
        let load = Load {
            failures_by_kind: [("wrong_page".into(), 12)].into(),
            ..Load::default()
        };
        assert!(
            Probe::of(4, &load)
                .expect_err("no replies")
                .contains("12 wrong page")
        );
    }
}
