//! What must be known of the process that is to be recorded, and the checks before it is touched.

use std::fs::File;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
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
            our_pids: namespace(pid, "pid") == namespace(std::process::id() as i32, "pid"),
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

    /// Checks that the target can open a file of ours, by its own path and with its own rights.
    pub fn check_reaches(&self, path: &Path, write: bool) -> Result<()> {
        let unreachable = |why: String| Error::Unreachable {
            pid: self.pid,
            user: user_name(self.uid),
            path: path.into(),
            why,
        };
        let ours = std::fs::metadata(path).map_err(io(path))?;
        let inside = PathBuf::from(format!("/proc/{}/root{}", self.pid, path.display()));
        let same = std::fs::metadata(&inside)
            .is_ok_and(|theirs| (theirs.dev(), theirs.ino()) == (ours.dev(), ours.ino()));
        if !same {
            return Err(unreachable(
                "it has a file system of its own (a container, a chroot, or systemd's PrivateTmp) in \
                 which this path is not the same file. Put the trace (-o) and Loadline into a folder \
                 that both see under one name"
                    .into(),
            ));
        }
        self.open_as_target(path, write).map_err(|e| {
            unreachable(format!(
                "{e}. Put the trace (-o) and Loadline into folders which that user can enter, as /tmp"
            ))
        })
    }

    fn open_as_target(&self, path: &Path, write: bool) -> std::io::Result<()> {
        let open = || {
            File::options()
                .read(true)
                .write(write)
                .open(path)
                .map(|_| ())
        };
        if sys::euid() == self.uid {
            return open();
        }
        // In Linux each thread has its own rights. This one gives its up, opens, and ends.
        std::thread::scope(|scope| {
            let opener = scope.spawn(|| {
                sys::become_for_files(self.uid, self.gid, &self.groups)?;
                open()
            });
            opener
                .join()
                .unwrap_or_else(|_| Err(std::io::Error::other("the check failed")))
        })
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

fn namespace(pid: i32, kind: &str) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok()
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
