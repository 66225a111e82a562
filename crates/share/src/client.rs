//! The command line's side of the socket.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::mechanism::{self, Kind};
use crate::message::check_name;
use crate::{CpuSet, ShareError, Status, processes, state, sys};

/// The variable that names the socket.
pub const SOCKET_VARIABLE: &str = "LOADLINE_SHARE_SOCKET";

/// The daemon answers within a quantum; stopping restores every application first.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest answer: a status has some 300 bytes per application.
const LONGEST: u64 = 4 << 20;

/// Where the daemon is, unless one is told: root's below /run, a user's in the user's own directory.
pub fn default_socket() -> PathBuf {
    if let Some(socket) = std::env::var_os(SOCKET_VARIABLE).filter(|s| !s.is_empty()) {
        return socket.into();
    }
    let system = PathBuf::from("/run/loadline/share.sock");
    if sys::uid() == 0 || system.exists() {
        return system;
    }
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|d| !d.is_empty()) {
        Some(dir) => PathBuf::from(dir).join("loadline/share.sock"),
        None => std::env::temp_dir().join(format!("loadline-{}/share.sock", sys::uid())),
    }
}

/// A connection to the daemon.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
    patience: Duration,
}

/// A process to be taken.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What it is to be called.
    pub name: Option<String>,
    /// Against the others.
    pub priority: Option<f64>,
    /// CPUs; none for an estimate.
    pub request: Option<f64>,
}

impl Client {
    /// An error says how to start a daemon.
    pub fn connect(socket: &Path) -> Result<Client, ShareError> {
        Client::connect_within(socket, PATIENCE)
    }

    /// One that waits no longer than this to be let in, and for each whole answer, whoever is behind the socket: a
    /// recorder asks where the program that it records says that its manager is.
    pub fn connect_within(socket: &Path, patience: Duration) -> Result<Client, ShareError> {
        let stream = connect(socket, patience).map_err(|e| match e.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => ShareError::failed(format!(
                "no CPU manager answers at {}: start one with `sudo loadline share serve`, or name its socket with --socket",
                socket.display()
            )),
            _ => ShareError::on(socket)(e),
        })?;
        stream
            .set_read_timeout(Some(patience))
            .map_err(ShareError::on(socket))?;
        Ok(Client {
            stream: BufReader::new(stream),
            patience,
        })
    }

    /// Sends a message; its answer, `ok` cut off.
    fn ask(&mut self, message: &str) -> Result<String, ShareError> {
        let lost = || ShareError::while_("the CPU manager");
        self.stream
            .get_mut()
            .write_all(format!("{message}\n").as_bytes())
            .map_err(lost())?;
        let until = Instant::now() + self.patience;
        let mut line = String::new();
        loop {
            line.clear();
            let mut bounded = self.stream.by_ref().take(LONGEST);
            if bounded.read_line(&mut line).map_err(lost())? == 0 {
                return Err(ShareError::failed("the CPU manager hung up"));
            }
            if !line.ends_with('\n') || Instant::now() > until {
                return Err(ShareError::failed(
                    "what answers there is no CPU manager: it goes on and on",
                ));
            }
            let text = line.trim_end();
            if let Some(e) = text.strip_prefix("error ") {
                return Err(ShareError::failed(e));
            }
            if !text.starts_with("cpus ") {
                return Ok(text
                    .strip_prefix("ok")
                    .unwrap_or(text)
                    .trim_start()
                    .to_owned());
            }
        }
    }

    /// How things are.
    pub fn status(&mut self) -> Result<Status, ShareError> {
        let text = self.ask("status")?;
        serde_json::from_str(&text).map_err(|e| {
            ShareError::failed(format!(
                "the CPU manager's answer is not this version's ({e}): are both of one version?"
            ))
        })
    }

    /// Puts this process under management, as what it is about to execute.
    pub fn run(
        &mut self,
        name: &str,
        priority: Option<f64>,
        request: Option<f64>,
    ) -> Result<(), ShareError> {
        let name = check_name(name).map_err(ShareError::Usage)?;
        self.ask(&(format!("run name={name}") + &options(priority, request)))
            .map(|_| ())
    }

    /// Takes a process that runs.
    pub fn adopt(&mut self, pid: i32, wish: &Wish, force: bool) -> Result<(), ShareError> {
        let mut message = format!("adopt pid={pid}");
        if let Some(name) = &wish.name {
            message += &format!(" name={}", check_name(name).map_err(ShareError::Usage)?);
        }
        message += &options(wish.priority, wish.request);
        message += if force { " force=1" } else { "" };
        self.ask(&message).map(|_| ())
    }

    /// Changes an application: `(key, value)` of priority, request (a number or `auto`), revenue.
    pub fn set(&mut self, name: &str, changes: &[(&str, String)]) -> Result<(), ShareError> {
        let name = check_name(name).map_err(ShareError::Usage)?;
        let changes: String = changes.iter().map(|(k, v)| format!(" {k}={v}")).collect();
        self.ask(&format!("set name={name}{changes}")).map(|_| ())
    }

    /// Changes how CPUs are divided.
    pub fn set_policy(
        &mut self,
        policy: Option<&str>,
        sharing: Option<&str>,
    ) -> Result<(), ShareError> {
        let field =
            |key: &str, value: Option<&str>| value.map_or(String::new(), |v| format!(" {key}={v}"));
        let message = format!(
            "policy{}{}",
            field("policy", policy),
            field("sharing", sharing)
        );
        self.ask(&message).map(|_| ())
    }

    /// Lets an application go, as it was before.
    pub fn release(&mut self, name: &str) -> Result<(), ShareError> {
        let name = check_name(name).map_err(ShareError::Usage)?;
        self.ask(&format!("release name={name}")).map(|_| ())
    }

    /// Ends the daemon; when this returns, everything is as it was before.
    pub fn stop(&mut self) -> Result<(), ShareError> {
        self.ask("stop").map(|_| ())
    }
}

