//! From raw spools to tables.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use loadline_trace::TraceWriter;
use loadline_trace::meta::Meta;
use loadline_trace::spool::kernel::{self, Record};
use loadline_trace::spool::{RawDir, procfs::Line, vmlog};
use loadline_trace::tables;

use crate::bounded::{self, Grouped, List, Room, Sorter};
use crate::input;
use crate::intervals::Places;
use crate::model::Interval;
use crate::mounts::Mounts;
use crate::resources::Resources;
use crate::states::{Machine, Seen};
use crate::syscalls::Names;
use crate::threads::{self, Scope, Threads};
use crate::waits::Wait;
use crate::{breakdown, causes, counters, misc, redact, stacks, syscalls, vm, waits};
use explain::{Evidence, by_thread, is_poll, pollers};
use hear::{Strings, hear};

/// Turns the raw spools in `dir` into tables and `trace.json`.
///
/// Removes the spools when that is done, unless `keep_raw`. A session without an end (the recorder
/// was killed) ends with the last event of any source, and is marked `recovered`. `progress` is
/// told the share that is done and what comes next. Until the end the directory stays an
/// unfinished recording, so that a failure can be repaired and tried again.
pub fn build(dir: &Path, keep_raw: bool, progress: &mut dyn FnMut(f32, &str)) -> Result<Meta> {
    build_within(bounded::MOST, dir, keep_raw, progress)
}

