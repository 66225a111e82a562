//! The CPUs that the target may use, and what a CPU manager (`loadline share`) says of it: ten times a second, a line when
//! something is other than before.
//!
//! | counter of `process` | meaning |
//! | --- | --- |
//! | `allowed_cpus` | CPUs that its main thread may run on: what affinity and cpusets leave, whoever set them |
//! | `assigned_cpus`, `requested_cpus` | of the CPU manager, if one manages it: what it has and what it wants, parts included |
//!
//! The manager is asked over its socket, which anybody may: the mask says nothing of parts of a CPU.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use loadline_share::{Client, SOCKET_VARIABLE, default_socket};
use loadline_trace::spool::procfs::Line;

use super::parse;
use crate::sys::{self, now_ns};

/// Between readings: the manager's quantum.
pub const PERIOD: Duration = Duration::from_millis(100);
/// Between attempts to reach a manager.
const RETRY: Duration = Duration::from_secs(1);
/// A manager answers within a quantum, or the recording goes on without it.
const PATIENCE: Duration = Duration::from_millis(200);
/// `java -D` property that names the socket (`dev.loadline.share.Settings`).
const PROPERTY: &str = "-Dloadline.share.socket=";

/// What was read last.
pub struct Cpus {
    pid: i32,
    /// The target and those that started it: the manager knows an application by the process that leads it.
    family: Vec<i32>,
    sockets: Vec<PathBuf>,
    client: Option<Client>,
    retry: Instant,
    last: Vec<(String, f64)>,
}

impl Cpus {
    /// Of process `pid`.
    pub fn new(pid: i32) -> Cpus {
        Cpus {
            pid,
            family: family(pid),
            sockets: sockets(pid),
            client: None,
            retry: Instant::now(),
            last: Vec::new(),
        }
    }

    /// What they are now; `None` if that is what they were, or nobody can tell.
    pub fn changed(&mut self) -> Option<Line> {
        let now = self.read();
        if now.is_empty() || now == self.last {
            return None;
        }
        self.last = now;
        self.line()
    }

    /// What was read last, as of now.
    pub fn line(&self) -> Option<Line> {
        (!self.last.is_empty()).then(|| Line::Counters {
            ts: now_ns(),
            scope: "process".into(),
            values: self.last.clone(),
        })
    }

    fn read(&mut self) -> Vec<(String, f64)> {
        let Some(allowed) = sys::allowed_cpus(self.pid) else {
            return Vec::new(); // it has just ended
        };
        let mut values = vec![("allowed_cpus".to_owned(), f64::from(allowed))];
        if let Some((has, wants)) = self.managed() {
            values.push(("assigned_cpus".into(), has));
            values.push(("requested_cpus".into(), wants));
        }
        values
    }

    /// What it has and wants, if a manager manages it.
    fn managed(&mut self) -> Option<(f64, f64)> {
        if self.client.is_none() && Instant::now() >= self.retry {
            self.retry = Instant::now() + RETRY;
            self.client = self
                .sockets
                .iter()
                .find_map(|s| Client::connect_within(s, PATIENCE).ok());
        }
        // One that has gone, or hangs, is looked for again: there is no manager until then.
        let Ok(status) = self.client.as_mut()?.status() else {
            self.client = None;
            return None;
        };
        let of = |pid: &i32| status.applications.iter().find(|a| a.pid == *pid);
        let app = self.family.iter().find_map(of)?;
        Some((app.has, app.wants))
    }
}

/// A process and all above it.
fn family(pid: i32) -> Vec<i32> {
    let mut all = vec![pid];
    while let Some(parent) = all.last().and_then(|p| parent(*p)).filter(|p| *p > 1) {
        all.push(parent);
    }
    all
}

fn parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    parse::status(&status, "PPid")?.parse().ok()
}

/// Where its manager may be: as its environment and its command line say, else where one usually is.
fn sockets(pid: i32) -> Vec<PathBuf> {
    let words = |file: &str| {
        // Another user's environment cannot be read: then the usual place is what is left.
        let text = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    named(&words("environ"), &words("cmdline"))
        .into_iter()
        .chain([default_socket()])
        .collect()
}

fn named(environ: &[String], cmdline: &[String]) -> Vec<PathBuf> {
    let variable = format!("{SOCKET_VARIABLE}=");
    let of = |words: &[String], begin: &str| {
        words
            .iter()
            .filter_map(|w| w.strip_prefix(begin))
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .collect::<Vec<_>>()
    };
    // As the client reads them: the property goes over the variable.
    [of(cmdline, PROPERTY), of(environ, &variable)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_property_names_the_socket_before_the_variable_does() {
        let words = |l: &[&str]| l.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            named(
                &words(&[
                    "A=b",
                    "LOADLINE_SHARE_SOCKET=/e",
                    "LOADLINE_SHARE_SOCKETS=/x"
                ]),
                &words(&["java", "-Dloadline.share.socket=/p", "Main"])
            ),
            [PathBuf::from("/p"), PathBuf::from("/e")]
        );
        assert!(named(&words(&["LOADLINE_SHARE_SOCKET="]), &[]).is_empty());
    }

    #[test]
    fn a_change_of_the_mask_is_told_once() {
        let Ok(mut child) = std::process::Command::new("sleep").arg("20").spawn() else {
            panic!("sleep cannot be started");
        };
        let pid = child.id() as i32;
        let mut cpus = Cpus {
            sockets: Vec::new(),
            ..Cpus::new(pid)
        };
        let value = |line: Option<Line>| match line {
            Some(Line::Counters { values, .. }) => Some(values[0].1),
            _ => None,
        };
        let before = value(cpus.changed()).expect("the first reading tells");
        assert!(before >= 1.0 && cpus.changed().is_none());
        if before > 1.0 {
            let done = std::process::Command::new("taskset")
                .args(["-cp", "0", &pid.to_string()])
                .output();
            assert!(done.is_ok_and(|d| d.status.success()), "taskset");
            assert_eq!(value(cpus.changed()), Some(1.0));
            assert_eq!(value(cpus.line()), Some(1.0));
        }
        assert_eq!(family(pid)[..2], [pid, std::process::id() as i32]);
        child.kill().expect("it runs");
        child.wait().expect("it ran");
    }
}
