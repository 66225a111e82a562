//! The simulated server: threads, a run queue, a monitor, a pool, and a collector that stops all.
//!
//! A thread is on a CPU, in the run queue, or blocked. Its states follow from that, gapless; the
//! time of a handshake or request is booked by phase and cause whenever either changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use loadline_trace::tables::{Mark, Segment, Span, State, Vm, Wait};

use super::jobs::{self, Step};
use super::{Random, Size};

const SLICE_NS: i64 = 3_000_000;
const POOL: i64 = 8;
pub const BEGIN_NS: i64 = 8_123_456_789_000;

pub type Booked = BTreeMap<(&'static str, &'static str), i64>;

pub struct SimThread {
    pub name: String,
    pub kind: &'static str,
    pub(super) state: &'static str,
    pub(super) cause: &'static str,
    pub(super) since: i64,
    pub(super) booked_until: i64,
    pub(super) cpu: Option<usize>,
    pub(super) remaining: i64,
    pub(super) script: VecDeque<Step>,
    pub(super) waker: Option<usize>,
    pub(super) syscall: Option<&'static str>,
    pub(super) fd: Option<i32>,
    pub(super) wait: Option<i64>,
    pub(super) stack: Vec<usize>,
    pub(super) booked: Booked,
    pub(super) connection: Option<usize>,
    pub(super) visit_begin: i64,
    pub(super) queued: i64,
    pub(super) turn: u64,
}

pub(super) struct Connection {
    pub(super) span: usize,
    pub(super) requests: usize,
    pub(super) resumed: bool,
    pub(super) fd: i32,
    pub(super) booked: Booked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Arrive,
    Ready(usize),
    Accepted(usize),
    SliceEnd(usize, u64),
    Wake(usize),
    GcBegin,
    GcEnd,
    Tick(usize),
}

#[derive(Default)]
pub struct Record {
    pub states: Vec<State>,
    pub spans: Vec<Span>,
    pub segments: Vec<Segment>,
    pub waits: Vec<Wait>,
    pub marks: Vec<Mark>,
    pub vm: Vec<Vm>,
    pub breakdown: Vec<(i64, &'static str, Booked)>,
}

pub struct Sim {
    pub(super) size: Size,
    pub(super) random: Random,
    pub(super) now: i64,
    pub end: i64,
    pub(super) events: BinaryHeap<Reverse<(i64, u64, Event)>>,
    pub(super) sequence: u64,
    pub threads: Vec<SimThread>,
    pub(super) first_worker: usize,
    pub(super) cpus: Vec<Option<usize>>,
    pub(super) run_queue: VecDeque<usize>,
    pub(super) idle_workers: VecDeque<usize>,
    pub(super) jobs: VecDeque<(usize, i64)>,
    pub(super) connections: Vec<Connection>,
    pub(super) lock_owner: Option<usize>,
    pub(super) lock_queue: VecDeque<usize>,
    pub(super) pool_free: i64,
    pub(super) pool_queue: VecDeque<usize>,
    pub(super) stopped: Option<Vec<usize>>,
    pub record: Record,
}

const HELPERS: [(&str, &str, i64, i64); 14] = [
    ("http-nio-8443-Acceptor", "platform", 0, 0),
    ("http-nio-8443-Poller", "platform", 0, 0),
    ("GC Thread#0", "gc", 0, 0),
    ("GC Thread#1", "gc", 0, 0),
    ("VM Thread", "vm", 0, 0),
    ("VM Periodic Task Thread", "vm", 50_000_000, 8_000),
    ("C2 CompilerThread0", "compiler", 400_000_000, 14_000_000),
    ("C1 CompilerThread0", "compiler", 310_000_000, 2_000_000),
    (
        "HikariPool-1 housekeeper",
        "platform",
        1_000_000_000,
        60_000,
    ),
    ("Catalina-utility-1", "platform", 3_000_000_000, 40_000),
    ("main", "platform", 0, 0),
    ("Reference Handler", "platform", 0, 0),
    ("Finalizer", "platform", 0, 0),
    ("Signal Dispatcher", "platform", 0, 0),
];

impl Sim {
    pub fn run(size: Size, seed: u64) -> Sim {
        let end = BEGIN_NS + size.seconds * 1_000_000_000;
        let mut sim = Sim {
            size,
            random: Random(seed),
            now: BEGIN_NS,
            end,
            events: BinaryHeap::new(),
            sequence: 0,
            threads: Vec::new(),
            first_worker: HELPERS.len(),
            cpus: vec![None; size.cpus],
            run_queue: VecDeque::new(),
            idle_workers: VecDeque::new(),
            jobs: VecDeque::new(),
            connections: Vec::new(),
            lock_owner: None,
            lock_queue: VecDeque::new(),
            pool_free: POOL * size.cpus as i64 / 2,
            pool_queue: VecDeque::new(),
            stopped: None,
            record: Record::default(),
        };
        for (name, kind, period, _) in HELPERS {
            let thread = sim.add_thread(name.into(), kind);
            if period > 0 {
                sim.after(period / 3, Event::Tick(thread));
            }
        }
        for n in 1..=size.workers {
            let thread = sim.add_thread(format!("http-nio-8443-exec-{n}"), "platform");
            sim.idle_workers.push_back(thread);
        }
        sim.after(1_000_000, Event::Arrive);
        sim.after(700_000_000, Event::GcBegin);
        while let Some(Reverse((at, _, event))) = sim.events.pop() {
            if at >= end {
                break;
            }
            sim.now = at;
            sim.handle(event);
        }
        sim.now = end;
        sim.cut();
        sim
    }

