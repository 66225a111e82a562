//! Asking the server's guard for its figures: by `loadline guard`, a child process of this same binary, or by a command of the
//! user's where the server is on another machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::child::{Child, Wait, how};
use super::generator::drain;
use super::store::Refused;
use crate::guarded::Figures;

/// A server that is overloaded takes its time.
const AT_MOST: Duration = Duration::from_secs(15);

/// A guard that can be asked.
pub struct Guard {
    program: PathBuf,
    arguments: Vec<String>,
    /// By the user: then it has to be there.
    named: bool,
    cpus: Vec<usize>,
}

/// What is known of it before the first point.
pub enum Found {
    /// Its name, mode and objective, for the report.
    There(String),
    /// The server has none.
    None,
    /// It could not be asked, and why.
    Unknown(String),
}

impl Guard {
    /// How it is asked, from `cpus`; none where nobody could be.
    pub fn of(
        named: Option<&str>,
        exe: &Path,
        pid: Option<i32>,
        cpus: &[usize],
    ) -> Result<Option<Guard>> {
        let words = match (named, pid) {
            (Some(command), _) => {
                let words = shlex::split(command).filter(|w| !w.is_empty());
                words.ok_or_else(|| {
                    let what = format!("--guard {command:?}: not a command; is a quote missing?");
                    anyhow!(Refused(what))
                })?
            }
            (None, Some(pid)) => {
                let exe = exe.display().to_string();
                [exe, "guard".into(), pid.to_string(), "--json".into()].to_vec()
            }
            (None, None) => return Ok(None),
        };
        let mut words = words.into_iter();
        Ok(words.next().map(|program| Guard {
            program: program.into(),
            arguments: words.collect(),
            named: named.is_some(),
            cpus: cpus.to_vec(),
        }))
    }

    /// Whether it is there; one that the user has named and that is not is an error.
    pub fn find(&self, stop: &AtomicBool) -> Result<Found> {
        let refused = |what: String| anyhow!(Refused(format!("--guard: {what}")));
        match self.figures(stop) {
            Ok(guards) if !guards.is_empty() => {
                let each: Vec<String> = guards
                    .iter()
                    .map(|g| format!("{} ({}, {}, {})", g.name, g.guards, g.mode, g.objective))
                    .collect();
                Ok(Found::There(each.join("; ")))
            }
            Ok(_) if self.named => Err(refused("it says that the server has none".into())),
            Ok(_) => Ok(Found::None),
            Err(e) if self.named => Err(refused(format!("{e:#}"))),
            Err(e) => Ok(Found::Unknown(format!("{e:#}"))),
        }
    }

    /// What all guards of the server say now.
    pub fn figures(&self, stop: &AtomicBool) -> Result<Vec<Figures>> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = self.program.display();
        let mut child =
            Child::start(command, &self.cpus).with_context(|| format!("{name} cannot be run"))?;
        let (out, err) = child.take_output();
        let (out, err) = (out.map(drain), err.map(drain));
        let ended = child.wait(Instant::now() + AT_MOST, stop)?;
        drop(child);
        let text = |handle: Option<std::thread::JoinHandle<String>>| {
            handle.and_then(|h| h.join().ok()).unwrap_or_default()
        };
        let (out, err) = (text(out), text(err));
        match ended {
            Wait::Ended(status) if status.success() => Figures::read(&out)
                .with_context(|| format!("what {name} printed is not what a guard says")),
            Wait::Ended(status) => {
                let last = err.lines().rev().map(str::trim).find(|l| !l.is_empty());
                let why = last.map_or(String::new(), |l| {
                    format!(": {}", l.strip_prefix("error: ").unwrap_or(l))
                });
                bail!("{name} ended with {}{why}", how(status))
            }
            Wait::TimedOut => bail!("{name} gave no answer in {} s", AT_MOST.as_secs()),
            Wait::Stopped => bail!("stopped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(command: &str) -> Guard {
        Guard::of(Some(command), Path::new("loadline"), None, &[])
            .expect("a command")
            .expect("somebody to ask")
    }

    #[test]
    fn a_command_of_the_users_tells() {
        let stop = AtomicBool::new(false);
        let there =
            r#"echo '{"name":"x","guards":"requests","mode":"observe","objective":"p95=1s"}'"#;
        match asked(there).find(&stop).expect("found") {
            Found::There(said) => assert_eq!(said, "x (requests, observe, p95=1s)"),
            _ => panic!("it is there"),
        }
        for (command, why) in [
            ("echo []", "has none"),
            ("echo busy", "not what a guard says"),
            (
                "sh -c 'echo error: no such host >&2; exit 3'",
                "no such host",
            ),
            ("no-such-command-anywhere", "cannot be run"),
        ] {
            let error = asked(command).find(&stop).err().expect("refused");
            assert!(
                error.is::<Refused>() && error.to_string().contains(why),
                "{error}"
            );
        }
        assert!(Guard::of(Some("curl 'x"), Path::new("l"), None, &[]).is_err());
    }

    #[test]
    fn a_server_that_cannot_be_asked_goes_without() {
        let stop = AtomicBool::new(false);
        let none = Guard::of(None, Path::new("/bin/true"), None, &[]).expect("nothing wrong");
        assert!(none.is_none());
        let guard = Guard::of(None, Path::new("/bin/false"), Some(1), &[]).expect("fine");
        let found = guard
            .expect("somebody to ask")
            .find(&stop)
            .expect("no error");
        assert!(matches!(found, Found::Unknown(_)));
    }
}
