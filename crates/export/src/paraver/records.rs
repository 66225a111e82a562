//! The records: states, events and communications, in the order of time.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use anyhow::Result;
use loadline_trace::Trace;

use super::open::Open;
use super::types;
use crate::Progress;
use crate::timeline::{Event, Thread, Timeline, What};

/// The rows: threads of the trace with a kernel id, by name, then one for the virtual machine.
pub struct Rows {
    /// Names, row 1 first.
    pub names: Vec<String>,
    of: HashMap<i64, u32>,
}

impl Rows {
    pub fn of(threads: &[Thread]) -> Rows {
        let mut shown: Vec<&Thread> = threads.iter().filter(|t| !t.is_virtual()).collect();
        shown.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        let of = shown.iter().zip(1..).map(|(t, row)| (t.id, row)).collect();
        let mut names: Vec<String> = shown.iter().map(|t| t.name.clone()).collect();
        names.push("(virtual machine)".into());
        Rows { names, of }
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    pub fn row(&self, thread: i64) -> Option<u32> {
        self.of.get(&thread).copied()
    }

    fn machine(&self) -> u32 {
        self.names.len() as u32
    }
}

/// CPUs of the one node: those of the machine, and at least those that something ran on.
pub fn cpus(timeline: &Timeline, trace: &Trace) -> Result<u32> {
    let seen: i64 = timeline.db().query_row(
        "SELECT coalesce(max(cpu) + 1, 1)::BIGINT FROM states",
        [],
        |r| r.get(0),
    )?;
    Ok((seen as u32).max(trace.meta.machine.cpus))
}

/// What the records hold.
pub struct Seen {
    /// Types of events.
    pub types: BTreeSet<u32>,
    /// Events of virtual threads that have no row.
    pub left_out: u64,
}

/// Writes header and records.
pub fn write(
    out: &mut impl Write,
    trace: &Trace,
    timeline: &Timeline,
    rows: &Rows,
    cpus: u32,
    progress: Progress,
) -> Result<Seen> {
    let meta = &trace.meta;
    writeln!(
        out,
        "#Paraver ({}):{}_ns:1({cpus}):1:1({}:1)",
        date(timeline, meta.begin_unix_ns)?,
        meta.duration_ns(),
        rows.count()
    )?;
    let mut writer = Writer {
        out,
        rows,
        begin: meta.begin_ns,
        threads: HashMap::new(),
        open: Open::default(),
        carrier: HashMap::new(),
        seen: Seen {
            types: BTreeSet::new(),
            left_out: 0,
        },
    };
    timeline.each(progress, |event| writer.take(event))?;
    Ok(writer.seen)
}

/// `dd/mm/yyyy at hh:mm` (UTC), from ns since 1970.
fn date(timeline: &Timeline, unix_ns: i64) -> Result<String> {
    Ok(timeline.db().query_row(
        "SELECT strftime(make_timestamp(?::BIGINT), '%d/%m/%Y at %H:%M')",
        [unix_ns / 1000],
        |r| r.get(0),
    )?)
}

/// What is known of a row at a moment.
#[derive(Default, Clone, Copy)]
struct Row {
    /// CPU that it runs on, from 1; 0 while it does not run.
    cpu: i64,
    cause: i64,
}

struct Writer<'a, W> {
    out: &'a mut W,
    rows: &'a Rows,
    begin: i64,
    threads: HashMap<u32, Row>,
    open: Open,
    /// Where a virtual thread is mounted.
    carrier: HashMap<i64, i64>,
    seen: Seen,
}

