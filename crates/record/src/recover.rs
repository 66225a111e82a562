//! Completing the session of a recorder that died.
//!
//! What always holds: only `session.json` is written; a recording whose recorder lives is refused,
//! which the lock on `raw/` decides, because the kernel takes it from the dead.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use loadline_trace::spool::session::Session;
use loadline_trace::spool::{RawDir, agent, kernel, procfs};

use crate::error::{Error, Result, io};
use crate::place;
use crate::sys;

/// Completes `session.json` of a recording that nobody ended: its end is the last thing written.
///
/// A session that is complete stays as it is.
pub fn recover(dir: &Path) -> Result<()> {
    let raw = RawDir::of(dir);
    if !raw.path().is_dir() {
        return Err(loadline_trace::Error::NotATrace(dir.into()).into());
    }
    let mut session = Session::load(&raw.session())?;
    let lock = File::open(raw.path()).map_err(io(raw.path()))?;
    if !sys::try_lock(&lock).map_err(io(raw.path()))? {
        return Err(Error::StillRecording {
            dir: dir.into(),
            by: session.recorder_pid,
        });
    }
    if !place::recover(&raw)? {
        session.notes.push(
            "The JVM had a file system of its own, and what the agent wrote there went with it."
                .into(),
        );
        session.store(&raw.session())?;
    }
    if session.end_ns != 0 {
        return Ok(());
    }
    if let Some(horizon) = horizon(&raw).filter(|h| *h > session.begin_ns) {
        // It died between dropping the oldest and saying so.
        session.begin_unix_ns += horizon - session.begin_ns;
        session.begin_ns = horizon;
    }
    session.end_ns = last_written(&raw)?.max(session.begin_ns);
    session.ended = "recovered".into();
    session.notes.push(
        "The recorder ended before the recording did: the trace ends with the last that was written, \
         and what the kernel level lost is not known."
            .into(),
    );
    session.store(&raw.session())?;
    Ok(())
}

/// Since when everything is there, if the oldest was dropped.
fn horizon(raw: &RawDir) -> Option<i64> {
    let carried = std::fs::read(raw.carry()).ok()?;
    agent::header(&carried).map(|h| h.begin)
}

/// Time of the last event in any spool, 0 if there is none.
fn last_written(raw: &RawDir) -> Result<i64> {
    let mut last = 0;
    for path in raw.kernels() {
        let bytes = std::fs::read(&path).map_err(io(&path))?;
        last = last.max(kernel::records(&bytes).map(|r| r.ts).max().unwrap_or(0));
    }
    if let Ok(file) = File::open(raw.agent()) {
        last = last.max(last_of_agent(&file).map_err(io(raw.agent()))?);
    }
    for path in raw.all_procfs() {
        let text = std::fs::read(&path).map_err(io(&path))?;
        let of_proc = procfs::lines(&String::from_utf8_lossy(&text))
            .map(|l| time_of(&l))
            .max();
        last = last.max(of_proc.unwrap_or(0));
    }
    Ok(last)
}

fn time_of(line: &procfs::Line) -> i64 {
    use procfs::Line::{Counters, CpuTime, Fds, JavaThreads, Threads};
    let (Threads { ts, .. }
    | Fds { ts, .. }
    | JavaThreads { ts, .. }
    | Counters { ts, .. }
    | CpuTime { ts, .. }) = line;
    *ts
}

/// Chunk by chunk, for a spool may be larger than memory.
fn last_of_agent(file: &File) -> std::io::Result<i64> {
    let mut reader = BufReader::with_capacity(agent::CHUNK, file);
    let mut chunk = vec![0; agent::CHUNK];
    reader.read_exact(&mut chunk[..agent::CHUNK])?;
    let Some(header) = agent::header(&chunk) else {
        return Ok(0);
    };
    // Behind it is nothing but blocks allocated ahead.
    let end = header.extent(file.metadata()?.len());
    reader.seek(SeekFrom::Start(agent::CHUNK as u64))?;
    let mut last = header.begin;
    for _ in 1..end / agent::CHUNK as u64 {
        reader.read_exact(&mut chunk)?;
        last = last.max(last_in_chunk(&chunk));
    }
    Ok(last)
}

