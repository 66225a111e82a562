//! Classes and sources: who issues requests, when, and what for.
//!
//! A class with `arrivals`, `clients` or `rate` has a source of its own; `[sessions.NAME]` are sources whose sessions go
//! from class to class by a Markov chain.

use super::LoadError;
use super::program::Programs;
use super::section::{Section, find};
use super::tree::Node;
use crate::model::{Arrivals, Class, Model, Quota, Source, UNLIMITED};
use loadline_arrivals::{Phase, Schedule};
use loadline_stats::random::Dist;
use std::path::Path;

const ANY: f64 = f64::INFINITY;

pub(super) fn read(root: &Section<'_>, model: &mut Model) -> Result<(), LoadError> {
    let classes = root.named("classes")?;
    if classes.is_empty() {
        return Err(root.context.wrong(
            1,
            "a model needs a request class: [classes.request] with arrivals and program",
        ));
    }
    let mut bodies = Vec::new();
    {
        let mut programs = Programs::new(root, model)?;
        for (name, s) in &classes {
            let node = s.required("program", s.node("program"))?;
            bodies.push(programs.steps(&format!("classes.{name}.program"), node, false, 0, 0)?);
        }
    }
    for ((name, s), program) in classes.iter().zip(bodies) {
        let retries = s.count("retries", 0.0)?.unwrap_or(0);
        model.classes.push(Class {
            name: name.clone(),
            priority: s.number("priority", -1e6, 1e6)?.unwrap_or(0.0) as i32,
            program,
            timeout: s.patience("timeout")?,
            retries,
            backoff: s.time("backoff")?,
            backoff_growth: s.number("backoff_growth", 0.0, 100.0)?.unwrap_or(1.0),
            background: s.flag("background")?,
        });
    }
    if let Some((_, s)) = classes.iter().find(|(name, _)| name == END) {
        return Err(s.context.wrong(
            s.line,
            "classes.end: the name `end` is where sessions end; choose another",
        ));
    }
    let count = classes.len();
    for (i, (name, s)) in classes.iter().enumerate() {
        if let Some(arrivals) = arrivals(s)? {
            let mut next = vec![Vec::new(); count];
            let again = s.number("continue", 0.0, 1.0)?.unwrap_or(0.0);
            if again > 0.0 {
                next[i].push((i, again));
            }
            let think = s.time("think")?;
            let quota = quota(s, &arrivals)?;
            model.sources.push(Source {
                quota,
                name: name.clone(),
                arrivals,
                start: vec![(i, 1.0)],
                next,
                think,
                leaves: false,
            });
        }
        s.finish()?;
    }
    let names: Vec<&str> = classes.iter().map(|c| c.0.as_str()).collect();
    for (name, s) in root.named("sessions")? {
        let arrivals = s.required("arrivals", arrivals(&s)?)?;
        let quota = quota(&s, &arrivals)?;
        let start = weights(&s, "start", &names, false)?.unwrap_or_else(|| vec![(0, 1.0)]);
        let mut next = vec![Vec::new(); count];
        if let Some(chain) = s.section("next")? {
            for (class, _, _) in chain.entries {
                let from = find(class, "class", &names).map_err(|e| chain.wrong(class, e))?;
                next[from] = weights(&chain, class, &names, true)?.unwrap_or_default();
            }
        }
        model.sources.push(Source {
            name,
            arrivals,
            start,
            next,
            think: s.time("think")?,
            leaves: s
                .choice("on_failure", &[("go-on", false), ("leave", true)])?
                .unwrap_or(false),
            quota,
        });
        s.finish()?;
    }
    if model.sources.is_empty() {
        let message = "nothing makes requests: give a class `rate`, `arrivals` or `clients`, or add [sessions.NAME]";
        return Err(root.context.wrong(1, message));
    }
    Ok(())
}

