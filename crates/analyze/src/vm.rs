//! Pauses of the garbage collector, other safepoints, and on request what else the virtual machine does ([`told`]).
//!
//! Start and end come from the collecting thread as the pause happens; what the collector was
//! called, why it ran and what it freed come a little later from another thread. They are given to
//! the latest pause that had ended by then and has none yet. Safepoints come from the JVM's log; those in
//! which a pause lies are that pause.

use std::sync::Arc;

use loadline_trace::spool::agent::{Event, kind as ev};
use loadline_trace::spool::vmlog::{self, Entry};
use loadline_trace::tables::{Counter, Vm};

pub mod told;

/// Longest time between the end of a pause and its description.
const DESCRIBED_WITHIN_NS: i64 = 5_000_000_000;
/// The agent counts heap in units of 4 KiB.
const HEAP_UNIT: i64 = 4096;

/// The pauses, as the agent's events tell of them.
pub struct Pauses<'a> {
    begin: i64,
    end: i64,
    text: &'a dyn Fn(u32) -> Option<Arc<str>>,
    pauses: Vec<Vm>,
    described: Vec<bool>,
    heap: Vec<Counter>,
    open: Option<i64>,
    seen_any: bool,
}

impl<'a> Pauses<'a> {
    /// Of a recording from `begin` to `end`.
    pub fn new(begin: i64, end: i64, text: &'a dyn Fn(u32) -> Option<Arc<str>>) -> Pauses<'a> {
        Pauses {
            begin,
            end,
            text,
            pauses: Vec::new(),
            described: Vec::new(),
            heap: Vec::new(),
            open: None,
            seen_any: false,
        }
    }

    /// Takes the next event, by time; those that are not the collector's are passed over.
    pub fn event(&mut self, e: &Event) {
        let ts = e.ts.clamp(self.begin, self.end);
        match e.kind {
            ev::GC_START => {
                self.open = Some(ts);
                self.seen_any = true;
            }
            ev::GC_END => {
                // The first end without a start: a pause that was under way at the begin.
                let under_way = (!self.seen_any).then_some(self.begin);
                if let Some(from) = self.open.take().or(under_way) {
                    self.pauses.push(pause(from, ts));
                    self.described.push(false);
                }
                self.seen_any = true;
            }
            ev::GC_INFO => {
                let target = (0..self.pauses.len())
                    .rev()
                    .take_while(|&i| ts - self.pauses[i].end_ns <= DESCRIBED_WITHIN_NS)
                    .find(|&i| !self.described[i]);
                if let Some(i) = target {
                    self.described[i] = true;
                    describe(&mut self.pauses[i], e, self.text);
                }
            }
            ev::GC_GENERATIONS => self.heap.extend(generations(ts, e)),
            _ => {}
        }
    }

    /// All of them, by begin, cut to the recording, and what the heap's generations held after them.
    pub fn finish(mut self) -> (Vec<Vm>, Vec<Counter>) {
        if let Some(from) = self.open {
            self.pauses.push(pause(from, self.end));
        }
        // One that was over before the begin, or began after the end, has been cut to nothing.
        self.pauses.retain(|p| p.end_ns > p.begin_ns);
        (self.pauses, self.heap)
    }
}

/// In scope `heap`, at this time.
fn generations(ts_ns: i64, e: &Event) -> [Counter; 3] {
    [
        ("survivors_bytes", e.a >> 32),
        ("old_bytes", e.a & 0xffff_ffff),
        ("max_bytes", e.b),
    ]
    .map(|(name, units)| Counter {
        ts_ns,
        scope: "heap".into(),
        name: name.into(),
        value: units as f64 * HEAP_UNIT as f64,
    })
}

/// Safepoints without a pause of a collection in them, by begin, cut to the recording. `pauses` by begin.
pub fn safepoints(log: &str, pauses: &[Vm], begin: i64, end: i64) -> Vec<Vm> {
    let safepoints = vmlog::entries(log).filter_map(|e| match e {
        Entry::Safepoint(s) => Some(s),
        _ => None,
    });
    let mut found: Vec<Vm> = safepoints
        .filter(|s| s.begin < end && s.end > begin)
        .filter(|s| {
            let after = pauses.partition_point(|p| p.end_ns <= s.begin);
            pauses.get(after).is_none_or(|p| p.begin_ns >= s.end)
        })
        .map(|s| Vm {
            kind: "safepoint",
            name: s.operation.into(),
            ..pause(s.begin.max(begin), s.end.min(end))
        })
        .collect();
    found.sort_by_key(|s| s.begin_ns);
    found
}

/// All of them, by begin.
pub fn by_begin(all: [Vec<Vm>; 3]) -> impl Iterator<Item = Vm> {
    let mut rows = all.concat();
    rows.sort_by_key(|r| r.begin_ns);
    rows.into_iter()
}

fn pause(from: i64, to: i64) -> Vm {
    Vm {
        kind: "gc",
        name: "".into(),
        cause: "".into(),
        begin_ns: from,
        end_ns: to.max(from),
        heap_before: None,
        heap_after: None,
    }
}

fn describe(pause: &mut Vm, e: &Event, text: &dyn Fn(u32) -> Option<Arc<str>>) {
    if let Some(name) = text(e.c) {
        pause.name = name;
    }
    if let Some(cause) = u32::try_from(e.a).ok().and_then(text) {
        pause.cause = cause;
    }
    pause.heap_before = Some((e.b >> 32) as i64 * HEAP_UNIT);
    pause.heap_after = Some((e.b & 0xffff_ffff) as i64 * HEAP_UNIT);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ts: i64, kind: u32, a: u64, b: u64, c: u32) -> Event {
        Event {
            ts,
            kind,
            a,
            b,
            c,
            tid: 1,
            virtual_id: 0,
        }
    }

