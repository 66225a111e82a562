//! What the page draws a window of, as bytes: lanes and spans are up to a million numbers each.

use std::collections::HashMap;
use std::num::NonZero;

use serde::Serialize;

use crate::lane::{Lane, Window, encode};
use crate::model::{Model, Thread};
use crate::spans::Thin;

/// Lanes as bytes: for each `thread i32`, time per class and absence as twelve `f64` (ns), length
/// `u32` of what follows, and the columns as [`encode`] writes them. Little-endian.
pub fn lanes(lanes: &[(i64, &Lane)], window: Window) -> Vec<u8> {
    by_cpu(lanes, |lanes| bytes(lanes, window)).concat()
}

/// What the CPUs, which share them, make of lanes: of a large server's they take longest of all that a picture asks for.
fn by_cpu<T: Sync, R: Send>(lanes: &[T], work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = lanes.len().div_ceil(cpus).max(LEAST);
    let work = &work;
    std::thread::scope(|scope| {
        let shares: Vec<_> = lanes
            .chunks(share)
            .map(|lanes| scope.spawn(move || work(lanes)))
            .collect();
        let told = shares.into_iter().map(|share| match share.join() {
            Ok(made) => made,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        told.collect()
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

/// What names and bars there are; the columns of what is thinner follow it.
#[derive(Serialize)]
struct SpanLanes<'a> {
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
    /// Thin columns that are its.
    thin: usize,
}

/// Rows of spans as bytes: the length `u32` of a JSON text, that text (`{names, lanes: [{thread, rows: [{bars, thin}]}]}`,
/// where `thin` is a number of columns), spaces up to a multiple of four, and the thin columns of all rows, one row's after
/// another's: `column u16, kind u8, coverage u8`. Little-endian.
pub fn spans(model: &Model, threads: &[&Thread], window: Window) -> serde_json::Result<Vec<u8>> {
    let views = by_cpu(threads, |threads| {
        let mut columns = Vec::new();
        let of_row = |row: &crate::spans::Row| {
            let view = row.view(window);
            columns.extend(view.thin.iter().flat_map(four_bytes));
            (view.bars, view.thin.len())
        };
        let rows: Vec<_> = threads.iter().flat_map(|t| &t.rows).map(of_row).collect();
        (rows, columns)
    });
    let (rows, columns): (Vec<_>, Vec<_>) = views.into_iter().unzip();
    let mut rows = rows.into_iter().flatten();
    let mut names: Vec<&str> = Vec::new();
    let mut index = HashMap::new();
    let lanes = threads.iter().map(|thread| {
        let rows = rows.by_ref().take(thread.rows.len()).map(|(bars, thin)| {
            let numbers = bars.iter().flat_map(|bar| {
                let span = &model.spans[bar.span as usize];
                let name = *index.entry(span.name).or_insert_with(|| {
                    names.push(&model.names[span.name as usize]);
                    names.len() - 1
                });
                [bar.begin, bar.end, bar.kind as i64, name as i64, span.id]
            });
            let bars = numbers.collect();
            SpanRow { bars, thin }
        });
        SpanLane {
            thread: thread.id,
            rows: rows.collect(),
        }
    });
    let lanes = lanes.collect();
    let mut out = vec![0; 4];
    serde_json::to_writer(&mut out, &SpanLanes { names, lanes })?;
    let length = (out.len() - 4) as u32;
    out[..4].copy_from_slice(&length.to_le_bytes());
    out.resize(out.len().next_multiple_of(4), b' ');
    columns.iter().for_each(|columns| out.extend(columns));
    Ok(out)
}

/// A window has at most 16,384 columns ([`crate::params`]).
fn four_bytes(thin: &Thin) -> [u8; 4] {
    let [low, high] = (thin.column as u16).to_le_bytes();
    [low, high, thin.kind, thin.coverage]
}
