//! One thread of visitors: a single-threaded runtime that shares nothing with the others but counters.

use crate::arrivals;
use crate::clock::{now_ns, thread_cpu_ns};
use crate::session::Context;
use crate::stats::lock;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::LocalSet;

/// How often a worker looks whether it is told to stop.
const LOOK: Duration = Duration::from_millis(20);

/// A worker's share of the arrivals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Counted over all processes.
    pub(crate) worker: u64,
    pub(crate) workers: u64,
    /// Most sessions at once.
    pub(crate) capacity: u64,
    pub(crate) begin_ns: u64,
    /// From here on it counts: the end of the warm-up.
    pub(crate) count_ns: u64,
    pub(crate) until_ns: u64,
    /// The CPU to stay on.
    pub(crate) cpu: Option<usize>,
}

/// Runs this worker's visitors until the end or `stop`; what they did is in the context's stats.
pub(crate) fn work(context: Context, share: Share, stop: &AtomicBool) -> std::io::Result<()> {
    if let Some(cpu) = share.cpu {
        stay_on(cpu)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let context = Rc::new(context);
    let visitors = LocalSet::new();
    let result = runtime.block_on(visitors.run_until(async {
        let mut arriving = Some(tokio::task::spawn_local(arrivals::admit(
            context.clone(),
            share,
        )));
        let mut counting = share.count_ns <= share.begin_ns;
        while now_ns() < share.until_ns && !stop.load(Ordering::Relaxed) {
            let next_ns = if counting {
                share.until_ns
            } else {
                share.count_ns
            };
            let left = Duration::from_nanos(next_ns.saturating_sub(now_ns()));
            tokio::time::sleep(LOOK.min(left)).await;
            if let Some(ended) = arriving.take_if(|a| a.is_finished()) {
                ended.await.map_err(std::io::Error::other)??;
            }
            if !counting && now_ns() >= share.count_ns {
                lock(&context.stats).begin(share.count_ns, thread_cpu_ns());
                counting = true;
            }
            if now_ns() >= share.begin_ns {
                let now_ns = now_ns().min(share.until_ns - 1);
                lock(&context.stats).series.row(now_ns);
            }
        }
        Ok(())
    }));
    let mut stats = lock(&context.stats);
    stats.over = true;
    stats.cpu_ns = thread_cpu_ns() - stats.cpu_before_ns;
    stats.series.close();
    stats.sessions.active_at_end = stats.sessions.active();
    result
}

fn stay_on(cpu: usize) -> std::io::Result<()> {
    // SAFETY: an empty set is all zeroes; CPU_SET checks nothing, so the caller's number was checked.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if done == 0 {
        Ok(())
    } else {
        let e = std::io::Error::last_os_error();
        Err(std::io::Error::new(e.kind(), format!("CPU {cpu}: {e}")))
    }
}