    fn text(id: u32) -> Option<Arc<str>> {
        (id != 0).then(|| format!("s{id}").into())
    }

    fn pauses(events: &[Event], begin: i64, end: i64) -> Vec<Vm> {
        let mut pauses = Pauses::new(begin, end, &text);
        events.iter().for_each(|e| pauses.event(e));
        pauses.finish().0
    }

    #[test]
    fn what_the_generations_held_are_counters() {
        let mut heard = Pauses::new(0, 100, &text);
        heard.event(&event(30, ev::GC_GENERATIONS, 3 << 32 | 5, 100, 0));
        let (_, heap) = heard.finish();
        let told: Vec<_> = heap
            .iter()
            .map(|c| (c.ts_ns, &*c.scope, &*c.name, c.value))
            .collect();
        assert_eq!(
            told,
            [
                (30, "heap", "survivors_bytes", 12_288.0),
                (30, "heap", "old_bytes", 20_480.0),
                (30, "heap", "max_bytes", 409_600.0)
            ]
        );
    }

    #[test]
    fn a_pause_is_described_by_what_comes_after_it() {
        let heap = 3u64 << 32 | 2;
        let vm = pauses(
            &[
                event(10, ev::GC_START, 0, 0, 0),
                event(20, ev::GC_END, 0, 0, 0),
                event(30, ev::GC_INFO, 7, heap, 8),
                event(40, ev::GC_START, 0, 0, 0),
            ],
            0,
            100,
        );
        assert_eq!((vm[0].begin_ns, vm[0].end_ns), (10, 20));
        assert_eq!((&*vm[0].name, &*vm[0].cause), ("s8", "s7"));
        assert_eq!(
            (vm[0].heap_before, vm[0].heap_after),
            (Some(12288), Some(8192))
        );
        assert_eq!((vm[1].begin_ns, vm[1].end_ns, &*vm[1].name), (40, 100, ""));
    }

    #[test]
    fn a_pause_that_was_over_before_the_recording_is_none_and_its_description_nobodys() {
        let vm = pauses(
            &[
                event(5, ev::GC_START, 0, 0, 0),
                event(8, ev::GC_END, 0, 0, 0),
                event(30, ev::GC_INFO, 7, 0, 8),
                event(40, ev::GC_START, 0, 0, 0),
                event(50, ev::GC_END, 0, 0, 0),
            ],
            10,
            100,
        );
        let shape: Vec<_> = vm
            .iter()
            .map(|p| (p.begin_ns, p.end_ns, &*p.name))
            .collect();
        assert_eq!(shape, [(40, 50, "")]);
    }

    #[test]
    fn a_safepoint_is_a_row_unless_a_pause_lies_in_it() {
        let line = |end: i64, total: i64, what: &str| {
            format!("[{end}ns] Safepoint \"{what}\", Time since last: 1 ns, Total: {total} ns\n")
        };
        let log = line(30, 25, "G1CollectForAllocation")
            + &line(60, 10, "ICBufferFull")
            + &line(120, 30, "HandshakeAll")
            + &line(200, 10, "Late");
        let pauses = [pause(10, 20), pause(70, 80)];
        let found = safepoints(&log, &pauses, 0, 100);
        let shape: Vec<_> = found
            .iter()
            .map(|s| (s.kind, &*s.name, s.begin_ns, s.end_ns))
            .collect();
        assert_eq!(
            shape,
            [
                ("safepoint", "ICBufferFull", 50, 60),
                ("safepoint", "HandshakeAll", 90, 100)
            ]
        );
        let rows: Vec<i64> = by_begin([pauses.to_vec(), found, Vec::new()])
            .map(|r| r.begin_ns)
            .collect();
        assert_eq!(rows, [10, 50, 70, 90]);
    }

    #[test]
    fn a_pause_under_way_at_the_begin_is_cut_to_the_recording() {
        let vm = pauses(
            &[
                event(10, ev::GC_END, 0, 0, 0),
                event(20, ev::GC_END, 0, 0, 0),
            ],
            5,
            100,
        );
        assert_eq!(
            vm.iter()
                .map(|v| (v.begin_ns, v.end_ns))
                .collect::<Vec<_>>(),
            [(5, 10)]
        );
    }
}
