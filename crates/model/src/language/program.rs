//! Programs: lists of steps, each an inline table with one verb.
//!
//! Conveniences become plain steps here: a lock with `do` is lock, body, unlock; a call over a link is transfer, call,
//! transfer; a TLS handshake is a branch with round trips and CPU.

mod composite;

use super::LoadError;
use super::declared;
use super::section::{Section, find};
use super::tree::{Kind, Node};
use crate::engine::limits::{LOOPS, PHASES};
use crate::model::{Entry, Mode, Model, ResourceKind, Step};
use loadline_stats::random::Dist;

/// What can be the verb of a step.
const VERBS: [&str; 26] = [
    "cpu",
    "wait",
    "sleep",
    "visit",
    "lock",
    "unlock",
    "acquire",
    "release",
    "await",
    "notify",
    "call",
    "forward",
    "send",
    "reply",
    "fork",
    "branch",
    "by_class",
    "repeat",
    "allocate",
    "phase",
    "admit",
    "fail",
    "transfer",
    "connect",
    "handshake",
    "keep_alive",
];

struct Tls {
    name: String,
    full_cpu: Dist,
    resumed_cpu: Dist,
    full_trips: f64,
    resumed_trips: f64,
}

pub(super) struct Programs<'a> {
    root: &'a Section<'a>,
    model: &'a mut Model,
    tls: Vec<Tls>,
    classes: Vec<String>,
}

pub(super) fn read(root: &Section<'_>, model: &mut Model) -> Result<(), LoadError> {
    // Entries first by name, so that programs can refer to any of them.
    let mut bodies = Vec::new();
    for (p, (pool, s)) in root.named("pools")?.into_iter().enumerate() {
        if let Some(node) = s.node("program") {
            model.entries.push(Entry {
                name: pool.clone(),
                pool: p,
                program: Vec::new(),
            });
            bodies.push((pool.clone(), node));
        }
        if let Some(entries) = s.section("entries")? {
            for (name, _, node) in entries.entries {
                let name = format!("{pool}.{name}");
                model.entries.push(Entry {
                    name: name.clone(),
                    pool: p,
                    program: Vec::new(),
                });
                bodies.push((name, node));
            }
        }
        if !model.entries.iter().any(|e| e.pool == p) {
            return Err(root.context.wrong(
                s.line,
                format!("pools.{pool} has no program: add program = [ … ]"),
            ));
        }
    }
    let mut programs = Programs::new(root, model)?;
    for (i, (name, node)) in bodies.into_iter().enumerate() {
        let program = programs.steps(&name, node, true, 0, 0)?;
        programs.model.entries[i].program = program;
    }
    Ok(())
}

