//! What an entry does, from its phases or from its graph of activities.
//!
//! A graph becomes steps where its forks and joins are nested: all that a fork begins ends in one join, or ends.

use super::super::document::{Activity, Entry, Post, Pre, Precedence, Task, TaskKind};
use super::steps::{self, Step};
use super::{Importer, wrong};
use crate::language::LoadError;
use std::cell::{Cell, RefCell};

/// Deeper than anybody nests, and what a circle of activities runs into.
const DEEPEST: usize = 200;
/// Activities on all ways through a graph: forks that never join have as many ways as two to the power of their number.
const MOST: usize = 100_000;

/// What branches of forks do that use the processor: threads of a pool beside the task's, an entry each.
pub(super) struct Branches {
    pub pool: String,
    pub programs: RefCell<Vec<Vec<Step>>>,
}

pub(super) fn entry(
    importer: &Importer<'_>,
    t: &Task,
    e: &Entry,
    branches: &Branches,
) -> Result<Vec<Step>, LoadError> {
    let mut program = if e.phases.is_empty() {
        let bound = t
            .activities
            .iter()
            .find(|a| a.bound.as_deref() == Some(&e.name));
        let Some(first) = bound else {
            let message = format!(
                "entry {:?} has neither phases nor an activity bound to it",
                e.name
            );
            return Err(wrong(importer.file, e.line, message));
        };
        let walk = Walk {
            importer,
            t,
            e,
            branches,
            seen: Cell::new(0),
        };
        let mut steps = Vec::new();
        if let Some(join) = walk.from(first, &mut steps, 0)? {
            let message = format!(
                "activities of entry {:?} meet in a join that no fork of it began",
                e.name
            );
            return Err(wrong(importer.file, join.line, message));
        }
        steps
    } else {
        phases(importer, t, e)?
    };
    forward(importer, e, &mut program)?;
    // The last thing that a thread does is to reply where it has not.
    if program.last() == Some(&Step::Reply) {
        program.pop();
    }
    Ok(program)
}

fn phases(importer: &Importer<'_>, t: &Task, e: &Entry) -> Result<Vec<Step>, LoadError> {
    let mut steps = Vec::new();
    let mut replied = t.kind == TaskKind::Reference;
    for (number, activity) in &e.phases {
        if *number > 1 && !replied {
            steps.push(Step::Reply);
            replied = true;
        }
        steps.extend(self::activity(importer, activity)?);
    }
    if !replied {
        steps.push(Step::Reply);
    }
    Ok(steps)
}

fn activity(importer: &Importer<'_>, a: &Activity) -> Result<Vec<Step>, LoadError> {
    steps::activity(a, &|name, line| importer.path(name, line))
}

/// Where an entry forwards, its reply is handed on.
fn forward(importer: &Importer<'_>, e: &Entry, program: &mut [Step]) -> Result<(), LoadError> {
    if e.forwarding.is_empty() {
        return Ok(());
    }
    let mut arms = Vec::new();
    for (dest, share) in &e.forwarding {
        let to = importer.path(dest, e.line)?.to_owned();
        arms.push((*share, vec![Step::Forward(to)]));
    }
    let rest = 1.0 - arms.iter().map(|a| a.0).sum::<f64>();
    if rest < -1e-9 {
        let message = format!("entry {:?} forwards more requests than it gets", e.name);
        return Err(wrong(importer.file, e.line, message));
    }
    let Some(at) = program.iter().position(|s| *s == Step::Reply) else {
        let message = format!(
            "entry {:?} forwards and has no reply of its own to hand on",
            e.name
        );
        return Err(wrong(importer.file, e.line, message));
    };
    let step = match &arms[..] {
        [(_, one)] if rest <= 1e-9 => one[0].clone(),
        _ => {
            if rest > 1e-9 {
                arms.push((rest, vec![Step::Reply]));
            }
            Step::Branch(arms)
        }
    };
    program[at] = step;
    Ok(())
}

struct Walk<'a> {
    importer: &'a Importer<'a>,
    t: &'a Task,
    e: &'a Entry,
    branches: &'a Branches,
    seen: Cell<usize>,
}

