//! Ctrl-C and SIGTERM end the work in hand in order: the first sets a flag that the work looks at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// A flag that becomes true at the first Ctrl-C or SIGTERM. A second one ends the process at once.
pub fn flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Registered first, so that it sees the flag as it was before this signal.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .context("cannot catch signals")?;
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot catch signals")?;
    }
    Ok(stop)
}

/// Whether the flag was set.
pub fn requested(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}