fn last_in_chunk(chunk: &[u8]) -> i64 {
    let u32_at = |at: usize| u32::from_le_bytes(chunk[at..at + 4].try_into().expect("4 bytes"));
    if u32_at(0) != agent::CHUNK_MAGIC || u32_at(4) != 1 {
        return 0;
    }
    chunk[agent::EVENT..]
        .chunks_exact(agent::EVENT)
        .take_while(|e| e[8..12] != [0; 4])
        .map(|e| i64::from_le_bytes(e[..8].try_into().expect("8 bytes")))
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(end_ns: i64) -> (tempfile::TempDir, RawDir) {
        let dir = tempfile::tempdir().expect("a directory");
        let raw = RawDir::of(dir.path());
        std::fs::create_dir(raw.path()).expect("raw");
        let session = Session {
            begin_ns: 100,
            end_ns,
            recorder_pid: 1,
            ..Session::default()
        };
        session.store(&raw.session()).expect("stored");
        (dir, raw)
    }

    fn event(ts: i64, kind: u32) -> Vec<u8> {
        let mut e = ts.to_le_bytes().to_vec();
        e.extend(kind.to_le_bytes());
        e.resize(agent::EVENT, 0);
        e
    }

    fn agent_spool(events: &[(i64, u32)]) -> Vec<u8> {
        let mut spool = agent::new_header(1 << 20, &agent::Asked::default());
        let next = (2 * agent::CHUNK as u64) | 1;
        spool[agent::at::NEXT..][..8].copy_from_slice(&next.to_le_bytes());
        let mut chunk = agent::CHUNK_MAGIC.to_le_bytes().to_vec();
        chunk.extend(1u32.to_le_bytes());
        chunk.resize(agent::EVENT, 0);
        chunk.extend(events.iter().flat_map(|(ts, kind)| event(*ts, *kind)));
        chunk.resize(agent::CHUNK, 0);
        spool.extend(chunk);
        spool
    }

    #[test]
    fn the_end_is_the_last_thing_written_in_any_spool() {
        let (dir, raw) = recording(0);
        std::fs::write(raw.agent(), agent_spool(&[(500, 60), (700, 61), (900, 0)]))
            .expect("written");
        std::fs::write(
            raw.procfs(),
            "{\"what\":\"cpu_time\",\"ts\":600,\"threads\":[]}\n{\"wh",
        )
        .expect("written");
        recover(dir.path()).expect("recovered");
        let session = Session::load(&raw.session()).expect("readable");
        assert_eq!((session.end_ns, session.ended.as_str()), (700, "recovered"));
        assert_eq!(session.notes.len(), 1);
    }

    #[test]
    fn a_recording_without_events_ends_where_it_began() {
        let (dir, raw) = recording(0);
        recover(dir.path()).expect("recovered");
        assert_eq!(Session::load(&raw.session()).expect("readable").end_ns, 100);
    }

    #[test]
    fn a_complete_session_is_left_alone() {
        let (dir, raw) = recording(300);
        recover(dir.path()).expect("nothing to do");
        let session = Session::load(&raw.session()).expect("readable");
        assert_eq!((session.end_ns, session.ended.as_str()), (300, ""));
    }

    #[test]
    fn a_living_recorder_is_named() {
        let (dir, raw) = recording(0);
        let lock = File::open(raw.path()).expect("raw");
        assert!(sys::try_lock(&lock).expect("locked"));
        let error = recover(dir.path()).expect_err("refused").to_string();
        assert!(
            error.contains("still being recorded by process 1"),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_trace_is_said_so() {
        let dir = tempfile::tempdir().expect("a directory");
        let error = recover(dir.path()).expect_err("refused").to_string();
        assert!(error.contains("is not a trace"), "{error}");
    }
}
