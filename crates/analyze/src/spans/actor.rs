//! What nests on one actor: requests, services, pools, statements, calls, and the application's spans.

use super::connection::Visit;
use super::{Builder, Kind, Name, Request};

/// What an actor is at.
#[derive(Default)]
pub(super) struct Actor {
    pub(super) visit: Option<Visit>,
    /// Last look for a request's first byte in this visit.
    pub(super) parse: Option<i64>,
    pub(super) request: Option<Request>,
    /// Handshake step outside any visit.
    pub(super) tls_begin: Option<i64>,
    pub(super) tls_key: bool,
    service: Option<Outermost>,
    pool: Option<Outermost>,
    sql: Option<Outermost>,
    call: Option<Outermost>,
    app: Vec<u32>,
    /// Open spans, the innermost last.
    pub(super) stack: Vec<u32>,
}

/// The outermost of calls that nest, and how many are open.
#[derive(Debug, Clone, Copy)]
struct Outermost {
    span: u32,
    depth: u32,
}

/// Enters a nested call; `true` if it is not the outermost.
fn nested(slot: &mut Option<Outermost>) -> bool {
    slot.as_mut().map(|o| o.depth += 1).is_some()
}

/// Leaves one; the span if that was the outermost.
fn left(slot: &mut Option<Outermost>) -> Option<u32> {
    let o = slot.as_mut()?;
    o.depth -= 1;
    let span = o.span;
    if o.depth > 0 {
        return None;
    }
    *slot = None;
    Some(span)
}

