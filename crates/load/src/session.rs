//! One visitor: connects, clicks, thinks, leaves.

use crate::clock::now_ns;
use crate::connection::{Broken, Connection};
use crate::http::Reply;
use crate::rng::Rng;
use crate::scenario::{Scenario, Step, Walk};
use crate::stats::{Failure, Stats, lock};
use crate::tickets::{Pool, SharedShelf};
use crate::tls;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// How long a goodbye may take; a peer that does not read must not hold up the visitor.
const GOODBYE: Duration = Duration::from_millis(200);

/// What all visitors of a worker share.
pub(crate) struct Context {
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<(ClientConfig, ServerName<'static>)>,
    /// Value of the Host header.
    pub(crate) authority: String,
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) seed: u64,
    pub(crate) stats: Arc<Mutex<Stats>>,
    pub(crate) pool: RefCell<Pool>,
}

/// Random streams of a session: see [`crate::rng`].
const PATH: u64 = 0;
const THINK: u64 = 1;
const TICKETS: u64 = 2;

struct Visitor<'a> {
    context: &'a Context,
    tickets: Rng,
    shelf: SharedShelf,
    /// Whether the first connection offers what another session left.
    returning: bool,
    connection: Option<Connection>,
    connections: u32,
    cookies: Vec<String>,
    reply: Reply,
    buffer: Vec<u8>,
    request: Vec<u8>,
}

/// Lives session `number`, which was meant to begin at `intended_ns`. True if it was completed.
pub(crate) async fn live(context: &Context, number: u64, intended_ns: u64) -> bool {
    lock(&context.stats).sessions.started += 1;
    let scenario = &context.scenario;
    let mut walk = Walk::new(scenario, Rng::new(context.seed, number, PATH));
    let mut think = Rng::new(context.seed, number, THINK);
    let mut visitor = Visitor::arrive(context, Rng::new(context.seed, number, TICKETS));
    let mut begin_ns = intended_ns;
    let mut failure = None;
    let mut next = walk.step(&[]);
    while let Some(step) = next {
        // What a person waits for begins with the click: for an arrival that is when it was due,
        // however late this program woke up.
        let patience = scenario
            .timeout
            .saturating_sub(Duration::from_nanos(now_ns().saturating_sub(begin_ns)));
        let outcome = match timeout(patience, visitor.click(&walk, &step)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Timeout),
        };
        match outcome {
            Ok(()) => {
                let now_ns = now_ns();
                lock(&context.stats).succeeded(
                    step.interaction,
                    now_ns,
                    now_ns.saturating_sub(begin_ns),
                );
            }
            Err(why) => {
                failure = Some(why);
                break;
            }
        }
        visitor.end_used_connection().await;
        next = walk.step(&visitor.reply.body);
        if next.is_some() {
            begin_ns = pause(context, think.exponential(scenario.think_mean)).await;
        }
    }
    visitor.leave(failure.is_none()).await;
    let mut stats = lock(&context.stats);
    match failure {
        None => stats.sessions.completed += 1,
        Some(why) => {
            stats.failed(why);
            stats.sessions.broken += 1;
        }
    }
    failure.is_none()
}

/// Sleeps and notes how late the timer was. Returns the time at which the sleeper really woke.
pub(crate) async fn pause(context: &Context, time: Duration) -> u64 {
    if time.is_zero() {
        return now_ns();
    }
    let due_ns = now_ns() + time.as_nanos() as u64;
    tokio::time::sleep(time).await;
    let now_ns = now_ns();
    lock(&context.stats).lag.add(now_ns.saturating_sub(due_ns));
    now_ns
}

