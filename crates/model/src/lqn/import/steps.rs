//! Programs of the model language as data, and as text.

use super::super::document::Activity;
use super::quoted;
use crate::language::LoadError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// CPU: mean and squared coefficient of variation.
    Cpu(f64, f64),
    /// An exponential pause of this mean.
    Wait(f64),
    Call(String),
    Send(String),
    Forward(String),
    Reply,
    Acquire(String, u32),
    Release(String, u32),
    Branch(Vec<(f64, Vec<Step>)>),
    /// A whole number of times.
    Repeat(f64, Vec<Step>),
    /// A geometric number of times: at least once, so often on average.
    Geometric(f64, Vec<Step>),
    Fork(Vec<Vec<Step>>, usize),
}

/// What an activity does. `path` finds the entries that it calls.
pub(super) fn activity<'p>(
    a: &Activity,
    path: &impl Fn(&str, u32) -> Result<&'p str, LoadError>,
) -> Result<Vec<Step>, LoadError> {
    let mut steps = Vec::new();
    if a.think > 0.0 {
        steps.push(Step::Wait(a.think));
    }
    let calls: f64 = a.calls.iter().map(|c| c.mean).sum();
    let slice = || {
        let part = a.demand / (calls + 1.0);
        // Slices of equal law whose sum has the variance that was asked for, where their number is fixed.
        let cvsq = if a.deterministic {
            a.cvsq * (calls + 1.0)
        } else {
            a.cvsq
        };
        // lqns and lqsim take a demand without a coefficient as exponential slices.
        let cvsq = if a.cvsq == 1.0 { 1.0 } else { cvsq };
        (part > 0.0).then_some(Step::Cpu(part, cvsq))
    };
    steps.extend(slice());
    let mut made = Vec::new();
    for c in &a.calls {
        let to = path(&c.dest, c.line)?.to_owned();
        made.push((
            c.mean,
            if c.waits {
                Step::Call(to)
            } else {
                Step::Send(to)
            },
        ));
    }
    if a.deterministic {
        for (times, step) in made {
            let one: Vec<Step> = std::iter::once(step).chain(slice()).collect();
            match times {
                0.0 => {}
                1.0 => steps.extend(one),
                _ => steps.push(Step::Repeat(times, one)),
            }
        }
        return Ok(steps);
    }
    if calls > 0.0 {
        // After each slice another call with probability calls / (1 + calls), to each entry as often as it is called.
        let mut body = match &made[..] {
            [(_, step)] => vec![step.clone()],
            _ => vec![Step::Branch(
                made.into_iter()
                    .map(|(y, s)| (y / calls, vec![s]))
                    .collect(),
            )],
        };
        body.extend(slice());
        let again = Step::Geometric(1.0 + calls, body);
        steps.push(Step::Branch(vec![(calls / (1.0 + calls), vec![again])]));
    }
    Ok(steps)
}

/// A program as a list, at a depth of indentation.
pub(super) fn text(steps: &[Step], depth: usize) -> String {
    if steps.is_empty() {
        // A program must say something.
        return "[ { wait = 0 } ]".into();
    }
    if depth == 0 {
        let lines: Vec<String> = steps.iter().map(|s| format!("  {}", one(s, 1))).collect();
        return format!("[\n{}\n]", lines.join(",\n"));
    }
    let all: Vec<String> = steps.iter().map(|s| one(s, depth + 1)).collect();
    format!("[ {} ]", all.join(", "))
}

fn one(step: &Step, depth: usize) -> String {
    let body = |steps: &[Step]| text(steps, depth);
    match step {
        Step::Cpu(mean, 0.0) => format!("{{ cpu = {mean} }}"),
        Step::Cpu(mean, 1.0) => format!("{{ cpu = \"exp({mean})\" }}"),
        Step::Cpu(mean, cvsq) => format!("{{ cpu = \"fit({mean}, {cvsq})\" }}"),
        Step::Wait(mean) => format!("{{ wait = \"exp({mean})\" }}"),
        Step::Call(to) => format!("{{ call = {} }}", quoted(to)),
        Step::Send(to) => format!("{{ send = {} }}", quoted(to)),
        Step::Forward(to) => format!("{{ forward = {} }}", quoted(to)),
        Step::Reply => "{ reply = true }".into(),
        Step::Acquire(what, n) => format!("{{ acquire = {}, units = {n} }}", quoted(what)),
        Step::Release(what, n) => format!("{{ release = {}, units = {n} }}", quoted(what)),
        Step::Branch(arms) => {
            let arms: Vec<String> = arms
                .iter()
                .map(|(p, steps)| format!("{{ p = {p}, do = {} }}", body(steps)))
                .collect();
            format!("{{ branch = [ {} ] }}", arms.join(", "))
        }
        Step::Repeat(times, steps) => format!("{{ repeat = {times}, do = {} }}", body(steps)),
        Step::Geometric(mean, steps) => {
            format!("{{ repeat = \"geometric({mean})\", do = {} }}", body(steps))
        }
        Step::Fork(branches, enough) => {
            let all: Vec<String> = branches.iter().map(|b| body(b)).collect();
            format!("{{ fork = [ {} ], wait_for = {enough} }}", all.join(", "))
        }
    }
}
