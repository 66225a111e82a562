//! The Firefox profiler's JSON ("processed profile"), written by the crate of its authors.
//!
//! Per thread: its spans, waits and marks as markers, with their exact times; and samples. A sample's stack is the spans
//! that are open, the outermost first, and what the thread was doing or waiting for. Where call stacks were recorded, a
//! sample of the CPU has those. All virtual threads share one track.
//!
//! The profile is held in memory, as the profiler itself does: above [`MOST_MARKERS`] it is refused.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, MarkerFieldFlags,
    MarkerFieldFormat, MarkerTiming, Profile, ReferenceTimestamp, SamplingInterval,
    StaticSchemaMarker, StaticSchemaMarkerField, StringHandle, ThreadHandle, Timestamp,
};
use loadline_trace::Trace;
use loadline_trace::tables::names;

use crate::scratch::Scratch;
use crate::timeline::{Domain, Event, SPAN_KINDS, Timeline, WAIT_KINDS, What};
use crate::{Progress, Written};

/// Markers that a profile may hold: some 150 bytes each here, and more in the browser.
pub const MOST_MARKERS: u64 = 4_000_000;
/// Samples that are taken, at most; the interval follows.
const MOST_SAMPLES: i64 = 2_000_000;
/// Shortest interval between samples.
const INTERVAL_NS: i64 = 1_000_000;

pub fn write(trace: &Trace, out: &Path, progress: Progress) -> Result<Written> {
    let rows = |t: &str| trace.meta.tables.get(t).copied().unwrap_or(0);
    let markers = rows("spans").max(rows("segments")) + rows("waits") + rows("marks") + rows("vm");
    if markers > MOST_MARKERS {
        bail!(
            "the trace has {markers} spans, waits and marks, and the Firefox profiler holds a profile in memory: \
             above {MOST_MARKERS} it does not open. Export --to perfetto"
        );
    }
    let timeline = Timeline::open(trace, Scratch::open(trace, out)?)?;
    let mut writer = Writer::new(trace, &timeline)?;
    timeline.each(progress, |event| {
        writer.take(event);
        Ok(())
    })?;
    let file = File::create(out).with_context(|| out.display().to_string())?;
    let mut file = BufWriter::new(file);
    serde_json::to_writer(&mut file, &writer.profile)?;
    file.flush()?;
    Ok(Written {
        files: vec![out.into()],
        notes: Vec::new(),
    })
}

/// A span, a wait or a mark.
struct Interval {
    /// Its kind: the row of the marker chart.
    kind: StringHandle,
    category: CategoryHandle,
    detail: StringHandle,
}

impl StaticSchemaMarker for Interval {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "Loadline";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.detail}");
    const TOOLTIP_LABEL: Option<&'static str> = Some("{marker.name}: {marker.data.detail}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.data.detail}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "detail",
        label: "What",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _: &mut Profile) -> StringHandle {
        self.kind
    }
    fn category(&self, _: &mut Profile) -> CategoryHandle {
        self.category
    }
    fn string_field_value(&self, _: u32) -> StringHandle {
        self.detail
    }
    fn number_field_value(&self, _: u32) -> f64 {
        unreachable!("the schema has no number")
    }
}

/// What a thread is at.
struct Lane {
    handle: ThreadHandle,
    /// Open spans, the outermost first: id and name.
    spans: Vec<(i64, StringHandle)>,
    /// Code of the cause; 0 before its first state.
    cause: i64,
    running: bool,
    /// Until when samples and CPU time were accounted.
    at: i64,
    next_sample: i64,
    cpu_ns: i64,
}

struct Writer<'a> {
    timeline: &'a Timeline,
    profile: Profile,
    begin: i64,
    interval: i64,
    lanes: HashMap<i64, Lane>,
    virtual_lane: ThreadHandle,
    machine_lane: ThreadHandle,
    /// Categories of the causes, by code.
    causes: Vec<CategoryHandle>,
    spans: CategoryHandle,
    /// Open waits: when they began.
    waits: HashMap<i64, (i64, StringHandle)>,
    vm: HashMap<i64, (i64, StringHandle)>,
    /// Frames of call stacks by id: caller and name.
    stacks: HashMap<i64, (Option<i64>, StringHandle)>,
}

fn color(cause: &str) -> CategoryColor {
    match cause {
        names::RUNNING => CategoryColor::Green,
        names::RUNNABLE => CategoryColor::Yellow,
        names::LOCK => CategoryColor::Red,
        names::POOL => CategoryColor::Magenta,
        names::SOCKET => CategoryColor::Blue,
        names::FILE => CategoryColor::Brown,
        names::GC | names::SAFEPOINT => CategoryColor::Orange,
        names::ADMISSION => CategoryColor::Purple,
        names::IDLE => CategoryColor::Transparent,
        _ => CategoryColor::Gray,
    }
}

