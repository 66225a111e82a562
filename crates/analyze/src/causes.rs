//! Why a blocked interval was blocked.
//!
//! The kernel says that a thread was blocked, and in which system call; the JVM says what it was
//! waiting for; the server says what it was doing. The first of these that applies to the moment
//! at which the interval began gives the cause:
//!
//! | what was so when it blocked | cause |
//! | --- | --- |
//! | uninterruptible | file |
//! | a JVM wait, for a lock | lock |
//! | a JVM wait, inside a pool wait | pool |
//! | a JVM wait, in the midst of work, ended by a thread that polls | socket |
//! | a JVM wait for an answer that others read, in a call of another service | socket |
//! | a virtual thread that parks as the JDK parks it for a socket, in the midst of work | socket |
//! | a JVM wait, for something to happen | other in the midst of work, else idle |
//! | a read or write: of a socket; of a file | socket; file |
//! | a call that only sockets have | socket |
//! | accept or a poll | socket in the midst of work, else idle |
//! | a call that only files have | file |
//! | a futex of a Java thread, in which a pause of a collection lies, ended by the VM Thread | gc |
//! | a futex of a Java thread that another ended, pauses of collections being a fifth of it or more | gc |
//! | a futex of a Java thread that the VM Thread ended, without a pause in it | safepoint |
//! | a futex, inside a pool wait | pool |
//! | anything else | other in the midst of work, else idle |
//!
//! Where it is not known who ended an interval, it is the collection's if the pause's end ended it.
//!
//! Work is a visit, a request, a service, a statement, a call of another service, a pool wait, or a span of the application.
//! Intervals that are not blocked have their state as their cause.

use std::sync::Arc;

use crate::intervals::{Cursor, flatten};
use crate::model::{Cause, Interval, NONE, OFF_CARRIER, State};
use crate::syscalls::{Class, Names};
use crate::waits::{Wait, is_lock};

/// How long before the reported start of a pause its safepoint may stop a thread.
const TO_SAFEPOINT_NS: i64 = 20_000_000;
/// How long after the reported end of a pause those that it stopped are woken.
const FROM_SAFEPOINT_NS: i64 = 2_000_000;

/// Of a wait for the lock of the heap, the part that is pauses at least, as a divisor. Under a planted pressure of
/// collections 19 in 20 are above it, and of other waits of this kind none.
const OF_HEAP_WAIT: i64 = 5;

/// Class that the agent gives a park of a virtual thread for a socket, which names none.
const SOCKETS: &str = "sun.nio.ch.Poller";
/// Who waits for an answer that other threads read parks on one of these: a future, or what gRPC's blocking stubs run.
const ANSWERS: [&str; 3] = [
    "java.util.concurrent.CompletableFuture$Signaller",
    "io.grpc.stub.ClientCalls$ThreadlessExecutor",
    "io.grpc.stub.ClientCalls$ThreadSafeThreadlessExecutor",
];

/// And who has asked for one before on one of these too, such as Reactor's `block()`.
const ANSWERS_TO_ASKED: [&str; 2] = [
    "java.util.concurrent.CountDownLatch$Sync",
    "java.util.concurrent.FutureTask",
];

/// What is known about one thread, all sorted by begin.
pub struct Facts<'a> {
    /// All waits of the trace; a wait's index is its id.
    pub waits: &'a [Wait],
    /// Text of a string id, as the class of a wait is.
    pub text: &'a dyn Fn(u32) -> Option<Arc<str>>,
    /// Those of this thread.
    pub own: &'a [u32],
    /// When it was at work; disjoint.
    pub work: &'a [(i64, i64)],
    /// When it waited for a pool; disjoint.
    pub pool: &'a [(i64, i64)],
    /// When it called another service; disjoint.
    pub calls: &'a [(i64, i64)],
    /// When it was at a request that had asked another service, whose answer had not come; disjoint.
    pub asked: &'a [(i64, i64)],
    /// Pauses of the collector; disjoint.
    pub pauses: &'a [(i64, i64)],
    /// Whether a waker waits for descriptors on behalf of others, at that time.
    pub is_poller: &'a dyn Fn(u32, i64) -> bool,
    /// Whether collections stop it: it is a thread of the program, not of the machine.
    pub is_program: bool,
    /// Kernel tid of the VM Thread, which stops the others at safepoints and lets them go on.
    pub vm_thread: Option<u32>,
    /// Names of system calls.
    pub names: &'a Names,
    /// Kind of a descriptor at a time.
    pub resource: &'a dyn Fn(i32, i64) -> Option<&'static str>,
}

