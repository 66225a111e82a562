//! The parameters: each with what it is, where it comes from, and how sure it is.

use std::fmt::Write;

use loadline_stats::law::{Fitted, Shape};

use super::numbers::{digits, time};
use super::{Assumed, kinds, plain, pool_name};
use crate::fit::{Class, Fit, Think};

/// Tomcat's default.
const WORKERS: u32 = 200;
/// HikariCP's default.
const CONNECTIONS: u32 = 10;
/// What sending, waking and reading takes on loopback, from end to end: half of a TCP connect there.
const NETWORK: &str = "75us";

/// More workers or connections than there ever are.
const MOST: u32 = 100_000;

/// How many there may be: as it is said, else as it was configured when it was recorded, else the default.
fn size(said: Option<u32>, recorded: Option<u64>, default: u32) -> u64 {
    said.map(u64::from)
        .or(recorded)
        .unwrap_or(u64::from(default))
        .clamp(1, u64::from(MOST))
}

/// Where that comes from.
fn source(said: Option<u32>, recorded: Option<u64>, whose: &str) -> String {
    match (said, recorded) {
        (Some(_), _) => String::new(),
        (None, Some(_)) => ", as it was configured".into(),
        (None, None) => format!(", not recorded: {whose} default"),
    }
}

/// The section as it is written.
pub(super) struct Parameters<'a>(&'a mut String);

impl Parameters<'_> {
    pub(super) fn fitted(&mut self, name: &str, f: &Fitted, what: &str) {
        let ci95 = if f.ci95.is_finite() {
            f.ci95.min(f.mean)
        } else {
            f.mean
        };
        let law = match &f.shape {
            Shape::Constant => String::new(),
            Shape::Table(_) => format!(", no law fits it, scv {}", digits(f.scv)),
            Shape::Family(..) => format!(
                ", scv {}, off by {:.0}% at most",
                digits(f.scv),
                100.0 * f.distance
            ),
        };
        let _ = writeln!(
            self.0,
            "{name} = {{ default = \"{}\", ci95 = \"{}\", help = \"{what}; mean of {}{law}\" }}",
            time(f.mean),
            time(ci95),
            f.count
        );
    }

    /// A time that was fitted and has no law.
    pub(super) fn timed(&mut self, name: &str, value: f64, ci95: f64, what: &str) {
        let _ = writeln!(
            self.0,
            "{name} = {{ default = \"{}\", ci95 = \"{}\", help = \"{what}\" }}",
            time(value),
            time(ci95)
        );
    }

    pub(super) fn given(&mut self, name: &str, value: &str, range: &str, what: &str) {
        let _ = writeln!(
            self.0,
            "{name} = {{ default = {value}, range = {range}, help = \"{what}\" }}"
        );
    }

    /// A number without a unit, and without a law.
    pub(super) fn estimate(&mut self, name: &str, value: f64, ci95: f64, range: &str, what: &str) {
        let _ = writeln!(
            self.0,
            "{name} = {{ default = {}, ci95 = {}, range = {range}, help = \"{what}\" }}",
            digits(value),
            digits(if ci95.is_finite() { ci95 } else { value.abs() })
        );
    }

    /// A number of bytes, without a law.
    pub(super) fn fitted_bytes(&mut self, name: &str, f: &Fitted, what: &str) {
        let _ = writeln!(
            self.0,
            "{name} = {{ default = \"{}B\", ci95 = \"{}B\", range = [0, 1e12], help = \"{what}\" }}",
            digits(f.mean.round()),
            digits(f.ci95.round())
        );
    }

    pub(super) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "# {text}");
    }
}

/// The section `[parameters]`.
pub(super) fn parameters(out: &mut String, fit: &Fit, assumed: &Assumed) {
    let _ = writeln!(out, "[parameters]");
    let mut p = Parameters(out);
    who_comes(&mut p, fit);
    what_it_runs_on(&mut p, fit, assumed);
    factors(&mut p);
    requests(&mut p, fit);
    super::shared::parameters(&mut p, fit);
    handshakes(&mut p, fit);
    besides(&mut p, fit);
    out.push('\n');
}

