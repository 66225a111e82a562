//! One visitor's stay: clicks, waits, thinks, gives up or walks to the end.

use crate::clock::now_ns;
use crate::forge::Forger;
use crate::replay::Burst;
use crate::scenario::{Ask, Scenario, Walk};
use crate::stats::{Failure, Stats, lock};
use crate::tickets::Pool;
use crate::visitor::Visitor;
use loadline_stats::{Random, SplitMix64};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;

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
    /// If the scenario forges tickets.
    pub(crate) forger: RefCell<Option<Forger>>,
    /// In an open system, visitors who have nothing to do.
    pub(crate) idle: RefCell<Vec<UnboundedSender<u64>>>,
}

/// Random streams of a session: see [`loadline_stats::SplitMix64`].
const PATH: u64 = 0;
const THINK: u64 = 1;
const TICKETS: u64 = 2;
const BACK_OFF: u64 = 5;

/// What makes a visitor click again. Every time is when the click was due.
pub(crate) enum Pace {
    /// A person: after a think time.
    Think,
    /// An open system: when called. While it waits its own sender is on the context's list.
    Called(UnboundedSender<u64>, UnboundedReceiver<u64>),
    /// A log: when it says so, one time a request.
    Dictated(UnboundedReceiver<u64>),
}

impl Pace {
    /// When the next click was due; none if there will be none.
    pub(crate) async fn next(&mut self, context: &Context, think: Duration) -> Option<u64> {
        match self {
            Pace::Think => Some(pause(context, think).await),
            Pace::Called(own, calls) => {
                context.idle.borrow_mut().push(own.clone());
                calls.recv().await
            }
            Pace::Dictated(calls) => calls.recv().await,
        }
    }
}

