//! Invocations of methods: what the agent's probes said, as a tree of calls.
//!
//! Terms: an *invocation* is told when it ends, with its *depth*: how many recorded ones its thread was in then. So those on a
//! level more that ended since the one before on its level were called by it. A *path* is the methods that an invocation was
//! called through, itself the last; equal paths are one row of `stacks`.
//!
//! Invariants: an invocation lies in the one that called it, and its caller comes later in the list; of those that the recording
//! did not see both begin and end there is none, and what they called has no caller. A caller whose record was lost is none
//! either: nothing is given to another one.

use loadline_trace::spool::agent::{Event, method};
use loadline_trace::tables::{self, Stack};
use rustc_hash::FxHashMap;

use crate::bounded::{Grouped, List, Room};
use crate::intervals::Places;
use crate::model::{Interval, NONE, State};
use crate::spans::{Name, Names, Span};

/// One invocation. Its place in the list, behind all other spans, is its span's id.
#[derive(Debug, Clone, Copy)]
pub struct Invocation {
    /// Begin.
    pub begin_ns: i64,
    /// End.
    pub end_ns: i64,
    /// CPU time; negative if it is not known.
    cpu_ns: i64,
    below: u32,
    left_out: u32,
    name: Name,
    thread: u32,
    /// Who called it: a place in the list.
    caller: u32,
    /// The innermost span of another kind around the outermost call that it lies in.
    around: u32,
    /// Its path: a place in the list of those.
    path: u32,
    threw: bool,
}

/// A method, and the path that it was called through.
#[derive(Debug, Clone, Copy)]
struct Path {
    caller: u32,
    name: Name,
    depth: i32,
}

/// All invocations, and their paths.
#[derive(Debug)]
pub struct Invocations {
    /// In the order of their ends, thread by thread.
    pub list: List<Invocation>,
    /// A caller's comes before those that were called.
    paths: Vec<Path>,
}

/// What is known of a thread while it is heard.
#[derive(Debug, Default)]
struct Heard {
    /// Depths and places of invocations that have no caller yet, the outermost first.
    open: Vec<(u16, u32)>,
    /// What was left out in the invocation that is told next.
    left_out: u64,
}

/// Builds the list from events in the order of time.
#[derive(Debug)]
pub struct Builder {
    list: List<Invocation>,
    threads: Vec<Heard>,
}

impl Builder {
    /// Nothing heard yet.
    pub fn new(room: &Room) -> Builder {
        Builder {
            list: List::new(room),
            threads: Vec::new(),
        }
    }

    fn heard(&mut self, thread: u32) -> &mut Heard {
        let at = thread as usize;
        if self.threads.len() <= at {
            self.threads.resize_with(at + 1, Heard::default);
        }
        &mut self.threads[at]
    }

    /// Calls were left out in the invocation that ends next on this thread.
    pub fn left_out(&mut self, e: &Event, thread: u32) {
        self.heard(thread).left_out = e.a;
    }

    /// An invocation has ended; `around` tells what span of another kind its thread was in when it began.
    pub fn ended(
        &mut self,
        e: &Event,
        thread: u32,
        name: Name,
        (from, to): (i64, i64),
        around: impl FnOnce(i64) -> Option<u32>,
    ) {
        let begin = e.ts.saturating_sub_unsigned(e.a);
        let depth = method::depth(e.b);
        let own = self.list.len() as u32;
        let heard = self.heard(thread);
        let left_out = std::mem::take(&mut heard.left_out);
        let (mut below, mut left_out) = (0u32, u32::try_from(left_out).unwrap_or(u32::MAX));
        let calls = heard.open.partition_point(|(d, _)| *d <= depth);
        let calls = heard.open.split_off(calls);
        if begin < from || e.ts > to {
            return; // it was not all within the recording
        }
        if depth > 0 {
            heard.open.push((depth, own));
        }
        for (_, call) in calls {
            let call = &mut self.list[call as usize];
            if call.begin_ns >= begin {
                call.caller = own;
                below = below.saturating_add(call.below).saturating_add(1);
                left_out = left_out.saturating_add(call.left_out);
            }
        }
        self.list.push(Invocation {
            begin_ns: begin,
            end_ns: e.ts,
            cpu_ns: method::cpu(e.b).map_or(-1, |ns| ns as i64),
            below,
            left_out,
            name,
            thread,
            caller: NONE,
            around: around(begin).unwrap_or(NONE),
            path: NONE,
            threw: method::threw(e.b),
        });
    }

    /// Finds the paths. `spans` are those of other kinds, in their final order.
    pub fn finish(self, spans: &[Span]) -> Invocations {
        let mut list = self.list;
        let mut paths: Vec<Path> = Vec::new();
        let mut known: FxHashMap<(u32, Name), u32> = FxHashMap::default();
        for at in (0..list.len()).rev() {
            list.pace(at);
            let call = list[at];
            let caller = list.get(call.caller as usize).copied();
            let through = caller.map_or(NONE, |c| c.path);
            let path = *known.entry((through, call.name)).or_insert_with(|| {
                let depth = paths.get(through as usize).map_or(0, |p| p.depth + 1);
                paths.push(Path {
                    caller: through,
                    name: call.name,
                    depth,
                });
                paths.len() as u32 - 1
            });
            list[at].path = path;
            list[at].around = match caller {
                Some(caller) => caller.around,
                None => enclosing(&call, spans),
            };
        }
        Invocations { list, paths }
    }
}

/// The innermost span that an outermost call lies in: what was around it when it ended may have been found to end before.
fn enclosing(call: &Invocation, spans: &[Span]) -> u32 {
    let mut around = call.around;
    while let Some(span) = spans.get(around as usize) {
        if span.begin_ns <= call.begin_ns && call.end_ns <= span.end_ns {
            break;
        }
        around = span.parent().unwrap_or(NONE);
    }
    around
}