fn who_comes(p: &mut Parameters<'_>, fit: &Fit) {
    let v = &fit.visitors;
    p.heading("who comes");
    p.given(
        "rate",
        &digits(v.rate),
        "[0, 1e6]",
        &format!(
            "new sessions a second, {} requests each; this is what was recorded",
            digits(v.clicks)
        ),
    );
    p.given(
        "users",
        "0",
        "[0, 1e6]",
        "users at a time instead: --set rate=0 --set users=50",
    );
    match &v.think {
        Think::Mean(mean) => p.given(
            "think",
            &format!("\"{}\"", time(*mean)),
            "[0, 1e6]",
            "mean pause between two clicks, by the scenario",
        ),
        Think::Law(law) => p.fitted("think", law, "pause between two requests of a connection"),
    }
    p.given(
        "per_connection",
        &v.per_connection.unwrap_or(1_000_000).to_string(),
        "[1, 1e6]",
        "requests after which a client opens a new connection",
    );
    if fit.full.is_some() || fit.resumed.is_some() {
        p.given(
            "resume_first",
            &digits(v.resume_first),
            "[0, 1]",
            "share of the sessions' first connections that resume",
        );
        p.given(
            "resume_later",
            &digits(v.resume_later),
            "[0, 1]",
            "share of their later connections that do",
        );
    }
}

fn what_it_runs_on(p: &mut Parameters<'_>, fit: &Fit, assumed: &Assumed) {
    p.heading("what it runs on");
    p.given(
        "cpus",
        &fit.about.cpus.to_string(),
        "[1, 128]",
        "CPUs of the server",
    );
    p.given(
        "speed",
        "1",
        "[0.01, 100]",
        "of a CPU, beside the one that was recorded",
    );
    if let Some(c) = &fit.contention {
        p.estimate(
            "contention",
            c.growth.growth,
            c.growth.ci95,
            "[-0.9, 10]",
            if c.of_requests() {
                "share by which CPU demands grow from idle to full CPUs; a line through all requests"
            } else {
                "share by which CPU demands grow from idle to full CPUs; a line through all recordings"
            },
        );
        p.given(
            "contention_at",
            &digits(c.growth.at),
            "[0, 1]",
            "utilization at which demands are as below",
        );
    }
    let (most, serve) = if fit.costs.queued {
        (WORKERS, "threads that serve")
    } else {
        (MOST, "virtual threads that serve, as many as there is work")
    };
    let from = match assumed.workers {
        None if fit.costs.queued => source(None, fit.workers, "Tomcat's"),
        _ => String::new(),
    };
    p.given(
        "workers",
        &size(assumed.workers, fit.workers, most).to_string(),
        &format!("[1, {MOST}]"),
        &format!("{serve}{from}"),
    );
    for (i, pool) in fit.pools.iter().enumerate() {
        p.given(
            &pool_name(i),
            &size(assumed.pool, pool.limit, CONNECTIONS).to_string(),
            &format!("[1, {MOST}]"),
            &format!(
                "connections of pool {}{}; {} were in use at most",
                plain(&pool.name),
                source(assumed.pool, pool.limit, "HikariCP's"),
                pool.most_used
            ),
        );
    }
    p.given(
        "network",
        &format!("\"{NETWORK}\""),
        "[0, 100]",
        "one way between client and server; not recorded: loopback is assumed",
    );
    p.given(
        "client_cpu",
        "0",
        "[0, 1]",
        "CPU of the client per request, where it shares these CPUs, as a load generator on the same machine",
    );
}

fn factors(p: &mut Parameters<'_>) {
    p.heading("factors on all CPU of a kind, to ask what less of it would bring");
    for (kind, what) in FACTORS {
        p.given(&format!("{kind}_factor"), "1", "[0, 100]", what);
    }
}

fn requests(p: &mut Parameters<'_>, fit: &Fit) {
    p.heading("CPU of requests, by class and part");
    for c in &fit.classes {
        for part in &c.parts {
            p.fitted(
                &format!("{}_{}", c.name, part.name),
                &part.law,
                &part_help(c, part.name),
            );
        }
        for (name, wait, what) in [
            ("database", &c.sql_wait, "waiting for the database in"),
            ("services", &c.service_wait, "waiting for other services in"),
            ("outside", &c.other_wait, "waiting for something else in"),
        ] {
            if let Some(law) = wait {
                p.fitted(
                    &format!("{}_{name}", c.name),
                    law,
                    &format!("{what} {}", plain(&c.routes[0])),
                );
            }
        }
    }
}

fn handshakes(p: &mut Parameters<'_>, fit: &Fit) {
    p.heading("handshakes: CPU of each piece, and the client's pause before it");
    for (kind, h) in kinds(fit) {
        for (i, (pause, cpu)) in h.pieces.iter().enumerate() {
            p.fitted(
                &format!("{kind}_{}", i + 1),
                cpu,
                &format!("CPU of piece {}", i + 1),
            );
            p.fitted(
                &format!("{kind}_pause_{}", i + 1),
                pause,
                &format!("pause before piece {}", i + 1),
            );
        }
    }
}

