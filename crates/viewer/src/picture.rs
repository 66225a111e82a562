//! What the page draws a window of: lanes as bytes, spans as JSON. Both are numbers, up to a million of them.

use std::collections::HashMap;
use std::num::NonZero;

use serde::Serialize;

use crate::lane::{Lane, Window, encode};
use crate::model::{Model, Thread};

/// Lanes as bytes: for each `thread i32`, time per class and absence as twelve `f64` (ns), length
/// `u32` of what follows, and the columns as [`encode`] writes them. Little-endian.
pub fn lanes(lanes: &[(i64, &Lane)], window: Window) -> Vec<u8> {
    // The CPUs share them: of all threads of a large server they take longest of all that a picture asks for.
    let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = lanes.len().div_ceil(cpus).max(LEAST);
    std::thread::scope(|scope| {
        let shares: Vec<_> = lanes
            .chunks(share)
            .map(|lanes| scope.spawn(move || bytes(lanes, window)))
            .collect();
        let told = shares.into_iter().map(|share| match share.join() {
            Ok(bytes) => bytes,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        told.collect::<Vec<_>>().concat()
    })
}

/// Lanes that are worth a thread.
const LEAST: usize = 16;

fn bytes(lanes: &[(i64, &Lane)], window: Window) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, lane) in lanes {
        out.extend((*id as i32).to_le_bytes());
        for time in lane.times(window.begin, window.end) {
            out.extend((time as f64).to_le_bytes());
        }
        let columns = encode(&lane.columns(window));
        out.extend((columns.len() as u32).to_le_bytes());
        out.extend(columns);
    }
    out
}

/// Spans of lanes, in numbers only: written as they are, because a picture has a million of them.
#[derive(Serialize)]
pub struct SpanLanes<'a> {
    names: Vec<&'a str>,
    lanes: Vec<SpanLane>,
}

#[derive(Serialize)]
struct SpanLane {
    thread: i64,
    rows: Vec<SpanRow>,
}

#[derive(Serialize)]
struct SpanRow {
    /// `[begin, end, kind, name, id, …]`, names as indices into `names`.
    bars: Vec<i64>,
    /// `[column, kind, coverage, …]`.
    thin: Vec<u32>,
}

/// Rows of spans.
pub fn spans<'a>(model: &'a Model, threads: &[&Thread], window: Window) -> SpanLanes<'a> {
    let mut names: Vec<&str> = Vec::new();
    let mut index = HashMap::new();
    let mut lanes = Vec::with_capacity(threads.len());
    for thread in threads {
        let mut rows = Vec::with_capacity(thread.rows.len());
        for row in &thread.rows {
            let view = row.view(window);
            let mut bars: Vec<i64> = Vec::with_capacity(view.bars.len() * 5);
            for bar in &view.bars {
                let span = &model.spans[bar.span as usize];
                let name = *index.entry(span.name).or_insert_with(|| {
                    names.push(&model.names[span.name as usize]);
                    names.len() - 1
                });
                bars.extend([bar.begin, bar.end, bar.kind as i64, name as i64, span.id]);
            }
            let thin: Vec<u32> = view
                .thin
                .iter()
                .flat_map(|t| [t.column, t.kind as u32, t.coverage as u32])
                .collect();
            rows.push(SpanRow { bars, thin });
        }
        lanes.push(SpanLane {
            thread: thread.id,
            rows,
        });
    }
    SpanLanes { names, lanes }
}