impl Builder<'_> {
    pub(super) fn request_begins(&mut self, name: u32, thread: u32, ts: i64) {
        if let Some(r) = self.actor(thread).request.take() {
            self.close_calls(thread, ts);
            self.piece(r, thread, ts);
            self.end_request(r, thread, ts, None);
        }
        let name = self.name(name, Name::REQUEST);
        let actor = self.actor(thread);
        let parse = actor.parse.take();
        let Some(visit) = actor.visit.as_mut() else {
            // Its thread was already serving a connection when the probes were placed: how much of
            // the request came before, and on which connection it came, was not seen.
            let span = self.open_on(Kind::Request, name, thread, ts);
            self.span(span).complete = false;
            self.actor(thread).request = Some(Request::new(span, ts));
            return;
        };
        let begin = if visit.fresh {
            visit.begin
        } else {
            parse.unwrap_or(ts)
        };
        visit.fresh = false;
        let (key, connection, is_task) = (visit.key, visit.connection, visit.is_task);
        self.unfollow(key, thread, is_task, ts);
        let floor = self.connections.get(&key).map_or(begin, |c| c.request_end);
        let begin = begin.max(floor).min(ts);
        self.no_handshake_any_more(key, thread, begin);
        let span = self.open_in(Some(connection), Kind::Request, name, thread, begin);
        let actor = self.actor(thread);
        actor.request = Some(Request::new(span, begin));
        actor.stack.push(span);
    }

    /// Who is at the request of the connection that an actor visits, if only one can be meant.
    fn at_its_request(&self, thread: u32) -> Option<u32> {
        let visit = self.actors.get(thread as usize)?.visit?;
        self.at_request_of(visit.key)
    }

    /// Who is at the request of a connection, if only one can be meant.
    pub(super) fn at_request_of(&self, key: u64) -> Option<u32> {
        let c = self.connections.get(&key)?;
        let is_at_one =
            |v: &u32| c.suspended.is_empty() && self.actors[*v as usize].request.is_some();
        let mut at_one = c.visitors.iter().copied().filter(is_at_one);
        let only = at_one.next()?;
        at_one.next().is_none().then_some(only)
    }

    pub(super) fn status(&mut self, status: u64, thread: u32, ts: i64) {
        let of = match self.actor(thread).request {
            Some(_) => thread,
            // An event loop writes what a worker answers.
            None => self.at_its_request(thread).unwrap_or(thread),
        };
        let Some(r) = self.actor(of).request.as_mut() else {
            return;
        };
        r.answered = Some(ts);
        let span = r.span;
        self.span(span).status = u16::try_from(status).unwrap_or(0);
    }

    pub(super) fn request_ends(&mut self, thread: u32, ts: i64) {
        let actor = self.actor(thread);
        actor.parse = None;
        let (own, visit) = (actor.request.take(), actor.visit);
        let request = own.or_else(|| {
            // A request that was suspended, if only one can be meant.
            let c = self.connections.get_mut(&visit?.key)?;
            let r = if c.suspended.len() == 1 {
                c.suspended.pop()
            } else {
                None
            };
            r.map(|r| Request {
                since: visit.map_or(ts, |v| v.begin),
                ..r
            })
        });
        if let Some(r) = request {
            self.close_calls(thread, ts);
            self.piece(r, thread, ts);
            self.end_request(r, thread, ts, Some(ts));
        } else if let Some(other) = self.at_its_request(thread) {
            // What it was asked for is done; what it still does is its visit's.
            if let Some(r) = self.actor(other).request.take() {
                self.piece(r, other, ts);
                self.end_request(r, thread, ts, Some(ts));
                self.not_on(other, r.span);
                if self.actor(other).visit.is_some_and(|v| v.is_task) {
                    self.leave(other, ts);
                }
            }
        }
    }

    /// Ends a request where it was said to end; else where it was answered; else now.
    pub(super) fn end_request(&mut self, r: Request, thread: u32, ts: i64, said: Option<i64>) {
        let end = said.or(r.answered);
        self.close(r.span, thread, end.unwrap_or(ts), end.is_some());
        let visit = self.actor(thread).visit;
        let end = self.spans[r.span as usize].end_ns;
        let Some(key) = visit.map(|v| v.key) else {
            return;
        };
        if let Some(c) = self.connections.get_mut(&key) {
            c.request_end = c.request_end.max(end);
        }
        self.follows_no_more(key, r.span, ts);
    }

    /// Ends the calls that are open on an actor although what they were made in is over.
    pub(super) fn close_calls(&mut self, thread: u32, ts: i64) {
        let actor = self.actor(thread);
        let calls = [
            actor.call.take(),
            actor.sql.take(),
            actor.pool.take(),
            actor.service.take(),
        ];
        for o in calls.into_iter().flatten() {
            self.close(o.span, thread, ts, false);
        }
    }

    pub(super) fn service_begins(&mut self, name: u32, thread: u32, ts: i64) {
        if !nested(&mut self.actor(thread).service) {
            let name = self.name(name, Name::SERVICE);
            let span = self.open_on(Kind::Service, name, thread, ts);
            self.actor(thread).service = Some(Outermost { span, depth: 1 });
        }
    }

    pub(super) fn service_ends(&mut self, thread: u32, ts: i64) {
        if let Some(span) = left(&mut self.actor(thread).service) {
            self.close(span, thread, ts, true);
        }
    }

    pub(super) fn pool_wait_begins(&mut self, name: u32, thread: u32, ts: i64) {
        if !nested(&mut self.actor(thread).pool) {
            let name = self.name(name, Name::POOL);
            let span = self.open_on(Kind::PoolWait, name, thread, ts);
            self.actor(thread).pool = Some(Outermost { span, depth: 1 });
        }
    }

    pub(super) fn pool_wait_ends(&mut self, identity: u64, thread: u32, ts: i64) {
        let had = self.actor(thread).pool.is_some();
        let outermost = left(&mut self.actor(thread).pool);
        let name = match outermost {
            Some(span) => {
                self.close(span, thread, ts, true);
                self.spans[span as usize].name
            }
            None if had => return, // a wrapper's inner pool: the outermost counts
            None => Name::POOL,    // asked for before the recording began
        };
        if identity == 0 {
            return;
        }
        let parent = self.actor(thread).stack.last().copied();
        let span = self.open_in(parent, Kind::PoolUse, name, thread, ts);
        if let Some(lost) = self.uses.insert(identity, span) {
            self.close(lost, thread, ts, false); // its release was lost
        }
    }

    pub(super) fn pool_release(&mut self, identity: u64, thread: u32, ts: i64) {
        if let Some(span) = self.uses.remove(&identity) {
            self.close(span, thread, ts, true);
        }
    }

    pub(super) fn sql_begins(&mut self, name: u32, thread: u32, ts: i64) {
        if !nested(&mut self.actor(thread).sql) {
            let name = self
                .names
                .of_text(name, self.cx.text)
                .unwrap_or(Name::STATEMENT);
            let span = self.open_on(Kind::Sql, name, thread, ts);
            self.actor(thread).sql = Some(Outermost { span, depth: 1 });
        }
    }

    pub(super) fn sql_ends(&mut self, thread: u32, ts: i64) {
        if let Some(span) = left(&mut self.actor(thread).sql) {
            self.close(span, thread, ts, true);
        }
    }

    pub(super) fn call_begins(&mut self, name: u32, thread: u32, ts: i64) {
        if !nested(&mut self.actor(thread).call) {
            let name = self.name(name, Name::CALL);
            let span = self.open_on(Kind::Call, name, thread, ts);
            self.actor(thread).call = Some(Outermost { span, depth: 1 });
        }
    }

    pub(super) fn call_ends(&mut self, thread: u32, ts: i64) {
        if let Some(span) = left(&mut self.actor(thread).call) {
            self.close(span, thread, ts, true);
        }
    }

    pub(super) fn asks(&mut self, id: u64, name: u32, thread: u32, ts: i64) {
        let name = self.name(name, Name::CALL);
        let parent = self.actor(thread).stack.last().copied();
        let span = self.open_in(parent, Kind::Asked, name, thread, ts);
        self.has_asked = true;
        if let Some(lost) = self.asked.insert(id, span) {
            self.close(lost, thread, ts, false); // its end was lost
        }
    }

    pub(super) fn is_answered(&mut self, id: u64, thread: u32, ts: i64) {
        if let Some(span) = self.asked.remove(&id) {
            self.close(span, thread, ts, true);
        }
    }

    pub(super) fn app_state(&mut self, name: u32, thread: u32, ts: i64) {
        self.app_pop(thread, ts);
        if name != 0 {
            self.app_push(name, thread, ts);
        }
    }

    pub(super) fn app_push(&mut self, name: u32, thread: u32, ts: i64) {
        let name = self.name(name, Name::STATE);
        let span = self.open_on(Kind::AppState, name, thread, ts);
        self.actor(thread).app.push(span);
    }

    pub(super) fn app_pop(&mut self, thread: u32, ts: i64) {
        if let Some(span) = self.actor(thread).app.pop() {
            self.close(span, thread, ts, true);
        }
    }

    pub(super) fn user_begins(&mut self, id: u64, name: u32, thread: u32, ts: i64) {
        let name = self.name(name, Name::SPAN);
        let span = self.open_on(Kind::User, name, thread, ts);
        if let Some(lost) = self.users.insert(id, span) {
            self.close(lost, thread, ts, false); // its end was lost
        }
    }

    pub(super) fn user_ends(&mut self, id: u64, thread: u32, ts: i64) {
        if let Some(span) = self.users.remove(&id) {
            self.close(span, thread, ts, true);
        }
    }
}
