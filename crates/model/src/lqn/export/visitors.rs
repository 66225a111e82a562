//! Classes and sources: reference tasks and open arrivals.
//!
//! Walks from class to class become frequencies: of the chain of classes, `v = start + v · next` are the requests of each
//! class in a session (the fundamental matrix of an absorbing chain; Kemeny and Snell 1960, theorem 3.2.4).

use super::{At, Exporter, Remark, Scheduling, TaskKind, work::Node};
use crate::model::{Arrivals, Source, Step};

/// Requests of each class in a session.
pub(super) fn visits(source: &Source, classes: usize) -> Option<Vec<f64>> {
    let mut now = vec![0.0; classes];
    for (class, p) in &source.start {
        now[*class] += p;
    }
    let mut total = now.clone();
    // What is left after so many requests is less than a millionth of a session that is to end at all.
    for _ in 0..200_000 {
        let mut after = vec![0.0; classes];
        for (from, row) in source.next.iter().enumerate() {
            for (to, p) in row {
                after[*to] += now[from] * p;
            }
        }
        now = after;
        let left: f64 = now.iter().sum();
        if left < 1e-9 {
            return Some(total);
        }
        for (t, n) in total.iter_mut().zip(&now) {
            *t += n;
        }
    }
    None
}

impl Exporter<'_> {
    pub(super) fn visitors(&mut self) -> Result<(), Remark> {
        let model = self.model;
        for c in &model.classes {
            let place = format!("classes.{}", c.name);
            for (there, what) in [
                (c.timeout.is_some(), "timeout: clients wait for ever"),
                (c.retries > 0, "retries: nothing fails"),
                (c.priority != 0, "priority"),
            ] {
                if there {
                    self.remark(&place, what);
                }
            }
        }
        for s in &model.sources {
            self.source(s)?;
        }
        Ok(())
    }

    fn source(&mut self, s: &Source) -> Result<(), Remark> {
        let own = s.start.len() == 1 && self.model.classes[s.start[0].0].name == s.name;
        let place = format!("{}.{}", if own { "classes" } else { "sessions" }, s.name);
        let refused = |what: &str| Remark {
            place: place.clone(),
            what: what.to_owned(),
        };
        if s.quota.is_some() {
            self.remark(&place, "each: clients go on for ever");
        }
        let visits = visits(s, self.model.classes.len());
        let rate = match &s.arrivals {
            Arrivals::Closed(clients) => {
                return self.closed(s, &place, *clients, visits);
            }
            Arrivals::Open(between) => {
                if !between.is_exponential() {
                    self.remark(
                        &place,
                        "arrivals: a Poisson process of the same rate instead",
                    );
                }
                1.0 / between.mean()
            }
            Arrivals::Modulated(states) => {
                self.remark(
                    &place,
                    "modulated: a Poisson process of the mean rate instead",
                );
                let time: f64 = states.iter().map(|s| s.1).sum();
                states.iter().map(|s| s.0 * s.1).sum::<f64>() / time
            }
            Arrivals::Varying { rate, .. } => {
                self.remark(&place, "phase: a steady rate, that of level 1, instead");
                *rate
            }
            Arrivals::Trace(_) | Arrivals::Replay(_) => {
                return Err(refused(
                    "arrivals at given instants: a network has rates only",
                ));
            }
        };
        let visits =
            visits.ok_or_else(|| refused("its sessions do not end: arrivals have no rate"))?;
        let length: f64 = visits.iter().sum();
        if length > 1.0 + 1e-9 {
            self.remark(
                &place,
                "sessions: each class arrives by itself, at the same rate",
            );
        }
        let task = self.unlimited(&format!("{}_arrivals", s.name));
        for (class, v) in visits.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let nodes = self.client(class, &place, length)?;
            let name = format!("{}:{}", s.name, self.model.classes[class].name);
            let at = self.at(class, &place);
            self.write_entry(task, name, nodes, &at)?;
            if let Some(entry) = self.tasks[task].1.entries.last_mut() {
                entry.open_rate = Some(rate * v);
            }
        }
        Ok(())
    }

    fn at(&self, class: usize, place: &str) -> At {
        At {
            place: place.to_owned(),
            machine: None,
            heap: None,
            class,
        }
    }

    /// What a client does for a request of a class, in sessions of so many.
    fn client(&mut self, class: usize, place: &str, length: f64) -> Result<Vec<Node>, Remark> {
        let program = opened(&self.model.classes[class].program, length);
        if program.1 {
            self.remark(
                place,
                "keep_alive: so many requests open a connection as on average, any of them; none for having lain idle",
            );
        }
        let at = self.at(class, place);
        self.nodes(&program.0, &at)
    }

    fn closed(
        &mut self,
        s: &Source,
        place: &str,
        clients: u32,
        visits: Option<Vec<f64>>,
    ) -> Result<(), Remark> {
        let classes = self.model.classes.len();
        let shares = match visits {
            Some(v) => v,
            None => endless(s, classes),
        };
        let all: f64 = shares.iter().sum();
        let several = shares.iter().filter(|v| **v > 0.0).count() > 1;
        if several {
            self.remark(
                place,
                "next: the class of each request is drawn anew, as often as in the walks",
            );
        }
        let mut arms = Vec::new();
        for (class, v) in shares.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            arms.push((v / all, self.client(class, place, f64::INFINITY)?));
        }
        let nodes = if several {
            vec![Node::Branch(arms)]
        } else {
            arms.pop().map(|a| a.1).unwrap_or_default()
        };
        let processor = match self.clients {
            Some(p) => p,
            None => {
                let p = self.processor("clients", None, Scheduling::Infinite);
                self.clients = Some(p);
                p
            }
        };
        let task = self.add_task(processor, &s.name, TaskKind::Reference, Some(clients));
        self.tasks[task].1.think = s.think.as_ref().map_or(0.0, |t| t.mean());
        let at = self.at(s.start[0].0, place);
        self.write_entry(task, format!("{}:client", s.name), nodes, &at)?;
        // Nobody waits for a client's reply.
        self.tasks[task].1.replies.clear();
        Ok(())
    }
}