impl<'a> Programs<'a> {
    pub(super) fn new(
        root: &'a Section<'a>,
        model: &'a mut Model,
    ) -> Result<Programs<'a>, LoadError> {
        let mut tls = Vec::new();
        for (name, s) in root.named("tls")? {
            tls.push(Tls {
                name,
                full_cpu: s.required("full_cpu", s.time("full_cpu")?)?,
                resumed_cpu: s.required("resumed_cpu", s.time("resumed_cpu")?)?,
                full_trips: s.number("full_round_trips", 0.0, 10.0)?.unwrap_or(1.0),
                resumed_trips: s.number("resumed_round_trips", 0.0, 10.0)?.unwrap_or(1.0),
            });
            s.finish()?;
        }
        let classes = root
            .named("classes")?
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        Ok(Programs {
            root,
            model,
            tls,
            classes,
        })
    }

    pub(super) fn steps(
        &mut self,
        path: &str,
        node: &Node,
        thread: bool,
        loops: usize,
        phases: usize,
    ) -> Result<Vec<Step>, LoadError> {
        let Kind::List(list) = &node.kind else {
            return Err(self.root.context.wrong(
                node.line,
                format!("{path} is {}; it must be a list of steps", node.kind.name()),
            ));
        };
        let mut steps = Vec::new();
        for (i, node) in list.iter().enumerate() {
            let s = Section::of(self.root.context, format!("{path}[{i}]"), node)?;
            let verbs: Vec<&str> = s
                .entries
                .iter()
                .map(|e| e.0.as_str())
                .filter(|k| VERBS.contains(k))
                .collect();
            match verbs[..] {
                [verb] => self.step(&s, verb, thread, (loops, phases), &mut steps)?,
                // A visit may be called a wait for something; anything else with two verbs is two steps in one.
                [] => {
                    let key = s.entries.first().map_or("", |e| e.0.as_str());
                    let hint = super::nearest(key, VERBS.into_iter()).map_or_else(
                        || format!("there are {}", VERBS.join(", ")),
                        |n| format!("did you mean `{n}`?"),
                    );
                    return Err(s
                        .context
                        .wrong(s.line, format!("{}: `{key}` is no step; {hint}", s.path)));
                }
                _ => {
                    let message = format!(
                        "{}: {} are several steps; write one table for each",
                        s.path,
                        verbs.join(" and ")
                    );
                    return Err(s.context.wrong(s.line, message));
                }
            }
            s.finish()?;
        }
        Ok(steps)
    }

    pub(super) fn body(
        &mut self,
        s: &Section<'_>,
        key: &str,
        thread: bool,
        depth: (usize, usize),
    ) -> Result<Vec<Step>, LoadError> {
        let node = s.required(key, s.node(key))?;
        self.steps(&format!("{}.{key}", s.path), node, thread, depth.0, depth.1)
    }

    fn resource(&self, s: &Section<'_>, verb: &str) -> Result<usize, LoadError> {
        let known: Vec<&str> = self
            .model
            .resources
            .iter()
            .map(|r| r.name.as_str())
            .collect();
        s.required(verb, s.reference(verb, "resource", &known)?)
    }

    fn entry(&self, s: &Section<'_>, verb: &str) -> Result<usize, LoadError> {
        let known: Vec<&str> = self.model.entries.iter().map(|e| e.name.as_str()).collect();
        s.required(verb, s.reference(verb, "entry", &known)?)
    }

    fn mode(&self, s: &Section<'_>, resource: usize) -> Result<Mode, LoadError> {
        let r = &self.model.resources[resource];
        match r.kind {
            ResourceKind::ReadWrite { .. } => {
                let mode = s.choice("mode", &[("read", Mode::Read), ("write", Mode::Write)])?;
                s.required("mode", mode)
            }
            ResourceKind::Mutex => Ok(Mode::Units(1)),
            _ => {
                let units = s.count("units", 1.0)?.unwrap_or(1);
                if units > r.units {
                    return Err(s.wrong(
                        "units",
                        format!("it is {units}; {} has only {}", r.name, r.units),
                    ));
                }
                Ok(Mode::Units(units))
            }
        }
    }

    fn step(
        &mut self,
        s: &Section<'_>,
        verb: &str,
        thread: bool,
        depth: (usize, usize),
        steps: &mut Vec<Step>,
    ) -> Result<(), LoadError> {
        match verb {
            "cpu" => {
                if !thread {
                    let message =
                        "only threads of a pool use CPU; call an entry, or visit a station";
                    return Err(s.wrong("cpu", message));
                }
                steps.push(Step::Cpu(s.required("cpu", s.time("cpu")?)?));
            }
            "wait" => steps.push(Step::Wait(s.required("wait", s.time("wait")?)?)),
            "sleep" => {
                let time = s.required("sleep", s.time("sleep")?)?;
                let tick = s.required("tick", s.number("tick", 1e-9, 1e6)?)?;
                if time != Dist::Constant(0.0) {
                    steps.push(Step::Sleep(time, tick));
                }
            }
            "visit" => {
                let known: Vec<&str> = self
                    .model
                    .stations
                    .iter()
                    .map(|st| st.name.as_str())
                    .collect();
                let station = s.required("visit", s.reference("visit", "station", &known)?)?;
                steps.push(Step::Visit(station, s.required("time", s.time("time")?)?));
            }
            "lock" | "acquire" => {
                let resource = self.resource(s, verb)?;
                let mode = self.mode(s, resource)?;
                steps.push(Step::Acquire(resource, mode, s.patience("timeout")?));
                if s.node("do").is_some() {
                    steps.extend(self.body(s, "do", thread, depth)?);
                    steps.push(Step::Release(resource, mode));
                }
            }
            "unlock" | "release" => {
                let resource = self.resource(s, verb)?;
                steps.push(Step::Release(resource, self.mode(s, resource)?));
            }
            "await" => {
                let known: Vec<&str> = self.model.conditions.iter().map(String::as_str).collect();
                let condition = s.required("await", s.reference("await", "condition", &known)?)?;
                let mutex = self.resource(s, "mutex")?;
                if self.model.resources[mutex].kind != ResourceKind::Mutex {
                    return Err(s.wrong("mutex", "it must be a mutex"));
                }
                steps.push(Step::Await { condition, mutex });
            }
            "notify" => {
                let known: Vec<&str> = self.model.conditions.iter().map(String::as_str).collect();
                let condition =
                    s.required("notify", s.reference("notify", "condition", &known)?)?;
                steps.push(Step::Notify(condition, s.flag("all")?));
            }
            "call" => {
                let entry = self.entry(s, "call")?;
                let call = Step::Call(entry, s.patience("timeout")?);
                match s.text("link")? {
                    None => steps.push(call),
                    Some(link) => {
                        let (request, reply) = (s.dist("request_bytes")?, s.dist("reply_bytes")?);
                        self.transfer(s, &link, request.unwrap_or(Dist::Constant(0.0)), steps)?;
                        steps.push(call);
                        self.transfer(s, &link, reply.unwrap_or(Dist::Constant(0.0)), steps)?;
                    }
                }
            }
            "forward" => steps.push(Step::Forward(self.entry(s, "forward")?)),
            "send" => steps.push(Step::Send(self.entry(s, "send")?)),
            "reply" => {
                s.flag("reply")?;
                steps.push(Step::Reply);
            }
            "fail" => {
                s.flag("fail")?;
                steps.push(Step::Fail);
            }
            "fork" => {
                let mut branches = Vec::new();
                for (i, node) in s.list("fork")?.unwrap_or_default().iter().enumerate() {
                    // A branch runs beside its parent's thread, so it has none itself.
                    branches.push(self.steps(
                        &format!("{}.fork[{i}]", s.path),
                        node,
                        false,
                        0,
                        0,
                    )?);
                }
                let all = branches.len() as u32;
                let wait_for = s.count("wait_for", 0.0)?.unwrap_or(all);
                if wait_for > all {
                    return Err(s.wrong(
                        "wait_for",
                        format!("it is {wait_for}; there are only {all} branches"),
                    ));
                }
                steps.push(Step::Fork(branches, wait_for));
            }
            "branch" => steps.push(self.branch(s, thread, depth)?),
            "by_class" => {
                let by_class = s.required("by_class", s.section("by_class")?)?;
                let mut arms = Vec::new();
                let classes = self.classes.clone();
                let known: Vec<&str> = classes.iter().map(String::as_str).collect();
                for (name, _, node) in by_class.entries {
                    let class = find(name, "class", &known).map_err(|e| by_class.wrong(name, e))?;
                    arms.push((
                        class,
                        self.steps(
                            &format!("{}.{name}", by_class.path),
                            node,
                            thread,
                            depth.0,
                            depth.1,
                        )?,
                    ));
                }
                steps.push(Step::ByClass(arms));
            }
            "repeat" => {
                if depth.0 + 1 > LOOPS {
                    return Err(s.wrong("repeat", format!("loops can be nested {LOOPS} deep")));
                }
                let times = s.required("repeat", s.dist("repeat")?)?;
                let body = self.body(s, "do", thread, (depth.0 + 1, depth.1))?;
                steps.push(Step::Loop(times, body));
            }
            "allocate" => steps.push(Step::Allocate(s.required("allocate", s.dist("allocate")?)?)),
            "phase" => {
                if depth.1 + 1 > PHASES {
                    return Err(s.wrong("phase", format!("phases can be nested {PHASES} deep")));
                }
                let name = s.required("phase", s.text("phase")?)?;
                let body = self.body(s, "do", thread, (depth.0, depth.1 + 1))?;
                steps.push(Step::Phase(self.phase(&name), body));
            }
            "admit" => {
                let known: Vec<&str> = self.model.guards.iter().map(|g| g.name.as_str()).collect();
                let guard = s.required("admit", s.reference("admit", "guard", &known)?)?;
                steps.push(Step::Admit(
                    guard,
                    1.0 - s.number("resumed", 0.0, 1.0)?.unwrap_or(0.0),
                ));
            }
            "transfer" => {
                let bytes = s.required("bytes", s.dist("bytes")?)?;
                let link = s.required("transfer", s.text("transfer")?)?;
                self.transfer(s, &link, bytes, steps)?;
            }
            "connect" => {
                let link = s.required("connect", s.text("connect")?)?;
                self.link(s, &link)?;
                let (latency, _) = declared::link(self.root, &link)?;
                steps.push(Step::Wait(composite::scaled(latency, 2.0)));
            }
            "keep_alive" => steps.push(self.keep_alive(s, thread, depth)?),
            _ => self.handshake(s, thread, steps)?,
        }
        Ok(())
    }

    fn phase(&mut self, name: &str) -> usize {
        self.model
            .phases
            .iter()
            .position(|p| p == name)
            .unwrap_or_else(|| {
                self.model.phases.push(name.to_string());
                self.model.phases.len() - 1
            })
    }
}
