//! What threads of the simulation do, and what the recording keeps of it: steps, spans, waits,
//! states, pauses, and the time of each handshake or request by phase and cause.

use loadline_trace::tables::{Mark, Segment, Span, State, Vm, Wait};

use super::jobs::Step;
use super::sim::{Event, Sim};

impl Sim {
    pub(super) fn set_state(
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
                interrupt: blocked.then_some(false),
            });
        }
        (t.state, t.cause, t.cpu, t.since) = (state, cause, cpu, now);
        if state == "blocked" {
            (t.waker, t.syscall, t.fd, t.wait) = (None, None, None, None);
        }
    }

    /// Books the time since the last change to the phase and cause that held.
    pub(super) fn book(&mut self, thread: usize) {
        let (now, t) = (self.now, &mut self.threads[thread]);
        let since = std::mem::replace(&mut t.booked_until, now);
        let Some(&top) = t.stack.last() else { return };
        let span = &self.record.spans[top];
        let phase = match span.kind {
            "tls_handshake" if span.resumed == Some(true) => "tls_resumed",
            "tls_handshake" if span.resumed == Some(false) => "tls_full",
            "tls_handshake" => "tls_unknown",
            "pool_use" => "service",
            other => other,
        };
        if now > since {
            *t.booked.entry((phase, t.cause)).or_default() += now - since;
        }
    }

    /// One step; false if the thread left its CPU.
    pub(super) fn step(&mut self, thread: usize, step: Step) -> bool {
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

    pub(super) fn begin_wait(
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
            stack: (kind == "monitor_enter").then_some(super::write::IN_CACHE),
        });
    }

    pub(super) fn end_wait(&mut self, thread: usize, by: usize) {
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

    pub(super) fn begin_span(&mut self, thread: usize, kind: &'static str, name: &'static str) {
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
            open: true,
            cpu_ns: None,
        });
    }

    pub(super) fn end_span(&mut self, thread: usize) {
        self.book(thread);
        let Some(id) = self.threads[thread].stack.pop() else {
            return;
        };
        let span = &mut self.record.spans[id];
        (span.end_ns, span.complete, span.open) = (self.now, true, false);
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

    pub(super) fn end_visit(&mut self, thread: usize) {
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
        (span.end_ns, span.end_thread) = (self.now, thread as i64);
        (span.complete, span.open) = (true, false);
        let mut booked = std::mem::take(&mut c.booked);
        let rest = span.end_ns - span.begin_ns - booked.values().sum::<i64>();
        booked.insert(("idle", "idle"), rest);
        self.record.breakdown.push((span.id, "connection", booked));
    }

    pub(super) fn gc_begin(&mut self) {
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

    pub(super) fn gc_end(&mut self) {
        for thread in [2, 3] {
            self.set_state(thread, "blocked", "idle", None);
        }
        for thread in self.stopped.take().unwrap_or_default() {
            self.make_runnable(thread, Some(4));
        }
    }

    /// The recording ends: whatever goes on is cut.
    pub(super) fn cut(&mut self) {
        for thread in 0..self.threads.len() {
            let t = &self.threads[thread];
            let (state, cause, cpu) = (t.state, t.cause, t.cpu);
            self.set_state(thread, state, cause, cpu);
        }
    }
}
