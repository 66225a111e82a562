//! From raw spools to tables.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use loadline_trace::TraceWriter;
use loadline_trace::meta::Meta;
use loadline_trace::spool::{RawDir, kernel, procfs::Line};
use loadline_trace::tables::{self, Wait};

use crate::input;
use crate::intervals::Places;
use crate::model::{BY_THREAD_ID, Interval, NONE, Woken};
use crate::mounts::Mounts;
use crate::resources::Resources;
use crate::spans::{self, Kind, Span};
use crate::states::{Life, Machine, Seen};
use crate::syscalls::{Class, Names};
use crate::threads::{Scope, Threads};
use crate::{breakdown, causes, counters, intervals, misc, redact, stacks, syscalls, vm, waits};
use hear::{Strings, hear};

/// Turns the raw spools in `dir` into tables and `trace.json`.
///
/// Removes the spools when that is done, unless `keep_raw`. A session without an end (the recorder
/// was killed) ends with the last event of any source, and is marked `recovered`. `progress` is
/// told the share that is done and what comes next. Until the end the directory stays an
/// unfinished recording, so that a failure can be repaired and tried again.
pub fn build(dir: &Path, keep_raw: bool, progress: &mut dyn FnMut(f32, &str)) -> Result<Meta> {
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

    progress(0.1, "thread states");
    let seen = first_seen(&input.proc);
    let mut machine = Machine::new(begin, end, &seen);
    let mut kernel_events = 0u64;
    let mut has_syscalls = false;
    for r in input.records() {
        kernel_events += 1;
        has_syscalls |= r.kind == kernel::SYSCALL;
        machine.record(&r);
    }
    let lives = if kernel_events > 0 {
        machine.finish()
    } else {
        Vec::new()
    };

    progress(0.35, "threads, waits and spans");
    let texts = said.strings();
    let scope = Scope::of(&input.session, end);
    let mut agent_events = 0u64;
    let counted = said.events().inspect(|_| agent_events += 1);
    let mut threads = Threads::new(scope, &lives, &input.proc, counted, &|id| {
        texts.get(&id).cloned()
    });
    let strings: Strings = texts.into_iter().map(|(id, s)| (id, s.into())).collect();
    let mounts = Mounts::new(said.events(), &mut threads, begin, end);
    let heard = hear(&said, &threads, &mounts, limits, &strings);
    let (mut waits, pauses, spans) = (heard.waits, heard.pauses, heard.spans);
    let mut samples = heard.samples;
    let text = |id| strings.get(&id).cloned();
    let mut stacks = stacks::rows(&said.frames(), &mut waits, &mut samples, &text);
    let safepoints = vm::safepoints(&input.vm_log, &pauses, begin, end);
    let mut marks = heard.marks;
    let main = threads.by_tid(input.session.target.pid as u32, begin);
    marks.extend(misc::cpu_changes(&input.proc, main, begin, end));
    marks.sort_by_key(|m| m.ts_ns);
    let mut meta = meta::meta(&input, end, kernel_events, agent_events);
    meta.not_recorded.extend(mounts.not_recorded());
    meta.notes.extend(input.counted.notes.iter().cloned());
    let resources = Resources::new(&input.proc, begin, end);

    progress(0.5, "causes");
    let names = Names::new();
    let mut states = all_states(lives, &threads, &waits);
    mounts.share_out(&mut states, &threads);
    let who = |waker: u32, ts: i64| mounts.waker(waker, ts, &threads);
    waits::resolve_wakers(&mut waits, &states, &who);
    let pollers = pollers(&states, &spans, &threads, &names);
    explain_all(
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
        },
    );

    progress(0.6, "writing");
    let mut out = TraceWriter::new(dir)?;
    let redacted = input.session.redact;
    out.table(threads.rows(input.session.target.pid).map(|mut t| {
        if redacted {
            t.name = redact::name(&t.name);
        }
        t
    }))?;
    out.sorted(state_rows(&states, &threads, &who, &names))?;
    out.table(mounts.rows(&states))?;
    progress(0.8, "breakdown");
    let mut breakdown = out.begin::<tables::Breakdown>()?;
    let doings = breakdown::Doings {
        states: &states,
        pollers: &pollers,
        polls: &|i| is_poll(i, &names),
        places: &Places::new(states.len()),
    };
    breakdown::rows(&spans, &doings, |row| breakdown.push(row))?;
    out.end(breakdown)?;
    drop(states);
    progress(0.9, "writing");
    let calls = has_syscalls.then(|| input.records());
    out.table(
        calls
            .into_iter()
            .flatten()
            .filter(|r| r.kind == kernel::SYSCALL)
            .filter_map(|r| {
                let thread = threads.by_tid(r.tid, r.ts)?;
                let resource = |fd: i32, ts: i64| resources.at(fd, ts).map(|r| r.id);
                Some(syscalls::row(&r, thread, limits, &names, &resource))
            }),
    )?;
    out.table(marks)?;
    let mut read = misc::counters(&input.proc, begin, end);
    read.extend(counters::lanes_of(&input.counted, &threads, begin, end));
    out.table(read)?;
    out.table(counters::of_threads(&input.counted, &threads))?;
    out.table(
        resources
            .list
            .into_iter()
            .map(|r| if redacted { redact::resource(r) } else { r }),
    )?;
    out.made_of(
        &spans.begins(),
        |(begin, _)| *begin,
        |_, (_, id)| {
            let row = spans.row(*id as usize);
            if redacted { redact::span(row) } else { row }
        },
    )?;
    let calls = &spans.methods;
    out.made_of(
        &calls.list,
        |c| c.begin_ns,
        |at, _| calls.call(at, spans.spans.len(), stacks.len()),
    )?;
    let paths: Vec<_> = calls.stacks(stacks.len(), &spans.names).collect();
    stacks.extend(paths);
    out.made_of(&spans.segments, |p| p.begin_ns, |_, p| p.row())?;
    drop(spans);
    out.table(waits)?;
    out.sorted(vm::by_begin(pauses, safepoints))?;
    out.table(stacks)?;
    out.table(samples)?;
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
fn all_states(lives: Vec<Life>, threads: &Threads, waits: &[Wait]) -> Vec<Vec<Interval>> {
    let own = by_thread(waits, threads.list.len());
    let from_kernel = lives.len();
    let mut states: Vec<Vec<Interval>> = lives.into_iter().map(|l| l.states).collect();
    for (t, own) in threads.list.iter().zip(&own).skip(from_kernel) {
        states.push(causes::from_waits(t.begin, t.end, waits, own));
    }
    states
}

