//! The daemon: one thread that waits for messages, deaths and the next quantum, and passes them on.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loadline_policy::Cpus;

use crate::clients::Connection;
use crate::commands::{Context, Then, execute, masters};
use crate::config::Config;
use crate::history;
use crate::manager::{Manager, Newcomer, Orphan};
use crate::status::Status;
use crate::who::{Limits, Masters};
use crate::{CpuSet, ShareError, machine, mechanism, metrics, privileges, processes, state, sys};

/// Connections at a time, all users together, and of one user who is no master.
const MOST_CONNECTIONS: usize = 1024;
const MOST_OF_ONE_USER: usize = 64;
/// However often requests change, decisions are not closer together.
const SOON_NS: u64 = 10_000_000;
/// Without applications nothing has to be decided.
const IDLE_NS: u64 = 1_000_000_000;

/// What is told when the daemon is ready.
#[derive(Debug, Clone)]
pub struct Ready {
    /// How things are.
    pub status: Status,
    /// Applications that an earlier daemon left, and that are managed again.
    pub taken_over: Vec<String>,
    /// Where figures are, if anywhere.
    pub metrics: Option<String>,
}

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

/// Runs until `stop` is set or somebody says stop; then everything is as it was before.
pub fn serve(
    config: Config,
    socket: &Path,
    stop: &AtomicBool,
    ready: impl FnOnce(&Ready),
) -> Result<(), ShareError> {
    let dir = socket.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir).map_err(ShareError::on(dir))?;
    // Held as long as we live: two daemons would undo each other's work.
    let lock = lock(&socket.with_extension("lock"))?;
    let pages = socket.with_extension("pages");
    fs::create_dir_all(&pages).map_err(ShareError::on(&pages))?;
    fs::set_permissions(&pages, Permissions::from_mode(0o711)).map_err(ShareError::on(&pages))?;
    let managed = managed(&config)?;
    let state_path = socket.with_extension("state");
    let left = state::read(&state_path)?;
    let chosen = mechanism::choose(config.mechanism, &config.cgroup, &managed)?;
    if let Some(left) = &left
        && (left.mechanism != chosen.mechanism.kind().name() || left.cgroup != config.cgroup)
    {
        return Err(ShareError::failed(format!(
            "an earlier daemon left applications under {} ({}), and this one would use {} ({}): `loadline share stop` undoes what is left",
            left.mechanism,
            left.cgroup,
            chosen.mechanism.kind().name(),
            config.cgroup
        )));
    }
    let http = match config.metrics.as_str() {
        "" => None,
        address => {
            let bound = TcpListener::bind(address)
                .map_err(ShareError::while_(format!("metrics = {address:?}")))?;
            bound
                .set_nonblocking(true)
                .map_err(ShareError::while_("metrics"))?;
            Some(bound)
        }
    };
    if let Some(path) = &config.history {
        history::check(path)?;
    }
    let listener = listen(socket)?;
    let topology = machine::topology(Path::new("/sys"), &managed);
    let history_every = config.history_every;
    let mut server = Server {
        manager: Manager::new(config, chosen.mechanism, managed, topology, pages.clone()),
        masters: masters(),
        passed_over: chosen.passed_over,
        listener,
        http,
        connections: Vec::new(),
        state_path,
        next_quantum_ns: 0,
        next_history_ns: sys::now_ns() + history_every.as_nanos() as u64,
        stop,
        stopping: false,
    };
    let taken_over = server.take_over(left);
    if sys::uid() == 0 {
        privileges::drop_what_is_not_needed()
            .map_err(ShareError::while_("giving up privileges"))?;
    }
    ready(&Ready {
        status: Status::of(&server.manager, &server.passed_over),
        taken_over,
        metrics: server
            .http
            .as_ref()
            .and_then(|h| Some(h.local_addr().ok()?.to_string())),
    });
    let served = server.run();
    let closed = server.close();
    // Everything is as it was; what is left of us are empty files.
    let _ = fs::remove_file(socket);
    let _ = fs::remove_dir(&pages);
    let _ = fs::remove_file(socket.with_extension("lock"));
    drop(lock);
    served.and(closed)
}

fn lock(path: &Path) -> Result<File, ShareError> {
    let file = File::create(path).map_err(ShareError::on(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(ShareError::failed(format!(
            "a daemon is running already (it holds {}): `loadline share status` asks it, `loadline share stop` ends it",
            path.display()
        ))),
        Err(fs::TryLockError::Error(e)) => Err(ShareError::on(path)(e)),
    }
}

fn listen(socket: &Path) -> Result<UnixListener, ShareError> {
    // We hold the lock: a socket that is there is a dead daemon's.
    let _ = fs::remove_file(socket);
    let listener = UnixListener::bind(socket).map_err(ShareError::on(socket))?;
    // Whoever connects is asked who it is.
    fs::set_permissions(socket, Permissions::from_mode(0o666)).map_err(ShareError::on(socket))?;
    listener
        .set_nonblocking(true)
        .map_err(ShareError::on(socket))?;
    Ok(listener)
}

/// The CPUs to hand out: those of the configuration, if the daemon may use them, else all that it may use.
fn managed(config: &Config) -> Result<CpuSet, ShareError> {
    let own = sys::affinity(0).map_err(ShareError::while_("own affinity"))?;
    if config.cpus.is_empty() {
        return Ok(own);
    }
    let beyond = config.cpus.difference(&own);
    if beyond.is_empty() {
        return Ok(config.cpus.clone());
    }
    Err(ShareError::usage(format!(
        "cpus = \"{}\": of these {beyond} cannot be used here; {own} can",
        config.cpus
    )))
}

impl Server<'_> {
    /// What an earlier daemon left, if it still lives and is the same process.
    fn take_over(&mut self, left: Option<state::State>) -> Vec<String> {
        let mut names = Vec::new();
        for l in left.map(|s| s.applications).unwrap_or_default() {
            let same = processes::start_ticks(l.pid) == Some(l.start_ticks);
            let key = l.key.clone();
            let former = l.former.clone();
            let taken = if same {
                self.manager.adopt_orphan(orphan(l))
            } else {
                Err(ShareError::failed("gone"))
            };
            match taken.ok().and_then(|id| self.manager.find(id)) {
                Some(app) => names.push(app.name.clone()),
                // Its group, if it had one.
                None => {
                    if let Err(e) = self.manager.mechanism.release(&key, &former) {
                        self.manager.figures.last_error = Some(e.to_string());
                    }
                }
            }
        }
        names
    }

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
                app.demand.asked = None; // nobody is left who could change what it asked for
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

pub(crate) fn orphan(l: state::Left) -> Orphan {
    Orphan {
        newcomer: Newcomer {
            name: l.name,
            pid: l.pid,
            uid: l.uid,
            gid: l.gid,
            origin: l.origin,
            priority: l.priority,
            asked: l.asked_thousandths.map(Cpus::thousandths),
            limits: Limits {
                priority: l.most_priority.unwrap_or(f64::INFINITY),
                cpus: Cpus::thousandths(l.most_cpus_thousandths),
            },
            force: true,
        },
        key: l.key,
        former: l.former,
    }
}