    fn add_thread(&mut self, name: String, kind: &'static str) -> usize {
        self.threads.push(SimThread {
            name,
            kind,
            state: "blocked",
            cause: "idle",
            since: BEGIN_NS,
            booked_until: BEGIN_NS,
            cpu: None,
            remaining: 0,
            script: VecDeque::new(),
            waker: None,
            syscall: None,
            fd: None,
            wait: None,
            stack: Vec::new(),
            booked: Booked::new(),
            connection: None,
            visit_begin: 0,
            queued: 0,
            turn: 0,
        });
        self.threads.len() - 1
    }

    pub(super) fn after(&mut self, ns: i64, event: Event) {
        self.sequence += 1;
        self.events
            .push(Reverse((self.now + ns, self.sequence, event)));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive => {
                // Load comes in waves, as if many clients shared a clock.
                let phase = (self.now - BEGIN_NS) as f64 / 1e9;
                let rate = self.size.connections_per_second * (1.0 + 0.45 * (phase * 0.9).sin());
                let gap = self.random.exponential(1e9 / rate);
                self.after(gap, Event::Arrive);
                let connection = self.connect();
                self.give(0, vec![Step::Cpu(70_000)]);
                self.after(90_000, Event::Accepted(connection));
            }
            Event::Accepted(connection) | Event::Ready(connection) => {
                self.give(1, vec![Step::Cpu(25_000)]);
                self.jobs.push_back((connection, self.now));
                if let Some(worker) = self.idle_workers.pop_front() {
                    self.take_job(worker, Some(1));
                }
            }
            Event::SliceEnd(thread, turn) => self.slice_end(thread, turn),
            Event::Wake(thread) => self.make_runnable(thread, None),
            Event::GcBegin => self.gc_begin(),
            Event::GcEnd => self.gc_end(),
            Event::Tick(thread) => {
                let (_, _, period, cpu) = HELPERS[thread];
                let (next, burst) = (self.random.around(period), self.random.around(cpu));
                self.after(next, Event::Tick(thread));
                self.give(thread, vec![Step::Cpu(burst)]);
            }
        }
    }

    fn connect(&mut self) -> usize {
        let span = self.record.spans.len();
        let fd = 60 + (self.connections.len() % 400) as i32;
        self.record.spans.push(Span {
            id: span as i64,
            parent: None,
            kind: "connection",
            name: "TLSv1.3".into(),
            thread: 0,
            end_thread: 0,
            begin_ns: self.now,
            end_ns: self.end,
            connection: Some(span as i64),
            status: None,
            resumed: None,
            peer_port: Some(33_000 + (self.connections.len() % 20_000) as i32),
            peer: Some("127.0.0.1".into()),
            complete: false,
            open: true,
            cpu_ns: None,
        });
        let (resumed, requests) = (self.random.chance(0.7), 3 + self.random.below(15));
        self.connections.push(Connection {
            span,
            requests,
            resumed,
            fd,
            booked: Booked::new(),
        });
        self.connections.len() - 1
    }

