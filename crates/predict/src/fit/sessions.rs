//! Who comes: sessions as the recording's connections show them, or as a scenario of `loadline load` says.

use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use loadline_load::{Arrivals, Scenario};
use loadline_stats::law::{self, Fitted};

use super::classes::route;
use crate::observe::Observed;

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

/// Sessions are connections: nothing in a recording says which of them are of one visitor.
pub fn from_trace(seen: &Observed) -> Result<Visitors, String> {
    if seen.requests.is_empty() {
        return Err(
            "the recording has no request: record while the server is under load, and see docs/record.md for the servers whose requests are told"
                .into(),
        );
    }
    let mut by_connection: HashMap<i64, Vec<usize>> = HashMap::new();
    for (i, r) in seen.requests.iter().enumerate() {
        if let Some(c) = r.connection {
            by_connection.entry(c).or_default().push(i);
        }
    }
    let mut connections: Vec<(i64, Vec<usize>)> = by_connection.into_iter().collect();
    connections.sort_unstable();
    if connections.len() < 10 {
        return Err(format!(
            "{} connections were seen from their beginning to their end: too few to tell how visitors behave. Say it with --scenario, or record for longer",
            connections.len()
        ));
    }
    let (mut start, mut next) = (BTreeMap::new(), BTreeMap::new());
    let (mut gaps, mut clicks) = (Vec::new(), 0);
    for (_, of) in &connections {
        clicks += of.len();
        *start
            .entry(route(&seen.requests[of[0]].name))
            .or_insert(0.0) += 1.0;
        for (k, &i) in of.iter().enumerate() {
            let (this, after) = (&seen.requests[i], of.get(k + 1).map(|&j| &seen.requests[j]));
            if let Some(after) = after {
                gaps.push((after.begin - this.end).max(0.0));
            }
            let row: &mut BTreeMap<String, f64> = next.entry(route(&this.name)).or_default();
            *row.entry(after.map_or(END.to_owned(), |r| route(&r.name)))
                .or_insert(0.0) += 1.0;
        }
    }
    let resumed = seen.handshakes.iter().filter(|h| h.resumed).count() as f64;
    Ok(Visitors {
        source: "the recording's connections: each is taken for a session".into(),
        rate: connections.len() as f64 / seen.about.seconds,
        phases: Vec::new(),
        repeat: false,
        start,
        next,
        clicks: clicks as f64 / connections.len() as f64,
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
