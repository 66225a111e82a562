//! Waits, in batches of columns; a text is kept once.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use loadline_trace::duckdb::Connection;
use loadline_trace::duckdb::arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringArray};
use loadline_trace::duckdb::arrow::datatypes::Int64Type;

use crate::model::{Model, Wait, Waits};

/// Reads all of them.
pub fn read(db: &Connection, model: &Model) -> Result<Waits> {
    let zero = model.meta.begin_ns;
    let sql = format!(
        "SELECT id, thread, kind, class, object, owner, notifier, outcome, begin_ns - {zero}, end_ns - {zero}, stack FROM waits"
    );
    let mut texts = Texts::default();
    let mut list = Vec::new();
    for batch in db.prepare(&sql)?.query_arrow([])? {
        take(&mut list, &mut texts, model, &batch);
    }
    Ok(Waits::new(list))
}

/// Each once.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    fn of(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let text: Arc<str> = text.into();
        self.0.insert(text.clone());
        text
    }
}

fn take(list: &mut Vec<Wait>, texts: &mut Texts, model: &Model, batch: &RecordBatch) {
    let long = |i: usize| batch.column(i).as_primitive::<Int64Type>();
    let text = |i: usize| -> &StringArray { batch.column(i).as_string() };
    let number = |of: &Int64Array, i: usize| of.is_valid(i).then(|| of.value(i));
    let (id, thread, kind, class) = (long(0), long(1), text(2), text(3));
    let (object, owner, notifier, outcome) = (long(4), long(5), long(6), text(7));
    let (begin, end, stack) = (long(8), long(9), long(10));
    for i in 0..batch.num_rows() {
        let lane = model.thread_index.get(&thread.value(i));
        list.push(Wait {
            id: id.value(i),
            thread: lane.map_or(thread.value(i), |&lane| model.threads[lane].id),
            kind: texts.of(kind.value(i)),
            class: class.is_valid(i).then(|| texts.of(class.value(i))),
            object: number(object, i),
            owner: number(owner, i),
            notifier: number(notifier, i),
            outcome: texts.of(outcome.value(i)),
            stack: number(stack, i),
            begin: begin.value(i),
            end: end.value(i),
        });
    }
}
