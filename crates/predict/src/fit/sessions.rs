//! Who comes: sessions as the recording's connections show them, or as a scenario of `loadline load` says.

use serde::Serialize;
use std::collections::BTreeMap;

use loadline_load::{Arrivals, Scenario};
use loadline_stats::incidence;
use loadline_stats::law::{self, Fitted};

use super::classes::route;
use super::walk;
use crate::observe::{Connection, Observed};

/// Walks that the chain of a scenario is counted over.
const WALKS: u64 = 20_000;

/// Where a session goes that ends: no route, since those begin with a method.
pub const END: &str = "end";

/// Visitors, by routes; weights are counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Visitors {
    /// Where this comes from, in words.
    pub source: String,
    /// New sessions per second; where the rate changes, at level 1.
    pub rate: f64,
    /// How it changes: length in seconds, level at the begin and at the end of each phase; none if it does not.
    pub phases: Vec<(f64, f64, f64)>,
    /// Whether the phases repeat.
    pub repeat: bool,
    /// Routes of first requests.
    pub start: BTreeMap<String, f64>,
    /// After each route: the next, or [`END`].
    pub next: BTreeMap<String, BTreeMap<String, f64>>,
    /// Requests of a session, on average.
    pub clicks: f64,
    /// Think time: its law, or a mean of an exponential one.
    pub think: Think,
    /// Requests on a connection, if clients close it after so many.
    pub per_connection: Option<u32>,
    /// Share of the sessions' first connections that resume.
    pub resume_first: f64,
    /// Share of their later connections that resume.
    pub resume_later: f64,
    /// How long a visitor waits.
    pub timeout: Option<f64>,
}

/// Pauses between the requests of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Think {
    /// As observed.
    Law(Fitted),
    /// Exponential with this mean, in seconds.
    Mean(f64),
}

/// What follows a request on its connection.
const GOES_ON: usize = 0;
const ENDS: usize = 1;
/// Connections that must have been seen to begin, and to end, to tell how visitors come and go.
const FEW: usize = 10;

/// Sessions are connections: nothing in a recording says which of them are of one visitor. Each part of one that was seen counts: most
/// of those that last for as long as the recording lie across its ends, and who were seen whole are the short ones. How many end
/// is not counted but told from what was at risk ([`incidence`]): an end comes at once, the next request after a while.
pub fn from_trace(seen: &Observed) -> Result<Visitors, String> {
    if seen.requests.is_empty() {
        return Err(
            "the recording has no request: record while the server is under load, and see docs/record.md for the servers whose requests are told"
                .into(),
        );
    }
    let mut by_connection: BTreeMap<Connection, Vec<usize>> = BTreeMap::new();
    for (i, r) in seen.requests.iter().enumerate() {
        if let Some(c) = r.connection {
            by_connection.entry(c).or_default().push(i);
        }
    }
    let opened = by_connection.keys().filter(|c| c.opened).count();
    let closed = by_connection.keys().filter(|c| c.closed.is_some()).count();
    if opened.min(closed) < FEW {
        return Err(format!(
            "{opened} connections with requests were seen to begin and {closed} to end: too few to tell how visitors behave. Say it with --scenario, or record for longer"
        ));
    }
    let (mut start, mut next) = (BTreeMap::new(), BTreeMap::new());
    let stretches = seen.stretches();
    let until = |at: f64| {
        let ends = stretches.iter().map(|s| s.begin + s.seconds);
        ends.filter(|end| at < *end).fold(f64::INFINITY, f64::min)
    };
    let (mut gaps, mut followed) = (Vec::new(), Vec::new());
    for (connection, of) in &by_connection {
        if connection.opened {
            *start
                .entry(route(&seen.requests[of[0]].name))
                .or_insert(0.0) += 1.0;
        }
        for (k, &i) in of.iter().enumerate() {
            let (this, after) = (&seen.requests[i], of.get(k + 1).map(|&j| &seen.requests[j]));
            let closed = connection.closed.map(|ns| ns as f64 * 1e-9);
            let at = after.map_or(closed.unwrap_or(until(this.end)), |r| r.begin);
            let gap = (at - this.end).max(0.0);
            gaps.extend(after.map(|_| gap));
            followed.push((gap, after.map(|_| GOES_ON).or(closed.map(|_| ENDS))));
            let row: &mut BTreeMap<String, f64> = next.entry(route(&this.name)).or_default();
            let to = match after {
                Some(r) => route(&r.name),
                None if closed.is_some() => END.to_owned(),
                None => continue, // cut
            };
            *row.entry(to).or_insert(0.0) += 1.0;
        }
    }
    let [goes_on, ends] = incidence::shares(followed);
    walk::end_as_often_as(&mut next, ends / goes_on.max(f64::MIN_POSITIVE));
    walk::give_ends(&mut next);
    let clicks = walk::length(&start, &next);
    let resumed = seen.handshakes.iter().filter(|h| h.has_resumed()).count() as f64;
    Ok(Visitors {
        source: "the recording's connections: each is taken for a session".into(),
        rate: seen.requests.len() as f64 / seen.about.seconds / clicks,
        phases: Vec::new(),
        repeat: false,
        start,
        next,
        clicks,
        think: law::fit(&gaps).map_or(Think::Mean(0.0), Think::Law),
        per_connection: None,
        resume_first: resumed / (seen.handshakes.len() as f64).max(1.0),
        resume_later: 1.0,
        timeout: None,
    })
}