/// The same with lists of at most so many bytes in memory: the rest lies beside the spools.
pub fn build_within(
    most: usize,
    dir: &Path,
    keep_raw: bool,
    progress: &mut dyn FnMut(f32, &str),
) -> Result<Meta> {
    progress(0.0, "reading");
    let input = input::open(dir)?;
    if keep_raw && input.session.redact {
        bail!(
            "it was recorded with --redact, and its spools are not redacted: leave --keep-raw out"
        );
    }
    let said = input.said();
    let end = input.end(&said);
    let begin = input.session.begin_ns;
    let limits = (begin, end);
    let room = &Room::new(RawDir::of(dir).path(), most);

    progress(0.1, "thread states");
    let seen = first_seen(&input.proc);
    let lossy = input.losses().contains_key("kernel_ring");
    let mut machine = Machine::new(begin, end, &seen, room).lossy(lossy);
    let mut kernel_events = 0u64;
    let mut has_syscalls = false;
    for r in input.records() {
        kernel_events += 1;
        has_syscalls |= r.kind == kernel::SYSCALL;
        machine.record(&r);
    }
    let (lives, states) = if kernel_events > 0 {
        machine.finish()
    } else {
        (Vec::new(), Grouped::new(room))
    };

    progress(0.35, "threads, waits and spans");
    let texts = said.strings();
    let scope = Scope::of(&input.session, end);
    let who = said.of_kinds(&threads::KINDS);
    let mut threads = Threads::new(scope, &lives, &input.proc, who, &|id| {
        texts.get(&id).cloned()
    });
    let strings: Strings = texts.into_iter().map(|(id, s)| (id, s.into())).collect();
    let mounts = Mounts::new(said.events(), &mut threads, begin, end);
    let heard = hear(&said, &threads, &mounts, limits, &strings, room);
    let (mut waits, pauses, mut spans) = (heard.waits, heard.pauses, heard.spans);
    let (mut samples, mut objects) = (heard.samples, heard.objects);
    let text = |id| strings.get(&id).cloned();
    let mut stacks = stacks::rows(
        &said.frames(),
        &mut waits,
        &mut samples,
        &mut objects,
        &text,
    );
    let safepoints = vm::safepoints(&input.vm_log, &pauses, begin, end);
    let main = threads.by_tid(input.session.target.pid as u32, begin);
    let mut cpu_changes = misc::cpu_changes(&input.proc, main, begin, end);
    cpu_changes.sort_by_key(|m| m.ts_ns);
    room.check()?;
    let mut meta = meta::meta(&input, end, kernel_events, heard.events);
    if !meta::has_probes(&input) {
        meta.not_recorded.extend(mounts.not_recorded());
    }
    meta.notes.extend(input.counted.notes.iter().cloned());
    let resources = Resources::new(&input.proc, begin, end);

    progress(0.5, "causes");
    let names = Names::new();
    let own = by_thread(&waits, threads.list.len(), room);
    let states = all_states(states, &threads, &waits, &own);
    let mut states = mounts.share_out(states, &threads, room);
    let who = |waker: u32, ts: i64| mounts.waker(waker, ts, &threads);
    waits::resolve_wakers(&mut waits, &states, &who);
    let pollers = pollers(&states, &spans, &threads, &names);
    explain::all(
        &mut states,
        &Evidence {
            threads: &threads,
            waits: &waits,
            spans: &spans,
            pauses: &pauses,
            pollers: &pollers,
            who: &who,
            names: &names,
            resources: &resources,
            text: &text,
            own: &own,
            room,
        },
    );
    drop(own);
    let states_of = |tid: u32, ts: i64| {
        let thread = threads.by_nstid(tid, ts);
        thread.and_then(|t| states.get(t as usize)).unwrap_or(&[])
    };
    let told = vm::told::rows(vmlog::entries(&input.vm_log), &states_of, limits);
    room.check()?;

    progress(0.6, "writing");
    let mut out = TraceWriter::new(dir)?;
    let redacted = input.session.redact;
    out.table(threads.rows(input.session.target.pid).map(|mut t| {
        if redacted {
            t.name = redact::name(&t.name);
        }
        t
    }))?;
    let lanes = lanes::Said {
        threads: &threads,
        who: &who,
        names: &names,
    };
    lanes::states(&mut out, limits, &states, &lanes)?;
    out.table(mounts.rows(&states))?;
    progress(0.8, "breakdown");
    let mut breakdown = out.begin::<tables::Breakdown>()?;
    let doings = breakdown::Doings {
        states: &states,
        pollers: &pollers,
        polls: &|i| is_poll(i, &names),
        places: &Places::new(states.len()),
        looked: Cell::default(),
    };
    breakdown::rows(&spans, &doings, room, |row| breakdown.push(row))?;
    out.end(breakdown)?;
    if meta.has("kernel") {
        spans.methods.take_cpu_times(&states);
    }
    drop(states);
    progress(0.9, "writing");
    let mut calls = Sorter::new(room, |(r, _): &(Record, u32)| syscalls::begin(r, limits));
    for r in has_syscalls.then(|| input.records()).into_iter().flatten() {
        if r.kind == kernel::SYSCALL
            && let Some(thread) = threads.by_tid(r.tid, r.ts)
        {
            calls.push((r, thread));
        }
    }
    let resource = |fd: i32, ts: i64| resources.at(fd, ts).map(|r| r.id);
    out.sorted(
        calls
            .sorted()
            .map(|(r, thread)| syscalls::row(&r, thread, limits, &names, &resource)),
    )?;
    out.sorted(misc::marks(heard.marks, cpu_changes, &text))?;
    let mut read = misc::counters(&input.proc, begin, end);
    read.extend(heard.counters);
    read.extend(counters::lanes_of(&input.counted, &threads, begin, end));
    out.table(read)?;
    out.table(counters::of_threads(&input.counted, &threads))?;
    out.table(
        resources
            .list
            .into_iter()
            .map(|r| if redacted { redact::resource(r) } else { r }),
    )?;
    lanes::spans(&mut out, limits, &spans, room, redacted)?;
    let calls = &spans.methods;
    let mut by_begin = Sorter::new(room, |(begin_ns, _): &(i64, u32)| *begin_ns);
    by_begin.extend(calls.begins().zip(0..));
    out.sorted(by_begin.sorted().zip(0..).map(|((_, id), at)| {
        spans.pace(at);
        calls.call(id as usize, spans.spans.len(), stacks.len())
    }))?;
    stacks.extend(calls.stacks(stacks.len(), &spans.names));
    drop(spans);
    out.sorted((0..waits.len()).map(|id| {
        waits.pace(id);
        waits[id].row(id, &text)
    }))?;
    out.sorted(vm::by_begin([pauses, safepoints, told]))?;
    out.table(stacks)?;
    out.table(samples)?;
    out.table(objects)?;
    room.check()?;
    let meta = out.finish(meta)?;
    if !keep_raw {
        let raw = RawDir::of(dir);
        std::fs::remove_dir_all(raw.path())
            .with_context(|| format!("cannot remove {}", raw.path().display()))?;
    }
    progress(1.0, "done");
    Ok(meta)
}

/// What `/proc` first said of each thread.
fn first_seen(proc: &[Line]) -> HashMap<u32, Seen> {
    let mut seen = HashMap::new();
    for line in proc {
        let Line::Threads { threads, .. } = line else {
            continue;
        };
        for t in threads {
            let fd = t.fd.and_then(|fd| i32::try_from(fd).ok());
            seen.entry(t.tid as u32).or_insert(Seen {
                ts: t.ts,
                state: t.state,
                syscall: t.syscall,
                fd,
            });
        }
    }
    seen
}

/// States of every thread, by its id: the kernel's, or what the waits say.
fn all_states(
    mut states: Grouped<Interval>,
    threads: &Threads,
    waits: &List<Wait>,
    own: &Grouped<u32>,
) -> Grouped<Interval> {
    for id in states.len()..threads.list.len() {
        let t = &threads.list[id];
        states.begin();
        for (at, i) in (causes::from_waits(t.begin, t.end, waits, &own[id]).iter()).enumerate() {
            waits.pace(at);
            states.push(*i);
        }
    }
    states
}

mod explain;
mod hear;
mod lanes;
mod meta;
#[cfg(test)]
mod tests;
