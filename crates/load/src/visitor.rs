//! One visitor as a user of connections: what it remembers, how it connects, asks and leaves.

use crate::clock::now_ns;
use crate::connection::{Broken, Connection, Plan};
use crate::cookies::Jar;
use crate::http::Reply;
use crate::scenario::Ask;
use crate::session::Context;
use crate::shake::Tls;
use crate::stats::{Failure, lock};
use crate::tickets::{self, Offer, SharedShelf};
use crate::{tls, url};
use loadline_stats::{Random, SplitMix64};
use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a goodbye may take; a peer that does not read must not hold up the visitor.
const GOODBYE: Duration = Duration::from_millis(200);

pub(crate) struct Visitor {
    pub(crate) context: Rc<Context>,
    tickets: SplitMix64,
    /// The address that it comes from; none: the kernel chooses.
    source: Option<Ipv4Addr>,
    pub(crate) shelf: SharedShelf,
    /// What the first connection offers of what another session left.
    returning: Option<Offer>,
    connection: Option<Connection>,
    /// Further connections, kept for the next page's resources.
    pub(crate) side: Vec<Connection>,
    connections: u32,
    /// Whether any connection was made.
    pub(crate) got_in: bool,
    pub(crate) jar: Jar,
    cookies: String,
    pub(crate) reply: Reply,
    /// Paths of resources that need not be fetched again.
    pub(crate) cache: HashSet<String>,
}

impl Visitor {
    pub(crate) fn arrive(context: &Rc<Context>, number: u64, mut tickets: SplitMix64) -> Visitor {
        let scenario = &context.scenario;
        let mut left = None;
        let mut returning = None;
        if tickets.chance(scenario.resume_across) {
            let stale = scenario.tickets.stale > 0.0 && tickets.chance(scenario.tickets.stale);
            let mut pool = context.pool.borrow_mut();
            left = if stale {
                returning = Some(Offer::Oldest);
                pool.come_back_late()
            } else {
                returning = Some(Offer::Newest);
                pool.come_back()
            };
        }
        Visitor {
            context: context.clone(),
            tickets,
            source: scenario.client.source(number, context.address.ip()),
            returning: returning.filter(|_| left.is_some()),
            shelf: left.unwrap_or_default(),
            connection: None,
            side: Vec::new(),
            connections: 0,
            got_in: false,
            jar: Jar::default(),
            cookies: String::new(),
            reply: Reply::default(),
            cache: HashSet::new(),
        }
    }

    /// One page: asks, follows redirects, checks. The path that it came from in the end.
    pub(crate) async fn page(
        &mut self,
        interaction: usize,
        request: &Ask,
    ) -> Result<String, Failure> {
        let mut request = request.clone();
        let context = self.context.clone();
        let mut left = context.scenario.client.redirects;
        loop {
            self.ask(&request).await?;
            let status = self.reply.status;
            match status {
                200..=299 if context.scenario.is_right(interaction, &self.reply.body) => {
                    return Ok(request.path);
                }
                200..=299 => return Err(Failure::WrongPage),
                503 if self.reply.retry_after => return Err(Failure::Busy),
                500.. => return Err(Failure::ServerError),
                301 | 302 | 303 | 307 | 308 if left > 0 => {
                    left -= 1;
                    let link = self.reply.location.as_deref().unwrap_or_default();
                    let path = url::resolve(
                        &request.path,
                        link,
                        context.tls.is_some(),
                        &context.authority,
                    )
                    .ok_or(Failure::Status)?;
                    lock(&context.stats).redirects += 1;
                    // Browsers ask for the page that a form leads to, except where the server says
                    // that the same is to be sent there.
                    let same = matches!(status, 307 | 308) || request.method == "HEAD";
                    request = if same {
                        Ask { path, ..request }
                    } else {
                        Ask::get(path)
                    };
                }
                // A client that replays a conditional request has it already.
                304 => return Ok(request.path),
                _ => return Err(Failure::Status),
            }
        }
    }