/// `each = 200, least_time = "45s"`: the clients of a benchmark run.
fn quota(s: &Section<'_>, arrivals: &Arrivals) -> Result<Option<Quota>, LoadError> {
    s.known("least_time");
    let Some(requests) = s.count("each", 0.0)? else {
        return Ok(None);
    };
    // A model may choose between a run that ends and one that does not by a parameter.
    if requests == 0 || requests == UNLIMITED || !matches!(arrivals, Arrivals::Closed(_)) {
        return Ok(None);
    }
    let seconds = s.number("least_time", 0.0, 1e6)?.unwrap_or(0.0);
    Ok(Some(Quota { requests, seconds }))
}

/// Where a session goes that ends.
const END: &str = "end";

/// `{ home = 3, search = 5, end = 2 }`: classes with weights, as in a scenario of `loadline load`; `end` ends the session,
/// and nothing else does. Weights are divided by their sum.
fn weights(
    s: &Section<'_>,
    key: &str,
    names: &[&str],
    may_end: bool,
) -> Result<Option<Vec<(usize, f64)>>, LoadError> {
    let Some(table) = s.section(key)? else {
        return Ok(None);
    };
    let (mut list, mut total, mut ends) = (Vec::new(), 0.0, false);
    for (name, _, _) in table.entries {
        let weight = table.number(name, 0.0, 1e9)?.unwrap_or(0.0);
        total += weight;
        if may_end && name == END {
            ends = true;
        } else {
            let class = find(name, "class", names).map_err(|e| table.wrong(name, e))?;
            list.push((class, weight));
        }
    }
    if total == 0.0 {
        return Err(s.wrong(key, "the weights sum to 0; one must be above it"));
    }
    // What was missing to 1 once ended the session: a model written for that must not silently mean something else.
    if !ends && total < 1.0 - 1e-9 {
        let missing = ((1.0 - total) * 1e9).round() / 1e9;
        let fix = if may_end {
            format!("write `end = {missing}` if the rest ends the session")
        } else {
            "make them sum to 1 or more".into()
        };
        return Err(s.wrong(key, format!("the weights sum to {total}; {fix}")));
    }
    for (_, weight) in &mut list {
        *weight /= total;
    }
    Ok(Some(list))
}

fn arrivals(s: &Section<'_>) -> Result<Option<Arrivals>, LoadError> {
    let mut found = Vec::new();
    if let Some(rate) = s.number("rate", 0.0, ANY)? {
        if !rate.is_finite() {
            return Err(s.wrong("rate", format!("it is {rate}; it must be finite")));
        }
        // None at all: a model may choose between open and closed arrivals by a parameter.
        let schedule = schedule(s)?;
        if rate > 0.0 && schedule.is_constant() {
            found.push(("rate", Arrivals::Open(Dist::Exponential(1.0 / rate))));
        } else if rate > 0.0 {
            found.push(("rate", Arrivals::Varying { rate, schedule }));
        }
    } else if s.node("phase").is_some() {
        return Err(s.wrong("phase", "phases change a rate: give `rate` beside them"));
    }
    if let Some(between) = s.time("arrivals")? {
        if between.mean() <= 0.0 || !between.mean().is_finite() {
            return Err(s.wrong(
                "arrivals",
                format!(
                    "the mean time between arrivals is {}; it must be above 0",
                    between.mean()
                ),
            ));
        }
        found.push(("arrivals", Arrivals::Open(between)));
    }
    if let Some(clients) = s.count("clients", 0.0)? {
        if clients > 10_000_000 {
            return Err(s.wrong(
                "clients",
                format!("it is {clients}; it must be from 0 to 10000000"),
            ));
        }
        if clients > 0 {
            found.push(("clients", Arrivals::Closed(clients)));
        }
    }
    if let Some(list) = s.list("modulated")? {
        found.push(("modulated", Arrivals::Modulated(states(s, list)?)));
    }
    if let Some(file) = s.text("trace")? {
        let path = super::parameters::folder(s.context.file).join(file);
        let mut times = numbers(&path).map_err(|e| s.wrong("trace", e))?;
        times.sort_by(f64::total_cmp);
        if times.last().is_none_or(|&t| t <= 0.0) {
            return Err(s.wrong(
                "trace",
                "it needs instants in seconds, one a line, the last above 0",
            ));
        }
        found.push(("trace", Arrivals::Trace(times.into())));
    }
    if let Some(file) = s.text("replay")? {
        found.push(("replay", replay(s, &file)?));
    } else if s.node("speed").is_some() {
        return Err(s.wrong("speed", "it is that of a log: give `replay` beside it"));
    }
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|f| f.0).collect();
        return Err(s.wrong(
            names[1],
            format!("{} exclude each other", names.join(" and ")),
        ));
    }
    Ok(found.pop().map(|f| f.1))
}

