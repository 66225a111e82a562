//! Connections: their visits, handshakes, and the requests that outlive a visit.

use super::{CALLS, Carry, Connection, Handshake, MOST_HISTORY, Who, who};
use crate::spool::agent::{Event, kind as ev};

impl Carry {
    pub(super) fn opens(&mut self, e: &Event) {
        self.closed.remove(&e.a);
        match self.connections.get_mut(&e.a) {
            // Reported late, after its first visit.
            Some(c) if c.opened.is_none() => c.opened = Some(*e),
            _ => {
                let c = Connection {
                    opened: Some(*e),
                    ..Connection::default()
                };
                self.connections.insert(e.a, c);
            }
        }
    }

    pub(super) fn closes(&mut self, e: &Event) {
        if let Some(c) = self.connections.get(&e.a) {
            for visitor in c.visitors.clone() {
                self.leave(visitor, None, e);
            }
        }
        self.connections.remove(&e.a);
        self.closed.insert(e.a, e.ts);
    }

    pub(super) fn queued(&mut self, e: &Event) {
        if self.closed.contains_key(&e.a) {
            return;
        }
        let c = self.connections.entry(e.a).or_default();
        let visited = c.visited.map(|(begin, _)| begin.ts);
        let visited = visited.max(c.history.last().map(|e| e.ts));
        if c.queued.is_none_or(|q| visited >= Some(q.ts)) {
            c.queued = Some(*e);
        }
    }

    pub(super) fn visits(&mut self, e: &Event) {
        let actor = self.actor(e);
        if let Some((key, depth)) = &mut actor.visit
            && *key == e.a
        {
            *depth += 1;
            return actor.open.push(*e);
        }
        self.leave(who(e), None, e);
        let actor = self.actor(e);
        actor.visit = Some((e.a, 1));
        actor.forget(&[ev::REQUEST_PARSE]);
        actor.open.push(*e);
        if !self.closed.contains_key(&e.a) {
            let c = self.connections.entry(e.a).or_default();
            c.visitors.push(who(e));
        }
    }

    pub(super) fn visit_ends(&mut self, e: &Event) {
        let actor = self.actor(e);
        match &mut actor.visit {
            Some((key, depth)) if *key == e.a && *depth > 1 => {
                *depth -= 1;
                actor.close(&[ev::VISIT_BEGIN]);
            }
            Some((key, _)) if *key == e.a => self.leave(who(e), Some(e), e),
            _ => {}
        }
    }

    /// An actor leaves the connection that it visits, if it does; `now` is what ended it.
    pub(super) fn leave(&mut self, actor: Who, said: Option<&Event>, now: &Event) {
        let Some(a) = self.actors.get_mut(&actor) else {
            return;
        };
        let Some((key, _)) = a.visit.take() else {
            return;
        };
        a.forget(&CALLS);
        let unfinished = a.has_request();
        let of_visit = |k: u32| {
            matches!(
                k,
                ev::VISIT_BEGIN
                    | ev::TLS_ENTER
                    | ev::TLS_KEY
                    | ev::TLS_EXIT
                    | ev::REQUEST
                    | ev::STATUS
                    | ev::REQUEST_END
                    | ev::REQUEST_PARSE
            )
        };
        let visit: Vec<Event> = a
            .open
            .iter()
            .filter(|e| of_visit(e.kind))
            .copied()
            .collect();
        a.open.retain(|e| !of_visit(e.kind));
        let Some(c) = self.connections.get_mut(&key) else {
            return;
        };
        c.visitors.retain(|v| *v != actor);
        let Some(begin) = visit.first().copied() else {
            return;
        };
        let end = Event {
            ts: now.ts,
            kind: ev::VISIT_END,
            a: key,
            b: 0,
            c: 0,
            ..begin
        };
        let end = said.copied().unwrap_or(end);
        let shakes = c.handshake == Handshake::Open && visit.iter().any(|e| is_tls(e.kind));
        if unfinished || shakes {
            let keeps = |k: u32| match k {
                ev::VISIT_BEGIN => true,
                ev::REQUEST | ev::STATUS => unfinished,
                k => is_tls(k) && c.handshake == Handshake::Open,
            };
            c.history.extend(visit.iter().filter(|e| keeps(e.kind)));
            c.history.push(end);
            let over = c.history.len().saturating_sub(MOST_HISTORY);
            c.history.drain(..over);
        } else {
            c.visited = Some((begin, end));
        }
    }

    pub(super) fn tls(&mut self, e: &Event) {
        let actor = self.actor(e);
        let over = e.kind == ev::TLS_EXIT && e.b as i64 <= 0;
        let Some((key, _)) = actor.visit else {
            // Outside any visit a handshake is one step.
            match over {
                true => actor.forget(&[ev::TLS_ENTER, ev::TLS_KEY]),
                false if e.kind != ev::TLS_EXIT => actor.open.push(*e),
                false => {}
            }
            return;
        };
        if e.kind != ev::TLS_EXIT && !actor.has(e.kind) || over {
            actor.open.push(*e);
        }
        let Some(c) = self.connections.get_mut(&key) else {
            return;
        };
        if over {
            c.handshake = Handshake::Over;
            c.forget_handshake();
        } else if c.handshake == Handshake::None && e.kind != ev::TLS_KEY {
            c.handshake = Handshake::Open;
        }
    }

    pub(super) fn request(&mut self, e: &Event) {
        let actor = self.actor(e);
        if actor.has_request() {
            actor.forget(&CALLS);
        }
        actor.forget(&[ev::REQUEST, ev::STATUS, ev::REQUEST_END, ev::REQUEST_PARSE]);
        actor.open.push(*e);
        let key = actor.visit.map(|(key, _)| key);
        if let Some(c) = key.and_then(|k| self.connections.get_mut(&k)) {
            c.handshake = Handshake::Over;
            c.forget_handshake();
            // A request that was suspended was taken up by this visit, and ended by this request.
            if c.visitors.len() == 1 {
                c.history.clear();
            }
        }
    }

    pub(super) fn request_ends(&mut self, e: &Event) {
        let actor = self.actor(e);
        let own = actor.has_request();
        let visit = actor.visit;
        actor.forget(&[ev::REQUEST_PARSE]);
        if own {
            actor.forget(&CALLS);
            match visit {
                // What comes next in this visit is not the first.
                Some(_) => actor.open.push(*e),
                None => actor.forget(&[ev::REQUEST, ev::STATUS]),
            }
        } else if let Some(c) = visit.and_then(|(key, _)| self.connections.get_mut(&key)) {
            let suspended = c.history.iter().filter(|e| e.kind == ev::REQUEST);
            if suspended.count() == 1 {
                c.history.clear();
                let actor = self.actor(e);
                actor.forget(&CALLS);
            }
        }
    }
}

impl Connection {
    fn forget_handshake(&mut self) {
        if self.history.iter().any(|e| e.kind == ev::REQUEST) {
            self.history.retain(|e| !is_tls(e.kind));
        } else {
            self.history.clear();
        }
    }
}

fn is_tls(kind: u32) -> bool {
    matches!(kind, ev::TLS_ENTER | ev::TLS_KEY | ev::TLS_EXIT)
}