/// Whoever listens may let nobody in: the kernel bounds that wait as it does one to send.
fn connect(socket: &Path, patience: Duration) -> std::io::Result<UnixStream> {
    let stream = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    stream.set_write_timeout(Some(patience))?;
    stream.connect(&SockAddr::unix(socket)?)?;
    Ok(stream.into())
}

fn options(priority: Option<f64>, request: Option<f64>) -> String {
    let field =
        |key: &str, value: Option<f64>| value.map_or(String::new(), |v| format!(" {key}={v}"));
    field("priority", priority) + &field("request", request)
}

/// Undoes what a daemon that died has left: the names of the applications that are as they were again. None if there is
/// nothing to undo.
pub fn undo_after_a_crash(socket: &Path) -> Result<Option<Vec<String>>, ShareError> {
    let path = socket.with_extension("state");
    let Some(left) = state::read(&path)? else {
        return Ok(None);
    };
    let kind = Kind::ALL.into_iter().find(|k| k.name() == left.mechanism);
    let managed = CpuSet::parse(&left.managed).map_err(ShareError::failed)?;
    let mut chosen = mechanism::choose(kind, &left.cgroup, &managed)?;
    let mut restored = Vec::new();
    for l in left.applications {
        if processes::start_ticks(l.pid) == Some(l.start_ticks) {
            let wide = mechanism::Setting {
                cpus: managed.clone(),
                weight: 1.0,
                yields: false,
                limit: None,
            };
            chosen.mechanism.take(&l.key, l.pid, &wide)?;
            restored.push(l.name);
        }
        chosen.mechanism.release(&l.key, &l.former)?;
    }
    chosen.mechanism.close()?;
    let pages = socket.with_extension("pages");
    let _ = std::fs::remove_dir_all(&pages);
    let _ = std::fs::remove_file(socket);
    std::fs::remove_file(&path).map_err(ShareError::on(&path))?;
    Ok(Some(restored))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    const SHORT: Duration = Duration::from_millis(200);

    /// How long it took to be told no by who does `serve` with the first connection.
    fn refused_within(serve: impl FnOnce(UnixStream) + Send + 'static) -> Duration {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("s");
        let listener = UnixListener::bind(&path).expect("a socket");
        std::thread::spawn(move || serve(listener.accept().expect("a client").0));
        let begun = Instant::now();
        let mut client = Client::connect_within(&path, SHORT).expect("it is let in");
        client.status().expect_err("that is no manager");
        begun.elapsed()
    }

    #[test]
    fn nobody_behind_the_socket_keeps_a_caller_longer_than_its_patience() {
        let talks = |mut s: UnixStream| while s.write_all(b"cpus 1\n").is_ok() {};
        let silent = |s: UnixStream| {
            std::thread::sleep(10 * SHORT);
            drop(s);
        };
        let endless = |mut s: UnixStream| while s.write_all(&[b'x'; 65536]).is_ok() {};
        for took in [
            refused_within(talks),
            refused_within(silent),
            refused_within(endless),
        ] {
            assert!(took < 10 * SHORT, "{took:?}");
        }
    }

    #[test]
    fn nor_does_one_that_lets_nobody_in() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("s");
        let _listener = UnixListener::bind(&path).expect("a socket");
        // Until the queue of those who wait to be let in is full.
        let waiting: Vec<_> = std::iter::from_fn(|| connect(&path, SHORT).ok())
            .take(10_000)
            .collect();
        let begun = Instant::now();
        assert!(Client::connect_within(&path, SHORT).is_err());
        assert!(begun.elapsed() < 10 * SHORT);
        drop(waiting);
    }
}
