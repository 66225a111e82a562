//! Perfetto's protobuf: context switches and wake-ups as the kernel's tracer writes them, and tracks of slices.
//!
//! Per thread: its spans as slices; below them, where it was neither running nor runnable, why. Pieces of a span that
//! several threads worked on are joined by a flow. The virtual machine's work, system calls and counters have tracks of
//! their own. Virtual threads share the name of their track, so that Perfetto lays them out in as few lanes as fit.
//!
//! The clock is CLOCK_MONOTONIC; Perfetto's own is BOOTTIME. The snapshot says that they are equal, which moves nothing:
//! a trace does not record how long its machine was suspended before.

mod args;
mod bundle;
mod proto;
mod sched;
mod track;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use loadline_trace::Trace;
use loadline_trace::tables::names;

use self::args::Args;
use self::proto::Message;
use self::sched::{Machine, Sched};
use self::track::{Slice, Track};
use crate::scratch::Scratch;
use crate::timeline::{Domain, Event, OUTCOMES, SPAN_KINDS, Timeline, WAIT_KINDS, What};
use crate::{Progress, Written};

/// Events of the scheduler that make one bundle.
const BUNDLE: usize = 4096;
/// `BuiltinClock`.
const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;
const BOOTTIME: u64 = 6;
/// `TrackEvent.Type`.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
/// The process's track.
const PROCESS: u64 = 1;
/// The virtual machine's.
const MACHINE: u64 = 2;

/// Tracks that a thread, or a counter, may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Spans,
    Causes,
    Calls,
    Mounts,
    Counter,
}

fn uuid(of: Of, id: i64) -> u64 {
    (of as u64 + 1) << 48 | id as u64
}

pub fn write(trace: &Trace, out: &Path, progress: Progress) -> Result<Written> {
    let timeline = Timeline::open(trace, Scratch::open(trace, out)?)?;
    let file = File::create(out).with_context(|| out.display().to_string())?;
    let mut writer = Writer {
        out: BufWriter::with_capacity(1 << 20, file),
        timeline: &timeline,
        pid: i64::from(trace.meta.target.pid),
        interned: HashMap::new(),
        known: HashMap::new(),
        tracks: HashMap::new(),
        waits: HashMap::new(),
        cause: HashMap::new(),
        machine: Machine::default(),
        bundle: Vec::new(),
    };
    writer.head(trace)?;
    timeline.each(progress, |event| writer.take(event))?;
    writer.finish()?;
    Ok(Written {
        files: vec![out.into()],
        notes: Vec::new(),
    })
}

struct Writer<'a> {
    out: BufWriter<File>,
    timeline: &'a Timeline,
    pid: i64,
    /// Names of events that were written, and their ids.
    interned: HashMap<String, u64>,
    /// Tracks that were described.
    known: HashMap<u64, ()>,
    /// Slices that are open, per track.
    tracks: HashMap<u64, Track>,
    /// Class and owner of the waits that are open.
    waits: HashMap<i64, (Option<i64>, Option<i64>)>,
    /// Threads whose track of causes has an open slice.
    cause: HashMap<i64, ()>,
    machine: Machine,
    bundle: Vec<Sched>,
}