    /// Wakes a thread of the server or the VM for some work, if it has none.
    fn give(&mut self, thread: usize, steps: Vec<Step>) {
        if self.threads[thread].script.is_empty() && self.threads[thread].cause == "idle" {
            self.threads[thread].script = steps.into();
            self.make_runnable(thread, None);
        }
    }

    fn take_job(&mut self, worker: usize, waker: Option<usize>) {
        let (connection, queued) = self.jobs.pop_front().expect("a job was queued");
        let c = &mut self.connections[connection];
        let first = self.record.spans[c.span].resumed.is_none();
        let (fd, resumed) = (c.fd, c.resumed);
        let mut steps = Vec::new();
        if first {
            self.record.spans[c.span].resumed = Some(resumed);
            steps = jobs::handshake(&mut self.random, resumed, fd);
        }
        steps.extend(jobs::request(&mut self.random, fd));
        let t = &mut self.threads[worker];
        t.script = steps.into();
        t.connection = Some(connection);
        t.queued = queued;
        t.visit_begin = 0;
        if t.state == "blocked" {
            self.make_runnable(worker, waker);
        }
    }

    pub(super) fn make_runnable(&mut self, thread: usize, waker: Option<usize>) {
        self.threads[thread].waker = waker;
        if let Some(stopped) = &mut self.stopped
            && self.threads[thread].kind != "gc"
        {
            stopped.push(thread);
            self.set_state(thread, "blocked", "gc", None);
            return;
        }
        self.set_state(thread, "runnable", "runnable", None);
        self.run_queue.push_back(thread);
        self.dispatch();
    }

    fn dispatch(&mut self) {
        while let Some(cpu) = self.cpus.iter().position(Option::is_none) {
            let Some(thread) = self.run_queue.pop_front() else {
                return;
            };
            self.cpus[cpu] = Some(thread);
            self.set_state(thread, "running", "running", Some(cpu));
            let t = &mut self.threads[thread];
            if t.visit_begin == 0 {
                t.visit_begin = self.now;
            }
            self.go_on(thread);
        }
    }

    pub(super) fn leave_cpu(&mut self, thread: usize) {
        if let Some(cpu) = self.threads[thread].cpu {
            self.cpus[cpu] = None;
        }
        self.threads[thread].turn += 1;
    }

    /// Runs steps until one takes time.
    fn go_on(&mut self, thread: usize) {
        loop {
            if self.threads[thread].remaining > 0 {
                let t = &mut self.threads[thread];
                t.turn += 1;
                let (turn, slice) = (t.turn, t.remaining.min(SLICE_NS));
                self.after(slice, Event::SliceEnd(thread, turn));
                return;
            }
            let Some(step) = self.threads[thread].script.pop_front() else {
                return self.finished(thread);
            };
            if !self.step(thread, step) {
                return;
            }
        }
    }

    pub(super) fn block(&mut self, thread: usize, cause: &'static str) {
        self.leave_cpu(thread);
        self.set_state(thread, "blocked", cause, None);
        self.dispatch();
    }

    fn slice_end(&mut self, thread: usize, turn: u64) {
        let t = &mut self.threads[thread];
        if t.turn != turn || t.state != "running" {
            return;
        }
        t.remaining -= t.remaining.min(SLICE_NS);
        if t.remaining > 0 && !self.run_queue.is_empty() {
            self.leave_cpu(thread);
            self.set_state(thread, "preempted", "runnable", None);
            self.run_queue.push_back(thread);
            self.dispatch();
        } else {
            self.go_on(thread);
        }
    }

    fn finished(&mut self, thread: usize) {
        if thread >= self.first_worker {
            self.end_visit(thread);
            if !self.jobs.is_empty() {
                self.take_job(thread, None);
                self.threads[thread].visit_begin = self.now;
                return self.go_on(thread);
            }
            self.idle_workers.push_back(thread);
        }
        self.block(thread, "idle");
        let t = &mut self.threads[thread];
        (t.syscall, t.fd) = (Some(if thread == 1 { "epoll_wait" } else { "futex" }), None);
    }
}