/// `phase = [{ for = "1m", level = 1 }, { for = "10s", from = 1, to = 8 }]`, `repeat`: as in `[arrivals]` of a scenario.
fn schedule(s: &Section<'_>) -> Result<Schedule, LoadError> {
    let repeat = s.flag("repeat")?;
    let mut phases = Vec::new();
    for (i, node) in s.list("phase")?.into_iter().flatten().enumerate() {
        let one = Section::of(s.context, format!("{}.phase[{i}]", s.path), node)?;
        let seconds = one.required("for", one.seconds("for", 1e-9)?)?;
        let level = |key: &str| one.number(key, 0.0, 1e6);
        let (from, to) = match (level("level")?, level("from")?, level("to")?) {
            (Some(level), None, None) => (level, level),
            (None, Some(from), Some(to)) => (from, to),
            _ => {
                return Err(one.wrong(
                    "level",
                    "a phase has level, or from and to: it stays where it is or goes from one to the other",
                ));
            }
        };
        phases.push(Phase { seconds, from, to });
        one.finish()?;
    }
    Schedule::new(phases, repeat).map_err(|e| s.wrong("phase", e))
}

/// `replay = "access.log"`, `speed = 10`: sessions begin when those of the log did.
fn replay(s: &Section<'_>, file: &str) -> Result<Arrivals, LoadError> {
    let speed = s.number("speed", 1e-6, 1e9)?.unwrap_or(1.0);
    let path = super::parameters::folder(s.context.file).join(file);
    let text = std::fs::read(&path)
        .map_err(|e| s.wrong("replay", format!("{} cannot be read: {e}", path.display())))?;
    let text = String::from_utf8_lossy(&text);
    let begins = loadline_arrivals::access_log::parse(&text).session_begins_ns();
    if begins.last().is_none_or(|&last| last == 0) {
        return Err(s.wrong(
            "replay",
            format!(
                "{} is no access log (common or combined format) of more than one session",
                path.display()
            ),
        ));
    }
    let times: Vec<f64> = begins.iter().map(|&ns| ns as f64 * 1e-9 / speed).collect();
    Ok(Arrivals::Replay(times.into()))
}

/// `[{ rate = 10, stay = "5s" }, …]`
fn states(s: &Section<'_>, list: &[Node]) -> Result<Vec<(f64, f64)>, LoadError> {
    let mut states = Vec::new();
    for (i, node) in list.iter().enumerate() {
        let state = Section::of(s.context, format!("{}.modulated[{i}]", s.path), node)?;
        let rate = state.required("rate", state.number("rate", 0.0, ANY)?)?;
        let stay = state.required("stay", state.seconds("stay", 1e-9)?)?;
        states.push((rate, stay));
        state.finish()?;
    }
    if states.iter().all(|st| st.0 == 0.0) {
        return Err(s.wrong("modulated", "at least one state needs a rate above 0"));
    }
    Ok(states)
}

/// The first number of every line of a file; comments and headings are skipped.
pub(super) fn numbers(path: &Path) -> Result<Vec<f64>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    let mut values = Vec::new();
    for line in text.lines() {
        let first = line
            .split([',', ';', '\t', ' '])
            .next()
            .unwrap_or_default()
            .trim();
        if let Ok(x) = first.parse::<f64>() {
            if !(x.is_finite() && x >= 0.0) {
                return Err(format!("{}: {x} is not 0 or more", path.display()));
            }
            values.push(x);
        }
    }
    if values.is_empty() {
        return Err(format!("{} has no numbers", path.display()));
    }
    Ok(values)
}
