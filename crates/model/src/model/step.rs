//! Programs: what clients and threads do, step by step.

use loadline_stats::random::Dist;

/// How a resource is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Some units of it; one of a mutex.
    Units(u32),
    /// To read.
    Read,
    /// To write.
    Write,
}

/// One step of a program.
#[derive(Debug, Clone)]
pub enum Step {
    /// Use the machine's CPU for so many seconds.
    Cpu(Dist),
    /// Let so many seconds pass.
    Wait(Dist),
    /// Sleep for so many seconds as a kernel with a timer does: until the tick after the one that completes them.
    Sleep(Dist, f64),
    /// Queue for a station and be served for so many seconds.
    Visit(usize, Dist),
    /// Take a resource, waiting for it (at most so long, then the request fails).
    Acquire(usize, Mode, Option<Dist>),
    /// Give it back.
    Release(usize, Mode),
    /// Give up the mutex, wait for a notification, take the mutex again.
    Await {
        /// The condition.
        condition: usize,
        /// Its mutex.
        mutex: usize,
    },
    /// Notify one (or all) of those that wait for a condition.
    Notify(usize, bool),
    /// Ask an entry and wait for its reply (at most so long, then the request fails).
    Call(usize, Option<Dist>),
    /// Hand the duty to reply to an entry, and go on.
    Forward(usize),
    /// Ask an entry and expect no reply.
    Send(usize),
    /// Reply now and go on with what remains (second phase).
    Reply,
    /// Run several programs at once and go on when so many of them have ended.
    Fork(Vec<Vec<Step>>, u32),
    /// One of several programs, by probability; what is missing to 1 does nothing.
    Branch(Vec<(f64, Vec<Step>)>),
    /// The program of the request's class, if there is one.
    ByClass(Vec<(usize, Vec<Step>)>),
    /// A program so many times (rounded to the nearest whole number).
    Loop(Dist, Vec<Step>),
    /// Allocate so many bytes from the pool's heap.
    Allocate(Dist),
    /// Open the client's connection, unless it is open still.
    KeepAlive(KeepAlive),
    /// A named part, whose duration is recorded.
    Phase(usize, Vec<Step>),
    /// Ask a guard, as a new connection with this probability, else as a resumed one; fails if refused.
    Admit(usize, f64),
    /// Fail the request.
    Fail,
}

/// A connection that a client keeps open between its requests, until it has carried so many or lain idle for so long.
#[derive(Debug, Clone)]
pub struct KeepAlive {
    /// Index among the model's connections.
    pub connection: usize,
    /// Requests that one connection carries.
    pub requests: u32,
    /// Seconds without a request after which it is closed.
    pub idle: f64,
    /// What opening the client's first one takes.
    pub open: Vec<Step>,
    /// What opening a later one takes.
    pub reopen: Vec<Step>,
    /// The heap, and how much of it the server holds for one while it is open.
    pub holds: Option<(usize, Dist)>,
}
