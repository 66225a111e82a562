//! The report as text: at most 100 columns, colours only if asked.

use super::Report;
use super::page::{Page, ROOM};
use super::phases::Times;
use super::table::{Align, Table, class, clip, duration, grouped, ms, percent};

impl Report {
    /// The report for people. Losses and missing levels come first.
    pub fn render(&self, color: bool) -> String {
        let mut out = Page::new(color);
        self.head(&mut out);
        self.figures(&mut out);
        self.breakdown(&mut out);
        self.waited_for(&mut out);
        self.requests(&mut out);
        self.costs(&mut out);
        self.threads(&mut out);
        self.contention(&mut out);
        self.machine(&mut out);
        self.code(&mut out);
        self.allocated(&mut out);
        self.objects(&mut out);
        self.methods(&mut out);
        self.metrics(&mut out);
        out.gap();
        out.paragraph("verdict", "1", &self.verdict.text);
        out.text()
    }

    /// What `loadline top` shows of a second: figures first, no notes.
    pub fn render_live(&self, color: bool) -> String {
        let mut out = Page::new(color);
        let lost: u64 = self.about.losses.values().sum();
        let mut title = format!("{} (pid {})", self.about.name, self.about.pid);
        if lost > 0 {
            title += &format!("   LOST {} events", grouped(lost));
        }
        let title = out.paint("1", &title);
        out.line(&title);
        self.figures(&mut out);
        if !self.roles.is_empty() {
            let roles = self
                .roles
                .iter()
                .map(|r| format!("{} {}", r.role.to_lowercase(), percent(r.cpus)));
            let roles: Vec<String> = roles.collect();
            out.line(&format!("of one CPU: {}", roles.join("  ")));
        }
        self.breakdown(&mut out);
        self.waited_for(&mut out);
        self.contention(&mut out);
        out.text()
    }

    fn head(&self, out: &mut Page) {
        let a = &self.about;
        let lost: u64 = a.losses.values().sum();
        let losses = if lost == 0 {
            ", none lost".to_owned()
        } else {
            String::new()
        };
        let cpus = format!("{} CPU{}", a.cpus, if a.cpus == 1 { "" } else { "s" });
        let parts = [
            Some(if a.name.is_empty() {
                format!("pid {}", a.pid)
            } else {
                a.name.clone()
            }),
            Some(a.jvm.clone()).filter(|s| !s.is_empty()),
            a.server.clone(),
            Some(cpus),
            Some(format!("{:.1} s", a.seconds)),
            Some(format!("{} events{losses}", grouped(a.events))),
        ];
        let text: Vec<String> = parts.into_iter().flatten().collect();
        for (i, line) in Page::wrapped(&text.join(" · ")).into_iter().enumerate() {
            let line = if i == 0 { out.paint("1", &line) } else { line };
            out.line(&line);
        }
        if lost > 0 {
            let each: Vec<String> = a
                .losses
                .iter()
                .map(|(s, n)| format!("{} by {s}", grouped(*n)))
                .collect();
            out.paragraph(
                "LOST",
                "1;31",
                &format!(
                    "{} events ({}): intervals that depend on them are unknown, counts are too low",
                    grouped(lost),
                    each.join(", ")
                ),
            );
        }
        if a.ended == "recovered" {
            out.paragraph("note", "33", "the recording was cut off and recovered; it ends with the last event that was written");
        }
        if !a.has_kernel {
            let why = a
                .missing
                .get("kernel")
                .map_or("the level was not asked for", String::as_str);
            out.paragraph("missing", "33", &format!(
                "kernel thread states: {why}. Running, waiting for a CPU and I/O cannot be told apart: all are \"unknown\""
            ));
        }
        for (level, why) in a.missing.iter().filter(|(level, _)| *level != "kernel") {
            out.paragraph("missing", "33", &format!("{level} level: {why}"));
        }
        for n in &a.not_recorded {
            let remedy = if n.how_to_get.is_empty() {
                String::new()
            } else {
                format!(". To get it: {}", n.how_to_get)
            };
            out.paragraph(
                "not recorded",
                "33",
                &format!("{}: {}{remedy}", n.what, n.why),
            );
        }
        for note in &a.notes {
            out.paragraph("note", "33", note);
        }
    }

