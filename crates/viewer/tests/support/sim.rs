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
    state: &'static str,
    cause: &'static str,
    since: i64,
    booked_until: i64,
    cpu: Option<usize>,
    remaining: i64,
    script: VecDeque<Step>,
    waker: Option<usize>,
    syscall: Option<&'static str>,
    fd: Option<i32>,
    wait: Option<i64>,
    stack: Vec<usize>,
    booked: Booked,
    connection: Option<usize>,
    visit_begin: i64,
    queued: i64,
    turn: u64,
}

struct Connection {
    span: usize,
    requests: usize,
    resumed: bool,
    fd: i32,
    booked: Booked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
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
    size: Size,
    random: Random,
    now: i64,
    pub end: i64,
    events: BinaryHeap<Reverse<(i64, u64, Event)>>,
    sequence: u64,
    pub threads: Vec<SimThread>,
    first_worker: usize,
    cpus: Vec<Option<usize>>,
    run_queue: VecDeque<usize>,
    idle_workers: VecDeque<usize>,
    jobs: VecDeque<(usize, i64)>,
    connections: Vec<Connection>,
    lock_owner: Option<usize>,
    lock_queue: VecDeque<usize>,
    pool_free: i64,
    pool_queue: VecDeque<usize>,
    stopped: Option<Vec<usize>>,
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

