//! A model as a layered queueing network.
//!
//! | here | there |
//! | --- | --- |
//! | machine | processor |
//! | pool, its entries | task, its entries; where what is done depends on the class, an entry for each class |
//! | station, wait | a task on a processor of its own, a task of unlimited servers |
//! | `acquire … release` of a mutex, semaphore, connections | a task with as many servers as there are units, whose entries are what is done meanwhile |
//! | `forward`, `reply` | forwarding, second phase |
//! | class of clients, of arrivals | reference task, task of unlimited servers with open arrivals |
//!
//! An entry that forwards, or goes on after its reply, is phases: of branches and loops these have the mean demand and the
//! mean numbers of calls. All others are graphs of activities, or one phase where that says the same.
//!
//! A network knows means and squared coefficients of variation; other properties of a law are lost without a remark.

mod graph;
mod machines;
mod program;
mod visitors;
mod work;

use super::document::{Document, Entry, Processor, Scheduling, Task, TaskKind};
use super::write;
use crate::model::{Model, Step};
use std::collections::BTreeMap;

/// Something that a network cannot say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// Where it stands: `pools.worker`, `classes.page`.
    pub place: String,
    /// What it is, and what stands there instead.
    pub what: String,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A network, and what of the model is not in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// For lqns, lqsim, LINE.
    pub xml: String,
    /// In the order of the model's parts.
    pub remarks: Vec<Remark>,
}

/// A model as the XML of a layered queueing network; `Err` where nothing in a network comes near to it.
pub fn export(model: &Model) -> Result<Exported, Remark> {
    let mut exporter = Exporter::new(model);
    exporter.machines();
    exporter.visitors()?;
    while let Some((entry, class, name)) = exporter.pending.pop() {
        exporter.entry(entry, class, name)?;
    }
    let mut remarks = exporter.remarks;
    remarks.dedup();
    let mut document = Document {
        name: if model.title.is_empty() {
            model.file.clone()
        } else {
            model.title.clone()
        },
        remarks: vec!["Written by loadline export; times in seconds.".to_owned()],
        processors: exporter.processors,
    };
    document
        .remarks
        .extend(remarks.iter().map(|r| format!("not in it: {r}")));
    for (processor, task) in exporter.tasks {
        if !task.entries.is_empty() {
            document.processors[processor].tasks.push(task);
        }
    }
    document.processors.retain(|p| !p.tasks.is_empty());
    Ok(Exported {
        xml: write::xml(&document),
        remarks,
    })
}

/// Whose program is being written: the place for remarks, the machine its CPU is of, the heap it allocates from.
#[derive(Clone)]
struct At {
    place: String,
    machine: Option<usize>,
    heap: Option<usize>,
    class: usize,
}

struct Exporter<'m> {
    model: &'m Model,
    remarks: Vec<Remark>,
    processors: Vec<Processor>,
    /// Tasks with the processor that each is on. Those of pools come first, in their order.
    tasks: Vec<(usize, Task)>,
    /// Names of entries that exist or are pending, by entry and, where it matters, class.
    made: BTreeMap<(usize, Option<usize>), String>,
    pending: Vec<(usize, usize, String)>,
    /// Whether what an entry does depends on the class.
    by_class: Vec<bool>,
    /// Tasks for stations, for resources, by their index.
    stations: BTreeMap<usize, usize>,
    resources: BTreeMap<usize, usize>,
    /// The machine whose processor a resource's task is on.
    held_on: BTreeMap<usize, Option<usize>>,
    delays: Option<usize>,
    clients: Option<usize>,
}

