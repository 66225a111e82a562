//! Counters of the target, the machine, its CPUs, and of the recorder itself.

use loadline_trace::spool::procfs::Line;

use super::fds::Fds;
use super::{limits, parse, threads};
use crate::ring::page_size;
use crate::sys::{self, now_ns};
use crate::walk::Walk;

/// Reads them, again and again.
pub(super) struct Counters {
    pid: i32,
    /// Who tells of threads faster than `/proc`; `None` where nobody does.
    threads: Option<Walk>,
    /// Connections that the kernel had dropped at the last reading.
    dropped: Option<u64>,
}

impl Counters {
    /// Of `pid`.
    pub fn new(pid: i32, threads: Option<Walk>) -> Counters {
        Counters {
            pid,
            threads,
            dropped: None,
        }
    }

    /// Lines of counters of this moment.
    ///
    /// | scope | names |
    /// | --- | --- |
    /// | `process` | cpu_seconds, kernel_seconds, rss_bytes, threads, fds, voluntary_switches, involuntary_switches |
    /// | `process`, where its cgroup has a quota or had one | throttled_seconds, throttled_periods, quota_periods, quota_cpus |
    /// | `process`, once connections were dropped | accept_queue |
    /// | `network` | listen_overflows, listen_drops |
    /// | `machine`, `cpu N` | busy_seconds, idle_seconds, steal_seconds |
    /// | `recorder` | cpu_seconds |
    ///
    /// All but rss_bytes, threads, fds, quota_cpus and accept_queue only grow. Switches are those of living threads.
    pub fn read(&mut self, fds: &Fds) -> Vec<Line> {
        let pid = self.pid;
        let line = |scope: String, values: Vec<(&str, f64)>| Line::Counters {
            ts: now_ns(),
            scope,
            values: values.into_iter().map(|(n, v)| (n.to_owned(), v)).collect(),
        };
        let mut lines = Vec::new();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Gone between two readings: no line is better than zeros.
        if let (Ok(cpu_ns), Some(stat)) = (sys::process_cpu_ns(pid), parse::stat(&stat)) {
            let (voluntary, involuntary) = self.switches();
            let mut values = vec![
                ("cpu_seconds", cpu_ns as f64 / 1e9),
                ("kernel_seconds", stat.ticks[1] as f64 / ticks_per_second()),
                ("rss_bytes", stat.rss_pages as f64 * page_size() as f64),
                ("threads", stat.threads as f64),
                ("fds", fds.len() as f64),
                ("voluntary_switches", voluntary as f64),
                ("involuntary_switches", involuntary as f64),
            ];
            if let Some(t) = limits::throttling(pid) {
                values.extend([
                    ("throttled_seconds", t.seconds),
                    ("throttled_periods", t.throttled as f64),
                    ("quota_periods", t.periods as f64),
                ]);
                values.extend(t.quota.map(|cpus| ("quota_cpus", cpus)));
            }
            let netstat = std::fs::read_to_string(format!("/proc/{pid}/net/netstat"));
            let listening = limits::listen_drops(&netstat.unwrap_or_default());
            // The list of all sockets is long, and is worth reading only where connections are dropped.
            let before = std::mem::replace(&mut self.dropped, listening.map(|l| l.0));
            if before
                .zip(self.dropped)
                .is_some_and(|(before, now)| now > before)
            {
                values.push(("accept_queue", f64::from(fds.accept_queue())));
            }
            lines.push(line("process".into(), values));
            if let Some((overflows, drops)) = listening {
                lines.push(line(
                    "network".into(),
                    vec![
                        ("listen_overflows", overflows as f64),
                        ("listen_drops", drops as f64),
                    ],
                ));
            }
        }
        let seconds = |ticks: u64| ticks as f64 / ticks_per_second();
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        for t in parse::cpu_ticks(&text) {
            lines.push(line(
                t.cpu
                    .map_or_else(|| "machine".into(), |n| format!("cpu {n}")),
                vec![
                    ("busy_seconds", seconds(t.busy)),
                    ("idle_seconds", seconds(t.idle)),
                    ("steal_seconds", seconds(t.steal)),
                ],
            ));
        }
        lines.push(line(
            "recorder".into(),
            vec![("cpu_seconds", sys::own_cpu_ns() as f64 / 1e9)],
        ));
        lines
    }

    /// Of all living threads: those that waited, and those that had to.
    pub(super) fn switches(&self) -> (u64, u64) {
        let mut sum = (0, 0);
        if let Some(threads) = self.threads.as_ref().and_then(Walk::all) {
            for [voluntary, involuntary] in threads {
                sum.0 += voluntary;
                sum.1 += involuntary;
            }
            return sum;
        }
        let pid = self.pid;
        for tid in threads::tids(pid) {
            let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")) else {
                continue; // it has ended
            };
            let of = |name| {
                parse::status(&text, name)
                    .and_then(|v| v.parse::<u64>().ok())
                    .unwrap_or(0)
            };
            sum.0 += of("voluntary_ctxt_switches");
            sum.1 += of("nonvoluntary_ctxt_switches");
        }
        sum
    }
}

/// Clock ticks of `/proc`.
pub fn ticks_per_second() -> f64 {
    // SAFETY: no pointers; _SC_CLK_TCK always has a value.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_has_its_values() {
        let pid = std::process::id() as i32;
        let mut counters = Counters::new(pid, None);
        let lines = counters.read(&Fds::new(pid, None, None));
        assert!(counters.dropped.is_some());
        let value = |scope: &str, name: &str| {
            lines.iter().find_map(|l| match l {
                Line::Counters {
                    scope: s, values, ..
                } if s == scope => values.iter().find(|v| v.0 == name).map(|v| v.1),
                _ => None,
            })
        };
        assert!(value("process", "cpu_seconds").is_some_and(|s| s > 0.0));
        assert!(value("process", "rss_bytes").is_some_and(|b| b > 1e5));
        assert!(value("process", "kernel_seconds").is_some());
        assert!(value("network", "listen_overflows").is_some());
        assert!(value("machine", "busy_seconds").is_some_and(|s| s > 0.0));
        assert!(value("cpu 0", "idle_seconds").is_some());
        assert!(value("recorder", "cpu_seconds").is_some());
    }
}
