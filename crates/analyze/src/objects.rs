//! Objects of chosen classes, from their allocation to their end.
//!
//! A number is given once, so that the end that names it is that object's. What was allocated before the recording, or before
//! what a flight recorder keeps, has no row.

use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::frames;
use loadline_trace::tables::Object;
use rustc_hash::FxHashMap;

use crate::model::NONE;
use crate::samples::class_name;

/// Objects as the events tell of them.
#[derive(Default)]
pub struct Objects {
    list: Vec<Object>,
    by_number: FxHashMap<u64, usize>,
}

impl Objects {
    /// Takes the next event of `thread`; those that are not of objects are passed over.
    pub fn event(
        &mut self,
        e: &Event,
        thread: u32,
        (begin, end): (i64, i64),
        text: &dyn Fn(u32) -> Option<Arc<str>>,
    ) {
        let within = (begin..=end).contains(&e.ts);
        match e.kind {
            ev::OBJECT_NEW if within && thread != NONE => {
                let (stack, size) = frames::of_allocation(e.b);
                let name = text(e.c).unwrap_or_else(|| "(unknown class)".into());
                self.by_number.insert(e.a, self.list.len());
                self.list.push(Object {
                    begin_ns: e.ts,
                    freed_ns: None,
                    thread: i64::from(thread),
                    class: class_name(&name).into(),
                    size,
                    stack: (stack != 0).then_some(i64::from(stack)),
                });
            }
            ev::OBJECT_FREED if within => {
                if let Some(at) = self.by_number.remove(&e.a) {
                    self.list[at].freed_ns = Some(e.ts);
                }
            }
            _ => {}
        }
    }

    /// All of them, by begin; their stacks are ids of frames in the spool.
    pub fn finish(self) -> Vec<Object> {
        self.list
    }
}
