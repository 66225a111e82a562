//! Where in the code waits and samples were: frames of the agent's spool become rows of `stacks`.
//!
//! What always holds: only frames that a wait or a sample names, and their callers, have rows; ids are dense, a caller's is smaller
//! than those of what it called.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use loadline_trace::spool::frames::{self, Frame};
use loadline_trace::tables::{Object, Sample, Stack};

use crate::bounded::List;
use crate::waits::Wait;

/// Rows of `stacks` for these waits, samples and objects, whose stacks are ids of frames in the spool, and become ids of rows. A
/// wait or an object whose stack is not in the spool has none; such a sample says nothing, and is left out.
pub fn rows(
    frames: &[Frame],
    waits: &mut List<Wait>,
    samples: &mut Vec<Sample>,
    objects: &mut [Object],
    text: &dyn Fn(u32) -> Option<Arc<str>>,
) -> Vec<Stack> {
    let by_id: HashMap<u32, &Frame> = frames.iter().map(|f| (f.id, f)).collect();
    let mut seen: HashSet<u32> = HashSet::new();
    let named = (0..waits.len()).filter_map(|at| {
        waits.pace(at);
        waits[at].stack
    });
    let sampled = samples.iter().map(|s| s.stack);
    let sampled = sampled.chain(objects.iter().filter_map(|o| o.stack));
    for id in named.chain(sampled.filter_map(|s| u32::try_from(s).ok())) {
        let mut next = Some(id);
        // Where a stack joins one that was seen, its callers were.
        while let Some(frame) = next
            .and_then(|id| by_id.get(&id))
            .filter(|f| seen.insert(f.id))
        {
            next = Some(frame.parent);
        }
    }
    let mut wanted: Vec<u32> = seen.into_iter().collect();
    wanted.sort_unstable();
    let place = |id: u32| wanted.binary_search(&id).ok().map(|i| i as i64);
    let mut rows: Vec<Stack> = Vec::with_capacity(wanted.len());
    for id in &wanted {
        let frame = by_id[id];
        let parent = place(frame.parent);
        let name = text(frame.name).unwrap_or_else(|| "(unknown method)".into());
        rows.push(Stack {
            id: rows.len() as i64,
            parent,
            depth: parent.map_or(0, |p| rows[p as usize].depth + 1),
            kind: match frame.kind {
                frames::KERNEL => "kernel",
                frames::NATIVE => "native",
                _ if is_method(&name) => "java",
                _ => "native",
            },
            name,
            file: text(frame.file),
            line: (frame.line > 0).then_some(frame.line),
        });
    }
    for at in 0..waits.len() {
        waits.pace(at);
        let stack = waits[at].stack.and_then(place);
        waits[at].stack = stack.and_then(|row| u32::try_from(row).ok());
    }
    let place = |id: i64| place(u32::try_from(id).ok()?);
    samples.retain_mut(|s| place(s.stack).map(|id| s.stack = id).is_some());
    for o in objects {
        o.stack = o.stack.and_then(place);
    }
    rows
}

/// Whether it is the name of a method, or stands for a frame that could not be seen.
fn is_method(name: &str) -> bool {
    !name.starts_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounded::Room;
    use crate::waits::PARK;

    fn wait(stack: Option<u32>) -> Wait {
        Wait {
            thread: 0,
            begin_ns: 0,
            end_ns: 1,
            kind: PARK,
            class: 0,
            object: None,
            owner: None,
            notifier: None,
            outcome: "unparked",
            stack,
        }
    }

    fn sample(stack: i64) -> Sample {
        Sample {
            ts_ns: 0,
            thread: 0,
            kind: "cpu",
            weight: 1,
            class: None,
            stack,
            size: None,
        }
    }

    fn object(stack: i64) -> Object {
        Object {
            begin_ns: 0,
            freed_ns: None,
            thread: 0,
            class: "shop.Cart".into(),
            size: 24,
            stack: Some(stack),
        }
    }

    #[test]
    fn waits_that_share_callers_share_rows_and_frames_of_no_wait_have_none() {
        let frame = |id, parent| Frame {
            id,
            parent,
            name: id,
            file: 0,
            line: 10 * id as i32,
            kind: 0,
        };
        let frames = [
            frame(1, 0),
            frame(2, 1),
            frame(3, 1),
            frame(4, 1),
            frame(5, 4),
            frame(6, 0),
        ];
        let mut waits = List::new(&Room::in_memory());
        waits.extend([Some(5), None, Some(2), Some(77)].map(wait));
        let mut samples = vec![sample(77), sample(6)];
        let mut objects = [object(3), object(77)];
        let rows = rows(&frames, &mut waits, &mut samples, &mut objects, &|id| {
            Some(match id {
                6 => "(stack not walkable)".into(),
                _ => format!("m{id}").as_str().into(),
            })
        });
        let shape: Vec<_> = rows
            .iter()
            .map(|r| (r.id, r.parent, r.depth, &*r.name, r.line))
            .collect();
        assert_eq!(
            shape,
            [
                (0, None, 0, "m1", Some(10)),
                (1, Some(0), 1, "m2", Some(20)),
                (2, Some(0), 1, "m3", Some(30)),
                (3, Some(0), 1, "m4", Some(40)),
                (4, Some(3), 2, "m5", Some(50)),
                (5, None, 0, "(stack not walkable)", Some(60)),
            ]
        );
        assert_eq!((rows[4].kind, rows[5].kind), ("java", "native"));
        assert_eq!(samples.iter().map(|s| s.stack).collect::<Vec<_>>(), [5]);
        assert_eq!(objects.map(|o| o.stack), [Some(2), None]);
        let named: Vec<_> = waits.iter().map(|w| w.stack).collect();
        assert_eq!(named, [Some(4), None, Some(1), None]);
    }
}
