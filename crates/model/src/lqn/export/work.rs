//! What a network has words for: work, branches, loops, forks, the reply, forwarding; and phases of them.

use super::super::document::{Activity, Call};

/// Demand and then calls; mean and variance in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Work {
    pub demand: f64,
    pub variance: f64,
    pub calls: Vec<(String, f64, bool)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Work(Work),
    Branch(Vec<(f64, Vec<Node>)>),
    Loop(f64, Vec<Node>),
    Fork(Vec<Vec<Node>>, u32),
    Reply,
    Forward(String),
}

impl Work {
    pub(super) fn activity(&self, name: String) -> Activity {
        let cvsq = if self.demand > 0.0 {
            rounded(self.variance / (self.demand * self.demand))
        } else {
            1.0
        };
        Activity {
            name,
            demand: rounded(self.demand),
            cvsq,
            deterministic: self.calls.iter().all(|c| c.1.fract() == 0.0),
            calls: self
                .calls
                .iter()
                .map(|(dest, mean, waits)| Call {
                    line: 0,
                    dest: dest.clone(),
                    mean: rounded(*mean),
                    waits: *waits,
                })
                .collect(),
            ..Activity::default()
        }
    }

    fn call(&mut self, dest: &str, times: f64, waits: bool) {
        match self.calls.iter_mut().find(|c| c.0 == dest && c.2 == waits) {
            Some(call) => call.1 += times,
            None => self.calls.push((dest.to_owned(), times, waits)),
        }
    }

    /// Adds what is done with a probability (or, above 1, so often).
    fn add(&mut self, other: &Work, times: f64) {
        let second = other.variance + other.demand * other.demand;
        self.demand += times * other.demand;
        self.variance += if times <= 1.0 {
            times * second - (times * other.demand).powi(2)
        } else {
            times * other.variance
        };
        for (dest, mean, waits) in &other.calls {
            self.call(dest, times * mean, *waits);
        }
    }
}

/// Ten digits: what a reader can compare.
fn rounded(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let scale = 10f64.powi(9 - x.abs().log10().floor() as i32);
    (x * scale).round() / scale
}

/// CPU: of the work before it, unless that has called somebody already.
pub(super) fn cpu(out: &mut Vec<Node>, mean: f64, variance: f64) {
    if mean <= 0.0 {
        return;
    }
    if let Some(Node::Work(w)) = out.last_mut()
        && w.calls.is_empty()
    {
        w.demand += mean;
        w.variance += variance;
        return;
    }
    out.push(Node::Work(Work {
        demand: mean,
        variance,
        calls: Vec::new(),
    }));
}

pub(super) fn call(out: &mut Vec<Node>, dest: &str, waits: bool) {
    if let Some(Node::Work(w)) = out.last_mut() {
        w.call(dest, 1.0, waits);
        return;
    }
    let mut work = Work::default();
    work.call(dest, 1.0, waits);
    out.push(Node::Work(work));
}

/// A body so many times: where it is one piece of work, that much of it.
pub(super) fn repeated(out: &mut Vec<Node>, times: f64, body: Vec<Node>) {
    if times <= 0.0 || body.is_empty() {
        return;
    }
    if let [Node::Work(w)] = &body[..]
        && (w.demand == 0.0 || w.calls.is_empty())
    {
        let mut all = Work::default();
        all.add(w, times);
        out.push(Node::Work(all));
        return;
    }
    out.push(Node::Loop(times, body));
}

/// Whether anything in a program hands on the duty to reply.
pub(super) fn forwards(nodes: &[Node]) -> bool {
    nodes.iter().any(|n| match n {
        Node::Forward(_) => true,
        Node::Branch(arms) => arms.iter().any(|a| forwards(&a.1)),
        Node::Loop(_, body) => forwards(body),
        Node::Fork(branches, _) => branches.iter().any(|b| forwards(b)),
        Node::Work(_) | Node::Reply => false,
    })
}

/// Whether a program goes on after its reply.
pub(super) fn replies_early(nodes: &[Node]) -> bool {
    let at = nodes.iter().position(|n| *n == Node::Reply);
    at.is_some_and(|i| i + 1 < nodes.len())
}

/// Whether anything in it is done side by side.
pub(super) fn forks(nodes: &[Node]) -> bool {
    nodes.iter().any(|n| match n {
        Node::Fork(..) => true,
        Node::Branch(arms) => arms.iter().any(|a| forks(&a.1)),
        Node::Loop(_, body) => forks(body),
        _ => false,
    })
}

/// The phases of a program that is at most one piece of work before and one after its reply.
pub(super) fn plain(entry: &str, nodes: &[Node]) -> Option<Vec<(u32, Activity)>> {
    let none = Work::default();
    let (first, second) = match nodes {
        [] | [Node::Reply] => (&none, None),
        [Node::Work(w)] | [Node::Work(w), Node::Reply] => (w, None),
        [Node::Reply, Node::Work(b)] => (&none, Some(b)),
        [Node::Work(a), Node::Reply, Node::Work(b)] => (a, Some(b)),
        _ => return None,
    };
    let mut phases = vec![(1, first.activity(format!("{entry}_1")))];
    phases.extend(second.map(|b| (2, b.activity(format!("{entry}_2")))));
    Some(phases)
}

type Phases = (Vec<(u32, Activity)>, Vec<(String, f64)>, bool);

/// A program that forwards, as phases: what it does on average before and after, and where to. The last says whether it
/// has a fork, whose branches are then taken one after the other.
pub(super) fn phases(entry: &str, nodes: &[Node]) -> Phases {
    let mut sums = Sums::default();
    let after = sums.add(nodes, 1.0, false);
    let mut phases = vec![(1, sums.before.activity(format!("{entry}_1")))];
    if after && sums.after != Work::default() {
        phases.push((2, sums.after.activity(format!("{entry}_2"))));
    }
    (phases, sums.forwarding, sums.forked)
}

#[derive(Default)]
struct Sums {
    before: Work,
    after: Work,
    forwarding: Vec<(String, f64)>,
    forked: bool,
}

impl Sums {
    /// Adds a program that is executed with this weight; returns whether its request has been answered or handed on.
    fn add(&mut self, nodes: &[Node], weight: f64, mut answered: bool) -> bool {
        for node in nodes {
            match node {
                Node::Work(w) if answered => self.after.add(w, weight),
                Node::Work(w) => self.before.add(w, weight),
                Node::Reply => answered = true,
                Node::Forward(to) => {
                    match self.forwarding.iter_mut().find(|f| f.0 == *to) {
                        Some(f) => f.1 += weight,
                        None => self.forwarding.push((to.clone(), weight)),
                    }
                    answered = true;
                }
                Node::Branch(arms) => {
                    // What follows belongs to the second phase where any arm has begun it.
                    let before = answered;
                    for (p, body) in arms {
                        answered |= self.add(body, weight * p, before);
                    }
                }
                Node::Loop(times, body) => answered = self.add(body, weight * times, answered),
                Node::Fork(branches, _) => {
                    self.forked = true;
                    for b in branches {
                        answered = self.add(b, weight, answered);
                    }
                }
            }
        }
        answered
    }
}
