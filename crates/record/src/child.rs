//! A command that we start ourselves.
//!
//! A java command is forked first and let go when everything records: between, it waits before its
//! exec. It reads from a pipe of which only we have the other end, so that it ends if we do.
//!
//! What always holds: a child that was never let go is killed, and one that was is asked to end
//! (SIGTERM), waited for, and in the end killed, whenever a [`Child`] goes away unreaped.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::sys::{PidFd, c_path, check};

/// How long a child may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(15);

/// A process that we started.
pub struct Child {
    pid: i32,
    process: PidFd,
    command: String,
    /// Writing lets it go; closing without writing ends it.
    go: Option<File>,
    /// Has the error of a failed exec; else end of file.
    exec_error: File,
    status: Option<i32>,
}

impl Child {
    /// Forks a process that will run `command` when [`Child::release`]d.
    pub fn waiting(command: &[OsString]) -> Result<Child> {
        let text = command
            .iter()
            .map(|w| w.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ");
        let failed = |e: io::Error| Error::Command {
            command: text.clone(),
            why: e.to_string(),
        };
        let program = command
            .first()
            .ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let program = c_path(&find(program).map_err(failed)?).map_err(failed)?;
        let words: io::Result<Vec<CString>> =
            command.iter().map(|w| c_path(Path::new(w))).collect();
        let words = words.map_err(failed)?;
        let mut argv: Vec<*const libc::c_char> = words.iter().map(|w| w.as_ptr()).collect();
        argv.push(std::ptr::null());
        let (wait, go) = pipe().map_err(failed)?;
        let (exec_error, tell) = pipe().map_err(failed)?;
        // SAFETY: the child calls nothing but async-signal-safe functions on memory prepared above.
        let pid = check(unsafe { libc::fork() }).map_err(failed)?;
        if pid == 0 {
            // SAFETY: we are the forked child; all pointers were made before the fork.
            unsafe {
                run(
                    wait.as_raw_fd(),
                    go.as_raw_fd(),
                    tell.as_raw_fd(),
                    program.as_ptr(),
                    argv.as_ptr(),
                )
            }
        }
        drop((wait, tell));
        let process = PidFd::open(pid).map_err(failed)?;
        let (go, exec_error) = (Some(File::from(go)), File::from(exec_error));
        Ok(Child {
            pid,
            process,
            command: text,
            go,
            exec_error,
            status: None,
        })
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Lets it exec.
    pub fn release(&mut self) -> Result<()> {
        let failed = |command: &str, e: io::Error| Error::Command {
            command: command.into(),
            why: e.to_string(),
        };
        if let Some(mut go) = self.go.take() {
            go.write_all(b"g").map_err(|e| failed(&self.command, e))?;
        }
        let mut error = Vec::new();
        self.exec_error
            .read_to_end(&mut error)
            .map_err(|e| failed(&self.command, e))?;
        match error.try_into().map(i32::from_ne_bytes) {
            Ok(errno) => Err(failed(&self.command, io::Error::from_raw_os_error(errno))),
            Err(_) => Ok(()), // nothing came: it runs
        }
    }

    /// Its exit status, as a shell says it (128 + signal), once it has ended.
    pub fn status(&mut self) -> Option<i32> {
        if self.status.is_none() {
            let mut raw = 0;
            // SAFETY: `raw` is valid for writing; the process is our own child.
            let reaped = unsafe { libc::waitpid(self.pid, &mut raw, libc::WNOHANG) };
            if reaped == self.pid {
                self.status = Some(if libc::WIFSIGNALED(raw) {
                    128 + libc::WTERMSIG(raw)
                } else {
                    libc::WEXITSTATUS(raw)
                });
            }
        }
        self.status
    }

    /// Waits for its end for at most so long.
    pub fn wait(&mut self, at_most: Duration, give_up: impl Fn() -> bool) -> Option<i32> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.status() {
                return Some(status);
            }
            if begin.elapsed() > at_most || give_up() {
                return None;
            }
            self.process.wait_exit(Duration::from_millis(50));
        }
    }

    /// Asks it, and `also` (a JVM that it started), to end; kills what does not.
    pub fn terminate(&mut self, also: Option<&PidFd>) -> Option<i32> {
        if let Some(jvm) = also {
            jvm.signal(libc::SIGTERM);
        }
        if self.status().is_none() {
            self.process.signal(if self.go.is_some() {
                libc::SIGKILL
            } else {
                libc::SIGTERM
            });
            if self.wait(GRACE, || false).is_none() {
                self.process.signal(libc::SIGKILL);
                self.wait(GRACE, || false);
            }
        }
        if let Some(jvm) = also
            && !jvm.wait_exit(GRACE)
        {
            jvm.signal(libc::SIGKILL);
        }
        self.status()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.terminate(None);
    }
}

