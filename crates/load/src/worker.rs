//! One thread of visitors: a single-threaded runtime that shares nothing with the others but counters.

use crate::clock::{now_ns, thread_cpu_ns};
use crate::rng::Rng;
use crate::scenario::Arrivals;
use crate::session::{self, Context};
use crate::stats::lock;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::LocalSet;
use tokio::time::Instant;

/// How often a worker looks whether it is told to stop.
const LOOK: Duration = Duration::from_millis(20);
/// A visitor who was just refused does not come back at once: without this, users of a dead server
/// with no think time would do nothing but connect.
const LEAST_PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(50);
/// Users begin one by one over this time (or their think time if that is shorter), not at once.
const LONGEST_STAGGER: Duration = Duration::from_secs(2);

/// A worker's share of the arrivals.
pub(crate) struct Share {
    pub(crate) worker: u64,
    pub(crate) workers: u64,
    /// Most sessions at once.
    pub(crate) capacity: u64,
}

/// Random streams that belong to no session.
const ARRIVALS: u64 = 3;
const STAGGER: u64 = 4;

/// Runs this worker's visitors until `until_ns` or `stop`; what they did is in the context's stats.
pub(crate) fn work(
    context: Context,
    share: &Share,
    until_ns: u64,
    stop: &AtomicBool,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let context = Rc::new(context);
    let visitors = LocalSet::new();
    runtime.block_on(visitors.run_until(async {
        match context.scenario.arrivals {
            Arrivals::Closed { users } => {
                let mine = (share.worker..u64::from(users)).step_by(share.workers as usize);
                for user in mine {
                    tokio::task::spawn_local(be_user(context.clone(), user));
                }
            }
            Arrivals::PartlyOpen { rate } => {
                let mean = Duration::from_secs_f64(share.workers as f64 / rate);
                tokio::task::spawn_local(admit(
                    context.clone(),
                    mean,
                    share.worker,
                    share.workers,
                    share.capacity,
                ));
            }
        }
        while now_ns() < until_ns && !stop.load(Ordering::Relaxed) {
            tokio::time::sleep(LOOK.min(Duration::from_nanos(until_ns.saturating_sub(now_ns()))))
                .await;
        }
    }));
    let mut stats = lock(&context.stats);
    stats.over = true;
    stats.cpu_ns = thread_cpu_ns();
    let s = &mut stats.sessions;
    s.active_at_end = s.started - s.completed - s.broken;
    Ok(())
}

/// A user of a closed system: session after session.
async fn be_user(context: Rc<Context>, user: u64) {
    let think_mean = context.scenario.think_mean;
    let mut rng = Rng::new(context.seed, user, STAGGER);
    tokio::time::sleep(think_mean.min(LONGEST_STAGGER).mul_f64(rng.unit())).await;
    for visit in 0u64.. {
        let completed = session::live(&context, user | visit << 32, now_ns()).await;
        let pause = rng.exponential(think_mean);
        session::pause(
            &context,
            if completed {
                pause
            } else {
                pause.max(LEAST_PAUSE_AFTER_FAILURE)
            },
        )
        .await;
    }
}

/// Poisson arrivals: each session begins when it is due, whatever became of those before it.
async fn admit(context: Rc<Context>, mean: Duration, worker: u64, workers: u64, capacity: u64) {
    let mut rng = Rng::new(context.seed, worker, ARRIVALS);
    let (base, base_ns) = (Instant::now(), now_ns());
    let mut due = Duration::ZERO;
    for count in 0u64.. {
        due += rng.exponential(mean);
        tokio::time::sleep_until(base + due).await;
        let due_ns = base_ns + due.as_nanos() as u64;
        let mut stats = lock(&context.stats);
        stats.lag.add(now_ns().saturating_sub(due_ns));
        let s = &mut stats.sessions;
        if s.started - s.completed - s.broken >= capacity {
            s.not_started += 1;
            continue;
        }
        drop(stats);
        let (context, number) = (context.clone(), worker + count * workers);
        tokio::task::spawn_local(async move { session::live(&context, number, due_ns).await });
    }
}
