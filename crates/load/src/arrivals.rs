//! Who arrives when: closed, partly open, open, or as a log says.
//!
//! Every arrival begins when it was due, whatever became of those before it; how late this program
//! was is counted as lag, and is part of the response time that the visitor saw.

use crate::clock::{Pacer, now_ns};
use crate::scenario::{Arrivals, Process};
use crate::session::{self, Context, Pace};
use crate::stats::lock;
use crate::worker::Share;
use loadline_stats::{Random, SplitMix64};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;

/// A visitor who was just refused does not come back at once: without this, users of a dead server
/// with no think time would do nothing but connect.
const LEAST_PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(50);
/// Users begin one by one over this time (or their think time if that is shorter), not at once.
const LONGEST_STAGGER: Duration = Duration::from_secs(2);
/// How often a user whom the schedule keeps away looks again.
const LOOK: Duration = Duration::from_millis(100);

/// Random streams that belong to no session.
const ARRIVALS: u64 = 3;
const STAGGER: u64 = 4;

pub(crate) async fn admit(context: Rc<Context>, share: Share) -> std::io::Result<()> {
    match context.scenario.arrivals {
        Arrivals::Closed { users } => {
            let most = (f64::from(users) * context.scenario.schedule.peak()).ceil() as u64;
            for user in (share.worker..most).step_by(share.workers as usize) {
                tokio::task::spawn_local(be_user(context.clone(), user, users, share.begin_ns));
            }
            Ok(())
        }
        Arrivals::PartlyOpen { rate } => {
            let mut due = Due::new(&context, &share, rate);
            let pacer = Pacer::new()?;
            for count in 0u64.. {
                let Some(due_ns) = due.next() else { break };
                pacer.until(due_ns).await?;
                if !begin(&context, due_ns, share.capacity) {
                    continue;
                }
                let (context, number) = (context.clone(), share.worker + count * share.workers);
                tokio::task::spawn_local(async move {
                    session::live(&context, number, due_ns, &mut Pace::Think).await
                });
            }
            Ok(())
        }
        Arrivals::Open { rate } => call(context, share, rate).await,
        Arrivals::Replay => dictate(context, share).await,
    }
}

/// When this worker's arrivals are due, one after the other.
struct Due<'a> {
    context: &'a Context,
    rng: SplitMix64,
    begin_ns: u64,
    /// Arrivals per second of the whole load when the level is 1.
    rate: f64,
    workers: f64,
    /// Area under the level of the schedule, in seconds, so far.
    area: f64,
}

