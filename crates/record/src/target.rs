//! What must be known of the process that is to be recorded, and the checks before it is touched.

use std::fs::File;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;

use crate::error::{Error, Result};
use crate::jvms;
use crate::procfs::parse;
use crate::sys;

/// The process that is to be recorded.
#[derive(Debug, Clone)]
pub struct Target {
    /// Id in our pid namespace.
    pub pid: i32,
    /// Id in its own.
    pub nspid: i32,
    /// Effective user.
    pub uid: u32,
    /// Effective group.
    pub gid: u32,
    /// Its other groups.
    pub groups: Vec<u32>,
    /// Main class or jar.
    pub name: String,
    /// Command line.
    pub cmdline: Vec<String>,
    /// It lives in our pid namespace.
    pub our_pids: bool,
    /// Its user namespace is ours: ids of users mean the same.
    pub our_users: bool,
}

impl Target {
    /// Looks at a process without touching it.
    pub fn look(pid: i32) -> Result<Target> {
        let gone = || Error::NoSuchProcess {
            pid,
            running: jvms::list(&jvms::running_jvms()),
        };
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(|_| gone())?;
        // A thread's id opens /proc too, and would then be attached to under a wrong name.
        if parse::status(&status, "Tgid").and_then(|t| t.parse().ok()) != Some(pid) {
            return Err(gone());
        }
        let id = |name| parse::effective_id(&status, name).ok_or_else(gone);
        let groups = parse::status(&status, "Groups").unwrap_or_default();
        let cmdline = jvms::command_line(pid);
        Ok(Target {
            pid,
            nspid: parse::nspid(&status).unwrap_or(pid),
            uid: id("Uid")?,
            gid: id("Gid")?,
            groups: groups
                .split_ascii_whitespace()
                .filter_map(|g| g.parse().ok())
                .collect(),
            name: jvms::name_of(&cmdline),
            cmdline,
            our_pids: shares_namespace(pid, "pid"),
            our_users: shares_namespace(pid, "user"),
        })
    }

    /// Refuses what is not ours to record, or is no JVM.
    pub fn check_recordable(&self) -> Result<()> {
        let pid = self.pid;
        let us = sys::euid();
        if us != 0 && us != self.uid {
            return Err(Error::OtherUser {
                pid,
                owner: user_name(self.uid),
            });
        }
        if !jvms::is_jvm(pid) {
            let running = jvms::list(&jvms::running_jvms());
            return Err(Error::NotAJvm {
                pid,
                name: jvms::comm(pid),
                running,
            });
        }
        Ok(())
    }

    /// Refuses one that is stopped: it would answer nobody.
    pub fn check_runs(&self) -> Result<()> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid));
        let state = status
            .as_deref()
            .ok()
            .and_then(|s| parse::status(s, "State"));
        let why = match state.and_then(|s| s.chars().next()) {
            Some('T') => format!("it is stopped. Let it go on first: kill -CONT {}", self.pid),
            Some('t') => "a debugger has stopped it. Let it go on first".into(),
            _ => return Ok(()),
        };
        Err(Error::Attach { pid: self.pid, why })
    }

    /// Environment of the process, as it was started.
    pub fn environment(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let bytes = std::fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        bytes
            .split(|&b| b == 0)
            .filter_map(|v| {
                let eq = v.iter().position(|&b| b == b'=')?;
                Some((v[..eq].to_vec(), v[eq + 1..].to_vec()))
            })
            .collect()
    }

    /// Whether an absolute path means the same file to it.
    pub fn sees(&self, path: &Path) -> bool {
        let inside = format!("/proc/{}/root{}", self.pid, path.display());
        match (std::fs::metadata(path), std::fs::metadata(inside)) {
            (Ok(ours), Ok(theirs)) => (theirs.dev(), theirs.ino()) == (ours.dev(), ours.ino()),
            _ => false,
        }
    }

    /// Its /tmp, in its own file system; for names below it.
    pub fn tmp(&self) -> std::io::Result<File> {
        const DIRECTORY: libc::c_int = libc::O_PATH | libc::O_DIRECTORY;
        let mut options = File::options();
        let root = options.read(true).custom_flags(DIRECTORY);
        let root = root.open(format!("/proc/{}/root", self.pid))?;
        match shares_namespace(self.pid, "mnt") {
            true => sys::open_at(&root, "tmp".as_ref(), DIRECTORY),
            false => open_inside(&root, "tmp", DIRECTORY), // a link of its own would lead into our file system
        }
    }

    /// Does something with files, with its rights and as its user.
    pub fn on_its_behalf<T: Send>(
        &self,
        act: impl FnOnce() -> std::io::Result<T> + Send,
    ) -> std::io::Result<T> {
        if sys::euid() == self.uid {
            return act();
        }
        self.in_a_thread(|| {
            sys::become_for_files(self.uid, self.gid, &self.groups)?;
            act()
        })
    }

    /// Does something as its user in every respect.
    pub fn as_its_user<T: Send>(
        &self,
        act: impl FnOnce() -> std::io::Result<T> + Send,
    ) -> std::io::Result<T> {
        if sys::euid() == self.uid {
            return act();
        }
        self.in_a_thread(|| {
            sys::become_user(self.uid, self.gid, &self.groups)?;
            act()
        })
    }

    /// In Linux each thread has its own rights. This one gives its up, acts, and ends.
    fn in_a_thread<T: Send>(
        &self,
        act: impl FnOnce() -> std::io::Result<T> + Send,
    ) -> std::io::Result<T> {
        std::thread::scope(|scope| {
            let acting = scope.spawn(act);
            acting
                .join()
                .unwrap_or_else(|_| Err(std::io::Error::other("it failed")))
        })
    }

    /// Checks that the target can open a file of ours with its own rights.
    pub fn check_reaches(&self, path: &Path, write: bool) -> Result<()> {
        let unreachable = |why: String| Error::Unreachable {
            pid: self.pid,
            user: user_name(self.uid),
            path: path.into(),
            why,
        };
        self.open_as_target(path, write).map_err(|e| {
            unreachable(format!(
                "{e}. Put the trace (-o) and Loadline into folders which that user can enter, as /tmp"
            ))
        })
    }

    fn open_as_target(&self, path: &Path, write: bool) -> std::io::Result<()> {
        let open = || File::options().read(true).write(write).open(path);
        self.on_its_behalf(|| open().map(|_| ()))
    }

    /// CPUs that the target may use now.
    pub fn cpus(&self) -> u32 {
        sys::affinity(self.pid)
    }
}

