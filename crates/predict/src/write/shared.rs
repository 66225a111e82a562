//! What requests share beside the CPU: locks, and the queues of a database and of other services.

use std::fmt::Write;

use super::numbers::{digits, drawn};
use super::parameters::Parameters;
use super::plain;
use crate::fit::outside::{self, Outside};
use crate::fit::{Class, Fit, HeldLock, Queue};

fn name(i: usize) -> String {
    format!("lock_{}", i + 1)
}

pub(super) fn parameters(p: &mut Parameters<'_>, fit: &Fit) {
    if !fit.locks.is_empty() {
        p.heading(
            "locks, by the waits for them: how long they are held, how often a request takes them",
        );
    }
    for (i, l) in fit.locks.iter().enumerate() {
        let lock = name(i);
        let seen = if l.whole {
            "holds that began while another waited"
        } else {
            "what was left of holds when others came"
        };
        p.fitted(
            &format!("{lock}_cpu"),
            &l.cpu,
            &format!("CPU of a hold of {}, by {seen}", plain(&l.class)),
        );
        if let Some(wait) = &l.wait {
            p.fitted(
                &format!("{lock}_wait"),
                wait,
                "waiting for something else while it is held",
            );
        }
        p.estimate(
            &format!("{lock}_taken"),
            l.taken.0,
            l.taken.1.min(l.taken.0),
            "[0, 1e6]",
            &format!(
                "times that a request takes it, on average; {} waits were seen",
                l.waits
            ),
        );
    }
    for (what, queue) in queues(fit) {
        p.heading(&format!("the queue of the {}", what.name));
        p.timed(
            &format!("{}_service", what.name),
            queue.service,
            queue.ci95.min(queue.service),
            &format!(
                "of a {} in the queue of the {}, by how its delay grew from recording to recording",
                what.asked, what.name
            ),
        );
        p.given(
            &format!("{}_servers", what.name),
            "1",
            "[1, 1000]",
            "servers of that queue; not recorded: one is assumed",
        );
    }
}

/// Those that recordings tell of.
fn queues(fit: &Fit) -> impl Iterator<Item = (&'static Outside, &Queue)> {
    outside::ALL
        .iter()
        .filter_map(|what| Some((what, fit.queues.get(what.name)?)))
}

/// The sections of what is shared.
pub(super) fn sections(out: &mut String, fit: &Fit) {
    for (i, l) in fit.locks.iter().enumerate() {
        let _ = writeln!(
            out,
            "[resources.{}]    # {}\nkind = \"mutex\"\n",
            name(i),
            plain(&l.class)
        );
    }
    for (what, _) in queues(fit) {
        let name = what.name;
        let _ = writeln!(
            out,
            "[stations.{name}]\nservers = \"{name}_servers\"\ndiscipline = \"ps\"\n"
        );
    }
}

/// The locks that a class takes in a part: which, and how often as an expression.
fn taken<'a>(
    c: &'a Class,
    part: &'a str,
    fit: &'a Fit,
) -> impl Iterator<Item = (String, &'a HeldLock, String)> + 'a {
    fit.locks.iter().enumerate().filter_map(move |(i, l)| {
        let (_, factor) = l.by_class.iter().find(|b| b.0 == c.name)?;
        let times = format!("{}_taken * {}", name(i), digits(*factor));
        (l.part == part).then(|| (name(i), l, times))
    })
}

/// A parameter of a class without what of it is spent with locks in hand: `held` says what those take of it.
fn without(parameter: &str, held: &[String]) -> String {
    if held.is_empty() {
        parameter.to_owned()
    } else {
        format!("max(0, {parameter} - {})", held.join(" - "))
    }
}

/// CPU of a part of a class, outside of its locks.
pub(super) fn cpu_outside(c: &Class, part: &str, fit: &Fit) -> String {
    let held: Vec<String> = taken(c, part, fit)
        .map(|(lock, _, times)| format!("{times} * {lock}_cpu"))
        .collect();
    without(&format!("{}_{part}", c.name), &held)
}

/// Waiting of a class (`database`, `outside`) that is not with a lock of one of these parts in hand.
pub(super) fn wait_outside(c: &Class, wait: &str, parts: &[&str], fit: &Fit) -> String {
    let held: Vec<String> = parts
        .iter()
        .flat_map(|part| taken(c, part, fit))
        .filter(|(_, l, _)| l.wait.is_some())
        .map(|(lock, _, times)| format!("{times} * {lock}_wait"))
        .collect();
    without(&format!("{}_{wait}", c.name), &held)
}

/// The steps of a part of a class with its locks in hand. `over` divides where the part is repeated.
pub(super) fn locked(c: &Class, part: &str, over: &str, fit: &Fit) -> Vec<String> {
    taken(c, part, fit)
        .map(|(lock, l, times)| {
            let n = format!("{times}{over}");
            let wait = l.wait.as_ref().map_or(String::new(), |w| {
                format!(", {{ wait = \"{}\" }}", drawn(&format!("{lock}_wait"), w))
            });
            // As often as that on average: the whole number below or above it.
            format!(
                "{{ repeat = \"mix(1 - ({n} - floor({n})), floor({n}), {n} - floor({n}), floor({n}) + 1)\", \
                 do = [ {{ lock = \"{lock}\", do = [ {{ cpu = \"{part}_factor * {}\" }}{wait} ] }} ] }}",
                drawn(&format!("{lock}_cpu"), &l.cpu)
            )
        })
        .collect()
}

/// What a class does at the queue of the database or of other services, if there is one. `over` divides where it is repeated.
pub(super) fn at_queue(c: &Class, name: &str, over: &str, fit: &Fit) -> Option<String> {
    let (what, _) = queues(fit).find(|(what, _)| what.name == name)?;
    let n = (what.times)(c);
    (n > 0.0).then(|| {
        // Of independent length; a request that asks less than once on average asks once or not at all.
        format!(
            "{{ visit = \"{name}\", time = \"{name}_service * {}{over} * gamma({}, 1)\" }}",
            digits(n),
            digits(n.max(1.0))
        )
    })
}
