//! Connections that clients keep open between their requests.
//!
//! A client opens its connection when it first needs it, and again after the server has closed it: because it carried as
//! many requests as it may, lay idle for too long, or the client itself gave up on a request.

use super::Engine;
use super::generations::Held;
use crate::time::Time;

/// One client's connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    /// Requests that it still carries; 0 when closed.
    left: u32,
    /// When it was last used.
    used: Time,
    /// Whether it was ever open: a later handshake may resume.
    known: bool,
    /// What the server holds for it: of which heap.
    held: Option<(u32, Held)>,
}

impl Engine<'_> {
    /// The client needs its connection: opens it unless it is open still.
    pub(super) fn keep_alive(&mut self, act: u32, which: u32) {
        let keep = self.code.keeps[which as usize];
        let now = self.now;
        let a = &mut self.acts[act];
        if a.kept.is_empty() {
            let closed = Kept {
                left: 0,
                used: now,
                known: false,
                held: None,
            };
            a.kept.resize(self.model.connections.len(), closed);
        }
        let c = &mut a.kept[keep.connection as usize];
        if c.left == 0 || now.since(c.used) >= keep.idle {
            a.pc = if c.known { keep.reopen } else { keep.open };
            c.left = keep.requests;
            c.known = true;
            let before = c.held.take();
            self.let_go(before);
            if let Some((heap, bytes)) = keep.holds {
                let bytes = self.draw(bytes);
                let held = self.hold(heap, bytes);
                self.acts[act].kept[keep.connection as usize].held = held.map(|held| (heap, held));
            }
        }
        let c = &mut self.acts[act].kept[keep.connection as usize];
        if c.left != u32::MAX {
            c.left -= 1;
        }
        c.used = now;
    }

    /// A request is over: what is kept lies idle from now on, and what has carried its last is closed.
    #[inline]
    pub(super) fn rest_connections(&mut self, act: u32) {
        let now = self.now;
        for i in 0..self.acts[act].kept.len() {
            let c = &mut self.acts[act].kept[i];
            c.used = now;
            if c.left == 0 {
                let held = c.held.take();
                self.let_go(held);
            }
        }
    }

    /// A client closes its connections: it gives up on a request, or leaves.
    pub(super) fn close_connections(&mut self, act: u32) {
        for i in 0..self.acts[act].kept.len() {
            let c = &mut self.acts[act].kept[i];
            c.left = 0;
            let held = c.held.take();
            self.let_go(held);
        }
    }

    fn let_go(&mut self, held: Option<(u32, Held)>) {
        if let Some((heap, held)) = held {
            self.release_held(heap, held);
        }
    }
}
