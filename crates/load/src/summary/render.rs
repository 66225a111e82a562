//! A summary for people: figures right-aligned, what did not occur left out.

use super::{Quantiles, Summary};
use crate::scenario::Arrivals;
use std::fmt::Write;

impl Summary {
    /// For people: a dozen lines, figures right-aligned.
    pub fn render(&self, arrivals: Arrivals) -> String {
        let mut out = String::new();
        self.write(&mut out, arrivals)
            .expect("a String takes everything");
        out
    }

    fn write(&self, out: &mut String, arrivals: Arrivals) -> std::fmt::Result {
        let who = who(arrivals);
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
        self.write_steady(out)?;
        self.write_handshakes(out)?;
        let s = &self.sessions;
        writeln!(
            out,
            "sessions {} started: {} completed, {} broken ({} of them refused at the door), {} under way at the end",
            s.started, s.completed, s.broken, s.refused, s.active_at_end
        )?;
        let r = &self.resources;
        if r.fetched.count + r.cached + r.failed > 0 {
            writeln!(
                out,
                "resources {} fetched, {} in the session's cache, {} failed",
                r.fetched.count, r.cached, r.failed
            )?;
        }
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
            ("page with its resources", &p.page_load),
            ("a resource", &self.resources.fetched),
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
            if g.threads * g.processes > 1 {
                " per worker"
            } else {
                ""
            },
            g.lag_p99_ms
        )?;
        for warning in &self.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        Ok(())
    }
}

impl Summary {
    fn write_steady(&self, out: &mut String) -> std::fmt::Result {
        let s = &self.steady;
        match (s.settled, s.replies_per_s, s.mean_ms) {
            (true, Some(goodput), Some(mean)) => writeln!(
                out,
                "steady after {:.1} s: {:.1} ±{:.1} replies/s, mean {:.2} ±{:.2} ms, p95 {:.1} ms",
                s.warm_up_s, goodput.value, goodput.ci95, mean.value, mean.ci95, s.p95_ms
            ),
            _ if self.replies > 0 => writeln!(out, "not steady within this time: run it longer"),
            _ => Ok(()),
        }
    }

    fn write_handshakes(&self, out: &mut String) -> std::fmt::Result {
        let h = &self.handshakes;
        if h.full + h.resumed + h.failed == 0 {
            return Ok(());
        }
        write!(
            out,
            "handshakes {:.1}/s: {} full, {} resumed, {} failed",
            h.per_s, h.full, h.resumed, h.failed
        )?;
        if h.tickets_declined > 0 {
            write!(out, "; {} tickets not taken", h.tickets_declined)?;
        }
        writeln!(out)
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

/// Who makes the load.
pub(super) fn who(arrivals: Arrivals) -> String {
    match arrivals {
        Arrivals::Closed { users } => format!("{users} users"),
        Arrivals::PartlyOpen { rate } => format!("{rate} sessions/s"),
        Arrivals::Open { rate } => format!("{rate} requests/s"),
        Arrivals::Replay => "as the log says".to_owned(),
    }
}