fn by_thread(waits: &[Wait], threads: usize) -> Vec<Vec<u32>> {
    let mut own = vec![Vec::new(); threads];
    for w in waits {
        own[w.thread as usize].push(w.id as u32);
    }
    own
}

/// What states are explained by.
struct Evidence<'a> {
    threads: &'a Threads,
    waits: &'a [Wait],
    spans: &'a spans::Output,
    pauses: &'a [tables::Vm],
    /// Of each thread, see [`pollers`].
    pollers: &'a [bool],
    /// The thread of a kernel's id at a time.
    who: &'a dyn Fn(u32, i64) -> Option<u32>,
    names: &'a Names,
    resources: &'a Resources,
}

fn explain_all(states: &mut [Vec<Interval>], evidence: &Evidence) {
    let Evidence {
        threads,
        waits,
        spans,
        pauses,
        pollers,
        who,
        names,
        resources,
    } = *evidence;
    let own = by_thread(waits, threads.list.len());
    let (work, pool) = work(spans, threads.list.len());
    let pauses = intervals::union(pauses.iter().map(|p| (p.begin_ns, p.end_ns)).collect());
    let vm_thread = threads
        .list
        .iter()
        .find(|t| t.comm.as_deref() == Some("VM Thread"))
        .and_then(|t| t.tid);
    for (id, states) in states.iter_mut().enumerate() {
        causes::explain(
            states,
            &causes::Facts {
                waits,
                own: &own[id],
                work: &work[id],
                pool: &pool[id],
                pauses: &pauses,
                vm_thread,
                is_poller: &|waker, ts| who(waker, ts).is_some_and(|t| pollers[t as usize]),
                is_program: matches!(threads.list[id].kind(), "platform" | "carrier" | "virtual"),
                names,
                resource: &|fd, ts| resources.at(fd, ts).map(|r| r.kind),
            },
        );
    }
}