impl Writer<'_> {
    /// A packet; times of packets are those of the default clock that [`Writer::head`] sets.
    fn packet(&mut self, m: Message) -> Result<()> {
        let m = m.uint(10, 1).uint(13, 2);
        self.out.write_all(&Message::new().message(1, &m).0)?;
        Ok(())
    }

    fn head(&mut self, trace: &Trace) -> Result<()> {
        let meta = &trace.meta;
        let clock = |id, ns: i64| Message::new().uint(1, id).uint(2, ns as u64);
        let snapshot = Message::new()
            .message(1, &clock(BOOTTIME, meta.begin_ns))
            .message(1, &clock(MONOTONIC, meta.begin_ns))
            .message(1, &clock(REALTIME, meta.begin_unix_ns))
            .uint(2, MONOTONIC);
        let first = Message::new()
            .message(6, &snapshot)
            .uint(10, 1)
            .uint(13, 1) // what was interned before is forgotten
            .message(59, &Message::new().uint(58, MONOTONIC));
        self.out.write_all(&Message::new().message(1, &first).0)?;
        let process = Message::new()
            .int(1, self.pid)
            .text(6, &meta.target.name)
            .text(2, &meta.target.command.join(" "));
        self.describe(PROCESS, Message::new().message(3, &process))?;
        let machine = Message::new().uint(5, PROCESS).text(2, "virtual machine");
        self.describe(MACHINE, machine)?;
        let timeline = self.timeline;
        for thread in timeline.threads.iter().filter(|t| !t.is_virtual()) {
            self.spans_of(thread.id)?;
        }
        Ok(())
    }

    /// Describes a track, once.
    fn describe(&mut self, uuid: u64, descriptor: Message) -> Result<()> {
        if self.known.insert(uuid, ()).is_none() {
            let descriptor = descriptor.uint(1, uuid);
            self.packet(Message::new().message(60, &descriptor))?;
        }
        Ok(())
    }

    /// The track of a thread's spans.
    fn spans_of(&mut self, thread: i64) -> Result<u64> {
        let uuid = uuid(Of::Spans, thread);
        if self.known.contains_key(&uuid) {
            return Ok(uuid);
        }
        let timeline = self.timeline;
        let known = timeline.threads.get(thread as usize);
        let descriptor = match known.map(|t| (t, t.tid)) {
            Some((t, Some(tid))) => Message::new().message(
                4,
                &Message::new()
                    .int(1, self.pid)
                    .int(2, tid.into())
                    .text(5, &t.name),
            ),
            Some((t, None)) => {
                let name = if t.is_virtual() {
                    "virtual threads"
                } else {
                    &t.name
                };
                Message::new().uint(5, PROCESS).text(2, name)
            }
            None => Message::new().uint(5, PROCESS).text(2, "(unknown thread)"),
        };
        self.describe(uuid, descriptor)?;
        Ok(uuid)
    }

    /// Another track of a thread, below that of its spans.
    fn below(&mut self, of: Of, thread: i64, name: &str) -> Result<u64> {
        let parent = self.spans_of(thread)?;
        let uuid = uuid(of, thread);
        if !self.known.contains_key(&uuid) {
            self.describe(uuid, Message::new().uint(5, parent).text(2, name))?;
        }
        Ok(uuid)
    }

    fn event(&mut self, ts: i64, event: Message) -> Result<()> {
        self.packet(Message::new().uint(8, ts as u64).message(11, &event))
    }

    fn begin(
        &mut self,
        ts: i64,
        track: u64,
        kind: u64,
        category: &str,
        name: &str,
        more: Message,
    ) -> Result<()> {
        let next = self.interned.len() as u64 + 1;
        let (iid, new) = match self.interned.get(name) {
            Some(iid) => (*iid, false),
            None => {
                self.interned.insert(name.to_owned(), next);
                (next, true)
            }
        };
        let mut event = Message::new()
            .uint(9, kind)
            .uint(11, track)
            .uint(10, iid)
            .text(22, category);
        event.0.extend(more.0);
        let mut packet = Message::new().uint(8, ts as u64).message(11, &event);
        if new {
            let entry = Message::new().uint(1, iid).text(2, name);
            packet = packet.message(12, &Message::new().message(2, &entry));
        }
        self.packet(packet)
    }

    fn end(&mut self, ts: i64, track: u64) -> Result<()> {
        self.event(ts, Message::new().uint(9, SLICE_END).uint(11, track))
    }

    fn take(&mut self, event: Event) -> Result<()> {
        let Event { ts, thread, what } = event;
        let timeline = self.timeline;
        let bundle = &mut self.bundle;
        self.machine.advance(ts, &mut |s| bundle.push(s));
        if self.bundle.len() >= BUNDLE {
            self.bundle()?;
        }
        match what {
            What::State {
                state,
                cause,
                cpu,
                syscall,
                fd,
                wait,
                ..
            } => {
                let bundle = &mut self.bundle;
                self.machine
                    .state(thread, state, cpu, &mut |s| bundle.push(s));
                self.end_cause(ts, thread)?;
                let name = names::CAUSES.get((cause - 1) as usize);
                let name = name.copied().unwrap_or(names::UNKNOWN);
                if ![names::RUNNING, names::RUNNABLE].contains(&name) {
                    self.begin_cause(ts, thread, name, syscall, fd, wait)?;
                }
            }
            What::Exit => {
                self.machine.exit(thread);
                self.end_cause(ts, thread)?;
            }
            What::Wakes { woken } => self.machine.wakes(thread, woken),
            What::SpanBegin {
                id,
                kind,
                name,
                status,
                resumed,
                connection,
                shared,
                ..
            } => {
                let track = self.spans_of(thread)?;
                let args = Args::default()
                    .int("span", Some(id))
                    .int("status", status)
                    .bool("resumed", resumed)
                    .int("connection", connection);
                let flow = if shared {
                    args.0.fixed64(47, id as u64 + 1)
                } else {
                    args.0
                };
                self.open(ts, track, Slice { id, kind, name }, flow)?;
            }
            What::SpanEnd { id, .. } => {
                let track = self.spans_of(thread)?;
                self.close(ts, track, id)?;
            }
            What::WaitBegin {
                id, class, owner, ..
            } => {
                self.waits.insert(id, (class, owner));
            }
            What::WaitEnd { id, kind, outcome } => {
                let class = self.waits.remove(&id).and_then(|w| w.0);
                let class = class.map_or("", |c| timeline.name(Domain::Class, c));
                let pick = |list: &[&'static str], code: i64| {
                    list.get((code - 1) as usize).copied().unwrap_or("")
                };
                let track = self.spans_of(thread)?;
                let args = Args::default()
                    .text("class", class)
                    .text("outcome", pick(&OUTCOMES, outcome));
                let name = format!("{} ended", pick(&WAIT_KINDS, kind));
                self.begin(ts, track, INSTANT, "wait", &name, args.0)?;
            }
            What::SyscallBegin { name, fd, size, .. } if timeline.all_syscalls => {
                let track = self.below(Of::Calls, thread, "system calls")?;
                let name = timeline.name(Domain::Syscall, name);
                let args = Args::default().int("fd", fd).int("size", size);
                self.begin(ts, track, SLICE_BEGIN, "syscall", name, args.0)?;
            }
            What::SyscallEnd { .. } if timeline.all_syscalls => {
                let track = self.below(Of::Calls, thread, "system calls")?;
                self.end(ts, track)?;
            }
            // Only those that blocked: the slices of causes have them.
            What::SyscallBegin { .. } | What::SyscallEnd { .. } | What::Sample { .. } => {}
            What::Mark { kind, value, text } => {
                let track = self.spans_of(thread)?;
                let args = Args::default()
                    .int("value", Some(value))
                    .text("text", text.as_deref().unwrap_or(""));
                let name = timeline.name(Domain::Mark, kind);
                self.begin(ts, track, INSTANT, "mark", name, args.0)?;
            }
            What::VmBegin {
                kind, name, cause, ..
            } => {
                let category = timeline.name(Domain::VmKind, kind);
                let name = timeline.name(Domain::Vm, name);
                let args = Args::default().text("cause", &cause);
                self.begin(ts, MACHINE, SLICE_BEGIN, category, name, args.0)?;
            }
            What::VmEnd { .. } => self.end(ts, MACHINE)?,
            What::Mount { virtual_thread } => {
                let track = self.below(Of::Mounts, thread, "mounted")?;
                let name = timeline.threads.get(virtual_thread as usize);
                let name = name.map(|t| t.name.as_str()).filter(|n| !n.is_empty());
                let args = Args::default().int("thread", Some(virtual_thread));
                let name = name.unwrap_or("virtual thread");
                self.begin(ts, track, SLICE_BEGIN, "mount", name, args.0)?;
            }
            What::Unmount { .. } => {
                let track = self.below(Of::Mounts, thread, "mounted")?;
                self.end(ts, track)?;
            }
            What::Counter { name, value } => {
                let track = uuid(Of::Counter, name);
                let name = timeline.name(Domain::Counter, name);
                let descriptor = Message::new()
                    .uint(5, PROCESS)
                    .text(2, name)
                    .message(8, &Message::new());
                self.describe(track, descriptor)?;
                let event = Message::new()
                    .uint(9, COUNTER)
                    .uint(11, track)
                    .double(44, value);
                self.event(ts, event)?;
            }
        }
        Ok(())
    }

    /// Opens a slice of spans.
    fn open(&mut self, ts: i64, track: u64, slice: Slice, more: Message) -> Result<()> {
        self.tracks.entry(track).or_default().begin(slice);
        let kind = SPAN_KINDS.get((slice.kind - 1) as usize);
        let kind = kind.copied().unwrap_or("span");
        let name = self.timeline.name(Domain::Span(slice.kind), slice.name);
        let name = match kind {
            "connection" | "request" | "service" | "sql" | "user" | "method" => name.to_owned(),
            kind => format!("{kind} {name}").trim_end().to_owned(),
        };
        self.begin(ts, track, SLICE_BEGIN, kind, &name, more)
    }

    fn close(&mut self, ts: i64, track: u64, id: i64) -> Result<()> {
        let Some(open) = self.tracks.get_mut(&track) else {
            return Ok(());
        };
        let (closed, again) = open.end(id);
        // What goes on is opened again by `open`, which notes it.
        for slice in &again {
            open.end(slice.id);
        }
        if open.is_empty() {
            self.tracks.remove(&track);
        }
        for _ in 0..closed {
            self.end(ts, track)?;
        }
        for slice in again {
            let args = Args::default()
                .int("span", Some(slice.id))
                .bool("continued", Some(true));
            self.open(ts, track, slice, args.0)?;
        }
        Ok(())
    }

    fn begin_cause(
        &mut self,
        ts: i64,
        thread: i64,
        name: &str,
        syscall: Option<i64>,
        fd: Option<i64>,
        wait: Option<i64>,
    ) -> Result<()> {
        let timeline = self.timeline;
        let (class, owner) = wait
            .and_then(|w| self.waits.get(&w).copied())
            .unwrap_or_default();
        let owner = owner.and_then(|o| timeline.threads.get(o as usize));
        let args = Args::default()
            .text(
                "syscall",
                syscall.map_or("", |s| timeline.name(Domain::Syscall, s)),
            )
            .int("fd", fd)
            .text(
                "class",
                class.map_or("", |c| timeline.name(Domain::Class, c)),
            )
            .text("owner", owner.map_or("", |o| o.name.as_str()))
            .int("wait", wait);
        let track = self.below(Of::Causes, thread, "waits for")?;
        self.cause.insert(thread, ());
        self.begin(ts, track, SLICE_BEGIN, "cause", name, args.0)
    }

    fn end_cause(&mut self, ts: i64, thread: i64) -> Result<()> {
        if self.cause.remove(&thread).is_some() {
            self.end(ts, uuid(Of::Causes, thread))?;
        }
        Ok(())
    }

    /// Writes what the scheduler did so far.
    fn bundle(&mut self) -> Result<()> {
        let events = std::mem::take(&mut self.bundle);
        for packet in bundle::packets(&self.timeline.threads, events) {
            self.packet(packet)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let bundle = &mut self.bundle;
        self.machine.advance(i64::MAX, &mut |s| bundle.push(s));
        self.bundle()?;
        self.out.flush()?;
        Ok(())
    }
}