impl Writer<'_> {
    fn new<'a>(trace: &Trace, timeline: &'a Timeline) -> Result<Writer<'a>> {
        let meta = &trace.meta;
        let lifetimes: i64 = timeline
            .threads
            .iter()
            .filter(|t| !t.is_virtual())
            .map(|t| t.end_ns - t.begin_ns)
            .sum();
        let interval = INTERVAL_NS.max(lifetimes / MOST_SAMPLES);
        let mut profile = Profile::new(
            &meta.target.name,
            ReferenceTimestamp::from_duration_since_unix_epoch(Duration::from_nanos(
                meta.begin_unix_ns.max(0) as u64,
            )),
            SamplingInterval::from_nanos(interval as u64),
        );
        profile.set_os_name(&meta.machine.kernel);
        let at =
            |ns: i64| Timestamp::from_nanos_since_reference((ns - meta.begin_ns).max(0) as u64);
        let pid = meta.target.pid as u32;
        let process = profile.add_process(&meta.target.name, pid, at(meta.begin_ns));
        let mut lanes = HashMap::new();
        for t in timeline.threads.iter().filter(|t| !t.is_virtual()) {
            let tid = t.tid.map_or(0, |t| t as u32);
            let handle = profile.add_thread(process, tid, at(t.begin_ns), tid == pid);
            profile.set_thread_name(handle, &t.name);
            profile.set_thread_end_time(handle, at(t.end_ns));
            profile.set_thread_show_markers_in_timeline(handle, true);
            lanes.insert(
                t.id,
                Lane {
                    handle,
                    spans: Vec::new(),
                    cause: 0,
                    running: false,
                    at: t.begin_ns,
                    next_sample: t.begin_ns,
                    cpu_ns: 0,
                },
            );
        }
        let mut extra = |name: &str| {
            let handle = profile.add_thread(process, 0, at(meta.begin_ns), false);
            profile.set_thread_name(handle, name);
            handle
        };
        let (virtual_lane, machine_lane) = (extra("virtual threads"), extra("virtual machine"));
        let causes = names::CAUSES
            .iter()
            .map(|c| profile.add_category(c, color(c)))
            .collect();
        let spans = profile.add_category("spans", CategoryColor::LightBlue);
        let mut stacks = HashMap::new();
        let mut statement = timeline
            .db()
            .prepare("SELECT id, parent, name FROM stacks")?;
        let rows =
            statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get::<_, String>(2)?)))?;
        for row in rows {
            let (id, parent, name): (i64, Option<i64>, String) = row?;
            stacks.insert(id, (parent, profile.intern_string(&name)));
        }
        Ok(Writer {
            timeline,
            profile,
            begin: meta.begin_ns,
            interval,
            lanes,
            virtual_lane,
            machine_lane,
            causes,
            spans,
            waits: HashMap::new(),
            vm: HashMap::new(),
            stacks,
        })
    }

    fn time(&self, ns: i64) -> Timestamp {
        Timestamp::from_nanos_since_reference((ns - self.begin).max(0) as u64)
    }

    fn marker(
        &mut self,
        thread: i64,
        from: i64,
        to: Option<i64>,
        kind: &str,
        detail: StringHandle,
    ) {
        let lane = match (thread, self.lanes.get(&thread)) {
            (_, Some(lane)) => lane.handle,
            (t, None) if t < 0 => self.machine_lane,
            _ => self.virtual_lane,
        };
        let timing = match to {
            Some(to) => MarkerTiming::Interval(self.time(from), self.time(to)),
            None => MarkerTiming::Instant(self.time(from)),
        };
        let kind = self.profile.intern_string(kind);
        let marker = Interval {
            kind,
            category: self.spans,
            detail,
        };
        self.profile.add_marker(lane, timing, marker);
    }

    fn take(&mut self, event: Event) {
        let Event { ts, thread, what } = event;
        self.advance(thread, ts);
        let timeline = self.timeline;
        match what {
            What::State { state, cause, .. } => {
                if let Some(lane) = self.lanes.get_mut(&thread) {
                    lane.cause = cause;
                    lane.running = state == 1;
                }
            }
            What::Exit => {
                if let Some(lane) = self.lanes.get_mut(&thread) {
                    lane.cause = 0;
                    lane.running = false;
                }
            }
            What::SpanBegin { id, kind, name, .. } => {
                let name = timeline.name(Domain::Span(kind), name);
                let kind = SPAN_KINDS
                    .get((kind - 1) as usize)
                    .copied()
                    .unwrap_or("span");
                let name = match kind {
                    "connection" | "sql" | "request" | "service" | "user" | "method" => {
                        name.to_owned()
                    }
                    kind => format!("{kind} {name}"),
                };
                let name = self.profile.intern_string(name.trim_end());
                if let Some(lane) = self.lanes.get_mut(&thread) {
                    lane.spans.push((id, name));
                }
            }
            What::SpanEnd {
                id,
                kind,
                name,
                begin,
            } => {
                if let Some(lane) = self.lanes.get_mut(&thread) {
                    lane.spans.retain(|(open, _)| *open != id);
                }
                let detail = timeline.name(Domain::Span(kind), name);
                let detail = self.profile.intern_string(detail);
                let kind = SPAN_KINDS
                    .get((kind - 1) as usize)
                    .copied()
                    .unwrap_or("span");
                self.marker(thread, begin, Some(ts), kind, detail);
            }
            What::WaitBegin { id, class, .. } => {
                let class = class.map_or("(unknown class)", |c| timeline.name(Domain::Class, c));
                let class = self.profile.intern_string(class);
                self.waits.insert(id, (ts, class));
            }
            What::WaitEnd { id, kind, .. } => {
                if let Some((begin, class)) = self.waits.remove(&id) {
                    let kind = WAIT_KINDS
                        .get((kind - 1) as usize)
                        .copied()
                        .unwrap_or("wait");
                    self.marker(thread, begin, Some(ts), kind, class);
                }
            }
            What::Mark { kind, value, text } => {
                let detail = text.unwrap_or_else(|| value.to_string());
                let detail = self.profile.intern_string(&detail);
                self.marker(thread, ts, None, timeline.name(Domain::Mark, kind), detail);
            }
            What::VmBegin {
                kind, name, cause, ..
            } => {
                let detail = format!("{} ({cause})", timeline.name(Domain::Vm, name));
                let detail = self.profile.intern_string(&detail);
                self.vm.insert(kind, (ts, detail));
            }
            What::VmEnd { kind } => {
                if let Some((begin, detail)) = self.vm.remove(&kind) {
                    let kind = timeline.name(Domain::VmKind, kind);
                    self.marker(-1, begin, Some(ts), kind, detail);
                }
            }
            What::Sample { stack, weight } => self.sample(thread, ts, stack, weight),
            What::SyscallBegin { .. }
            | What::SyscallEnd { .. }
            | What::Wakes { .. }
            | What::Mount { .. }
            | What::Unmount { .. }
            | What::Counter { .. } => {}
        }
    }

    /// Takes the samples of a thread that are due before `ts`, with what it was at until now.
    fn advance(&mut self, thread: i64, ts: i64) {
        let recorded = !self.stacks.is_empty();
        let Some(lane) = self.lanes.get_mut(&thread) else {
            return;
        };
        let mut stack = None;
        while lane.next_sample < ts {
            let at = lane.next_sample;
            if lane.running {
                lane.cpu_ns += at - lane.at;
            }
            lane.at = at;
            lane.next_sample += self.interval;
            // Where call stacks were recorded, running is what those show.
            if lane.cause == 0 || (recorded && lane.running) {
                continue;
            }
            if stack.is_none() {
                let cause = (lane.cause - 1) as usize;
                let category = self
                    .causes
                    .get(cause)
                    .copied()
                    .unwrap_or(CategoryHandle::OTHER);
                let leaf = names::CAUSES.get(cause).copied().unwrap_or(names::UNKNOWN);
                let leaf = (self.profile.intern_string(leaf), category);
                let spans = lane.spans.iter().map(|(_, name)| (*name, self.spans));
                let frames = spans.chain([leaf]).map(|(name, category)| FrameInfo {
                    frame: Frame::Label(name),
                    category_pair: category.into(),
                    flags: FrameFlags::empty(),
                });
                stack = self.profile.intern_stack_frames(lane.handle, frames);
            }
            let time = Timestamp::from_nanos_since_reference((at - self.begin).max(0) as u64);
            let cpu = CpuDelta::from_nanos(lane.cpu_ns as u64);
            lane.cpu_ns = 0;
            self.profile.add_sample(lane.handle, time, stack, cpu, 1);
        }
        if lane.running {
            lane.cpu_ns += (ts - lane.at).max(0);
        }
        lane.at = lane.at.max(ts);
    }

    /// A call stack that was recorded on a CPU.
    fn sample(&mut self, thread: i64, ts: i64, stack: i64, weight: i64) {
        let Some(lane) = self.lanes.get(&thread) else {
            return;
        };
        let handle = lane.handle;
        let mut frames = Vec::new();
        let mut next = Some(stack);
        while let Some((parent, name)) = next.and_then(|id| self.stacks.get(&id)) {
            frames.push(*name);
            next = *parent;
        }
        let category = self.causes[0];
        let frames = frames.into_iter().rev().map(|name| FrameInfo {
            frame: Frame::Label(name),
            category_pair: category.into(),
            flags: FrameFlags::empty(),
        });
        let stack = self.profile.intern_stack_frames(handle, frames);
        let samples = (weight / self.interval).clamp(1, i64::from(i32::MAX)) as i32;
        let cpu = CpuDelta::from_nanos(weight.max(0) as u64);
        let time = self.time(ts);
        self.profile.add_sample(handle, time, stack, cpu, samples);
    }
}
