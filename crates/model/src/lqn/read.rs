//! XML to a network, with the line of everything that is wrong.
//!
//! Results (`result-…`, distributions) and settings of solvers are passed over; any other element or attribute that would
//! change what the network means and that we cannot say is an error.

use super::document::{
    Activity, Call, Document, Entry, Lock, Post, Pre, Precedence, Processor, Scheduling, Task,
    TaskKind,
};
use crate::language::LoadError;
use roxmltree::Node;

/// Of an attribute: one that must be there.
const MISSING: &str = "is missing";

pub(super) struct Reader<'a> {
    pub file: &'a str,
}

pub(super) fn document(text: &str, file: &str) -> Result<Document, LoadError> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: false,
        nodes_limit: 5_000_000,
        ..Default::default()
    };
    let tree = roxmltree::Document::parse_with_options(text, options).map_err(|e| LoadError {
        file: file.to_owned(),
        line: e.pos().row as usize,
        message: format!("this is no XML that can be read: {e}"),
    })?;
    let reader = Reader { file };
    let root = tree.root_element();
    if root.tag_name().name() != "lqn-model" {
        let found = root.tag_name().name();
        return Err(reader.wrong(root, format!("<{found}> is no <lqn-model>")));
    }
    let mut found = Document {
        name: root.attribute("name").unwrap_or("LQN").to_owned(),
        ..Document::default()
    };
    for node in reader.children(
        root,
        &["processor"],
        &["solver-params", "pragma", "plot-control"],
    )? {
        found.processors.push(reader.processor(node)?);
    }
    Ok(found)
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

