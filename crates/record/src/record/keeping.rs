//! A recording's bounds: it ends at them, or drops the oldest and dumps what it keeps when asked.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Recording;
use crate::counters;
use crate::error::{Result, io};
use crate::flight::{Keeper, Sources, serve_one};
use crate::kernel::Kernel;
use crate::options::{Dumped, Progress, Stage};

impl Recording<'_> {
    /// Bytes of all spools together.
    pub(super) fn bytes(&self) -> u64 {
        let Some(keeper) = &self.keeper else {
            return self.drain.counts().bytes.load(Ordering::Relaxed)
                + self.agent.as_ref().map_or(0, |a| a.bytes())
                + self.watcher.bytes()
                + self.counters.as_ref().map_or(0, counters::Spool::bytes);
        };
        keeper.bytes(self.watcher.segment_bytes(), self.rings)
    }

    /// Why there is no more room, if there is none.
    pub(super) fn full(&self) -> Option<String> {
        if self.keeper.is_some() {
            return None;
        }
        let reached = |what: &str, bytes: u64| {
            format!(
                "The recording ended by itself when it had reached {what}, {} MB; --at-max drop-oldest keeps the newest \
                 instead.",
                bytes >> 20
            )
        };
        if let Some(most) = self.options.max_size.filter(|most| self.bytes() >= *most) {
            return Some(reached("--max-size", most));
        }
        let agent = self.agent.as_ref().filter(|a| a.is_full())?;
        Some(reached("--agent-max", agent.bytes()))
    }

    /// Drops what is too old, and dumps what is asked for.
    pub(super) fn keep(&mut self, progress: &mut dyn FnMut(&Progress)) -> Result<()> {
        let Some(mut keeper) = self.keeper.take() else {
            serve_one(&self.subject.claim.listener, &mut |_| {
                Err("it is recorded without --keep, --flight and --at-max drop-oldest".into())
            });
            return Ok(());
        };
        let kept = self.keep_with(&mut keeper);
        self.keeper = Some(keeper);
        if let Some(dumped) = kept? {
            let mut told = self.progress(Stage::Recording);
            told.dumped = Some(dumped);
            progress(&told);
        }
        Ok(())
    }

    fn keep_with(&mut self, keeper: &mut Keeper) -> Result<Option<Dumped>> {
        let Some(flight) = &self.options.flight else {
            return Ok(None);
        };
        let header = self.agent.as_ref().map(|a| a.header());
        let not_recorded = self.not_recorded(header.as_ref());
        let mut sources = Sources {
            drain: &self.drain,
            watcher: &mut self.watcher,
            counters: self.counters.as_mut(),
            rings: self.rings,
            kernel_lost: self.kernel.as_ref().map_or(0, Kernel::lost),
        };
        keeper
            .tick(&mut sources, &mut self.session)
            .map_err(io(self.dir.raw().path()))?;
        let session = &self.session;
        serve_one(&self.subject.claim.listener, &mut |dir| {
            keeper
                .dump(&dir, "asked for", &mut sources, session, &not_recorded)
                .map_err(|e| e.to_string())
        });
        let true_now = self.live.tick(keeper, self.subject.target.pid);
        let by_signal = flight.signal.swap(false, Ordering::Relaxed);
        let apart = self
            .last_dump
            .is_none_or(|last| last.elapsed() >= flight.apart);
        let why = match (by_signal, true_now.filter(|_| apart)) {
            (true, _) => "signal".to_owned(),
            (false, Some(why)) => why,
            (false, None) => return Ok(None),
        };
        if keeper.by_itself >= flight.most {
            return Ok(None);
        }
        keeper.by_itself += 1;
        self.last_dump = Some(Instant::now());
        let dir = beside(self.dir.path(), keeper.by_itself);
        let dir = keeper
            .dump(&dir, &why, &mut sources, session, &not_recorded)
            .map(|()| dir)
            .map_err(|e| e.to_string());
        Ok(Some(Dumped { dir, why }))
    }
}

/// `shop.trace` to `shop-dump1.trace`.
fn beside(dir: &Path, n: u32) -> PathBuf {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let (stem, end) = match name.strip_suffix(".trace") {
        Some(stem) => (stem, ".trace"),
        None => (&*name, ""),
    };
    dir.with_file_name(format!("{stem}-dump{n}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_lie_beside_the_recording() {
        assert_eq!(
            beside(Path::new("/a/x.trace"), 2),
            Path::new("/a/x-dump2.trace")
        );
        assert_eq!(beside(Path::new("/a/x"), 1), Path::new("/a/x-dump1"));
    }
}
