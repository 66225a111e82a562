//! Processes that we start: in a group of their own, on CPUs of their own, gone when we are.
//!
//! What always holds: a [`Child`] that goes away takes its whole group with it; the kernel kills the
//! process itself if we die without a chance to (PR_SET_PDEATHSIG, which counts the thread that
//! started it: children are started from the thread that waits for them).

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::proc;

/// How often a wait looks.
pub const TICK: Duration = Duration::from_millis(50);
/// How long a process may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(15);

/// A process of ours and those that it started.
pub struct Child {
    inner: std::process::Child,
    ended: Option<ExitStatus>,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The process ended.
    Ended(ExitStatus),
    /// The time was over.
    TimedOut,
    /// The user wants to stop.
    Stopped,
}

impl Child {
    /// Starts it with nothing on its stdin, on `cpus` (anywhere if empty).
    pub fn start(mut command: Command, cpus: &[usize]) -> io::Result<Child> {
        let set = (!cpus.is_empty()).then(|| proc::cpu_set(cpus));
        let parent = std::process::id() as i32;
        command.stdin(Stdio::null()).process_group(0);
        // SAFETY: only async-signal-safe system calls, on values made before the fork.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                if libc::getppid() != parent {
                    libc::_exit(1); // we died before the kernel knew whom to tell
                }
                match &set {
                    Some(set)
                        if libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) != 0 =>
                    {
                        Err(io::Error::last_os_error())
                    }
                    _ => Ok(()),
                }
            });
        }
        Ok(Child {
            inner: command.spawn()?,
            ended: None,
        })
    }

    /// Its id, which is also its group's.
    pub fn pid(&self) -> i32 {
        self.inner.id() as i32
    }

    /// What it writes to stdout or stderr, if that is a pipe.
    pub fn take_output(
        &mut self,
    ) -> (
        Option<std::process::ChildStdout>,
        Option<std::process::ChildStderr>,
    ) {
        (self.inner.stdout.take(), self.inner.stderr.take())
    }

    /// Its status, if it has ended.
    pub fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() && proc::is_zombie(self.pid()) {
            self.end(); // with what it left in its group
        }
        Ok(self.ended)
    }

    /// Waits for its end, at most until `deadline` and until `stop`.
    pub fn wait(&mut self, deadline: Instant, stop: &AtomicBool) -> io::Result<Wait> {
        loop {
            if let Some(status) = self.status()? {
                return Ok(Wait::Ended(status));
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(Wait::Stopped);
            }
            if Instant::now() >= deadline {
                return Ok(Wait::TimedOut);
            }
            std::thread::sleep(TICK);
        }
    }

    /// Asks the group to end, waits a while, and then kills what is left.
    pub fn end(&mut self) -> ExitStatus {
        if let Some(status) = self.ended {
            return status;
        }
        let group = self.pid();
        signal_group(group, libc::SIGTERM);
        let until = Instant::now() + GRACE;
        while proc::group_lives(group) && Instant::now() < until {
            std::thread::sleep(TICK / 2);
        }
        // Before the leader is reaped: until then nobody else can be given its number.
        signal_group(group, libc::SIGKILL);
        let status = self
            .inner
            .wait()
            .unwrap_or_else(|_| ExitStatus::from_raw(libc::SIGKILL));
        self.ended = Some(status);
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

fn signal_group(group: i32, signal: i32) {
    // SAFETY: kill only sends a signal; the group's leader is an unreaped child of ours.
    unsafe { libc::kill(-group, signal) };
}

/// `exit status 1`, `signal 9`.
pub fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut c = Command::new("sh");
        c.args(["-c", script]);
        c
    }

    #[test]
    fn a_child_takes_its_grandchildren_along() {
        let mut child = Child::start(shell("sleep 60 & sleep 60"), &[]).expect("sh starts");
        let group = child.pid();
        let until = Instant::now() + Duration::from_secs(10);
        while proc::family(group).len() < 3 && Instant::now() < until {
            std::thread::sleep(TICK);
        }
        assert!(proc::family(group).len() >= 3, "the shell and two sleeps");
        child.end();
        assert!(!proc::group_lives(group));
    }

    #[test]
    fn a_wait_ends_with_the_process_the_time_or_the_user() {
        let stop = AtomicBool::new(false);
        let soon = || Instant::now() + Duration::from_millis(100);
        let long = Instant::now() + Duration::from_secs(30);
        let mut quick = Child::start(shell("exit 3"), &[]).expect("sh starts");
        match quick.wait(long, &stop).expect("it is ours") {
            Wait::Ended(status) => assert_eq!(how(status), "exit status 3"),
            other => panic!("{other:?}"),
        }
        let mut slow = Child::start(shell("sleep 60"), &[]).expect("sh starts");
        assert_eq!(slow.wait(soon(), &stop).expect("ours"), Wait::TimedOut);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(slow.wait(long, &stop).expect("ours"), Wait::Stopped);
    }

    #[test]
    fn a_child_runs_on_the_cpus_that_it_was_given() {
        let Some(first) = proc::allowed_cpus(0).first().copied() else {
            panic!("this process runs on some CPU");
        };
        let child = Child::start(shell("exec sleep 60"), &[first]).expect("sh starts");
        assert_eq!(proc::allowed_cpus(child.pid()), vec![first]);
    }
}