impl<'m> Exporter<'m> {
    fn new(model: &'m Model) -> Exporter<'m> {
        Exporter {
            model,
            remarks: Vec::new(),
            processors: Vec::new(),
            tasks: Vec::new(),
            made: BTreeMap::new(),
            pending: Vec::new(),
            by_class: by_class(model),
            stations: BTreeMap::new(),
            resources: BTreeMap::new(),
            held_on: BTreeMap::new(),
            delays: None,
            clients: None,
        }
    }

    fn remark(&mut self, place: &str, what: impl Into<String>) {
        let remark = Remark {
            place: place.to_owned(),
            what: what.into(),
        };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// The name of an entry for a class; it is written later.
    fn entry_name(&mut self, entry: usize, class: usize) -> String {
        let key = (entry, self.by_class[entry].then_some(class));
        if let Some(name) = self.made.get(&key) {
            return name.clone();
        }
        let mut name = self.model.entries[entry].name.clone();
        if key.1.is_some() {
            name = format!("{name}:{}", self.model.classes[class].name);
        }
        self.made.insert(key, name.clone());
        self.pending.push((entry, class, name.clone()));
        name
    }

    fn entry(&mut self, entry: usize, class: usize, name: String) -> Result<(), Remark> {
        let e = &self.model.entries[entry];
        let pool = &self.model.pools[e.pool];
        let at = At {
            place: format!("pools.{}", pool.name),
            machine: pool.machine,
            heap: pool.heap,
            class,
        };
        let nodes = self.nodes(&e.program, &at)?;
        self.write_entry(e.pool, name, nodes, &at)
    }

    /// Puts an entry that does this into a task.
    fn write_entry(
        &mut self,
        task: usize,
        name: String,
        nodes: Vec<work::Node>,
        at: &At,
    ) -> Result<(), Remark> {
        let mut entry = Entry {
            name,
            ..Entry::default()
        };
        // What forwards has no graph, and a graph that goes on after its reply is more than LINE reads.
        let early = work::replies_early(&nodes) && !work::forks(&nodes);
        if let Some(phases) = work::plain(&entry.name, &nodes) {
            entry.phases = phases;
        } else if work::forwards(&nodes) || early {
            let (phases, forwarding, forked) = work::phases(&entry.name, &nodes);
            if forked {
                self.remark(
                    &at.place,
                    "an entry that forwards has no fork: its branches are one after the other",
                );
            }
            entry.phases = phases;
            entry.forwarding = forwarding;
        } else {
            let graph = graph::graph(&entry.name, nodes).map_err(|what| Remark {
                place: at.place.clone(),
                what,
            })?;
            let into = &mut self.tasks[task].1;
            into.replies.push((entry.name.clone(), graph.replies));
            into.activities.extend(graph.activities);
            into.precedences.extend(graph.precedences);
        }
        self.tasks[task].1.entries.push(entry);
        Ok(())
    }

    /// A processor that nobody queues for, with a task on it that nobody queues for either.
    fn unlimited(&mut self, name: &str) -> usize {
        let processor = self.processor(name, None, Scheduling::Infinite);
        self.add_task(processor, name, TaskKind::Infinite, None)
    }

    fn processor(
        &mut self,
        name: &str,
        multiplicity: Option<u32>,
        scheduling: Scheduling,
    ) -> usize {
        let taken = |n: &str, all: &[Processor]| all.iter().any(|p| p.name == n);
        let mut free = name.to_owned();
        while taken(&free, &self.processors) {
            free.push('_');
        }
        self.processors.push(Processor {
            line: 0,
            name: free,
            multiplicity,
            scheduling,
            quantum: 0.0,
            speed: 1.0,
            tasks: Vec::new(),
        });
        self.processors.len() - 1
    }

    fn add_task(
        &mut self,
        processor: usize,
        name: &str,
        kind: TaskKind,
        multiplicity: Option<u32>,
    ) -> usize {
        let mut free = name.to_owned();
        while self.tasks.iter().any(|t| t.1.name == free) {
            free.push('_');
        }
        let task = Task {
            line: 0,
            name: free,
            kind,
            multiplicity,
            think: 0.0,
            priority: 0,
            queue_length: 0,
            entries: Vec::new(),
            activities: Vec::new(),
            precedences: Vec::new(),
            replies: Vec::new(),
        };
        self.tasks.push((processor, task));
        self.tasks.len() - 1
    }
}

/// For each entry, whether it or one that it asks does different things for different classes.
fn by_class(model: &Model) -> Vec<bool> {
    let mut found = vec![false; model.entries.len()];
    loop {
        let mut changed = false;
        for (i, e) in model.entries.iter().enumerate() {
            let depends = !found[i]
                && any(&e.program, &|step| match step {
                    Step::ByClass(_) => true,
                    Step::Call(to, _) | Step::Forward(to) | Step::Send(to) => found[*to],
                    _ => false,
                });
            if depends {
                found[i] = true;
                changed = true;
            }
        }
        if !changed {
            return found;
        }
    }
}

/// Whether any step of a program, or of what it contains, is such.
fn any(steps: &[Step], such: &impl Fn(&Step) -> bool) -> bool {
    let within = |body: &Vec<Step>| any(body, such);
    steps.iter().any(|step| {
        such(step)
            || match step {
                Step::Fork(branches, _) => branches.iter().any(within),
                Step::Branch(arms) => arms.iter().any(|a| within(&a.1)),
                Step::ByClass(arms) => arms.iter().any(|a| within(&a.1)),
                Step::Loop(_, body) | Step::Phase(_, body) => within(body),
                Step::KeepAlive(k) => within(&k.open) || within(&k.reopen),
                _ => false,
            }
    })
}
