//! Several recordings of one server as one, laid end to end.

use super::{Lock, Observed, Others, Overheads, Pool, Stretch};

/// All recordings as one, each with all its CPU times multiplied by its factor: what is left of them when the cost of
/// recording is taken off and what the load of its recording made of them is undone.
pub fn end_to_end(recordings: &[(&Observed, f64)]) -> Observed {
    let mut all = Observed::default();
    let mut traces = Vec::new();
    for &(one, factor) in recordings {
        let begin = all.about.seconds;
        traces.push(one.about.trace.clone());
        let seconds = begin + one.about.seconds;
        all.about = one.about.clone();
        all.about.seconds = seconds;
        let (first, rows) = (
            all.others
                .iter()
                .map(|o| o.seconds.len())
                .max()
                .unwrap_or(0),
            one.others
                .iter()
                .map(|o| o.seconds.len())
                .max()
                .unwrap_or(0),
        );
        all.several.push(Stretch {
            begin,
            seconds: one.about.seconds,
            rows: (first, rows),
        });
        served(&mut all, one, begin, factor);
        overheads(&mut all.overheads, &one.overheads, factor);
        others(&mut all.others, &one.others, (first, rows), factor);
        all.outlived.extend(&one.outlived);
        all.pauses.extend(one.pauses.iter().cloned().map(|mut p| {
            p.begin += begin;
            p.length *= factor;
            p
        }));
        shared(&mut all, one, begin);
        all.most_workers = all.most_workers.max(one.most_workers);
        all.workers = one.workers.or(all.workers);
        all.cpu += factor * one.cpu;
        all.counted = match (all.counted, one.counted) {
            (Some((cpu, s)), Some((more, t))) => Some((cpu + factor * more, s + t)),
            (None, Some((cpu, s))) => Some((factor * cpu, s)),
            (before, None) => before,
        };
        if one.counted.is_some() {
            all.cpu_where_counted += factor * one.cpu_where_counted;
        }
    }
    all.others_on_machine = recordings
        .iter()
        .filter_map(|(one, _)| one.others_on_machine)
        .reduce(f64::max);
    all.about.trace = traces.join(", ");
    all
}

/// Requests and handshakes. Connections keep ids of their own.
fn served(all: &mut Observed, one: &Observed, begin: f64, factor: f64) {
    let ids = all.requests.iter().filter_map(|r| Some(r.connection?.id));
    let offset = ids.max().map_or(0, |id| id + 1);
    all.requests
        .extend(one.requests.iter().cloned().map(|mut r| {
            r.begin += begin;
            r.end += begin;
            if let Some(c) = &mut r.connection {
                c.id += offset;
                c.closed = c.closed.map(|ns| ns + (begin * 1e9) as i64);
            }
            for cpu in [&mut r.container, &mut r.service, &mut r.held, &mut r.sql] {
                *cpu *= factor;
            }
            r
        }));
    all.handshakes
        .extend(one.handshakes.iter().cloned().map(|mut h| {
            h.begin += begin;
            h.pieces.iter_mut().for_each(|p| p.1 *= factor);
            h
        }));
}

fn overheads(all: &mut Overheads, one: &Overheads, factor: f64) {
    all.visits += one.visits;
    all.connections += one.connections;
    all.dispatcher_locked += one.dispatcher_locked;
    all.pooled = all.pooled.max(one.pooled);
    all.acceptor += factor * one.acceptor;
    for (all, one) in [
        (&mut all.visit, &one.visit),
        (&mut all.awake, &one.awake),
        (&mut all.slept, &one.slept),
    ] {
        all.extend(one.iter().map(|cpu| factor * cpu));
    }
    all.dispatcher
        .extend(one.dispatcher.iter().map(|d| (factor * d.0, d.1)));
}

