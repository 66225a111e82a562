//! What limits the server, only as far as the figures go.
//!
//! * The CPUs, if the target used more than [`SATURATED`] of those that it may use, or if the
//!   machine did and its requests spent more time waiting for a CPU than for anything else, and
//!   more than [`NOTABLE`] of their time.
//! * Else the largest wait, if it takes more than [`DOMINANT`] of the time of handshakes and
//!   requests and is a resource of the server: a lock, a pool, a database, a file, its workers, the
//!   collector. Waiting for the client limits nobody.
//! * Else nothing single.

use serde::Serialize;

use super::contention::{Monitor, Pool, WaitedFor};
use super::phases::Phase;
use super::table::{duration, percent};

/// Utilization above which CPUs are the limit.
pub const SATURATED: f64 = 0.9;
/// Share of time above which a wait is the limit.
pub const DOMINANT: f64 = 0.25;
/// Share of time that requests must have waited for the CPUs of a crowded machine.
pub const NOTABLE: f64 = 0.1;

/// The conclusion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// cpu, lock, pool, database, worker, file, gc, none or unknown.
    pub limit: &'static str,
    /// In a sentence or two.
    pub text: String,
}

/// What the verdict rests on.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Thread states are the kernel's.
    pub has_kernel: bool,
    /// The server level was recorded.
    pub has_server: bool,
    /// Complete requests.
    pub requests: u64,
    /// Handshakes that ended.
    pub handshakes: u64,
    /// Of the target's CPUs.
    pub utilization: Option<f64>,
    /// Of all CPUs, by everything.
    pub machine: Option<f64>,
    /// The largest first.
    pub waited_for: &'a [WaitedFor],
    /// Means per occurrence.
    pub breakdown: &'a [Phase],
    /// Pools.
    pub pools: &'a [Pool],
    /// Locks.
    pub monitors: &'a [Monitor],
}

/// The verdict.
pub fn verdict(e: &Evidence) -> Verdict {
    let busy = e.utilization.unwrap_or(0.0);
    let crowded = e.machine.unwrap_or(0.0);
    let first = e
        .waited_for
        .iter()
        .find(|w| !matches!(w.what, "client" | "other"));
    let says = |limit, text: String| Verdict { limit, text };
    if busy > SATURATED {
        return says(
            "cpu",
            format!(
                "the CPUs are the limit: the target used {} of those that it may use{}.",
                percent(busy),
                waiting_for_cpu(e)
            ),
        );
    }
    if e.requests == 0 && e.handshakes == 0 {
        return says("unknown", no_requests(e));
    }
    match first {
        Some(w) if w.what == "cpu" && w.share > NOTABLE && crowded > SATURATED => says(
            "cpu",
            format!(
                "the CPUs are the limit: the machine was {} busy, of which the target used {} of its CPUs{}.",
                percent(crowded),
                percent(busy),
                waiting_for_cpu(e)
            ),
        ),
        Some(w) if w.share > DOMINANT && w.what != "cpu" => says(w.what, dominant(w, e)),
        _ if !e.has_kernel => says(
            "unknown",
            format!(
                "no lock and no pool dominates{}; without kernel states nobody can tell running from waiting for a CPU or for I/O.",
                e.utilization
                    .map(|u| format!(", the target used {} of its CPUs", percent(u)))
                    .unwrap_or_default()
            ),
        ),
        _ => says("none", no_single_limit(e)),
    }
}

fn waiting_for_cpu(e: &Evidence) -> String {
    let Some(phase) = e
        .breakdown
        .iter()
        .find(|p| p.ms.total > 0.0 && p.ms.runnable / p.ms.total > 0.2 && !p.part)
    else {
        return String::new();
    };
    let share = phase.ms.runnable / phase.ms.total;
    let amount = if share > 0.5 {
        "more than half".into()
    } else {
        percent(share)
    };
    format!(
        "; {amount} of a {} ({}) is spent waiting for one",
        in_words(phase.label),
        duration(phase.ms.total)
    )
}

fn in_words(label: &str) -> &str {
    match label {
        "TLS handshake, full" => "full handshake",
        "TLS handshake, resumed" => "resumed handshake",
        "TLS handshake, failed" => "failed handshake",
        "request, no service" => "request outside its service",
        "connection, idle" => "connection without a request",
        other => other,
    }
}