    /// One request and its reply.
    pub(crate) async fn ask(&mut self, request: &Ask) -> Result<(), Failure> {
        let context = self.context.clone();
        self.jar.write(&request.path, &mut self.cookies);
        let mut connection = self.connect_if_needed().await?;
        if let Err(broken) = connection
            .ask(&context, request, &self.cookies, &mut self.reply)
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
            lock(&context.stats).reopened += 1;
            self.side.clear();
            connection = self.connect_if_needed().await?;
            connection
                .ask(&context, request, &self.cookies, &mut self.reply)
                .await
                .map_err(|b| b.why)?;
        }
        for cookie in self.reply.cookies.drain(..) {
            self.jar.set(&cookie);
        }
        self.connection = Some(connection);
        if !self.reply.keep_alive {
            self.goodbye().await;
        }
        Ok(())
    }

    /// Takes the open connection out, so that a visitor who leaves in the middle drops it.
    pub(crate) async fn connect_if_needed(&mut self) -> Result<Connection, Failure> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let plan = self.plan_connection();
        let context = self.context.clone();
        let opened = Connection::open(&context, plan).await;
        self.got_in |= opened.is_ok();
        opened
    }

    /// What the next connection is to be.
    pub(crate) fn plan_connection(&mut self) -> Plan {
        let context = self.context.clone();
        let tls = context.tls.as_ref().map(|(common, name)| {
            let offer = self.offer();
            let forged = matches!(offer, Offer::Forged(_));
            let (config, offered) = tls::with_tickets(common, &self.shelf, offer);
            Tls {
                config,
                name: name.clone(),
                offered,
                forged,
            }
        });
        self.connections += 1;
        let share = context.scenario.client.slow_share;
        Plan {
            source: self.source,
            tls,
            slow: share > 0.0 && self.tickets.chance(share),
        }
    }

    fn offer(&mut self) -> Offer {
        let scenario = &self.context.scenario;
        if let Some(forger) = self.context.forger.borrow_mut().as_mut()
            && self.tickets.chance(scenario.tickets.forged)
        {
            return forger.forge();
        }
        if let Some(life) = scenario.tickets.life {
            let oldest_ns = now_ns().saturating_sub(life.as_nanos() as u64);
            tickets::lock(&self.shelf).forget_before(oldest_ns);
        }
        if self.connections == 0 {
            return self.returning.take().unwrap_or(Offer::Nothing);
        }
        if !self.tickets.chance(scenario.resume_within) {
            Offer::Nothing
        } else if scenario.tickets.stale > 0.0 && self.tickets.chance(scenario.tickets.stale) {
            Offer::Oldest
        } else {
            Offer::Newest
        }
    }

    /// Closes the connection if it has carried what the scenario allows.
    pub(crate) async fn end_used_connection(&mut self) {
        let limit = self.context.scenario.requests_per_connection;
        let used_up = |c: &Connection| limit > 0 && c.requests >= limit;
        if self.connection.as_ref().is_some_and(used_up) {
            self.goodbye().await;
        }
        self.side.retain(|c| !used_up(c));
    }

    pub(crate) fn put_back(&mut self, connection: Connection) {
        self.connection = Some(connection);
    }

    /// The open connection, if there is one.
    pub(crate) fn connection(&mut self) -> &mut Option<Connection> {
        &mut self.connection
    }

    async fn goodbye(&mut self) {
        if let Some(connection) = self.connection.take() {
            // If the time is over, dropping the connection closes it all the same.
            let _in_time = timeout(GOODBYE, connection.close()).await;
        }
    }

    pub(crate) async fn leave(mut self, content: bool) {
        if content {
            self.goodbye().await;
            for connection in std::mem::take(&mut self.side) {
                let _in_time = timeout(GOODBYE, connection.close()).await;
            }
        }
        // The connections are closed first: they may still be given tickets until then.
        self.connection = None;
        self.side.clear();
        self.context.pool.borrow_mut().leave(self.shelf);
    }
}