fn besides(p: &mut Parameters<'_>, fit: &Fit) {
    p.heading("what serving costs besides");
    let c = &fit.costs;
    for (name, law, what) in [
        (
            "visit",
            &c.visit,
            "CPU of a worker's visit outside of requests and handshakes",
        ),
        ("next_visit", &c.next, "CPU of a worker between two visits"),
        ("worker_woken", &c.woken, "CPU more if it was asleep"),
        (
            "dispatch",
            &c.dispatch,
            "CPU of handing a connection to a worker",
        ),
        (
            "dispatcher_woken",
            &c.dispatcher_woken,
            "CPU of the dispatcher if it was asleep",
        ),
        ("accept", &c.accept, "CPU of accepting a connection"),
    ] {
        p.fitted(name, law, what);
    }
    for (name, cost, what) in [
        ("other_full", c.per_event[0], "full handshake"),
        ("other_resumed", c.per_event[1], "resumed handshake"),
        ("other_request", c.per_event[2], "request"),
    ] {
        p.given(
            name,
            &format!("\"{}\"", time(cost)),
            "[0, 1]",
            &format!("CPU of the rest of the process per {what}, by least squares"),
        );
    }
    for s in &fit.background {
        p.fitted(
            &format!("{}_burst", s.name),
            &s.cpu,
            &format!("CPU of a burst of the {}", stream_name(s.name)),
        );
        p.given(
            &format!("{}_rate", s.name),
            &digits(s.rate),
            "[0, 1e6]",
            &format!("bursts a second of the {}", stream_name(s.name)),
        );
    }
    if let Some(g) = &fit.collections {
        p.fitted("pause", &g.pause, "pause of a collection");
        p.given(
            "young",
            &format!(
                "\"{}B\"",
                digits(g.aging.as_ref().map_or(g.young.mean, |a| a.young).round())
            ),
            "[1, 1e12]",
            &format!(
                "bytes allocated between two collections{}; {} were seen",
                if g.aging.is_some() { " at most" } else { "" },
                g.count
            ),
        );
        p.given(
            "allocation",
            &format!("\"{}B\"", digits(g.bytes_per_cpu_second.round())),
            "[0, 1e12]",
            "bytes allocated per second of CPU of a request",
        );
        if let Some(a) = &g.aging {
            let bytes = |value: f64| format!("\"{}B\"", digits(value.round()));
            p.given(
                "heap_max",
                &bytes(a.most),
                "[1, 1e13]",
                "the heap's bound, in bytes",
            );
            p.given(
                "heap_old",
                &bytes(a.old),
                "[0, 1e13]",
                "bytes of it that are old for good",
            );
            p.fitted_bytes(
                "connection_holds",
                &a.holds,
                &format!("bytes that outlive a collection, per connection that is open; mean of {} collections", a.holds.count),
            );
            p.given(
                "mark_cpu",
                &format!("\"{}s\"", digits(a.mark_cpu)),
                "[0, 100]",
                "CPU of marking a heap that is full; not recorded: 0.5 ns a byte, as was measured with JDK 17",
            );
        }
        if let Some(c) = &g.growth {
            p.estimate(
                "pause_growth",
                c.growth,
                c.ci95,
                "[-0.9, 10]",
                "share by which a pause grows when allocation is twice as fast; a line through the collections of all recordings",
            );
            p.given(
                "pause_at",
                &format!("\"{}B\"", digits(c.at.round())),
                "[1, 1e15]",
                "bytes allocated a second at which it is as above",
            );
        }
    }
}

const FACTORS: [(&str, &str); 6] = [
    (
        "container",
        "the container's: reading, writing, TLS records",
    ),
    (
        "service",
        "the services', without a pooled connection in hand",
    ),
    (
        "held",
        "with a pooled connection in hand, statements left out",
    ),
    ("sql", "in statements"),
    ("handshake", "handshakes"),
    ("overhead", "visits, waking, dispatching, accepting"),
];

fn part_help(c: &Class, part: &str) -> String {
    let mut routes = c
        .routes
        .iter()
        .take(3)
        .map(|r| plain(r))
        .collect::<Vec<_>>()
        .join(", ");
    if c.routes.len() > 3 {
        let _ = write!(routes, " and {} more", c.routes.len() - 3);
    }
    if c.by_recording.len() > 1 {
        let each: Vec<String> = c
            .by_recording
            .iter()
            .enumerate()
            .map(|(i, n)| format!("{n} in [{}]", i + 1))
            .collect();
        let _ = write!(routes, " ({})", each.join(", "));
    }
    match part {
        "sql" => format!("CPU in {} statements of {routes}", digits(c.statements)),
        "held" => format!("CPU with a connection of the pool, of {routes}"),
        "service" => format!("CPU in the service of {routes}"),
        _ => format!("CPU of the container for {routes}"),
    }
}

fn stream_name(name: &str) -> &str {
    if name == "compiler" {
        "compiler"
    } else {
        "rest of the process"
    }
}
