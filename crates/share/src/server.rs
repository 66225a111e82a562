//! The daemon: one thread that waits for messages, deaths and the next quantum, and passes them on.

mod start;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use self::start::{Ready, serve};
use crate::clients::Connection;
use crate::commands::{Context, Then, execute};
use crate::history;
use crate::manager::Manager;
use crate::status::Status;
use crate::who::Masters;
use crate::{ShareError, metrics, state, sys};

/// Connections at a time, all users together, and of one user who is no master.
const MOST_CONNECTIONS: usize = 1024;
const MOST_OF_ONE_USER: usize = 64;
/// However often requests change, decisions are not closer together.
const SOON_NS: u64 = 10_000_000;
/// Without applications nothing has to be decided.
const IDLE_NS: u64 = 1_000_000_000;

struct Server<'a> {
    manager: Manager,
    masters: Masters,
    passed_over: Vec<String>,
    listener: UnixListener,
    http: Option<TcpListener>,
    connections: Vec<Connection>,
    state_path: PathBuf,
    next_quantum_ns: u64,
    next_history_ns: u64,
    stop: &'a AtomicBool,
    stopping: bool,
}

impl Server<'_> {
    fn run(&mut self) -> Result<(), ShareError> {
        self.save()?;
        while !self.stopping && !self.stop.load(Ordering::Relaxed) {
            let now = sys::now_ns();
            if now >= self.next_quantum_ns {
                self.quantum(now);
            } else if self.manager.next_step_ns().is_some_and(|at| at <= now) {
                let told = self.manager.step(now);
                self.tell(&told);
            }
            self.keep_history(now)?;
            self.wait()?;
        }
        Ok(())
    }

    fn quantum(&mut self, now: u64) {
        let quantum = self.manager.config.quantum.as_nanos() as u64;
        let pause = if self.manager.apps.is_empty() {
            IDLE_NS.max(quantum)
        } else {
            quantum
        };
        self.next_quantum_ns = now + pause;
        let told = self.manager.quantum(now);
        self.tell(&told);
    }

    fn tell(&mut self, told: &[u32]) {
        for connection in self.connections.iter_mut() {
            let app = connection
                .app
                .filter(|id| told.contains(id))
                .and_then(|id| self.manager.find(id));
            if let Some(app) = app {
                let lane = &app.has.lane;
                connection.say(&format!(
                    "cpus assigned={} set={}",
                    lane.told, lane.told_set
                ));
            }
        }
    }

    fn wait(&mut self) -> Result<(), ShareError> {
        let poll = |fd: RawFd, writes: bool| libc::pollfd {
            fd,
            events: if writes {
                libc::POLLIN | libc::POLLOUT
            } else {
                libc::POLLIN
            },
            revents: 0,
        };
        let mut fds = vec![poll(self.listener.as_raw_fd(), false)];
        fds.push(poll(
            self.http.as_ref().map_or(-1, |h| h.as_raw_fd()),
            false,
        ));
        fds.extend(
            self.connections
                .iter()
                .map(|c| poll(c.stream.as_raw_fd(), c.owes())),
        );
        let first_app = fds.len();
        fds.extend(
            self.manager
                .apps
                .iter()
                .map(|a| poll(a.pidfd.as_raw_fd(), false)),
        );
        let due = self
            .manager
            .next_step_ns()
            .unwrap_or(u64::MAX)
            .min(self.next_quantum_ns);
        sys::poll(&mut fds, due.saturating_sub(sys::now_ns()))
            .map_err(ShareError::while_("poll"))?;
        let ids: Vec<u32> = self.manager.apps.iter().map(|a| a.id).collect();
        let ended: Vec<u32> = ids
            .iter()
            .zip(&fds[first_app..])
            .filter(|(_, f)| f.revents != 0)
            .map(|(id, _)| *id)
            .collect();
        let ready: Vec<bool> = fds[2..first_app].iter().map(|f| f.revents != 0).collect();
        if !ended.is_empty() {
            self.ended(&ended)?;
        }
        for (i, ready) in ready.into_iter().enumerate() {
            if ready && self.serve_connection(i)? {
                break; // told to stop
            }
        }
        self.close_connections()?;
        if fds[0].revents != 0 {
            self.accept();
        }
        if fds[1].revents != 0 {
            self.answer_http();
        }
        Ok(())
    }

    /// CPUs of the dead are given to the living at once.
    fn ended(&mut self, ids: &[u32]) -> Result<(), ShareError> {
        for &id in ids {
            self.write_history(Some(id))?;
            if self.manager.process_ended(id) {
                self.connections
                    .iter_mut()
                    .filter(|c| c.app == Some(id))
                    .for_each(|c| c.app = None);
            }
        }
        self.next_quantum_ns = 0;
        self.save()
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let Ok(mut connection) = Connection::new(stream) else {
                continue;
            };
            let uid = connection.peer.uid;
            let of_user = self
                .connections
                .iter()
                .filter(|c| c.peer.uid == uid)
                .count();
            let full = self.connections.len() >= MOST_CONNECTIONS
                || (of_user >= MOST_OF_ONE_USER && !self.masters.include(uid));
            if full {
                connection.say("error too many connections");
                continue;
            }
            self.connections.push(connection);
        }
    }

    /// True if it said stop.
    fn serve_connection(&mut self, at: usize) -> Result<bool, ShareError> {
        self.connections[at].flush();
        for line in self.connections[at].lines() {
            let connection = &self.connections[at];
            let context = Context {
                manager: &mut self.manager,
                masters: self.masters,
                peer: connection.peer,
                app: connection.app,
                passed_over: &self.passed_over,
            };
            let answer = execute(&line, context);
            let (text, then) = match answer {
                Ok(answer) => (answer.text, answer.then),
                Err(e) => (format!("error {}", e.replace('\n', " ")), Then::Nothing),
            };
            match then {
                Then::Nothing => {}
                Then::Decide => self.next_quantum_ns = 0,
                Then::DecideSoon => {
                    self.next_quantum_ns = self.next_quantum_ns.min(sys::now_ns() + SOON_NS);
                }
                Then::SpeaksFor(id) => {
                    // Its page has to say something before it is told where the page is.
                    self.quantum(sys::now_ns());
                    self.connections[at].app = Some(id);
                }
                Then::Stop => {
                    // The answer means that it is done.
                    let closed = self.close();
                    let text = closed.map_or_else(|e| format!("error {e}"), |()| "ok".into());
                    self.connections[at].say(&text);
                    self.stopping = true;
                    return Ok(true);
                }
            }
            if matches!(then, Then::Decide | Then::SpeaksFor(_)) {
                self.save()?;
            }
            self.connections[at].say(&text);
        }
        Ok(false)
    }

    /// Who registered itself goes with its connection; the others are managed until they end.
    fn close_connections(&mut self) -> Result<(), ShareError> {
        let gone: Vec<u32> = self
            .connections
            .iter()
            .filter(|c| c.closed)
            .filter_map(|c| c.app)
            .collect();
        self.connections.retain(|c| !c.closed);
        for id in gone {
            if self.connections.iter().any(|c| c.app == Some(id)) {
                continue;
            }
            let Some(app) = self.manager.find_mut(id) else {
                continue;
            };
            if app.origin == crate::applications::Origin::Registered {
                self.write_history(Some(id))?;
                if let Err(e) = self.manager.remove(id) {
                    self.manager.figures.last_error = Some(e.to_string());
                }
            } else {
                app.demand.ask(None); // nobody is left who could change what it asked for
            }
            self.next_quantum_ns = 0;
            self.save()?;
        }
        Ok(())
    }

    fn answer_http(&mut self) {
        let Some(Ok((mut stream, _))) = self.http.as_ref().map(TcpListener::accept) else {
            return;
        };
        // Figures, not a web server: who does not send its request at once gets nothing.
        let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
        let _ = stream.set_write_timeout(Some(Duration::from_millis(20)));
        let request = first_line(&mut stream);
        let answer = metrics::answer(&request, || Status::of(&self.manager, &self.passed_over));
        let _ = stream.write_all(answer.as_bytes());
    }

    fn keep_history(&mut self, now: u64) -> Result<(), ShareError> {
        if now < self.next_history_ns {
            return Ok(());
        }
        self.next_history_ns = now + self.manager.config.history_every.as_nanos() as u64;
        self.write_history(None)
    }

    /// A row for each application, or for one.
    fn write_history(&mut self, only: Option<u32>) -> Result<(), ShareError> {
        let Some(path) = self.manager.config.history.clone() else {
            return Ok(());
        };
        for id in self.manager.apps.iter().map(|a| a.id).collect::<Vec<_>>() {
            if only.is_none_or(|one| one == id) {
                self.manager.settle(id);
            }
        }
        let (floor, all) = (self.manager.config.floor, self.manager.all());
        let mut rows = String::new();
        for app in self
            .manager
            .apps
            .iter_mut()
            .filter(|a| only.is_none_or(|id| a.id == id))
        {
            let wants = app.demand.request(floor, all);
            rows += &history::row(&history::Row::of(app, wants));
            app.told_history = app.account;
        }
        history::append(&path, &rows)
    }

    fn save(&self) -> Result<(), ShareError> {
        if self.manager.apps.is_empty() {
            return match fs::remove_file(&self.state_path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    Err(ShareError::on(&self.state_path)(e))
                }
                _ => Ok(()),
            };
        }
        let state = state::State {
            version: state::VERSION,
            pid: std::process::id() as i32,
            mechanism: self.manager.mechanism.kind().name().into(),
            cgroup: self.manager.config.cgroup.clone(),
            managed: self.manager.managed.to_string(),
            applications: self.manager.apps.iter().map(state::Left::of).collect(),
        };
        state::write(&self.state_path, &state)
    }

    fn close(&mut self) -> Result<(), ShareError> {
        let written = self.write_history(None);
        self.manager.close()?;
        self.save()?;
        written
    }
}

fn first_line(stream: &mut TcpStream) -> String {
    let mut buffer = [0u8; 1024];
    let n = stream.read(&mut buffer).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..n])
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}
