//! A summary as one page for a browser: self-contained, without scripts.

use super::{Quantiles, Second, Summary};
use crate::scenario::Arrivals;
use loadline_plot::{Chart, STYLE, Series, escape};
use std::fmt::Write;

impl Summary {
    /// HTML with plots.
    pub fn page(&self, arrivals: Arrivals) -> String {
        let mut out = String::new();
        self.write_page(&mut out, arrivals)
            .expect("a String takes everything");
        out
    }

    fn write_page(&self, out: &mut String, arrivals: Arrivals) -> std::fmt::Result {
        let title = format!("{} · {}", escape(&self.target), escape(&self.scenario));
        writeln!(
            out,
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>{title} · Loadline</title><style>{STYLE}{}</style></head><body>",
            include_str!("page.css")
        )?;
        let partial = if self.partial {
            " · stopped early"
        } else {
            ""
        };
        writeln!(
            out,
            "<h1>{title}</h1><p class=\"sub\">{} · {:.1} s · seed {}{partial}</p>",
            super::render::who(arrivals),
            self.seconds,
            self.seed
        )?;
        for text in self.error.iter().chain(&self.warnings) {
            writeln!(out, "<p class=\"warn\">{}</p>", escape(text))?;
        }
        self.write_cards(out)?;
        self.write_plots(out)?;
        self.write_tables(out)?;
        writeln!(out, "</body></html>")
    }

    fn write_cards(&self, out: &mut String) -> std::fmt::Result {
        let (s, h) = (&self.sessions, &self.handshakes);
        let goodput = match self.steady.replies_per_s {
            Some(e) if self.steady.settled => {
                format!("goodput, {:.1} ±{:.1} steady", e.value, e.ci95)
            }
            _ => "goodput".to_owned(),
        };
        let cards = [
            (format!("{:.1}/s", self.replies_per_s), goodput),
            (
                ms(self.response.p95_ms),
                format!(
                    "p95; p50 {}, p99 {}",
                    ms(self.response.p50_ms),
                    ms(self.response.p99_ms)
                ),
            ),
            (
                format!("{}", self.failures),
                format!("failures, of {} clicks", self.replies + self.failures),
            ),
            (
                format!("{}", s.completed),
                format!("sessions completed, of {}; {} broken", s.started, s.broken),
            ),
            (
                format!("{}", h.full + h.resumed),
                format!("handshakes, {} full, {} resumed", h.full, h.resumed),
            ),
            (
                format!("{:.0}%", 100.0 * self.generator.cpu_share),
                "of a core a worker: the generator itself".to_owned(),
            ),
        ];
        writeln!(out, "<div class=\"cards\">")?;
        for (figure, what) in cards {
            writeln!(
                out,
                "<div class=\"card\"><b>{figure}</b><span>{what}</span></div>"
            )?;
        }
        writeln!(out, "</div>")
    }

    fn write_plots(&self, out: &mut String) -> std::fmt::Result {
        // A last piece of a second would look like a breakdown.
        let whole = |s: &&Second| s.t_s.fract() == 0.0 || self.series.len() == 1;
        let over_time = |of: fn(&Second) -> f64| -> Vec<(f64, f64)> {
            let seconds = self.series.iter().filter(whole);
            seconds.map(|s| (s.t_s, of(s))).collect()
        };
        let chart = |title: &str, unit: &str, series| Chart {
            title: title.into(),
            unit: unit.into(),
            x_label: "seconds".into(),
            series,
            ..Chart::default()
        };
        let mut charts = vec![
            chart(
                "Clicks per second",
                "",
                vec![
                    Series::area("good replies", over_time(|s| s.goodput as f64)),
                    Series::line("offered", over_time(|s| s.offered as f64)),
                    Series::line("failed", over_time(|s| s.failures as f64)),
                ],
            ),
            chart(
                "Response time",
                "ms",
                vec![
                    Series::line("p50", over_time(|s| s.p50_ms)),
                    Series::line("p95", over_time(|s| s.p95_ms)),
                    Series::line("p99", over_time(|s| s.p99_ms)),
                ],
            ),
            chart(
                "Sessions",
                "",
                vec![
                    Series::area("under way", over_time(|s| s.sessions as f64)),
                    Series::line("broken per second", over_time(|s| s.broken as f64)),
                ],
            ),
        ];
        if self.handshakes.full + self.handshakes.resumed > 0 {
            charts.push(chart(
                "TLS handshakes per second",
                "",
                vec![
                    Series::line("full", over_time(|s| s.full as f64)),
                    Series::line("resumed", over_time(|s| s.resumed as f64)),
                ],
            ));
        }
        charts.push(self.spectrum_chart());
        for svg in charts.iter().map(Chart::svg).filter(|svg| !svg.is_empty()) {
            writeln!(out, "<figure>{svg}</figure>")?;
        }
        Ok(())
    }