impl<'a> Visitor<'a> {
    fn arrive(context: &'a Context, mut tickets: Rng) -> Visitor<'a> {
        let back = tickets.chance(context.scenario.resume_across);
        let left = if back {
            context.pool.borrow_mut().come_back()
        } else {
            None
        };
        Visitor {
            context,
            tickets,
            returning: left.is_some(),
            shelf: left.unwrap_or_default(),
            connection: None,
            connections: 0,
            cookies: Vec::new(),
            reply: Reply::default(),
            buffer: Vec::new(),
            request: Vec::new(),
        }
    }

    /// One interaction: connects if need be, asks, checks the page.
    async fn click(&mut self, walk: &Walk<'_>, step: &Step) -> Result<(), Failure> {
        self.write_request(&step.path);
        let mut connection = self.connect_if_needed().await?;
        let stats = &*self.context.stats;
        if let Err(broken) = connection
            .ask(&self.request, &mut self.reply, &mut self.buffer, stats)
            .await
        {
            let Broken {
                why,
                was_idle_close,
            } = broken;
            if !was_idle_close {
                return Err(why);
            }
            // As every browser does: the server may close a connection that nobody used.
            lock(stats).reopened += 1;
            connection = self.connect_if_needed().await?;
            connection
                .ask(&self.request, &mut self.reply, &mut self.buffer, stats)
                .await
                .map_err(|b| b.why)?;
        }
        self.connection = Some(connection);
        self.keep_cookies();
        match self.reply.status {
            200..=299 if walk.is_right(step.interaction, &self.reply.body) => Ok(()),
            200..=299 => Err(Failure::WrongPage),
            500.. => Err(Failure::ServerError),
            _ => Err(Failure::Status),
        }
    }

    /// Takes the open connection out, so that a visitor who leaves in the middle drops it.
    async fn connect_if_needed(&mut self) -> Result<Connection, Failure> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let tls = self.context.tls.as_ref().map(|(common, name)| {
            let offer = if self.connections == 0 {
                self.returning
            } else {
                self.tickets.chance(self.context.scenario.resume_within)
            };
            (tls::with_tickets(common, &self.shelf, offer), name.clone())
        });
        self.connections += 1;
        Connection::open(self.context.address, tls, &self.context.stats).await
    }

    fn write_request(&mut self, path: &str) {
        self.request.clear();
        for part in [
            "GET ",
            path,
            " HTTP/1.1\r\nHost: ",
            &self.context.authority,
            "\r\nUser-Agent: loadline\r\nAccept: */*\r\n",
        ] {
            self.request.extend_from_slice(part.as_bytes());
        }
        if !self.cookies.is_empty() {
            self.request.extend_from_slice(b"Cookie: ");
            self.request
                .extend_from_slice(self.cookies.join("; ").as_bytes());
            self.request.extend_from_slice(b"\r\n");
        }
        self.request.extend_from_slice(b"\r\n");
    }

    /// A cookie of the same name replaces the one before it.
    fn keep_cookies(&mut self) {
        for cookie in self.reply.cookies.drain(..) {
            let name = cookie.split('=').next().unwrap_or_default();
            self.cookies
                .retain(|known| known.split('=').next() != Some(name));
            self.cookies.push(cookie);
        }
    }

    /// Closes the connection if the server said so, or if it has carried what the scenario allows.
    async fn end_used_connection(&mut self) {
        let limit = self.context.scenario.requests_per_connection;
        let used_up = |c: &Connection| limit > 0 && c.requests >= limit;
        if self
            .connection
            .as_ref()
            .is_some_and(|c| !self.reply.keep_alive || used_up(c))
        {
            self.goodbye().await;
        }
    }

    async fn goodbye(&mut self) {
        if let Some(connection) = self.connection.take() {
            // If the time is over, dropping the connection closes it all the same.
            let _in_time = timeout(GOODBYE, connection.close()).await;
        }
    }

    async fn leave(mut self, content: bool) {
        if content {
            self.goodbye().await;
        }
        // The connection is closed first: it may still be given tickets until then.
        self.connection = None;
        self.context.pool.borrow_mut().leave(self.shelf);
    }
}