/// The forked child's part.
///
/// # Safety
/// Must be called in a freshly forked process, with a NUL-terminated program and a NULL-terminated
/// list of NUL-terminated words.
unsafe fn run(
    wait: RawFd,
    go: RawFd,
    tell: RawFd,
    program: *const libc::c_char,
    argv: *const *const libc::c_char,
) -> ! {
    // SAFETY: async-signal-safe calls only, on descriptors and memory that the caller vouches for.
    unsafe {
        // Rust ignores SIGPIPE and the command line catches others: the command wants neither.
        for signal in [
            libc::SIGPIPE,
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGQUIT,
        ] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::close(go); // else the pipe would never end
        let mut byte = 0u8;
        loop {
            match libc::read(wait, (&raw mut byte).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => libc::_exit(127), // the recorder is gone
            }
        }
        libc::execv(program, argv);
        let errno = *libc::__errno_location();
        libc::write(tell, (&raw const errno).cast(), size_of::<libc::c_int>());
        libc::_exit(127)
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: fresh descriptors that nobody else owns.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// The file of a command, looked up in PATH unless it names a folder.
fn find(program: &OsStr) -> io::Result<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Ok(program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|p| {
            p.metadata()
                .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
        })
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "command not found"))
}

/// Whether a command is the java launcher, which takes `-javaagent` as its first option.
pub fn is_java(command: &[OsString]) -> bool {
    command
        .first()
        .is_some_and(|p| Path::new(p).file_name() == Some(OsStr::new("java")))
}

/// The command with the agent as its first option.
pub fn with_agent(command: &[OsString], jar: &Path, options: &Path) -> Vec<OsString> {
    let mut agent = OsString::from("-javaagent:");
    agent.push(jar);
    agent.push("=");
    agent.push(options);
    let mut words = command.to_vec();
    words.insert(1.min(words.len()), agent);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Vec<OsString> {
        ["sh", "-c", script].iter().map(Into::into).collect()
    }

    #[test]
    fn a_child_does_nothing_before_it_is_let_go() {
        let dir = tempfile::tempdir().expect("a directory");
        let mark = dir.path().join("mark");
        let mut child =
            Child::waiting(&sh(&format!("touch {}; exit 3", mark.display()))).expect("forked");
        assert_eq!(child.wait(Duration::from_millis(100), || false), None);
        assert!(!mark.exists());
        child.release().expect("it runs");
        assert_eq!(child.wait(Duration::from_secs(10), || false), Some(3));
        assert!(mark.exists());
    }

    #[test]
    fn a_child_that_was_never_let_go_is_gone_with_us() {
        let child = Child::waiting(&sh("sleep 100")).expect("forked");
        let process = PidFd::open(child.pid()).expect("it lives");
        drop(child);
        assert!(process.wait_exit(Duration::from_secs(5)));
    }

    #[test]
    fn a_running_child_is_terminated_and_its_signal_told() {
        let mut child = Child::waiting(&sh("exec sleep 100")).expect("forked");
        child.release().expect("it runs");
        assert_eq!(child.terminate(None), Some(128 + libc::SIGTERM));
    }

    #[test]
    fn a_command_that_cannot_be_run_says_why() {
        let error = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            match Child::waiting(&words).and_then(|mut c| c.release()) {
                Err(e) => e.to_string(),
                Ok(()) => panic!("it ran"),
            }
        };
        assert_eq!(
            error(&["no-such-command-here"]),
            "no-such-command-here: command not found"
        );
        assert!(error(&["/dev/null", "x"]).starts_with("/dev/null x: Permission denied"));
    }

    #[test]
    fn the_agent_is_the_first_option_of_java_only() {
        let java: Vec<OsString> = ["/opt/jdk/bin/java", "-jar", "x.jar"]
            .iter()
            .map(Into::into)
            .collect();
        assert!(is_java(&java));
        assert!(!is_java(&sh("java")));
        assert!(!is_java(&[]));
        let words = with_agent(&java, Path::new("/l/a.jar"), Path::new("/t/raw"));
        assert_eq!(words[1], "-javaagent:/l/a.jar=/t/raw");
        assert_eq!(words[2], "-jar");
    }
}
