//! The process under record, whether it ran before or was started by us.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::child::Child;
use crate::error::{Error, Result};
use crate::jvms;
use crate::procfs::parse;
use crate::sys::PidFd;
use crate::target::{Claim, Target};

/// A process that is to be recorded, held so that it cannot turn into another one.
pub struct Subject {
    /// What is known of it.
    pub target: Target,
    /// To see it end.
    pub process: PidFd,
    /// What we started: the process itself, or an ancestor.
    pub child: Option<Child>,
    /// The right to record it.
    pub claim: Claim,
}

impl Subject {
    /// A running JVM.
    pub fn running(pid: i32) -> Result<Subject> {
        Subject::checked(pid, None)
    }

    fn checked(pid: i32, child: Option<Child>) -> Result<Subject> {
        let target = Target::look(pid)?;
        target.check_recordable()?;
        Subject::claim(target, child)
    }

    fn claim(target: Target, child: Option<Child>) -> Result<Subject> {
        let pid = target.pid;
        let claim = Claim::take(pid)?;
        let process = PidFd::open(pid).map_err(|_| Error::NoSuchProcess {
            pid,
            running: jvms::list(&jvms::running_jvms()),
        })?;
        Ok(Subject {
            target,
            process,
            child,
            claim,
        })
    }

    /// A java command that waits for [`Child::release`].
    pub fn waiting(command: &[OsString]) -> Result<Subject> {
        let child = Child::waiting(command)?;
        let mut target = Target::look(child.pid())?;
        target.cmdline = command
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect();
        target.name = jvms::name_of(&target.cmdline);
        Subject::claim(target, Some(child))
    }

    /// The JVM that another command becomes, or starts.
    pub fn started(command: &[OsString], stop: &AtomicBool) -> Result<Subject> {
        let text = || {
            command
                .iter()
                .map(|w| w.to_string_lossy())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let never = |why: String| Error::Command {
            command: text(),
            why,
        };
        let mut child = Child::waiting(command)?;
        child.release()?;
        loop {
            if let Some(status) = child.status() {
                return Err(never(format!(
                    "it ended (status {status}) and was never a JVM"
                )));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(never("stopped before it became a JVM".into()));
            }
            if let Some(pid) = family(child.pid()).into_iter().find(|&p| jvms::is_jvm(p)) {
                return Subject::checked(pid, Some(child));
            }
            child.wait(Duration::from_millis(20), || false);
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.process.wait_exit(Duration::ZERO)
    }

    /// Ends what we started, if it has not ended by itself; its exit status.
    pub fn end_child(&mut self, grace: Duration) -> Option<i32> {
        let child = self.child.as_mut()?;
        // A script around the JVM ends a little after it.
        if self.process.wait_exit(Duration::ZERO)
            && let Some(status) = child.wait(grace, || false)
        {
            return Some(status);
        }
        child.terminate(Some(&self.process))
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child
            && child.status().is_none()
        {
            child.terminate(Some(&self.process));
        }
    }
}

/// A process and all its descendants.
fn family(pid: i32) -> Vec<i32> {
    let parents: HashMap<i32, i32> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| {
            let pid: i32 = e.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, parse::stat(&stat)?.parent))
        })
        .collect();
    descendants(pid, &parents)
}

fn descendants(root: i32, parents: &HashMap<i32, i32>) -> Vec<i32> {
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        let mut children: Vec<i32> = parents
            .iter()
            .filter(|(c, p)| **p == parent && !found.contains(c))
            .map(|(c, _)| *c)
            .collect();
        children.sort_unstable();
        found.extend(children);
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_a_process_with_its_children_and_theirs() {
        let parents = HashMap::from([(10, 1), (11, 10), (12, 10), (13, 12), (20, 1), (21, 20)]);
        assert_eq!(descendants(10, &parents), [10, 11, 12, 13]);
        assert_eq!(descendants(21, &parents), [21]);
    }

    #[test]
    fn a_command_that_is_no_jvm_says_so_when_it_ends() {
        let command: Vec<OsString> = ["sh", "-c", "exit 4"].iter().map(Into::into).collect();
        let error = Subject::started(&command, &AtomicBool::new(false))
            .err()
            .expect("no JVM")
            .to_string();
        assert_eq!(
            error,
            "sh -c exit 4: it ended (status 4) and was never a JVM"
        );
    }
}
