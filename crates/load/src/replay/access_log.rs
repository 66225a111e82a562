//! Access logs: their requests as bursts of one each.

use super::{Burst, Recorded, Replay};
use crate::scenario::Ask;
use loadline_arrivals::access_log;
use std::borrow::Cow;

pub(super) fn parse(text: &str) -> Replay {
    let log = access_log::parse(text);
    let mut replay = Replay {
        timed: true,
        skipped: log.skipped,
        sessions: vec![Recorded::default(); log.sessions],
        ..Replay::default()
    };
    for request in log.requests {
        let interaction = replay.name(request.path);
        replay.sessions[request.session].bursts.push(Burst {
            at_ns: request.at_ns,
            think_ns: None,
            interaction,
            request: Ask {
                method: Cow::Owned(request.method.to_owned()),
                path: request.path.to_owned(),
                body: None,
            },
            more: Vec::new(),
        });
    }
    replay
}
