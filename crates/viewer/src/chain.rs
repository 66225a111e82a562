//! Waking chains: from a blocked interval to who ended it, what that thread had waited for, and so on.
//!
//! The rule is that of the view `waking_chain`, and a test holds both against each other; here it is answered from memory,
//! because the page asks with every click and the view reads all states once per link.

use serde::Serialize;

use crate::lane::CLASSES;
use crate::model::{Model, NONE};

/// Links that are told at most: more arrows than that explain nothing.
const MAX_LINKS: usize = 16;

/// A blocked interval and who ended it. Times are ns since the recording began.
#[derive(Debug, Serialize)]
pub struct Link {
    thread: i64,
    thread_name: String,
    begin: i64,
    end: i64,
    /// What it is drawn as.
    class: &'static str,
    /// Class of what was waited on.
    waited_on: Option<String>,
    waker: i64,
    waker_name: String,
}

/// The chain that begins with what thread `id` did at `t`; empty if nobody of the process ended that.
pub fn chain(model: &Model, id: i64, t: i64) -> Vec<Link> {
    let mut links = Vec::new();
    let Some(&index) = model.thread_index.get(&id) else {
        return links;
    };
    let mut next = model.threads[index].lane.at(t).map(|i| (index, i));
    while let Some((thread, i)) = next
        && links.len() < MAX_LINKS
    {
        let (begin, end, class) = model.threads[thread].lane.state(i);
        let detail = model.threads[thread].details[i];
        let Some(waker) = woken_by(model, thread, i) else {
            break;
        };
        links.push(Link {
            thread: model.threads[thread].id,
            thread_name: model.threads[thread].name_at(begin).into(),
            begin,
            end,
            class: CLASSES[class as usize],
            waited_on: model.waits.class(detail.wait),
            waker: model.threads[waker].id,
            waker_name: model.threads[waker].name_at(end).into(),
        });
        next = last_block(model, waker, begin, end).map(|i| (waker, i));
    }
    links
}

/// The thread that ended a blocked interval.
fn woken_by(model: &Model, thread: usize, i: usize) -> Option<usize> {
    let detail = model.threads[thread].details[i];
    let state = &model.states[detail.state as usize];
    let blocked = state == "blocked" || state == "uninterruptible";
    (blocked && detail.waker != NONE)
        .then(|| usize::try_from(detail.waker).ok())
        .flatten()
}

/// The last interval that a thread was woken from within `(begin, end]`.
fn last_block(model: &Model, thread: usize, begin: i64, end: i64) -> Option<usize> {
    let lane = &model.threads[thread].lane;
    let last = match lane.at(end) {
        Some(i) => i.checked_sub(1)?,
        None if lane.is_empty() || end < lane.extent().1 => return None,
        None => lane.len() - 1,
    };
    (0..=last)
        .rev()
        .take_while(|&i| lane.state(i).1 > begin)
        .find(|&i| woken_by(model, thread, i).is_some())
}