impl Reader<'_> {
    pub(super) fn wrong(&self, node: Node<'_, '_>, message: impl Into<String>) -> LoadError {
        LoadError {
            file: self.file.to_owned(),
            line: line(node) as usize,
            message: message.into(),
        }
    }

    /// The elements in a node that are known; results and what is named in `passed` are left out, others are refused.
    fn children<'n, 'i>(
        &self,
        node: Node<'n, 'i>,
        known: &[&str],
        passed: &[&str],
    ) -> Result<Vec<Node<'n, 'i>>, LoadError> {
        let mut found = Vec::new();
        for child in node.children().filter(Node::is_element) {
            let name = child.tag_name().name();
            if known.contains(&name) {
                found.push(child);
            } else if !(passed.contains(&name)
                || name.starts_with("result-")
                || name.ends_with("-distribution"))
            {
                return Err(self.wrong(
                    child,
                    format!(
                        "<{name}> in <{}> cannot be said here",
                        node.tag_name().name()
                    ),
                ));
            }
        }
        Ok(found)
    }

    fn text(&self, node: Node<'_, '_>, key: &str) -> Result<String, LoadError> {
        match node.attribute(key) {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(self.wrong(
                node,
                format!("<{}>: {key} {MISSING}", node.tag_name().name()),
            )),
        }
    }

    fn number(&self, node: Node<'_, '_>, key: &str, default: f64) -> Result<f64, LoadError> {
        let Some(text) = node.attribute(key) else {
            return Ok(default);
        };
        if text.trim_start().starts_with('$') {
            return Err(self.wrong(
                node,
                format!("{key} = {text} is a variable of lqx: write its value"),
            ));
        }
        match text.trim().parse::<f64>() {
            Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
            _ => Err(self.wrong(
                node,
                format!("{key} = {text:?}: it must be a number, 0 or more"),
            )),
        }
    }

    fn whole(&self, node: Node<'_, '_>, key: &str, default: u32) -> Result<u32, LoadError> {
        let x = self.number(node, key, f64::from(default))?;
        if x.fract() != 0.0 || x > 1e6 {
            return Err(self.wrong(
                node,
                format!("{key} = {x}: it must be a whole number up to 1000000"),
            ));
        }
        Ok(x as u32)
    }

    fn multiplicity(&self, node: Node<'_, '_>, infinite: bool) -> Result<Option<u32>, LoadError> {
        if infinite
            || node
                .attribute("multiplicity")
                .is_some_and(|m| m.trim() == "inf")
        {
            return Ok(None);
        }
        match self.whole(node, "multiplicity", 1)? {
            0 => Err(self.wrong(node, "multiplicity = 0: it must be 1 or more")),
            n => Ok(Some(n)),
        }
    }

    /// Copies that are wired by fan-in and fan-out.
    fn not_replicated(&self, node: Node<'_, '_>) -> Result<(), LoadError> {
        if self.whole(node, "replication", 1)? > 1 {
            return Err(self.wrong(
                node,
                "replication cannot be said here: use multiplicity, or write the replicas out",
            ));
        }
        Ok(())
    }

    fn processor(&self, node: Node<'_, '_>) -> Result<Processor, LoadError> {
        self.not_replicated(node)?;
        let said = node.attribute("scheduling").unwrap_or("fcfs");
        let scheduling = match said {
            "fcfs" => Scheduling::Fcfs,
            "ps" => Scheduling::Sharing,
            "inf" => Scheduling::Infinite,
            // Preemptive resume is `pp` in the schema and `pri` in what lqns writes.
            "pp" | "pri" | "ppr" => Scheduling::Preemptive,
            "hol" => Scheduling::HeadOfLine,
            other => {
                let message = format!(
                    "scheduling = {other:?} cannot be said here: fcfs, ps, inf, pri, pp and hol can"
                );
                return Err(self.wrong(node, message));
            }
        };
        let mut found = Processor {
            line: line(node),
            name: self.text(node, "name")?,
            multiplicity: self.multiplicity(node, scheduling == Scheduling::Infinite)?,
            scheduling,
            quantum: self.number(node, "quantum", 0.0)?,
            speed: self.number(node, "speed-factor", 1.0)?,
            tasks: Vec::new(),
        };
        for task in self.children(node, &["task"], &[])? {
            found.tasks.push(self.task(task)?);
        }
        Ok(found)
    }

    fn task(&self, node: Node<'_, '_>) -> Result<Task, LoadError> {
        self.not_replicated(node)?;
        let kind = match node.attribute("scheduling").unwrap_or("fcfs") {
            "ref" => TaskKind::Reference,
            "fcfs" | "fifo" => TaskKind::Fcfs,
            "inf" => TaskKind::Infinite,
            "hol" | "pri" => TaskKind::HeadOfLine,
            "semaphore" => TaskKind::Semaphore,
            "rwlock" => TaskKind::ReadWrite,
            other => {
                let message = format!(
                    "scheduling = {other:?} cannot be said here: ref, fcfs, inf, hol, semaphore and rwlock can"
                );
                return Err(self.wrong(node, message));
            }
        };
        let mut found = Task {
            line: line(node),
            name: self.text(node, "name")?,
            kind,
            multiplicity: self.multiplicity(node, kind == TaskKind::Infinite)?,
            think: self.number(node, "think-time", 0.0)?,
            priority: self.whole(node, "priority", 0)? as i32,
            queue_length: self.whole(node, "queue-length", 0)?,
            entries: Vec::new(),
            activities: Vec::new(),
            precedences: Vec::new(),
            replies: Vec::new(),
        };
        for child in self.children(node, &["entry", "task-activities"], &[])? {
            if child.tag_name().name() == "entry" {
                found.entries.push(self.entry(child)?);
            } else {
                self.graph(child, &mut found)?;
            }
        }
        Ok(found)
    }

    fn entry(&self, node: Node<'_, '_>) -> Result<Entry, LoadError> {
        let lock = match (node.attribute("semaphore"), node.attribute("rwlock")) {
            (Some("wait"), None) => Some(Lock::Wait),
            (Some("signal"), None) => Some(Lock::Signal),
            (None, Some("r-lock")) => Some(Lock::Read),
            (None, Some("r-unlock")) => Some(Lock::UnlockRead),
            (None, Some("w-lock")) => Some(Lock::Write),
            (None, Some("w-unlock")) => Some(Lock::UnlockWrite),
            (None, None) => None,
            (s, r) => {
                let said = s.or(r).unwrap_or_default();
                return Err(self.wrong(
                    node,
                    format!("{said:?} is nothing that an entry does to a lock"),
                ));
            }
        };
        let rate = self.number(node, "open-arrival-rate", 0.0)?;
        let mut found = Entry {
            line: line(node),
            name: self.text(node, "name")?,
            open_rate: (rate > 0.0).then_some(rate),
            lock,
            ..Entry::default()
        };
        for child in self.children(node, &["forwarding", "entry-phase-activities"], &[])? {
            if child.tag_name().name() == "forwarding" {
                let share = self.number(child, "prob", 1.0)?;
                found.forwarding.push((self.text(child, "dest")?, share));
                continue;
            }
            for activity in self.children(child, &["activity"], &[])? {
                let phase = self.whole(activity, "phase", 1)?;
                found.phases.push((phase, self.activity(activity)?));
            }
        }
        found.phases.sort_by_key(|p| p.0);
        Ok(found)
    }

    fn activity(&self, node: Node<'_, '_>) -> Result<Activity, LoadError> {
        let deterministic = match node.attribute("call-order").unwrap_or("STOCHASTIC") {
            "STOCHASTIC" => false,
            "DETERMINISTIC" => true,
            other => {
                let message = format!("call-order = {other:?}: it is STOCHASTIC or DETERMINISTIC");
                return Err(self.wrong(node, message));
            }
        };
        let mut found = Activity {
            line: line(node),
            name: self.text(node, "name")?,
            demand: self.number(node, "host-demand-mean", 0.0)?,
            cvsq: self.number(node, "host-demand-cvsq", 1.0)?,
            think: self.number(node, "think-time", 0.0)?,
            deterministic,
            calls: Vec::new(),
            bound: node.attribute("bound-to-entry").map(str::to_owned),
        };
        for call in self.children(node, &["synch-call", "asynch-call"], &[])? {
            let mean = self.number(call, "calls-mean", 1.0)?;
            if deterministic && mean.fract() != 0.0 {
                let message =
                    format!("calls-mean = {mean}: a DETERMINISTIC number of calls is whole");
                return Err(self.wrong(call, message));
            }
            found.calls.push(Call {
                line: line(call),
                dest: self.text(call, "dest")?,
                mean,
                waits: call.tag_name().name() == "synch-call",
            });
        }
        Ok(found)
    }

    fn graph(&self, node: Node<'_, '_>, task: &mut Task) -> Result<(), LoadError> {
        for child in self.children(node, &["activity", "precedence", "reply-entry"], &[])? {
            match child.tag_name().name() {
                "activity" => task.activities.push(self.activity(child)?),
                "precedence" => task.precedences.push(self.precedence(child)?),
                _ => {
                    let after = self.names(child, "reply-activity")?;
                    task.replies.push((self.text(child, "name")?, after));
                }
            }
        }
        Ok(())
    }

    fn names(&self, node: Node<'_, '_>, element: &str) -> Result<Vec<String>, LoadError> {
        let all = self.children(node, &[element], &[])?;
        if all.is_empty() {
            let message = format!("<{}> names no activity", node.tag_name().name());
            return Err(self.wrong(node, message));
        }
        all.into_iter().map(|a| self.text(a, "name")).collect()
    }

    fn counted(
        &self,
        node: Node<'_, '_>,
        key: &str,
        default: f64,
    ) -> Result<Vec<(String, f64)>, LoadError> {
        let names = self.names(node, "activity")?;
        let all = self.children(node, &["activity"], &[])?;
        let numbers = all.into_iter().map(|a| self.number(a, key, default));
        names
            .into_iter()
            .zip(numbers)
            .map(|(name, x)| Ok((name, x?)))
            .collect()
    }

    fn one(&self, node: Node<'_, '_>) -> Result<String, LoadError> {
        let mut names = self.names(node, "activity")?;
        if names.len() > 1 {
            let message = format!("<{}> takes one activity", node.tag_name().name());
            return Err(self.wrong(node, message));
        }
        Ok(names.remove(0))
    }

    fn precedence(&self, node: Node<'_, '_>) -> Result<Precedence, LoadError> {
        let known = [
            "pre",
            "pre-OR",
            "pre-AND",
            "post",
            "post-OR",
            "post-AND",
            "post-LOOP",
        ];
        let (mut pre, mut post) = (None, None);
        for child in self.children(node, &known, &[])? {
            match child.tag_name().name() {
                "pre" => pre = Some(Pre::One(self.one(child)?)),
                "pre-OR" => pre = Some(Pre::Or(self.names(child, "activity")?)),
                "pre-AND" => {
                    let quorum = self.whole(child, "quorum", 0)?;
                    let names = self.names(child, "activity")?;
                    pre = Some(Pre::And(names, (quorum > 0).then_some(quorum)));
                }
                "post" => post = Some(Post::One(self.one(child)?)),
                "post-OR" => post = Some(Post::Or(self.counted(child, "prob", 1.0)?)),
                "post-AND" => post = Some(Post::And(self.names(child, "activity")?)),
                _ => {
                    let end = child.attribute("end").map(str::to_owned);
                    post = Some(Post::Loop(self.counted(child, "count", 1.0)?, end));
                }
            }
        }
        let pre = pre.ok_or_else(|| self.wrong(node, "a precedence needs what comes before"))?;
        Ok(Precedence {
            line: line(node),
            pre,
            post,
        })
    }
}
