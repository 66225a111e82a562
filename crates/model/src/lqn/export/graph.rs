//! A program as a graph of activities.

use super::super::document::{Activity, Post, Pre, Precedence};
use super::work::{Node, Work};

/// A graph whose first activity is bound to its entry.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub activities: Vec<Activity>,
    pub precedences: Vec<Precedence>,
    /// After which of them the entry replies.
    pub replies: Vec<String>,
}

/// What the next activity follows.
enum Open {
    /// Nothing: it is the first of its list.
    Start,
    Pre(Pre),
    /// The end of loops over bodies.
    Loop(String, Vec<(String, f64)>),
}

pub(super) fn graph(entry: &str, nodes: Vec<Node>) -> Result<Graph, String> {
    let mut maker = Maker {
        entry,
        graph: Graph::default(),
    };
    let (first, last) = maker.list(&nodes, true)?;
    let mut graph = maker.graph;
    if let Some(a) = graph.activities.iter_mut().find(|a| a.name == first) {
        a.bound = Some(entry.to_owned());
    }
    if graph.replies.is_empty() {
        graph.replies.push(last);
    }
    Ok(graph)
}

struct Maker<'a> {
    entry: &'a str,
    graph: Graph,
}

impl Maker<'_> {
    /// Writes a list; the names of its first and last activities. Only where `outermost` may it reply.
    fn list(&mut self, nodes: &[Node], outermost: bool) -> Result<(String, String), String> {
        let mut first = None;
        let mut open = Open::Start;
        for node in nodes {
            if let Node::Work(w) = node {
                let name = self.follow(std::mem::replace(&mut open, Open::Start), w);
                first.get_or_insert(name.clone());
                open = Open::Pre(Pre::One(name));
                continue;
            }
            let last = self.close(std::mem::replace(&mut open, Open::Start), &mut first);
            open = match node {
                Node::Work(_) => continue,
                Node::Reply if outermost => {
                    self.graph.replies.push(last.clone());
                    Open::Pre(Pre::One(last))
                }
                Node::Reply => return Err("a reply within a branch, a loop or a fork".into()),
                Node::Forward(_) => return Err("an entry that forwards is no graph".into()),
                Node::Branch(arms) => {
                    let (mut begins, mut ends) = (Vec::new(), Vec::new());
                    for (p, body) in arms {
                        let (a, b) = self.list(body, false)?;
                        begins.push((a, *p));
                        ends.push(b);
                    }
                    self.precede(Pre::One(last), Post::Or(begins));
                    Open::Pre(Pre::Or(ends))
                }
                Node::Fork(branches, enough) => {
                    let (mut begins, mut ends) = (Vec::new(), Vec::new());
                    for body in branches {
                        let (a, b) = self.list(body, false)?;
                        begins.push(a);
                        ends.push(b);
                    }
                    self.precede(Pre::One(last), Post::And(begins));
                    let all = *enough as usize == ends.len();
                    Open::Pre(Pre::And(ends, (!all).then_some(*enough)))
                }
                Node::Loop(times, body) => {
                    let (a, _) = self.list(body, false)?;
                    Open::Loop(last, vec![(a, *times)])
                }
            };
        }
        let last = self.close(open, &mut first);
        let first = first.unwrap_or_else(|| last.clone());
        Ok((first, last))
    }

    /// The activity that everything so far ends in: the last one if there is one, else one that does nothing.
    fn close(&mut self, open: Open, first: &mut Option<String>) -> String {
        if let Open::Pre(Pre::One(name)) = open {
            return name;
        }
        let name = self.follow(open, &Work::default());
        first.get_or_insert(name.clone());
        name
    }

    fn follow(&mut self, open: Open, work: &Work) -> String {
        let name = format!("{}_{}", self.entry, self.graph.activities.len() + 1);
        self.graph.activities.push(work.activity(name.clone()));
        match open {
            Open::Start => {}
            Open::Pre(pre) => self.precede(pre, Post::One(name.clone())),
            Open::Loop(from, bodies) => {
                self.precede(Pre::One(from), Post::Loop(bodies, Some(name.clone())));
            }
        }
        name
    }

    fn precede(&mut self, pre: Pre, post: Post) {
        self.graph.precedences.push(Precedence {
            line: 0,
            pre,
            post: Some(post),
        });
    }
}
