//! From nothing to a running daemon, and back to nothing: locks, sockets, and what an earlier daemon left.

use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use loadline_policy::Cpus;

use super::Server;
use crate::commands::masters;
use crate::config::Config;
use crate::manager::{Manager, Newcomer, Orphan};
use crate::status::Status;
use crate::who::Limits;
use crate::{CpuSet, ShareError, history, machine, mechanism, privileges, processes, state, sys};

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
    server.manager.figures.scheduling = scheduling(server.manager.config.real_time);
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

/// Who divides the CPUs must not wait for one: on a full machine the daemon, a few tenths of a percent of a CPU, would come
/// late by seconds. Needs `CAP_SYS_NICE`. What was done about it.
fn scheduling(real_time: bool) -> String {
    if !real_time {
        return "as others are (real_time = false)".into();
    }
    match sys::real_time() {
        Ok(()) => "real time".into(),
        Err(e) => format!("as others are: real-time priority was refused ({e})"),
    }
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
}

fn orphan(l: state::Left) -> Orphan {
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
