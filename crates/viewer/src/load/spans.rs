//! Spans, and their pieces on the lanes of threads, in batches of columns: a large trace has tens of millions.

use anyhow::{Result, bail};
use loadline_trace::duckdb::Connection;
use loadline_trace::duckdb::arrow::array::{Array, AsArray, RecordBatch, StringArray};
use loadline_trace::duckdb::arrow::datatypes::{Int32Type, Int64Type};
use rustc_hash::FxHashMap;

use crate::model::{ById, Span};
use crate::spans::{self, KINDS, Piece, Row, kind_index};

/// What was read.
#[derive(Default)]
pub struct Spans {
    /// By begin.
    pub list: Vec<Span>,
    pub index: ById,
    /// Their names.
    pub names: Vec<String>,
    /// Of each thread, by its index, the rows of its pieces.
    pub rows: Vec<Vec<Row>>,
    /// Of each thread, the requests that ended on it.
    pub requests: Vec<u32>,
}

/// Spans with the threads that began and ended them.
#[derive(Default)]
struct Reading {
    spans: Vec<Span>,
    owners: Vec<Option<(u32, u32)>>,
    names: Names,
}

#[derive(Default)]
struct Names {
    ids: FxHashMap<String, u32>,
    list: Vec<String>,
}

impl Names {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.list.len() as u32;
        self.ids.insert(name.into(), id);
        self.list.push(name.into());
        id
    }
}

/// Reads all of them; `thread_index` finds a thread's place by its id, `begin` is the recording's.
pub fn read(db: &Connection, begin: i64, thread_index: &ById, threads: usize) -> Result<Spans> {
    let sql = format!(
        "SELECT id, parent, kind, name, thread, end_thread, begin_ns - {begin}, end_ns - {begin}, status, resumed, peer_port, peer, complete
         FROM spans"
    );
    let mut reading = Reading::default();
    for batch in db.prepare(&sql)?.query_arrow([])? {
        reading.take(&batch, thread_index)?;
    }
    let Reading {
        spans: mut list,
        owners,
        names,
    } = reading;
    let index: ById = (0..).zip(&list).map(|(i, s)| (s.id, i)).collect();

    let mut pieces: Vec<Vec<Piece>> = vec![Vec::new(); threads];
    let mut segmented = vec![false; list.len()];
    // Of requests that were handed over: the longest piece, and whose it is.
    let mut longest: FxHashMap<u32, (i64, u32)> = FxHashMap::default();
    let sql = format!("SELECT span, thread, begin_ns - {begin}, end_ns - {begin} FROM segments");
    for batch in db.prepare(&sql)?.query_arrow([])? {
        let long = |i: usize| batch.column(i).as_primitive::<Int64Type>();
        let (span, thread, from, to) = (long(0), long(1), long(2), long(3));
        for i in 0..batch.num_rows() {
            let places = (
                index.get(&span.value(i)),
                thread_index.get(&thread.value(i)),
            );
            if let (Some(&span), Some(&thread)) = places {
                segmented[span as usize] = true;
                if KINDS[list[span as usize].kind as usize] == "request" {
                    let piece = (to.value(i) - from.value(i), thread);
                    let most = longest.entry(span).or_insert(piece);
                    *most = piece.max(*most);
                }
                pieces[thread as usize].push(Piece {
                    begin: from.value(i),
                    end: to.value(i),
                    span,
                    kind: list[span as usize].kind,
                });
            }
        }
    }
    let mut requests = vec![0; threads];
    for (i, owners) in owners.into_iter().enumerate() {
        let Some((from, to)) = owners else {
            continue;
        };
        let span = &mut list[i];
        let most = longest.get(&(i as u32));
        span.worker = most.map_or(to, |&(_, thread)| thread) as usize;
        if KINDS[span.kind as usize] == "request" {
            requests[to as usize] += 1;
        }
        // A span that changed threads without segments has no place on any lane.
        let connection = KINDS[span.kind as usize] == "connection";
        if !segmented[i] && !connection && from == to {
            pieces[from as usize].push(Piece {
                begin: span.begin,
                end: span.end,
                span: i as u32,
                kind: span.kind,
            });
        }
    }
    Ok(Spans {
        list,
        index,
        names: names.list,
        rows: pieces.into_iter().map(spans::rows).collect(),
        requests,
    })
}

impl Reading {
    fn take(&mut self, batch: &RecordBatch, thread_index: &ById) -> Result<()> {
        let long = |i: usize| batch.column(i).as_primitive::<Int64Type>();
        let int = |i: usize| batch.column(i).as_primitive::<Int32Type>();
        let text = |i: usize| -> &StringArray { batch.column(i).as_string() };
        let (id, parent, kind, name) = (long(0), long(1), text(2), text(3));
        let (thread, end_thread, begin, end) = (long(4), long(5), long(6), long(7));
        let (status, resumed, port, peer) =
            (int(8), batch.column(9).as_boolean(), int(10), text(11));
        let complete = batch.column(12).as_boolean();
        for i in 0..batch.num_rows() {
            let (from, to) = (begin.value(i), end.value(i));
            let id = id.value(i);
            if self.spans.last().is_some_and(|s| s.begin > from) {
                bail!("spans are not in the order of time: span {id} comes late");
            }
            let place = |id| thread_index.get(&id).copied();
            let owners = place(thread.value(i)).zip(place(end_thread.value(i)));
            let port = port.is_valid(i).then(|| port.value(i));
            let peer = peer.is_valid(i).then(|| peer.value(i));
            self.owners.push(owners);
            self.spans.push(Span {
                id,
                parent: parent.is_valid(i).then(|| parent.value(i)),
                kind: kind_index(kind.value(i), resumed.is_valid(i).then(|| resumed.value(i))),
                name: self.names.id(name.value(i)),
                worker: 0,
                begin: from,
                end: to,
                status: status.is_valid(i).then(|| status.value(i)),
                peer: peer.map(|p| port.map_or(p.into(), |port| format!("{p}:{port}"))),
                complete: complete.value(i),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_of_a_request_that_was_handed_over_is_who_had_it_longest() {
        let db = Connection::open_in_memory().expect("a database");
        db.execute_batch(
            "CREATE TABLE spans (id BIGINT, parent BIGINT, kind VARCHAR, name VARCHAR, thread BIGINT, end_thread BIGINT, begin_ns BIGINT,
                 end_ns BIGINT, status INTEGER, resumed BOOLEAN, peer_port INTEGER, peer VARCHAR, complete BOOLEAN);
             INSERT INTO spans VALUES (1, NULL, 'request', 'GET /a', 11, 11, 100, 300, 200, NULL, NULL, NULL, true),
                 (2, NULL, 'request', 'GET /b', 11, 11, 400, 500, 200, NULL, NULL, NULL, true);
             CREATE TABLE segments (span BIGINT, thread BIGINT, begin_ns BIGINT, end_ns BIGINT);
             INSERT INTO segments VALUES (1, 11, 100, 120), (1, 12, 120, 280), (1, 11, 290, 300)",
        )
        .expect("tables");
        let index: ById = [(11, 0), (12, 1)].into_iter().collect();
        let read = read(&db, 0, &index, 2).expect("spans");
        let workers: Vec<usize> = read.list.iter().map(|s| s.worker).collect();
        assert_eq!(workers, [1, 0]);
        assert_eq!(read.requests, [2, 0], "both ended on the loop");
    }
}