impl<W: Write> Writer<'_, W> {
    fn take(&mut self, event: Event) -> Result<()> {
        let ts = event.ts - self.begin;
        let thread = event.thread;
        match event.what {
            What::State {
                state,
                cause,
                end,
                cpu,
                ..
            } => {
                let Some(row) = self.rows.row(thread) else {
                    return Ok(());
                };
                let cpu = cpu.map_or(0, |c| c + 1);
                let end = end - self.begin;
                writeln!(self.out, "1:{cpu}:1:1:{row}:{ts}:{end}:{state}")?;
                let known = self.threads.entry(row).or_default();
                let changed = known.cause != cause;
                *known = Row { cpu, cause };
                if changed {
                    self.events(ts, row, &[(types::CAUSE, cause)])?;
                }
            }
            What::Exit => {
                if let Some(row) = self.rows.row(thread) {
                    self.threads.insert(row, Row::default());
                    self.events(ts, row, &[(types::CAUSE, 0)])?;
                }
            }
            What::Wakes { woken } => {
                let (Some(from), Some(to)) = (self.rows.row(thread), self.rows.row(woken)) else {
                    return Ok(());
                };
                let cpu = |row| self.threads.get(&row).map_or(0, |r| r.cpu);
                let (from_cpu, to_cpu) = (cpu(from), cpu(to));
                writeln!(
                    self.out,
                    "3:{from_cpu}:1:1:{from}:{ts}:{ts}:{to_cpu}:1:1:{to}:{ts}:{ts}:0:0"
                )?;
            }
            What::SpanBegin { id, kind, name, .. } => {
                self.begin(ts, thread, types::SPAN + kind as u32, id, name, &[])?;
            }
            What::SpanEnd { id, kind, .. } => {
                self.end(ts, thread, types::SPAN + kind as u32, id, &[])?;
            }
            What::WaitBegin {
                id,
                kind,
                class,
                object,
                owner,
                ..
            } => {
                let owner = owner.and_then(|o| self.rows.row(o)).map_or(0, i64::from);
                let more = [
                    (types::WAIT_CLASS, class.unwrap_or(0)),
                    (types::WAIT_OBJECT, object.unwrap_or(0)),
                    (types::WAIT_OWNER, owner),
                ];
                self.begin(ts, thread, types::WAIT, id, kind, &more)?;
            }
            What::WaitEnd { id, .. } => {
                let more = [types::WAIT_CLASS, types::WAIT_OBJECT, types::WAIT_OWNER];
                self.end(ts, thread, types::WAIT, id, &more)?;
            }
            What::SyscallBegin {
                name,
                resource,
                size,
                ..
            } => {
                let more = [
                    (types::DESCRIPTOR, resource.map_or(0, |r| r + 1)),
                    (types::BYTES, size.unwrap_or(0)),
                ];
                self.begin(ts, thread, types::SYSCALL, 0, name, &more)?;
            }
            What::SyscallEnd { .. } => {
                let more = [types::DESCRIPTOR, types::BYTES];
                self.end(ts, thread, types::SYSCALL, 0, &more)?;
            }
            What::Mark { kind, value, .. } => {
                if let Some(row) = self.shown_on(thread) {
                    self.events(ts, row, &[(types::MARK + kind as u32, value)])?;
                } else {
                    self.seen.left_out += 1;
                }
            }
            What::VmBegin { kind, name, .. } => {
                let row = self.rows.machine();
                self.events(ts, row, &[(types::VM + kind as u32, name)])?;
            }
            What::VmEnd { kind } => {
                let row = self.rows.machine();
                self.events(ts, row, &[(types::VM + kind as u32, 0)])?;
            }
            What::Mount { virtual_thread } => {
                self.carrier.insert(virtual_thread, thread);
                if let Some(row) = self.rows.row(thread) {
                    // What it was in the middle of goes on here.
                    let mut events = vec![(types::VIRTUAL_THREAD, virtual_thread + 1)];
                    events.extend(self.open.of(virtual_thread));
                    self.events(ts, row, &events)?;
                }
            }
            What::Unmount { virtual_thread } => {
                self.carrier.remove(&virtual_thread);
                if let Some(row) = self.rows.row(thread) {
                    let mut events = vec![(types::VIRTUAL_THREAD, 0)];
                    events.extend(self.open.of(virtual_thread).iter().map(|(k, _)| (*k, 0)));
                    self.events(ts, row, &events)?;
                }
            }
            What::Counter { .. } | What::Sample { .. } => {}
        }
        Ok(())
    }

    /// The row that shows what a thread does now.
    fn shown_on(&self, thread: i64) -> Option<u32> {
        self.rows
            .row(thread)
            .or_else(|| self.rows.row(*self.carrier.get(&thread)?))
    }

    fn begin(
        &mut self,
        ts: i64,
        thread: i64,
        kind: u32,
        id: i64,
        value: i64,
        more: &[(u32, i64)],
    ) -> Result<()> {
        self.open.begin(thread, kind, id, value);
        let Some(row) = self.shown_on(thread) else {
            self.seen.left_out += 1;
            return Ok(());
        };
        let mut events = vec![(kind, value)];
        events.extend(more.iter().filter(|(_, v)| *v != 0));
        self.events(ts, row, &events)
    }

    fn end(&mut self, ts: i64, thread: i64, kind: u32, id: i64, more: &[u32]) -> Result<()> {
        let value = self.open.end(thread, kind, id);
        let Some(row) = self.shown_on(thread) else {
            return Ok(());
        };
        let mut events = vec![(kind, value)];
        events.extend(more.iter().map(|k| (*k, 0)));
        self.events(ts, row, &events)
    }

    fn events(&mut self, ts: i64, row: u32, events: &[(u32, i64)]) -> Result<()> {
        let cpu = self.threads.get(&row).map_or(0, |r| r.cpu);
        write!(self.out, "2:{cpu}:1:1:{row}:{ts}")?;
        for (kind, value) in events {
            write!(self.out, ":{kind}:{value}")?;
            self.seen.types.insert(*kind);
        }
        writeln!(self.out)?;
        Ok(())
    }
}
