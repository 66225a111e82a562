//! The way in to a JVM that had the agent since its start: a socket of the agent's own.
//!
//! `/tmp/.loadline-<pid>/door` in the JVM's file system, in a folder that only its user and root can enter. So nothing is loaded
//! into it, of which JVMs warn from 21 on and which they may refuse (`-XX:-EnableDynamicAgentLoading`), and its attach mechanism
//! may be switched off. The agent reads a line, the recording's directory, says at once that it has heard it, and with a second
//! line that it has begun or failed. Whoever has gone by then is told of nothing, and nothing is begun for them.
//!
//! What always holds: nothing is said to a socket that is not the target's own, whatever lies under that name.

use std::fs::{DirEntry, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::attach::Tmp;
use crate::error::{Error, Result};
use crate::sys;
use crate::target::Target;

const DOOR: &str = "door";
/// What it is called until it listens.
const UNOPENED: &str = "door.new";
/// How long after its folder, at most; there may be a reason to wait, as a machine that is stopped.
const OPENS_WITHIN: Duration = Duration::from_secs(60);

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

const TMP: &str = "/tmp";
const FOLDER: &str = ".loadline-";

fn folder(target: &Target) -> String {
    format!("{FOLDER}{}", target.nspid)
}

/// Removes the door that a killed JVM, which was our target, had no time to remove.
pub fn remove_dead(target: &Target) {
    let folder = Path::new(TMP).join(folder(target));
    // One that answers belongs to a JVM that was given the same id.
    remove(
        &folder,
        |uid| uid == target.uid,
        |refusal| refusal != ErrorKind::WouldBlock,
    );
}

/// The same of JVMs that nobody recorded when they were killed. Those of the ids of processes that there are are left alone;
/// others may be those of a container that has the same /tmp, and answer.
pub fn remove_all_dead() {
    let ours = sys::euid();
    for entry in std::fs::read_dir(TMP).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|n| n.strip_prefix(FOLDER));
        let pid: Option<i32> = pid.and_then(|n| n.parse().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // A folder that has no door is about to get one, or its JVM was killed just then.
            let is_old = is_older(&entry, OPENS_WITHIN);
            remove(
                &entry.path(),
                |uid| ours == 0 || uid == ours,
                |refusal| {
                    refusal == ErrorKind::ConnectionRefused
                        || is_old && refusal == ErrorKind::NotFound
                },
            );
        }
    }
}

fn is_older(entry: &DirEntry, than: Duration) -> bool {
    let changed = entry.metadata().and_then(|m| m.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > than))
}

/// Removes a door in the folder of such a user, if it lets nobody in for such a reason.
fn remove(folder: &Path, whose: impl Fn(u32) -> bool, is_dead: impl Fn(ErrorKind) -> bool) {
    let mut options = OpenOptions::new();
    options.read(true);
    // Through our own descriptor, whatever its owner puts in its place meanwhile.
    let opened = options
        .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(folder);
    let Ok(dir) = opened else {
        return; // there is none
    };
    let inside = |name: &str| PathBuf::from(format!("/proc/self/fd/{}/{name}", dir.as_raw_fd()));
    if !dir.metadata().is_ok_and(|m| whose(m.uid())) {
        return;
    }
    if sys::knock(&inside(DOOR)).is_err_and(|e| is_dead(e.kind())) {
        for name in [DOOR, UNOPENED] {
            let _ = std::fs::remove_file(inside(name)); // another may have been quicker
        }
        let _ = std::fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_door_that_answers_or_lets_nobody_in_stays_and_a_dead_one_goes() {
        let tmp = tempfile::tempdir().expect("a directory");
        let folder = tmp.path().join("folder");
        std::fs::create_dir(&folder).expect("created");
        let door = UnixListener::bind(folder.join(DOOR)).expect("a door");
        let ours = sys::euid();
        let all = || {
            let refused = |refusal| refusal == ErrorKind::ConnectionRefused;
            remove(&folder, |uid| uid == ours, refused);
            folder.exists()
        };
        assert!(all(), "it answers");
        // SAFETY: a listening socket, which is told to keep fewer callers waiting.
        assert_eq!(unsafe { libc::listen(door.as_raw_fd(), 0) }, 0);
        let knocks = std::iter::repeat_with(|| sys::knock(&folder.join(DOOR)));
        let refusal = knocks.take(10).find_map(|k| k.err()).expect("it is full");
        assert_eq!(refusal.kind(), ErrorKind::WouldBlock);
        assert!(all(), "and keeps nobody waiting");
        drop(door);
        remove(&folder, |uid| uid != ours, |_| true);
        assert!(folder.exists(), "somebody else's");
        assert!(!all(), "it is dead");
    }

    #[test]
    fn a_folder_is_old_by_when_something_last_came_into_it() {
        let tmp = tempfile::tempdir().expect("a directory");
        let folder = tmp.path().join("folder");
        std::fs::create_dir(&folder).expect("created");
        let is_old = || {
            let mut entries = std::fs::read_dir(tmp.path()).expect("a directory");
            let entry = entries.next().expect("one").expect("an entry");
            is_older(&entry, OPENS_WITHIN)
        };
        assert!(!is_old(), "just made");
        let then = std::time::SystemTime::now() - 2 * OPENS_WITHIN;
        let dir = std::fs::File::open(&folder).expect("a folder");
        dir.set_modified(then).expect("its own time");
        assert!(is_old());
        std::fs::write(folder.join(UNOPENED), "").expect("written");
        assert!(!is_old(), "a door is being made");
        remove(&folder, |_| true, |refusal| refusal == ErrorKind::NotFound);
        assert!(!folder.exists(), "with what it was to be");
    }
}