impl<'a> Walk<'a> {
    fn find(&self, name: &str, line: u32) -> Result<&'a Activity, LoadError> {
        self.t
            .activities
            .iter()
            .find(|a| a.name == name)
            .ok_or_else(|| {
                let message = format!("task {:?} has no activity {name:?}", self.t.name);
                wrong(self.importer.file, line, message)
            })
    }

    fn wrong(&self, line: u32, what: &str) -> LoadError {
        wrong(
            self.importer.file,
            line,
            format!("task {:?}: {what}", self.t.name),
        )
    }

    /// What follows from an activity on, until a join that others lead to as well; that join, or `None` at an end.
    fn from(
        &self,
        first: &'a Activity,
        steps: &mut Vec<Step>,
        depth: usize,
    ) -> Result<Option<&'a Precedence>, LoadError> {
        let mut now = first;
        let mut turns = 0;
        loop {
            turns += 1;
            self.seen.set(self.seen.get() + 1);
            if depth > DEEPEST || turns > self.t.activities.len() {
                return Err(self.wrong(now.line, "its activities go in a circle"));
            }
            if self.seen.get() > MOST {
                return Err(self.wrong(now.line, "there are too many ways through its activities"));
            }
            steps.extend(activity(self.importer, now)?);
            let mine = |(entry, after): &&(String, Vec<String>)| {
                *entry == self.e.name && after.contains(&now.name)
            };
            if self.t.kind != TaskKind::Reference && self.t.replies.iter().any(|r| mine(&r)) {
                steps.push(Step::Reply);
            }
            let Some(next) = self
                .t
                .precedences
                .iter()
                .find(|p| p.post.is_some() && leads(&p.pre, &now.name))
            else {
                return Ok(None);
            };
            if !matches!(next.pre, Pre::One(_)) {
                return Ok(Some(next));
            }
            match self.after(next, steps, depth)? {
                Next::Activity(a) => now = a,
                Next::End => return Ok(None),
            }
        }
    }

    /// The steps of what a precedence begins, and where it goes on.
    fn after(
        &self,
        p: &'a Precedence,
        steps: &mut Vec<Step>,
        depth: usize,
    ) -> Result<Next<'a>, LoadError> {
        match p.post.as_ref() {
            None => Ok(Next::End),
            Some(Post::One(name)) => Ok(Next::Activity(self.find(name, p.line)?)),
            Some(Post::Or(arms)) => {
                let total: f64 = arms.iter().map(|a| a.1).sum();
                if total > 1.0 + 1e-6 {
                    return Err(
                        self.wrong(p.line, "the probabilities of a branch sum to more than 1")
                    );
                }
                let names: Vec<&str> = arms.iter().map(|a| a.0.as_str()).collect();
                let (bodies, join) = self.arms(&names, p, depth)?;
                let shares = arms.iter().map(|a| a.1.min(1.0) / total.max(1.0));
                steps.push(Step::Branch(shares.zip(bodies).collect()));
                self.beyond(join, steps, depth)
            }
            Some(Post::And(names)) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let (bodies, join) = self.arms(&names, p, depth)?;
                let enough = match join.map(|j| &j.pre) {
                    None => 0,
                    Some(Pre::And(_, Some(quorum))) => (*quorum as usize).min(bodies.len()),
                    Some(_) => bodies.len(),
                };
                if bodies
                    .iter()
                    .any(|b| contains(b, &|s| matches!(s, Step::Reply)))
                {
                    return Err(
                        self.wrong(p.line, "a reply in a branch of a fork cannot be said here")
                    );
                }
                let bodies = bodies.into_iter().map(|b| self.branch(b)).collect();
                steps.push(Step::Fork(bodies, enough));
                self.beyond(join, steps, depth)
            }
            Some(Post::Loop(bodies, end)) => {
                for (name, count) in bodies {
                    let mut body = Vec::new();
                    let join = self.from(self.find(name, p.line)?, &mut body, depth + 1)?;
                    if let Some(join) = join {
                        return Err(self.wrong(
                            join.line,
                            "a loop's body ends in a join with what is not in it",
                        ));
                    }
                    repeat(*count, body, steps);
                }
                match end {
                    None => Ok(Next::End),
                    Some(name) => Ok(Next::Activity(self.find(name, p.line)?)),
                }
            }
        }
    }

    /// A branch of a fork: here it has no thread, so that what uses the processor is a call of one that has.
    fn branch(&self, body: Vec<Step>) -> Vec<Step> {
        if !contains(&body, &|s| matches!(s, Step::Cpu(..))) {
            return body;
        }
        let mut programs = self.branches.programs.borrow_mut();
        programs.push(body);
        vec![Step::Call(format!(
            "{}.branch_{}",
            self.branches.pool,
            programs.len()
        ))]
    }

    /// The arms of a fork, and the join that all of them end in.
    #[allow(clippy::type_complexity)]
    fn arms(
        &self,
        names: &[&str],
        p: &'a Precedence,
        depth: usize,
    ) -> Result<(Vec<Vec<Step>>, Option<&'a Precedence>), LoadError> {
        let mut bodies = Vec::new();
        let mut joins: Vec<Option<&Precedence>> = Vec::new();
        for name in names {
            let mut body = Vec::new();
            joins.push(self.from(self.find(name, p.line)?, &mut body, depth + 1)?);
            bodies.push(body);
        }
        let first = joins.first().copied().flatten();
        let same = |j: &Option<&Precedence>| match (j, first) {
            (Some(a), Some(b)) => std::ptr::eq(*a, b),
            (None, None) => true,
            _ => false,
        };
        if !joins.iter().all(same) {
            let what = "not all that a fork begins ends in the same join: that is not nested, and cannot be said here";
            return Err(self.wrong(p.line, what));
        }
        Ok((bodies, first))
    }

    fn beyond(
        &self,
        join: Option<&'a Precedence>,
        steps: &mut Vec<Step>,
        depth: usize,
    ) -> Result<Next<'a>, LoadError> {
        match join {
            None => Ok(Next::End),
            Some(join) if depth > DEEPEST => {
                Err(self.wrong(join.line, "its activities go in a circle"))
            }
            Some(join) => self.after(join, steps, depth + 1),
        }
    }
}

fn contains(steps: &[Step], such: &impl Fn(&Step) -> bool) -> bool {
    steps.iter().any(|s| {
        such(s)
            || match s {
                Step::Branch(arms) => arms.iter().any(|a| contains(&a.1, such)),
                Step::Repeat(_, body) | Step::Geometric(_, body) => contains(body, such),
                Step::Fork(all, _) => all.iter().any(|b| contains(b, such)),
                _ => false,
            }
    })
}

enum Next<'a> {
    Activity(&'a Activity),
    End,
}

fn leads(pre: &Pre, name: &str) -> bool {
    match pre {
        Pre::One(a) => a == name,
        Pre::Or(all) | Pre::And(all, _) => all.iter().any(|a| a == name),
    }
}

/// A body so many times on average: exactly where that is a whole number.
fn repeat(count: f64, body: Vec<Step>, steps: &mut Vec<Step>) {
    if count <= 0.0 {
        return;
    }
    if count.fract() == 0.0 {
        steps.push(Step::Repeat(count, body));
    } else if count > 1.0 {
        steps.push(Step::Geometric(count, body));
    } else {
        steps.push(Step::Branch(vec![(count, body)]));
    }
}
