//! A server whose demands are known, as a recording would show it.

use loadline_predict::fit::{Fit, fit, from_trace};
use loadline_predict::observe::{
    About, Connection, Handshake, Lock, LockWait, Observed, Others, Overheads, Owners, Pause, Pool,
    Request,
};
use loadline_predict::write::{Assumed, text};
use loadline_stats::random::{Dist, Stream};

pub const SECONDS: f64 = 100.0;
/// Sessions per second, each a connection of four requests.
pub const SESSIONS: u32 = 5;

/// Every session: a full handshake of 2 ms, then `/a` of 1 ms, and `/b?id=…` three times, of which 2 of 3 ms are SQL with a
/// connection in hand. 14 ms with what visits, the dispatcher and the acceptor cost.
pub fn recorded() -> Observed {
    recorded_at(SESSIONS, 1.0, 1)
}

/// So many sessions a second, with all CPU of requests and handshakes so many times as dear.
pub fn recorded_at(sessions: u32, dear: f64, seed: u64) -> Observed {
    let mut stream = Stream::new(seed, "recorded");
    let (mut requests, mut handshakes) = (Vec::new(), Vec::new());
    let exp = |mean: f64, s: &mut Stream| Dist::Exponential(dear * mean).sample(s);
    let n = sessions * SECONDS as u32;
    for i in 0..n {
        let begin = f64::from(i) / f64::from(sessions);
        handshakes.push(Handshake {
            resumed: Some(false),
            begin,
            busy: 0.0,
            pieces: vec![(100e-6, exp(1.8e-3, &mut stream)), (400e-6, dear * 0.2e-3)],
        });
        for k in 0..4 {
            let at = begin + 0.01 + 0.04 * f64::from(k);
            let b = k > 0;
            requests.push(Request {
                name: if b {
                    format!("GET /b?id={}", i + k)
                } else {
                    "GET /a".into()
                },
                begin: at,
                end: at + 0.005,
                connection: Some(Connection {
                    id: i64::from(i),
                    opened: true,
                    closed: Some(((begin + 0.2) * 1e9) as i64),
                }),
                container: dear * 0.2e-3,
                service: exp(0.8e-3, &mut stream),
                sql: if b { exp(2e-3, &mut stream) } else { 0.0 },
                statements: u32::from(b),
                acquisitions: u32::from(b),
                pool: b.then(|| "p".into()),
                pools: u32::from(b),
                ..Request::default()
            });
        }
    }
    let visits = u64::from(n) * 6;
    let overheads = Overheads {
        visits,
        connections: u64::from(n),
        visit: vec![dear * 20e-6; visits as usize],
        awake: vec![dear * 10e-6; 300],
        slept: vec![dear * 30e-6; visits as usize - 300],
        dispatcher: (0..2 * visits)
            .map(|i| {
                (
                    dear * if i % 2 == 0 { 25e-6 } else { 15e-6 },
                    u32::from(i % 2 == 0),
                )
            })
            .collect(),
        dispatcher_locked: 0,
        pooled: 10,
        acceptor: dear * 100e-6 * f64::from(n),
    };
    let other = |kind, per_second: f64| Others {
        kind,
        seconds: vec![per_second; SECONDS as usize],
        bursts: vec![per_second / 10.0; 10 * SECONDS as usize],
    };
    let pauses = (0..10).map(|i| Pause {
        begin: 10.0 * f64::from(i),
        length: 0.01,
        heap: Some((100e6, 20e6)),
    });
    let cpu = requests
        .iter()
        .map(|r: &Request| r.container + r.service + r.sql)
        .sum::<f64>()
        + handshakes
            .iter()
            .flat_map(|h| &h.pieces)
            .map(|p| p.1)
            .sum::<f64>()
        + overheads
            .visit
            .iter()
            .chain(&overheads.awake)
            .chain(&overheads.slept)
            .sum::<f64>()
        + overheads.dispatcher.iter().map(|d| d.0).sum::<f64>()
        + overheads.acceptor
        + 0.1 * 1.0
        + 0.01 * SECONDS;
    Observed {
        about: About {
            trace: "known.trace".into(),
            name: "known".into(),
            cpus: 1,
            seconds: SECONDS,
            ..About::default()
        },
        requests,
        handshakes,
        overheads,
        others: vec![
            other("gc", 0.001),
            other("compiler", 0.0),
            other("other", 0.01),
        ],
        pauses: pauses.collect(),
        pools: vec![Pool {
            name: "p".into(),
            asked: 1500,
            most_used: 2,
            limit: None,
        }],
        locks: vec![Lock {
            class: "L".into(),
            object: 1,
            waits: (0..30).map(|i| wait(f64::from(i), 1e-4)).collect(),
            owners: Owners::default(),
        }],
        most_workers: 3,
        cpu,
        counted: Some((cpu, SECONDS)),
        cpu_where_counted: cpu,
        ..Observed::default()
    }
}

pub fn wait(begin: f64, seconds: f64) -> LockWait {
    LockWait {
        begin,
        seconds,
        request: Some("GET /b?id=7".into()),
        part: "service",
    }
}

pub fn fitted(seen: &Observed) -> Fit {
    let visitors = from_trace(seen).expect("connections were seen");
    fit(seen, visitors).unwrap_or_else(|e| panic!("{e}"))
}

pub fn model(seen: &Observed) -> String {
    text(
        &fitted(seen),
        &Assumed {
            pool: Some(10),
            workers: Some(50),
        },
    )
}
