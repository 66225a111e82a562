//! A layered queueing network as a model: text of the model language.
//!
//! | there | here |
//! | --- | --- |
//! | processor | machine |
//! | task, its entries | pool, its entries |
//! | reference task | a class of clients, and a pool of as many threads that does what a client does with its processor |
//! | open arrivals | a class with a rate |
//! | semaphore, read-write lock | a semaphore that the entries of the task take and give back: of a lock a writer takes all units |
//! | phases, activities | steps; a demand is divided evenly between calls |
//! | calls, on average | geometric numbers of them, as lqsim has them |

mod graph;
mod steps;

use super::document::{Document, Entry, Lock, Processor, Scheduling, Task, TaskKind};
use super::read;
use crate::language::LoadError;
use graph::Branches;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use steps::Step;

/// More readers than there can be of a lock whose task has no bound.
const MANY: u32 = 1_000_000;

/// Reads a network and says it in the model language; `file` is for messages.
pub fn import(xml: &str, file: &str) -> Result<String, LoadError> {
    let document = read::document(xml, file)?;
    let text = Importer::new(&document, file)?.text()?;
    // What was written must be a model; whatever the loader finds is of the network.
    crate::language::from_text(&text, file, &[]).map_err(|e| LoadError {
        file: file.to_owned(),
        line: 0,
        message: format!("as a model: {}", e.message),
    })?;
    Ok(text)
}

/// What of a network another part of it is called by.
struct Target {
    /// `pool.entry`.
    path: String,
    line: u32,
}

struct Importer<'a> {
    document: &'a Document,
    file: &'a str,
    machines: Vec<String>,
    /// Names of pools by task, in the order of the document.
    pools: Vec<String>,
    entries: BTreeMap<&'a str, Target>,
}

fn wrong(file: &str, line: u32, message: impl Into<String>) -> LoadError {
    LoadError {
        file: file.to_owned(),
        line: line as usize,
        message: message.into(),
    }
}

/// A name that the model language takes as a key and in a path, unlike those that there are.
fn key(name: &str, taken: &[String]) -> String {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let mut free = if plain.is_empty() {
        "_".to_owned()
    } else {
        plain
    };
    while taken.contains(&free) {
        free.push('_');
    }
    free
}