fn dominant(w: &WaitedFor, e: &Evidence) -> String {
    let share = percent(w.share);
    let of_time = "of the time of requests and handshakes";
    match w.what {
        "lock" => {
            let top = e.monitors.first().map(|m| {
                let owner = m
                    .owner
                    .as_deref()
                    .map(|o| format!(", held mostly by {o}"))
                    .unwrap_or_default();
                format!(" ({}{owner})", m.class)
            });
            format!(
                "a lock is the limit{}: waiting for it takes {share} {of_time}.",
                top.unwrap_or_default()
            )
        }
        "pool" => {
            let top = e.pools.first().map(|p| {
                format!(
                    " {} (up to {} in use, {} waiting)",
                    p.name, p.most_used, p.most_waiting
                )
            });
            format!(
                "the pool{} is the limit: waiting for it takes {share} {of_time}.",
                top.unwrap_or_default()
            )
        }
        _ => format!("{} is what the time goes into: {share} {of_time}.", w.label),
    }
}

fn no_requests(e: &Evidence) -> String {
    let cpu = e
        .utilization
        .map(|u| format!("; the target used {} of its CPUs", percent(u)))
        .unwrap_or_default();
    let why = if e.has_server {
        "no request was seen"
    } else {
        "the server level was not recorded"
    };
    format!("{why}, so nothing can be said of a limit{cpu}.")
}

fn no_single_limit(e: &Evidence) -> String {
    let cpu = e
        .utilization
        .map(|u| format!("the target used {} of its CPUs", percent(u)));
    let most = e.waited_for.first().map(|w| {
        format!(
            "the largest wait, for {}, takes {}",
            w.label,
            percent(w.share)
        )
    });
    let parts: Vec<String> = cpu.into_iter().chain(most).collect();
    format!(
        "no single limit{}{}.",
        if parts.is_empty() { "" } else { ": " },
        parts.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::phases::Times;

    fn wait(what: &'static str, share: f64) -> WaitedFor {
        WaitedFor {
            what,
            label: format!("the {what}"),
            share,
            detail: String::new(),
        }
    }

    fn evidence<'a>(waited_for: &'a [WaitedFor], breakdown: &'a [Phase]) -> Evidence<'a> {
        Evidence {
            has_kernel: true,
            has_server: true,
            requests: 100,
            handshakes: 10,
            utilization: Some(0.4),
            machine: Some(0.5),
            waited_for,
            breakdown,
            pools: &[],
            monitors: &[],
        }
    }

    #[test]
    fn saturated_cpus_are_the_limit_and_the_phase_that_waits_is_named() {
        let ms = Times {
            total: 19.4,
            runnable: 10.9,
            ..Times::default()
        };
        let phases = [Phase {
            label: "TLS handshake, full",
            per: "handshake",
            count: 9,
            ms,
            part: false,
        }];
        let v = verdict(&Evidence {
            utilization: Some(0.93),
            ..evidence(&[wait("lock", 0.4)], &phases)
        });
        assert_eq!(v.limit, "cpu");
        assert!(
            v.text.contains("93%") && v.text.contains("more than half of a full handshake"),
            "{}",
            v.text
        );
    }

    #[test]
    fn a_wait_that_dominates_is_the_limit_but_the_client_never_is() {
        assert_eq!(
            verdict(&evidence(&[wait("client", 0.7), wait("pool", 0.3)], &[])).limit,
            "pool"
        );
        assert_eq!(
            verdict(&evidence(&[wait("client", 0.7), wait("pool", 0.1)], &[])).limit,
            "none"
        );
    }

    #[test]
    fn a_crowded_machine_is_a_cpu_limit_only_if_requests_waited_for_it() {
        let crowded = |w: &[WaitedFor]| {
            verdict(&Evidence {
                machine: Some(0.97),
                ..evidence(w, &[])
            })
            .limit
        };
        assert_eq!(crowded(&[wait("cpu", 0.2)]), "cpu");
        assert_eq!(crowded(&[wait("cpu", 0.02)]), "none");
        assert_eq!(crowded(&[wait("lock", 0.1)]), "none");
    }

    #[test]
    fn without_evidence_nothing_is_concluded() {
        let blind = Evidence {
            has_kernel: false,
            ..evidence(&[], &[])
        };
        assert_eq!(verdict(&blind).limit, "unknown");
        let silent = Evidence {
            requests: 0,
            handshakes: 0,
            ..evidence(&[], &[])
        };
        assert_eq!(verdict(&silent).limit, "unknown");
    }
}