/// What a visitor does: a walk, or what a log says.
enum Journey<'a> {
    Walk(Walk<'a>),
    Log(std::slice::Iter<'a, Burst>),
}

/// One click.
struct Click {
    interaction: usize,
    request: Ask,
    more: Vec<Ask>,
    /// Pause after it, if the log says one.
    think_ns: Option<u64>,
}

impl<'a> Journey<'a> {
    fn new(context: &'a Context, number: u64) -> Journey<'a> {
        let scenario = &context.scenario;
        match &scenario.replay {
            Some(replay) => {
                let which = (number % replay.sessions.len().max(1) as u64) as usize;
                let bursts = replay.sessions.get(which).map_or(&[][..], |s| &s.bursts);
                Journey::Log(bursts.iter())
            }
            None => Journey::Walk(Walk::new(
                scenario,
                SplitMix64::new(context.seed, number, PATH),
            )),
        }
    }

    fn next(&mut self, page: &[u8]) -> Option<Click> {
        match self {
            Journey::Walk(walk) => walk.step(page).map(|step| Click {
                interaction: step.interaction,
                request: step.request,
                more: Vec::new(),
                think_ns: None,
            }),
            Journey::Log(bursts) => bursts.next().map(|b| Click {
                interaction: b.interaction,
                request: b.request.clone(),
                more: b.more.clone(),
                think_ns: b.think_ns,
            }),
        }
    }
}

/// Lives session `number`, which was meant to begin at `intended_ns`. True if it was completed.
pub(crate) async fn live(
    context: &Rc<Context>,
    number: u64,
    intended_ns: u64,
    pace: &mut Pace,
) -> bool {
    lock(&context.stats).session_started(now_ns());
    let scenario = context.scenario.clone();
    let mut journey = Journey::new(context, number);
    let mut think = SplitMix64::new(context.seed, number, THINK);
    let mut visitor = Visitor::arrive(
        context,
        number,
        SplitMix64::new(context.seed, number, TICKETS),
    );
    let mut begin_ns = intended_ns;
    let mut failure = None;
    let objective_ns = match scenario.client.objective {
        Some(objective) => u64::try_from(objective.as_nanos()).unwrap_or(u64::MAX),
        None => u64::MAX,
    };
    let (mut good, mut served) = (true, false);
    let mut next = journey.next(&[]);
    while let Some(click) = next {
        lock(&context.stats).series.offered(begin_ns);
        match patiently(&mut visitor, &mut journey, &click, begin_ns, number).await {
            Ok(page_ns) => {
                let response_ns = page_ns.saturating_sub(begin_ns);
                let within = response_ns <= objective_ns;
                (good, served) = (good && within, true);
                let mut stats = lock(&context.stats);
                stats.succeeded(click.interaction, page_ns, response_ns);
                stats.sessions.good_replies += u64::from(within);
                stats.series.row(page_ns).good += u64::from(within);
            }
            Err(why) => {
                lock(&context.stats).failed(now_ns(), why);
                failure = Some(why);
                break;
            }
        }
        visitor.end_used_connection().await;
        next = journey.next(&visitor.reply.body);
        if next.is_some() {
            let thinking = match click.think_ns {
                Some(ns) => Duration::from_nanos(ns),
                None => scenario
                    .think_mean
                    .mul_f64(think.exponential_by_inversion()),
            };
            match pace.next(context, thinking).await {
                Some(due_ns) => begin_ns = due_ns,
                None => break,
            }
        }
    }
    let connected = visitor.got_in;
    visitor.leave(failure.is_none()).await;
    let mut stats = lock(&context.stats);
    stats.session_ended(now_ns(), failure, connected, served);
    stats.sessions.good += u64::from(good && failure.is_none());
    failure.is_none()
}

/// One click, within the visitor's patience; made again as often as the scenario says. When its page
/// had come.
async fn patiently(
    visitor: &mut Visitor,
    journey: &mut Journey<'_>,
    click: &Click,
    begin_ns: u64,
    number: u64,
) -> Result<u64, Failure> {
    let context = visitor.context.clone();
    let client = &context.scenario.client;
    let mut tried = 0;
    let mut since_ns = begin_ns;
    loop {
        // What a person waits for begins with the click: for an arrival that is when it was due,
        // however late this program woke up.
        let patience = context
            .scenario
            .timeout
            .saturating_sub(Duration::from_nanos(now_ns().saturating_sub(since_ns)));
        let outcome = match timeout(patience, load(visitor, journey, click, begin_ns)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Timeout),
        };
        match outcome {
            Err(Failure::Timeout | Failure::Connect | Failure::Closed)
                if tried < client.retries =>
            {
                lock(&context.stats).retries += 1;
                // Up to half longer, so that clients who failed together do not come back together.
                let mut rng = SplitMix64::new(context.seed, number, BACK_OFF + u64::from(tried));
                let back_off = client.back_off.mul_f64(f64::from(1u32 << tried.min(16)));
                pause(&context, back_off.mul_f64(1.0 + 0.5 * rng.uniform())).await;
                tried += 1;
                since_ns = now_ns();
            }
            outcome => return outcome,
        }
    }
}

/// The page and what belongs to it. When the page itself had come.
async fn load(
    visitor: &mut Visitor,
    journey: &mut Journey<'_>,
    click: &Click,
    begin_ns: u64,
) -> Result<u64, Failure> {
    let path = visitor.page(click.interaction, &click.request).await?;
    let page_ns = now_ns();
    if let Journey::Walk(walk) = journey {
        walk.arrived(&path, &visitor.reply.body);
    }
    let context = visitor.context.clone();
    let whole = if context.scenario.client.resources {
        visitor.fetch_resources(&path).await;
        true
    } else if !click.more.is_empty() {
        visitor.fetch(click.more.iter().cloned().collect()).await;
        true
    } else {
        false
    };
    if whole {
        let load_ns = now_ns().saturating_sub(begin_ns);
        lock(&context.stats).page_load.add(load_ns);
    }
    Ok(page_ns)
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