impl<'a> Importer<'a> {
    fn new(document: &'a Document, file: &'a str) -> Result<Importer<'a>, LoadError> {
        let mut importer = Importer {
            document,
            file,
            machines: Vec::new(),
            pools: Vec::new(),
            entries: BTreeMap::new(),
        };
        for p in &document.processors {
            let name = key(&p.name, &importer.machines);
            importer.machines.push(name);
        }
        for t in document.processors.iter().flat_map(|p| &p.tasks) {
            let pool = key(&t.name, &importer.pools);
            let mut taken = Vec::new();
            for e in &t.entries {
                let name = key(&e.name, &taken);
                let target = Target {
                    path: format!("{pool}.{name}"),
                    line: e.line,
                };
                if let Some(other) = importer.entries.insert(&e.name, target) {
                    let message = format!(
                        "entry {:?} is there already, in line {}",
                        e.name, other.line
                    );
                    return Err(wrong(file, e.line, message));
                }
                taken.push(name);
            }
            importer.pools.push(pool);
        }
        Ok(importer)
    }

    fn text(&self) -> Result<String, LoadError> {
        let mut out = format!(
            "# Written by loadline import from {}. Times in seconds.\ntitle = {}\n",
            self.file.replace(['\n', '\r'], " "),
            quoted(&self.document.name)
        );
        for (p, name) in self.document.processors.iter().zip(&self.machines) {
            machine(&mut out, p, name);
        }
        let mut classes = String::new();
        let mut pools = self.pools.iter();
        for (p, machine) in self.document.processors.iter().zip(&self.machines) {
            for (t, pool) in p.tasks.iter().zip(&mut pools) {
                self.task(&mut out, &mut classes, (p, machine), t, pool)?;
            }
        }
        if classes.is_empty() {
            let message =
                "the network has neither a reference task nor open arrivals: nothing would happen";
            return Err(wrong(self.file, 0, message));
        }
        Ok(out + &classes)
    }

    fn task(
        &self,
        out: &mut String,
        classes: &mut String,
        (p, machine): (&Processor, &str),
        t: &Task,
        pool: &str,
    ) -> Result<(), LoadError> {
        let lock = matches!(t.kind, TaskKind::Semaphore | TaskKind::ReadWrite);
        let _ = writeln!(out, "\n[pools.{pool}]\nmachine = {}", quoted(machine));
        match t.multiplicity {
            Some(n) if !lock => drop(writeln!(out, "threads = {n}")),
            _ => out.push_str("threads = \"unlimited\"\n"),
        }
        if t.kind == TaskKind::HeadOfLine {
            out.push_str("queue = \"priority\"\n");
        }
        if t.queue_length > 0 {
            let _ = writeln!(out, "capacity = {}", t.queue_length);
        }
        if matches!(
            p.scheduling,
            Scheduling::Preemptive | Scheduling::HeadOfLine
        ) && t.priority != 0
        {
            let _ = writeln!(out, "priority = {}", t.priority);
        }
        let _ = writeln!(out, "[pools.{pool}.entries]");
        if t.entries.is_empty() {
            return Err(wrong(
                self.file,
                t.line,
                format!("task {:?} has no entries", t.name),
            ));
        }
        let branches = Branches {
            pool: key(&format!("{pool}_branches"), &self.pools),
            programs: RefCell::default(),
        };
        for e in &t.entries {
            let mut program = graph::entry(self, t, e, &branches)?;
            self.locked(t, e, pool, &mut program)?;
            let name = &self.entries[e.name.as_str()].path[pool.len() + 1..];
            let _ = writeln!(out, "{name} = {}", steps::text(&program, 0));
            if let Some(rate) = e.open_rate {
                let path = &self.entries[e.name.as_str()].path;
                let _ = writeln!(
                    classes,
                    "\n[classes.{pool}_{name}]\nrate = {rate}\nprogram = [ {{ call = {} }} ]",
                    quoted(path)
                );
            }
        }
        let programs = branches.programs.into_inner();
        if !programs.is_empty() {
            let name = &branches.pool;
            let _ = writeln!(
                out,
                "\n[pools.{name}]    # branches of forks of {pool}\nmachine = {}\nthreads = \"unlimited\"\n[pools.{name}.entries]",
                quoted(machine)
            );
            for (i, program) in programs.iter().enumerate() {
                let _ = writeln!(out, "branch_{} = {}", i + 1, steps::text(program, 0));
            }
        }
        if lock {
            let units = t.multiplicity.unwrap_or(MANY);
            let _ = writeln!(
                out,
                "[resources.{pool}]\nkind = \"semaphore\"\nunits = {units}"
            );
        }
        if t.kind == TaskKind::Reference {
            self.clients(classes, t, pool)?;
        }
        Ok(())
    }

    /// Of an entry of a semaphore or a lock: what it takes before its work, or gives back after it.
    fn locked(
        &self,
        t: &Task,
        e: &Entry,
        pool: &str,
        program: &mut Vec<Step>,
    ) -> Result<(), LoadError> {
        let all = t.multiplicity.unwrap_or(MANY);
        let (takes, units) = match (t.kind, e.lock) {
            (TaskKind::Semaphore, Some(Lock::Wait)) | (TaskKind::ReadWrite, Some(Lock::Read)) => {
                (true, 1)
            }
            (TaskKind::Semaphore, Some(Lock::Signal))
            | (TaskKind::ReadWrite, Some(Lock::UnlockRead)) => (false, 1),
            (TaskKind::ReadWrite, Some(Lock::Write)) => (true, all),
            (TaskKind::ReadWrite, Some(Lock::UnlockWrite)) => (false, all),
            (TaskKind::Semaphore | TaskKind::ReadWrite, _) | (_, Some(_)) => {
                let message = format!(
                    "entry {:?}: what it does to a lock and its task's scheduling do not go together",
                    e.name
                );
                return Err(wrong(self.file, e.line, message));
            }
            (_, None) => return Ok(()),
        };
        if takes {
            program.insert(0, Step::Acquire(pool.to_owned(), units));
        } else {
            program.push(Step::Release(pool.to_owned(), units));
        }
        Ok(())
    }

    fn clients(&self, classes: &mut String, t: &Task, pool: &str) -> Result<(), LoadError> {
        let [entry] = &t.entries[..] else {
            let message = format!(
                "reference task {:?} has {} entries: one is what its clients do",
                t.name,
                t.entries.len()
            );
            return Err(wrong(self.file, t.line, message));
        };
        let Some(clients) = t.multiplicity else {
            let message = format!("reference task {:?} has no number of clients", t.name);
            return Err(wrong(self.file, t.line, message));
        };
        let _ = writeln!(classes, "\n[classes.{pool}]\nclients = {clients}");
        if t.think > 0.0 {
            let _ = writeln!(classes, "think = \"exp({})\"", t.think);
        }
        let path = &self.entries[entry.name.as_str()].path;
        let _ = writeln!(classes, "program = [ {{ call = {} }} ]", quoted(path));
        Ok(())
    }

    /// The path of an entry that something calls.
    fn path(&self, name: &str, line: u32) -> Result<&str, LoadError> {
        match self.entries.get(name) {
            Some(target) => Ok(&target.path),
            None => {
                let near = crate::language::nearest(name, self.entries.keys().copied());
                let hint = near.map_or(String::new(), |n| format!("; did you mean {n:?}?"));
                Err(wrong(
                    self.file,
                    line,
                    format!("there is no entry {name:?}{hint}"),
                ))
            }
        }
    }
}

fn machine(out: &mut String, p: &Processor, name: &str) {
    let _ = writeln!(out, "\n[machines.{name}]");
    let scheduler = match p.scheduling {
        Scheduling::Fcfs => "fcfs",
        Scheduling::Sharing | Scheduling::Infinite => "ps",
        Scheduling::Preemptive => "priority",
        Scheduling::HeadOfLine => "priority-nonpreemptive",
    };
    match p.multiplicity {
        // Where nobody waits for a core, all schedulers are the same.
        None => out.push_str("cores = \"unlimited\"\nscheduler = \"ps\"\n"),
        Some(n) => drop(writeln!(out, "cores = {n}\nscheduler = \"{scheduler}\"")),
    }
    if p.speed != 1.0 {
        let _ = writeln!(out, "speed = {}", p.speed);
    }
}

/// Text of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => drop(write!(out, "\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}
