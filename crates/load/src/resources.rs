//! What belongs to a page, fetched as browsers do: over a few connections at once, each picking the
//! next from a common list, and never twice in a session. HTTP/2 needs one connection for all.
//!
//! A resource that cannot be had is counted and does not make the page a failure; the visitor's
//! patience holds for the page with all of it.

use crate::clock::now_ns;
use crate::connection::{Connection, Plan};
use crate::cookies::Jar;
use crate::http::Reply;
use crate::scenario::Ask;
use crate::session::Context;
use crate::stats::lock;
use crate::visitor::Visitor;
use crate::{html, url};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use tokio::task::JoinSet;

/// Streams of one HTTP/2 connection at once.
const STREAMS: usize = 32;

/// What the lanes of one page share.
struct Page {
    context: Rc<Context>,
    wanted: RefCell<VecDeque<Ask>>,
    jar: Jar,
    /// Paths that were had and may be kept.
    had: RefCell<Vec<String>>,
    new_cookies: RefCell<Vec<String>>,
}

enum Lane {
    Open(Connection),
    ToOpen(Plan),
}

impl Visitor {
    /// Fetches what the page just read embeds.
    pub(crate) async fn fetch_resources(&mut self, page_path: &str) {
        let context = self.context.clone();
        let mut wanted = VecDeque::new();
        let mut cached = 0;
        for link in html::resources(&self.reply.body) {
            let path = url::resolve(page_path, &link, context.tls.is_some(), &context.authority);
            match path {
                Some(path) if self.cache.contains(&path) => cached += 1,
                Some(path) => wanted.push_back(Ask::get(path)),
                None => {}
            }
        }
        lock(&context.stats).resources_cached += cached;
        self.fetch(wanted).await;
    }

    /// Fetches these, over as many connections as the scenario allows.
    pub(crate) async fn fetch(&mut self, wanted: VecDeque<Ask>) {
        if wanted.is_empty() {
            return;
        }
        let context = self.context.clone();
        let limit = context.scenario.client.connections as usize;
        let mut lanes = Vec::new();
        let main = self.connection().take();
        match main.as_ref().and_then(|c| c.share().map(|_| c)) {
            Some(h2) => {
                let shared = (0..wanted.len().min(STREAMS)).filter_map(|_| h2.share());
                lanes.extend(shared.map(Lane::Open));
                if let Some(main) = main {
                    self.put_back(main);
                }
            }
            None => {
                lanes.extend(main.into_iter().map(Lane::Open));
                let kept = std::mem::take(&mut self.side);
                lanes.extend(kept.into_iter().map(Lane::Open));
                // With pipelining one connection takes several.
                let depth = context.scenario.client.pipeline as usize;
                let enough = wanted.len().div_ceil(depth).min(limit);
                while lanes.len() < enough {
                    lanes.push(Lane::ToOpen(self.plan_connection()));
                }
            }
        }
        let page = Rc::new(Page {
            context,
            wanted: RefCell::new(wanted),
            jar: self.jar.clone(),
            had: RefCell::default(),
            new_cookies: RefCell::default(),
        });
        let mut running = JoinSet::new();
        for lane in lanes {
            running.spawn_local(work_off(page.clone(), lane));
        }
        while let Some(ended) = running.join_next().await {
            // A lane that panicked took the worker's panic message with it; its connection is gone.
            if let Ok(Some(connection)) = ended
                && connection.share().is_none()
            {
                if self.connection().is_none() {
                    self.put_back(connection);
                } else {
                    self.side.push(connection);
                }
            }
        }
        // What no lane could fetch, because all had lost their connections.
        let left = page.wanted.borrow().len() as u64;
        lock(&page.context.stats).resources_failed += left;
        self.cache.extend(page.had.borrow_mut().drain(..));
        for cookie in page.new_cookies.borrow_mut().drain(..) {
            self.jar.set(&cookie);
        }
    }
}

/// Fetches from the list until it is empty or the connection is lost; gives back the connection.
async fn work_off(page: Rc<Page>, lane: Lane) -> Option<Connection> {
    let context = &page.context;
    if page.wanted.borrow().is_empty() {
        return match lane {
            Lane::Open(connection) => Some(connection),
            Lane::ToOpen(..) => None,
        };
    }
    let mut connection = match lane {
        Lane::Open(connection) => connection,
        Lane::ToOpen(plan) => Connection::open(context, plan).await.ok()?,
    };
    let depth = context.scenario.client.pipeline as usize;
    let (mut reply, mut cookies) = (Reply::default(), String::new());
    loop {
        let some: Vec<Ask> = {
            let mut wanted = page.wanted.borrow_mut();
            let n = wanted.len().min(depth);
            wanted.drain(..n).collect()
        };
        if some.is_empty() {
            return Some(connection);
        }
        let begin_ns = now_ns();
        let mut answered = 0;
        let mut lost = false;
        // One alone is sent and read in one go; HTTP/2 always is.
        if let [ask] = some.as_slice() {
            page.jar.write(&ask.path, &mut cookies);
            match connection.ask(context, ask, &cookies, &mut reply).await {
                Ok(()) => {
                    page.keep(ask, &mut reply, begin_ns);
                    answered = 1;
                }
                Err(_) => lost = true,
            }
        } else {
            for ask in &some {
                page.jar.write(&ask.path, &mut cookies);
                lost |= connection
                    .send(context, ask, &cookies, &mut reply)
                    .await
                    .is_err();
            }
            for ask in &some {
                if lost
                    || connection
                        .receive(context, ask, begin_ns, &mut reply)
                        .await
                        .is_err()
                {
                    lost = true;
                    break;
                }
                page.keep(ask, &mut reply, begin_ns);
                answered += 1;
                lost = !reply.keep_alive;
            }
        }
        if lost && answered < some.len() {
            lock(&context.stats).resources_failed += (some.len() - answered) as u64;
        }
        if lost || !reply.keep_alive {
            return None;
        }
    }
}

impl Page {
    fn keep(&self, ask: &Ask, reply: &mut Reply, begin_ns: u64) {
        let mut stats = lock(&self.context.stats);
        if matches!(reply.status, 200..=299 | 304) {
            stats.resources.add(now_ns().saturating_sub(begin_ns));
            if !reply.no_store {
                self.had.borrow_mut().push(ask.path.clone());
            }
        } else {
            stats.resources_failed += 1;
        }
        self.new_cookies.borrow_mut().append(&mut reply.cookies);
    }
}