    /// Response times over percentiles, each nine as far from the last as that from the one before.
    fn spectrum_chart(&self) -> Chart {
        let position = |q: f64| -(1.0 - q).max(1e-12).log10();
        let named = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
        let ticks = named.map(|q| (position(q), format!("{}%", (q * 1e8).round() / 1e6)));
        let points = self.spectrum.iter().map(|(q, t)| (position(*q), *t));
        Chart {
            title: "Response time by percentile".into(),
            unit: "ms, from when the click was due".into(),
            x_ticks: ticks.to_vec(),
            from_smallest: true,
            log: true,
            ..Chart::default()
        }
        .with(Series::line("all clicks", points))
    }

    fn write_tables(&self, out: &mut String) -> std::fmt::Result {
        let p = &self.phases;
        let phases = [
            ("TCP connect", &p.tcp),
            ("TLS handshake, full", &p.tls_full),
            ("TLS handshake, resumed", &p.tls_resumed),
            ("wait for the reply", &p.wait),
            ("transfer", &p.transfer),
            ("page with its resources", &p.page_load),
            ("a resource", &self.resources.fetched),
        ];
        table(out, "Phases of connections", phases.into_iter())?;
        table(
            out,
            "Interactions",
            self.interactions
                .iter()
                .map(|i| (i.name.as_str(), &i.response)),
        )?;
        if !self.failures_by_kind.is_empty() {
            writeln!(out, "<h2>Failures</h2><table>")?;
            for (kind, n) in &self.failures_by_kind {
                writeln!(out, "<tr><td>{}</td><td>{n}</td></tr>", kind.words())?;
            }
            writeln!(out, "</table>")?;
        }
        let (g, steady) = (&self.generator, &self.steady);
        let warm_up = if steady.settled {
            format!("Warm-up {:.1} s (MSER-5).", steady.warm_up_s)
        } else {
            "The run was too short, or too uneven, to tell where its warm-up ends.".to_owned()
        };
        writeln!(
            out,
            "<p class=\"note\">{warm_up} Generator: {} × {} workers, {:.2} s of CPU, timers {:.1} ms late (p99). Times are measured from when a click was due.</p>",
            g.processes, g.threads, g.cpu_seconds, g.lag_p99_ms
        )
    }
}

fn table<'a>(
    out: &mut String,
    title: &str,
    rows: impl Iterator<Item = (&'a str, &'a Quantiles)>,
) -> std::fmt::Result {
    writeln!(
        out,
        "<h2>{title}</h2><table><tr><th></th><th>count</th><th>mean ms</th><th>p50</th><th>p95</th><th>p99</th><th>max</th></tr>"
    )?;
    for (name, q) in rows.filter(|(_, q)| q.count > 0) {
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td><td>{:.2}</td><td>{:.1}</td></tr>",
            escape(name),
            q.count,
            q.mean_ms,
            q.p50_ms,
            q.p95_ms,
            q.p99_ms,
            q.max_ms
        )?;
    }
    writeln!(out, "</table>")
}

fn ms(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1e3),
    }
}
