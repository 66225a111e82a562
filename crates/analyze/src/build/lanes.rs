//! The tables that lanes are drawn of, states and spans, and the sums of both that an overview is drawn of.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use anyhow::Result;
use loadline_trace::{TraceWriter, tables};

use crate::bounded::{Grouped, Room, Sorter};
use crate::model::{BY_THREAD_ID, Interval, NONE, Woken};
use crate::overview::{self, Depths, Drawn, InPieces, Sums};
use crate::redact;
use crate::spans::{Output, Part};
use crate::syscalls::Names;
use crate::threads::Threads;

/// What a state's row says besides the state.
pub struct Said<'a> {
    pub threads: &'a Threads,
    /// The thread of a kernel's id at a time.
    pub who: &'a dyn Fn(u32, i64) -> Option<u32>,
    pub names: &'a Names,
}

/// Writes the states of all threads.
pub fn states(
    out: &mut TraceWriter,
    limits: (i64, i64),
    states: &Grouped<Interval>,
    said: &Said,
) -> Result<()> {
    let mut rows = out.begin::<tables::State>()?;
    let mut sums = out.begin::<tables::StateSum>()?;
    let mut summed = Sums::new(limits);
    let mut add = |row| sums.push(overview::state_row(row));
    for (thread, i) in by_begin(states) {
        let key = overview::state_key(thread as u32, i);
        summed.add(key, (i.begin, i.end), 0, &mut add)?;
        rows.push(said.row(thread, i))?;
    }
    summed.finish(&mut add)?;
    out.end(rows)?;
    Ok(out.end(sums)?)
}

/// The states of all threads by begin: those of each follow each other already.
fn by_begin(states: &Grouped<Interval>) -> impl Iterator<Item = (usize, &Interval)> {
    let next = |thread: usize, at: usize| {
        let begin = states.get(thread)?.get(at)?.begin;
        Some(Reverse((begin, thread, at)))
    };
    let mut heads: BinaryHeap<_> = (0..states.len()).filter_map(|t| next(t, 0)).collect();
    let mut taken = 0;
    std::iter::from_fn(move || {
        states.pace(taken);
        taken += 1;
        let mut head = heads.peek_mut()?;
        let Reverse((_, thread, at)) = *head;
        match next(thread, at + 1) {
            Some(following) => *head = following,
            None => {
                PeekMut::pop(head);
            }
        }
        Some((thread, &states[thread][at]))
    })
}

impl Said<'_> {
    fn row(&self, thread: usize, i: &Interval) -> tables::State {
        tables::State {
            thread: thread as i64,
            begin_ns: i.begin,
            end_ns: i.end,
            state: i.state.name(),
            cause: i.cause.name(),
            cpu: (i.cpu >= 0).then_some(i32::from(i.cpu)),
            waker: (self.who)(i.waker, i.end).map(i64::from),
            waker_tid: match i.waker {
                NONE => None,
                w if w & BY_THREAD_ID != 0 => self.threads.list[(w & !BY_THREAD_ID) as usize]
                    .tid
                    .map(|t| t as i32),
                tid => Some(tid as i32),
            },
            syscall: (i.syscall > 0).then(|| self.names.of(u32::from(i.syscall) - 1)),
            fd: (i.fd >= 0).then_some(i.fd),
            wait: (i.wait != NONE).then_some(i64::from(i.wait)),
            interrupt: match i.woken {
                Woken::Unknown => None,
                Woken::Thread => Some(false),
                Woken::Interrupt => Some(true),
            },
        }
    }
}

/// A span, or a part of one, on one thread.
#[derive(Debug, Clone, Copy)]
struct Piece {
    thread: u32,
    begin: i64,
    end: i64,
    drawn: Drawn,
    span: i64,
}

/// Writes spans and segments, both by begin.
pub fn spans(
    out: &mut TraceWriter,
    limits: (i64, i64),
    spans: &Output,
    room: &Room,
    redacted: bool,
) -> Result<()> {
    let row = |id: usize| match spans.row(id) {
        row if redacted => redact::span(row),
        row => row,
    };
    let mut rows = out.begin::<tables::Span>()?;
    let mut segments = out.begin::<tables::Segment>()?;
    let mut sums = out.begin::<tables::SpanSum>()?;
    let mut lanes = Lanes {
        sums: Sums::new(limits),
        depths: Depths::default(),
        tied: Vec::new(),
    };
    let mut add = |sum: overview::Row<_>| {
        let name = sum.long.map(|id| row(id as usize).name);
        sums.push(overview::span_row(sum, name))
    };
    let in_pieces = InPieces::of(paced(spans));
    let mut whole = Sorter::new(room, |(begin_ns, _): &(i64, u32)| *begin_ns);
    whole.extend(spans.begins());
    let mut whole = whole.sorted().peekable();
    let mut parts = Sorter::new(room, |p: &Part| p.begin_ns);
    parts.extend(paced(spans).copied());
    let mut parts = parts.sorted().peekable();
    let mut at = 0;
    loop {
        let first = match (whole.peek(), parts.peek()) {
            (None, None) => break,
            (Some(w), Some(p)) => p.begin_ns <= w.0,
            (None, Some(_)) => true,
            (Some(_), None) => false,
        };
        if first {
            let Some(p) = parts.next() else { break };
            let drawn = Drawn::of(&spans.spans[p.span as usize]);
            let span = i64::from(p.span);
            lanes.piece(p.thread, (p.begin_ns, p.end_ns), drawn, span, &mut add)?;
            segments.push(p.row())?;
        } else {
            let Some((_, id)) = whole.next() else { break };
            spans.pace(at);
            at += 1;
            let span = row(id as usize);
            // As a whole only what began and ended on one thread: connections are drawn by their visits.
            if span.thread == span.end_thread
                && span.kind != "connection"
                && !in_pieces.has(id as usize)
            {
                let drawn = Drawn::of_row(&span);
                let time = (span.begin_ns, span.end_ns);
                lanes.piece(span.thread as u32, time, drawn, span.id, &mut add)?;
            }
            rows.push(span)?;
        }
    }
    lanes.tie(&mut add)?;
    lanes.sums.finish(&mut add)?;
    out.end(rows)?;
    out.end(segments)?;
    Ok(out.end(sums)?)
}

fn paced(spans: &Output) -> impl Iterator<Item = &Part> {
    spans.segments.iter().enumerate().map(|(at, part)| {
        spans.segments.pace(at);
        part
    })
}

/// Pieces on their way into sums.
struct Lanes {
    sums: Sums<overview::SpanKey>,
    depths: Depths,
    /// Pieces with one begin: the longest is the outermost.
    tied: Vec<Piece>,
}

impl Lanes {
    fn piece<E>(
        &mut self,
        thread: u32,
        (begin, end): (i64, i64),
        drawn: Drawn,
        span: i64,
        add: &mut impl FnMut(overview::Row<overview::SpanKey>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.tied.first().is_some_and(|p| p.begin != begin) {
            self.tie(add)?;
        }
        self.tied.push(Piece {
            thread,
            begin,
            end,
            drawn,
            span,
        });
        Ok(())
    }

    fn tie<E>(
        &mut self,
        add: &mut impl FnMut(overview::Row<overview::SpanKey>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tied.sort_by_key(|p| Reverse(p.end));
        for p in self.tied.drain(..) {
            if let Some(depth) = self.depths.of(p.thread, p.begin, p.end) {
                let key = (p.thread, depth, p.drawn);
                self.sums.add(key, (p.begin, p.end), p.span, add)?;
            }
        }
        Ok(())
    }
}