impl<'a> Due<'a> {
    fn new(context: &'a Context, share: &Share, rate: f64) -> Due<'a> {
        let workers = share.workers as f64;
        let area = match context.scenario.process {
            Process::Poisson => 0.0,
            // The workers' evenly spaced arrivals interleave.
            Process::Uniform => (share.worker as f64 - workers) / rate,
        };
        Due {
            context,
            rng: SplitMix64::new(context.seed, share.worker, ARRIVALS),
            begin_ns: share.begin_ns,
            rate,
            workers,
            area,
        }
    }

    fn next(&mut self) -> Option<u64> {
        let units = match self.context.scenario.process {
            Process::Poisson => self.rng.exponential_by_inversion(),
            Process::Uniform => 1.0,
        };
        self.area += units * self.workers / self.rate;
        let seconds = self.context.scenario.schedule.when(self.area)?;
        Some(self.begin_ns + (seconds * 1e9) as u64)
    }
}

/// Notes the arrival. False if this machine can hold no more sessions.
fn begin(context: &Context, due_ns: u64, capacity: u64) -> bool {
    let mut stats = lock(&context.stats);
    stats.lag.add(now_ns().saturating_sub(due_ns));
    let s = &mut stats.sessions;
    if s.active() < capacity {
        return true;
    }
    s.not_started += 1;
    stats.series.offered(due_ns);
    false
}

/// A user of a closed system: session after session, as long as the schedule wants this many.
async fn be_user(context: Rc<Context>, user: u64, users: u32, begin_ns: u64) {
    let think_mean = context.scenario.think_mean;
    let schedule = &context.scenario.schedule;
    let mut rng = SplitMix64::new(context.seed, user, STAGGER);
    let stagger = think_mean.min(LONGEST_STAGGER).mul_f64(rng.uniform());
    let wait_ns = begin_ns.saturating_sub(now_ns());
    tokio::time::sleep(Duration::from_nanos(wait_ns) + stagger).await;
    for visit in 0u64.. {
        loop {
            let seconds = now_ns().saturating_sub(begin_ns) as f64 / 1e9;
            if schedule.is_constant() || (user as f64) < f64::from(users) * schedule.level(seconds)
            {
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        let number = user | visit << 32;
        let completed = session::live(&context, number, now_ns(), &mut Pace::Think).await;
        let pause = think_mean.mul_f64(rng.exponential_by_inversion());
        let least = if completed {
            Duration::ZERO
        } else {
            LEAST_PAUSE_AFTER_FAILURE
        };
        session::pause(&context, pause.max(least)).await;
        if pause.is_zero() && completed {
            // A page from a cache that never waits must not keep the others from their turn.
            tokio::task::yield_now().await;
        }
    }
}

/// An open system: clicks come due at a rate, each for a visitor who is idle, or for a new one.
async fn call(context: Rc<Context>, share: Share, rate: f64) -> std::io::Result<()> {
    let mut due = Due::new(&context, &share, rate);
    let pacer = Pacer::new()?;
    let mut visitors = 0u64;
    while let Some(due_ns) = due.next() {
        pacer.until(due_ns).await?;
        let idle = context.idle.borrow_mut().pop();
        if let Some(visitor) = idle {
            lock(&context.stats)
                .lag
                .add(now_ns().saturating_sub(due_ns));
            // A visitor waits for calls as long as the run lasts.
            let _heard = visitor.send(due_ns);
            continue;
        }
        if !begin(&context, due_ns, share.capacity) {
            continue;
        }
        let (context, first) = (context.clone(), share.worker + visitors * share.workers);
        visitors += 1;
        tokio::task::spawn_local(async move {
            let (own, calls) = unbounded_channel();
            let mut pace = Pace::Called(own, calls);
            let mut due_ns = due_ns;
            for visit in 0u64.. {
                session::live(&context, first | visit << 32, due_ns, &mut pace).await;
                match pace.next(&context, Duration::ZERO).await {
                    Some(next_ns) => due_ns = next_ns,
                    None => break,
                }
            }
        });
    }
    Ok(())
}

/// A timed replay: every request of the log when it was made, in its session.
async fn dictate(context: Rc<Context>, share: Share) -> std::io::Result<()> {
    let scenario = context.scenario.clone();
    let Some(replay) = &scenario.replay else {
        return Ok(());
    };
    let mut events: Vec<(u64, usize, usize)> = Vec::new();
    for (session, recorded) in replay.sessions.iter().enumerate() {
        if session as u64 % share.workers == share.worker {
            let bursts = recorded.bursts.iter().enumerate();
            events.extend(bursts.map(|(n, b)| (b.at_ns, session, n)));
        }
    }
    events.sort_unstable();
    let pacer = Pacer::new()?;
    let mut sessions = HashMap::new();
    for (at_ns, session, n) in events {
        let due_ns = share.begin_ns + at_ns;
        pacer.until(due_ns).await?;
        let last = n + 1 == replay.sessions[session].bursts.len();
        if n > 0 {
            // A session that is broken, or was not begun, hears no more; its requests are lost load.
            if let Some(visitor) = sessions.get(&session) {
                lock(&context.stats)
                    .lag
                    .add(now_ns().saturating_sub(due_ns));
                let _heard = tokio::sync::mpsc::UnboundedSender::send(visitor, due_ns);
            }
        } else if begin(&context, due_ns, share.capacity) {
            let (calls, heard) = unbounded_channel();
            sessions.insert(session, calls);
            let context = context.clone();
            tokio::task::spawn_local(async move {
                let mut pace = Pace::Dictated(heard);
                session::live(&context, session as u64, due_ns, &mut pace).await
            });
        }
        if last {
            sessions.remove(&session);
        }
    }
    Ok(())
}