    fn after(&mut self, ns: i64, event: Event) {
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

    fn set_state(
        &mut self,
        thread: usize,
        state: &'static str,
        cause: &'static str,
        cpu: Option<usize>,
    ) {
        self.book(thread);
        let (now, t) = (self.now, &mut self.threads[thread]);
        if now > t.since {
            let blocked = t.state == "blocked";
            self.record.states.push(State {
                thread: thread as i64,
                begin_ns: t.since,
                end_ns: now,
                state: t.state,
                cause: t.cause,
                cpu: t.cpu.filter(|_| t.state == "running").map(|c| c as i32),
                waker: t.waker.filter(|_| blocked).map(|w| w as i64),
                waker_tid: blocked.then(|| t.waker.map_or(0, |w| 4_200 + w as i32)),
                syscall: t.syscall.filter(|_| blocked).map(Into::into),
                fd: t.fd.filter(|_| blocked),
                wait: t.wait.filter(|_| blocked),
            });
        }
        (t.state, t.cause, t.cpu, t.since) = (state, cause, cpu, now);
        if state == "blocked" {
            (t.waker, t.syscall, t.fd, t.wait) = (None, None, None, None);
        }
    }

    /// Books the time since the last change to the phase and cause that held.
    fn book(&mut self, thread: usize) {
        let (now, t) = (self.now, &mut self.threads[thread]);
        let since = std::mem::replace(&mut t.booked_until, now);
        let Some(&top) = t.stack.last() else { return };
        let span = &self.record.spans[top];
        let phase = match span.kind {
            "tls_handshake" if span.resumed == Some(true) => "tls_resumed",
            "tls_handshake" => "tls_full",
            "pool_use" => "service",
            other => other,
        };
        if now > since {
            *t.booked.entry((phase, t.cause)).or_default() += now - since;
        }
    }

    fn make_runnable(&mut self, thread: usize, waker: Option<usize>) {
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

    fn leave_cpu(&mut self, thread: usize) {
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

    /// One step; false if the thread left its CPU.
    fn step(&mut self, thread: usize, step: Step) -> bool {
        match step {
            Step::Cpu(ns) => self.threads[thread].remaining = ns,
            Step::Block(cause, ns, syscall, fd) => {
                self.block(thread, cause);
                let t = &mut self.threads[thread];
                (t.syscall, t.fd) = (Some(syscall), Some(fd));
                self.after(ns, Event::Wake(thread));
                return false;
            }
            Step::Lock if self.lock_owner.is_some() => {
                let owner = self.lock_owner;
                self.lock_queue.push_back(thread);
                self.block(thread, "lock");
                self.begin_wait(thread, "monitor_enter", "shop.ItemCache", owner);
                return false;
            }
            Step::Lock => self.lock_owner = Some(thread),
            Step::Unlock => {
                self.lock_owner = self.lock_queue.pop_front();
                if let Some(next) = self.lock_owner {
                    self.end_wait(next, thread);
                }
            }
            Step::PoolGet => {
                self.begin_span(thread, "pool_wait", "HikariPool-1");
                if self.pool_free == 0 {
                    self.pool_queue.push_back(thread);
                    self.block(thread, "pool");
                    self.begin_wait(
                        thread,
                        "park",
                        "java.util.concurrent.SynchronousQueue$Transferer",
                        None,
                    );
                    return false;
                }
                self.pool_free -= 1;
                self.end_span(thread);
                self.begin_span(thread, "pool_use", "HikariPool-1");
            }
            Step::PoolPut => {
                self.end_span(thread);
                self.pool_free += 1;
                if let Some(next) = self.pool_queue.pop_front() {
                    self.threads[next].script.push_front(Step::PoolGet);
                    self.end_span(next);
                    self.end_wait(next, thread);
                }
            }
            Step::Begin(kind, name) => self.begin_span(thread, kind, name),
            Step::End => self.end_span(thread),
            Step::Mark(kind, value) => self.record.marks.push(Mark {
                ts_ns: self.now,
                thread: thread as i64,
                kind: kind.into(),
                value,
                text: None,
            }),
        }
        true
    }

    fn block(&mut self, thread: usize, cause: &'static str) {
        self.leave_cpu(thread);
        self.set_state(thread, "blocked", cause, None);
        self.dispatch();
    }

    fn begin_wait(
        &mut self,
        thread: usize,
        kind: &'static str,
        class: &'static str,
        owner: Option<usize>,
    ) {
        let id = self.record.waits.len() as i64;
        let t = &mut self.threads[thread];
        t.wait = Some(id);
        t.syscall = Some("futex");
        self.record.waits.push(Wait {
            id,
            thread: thread as i64,
            begin_ns: self.now,
            end_ns: self.end,
            kind,
            class: Some(class.into()),
            object: Some(0x5eed_1234),
            owner: owner.map(|o| o as i64),
            notifier: None,
            outcome: "cut",
        });
    }

    fn end_wait(&mut self, thread: usize, by: usize) {
        if let Some(id) = self.threads[thread].wait {
            let wait = &mut self.record.waits[id as usize];
            wait.end_ns = self.now;
            wait.notifier = Some(by as i64);
            wait.outcome = if wait.kind == "park" {
                "unparked"
            } else {
                "acquired"
            };
        }
        self.make_runnable(thread, Some(by));
    }

    fn begin_span(&mut self, thread: usize, kind: &'static str, name: &'static str) {
        self.book(thread);
        let (kind, resumed) = match kind {
            "tls_full" => ("tls_handshake", Some(false)),
            "tls_resumed" => ("tls_handshake", Some(true)),
            kind => (kind, None),
        };
        let id = self.record.spans.len();
        let t = &mut self.threads[thread];
        let connection = t.connection.map(|c| self.connections[c].span);
        let parent = t.stack.last().copied().or(connection);
        t.stack.push(id);
        self.record.spans.push(Span {
            id: id as i64,
            parent: parent.map(|p| p as i64),
            kind,
            name: name.into(),
            thread: thread as i64,
            end_thread: thread as i64,
            begin_ns: self.now,
            end_ns: self.end,
            connection: connection.map(|c| c as i64),
            status: (kind == "request").then_some(200),
            resumed,
            peer_port: None,
            peer: None,
            complete: false,
        });
    }

    fn end_span(&mut self, thread: usize) {
        self.book(thread);
        let Some(id) = self.threads[thread].stack.pop() else {
            return;
        };
        let span = &mut self.record.spans[id];
        (span.end_ns, span.complete) = (self.now, true);
        let kind = span.kind;
        if kind == "request" || kind == "tls_handshake" {
            let booked = std::mem::take(&mut self.threads[thread].booked);
            if let Some(c) = self.threads[thread].connection {
                for (key, ns) in &booked {
                    *self.connections[c].booked.entry(*key).or_default() += ns;
                }
            }
            self.record.breakdown.push((id as i64, kind, booked));
        }
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

    fn end_visit(&mut self, thread: usize) {
        let (visit_begin, queued) = (
            self.threads[thread].visit_begin,
            self.threads[thread].queued,
        );
        let Some(index) = self.threads[thread].connection.take() else {
            return;
        };
        self.record.segments.push(Segment {
            span: self.connections[index].span as i64,
            thread: thread as i64,
            begin_ns: visit_begin,
            end_ns: self.now,
            queued_ns: Some(queued),
        });
        let think = self.random.exponential(160e6);
        let c = &mut self.connections[index];
        c.requests -= 1;
        if c.requests > 0 {
            self.after(think, Event::Ready(index));
            return;
        }
        let span = &mut self.record.spans[c.span];
        (span.end_ns, span.end_thread, span.complete) = (self.now, thread as i64, true);
        let mut booked = std::mem::take(&mut c.booked);
        let rest = span.end_ns - span.begin_ns - booked.values().sum::<i64>();
        booked.insert(("idle", "idle"), rest);
        self.record.breakdown.push((span.id, "connection", booked));
    }

    fn gc_begin(&mut self) {
        let pause = self.random.around(13_000_000);
        let mut stopped: Vec<usize> = self.run_queue.drain(..).collect();
        for cpu in 0..self.cpus.len() {
            if let Some(thread) = self.cpus[cpu].take() {
                self.threads[thread].turn += 1;
                stopped.push(thread);
            }
        }
        for &thread in &stopped {
            self.set_state(thread, "blocked", "gc", None);
        }
        self.stopped = Some(stopped);
        for (cpu, thread) in [(0, 2), (1, 3)] {
            self.set_state(thread, "running", "running", Some(cpu));
        }
        self.record.vm.push(Vm {
            kind: "gc",
            name: "G1 Young Generation".into(),
            cause: "G1 Evacuation Pause".into(),
            begin_ns: self.now,
            end_ns: (self.now + pause).min(self.end),
            heap_before: Some(412 << 20),
            heap_after: Some(96 << 20),
        });
        self.after(pause, Event::GcEnd);
        let next = self.random.around(1_400_000_000);
        self.after(next, Event::GcBegin);
    }

    fn gc_end(&mut self) {
        for thread in [2, 3] {
            self.set_state(thread, "blocked", "idle", None);
        }
        for thread in self.stopped.take().unwrap_or_default() {
            self.make_runnable(thread, Some(4));
        }
    }

    /// The recording ends: whatever goes on is cut.
    fn cut(&mut self) {
        for thread in 0..self.threads.len() {
            let t = &self.threads[thread];
            let (state, cause, cpu) = (t.state, t.cause, t.cpu);
            self.set_state(thread, state, cause, cpu);
        }
    }
}
