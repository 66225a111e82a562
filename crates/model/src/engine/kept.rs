//! Connections that clients keep open between their requests.
//!
//! A client opens its connection when it first needs it, and again after the server has closed it: because it carried as
//! many requests as it may, lay idle for too long, or the client itself gave up on a request.

use super::Engine;
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
            };
            a.kept.resize(self.model.connections.len(), closed);
        }
        let c = &mut a.kept[keep.connection as usize];
        if c.left == 0 || now.since(c.used) >= keep.idle {
            a.pc = if c.known { keep.reopen } else { keep.open };
            c.left = keep.requests;
            c.known = true;
        }
        if c.left != u32::MAX {
            c.left -= 1;
        }
        c.used = now;
    }

    /// A request is over: what is kept lies idle from now on.
    #[inline]
    pub(super) fn rest_connections(&mut self, act: u32) {
        let now = self.now;
        for c in &mut self.acts[act].kept {
            c.used = now;
        }
    }

    /// A client that gives up on a request closes its connections.
    pub(super) fn close_connections(&mut self, act: u32) {
        for c in &mut self.acts[act].kept {
            c.left = 0;
        }
    }
}