    fn figures(&self, out: &mut Page) {
        out.gap();
        let (t, c) = (&self.throughput, &self.connections);
        let cpu = self
            .cpu
            .utilization
            .map(|u| format!("CPU {}", percent(u)))
            .unwrap_or_default();
        let machine = self
            .cpu
            .machine
            .map(|m| format!("     machine {} busy", percent(m)));
        let machine = machine.unwrap_or_default();
        if t.requests == 0 {
            let known = self.about.server.is_some() || self.about.missing.contains_key("server");
            let why = if known {
                ""
            } else {
                " (no server that the recorder knows)"
            };
            out.line(&format!("no requests were seen{why}     {cpu}{machine}"));
        } else {
            out.line(&format!(
                "throughput {} requests/s     response p50 {}  p95 {}  p99 {}  max {}     {cpu}",
                rate(t.requests_per_s),
                duration(t.p50_ms),
                duration(t.p95_ms),
                duration(t.p99_ms),
                duration(t.max_ms)
            ));
            let errors = t.client_errors + t.server_errors;
            if errors > 0 {
                let text = format!(
                    "errors {} of {} responses: {} with 4xx, {} with 5xx",
                    grouped(errors),
                    grouped(t.requests),
                    grouped(t.client_errors),
                    grouped(t.server_errors)
                );
                let text = out.paint("33", &text);
                out.line(&text);
            }
        }
        if c.opened + c.full + c.resumed + c.unknown > 0 {
            let mut others = String::new();
            for (n, what) in [(c.failed, "failed"), (c.unknown, "of either kind")] {
                if n > 0 {
                    others += &format!(", {} {what}", grouped(n));
                }
            }
            let kinds = if c.full + c.resumed + c.failed + c.unknown == 0 {
                // Of some servers handshakes are not seen: that they have no TLS is not known.
                ", no TLS handshakes seen".into()
            } else if c.full + c.resumed + c.failed == 0 {
                format!(
                    ": {}/s TLS handshakes, full or resumed",
                    rate(c.unknown_per_s)
                )
            } else {
                format!(
                    ": {}/s full handshakes, {}/s resumed{others}",
                    rate(c.full_per_s),
                    rate(c.resumed_per_s)
                )
            };
            out.line(&format!(
                "connections {}/s{kinds}{machine}",
                rate(c.opened_per_s)
            ));
        }
    }

    fn breakdown(&self, out: &mut Page) {
        if self.breakdown.is_empty() {
            return;
        }
        out.title(
            "where the time of handshakes and requests went",
            "mean per occurrence, ms",
        );
        let columns = Columns::of(self.breakdown.iter().map(|p| &p.ms));
        let mut table = Table::new(
            [
                ("", Align::Left),
                ("count", Align::Right),
                ("total", Align::Right),
            ]
            .into_iter()
            .chain(columns.0.iter().map(|c| (c.0, Align::Right))),
        );
        for p in &self.breakdown {
            let label = if p.part {
                format!("  {}", p.label)
            } else {
                p.label.to_owned()
            };
            let mut cells = vec![label, grouped(p.count), ms(p.ms.total)];
            cells.extend(columns.0.iter().map(|c| ms((c.1)(&p.ms))));
            table.row(cells);
        }
        out.table(&table);
    }

    fn waited_for(&self, out: &mut Page) {
        if self.waited_for.is_empty() {
            return;
        }
        out.title(
            "most waited-for",
            "share of the time of handshakes and requests",
        );
        for w in self.waited_for.iter().take(6) {
            let line = format!(
                "{:<26} {:>5}   {}",
                clip(&w.label, 26),
                percent(w.share),
                w.detail
            );
            out.line(&clip(line.trim_end(), ROOM));
        }
    }

