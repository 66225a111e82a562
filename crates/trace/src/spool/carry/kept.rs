//! What is kept, as events and as a file.

use std::collections::{BTreeMap, HashMap};

use super::{Actor, Carry, Handshake, WAITS, Who, who};
use crate::spool::agent::{self, CHUNK, Event, kind as ev, left};

impl Carry {
    /// What is kept, in an order in which it can be read. `lives` as for [`Carry::settle`].
    pub fn events(&self, lives: &dyn Fn(u32) -> bool) -> Vec<Event> {
        let mut out: Vec<Event> = self.names.values().copied().collect();
        out.extend(self.pause);
        for actor in self.actors.values() {
            out.extend(&actor.open);
            out.extend(actor.goes_on);
        }
        for c in self.connections.values() {
            out.extend(c.opened);
            out.extend(c.queued);
            out.extend(c.mark);
            out.extend(&c.history);
            if let Some((begin, end)) = c.visited {
                out.push(begin);
                // No other handshake is to come: zero long, before the horizon.
                if c.handshake == Handshake::Over {
                    let of = |kind, b| Event {
                        kind,
                        b,
                        a: 0,
                        c: 0,
                        ..begin
                    };
                    out.extend([of(ev::TLS_ENTER, 0), of(ev::TLS_EXIT, 0)]);
                }
                out.push(end);
            }
        }
        for (begun, had) in self.uses.values() {
            out.extend(*begun);
            out.push(*had);
        }
        out.extend(self.spans.values());
        out.extend(self.asked.values());
        out.sort_by_key(|e| e.ts);
        self.with_mounts(out, lives)
    }

    /// Events of a virtual thread are said on its last carrier, each in a mount of its own, if mounts are told at all; who
    /// is mounted is mounted in the end.
    fn with_mounts(&self, events: Vec<Event>, lives: &dyn Fn(u32) -> bool) -> Vec<Event> {
        let carrier = self
            .actors
            .values()
            .filter_map(|a| a.mount)
            .map(|m| m.tid)
            .find(|t| lives(*t));
        let tells = self.actors.values().any(|a| a.mount.is_some());
        let last = events
            .last()
            .map_or(0, |e| e.ts)
            .max(self.actors.values().map(|a| a.last_ts).max().unwrap_or(0));
        let mut out = Vec::with_capacity(events.len());
        let mut parked = Vec::new();
        let mut met: HashMap<u64, ()> = HashMap::new();
        let on = |e: &Event, a: &Actor| {
            let own = a.mount.map_or(e.tid, |m| m.tid);
            if lives(own) {
                own
            } else {
                carrier.unwrap_or(own)
            }
        };
        let named = |out: &mut Vec<Event>,
                     met: &mut HashMap<u64, ()>,
                     id: u64,
                     tid: u32,
                     ts: i64,
                     a: &Actor| {
            if met.insert(id, ()).is_none()
                && let Some(name) = a.name
            {
                out.push(Event {
                    ts,
                    tid,
                    a: id,
                    virtual_id: id,
                    kind: ev::SWITCH_TO,
                    ..name
                });
            }
        };
        for e in events {
            let actor = match who(&e) {
                Who::Virtual(id) => self.actors.get(&Who::Virtual(id)).map(|a| (id, a)),
                Who::Thread(_) => None,
            };
            let Some((id, a)) = actor else {
                out.push(e);
                continue;
            };
            let e = Event {
                tid: on(&e, a),
                virtual_id: id,
                ..e
            };
            named(&mut out, &mut met, id, e.tid, e.ts, a);
            let mounted = a.mount.is_some_and(|m| m.kind == ev::MOUNT);
            if mounted && WAITS.contains(&e.kind) {
                parked.push(e); // pinned: it waits on its carrier
                continue;
            }
            let step = |kind, b| Event {
                kind,
                a: 0,
                b,
                c: 0,
                ..e
            };
            if tells {
                out.push(step(ev::MOUNT, 0));
            }
            out.push(e);
            if tells {
                let why = a
                    .mount
                    .filter(|m| m.kind == ev::UNMOUNT)
                    .map_or(left::UNKNOWN, |m| m.b);
                out.push(step(ev::UNMOUNT, why));
            }
        }
        // In the order of the ids, so that the same state is the same spool.
        let mounts: BTreeMap<u64, &Actor> = self
            .actors
            .iter()
            .filter_map(|(w, a)| match w {
                Who::Virtual(id) if a.mount.is_some() => Some((*id, a)),
                _ => None,
            })
            .collect();
        for of in [ev::UNMOUNT, ev::MOUNT] {
            for (&id, a) in &mounts {
                let Some(m) = a.mount.filter(|m| m.kind == of) else {
                    continue;
                };
                if of == ev::UNMOUNT && met.contains_key(&id) {
                    continue; // said already
                }
                let m = Event {
                    ts: last,
                    tid: on(&m, a),
                    virtual_id: id,
                    ..m
                };
                named(&mut out, &mut met, id, m.tid, last, a);
                if of == ev::UNMOUNT {
                    out.push(Event {
                        kind: ev::MOUNT,
                        a: 0,
                        b: 0,
                        c: 0,
                        ..m
                    });
                }
                out.push(m);
            }
        }
        out.extend(parked.into_iter().map(|e| Event { ts: last, ..e }));
        out
    }
}

/// The file that says these events and up to when they were dropped, with what had been lost by then, as in
/// [`agent::LOSSES`].
pub fn file(events: &[Event], horizon: i64, lost: [u64; agent::LOSSES.len()]) -> Vec<u8> {
    let chunks = agent::chunks_of(events, 1);
    let mut out = agent::new_header(0, &agent::Asked::default());
    let mut put = |at: usize, value: u64| out[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(agent::at::NEXT, (CHUNK + chunks.len()) as u64 | 1);
    put(agent::at::BEGIN, horizon as u64);
    for (at, lost) in agent::LOSSES.into_iter().zip(lost) {
        put(at, lost);
    }
    out.extend(chunks);
    out
}