/// Holds the right to record a process: one recorder at a time. Vanishes with us.
#[derive(Debug)]
pub struct Claim {
    /// Where who asks for a dump is answered; does not block.
    pub listener: UnixListener,
}

/// The abstract socket's name.
pub fn claim_name(pid: i32) -> String {
    format!("loadline-record-{pid}")
}

impl Claim {
    /// Takes it, or says who has it.
    ///
    /// The right is an abstract socket's name: it exists once per machine, leaves no file, and
    /// connecting to it tells the holder's process id.
    pub fn take(pid: i32) -> Result<Claim> {
        let name = claim_name(pid);
        let failed = |e| Error::Attach {
            pid,
            why: format!("socket {name}: {e}"),
        };
        let address = SocketAddr::from_abstract_name(&name).map_err(failed)?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => {
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Claim { listener })
            }
            Err(e) if e.kind() == std::io::ErrorKind::AddrInUse => {
                let by = UnixStream::connect_addr(&address)
                    .and_then(|s| sys::peer(&s))
                    .map(|p| p.pid)
                    .unwrap_or(0); // it has just ended, or is full of callers
                Err(Error::AlreadyRecorded { pid, by })
            }
            Err(e) => Err(failed(e)),
        }
    }
}

/// Whether a process is in our namespace of this kind.
fn shares_namespace(pid: i32, kind: &str) -> bool {
    let of = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok();
    of(&pid.to_string()) == of("self")
}

/// Opens a name below an open directory, unless it is a link.
pub fn open_inside(
    dir: &File,
    name: impl AsRef<Path>,
    flags: libc::c_int,
) -> std::io::Result<File> {
    sys::open_at(dir, name.as_ref(), flags | libc::O_NOFOLLOW)
}

/// Name of a user, or its number.
pub fn user_name(uid: u32) -> String {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&passwd, uid).unwrap_or_else(|| uid.to_string())
}

fn name_in(passwd: &str, uid: u32) -> Option<String> {
    passwd.lines().find_map(|l| {
        let mut fields = l.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names_if_the_machine_knows_them() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\ntom:x:1000:1000::/home/tom:/bin/sh\n";
        assert_eq!(name_in(passwd, 1000).as_deref(), Some("tom"));
        assert_eq!(name_in(passwd, 7), None);
    }

    #[test]
    fn a_second_claim_names_the_holder_and_succeeds_when_he_is_gone() {
        let pid = -(std::process::id() as i32); // nobody's
        let first = Claim::take(pid).expect("free");
        match Claim::take(pid) {
            Err(Error::AlreadyRecorded { by, .. }) => assert_eq!(by, std::process::id() as i32),
            other => panic!("{other:?}"),
        }
        drop(first);
        Claim::take(pid).expect("free again");
    }

    #[test]
    fn a_thread_is_not_a_process() {
        let own = std::process::id() as i32;
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            // SAFETY: no arguments.
            tell.send(unsafe { libc::gettid() }).expect("told");
            wait.recv().ok();
        });
        let tid = told.recv().expect("its id");
        assert!(matches!(
            Target::look(tid),
            Err(Error::NoSuchProcess { .. })
        ));
        assert_eq!(Target::look(own).expect("us").pid, own);
        drop(go);
        other.join().expect("joined");
    }
}
