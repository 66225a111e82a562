//! A model as a picture: sources on the left, what they ask to the right of it, machines as frames of their pools.

use crate::language::each_step;
use crate::model::{Arrivals, Model, Scheduler, Step, UNLIMITED};
use loadline_plot::{Drawing, escape};
use std::fmt::Write;

struct Node {
    label: String,
    detail: String,
    column: usize,
    /// One of the palette's.
    colour: usize,
}

/// The picture.
pub fn drawing(model: &Model) -> Drawing {
    let (nodes, edges) = graph(model);
    let columns = nodes.iter().map(|n| n.column).max().unwrap_or(0) + 1;
    let mut rows = vec![0usize; columns];
    let place: Vec<(f64, f64)> = nodes
        .iter()
        .map(|n| {
            let row = rows[n.column];
            rows[n.column] += 1;
            (20.0 + 280.0 * n.column as f64, 20.0 + 74.0 * row as f64)
        })
        .collect();
    let width = 280.0 * columns as f64;
    let height = 40.0 + 74.0 * rows.iter().copied().max().unwrap_or(1) as f64;
    let mut out = String::from(
        "<defs><marker id='a' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='7' markerHeight='7' \
         orient='auto'><path class='f9' d='M0 0L8 4L0 8z'/></marker></defs>",
    );
    for (from, to, dashed) in edges {
        let ((x0, y0), (x1, y1)) = (place[from], place[to]);
        let (start, end) = if x1 > x0 {
            (x0 + 230.0, x1)
        } else {
            (x0 + 115.0, x1 + 115.0)
        };
        let (y0, y1) = if x1 > x0 {
            (y0 + 26.0, y1 + 26.0)
        } else {
            (y0 + 52.0, y1)
        };
        let dash = if dashed { " dashed" } else { "" };
        let _ = write!(
            out,
            "<path class='line thin s9{dash}' d='M{start} {y0}C{0} {y0} {1} {y1} {end} {y1}' marker-end='url(#a)'/>",
            start + 30.0,
            end - 30.0
        );
    }
    for (node, (x, y)) in nodes.iter().zip(&place) {
        let _ = write!(
            out,
            "<rect class='f{0} s{0}' fill-opacity='.13' x='{x}' y='{y}' width='230' height='52' rx='6'/>\
             <text class='key strong' x='{1}' y='{2}'>{3}</text><text x='{1}' y='{4}'>{5}</text>",
            node.colour,
            x + 10.0,
            y + 22.0,
            escape(&node.label),
            y + 40.0,
            escape(&node.detail)
        );
    }
    Drawing::new("the model", width, height, out)
}

fn count(n: u32) -> String {
    if n == UNLIMITED {
        "unlimited".into()
    } else {
        n.to_string()
    }
}

type Edges = Vec<(usize, usize, bool)>;

fn graph(model: &Model) -> (Vec<Node>, Edges) {
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    for class in &model.classes {
        let sources = model.sources.iter().find(|s| s.name == class.name);
        let detail = match sources.map(|s| &s.arrivals) {
            Some(Arrivals::Closed(n)) => format!("{n} clients"),
            Some(Arrivals::Open(d)) => format!("{:.4} /s", 1.0 / d.mean()),
            Some(Arrivals::Modulated(_)) => "modulated".into(),
            Some(Arrivals::Trace(_)) => "trace".into(),
            Some(Arrivals::Varying { rate, .. }) => format!("{rate:.4} /s, varying"),
            Some(Arrivals::Replay(_)) => "replay".into(),
            None => "in sessions".into(),
        };
        nodes.push(Node {
            label: class.name.clone(),
            detail,
            column: 0,
            colour: 0,
        });
    }
    let (pools, stations, resources) = (
        nodes.len(),
        nodes.len() + model.pools.len(),
        nodes.len() + model.pools.len() + model.stations.len(),
    );
    let depth = depths(model);
    for (p, pool) in model.pools.iter().enumerate() {
        let on = pool.machine.map_or(String::new(), |m| {
            let m = &model.machines[m];
            format!(
                " on {} ({}, {})",
                m.name,
                count(m.cores),
                scheduler(&m.scheduler)
            )
        });
        let detail = format!("{} threads{on}", count(pool.max_threads));
        nodes.push(Node {
            label: pool.name.clone(),
            detail,
            column: depth[p],
            colour: 2,
        });
    }
    let last = depth.iter().copied().max().unwrap_or(0) + 1;
    for station in &model.stations {
        let detail = format!("{} servers", count(station.servers));
        nodes.push(Node {
            label: station.name.clone(),
            detail,
            column: last,
            colour: 4,
        });
    }
    for resource in &model.resources {
        let detail = format!("{:?}", resource.kind)
            .split([' ', '{', '('])
            .next()
            .unwrap_or_default()
            .to_string();
        nodes.push(Node {
            label: resource.name.clone(),
            detail,
            column: last,
            colour: 1,
        });
    }
    let mut add = |from: usize, steps: &[Step]| {
        each_step(steps, &mut |s| {
            let edge = match s {
                Step::Call(e, _) => (from, pools + model.entries[*e].pool, false),
                Step::Forward(e) | Step::Send(e) => (from, pools + model.entries[*e].pool, true),
                Step::Visit(s, _) => (from, stations + s, false),
                Step::Acquire(r, ..) => (from, resources + r, false),
                _ => return,
            };
            if !edges.contains(&edge) {
                edges.push(edge);
            }
        });
    };
    for (c, class) in model.classes.iter().enumerate() {
        add(c, &class.program);
    }
    for entry in &model.entries {
        add(pools + entry.pool, &entry.program);
    }
    (nodes, edges)
}

fn scheduler(s: &Scheduler) -> &'static str {
    match s {
        Scheduler::ProcessorSharing => "ps",
        Scheduler::RoundRobin { quantum } if quantum.is_infinite() => "fcfs",
        Scheduler::RoundRobin { .. } => "rr",
        Scheduler::Priority { .. } => "priority",
        Scheduler::Linux24 { .. } => "linux24",
        Scheduler::Cfs { .. } => "cfs",
        Scheduler::Eevdf { .. } => "eevdf",
    }
}

/// The column of each pool: how many calls lie between it and a client, at most as many as there are pools.
fn depths(model: &Model) -> Vec<usize> {
    let mut depth = vec![1; model.pools.len()];
    for _ in 0..model.pools.len() {
        for entry in &model.entries {
            let from = depth[entry.pool];
            each_step(&entry.program, &mut |s| {
                if let Step::Call(e, _) | Step::Forward(e) | Step::Send(e) = s {
                    let to = model.entries[*e].pool;
                    if to != entry.pool {
                        depth[to] = depth[to].max(from + 1).min(model.pools.len());
                    }
                }
            });
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::from_text;

    #[test]
    fn names_of_a_model_are_text_in_its_drawing() {
        let text = r#"
            [stations."a<b & c"]
            [classes."<i>"]
            rate = 1
            program = [ { visit = "a<b & c", time = "exp(0.1)" } ]
        "#;
        let model = from_text(text, "names.toml", &[]).unwrap();
        let file = drawing(&model).file();
        assert!(file.contains("a&lt;b &amp; c") && file.contains("&lt;i&gt;"));
        assert!(!file.contains("<i>"), "{file}");
    }
}