/// Frequencies in a walk that does not end: the mean of where it is over a long time.
fn endless(source: &Source, classes: usize) -> Vec<f64> {
    let mut now = vec![0.0; classes];
    for (class, p) in &source.start {
        now[*class] += p;
    }
    let mut total = vec![0.0; classes];
    for _ in 0..20_000 {
        let mut after = vec![0.0; classes];
        for (from, row) in source.next.iter().enumerate() {
            for (to, p) in row {
                after[*to] += now[from] * p;
            }
        }
        now = after;
        for (t, n) in total.iter_mut().zip(&now) {
            *t += n;
        }
    }
    total
}

/// A client's program with what opens connections as branches, and whether there are any.
///
/// Of sessions that go on after each request with probability q = 1 - 1/length, a share 1/length of the requests opens the
/// first connection, and (1/length) q^r / (1 - q^r) a later one, where a connection carries r requests.
fn opened(program: &[Step], length: f64) -> (Vec<Step>, bool) {
    let mut any = false;
    let steps = program
        .iter()
        .map(|step| match step {
            Step::KeepAlive(k) => {
                any = true;
                let each = f64::from(k.requests);
                let first = if length.is_finite() {
                    1.0 / length
                } else {
                    0.0
                };
                let later = if length.is_finite() {
                    let on = (1.0 - first).powf(each);
                    if on > 0.0 {
                        first * on / (1.0 - on)
                    } else {
                        0.0
                    }
                } else {
                    1.0 / each
                };
                Step::Branch(vec![(first, k.open.clone()), (later, k.reopen.clone())])
            }
            other => other.clone(),
        })
        .collect();
    (steps, any)
}