/// Sessions as a scenario has them. The error names a page that the recording has not.
pub fn from_scenario(scenario: &Scenario, seen: &Observed) -> Result<Visitors, String> {
    let outline = scenario
        .outline(WALKS, 1)
        .ok_or("a scenario that replays a log has no walk: leave --scenario out")?;
    let routes: Vec<String> = outline
        .pages
        .iter()
        .map(|p| route(&format!("{} {}", p.method, p.path)))
        .collect();
    let known: std::collections::BTreeSet<String> =
        seen.requests.iter().map(|r| route(&r.name)).collect();
    let visits = |i: usize| outline.next[i].iter().sum::<u64>();
    if let Some(i) = (0..routes.len()).find(|&i| visits(i) > 0 && !known.contains(&routes[i])) {
        return Err(format!(
            "the scenario {} asks for {} ({}), of which the recording has none: is it the scenario that was recorded? Record for longer if it is",
            scenario.name, outline.pages[i].name, routes[i]
        ));
    }
    let mut next: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for (i, row) in outline.next.iter().enumerate() {
        for (j, &n) in row.iter().enumerate().filter(|(_, n)| **n > 0) {
            let to = routes.get(j).map_or(END, String::as_str).to_owned();
            *next
                .entry(routes[i].clone())
                .or_default()
                .entry(to)
                .or_insert(0.0) += n as f64;
        }
    }
    let phases = scenario.schedule.phases().iter();
    Ok(Visitors {
        source: format!("the scenario {}", scenario.name),
        // What a recording saw of a rate that changes is that of its moment.
        rate: match scenario.arrivals {
            Arrivals::PartlyOpen { rate } if !scenario.schedule.is_constant() => rate,
            _ => seen.requests.len() as f64 / seen.about.seconds / outline.clicks,
        },
        phases: phases.map(|p| (p.seconds, p.from, p.to)).collect(),
        repeat: scenario.schedule.repeats(),
        start: [(routes[outline.start].clone(), 1.0)].into(),
        next,
        clicks: outline.clicks,
        think: Think::Mean(scenario.think_mean.as_secs_f64()),
        per_connection: Some(scenario.requests_per_connection).filter(|n| *n > 0),
        resume_first: scenario.resume_across,
        resume_later: scenario.resume_within,
        timeout: Some(scenario.timeout.as_secs_f64()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{About, Request};

    /// Two sessions a second of 20 requests, one a second, each closed at its last; as a recording of `seconds` sees them.
    fn recorded(seconds: i32) -> Observed {
        let mut seen = Observed {
            about: About {
                seconds: f64::from(seconds),
                ..About::default()
            },
            ..Observed::default()
        };
        for id in -40..2 * seconds {
            let begin = f64::from(id) / 2.0 + 0.1;
            let closed = begin + 19.01;
            let connection = Connection {
                id: i64::from(id),
                opened: begin >= 0.0,
                closed: (closed < f64::from(seconds)).then_some((closed * 1e9) as i64),
            };
            for click in 0..20 {
                let at = begin + f64::from(click);
                if (0.0..f64::from(seconds)).contains(&at) {
                    seen.requests.push(Request {
                        name: format!("GET /{}", click % 3),
                        begin: at,
                        end: at + 0.01,
                        connection: Some(connection),
                        ..Request::default()
                    });
                }
            }
        }
        seen
    }

    #[test]
    fn sessions_that_last_longer_than_the_recording_are_as_long_and_as_many_as_they_are() {
        let mut seen = recorded(6);
        seen.requests.sort_by(|a, b| a.begin.total_cmp(&b.begin));
        let visitors = from_trace(&seen).expect("connections were seen to begin and to end");
        assert!((visitors.clicks - 20.0).abs() < 2.0, "{}", visitors.clicks);
        assert!((visitors.rate - 2.0).abs() < 0.2, "{}", visitors.rate);
        assert!(
            (visitors.rate * visitors.clicks - 40.0).abs() < 1.0,
            "what was recorded"
        );
    }

    #[test]
    fn connections_that_were_not_seen_to_begin_or_to_end_tell_nothing() {
        let error = from_trace(&recorded(2)).expect_err("four began and four ended");
        assert!(
            error.contains("4 connections") && error.contains("--scenario"),
            "{error}"
        );
    }
}
