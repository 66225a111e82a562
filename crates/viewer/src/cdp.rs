//! A browser, driven over a pipe: the few commands of the DevTools protocol that a picture needs.
//!
//! Chromium reads commands from descriptor 3 and writes answers to descriptor 4, each a JSON text
//! that ends in a zero byte. A pipe needs no port, and ends with the browser.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

/// A browser that runs as long as this value lives.
pub struct Browser {
    child: Child,
    commands: File,
    answers: Receiver<Value>,
    deadline: Instant,
    next_id: u64,
}

impl Browser {
    /// Starts `program` with a fresh profile in `profile`; everything must be done within `limit`.
    pub fn start(program: &Path, profile: &Path, limit: Duration) -> Result<Browser> {
        let (commands_read, commands_write) = pipe()?;
        let (answers_read, answers_write) = pipe()?;
        let mut command = Command::new(program);
        command
            .args([
                "--headless",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-quic",
                "--disable-extensions",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A group of its own, so that its helpers end with it.
            .process_group(0);
        // SAFETY: geteuid has no conditions.
        if unsafe { libc::geteuid() } == 0 {
            // Chromium's sandbox refuses to run as root.
            command.arg("--no-sandbox");
        }
        let (read, write) = (commands_read.as_raw_fd(), answers_write.as_raw_fd());
        // SAFETY: dup and dup2 may be called between fork and exec; the descriptors are open then.
        // The copies above 10 keep the second dup2 from closing what the first has just made.
        unsafe {
            command.pre_exec(move || {
                let (read, write) = (
                    libc::fcntl(read, libc::F_DUPFD, 10),
                    libc::fcntl(write, libc::F_DUPFD, 10),
                );
                if read < 0 || write < 0 || libc::dup2(read, 3) < 0 || libc::dup2(write, 4) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                libc::close(read);
                libc::close(write);
                Ok(())
            });
        }
        let child = command
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        let (sender, answers) = channel();
        let mut reader = BufReader::new(File::from(answers_read));
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // Ends with the browser, or with whoever waits for answers.
            while matches!(reader.by_ref().read_until(0, &mut bytes), Ok(n) if n > 0) {
                if let Ok(answer) =
                    serde_json::from_slice(bytes.strip_suffix(&[0]).unwrap_or(&bytes))
                    && sender.send(answer).is_err()
                {
                    return;
                }
                bytes.clear();
            }
        });
        let commands = File::from(commands_write);
        Ok(Browser {
            child,
            commands,
            answers,
            deadline: Instant::now() + limit,
            next_id: 0,
        })
    }

    /// Sends one command, to a page if `session` names one, and waits for its result.
    pub fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<Value> {
        self.next_id += 1;
        let mut message = json!({"id": self.next_id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands
            .write_all(&bytes)
            .context("the browser went away")?;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let mut answer = match self.answers.recv_timeout(left) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the browser did not answer {method} in time")
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the browser ended while {method} was asked of it")
                }
            };
            if answer["id"] != json!(self.next_id) {
                continue;
            }
            if let Some(message) = answer["error"]["message"].as_str() {
                return Err(anyhow!("{method}: {message}"));
            }
            return Ok(answer["result"].take());
        }
    }

    /// Whether the time allowed is over.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // SAFETY: kill has no conditions; the group is the child's, which was not yet waited for.
        unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
        // An error means that it is gone already.
        let _ = self.child.wait();
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for both descriptors, and nobody else owns them.
    unsafe {
        if libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(std::io::Error::last_os_error()).context("making a pipe");
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}
