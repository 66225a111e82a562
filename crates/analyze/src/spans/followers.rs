//! Who goes on with a request that another actor is still at.
//!
//! An event loop hands a request on as a task, and a task hands it back to the server's threads; whoever goes
//! on with it may begin before the one before has left. So it follows: what it does lies in the request, and
//! the request is its own from its begin on, once the one before has left without having ended it. Where that
//! one ends the request itself, the task was something on the side.

use super::{Builder, Request, Task};

/// An actor that came to a connection while another was at its only request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follower {
    pub(super) thread: u32,
    request: u32,
    begin: i64,
    queued: Option<i64>,
    /// `None` while it is there.
    end: Option<i64>,
}

impl Builder<'_> {
    /// An actor begins to visit a connection: it follows who is at the request, if it may. A task goes on with a request that
    /// had begun when the first task of it was made; the server's own thread, with one that a task is at.
    pub(super) fn follow(
        &mut self,
        key: u64,
        thread: u32,
        ts: i64,
        task: Option<Task>,
        queued: Option<i64>,
    ) -> bool {
        let Some((holder, r)) = self.held_by(key) else {
            return false;
        };
        let may = match task {
            Some(task) => self.spans[r.span as usize].begin_ns <= task.root,
            None => self.actors[holder as usize]
                .visit
                .is_some_and(|v| v.is_task),
        };
        if may {
            let follower = Follower {
                thread,
                request: r.span,
                begin: ts,
                queued,
                end: None,
            };
            self.followers(key).push(follower);
            self.actor(thread).stack.push(r.span);
        }
        may
    }

    /// Who is at the request of a connection, if only one can be meant, and that request.
    fn held_by(&self, key: u64) -> Option<(u32, Request)> {
        let holder = self.at_request_of(key)?;
        Some((holder, self.actors[holder as usize].request?))
    }

    fn followers(&mut self, key: u64) -> &mut Vec<Follower> {
        let c = self.connections.get_mut(&key);
        &mut c.expect("it is visited").followers
    }

    /// An actor leaves a connection at a request of its own: whoever followed has it; `None` if one does.
    pub(super) fn hand_on(
        &mut self,
        key: u64,
        r: Request,
        thread: u32,
        is_task: bool,
        ts: i64,
    ) -> Option<Request> {
        let (mine, others): (Vec<_>, Vec<_>) = self
            .followers(key)
            .drain(..)
            .partition(|f| f.request == r.span);
        *self.followers(key) = others;
        let there = mine.iter().position(|f| f.end.is_none());
        if let Some(next) = there.map(|at| mine[at]) {
            self.piece(r, thread, next.begin.max(r.since));
            self.actor(next.thread).request = Some(Request {
                since: next.begin.max(r.since),
                queued: next.queued,
                ..r
            });
            let rest = mine.into_iter().filter(|f| f.thread != next.thread);
            self.followers(key).extend(rest);
            return None;
        }
        // A task that was over before the event loop had left: the loop was kept from leaving by it.
        let over = mine.iter().filter(|_| !is_task);
        let left = over.clone().map(|f| f.begin).min().unwrap_or(ts);
        self.piece(r, thread, left.max(r.since));
        for f in over {
            let since = f.begin.max(r.since);
            let went_on = Request {
                since,
                queued: None,
                ..r
            };
            self.piece(went_on, f.thread, f.end.unwrap_or(ts).max(since));
        }
        Some(r)
    }

    /// An actor that follows leaves the connection, or has a request of its own: it does so no more.
    pub(super) fn unfollow(&mut self, key: u64, thread: u32, is_task: bool, ts: i64) {
        let Some(c) = self.connections.get_mut(&key) else {
            return;
        };
        let Some(at) = c
            .followers
            .iter()
            .position(|f| f.thread == thread && f.end.is_none())
        else {
            return;
        };
        let request = c.followers[at].request;
        if is_task {
            c.followers[at].end = Some(ts);
        } else {
            c.followers.remove(at);
        }
        self.not_on(thread, request);
    }

    /// A request is over: whoever followed is at something on the side.
    pub(super) fn follows_no_more(&mut self, key: u64, request: u32, ts: i64) {
        let Some(c) = self.connections.get_mut(&key) else {
            return;
        };
        let (mine, others): (Vec<_>, Vec<_>) =
            c.followers.drain(..).partition(|f| f.request == request);
        c.followers = others;
        for f in mine.iter().filter(|f| f.end.is_none()) {
            self.not_on(f.thread, request);
            if self.actor(f.thread).visit.is_some_and(|v| v.is_task) {
                self.leave(f.thread, ts);
            }
        }
    }
}