fn others(all: &mut Vec<Others>, one: &[Others], (first, rows): (usize, usize), factor: f64) {
    for o in one {
        if !all.iter().any(|a| a.kind == o.kind) {
            all.push(Others {
                kind: o.kind,
                seconds: vec![0.0; first],
                bursts: Vec::new(),
            });
        }
        for a in all.iter_mut().filter(|a| a.kind == o.kind) {
            a.seconds.extend(o.seconds.iter().map(|cpu| factor * cpu));
            a.bursts.extend(o.bursts.iter().map(|cpu| factor * cpu));
        }
    }
    // A kind that this recording has not ran for no time in it.
    all.iter_mut()
        .for_each(|a| a.seconds.resize(first + rows, 0.0));
}

/// Pools and locks, by name.
fn shared(all: &mut Observed, one: &Observed, begin: f64) {
    let before = all.locks.clone();
    for pool in &one.pools {
        match all.pools.iter_mut().find(|p| p.name == pool.name) {
            Some(p) => {
                *p = Pool {
                    name: pool.name.clone(),
                    asked: p.asked + pool.asked,
                    most_used: p.most_used.max(pool.most_used),
                    limit: pool.limit.or(p.limit),
                }
            }
            None => all.pools.push(pool.clone()),
        }
    }
    for (what, waits) in &one.shared {
        match all.shared.iter_mut().find(|s| s.0 == *what) {
            Some(known) => known.1 += waits,
            None => all.shared.push((what.clone(), *waits)),
        }
    }
    for lock in &one.locks {
        let mut lock = lock.clone();
        lock.waits.iter_mut().for_each(|w| w.begin += begin);
        // Another start of the server has another object in its place: the same if there is but one of the class in each.
        let alone = |locks: &[Lock]| locks.iter().filter(|l| l.class == lock.class).count() == 1;
        let same = |l: &Lock| {
            l.class == lock.class
                && (l.object == lock.object || alone(&one.locks) && alone(&before))
        };
        match all.locks.iter_mut().find(|l| same(l)) {
            Some(l) => {
                l.waits.extend(lock.waits);
                l.owners.held += lock.owners.held;
                l.owners.running += lock.owners.running;
                l.owners.kept += lock.owners.kept;
                l.owners.waiting += lock.owners.waiting;
            }
            None => all.locks.push(lock),
        }
    }
    let sum = |l: &Lock| l.waits.iter().map(|w| w.seconds).sum::<f64>();
    all.locks.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{About, Request};

    fn recording(seconds: f64, kind: &'static str) -> Observed {
        Observed {
            about: About {
                trace: format!("{kind}.trace"),
                seconds,
                ..About::default()
            },
            requests: vec![Request {
                begin: 1.5,
                connection: Some(crate::observe::Connection {
                    id: 3,
                    opened: true,
                    closed: Some(1_500_000_000),
                }),
                service: 1e-3,
                ..Request::default()
            }],
            others: vec![Others {
                kind,
                seconds: vec![0.1; seconds as usize],
                bursts: vec![0.1],
            }],
            cpu: 2.0,
            ..Observed::default()
        }
    }

    #[test]
    fn recordings_follow_each_other_and_keep_their_seconds() {
        let (a, b) = (recording(2.5, "gc"), recording(3.0, "other"));
        let all = end_to_end(&[(&a, 1.0), (&b, 0.5)]);
        assert_eq!((all.about.seconds, all.cpu), (5.5, 3.0));
        assert_eq!(all.about.trace, "gc.trace, other.trace");
        assert_eq!(
            (all.requests[1].begin, all.requests[1].service),
            (4.0, 5e-4)
        );
        assert_ne!(all.requests[0].connection, all.requests[1].connection);
        let of = |kind: &str| {
            &all.others
                .iter()
                .find(|o| o.kind == kind)
                .expect("a kind")
                .seconds
        };
        assert_eq!(of("gc"), &[0.1, 0.1, 0.0, 0.0, 0.0]);
        assert_eq!(of("other"), &[0.0, 0.0, 0.05, 0.05, 0.05]);
        // The half second that the first recording has left over is no row.
        let stretches = all.stretches();
        let row = |at: f64| stretches.iter().find_map(|s| s.row(at));
        assert_eq!(
            (row(1.5), row(2.2), row(2.6), row(5.4)),
            (Some(1), None, Some(2), Some(4))
        );
    }
}
