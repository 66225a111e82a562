//! The way in to a JVM that had the agent since its start: a socket of the agent's own.
//!
//! `/tmp/.loadline-<pid>/door` in the JVM's file system, in a folder that only its user and root can enter. So nothing is loaded
//! into it, of which JVMs warn from 21 on and which they may refuse (`-XX:-EnableDynamicAgentLoading`), and its attach mechanism
//! may be switched off. The agent reads a line, the recording's directory, and answers with one when that has begun or failed.
//!
//! What always holds: nothing is said to a socket that is not the target's own, whatever lies under that name.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::attach::Tmp;
use crate::error::{Error, Result};
use crate::sys;
use crate::target::Target;

const DOOR: &str = "door";

/// An open one, whose other side is the target.
pub struct Door {
    pid: i32,
    stream: UnixStream,
}

impl Door {
    /// That of a target, if it has one.
    pub fn find(target: &Target) -> Option<Door> {
        let tmp = Tmp::of(target).ok()?;
        let folder = tmp.path(&folder(target));
        let its = std::fs::symlink_metadata(&folder).ok()?;
        if !its.is_dir() || its.uid() != target.uid {
            return None;
        }
        let stream = tmp.connect(&folder.join(DOOR)).ok()?;
        let is_its = sys::peer(&stream).is_ok_and(|peer| peer.pid == target.pid);
        is_its.then_some(Door {
            pid: target.pid,
            stream,
        })
    }

    /// Has the agent begin a recording into this directory, which it calls so.
    pub fn start(mut self, directory: &Path, at_most: Duration) -> Result<()> {
        let failed = |why: String| Error::Attach {
            pid: self.pid,
            why: format!("its agent's door: {why}"),
        };
        let io = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::WouldBlock => failed(format!(
                "no answer within {} s (the JVM may be stopped, or busy)",
                at_most.as_secs()
            )),
            _ => failed(e.to_string()),
        };
        let request = [directory.as_os_str().as_bytes(), b"\n"].concat();
        self.stream.set_read_timeout(Some(at_most)).map_err(io)?;
        self.stream.set_write_timeout(Some(at_most)).map_err(io)?;
        self.stream.write_all(&request).map_err(io)?;
        let mut answer = String::new();
        let mut reader = BufReader::new(&self.stream);
        reader.read_line(&mut answer).map_err(io)?;
        match answer.as_str() {
            "done\n" => Ok(()),
            "" => Err(failed("it was closed: the JVM has ended".into())),
            other => Err(failed(format!("it said {other:?}"))),
        }
    }
}

fn folder(target: &Target) -> String {
    format!(".loadline-{}", target.nspid)
}

/// Removes the door that a killed JVM had no time to remove.
pub fn remove_dead(target: &Target) {
    let folder = Path::new("/tmp").join(folder(target));
    let its_own =
        std::fs::symlink_metadata(&folder).is_ok_and(|m| m.is_dir() && m.uid() == target.uid);
    let door = folder.join(DOOR);
    // One that answers belongs to a JVM that was given the same id.
    if its_own && UnixStream::connect(&door).is_err() {
        let _ = std::fs::remove_file(&door); // another may have been quicker
        let _ = std::fs::remove_dir(&folder);
    }
}