/// Begins of their names, up to 25.
const JDKS_POLLERS: [&str; 4] = ["Read-Poller", "Write-Poller", "SubPoller-", "MasterPoller"];

fn is_poll(i: &Interval, names: &Names) -> bool {
    i.syscall > 0 && names.class(u32::from(i.syscall) - 1) == Class::Poll
}

/// Of each thread, whether it waits for descriptors on behalf of others: it blocks in polls, or is one
/// of the JDK's for virtual threads, and does no work of its own.
fn pollers(
    states: &[Vec<Interval>],
    spans: &spans::Output,
    threads: &Threads,
    names: &Names,
) -> Vec<bool> {
    let mut pollers: Vec<bool> = states
        .iter()
        .zip(&threads.list)
        .map(|(states, t)| {
            let of_jdk = |name: &str| JDKS_POLLERS.iter().any(|begin| name.starts_with(begin));
            t.name.as_deref().is_some_and(of_jdk) || states.iter().any(|i| is_poll(i, names))
        })
        .collect();
    for v in &spans.segments {
        pollers[v.thread as usize] = false;
    }
    for s in spans.spans.iter().filter(|s| on_one_thread(s)) {
        pollers[s.thread as usize] = false;
    }
    pollers
}

type Times = Vec<Vec<(i64, i64)>>;

/// When each thread was at work, and when it waited for a pool.
fn work(spans: &spans::Output, threads: usize) -> (Times, Times) {
    let (mut work, mut pool): (Times, Times) =
        (vec![Vec::new(); threads], vec![Vec::new(); threads]);
    for v in &spans.segments {
        work[v.thread as usize].push((v.begin_ns, v.end_ns));
    }
    for s in &spans.spans {
        if on_one_thread(s) {
            work[s.thread as usize].push((s.begin_ns, s.end_ns));
        }
        if s.kind == Kind::PoolWait {
            pool[s.thread as usize].push((s.begin_ns, s.end_ns));
        }
    }
    let union = |times: Times| times.into_iter().map(intervals::union).collect();
    (union(work), union(pool))
}

fn on_one_thread(s: &Span) -> bool {
    match s.kind {
        Kind::Service | Kind::Sql | Kind::PoolWait => true,
        // Those of a connection are worked on in its visits.
        Kind::Request | Kind::TlsHandshake => s.connection().is_none(),
        Kind::User => s.thread == s.end_thread,
        _ => false,
    }
}

/// The states of all threads by begin: those of each follow each other already.
fn state_rows<'a>(
    states: &'a [Vec<Interval>],
    threads: &'a Threads,
    who: &'a dyn Fn(u32, i64) -> Option<u32>,
    names: &'a Names,
) -> impl Iterator<Item = tables::State> + 'a {
    let next = |thread: usize, at: usize| {
        let begin = states[thread].get(at)?.begin;
        Some(Reverse((begin, thread, at)))
    };
    let mut heads: BinaryHeap<_> = (0..states.len()).filter_map(|t| next(t, 0)).collect();
    std::iter::from_fn(move || {
        let mut head = heads.peek_mut()?;
        let Reverse((_, thread, at)) = *head;
        match next(thread, at + 1) {
            Some(following) => *head = following,
            None => {
                PeekMut::pop(head);
            }
        }
        let i = &states[thread][at];
        Some(tables::State {
            thread: thread as i64,
            begin_ns: i.begin,
            end_ns: i.end,
            state: i.state.name(),
            cause: i.cause.name(),
            cpu: (i.cpu >= 0).then_some(i32::from(i.cpu)),
            waker: who(i.waker, i.end).map(i64::from),
            waker_tid: match i.waker {
                NONE => None,
                w if w & BY_THREAD_ID != 0 => threads.list[(w & !BY_THREAD_ID) as usize]
                    .tid
                    .map(|t| t as i32),
                tid => Some(tid as i32),
            },
            syscall: (i.syscall > 0).then(|| names.of(u32::from(i.syscall) - 1)),
            fd: (i.fd >= 0).then_some(i.fd),
            wait: (i.wait != NONE).then_some(i64::from(i.wait)),
            interrupt: match i.woken {
                Woken::Unknown => None,
                Woken::Thread => Some(false),
                Woken::Interrupt => Some(true),
            },
        })
    })
}

mod hear;
mod meta;
#[cfg(test)]
mod tests;