/// Without the kernel level: blocked in each wait, unknown else.
pub fn from_waits(begin: i64, end: i64, waits: &[Wait], own: &[u32]) -> Vec<Interval> {
    let over: Vec<(i64, i64, u32)> = own
        .iter()
        .map(|&w| (waits[w as usize].begin_ns, waits[w as usize].end_ns, w))
        .collect();
    let state = |wait| {
        if wait == NONE {
            State::Unknown
        } else {
            State::Blocked
        }
    };
    flatten(begin, end, NONE, &over)
        .into_iter()
        .map(|(b, e, wait)| Interval::new(b, e, state(wait)))
        .collect()
}

/// Gives the intervals of one thread their causes, one after another, and the blocked ones the wait that explains them.
pub struct Explainer<'a> {
    facts: &'a Facts<'a>,
    work: Cursor<'a>,
    pool: Cursor<'a>,
    calls: Cursor<'a>,
    asked: Cursor<'a>,
    /// Waits that have begun, the innermost last.
    open: Vec<u32>,
    /// The next of the thread's own waits.
    next: usize,
}

impl<'a> Explainer<'a> {
    /// Before the first interval.
    pub fn new(facts: &'a Facts<'a>) -> Explainer<'a> {
        Explainer {
            facts,
            work: Cursor::new(facts.work),
            pool: Cursor::new(facts.pool),
            calls: Cursor::new(facts.calls),
            asked: Cursor::new(facts.asked),
            open: Vec::new(),
            next: 0,
        }
    }

    /// Explains the next intervals.
    pub fn explain(&mut self, states: &mut [Interval]) {
        for i in states {
            i.cause = match i.state {
                State::Running => Cause::Running,
                State::Runnable | State::Preempted => Cause::Runnable,
                State::Unknown => Cause::Unknown,
                State::Carrying => Cause::Carrying,
                State::Blocked | State::Uninterruptible => self.of_blocked(i),
            };
        }
    }

    fn of_blocked(&mut self, i: &mut Interval) -> Cause {
        let facts = self.facts;
        while let Some(&w) = facts.own.get(self.next)
            && facts.waits[w as usize].begin_ns <= i.begin
        {
            self.open.push(w);
            self.next += 1;
        }
        while (self.open.last()).is_some_and(|&w| facts.waits[w as usize].end_ns <= i.begin) {
            self.open.pop();
        }
        let wait = self.open.last().copied();
        i.wait = wait.unwrap_or(NONE);
        let working = self.work.covers(i.begin);
        let in_pool = self.pool.covers(i.begin);
        let in_call = self.calls.covers(i.begin);
        let has_asked = self.asked.covers(i.begin);
        if i.state == State::Uninterruptible {
            Cause::File
        } else if let Some(w) = wait {
            let w = &facts.waits[w as usize];
            match of_wait(i, w, working, in_pool, facts) {
                Cause::Other if is_for_answer(w, in_call, has_asked, facts) => Cause::Socket,
                cause => cause,
            }
        } else {
            of_call(i, working, in_pool, facts)
        }
    }
}

fn of_wait(i: &Interval, w: &Wait, working: bool, in_pool: bool, facts: &Facts) -> Cause {
    if is_lock(w, (facts.text)(w.class).as_deref()) {
        Cause::Lock
    } else if in_pool {
        Cause::Pool
    } else if working && peer_is_waited_for(i, w, facts) {
        Cause::Socket
    } else {
        idle_unless(working)
    }
}

