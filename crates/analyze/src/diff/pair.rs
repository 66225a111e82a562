//! The measures of two sides, put together. Pure.
//!
//! What always holds: a recording in which something did not occur counts with nothing of it, where it is a share (of
//! requests, of time); what is taken together adds up to what was taken.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judge::{Measure, Part, Side};
use super::measures::{CODE, Key, Parts, Read, WAITING};

/// Occurrences from which on something that only one side has is no coincidence.
const FEWEST_ALONE: f64 = 30.0;
/// Samples, or waits, of both sides together below which code has no measure of its own: of 30 and 30 a half more is two
/// standard errors.
const FEWEST_OF_CODE: f64 = 60.0;
/// What has none is this.
const OTHER_CODE: &str = "(all other code)";

/// What occurred on one side only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lone {
    /// As of [`Measure`].
    pub kind: &'static str,
    /// Which one.
    pub name: String,
    /// `ms per request`, …
    pub unit: &'static str,
    /// Mean in that unit.
    pub mean: f64,
    /// All together, ms.
    pub total_ms: f64,
}

/// Both sides of a measure, and how often it occurred on each.
#[derive(Default)]
struct Both {
    sides: [Side; 2],
    seen: [f64; 2],
}

/// Measures that both sides have, and what only one has.
pub fn pair(a: Vec<Read>, b: Vec<Read>) -> (Vec<Measure>, [Vec<Lone>; 2]) {
    let sides = [a, b];
    let keys: Vec<&Key> = sides
        .iter()
        .flatten()
        .flat_map(|r| r.parts.keys())
        .collect();
    let mut all: BTreeMap<Key, Both> = keys
        .into_iter()
        .map(|k| (k.clone(), Both::default()))
        .collect();
    for (key, both) in &mut all {
        for (side, reads) in sides.iter().enumerate() {
            for read in reads {
                let of = of_recording(read, key);
                both.seen[side] += of.seen;
                // Without occurrences there is no mean, but of what is a share of something else.
                if !of.parts.is_empty() {
                    both.sides[side].0.push(of.parts);
                }
            }
        }
    }
    let mut both = Vec::new();
    let mut lone = [Vec::new(), Vec::new()];
    for ((kind, name, unit), of) in together(all) {
        match of.seen.iter().position(|seen| *seen == 0.0) {
            None => both.push(Measure {
                kind,
                name,
                unit,
                sides: of.sides,
            }),
            Some(missing) => {
                let there = 1 - missing;
                if of.seen[there] >= FEWEST_ALONE {
                    let (ms, count) = sum(&of.sides[there]);
                    lone[there].push(Lone {
                        kind,
                        name,
                        unit,
                        mean: ms / count,
                        total_ms: ms,
                    });
                }
            }
        }
    }
    for side in &mut lone {
        side.sort_by(|x, y| y.total_ms.total_cmp(&x.total_ms));
    }
    (both, lone)
}

/// The parts of a measure in a recording, also if it did not occur in it.
fn of_recording(read: &Read, key: &Key) -> Parts {
    if let Some(found) = read.parts.get(key) {
        return found.clone();
    }
    let nothing = read.nothing.get(&(key.0, key.2));
    Parts {
        parts: nothing.cloned().unwrap_or_default(),
        seen: 0.0,
    }
}

/// Takes code that was seen too rarely together.
fn together(all: BTreeMap<Key, Both>) -> BTreeMap<Key, Both> {
    let mut told: BTreeMap<Key, Both> = BTreeMap::new();
    for ((kind, name, unit), of) in all {
        let rare = of.seen.iter().sum::<f64>() < FEWEST_OF_CODE;
        let name = match kind {
            CODE | WAITING if rare => OTHER_CODE.into(),
            _ => name,
        };
        let into = told.entry((kind, name, unit)).or_default();
        for (i, side) in of.sides.iter().enumerate() {
            into.seen[i] += of.seen[i];
            add(&mut into.sides[i], side);
        }
    }
    told
}

/// Adds parts of the same stretches of the same recordings.
fn add(to: &mut Side, more: &Side) {
    if to.0.is_empty() {
        to.0.clone_from(&more.0);
        return;
    }
    for (to, more) in to.0.iter_mut().flatten().zip(more.0.iter().flatten()) {
        to.0 += more.0;
    }
}

fn sum(side: &Side) -> Part {
    let parts = side.0.iter().flatten();
    parts.fold((0.0, 0.0), |(ms, n), part| (ms + part.0, n + part.1))
}