    fn requests(&self, out: &mut Page) {
        if self.requests.is_empty() {
            return;
        }
        out.title("slowest request types", "ms, then shares of their time");
        let right = [
            "count", "mean", "p95", "running", "runnable", "lock", "pool", "SQL",
        ]
        .map(|n| (n, Align::Right));
        let has_calls = self.requests.iter().any(|r| r.call_ms > 0.0);
        let calls = has_calls.then_some(("services", Align::Right));
        let mut table = Table::new([("", Align::Left)].into_iter().chain(right).chain(calls));
        for r in &self.requests {
            let share = |part: f64| percent(part / r.ms.total.max(1e-9));
            let cells = [
                clip(&r.name, if calls.is_some() { 28 } else { 38 }),
                grouped(r.count),
                ms(r.mean_ms),
                ms(r.p95_ms),
                share(r.ms.running),
                share(r.ms.runnable),
                share(r.ms.lock),
                share(r.ms.pool),
                share(r.sql_ms),
            ];
            let in_calls = calls.map(|_| share(r.call_ms));
            table.row(cells.into_iter().chain(in_calls));
        }
        out.table(&table);
    }

    fn threads(&self, out: &mut Page) {
        if self.threads.is_empty() {
            return;
        }
        out.title("threads that ran most", "ms");
        let columns = Columns::of(self.threads.iter().map(|t| &t.ms));
        let mut table = Table::new(
            [
                ("", Align::Left),
                ("count", Align::Right),
                ("total", Align::Right),
            ]
            .into_iter()
            .chain(columns.0.iter().map(|c| (c.0, Align::Right))),
        );
        for t in &self.threads {
            let mut cells = vec![clip(&t.name, 28), grouped(t.count), ms(t.ms.total)];
            cells.extend(columns.0.iter().map(|c| ms((c.1)(&t.ms))));
            table.row(cells);
        }
        out.table(&table);
    }

    fn contention(&self, out: &mut Page) {
        if !self.monitors.is_empty() {
            out.title(
                "contended monitors and locks",
                "ms; what their owners were while others waited",
            );
            let mut table = columns(
                &["class"],
                &["waits", "total", "mean", "max", "running", "runnable"],
                &["held mostly by"],
            );
            let share = |s: Option<f64>| s.map_or("-".into(), percent);
            for m in &self.monitors {
                table.row([
                    class(&m.class, 36),
                    grouped(m.waits),
                    ms(m.total_ms),
                    ms(m.mean_ms),
                    ms(m.max_ms),
                    share(m.owner_running),
                    share(m.owner_runnable),
                    m.owner.as_deref().map_or("-".into(), |o| clip(o, 18)),
                ]);
            }
            out.table(&table);
        }
        if !self.pools.is_empty() {
            out.title("pools", "ms; waiting is longer than 1 ms");
            let mut table = columns(
                &["pool"],
                &[
                    "asked",
                    "waited",
                    "mean wait",
                    "max wait",
                    "mean use",
                    "most used",
                    "most waiting",
                ],
                &[],
            );
            for p in &self.pools {
                table.row([
                    clip(&p.name, 24),
                    grouped(p.asked),
                    grouped(p.waited),
                    ms(p.mean_wait_ms),
                    ms(p.max_wait_ms),
                    ms(p.mean_use_ms),
                    p.used(),
                    grouped(p.most_waiting),
                ]);
            }
            out.table(&table);
        }
        for (title, what, called) in [
            ("SQL", "statement", &self.sql),
            ("other services", "called at", &self.services),
        ] {
            if called.is_empty() {
                continue;
            }
            out.title(title, "ms");
            let mut table = columns(&[what], &["calls", "mean", "p95", "total"], &[]);
            for s in called {
                table.row([
                    clip(&s.text, 58),
                    grouped(s.count),
                    ms(s.mean_ms),
                    ms(s.p95_ms),
                    ms(s.total_ms),
                ]);
            }
            out.table(&table);
        }
        let gc = &self.gc;
        out.gap();
        out.line(&match gc.pauses {
            0 => "GC  no pause".to_owned(),
            n => format!(
                "GC  {} pause{}, {} in all ({} of the time), longest {}",
                grouped(n),
                if n == 1 { "" } else { "s" },
                duration(gc.total_ms),
                percent(gc.share),
                duration(gc.max_ms)
            ),
        });
    }
}