/// A blocking read of Tomcat's, say: the poller tells it that bytes have come. Who is not woken yet shows it by what it
/// parked on.
fn peer_is_waited_for(i: &Interval, w: &Wait, facts: &Facts) -> bool {
    if i.waker == NONE {
        (facts.text)(w.class).as_deref() == Some(SOCKETS)
    } else {
        (facts.is_poller)(i.waker, i.end)
    }
}

fn is_for_answer(w: &Wait, in_call: bool, has_asked: bool, facts: &Facts) -> bool {
    (in_call || has_asked)
        && (facts.text)(w.class).is_some_and(|class| {
            ANSWERS.contains(&&*class) || has_asked && ANSWERS_TO_ASKED.contains(&&*class)
        })
}

fn idle_unless(working: bool) -> Cause {
    if working { Cause::Other } else { Cause::Idle }
}

fn of_call(i: &Interval, working: bool, in_pool: bool, facts: &Facts) -> Cause {
    if i.cpu == OFF_CARRIER {
        return if in_pool {
            Cause::Pool
        } else {
            idle_unless(working)
        };
    }
    let class = match i.syscall {
        0 => Class::Futex, // not told: most blocking is a futex
        n => facts.names.class(u32::from(n) - 1),
    };
    match class {
        Class::ReadWrite => match (facts.resource)(i.fd, i.begin) {
            Some("file") => Cause::File,
            Some("pipe" | "eventfd" | "epoll" | "other") => idle_unless(working),
            // Files block uninterruptibly; what blocks otherwise and was not seen in /proc was
            // opened a moment ago, as connections are.
            _ => Cause::Socket,
        },
        Class::Socket => Cause::Socket,
        Class::Accept | Class::Poll if working => Cause::Socket,
        Class::File => Cause::File,
        Class::Futex => match stopped_by_vm(i, facts) {
            Some(cause) => cause,
            None if in_pool => Cause::Pool,
            None => idle_unless(working),
        },
        _ => idle_unless(working),
    }
}

/// What the virtual machine stopped a thread of the program for, if it did.
///
/// A stopped thread waits on a futex that the VM Thread opens when the operation is over. Java code
/// waits for that thread in no other way; what asks it for an operation does, and is stopped by it as
/// well. So whom another thread woke was not stopped: it waited for that thread, and a pause only made its wait longer.
/// But who finds no room to allocate waits for the lock of the heap, and who has that lock for collections, one or
/// several: much of such a wait is pauses, and its holder ends it.
fn stopped_by_vm(i: &Interval, facts: &Facts) -> Option<Cause> {
    if !facts.is_program {
        return None;
    }
    let by_vm = match (i.waker, facts.vm_thread) {
        (NONE, _) | (_, None) => None,
        (waker, Some(vm)) => Some(waker == vm),
    };
    let pause = pause_in(i, facts.pauses);
    match by_vm {
        Some(true) if pause.is_some() => Some(Cause::Gc),
        Some(true) => Some(Cause::Safepoint),
        Some(false) => waits_for_room(i, facts.pauses).then_some(Cause::Gc),
        None => pause
            .filter(|p| i.end <= p.1 + FROM_SAFEPOINT_NS)
            .map(|_| Cause::Gc),
    }
}

fn waits_for_room(i: &Interval, pauses: &[(i64, i64)]) -> bool {
    let from = pauses.partition_point(|p| p.1 <= i.begin);
    let within = pauses[from..].iter().take_while(|p| p.0 < i.end);
    let paused: i64 = within.map(|p| p.1.min(i.end) - p.0.max(i.begin)).sum();
    paused > 0 && paused >= (i.end - i.begin) / OF_HEAP_WAIT
}

/// The first pause that stopped a thread which blocked then: it blocked within it, or just before.
fn pause_in(i: &Interval, pauses: &[(i64, i64)]) -> Option<(i64, i64)> {
    let at = pauses.partition_point(|p| p.1 <= i.begin);
    pauses
        .get(at)
        .filter(|p| p.0 - TO_SAFEPOINT_NS <= i.begin && p.0 < i.end)
        .copied()
}

#[cfg(test)]
mod tests;
