//! The way in to a JVM that had the agent since its start: a socket of the agent's own.
//!
//! `/tmp/.loadline-<pid>/door` in the JVM's file system, in a folder that only its user and root can enter. So nothing is loaded
//! into it, of which JVMs warn from 21 on and which they may refuse (`-XX:-EnableDynamicAgentLoading`), and its attach mechanism
//! may be switched off. The agent reads a line, the recording's directory, says at once that it has heard it, and with a second
//! line that it has begun or failed. Whoever has gone by then is told of nothing, and nothing is begun for them.
//!
//! What always holds: nothing is said to a socket that is not the target's own, whatever lies under that name.

use std::io::{BufRead, BufReader, ErrorKind, Write};
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

    /// Has the agent begin a recording into this directory, which it calls so. It may take `hear` to say that it does.
    pub fn start(mut self, directory: &Path, hear: Duration, begin: Duration) -> Result<()> {
        let failed = |why: String| Error::Attach {
            pid: self.pid,
            why: format!("its agent's door: {why}"),
        };
        let request = [directory.as_os_str().as_bytes(), b"\n"].concat();
        let said = self.stream.set_write_timeout(Some(hear));
        said.and_then(|()| self.stream.write_all(&request))
            .map_err(|e| failed(e.to_string()))?;
        let mut reader = BufReader::new(&self.stream);
        for (word, at_most) in [("heard\n", hear), ("done\n", begin)] {
            let mut answer = String::new();
            let timed = self.stream.set_read_timeout(Some(at_most));
            timed
                .and_then(|()| reader.read_line(&mut answer))
                .map_err(|e| match e.kind() {
                    ErrorKind::WouldBlock => {
                        failed(format!("no answer within {} s", at_most.as_secs()))
                    }
                    _ => failed(e.to_string()),
                })?;
            match answer.as_str() {
                right if right == word => (),
                "" => return Err(failed("it was closed: the JVM has ended".into())),
                other => return Err(failed(format!("it said {other:?}"))),
            }
        }
        Ok(())
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