impl Report {
    fn metrics(&self, out: &mut Page) {
        if self.metrics.is_empty() {
            return;
        }
        out.title("your metrics", "");
        let mut table = columns(&["metric"], &["value"], &["unit", "bound", ""]);
        for m in &self.metrics {
            let bound = [
                ("at least", m.metric.at_least),
                ("at most", m.metric.at_most),
            ];
            let bound = bound.map(|(word, b)| b.map(|b| format!("{word} {b}")));
            let bound: Vec<String> = bound.into_iter().flatten().collect();
            table.row([
                clip(&m.metric.name, 48),
                m.value.map_or("-".into(), significant),
                m.metric.unit.clone(),
                bound.join(", "),
                if m.well { "" } else { "broken" }.into(),
            ]);
        }
        out.table(&table);
    }
}

/// A number of unknown magnitude, with the digits that matter.
pub(super) fn significant(value: f64) -> String {
    match value.abs() {
        v if v != 0.0 && v < 0.0995 => format!("{value:.4}"),
        v if v < 9.95 => format!("{value:.2}"),
        v if v < 99.5 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn rate(per_s: f64) -> String {
    if per_s < 9.95 {
        format!("{per_s:.1}")
    } else {
        grouped(per_s.round() as u64)
    }
}

pub(super) fn columns(
    left: &[&'static str],
    right: &[&'static str],
    last: &[&'static str],
) -> Table {
    let left = left.iter().map(|n| (*n, Align::Left));
    let right = right.iter().map(|n| (*n, Align::Right));
    Table::new(
        left.chain(right)
            .chain(last.iter().map(|n| (*n, Align::Left))),
    )
}

type Column = (&'static str, fn(&Times) -> f64);

/// Columns of causes: those that are always of interest, and those with more than half a per cent
/// of any row.
struct Columns(Vec<Column>);

/// How many of the columns that are not always there fit into a hundred characters.
const MOST_AT_TIMES: usize = 3;

impl Columns {
    fn of<'a>(rows: impl Iterator<Item = &'a Times>) -> Columns {
        let always: [Column; 5] = [
            ("running", |t| t.running),
            ("runnable", |t| t.runnable),
            ("lock", |t| t.lock),
            ("pool", |t| t.pool),
            ("socket", |t| t.socket),
        ];
        let at_times: [Column; 5] = [
            ("queue", |t| t.queue),
            ("guard", |t| t.admission),
            ("unknown", |t| t.unknown),
            ("idle", |t| t.idle),
            ("other", |t| t.other + t.file + t.gc),
        ];
        let rows: Vec<&Times> = rows.collect();
        let matters = |c: &Column| rows.iter().any(|t| (c.1)(t) > 0.005 * t.total);
        let mut found: Vec<Column> = at_times.into_iter().filter(matters).collect();
        if found.len() > MOST_AT_TIMES {
            // All of them would not fit: the last ones are then something else.
            found.truncate(MOST_AT_TIMES - 1);
            let idle = |c: &Column| c.0 == "idle";
            found.push(if found.iter().any(idle) {
                ("other", |t| t.other + t.file + t.gc)
            } else if found.iter().any(|c| c.0 == "unknown") {
                ("other", |t| t.other + t.file + t.gc + t.idle)
            } else {
                ("other", |t| t.other + t.file + t.gc + t.idle + t.unknown)
            });
        }
        Columns(always.into_iter().chain(found).collect())
    }
}