impl Invocations {
    /// When each began, in the order of the list.
    pub fn begins(&self) -> impl Iterator<Item = i64> {
        self.list.iter().enumerate().map(|(at, call)| {
            self.list.pace(at);
            call.begin_ns
        })
    }

    /// Takes the CPU time from when the kernel let each thread run, where the thread's clock was not read: that would have said the
    /// same, but for interrupts and stolen time, and to read it at begin and end costs ten times as much as all else of an
    /// invocation. Of one in which a state of its thread is unknown, it is, too.
    pub fn take_cpu_times(&mut self, states: &Grouped<Interval>) {
        let ran = Ran {
            states,
            places: Places::new(states.len()),
        };
        // What those that were called took is summed up, so that each state is looked at once, however deep the calls.
        let mut callers: FxHashMap<u32, Taken> = FxHashMap::default();
        for at in 0..self.list.len() {
            self.list.pace(at);
            states.pace(at);
            let call = self.list[at];
            let begun = |call: &Invocation| Taken {
                upto: call.begin_ns,
                cpu_ns: Some(0),
            };
            let inner = callers.remove(&(at as u32)).unwrap_or(begun(&call));
            let cpu_ns = ran.until(call.thread, inner, call.end_ns).cpu_ns;
            if let Some(caller) = self.list.get(call.caller as usize) {
                let taken = callers.entry(call.caller).or_insert(begun(caller));
                *taken = ran.until(call.thread, *taken, call.begin_ns);
                *taken = Taken {
                    upto: call.end_ns,
                    cpu_ns: taken.cpu_ns.zip(cpu_ns).map(|(a, b)| a + b),
                };
            }
            if call.cpu_ns < 0 {
                self.list[at].cpu_ns = cpu_ns.unwrap_or(-1);
            }
        }
    }

    /// Gives the spans around them their new ids.
    pub fn renumber(&mut self, new: impl Fn(u32) -> Option<u32>) {
        for at in 0..self.list.len() {
            self.list.pace(at);
            let call = &mut self.list[at];
            if call.around != NONE {
                call.around = new(call.around).unwrap_or(NONE);
            }
        }
    }

    /// The span of an invocation, given those of other kinds, which come first.
    pub fn span(&self, at: usize, spans: &[Span], names: &Names) -> tables::Span {
        let call = &self.list[at];
        let id = |at: usize| (spans.len() + at) as i64;
        let around = (call.around != NONE).then_some(call.around);
        tables::Span {
            id: id(at),
            parent: match call.caller {
                NONE => around.map(i64::from),
                caller => Some(id(caller as usize)),
            },
            kind: "method",
            name: names.get(call.name),
            thread: i64::from(call.thread),
            end_thread: i64::from(call.thread),
            begin_ns: call.begin_ns,
            end_ns: call.end_ns,
            connection: around
                .and_then(|s| spans[s as usize].connection_of(s))
                .map(i64::from),
            status: None,
            resumed: None,
            peer_port: None,
            peer: None,
            complete: true,
            open: false,
            cpu_ns: call.cpu(),
        }
    }

    /// Its row of `calls`; `spans` are so many of other kinds, and `stacks` so many of other stacks.
    pub fn call(&self, at: usize, spans: usize, stacks: usize) -> tables::Call {
        let call = &self.list[at];
        tables::Call {
            span: (spans + at) as i64,
            begin_ns: call.begin_ns,
            wall_ns: call.end_ns - call.begin_ns,
            cpu_ns: call.cpu(),
            stack: (stacks + call.path as usize) as i64,
            threw: call.threw,
            below: i64::from(call.below),
            left_out: i64::from(call.left_out),
        }
    }

    /// Rows of `stacks` for the paths, behind so many others.
    pub fn stacks(&self, others: usize, names: &Names) -> impl Iterator<Item = Stack> {
        self.paths
            .iter()
            .zip(others as i64..)
            .map(move |(path, id)| Stack {
                id,
                parent: (path.caller != NONE).then(|| others as i64 + i64::from(path.caller)),
                depth: path.depth,
                kind: "java",
                name: names.get(path.name),
                file: None,
                line: None,
            })
    }
}

/// What an invocation had taken up to a moment.
#[derive(Debug, Clone, Copy)]
struct Taken {
    upto: i64,
    /// `None`: it is not known.
    cpu_ns: Option<i64>,
}

/// When threads ran.
struct Ran<'a> {
    states: &'a Grouped<Interval>,
    places: Places,
}

impl Ran<'_> {
    /// What was taken by a later moment.
    fn until(&self, thread: u32, taken: Taken, end: i64) -> Taken {
        let mut upto = taken.upto;
        let mut cpu_ns = taken.cpu_ns;
        let states = self.states.get(thread as usize).unwrap_or_default();
        let first = self
            .places
            .first(thread as usize, states, |i| i.end > taken.upto);
        for i in states[first..].iter().take_while(|i| i.begin < end) {
            match i.state {
                State::Running => {
                    let ran = i.end.min(end) - i.begin.max(taken.upto);
                    cpu_ns = cpu_ns.map(|ns| ns + ran);
                }
                State::Unknown => cpu_ns = None,
                _ => {}
            }
            upto = i.end;
        }
        Taken {
            upto: end,
            cpu_ns: cpu_ns.filter(|_| upto >= end),
        }
    }
}

impl Invocation {
    fn cpu(&self) -> Option<i64> {
        (self.cpu_ns >= 0).then_some(self.cpu_ns)
    }
}
