//! A dump: the raw directory of a trace, of what a recording keeps, while that goes on.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use loadline_trace::meta::NotRecorded;
use loadline_trace::private;
use loadline_trace::spool::RawDir;
use loadline_trace::spool::session::Session;

use super::{Keeper, Sources, count, files_of};
use crate::error::{Error, Result, io};

impl Keeper {
    /// Writes `dir/raw`, complete but for its tables. `dir` must not exist, or be empty; after an error nothing of it stays.
    pub fn dump(
        &mut self,
        dir: &Path,
        why: &str,
        sources: &mut Sources,
        session: &Session,
        not_recorded: &[NotRecorded],
    ) -> Result<()> {
        let existed = match fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
            Ok(true) => true,
            Ok(false) => return Err(Error::OutputInUse(dir.into())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => false,
            Err(e) => return Err(io(dir)(e)),
        };
        let raw = RawDir::of(dir);
        let written = private::create_dir_all(raw.path())
            .and_then(|()| self.write(&raw, why, sources, session, not_recorded));
        if let Err(e) = written {
            let made = if existed { raw.path() } else { dir };
            // On the way out of the error that matters.
            let _ = fs::remove_dir_all(made);
            return Err(io(dir)(e));
        }
        self.dumps += 1;
        Ok(())
    }

    fn write(
        &mut self,
        to: &RawDir,
        why: &str,
        sources: &mut Sources,
        session: &Session,
        not_recorded: &[NotRecorded],
    ) -> io::Result<()> {
        sources.watcher.last_of_segment()?;
        let end = self.cut(sources)?;
        let closed = self.segments.len() - 1;
        for segment in self.segments.iter().take(closed) {
            let rings = count(|cpu| self.raw.kernel_segment(cpu, segment.number));
            for file in files_of(&self.raw, segment.number, rings) {
                share(&file, to)?;
            }
        }
        share(&self.raw.procfs_carry(), to)?;
        share(&self.raw.carry(), to)?;
        if let Some(counters) = &sources.counters {
            let text = serde_json::to_string(&counters.last_line())?;
            // Sorts behind all segments.
            let path = to.counters_segment(self.number());
            private::create_new(&path)?.write_all((text + "\n").as_bytes())?;
        }
        if let Some(chunks) = &mut self.chunks {
            chunks.copy(&to.agent(), end)?;
            let from = self.segments.front().map_or(0, |s| s.vm_log);
            copy_from(&self.raw.vm_log(), from, &to.vm_log())?;
        }
        let mut session = session.clone();
        session.not_recorded = not_recorded.to_vec();
        session
            .losses
            .insert("kernel_ring".into(), sources.kernel_lost);
        self.tell(&mut session);
        session.losses.retain(|_, n| *n > 0);
        session.end_ns = end;
        session.ended = "dumped".into();
        session.notes.push(format!(
            "Dumped while the recording went on ({why}): it ends then, not with the recording."
        ));
        session.store(&to.session()).map_err(io::Error::other)
    }
}

/// The same file in another directory: a link, or a copy where there can be none. What is not there is left out.
fn share(file: &Path, to: &RawDir) -> io::Result<()> {
    let Some(name) = file.file_name() else {
        return Ok(());
    };
    let to = to.path().join(name);
    match fs::hard_link(file, &to) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            let mut new = private::create_new(&to)?;
            io::copy(&mut File::open(file)?, &mut new).map(|_| ())
        }
    }
}

fn copy_from(file: &Path, from: u64, to: &Path) -> io::Result<()> {
    let mut file = File::open(file)?;
    file.seek(SeekFrom::Start(from))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    private::create_new(to)?.write_all(&text)
}
