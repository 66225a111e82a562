//! What can be seen to be wrong or suspicious before anything runs: cycles of nested calls, locks that are released
//! without having been taken, parts that nobody uses.

use super::LoadError;
use super::section::Section;
use crate::model::{Model, ResourceKind, Step, UNLIMITED};

pub(super) fn model(root: &Section<'_>, model: &mut Model) -> Result<(), LoadError> {
    let line_of = |kind: &str, name: &str| {
        let part = name.split('.').next().unwrap_or(name);
        root.named(kind)
            .ok()
            .and_then(|l| l.into_iter().find(|(n, _)| n == part).map(|(_, s)| s.line))
            .unwrap_or(1)
    };
    for (kind, name, program) in model
        .entries
        .iter()
        .map(|e| ("pools", &e.name, &e.program))
        .chain(
            model
                .classes
                .iter()
                .map(|c| ("classes", &c.name, &c.program)),
        )
    {
        let mut held = vec![0i64; model.resources.len()];
        if let Some(resource) = releases_untaken(program, model, &mut held) {
            let message = format!("{name} releases {resource} without having taken it");
            return Err(root.context.wrong(line_of(kind, name), message));
        }
        if uses_cpu(program) && kind == "pools" {
            let pool = model
                .entries
                .iter()
                .find(|e| &e.name == name)
                .map(|e| e.pool);
            if pool.is_some_and(|p| model.pools[p].machine.is_none()) {
                let message =
                    format!("{name} uses CPU, but its pool has no machine: add machine = \"…\"");
                return Err(root.context.wrong(line_of(kind, name), message));
            }
        }
    }
    let cycles = call_cycles(model);
    model.warnings.extend(cycles);
    for (e, entry) in model.entries.iter().enumerate() {
        let used = model
            .entries
            .iter()
            .map(|x| &x.program)
            .chain(model.classes.iter().map(|c| &c.program));
        if !used.clone().any(|p| asks(p, e)) {
            model.warnings.push(format!("nobody asks {}", entry.name));
        }
    }
    Ok(())
}

fn uses_cpu(steps: &[Step]) -> bool {
    any(steps, &mut |s| matches!(s, Step::Cpu(d) if d.mean() > 0.0))
}

fn asks(steps: &[Step], entry: usize) -> bool {
    any(
        steps,
        &mut |s| matches!(s, Step::Call(e, _) | Step::Forward(e) | Step::Send(e) if *e == entry),
    )
}

/// Whether some step, however nested, is so.
fn any(steps: &[Step], is: &mut impl FnMut(&Step) -> bool) -> bool {
    let mut found = false;
    each(steps, &mut |s| found |= is(s));
    found
}

/// Calls `visit` for every step, however nested.
pub(crate) fn each(steps: &[Step], visit: &mut impl FnMut(&Step)) {
    for step in steps {
        visit(step);
        match step {
            Step::Fork(branches, _) => branches.iter().for_each(|b| each(b, visit)),
            Step::Branch(arms) => arms.iter().for_each(|(_, b)| each(b, visit)),
            Step::ByClass(arms) => arms.iter().for_each(|(_, b)| each(b, visit)),
            Step::KeepAlive(k) => {
                each(&k.open, visit);
                each(&k.reopen, visit);
            }
            Step::Loop(_, body) | Step::Phase(_, body) => each(body, visit),
            _ => {}
        }
    }
}

/// The name of a lock that a program may release before it can have taken it.
fn releases_untaken<'m>(steps: &[Step], model: &'m Model, held: &mut [i64]) -> Option<&'m str> {
    for step in steps {
        match step {
            Step::Acquire(r, ..) => held[*r] += 1,
            Step::Release(r, _) => {
                if held[*r] == 0 && model.resources[*r].kind != ResourceKind::Semaphore {
                    return Some(&model.resources[*r].name);
                }
                held[*r] -= 1;
            }
            Step::Await { mutex, .. } if held[*mutex] == 0 => {
                return Some(&model.resources[*mutex].name);
            }
            Step::Branch(arms) => {
                let arms: Vec<&[Step]> = arms.iter().map(|a| a.1.as_slice()).collect();
                if let Some(name) = arms_release_untaken(&arms, model, held) {
                    return Some(name);
                }
            }
            Step::ByClass(arms) => {
                let arms: Vec<&[Step]> = arms.iter().map(|a| a.1.as_slice()).collect();
                if let Some(name) = arms_release_untaken(&arms, model, held) {
                    return Some(name);
                }
            }
            Step::KeepAlive(k) => {
                if let Some(name) = arms_release_untaken(&[&k.open, &k.reopen], model, held) {
                    return Some(name);
                }
            }
            Step::Loop(_, body) | Step::Phase(_, body) => {
                if let Some(name) = releases_untaken(body, model, held) {
                    return Some(name);
                }
            }
            _ => {}
        }
    }
    None
}

/// The same for programs of which one is executed. One may take what a later step gives back: the most that any of them
/// holds counts.
fn arms_release_untaken<'m>(
    arms: &[&[Step]],
    model: &'m Model,
    held: &mut [i64],
) -> Option<&'m str> {
    let before = held.to_vec();
    for body in arms {
        let mut inner = before.clone();
        if let Some(name) = releases_untaken(body, model, &mut inner) {
            return Some(name);
        }
        held.iter_mut()
            .zip(inner)
            .for_each(|(h, i)| *h = (*h).max(i));
    }
    None
}

/// One warning for each pool whose threads may wait for threads of the same pool.
fn call_cycles(model: &Model) -> Vec<String> {
    let n = model.pools.len();
    let mut calls = vec![vec![false; n]; n];
    for entry in &model.entries {
        each(&entry.program, &mut |s| {
            if let Step::Call(to, None) = s {
                calls[entry.pool][model.entries[*to].pool] = true;
            }
        });
    }
    let mut warnings = Vec::new();
    for start in 0..n {
        if model.pools[start].max_threads == UNLIMITED {
            continue;
        }
        // The shortest way back, breadth first.
        let mut from = vec![None; n];
        let mut line = std::collections::VecDeque::from([start]);
        'search: while let Some(at) = line.pop_front() {
            for to in 0..n {
                if !calls[at][to] {
                    continue;
                }
                if to == start {
                    let mut path = vec![model.pools[start].name.as_str()];
                    let mut back = at;
                    while back != start {
                        path.push(&model.pools[back].name);
                        back = from[back].unwrap_or(start);
                    }
                    path.push(&model.pools[start].name);
                    path.reverse();
                    warnings.push(format!(
                        "threads of {0} wait for threads of {0} (nested calls {1}): when all {2} are waiting, none can go on",
                        model.pools[start].name,
                        path.join(" → "),
                        model.pools[start].max_threads
                    ));
                    break 'search;
                }
                if from[to].is_none() {
                    from[to] = Some(at);
                    line.push_back(to);
                }
            }
        }
    }
    warnings
}
