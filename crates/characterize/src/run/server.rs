//! The server under test: started by us on its CPUs, or one that runs already.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::child::{Child, TICK, how};
use super::proc::{self, Moved};
use super::store::Refused;

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(120);
/// Lines of a log that are shown.
const TAIL: usize = 12;
const PROBE: Duration = Duration::from_secs(2);

/// A server that answers.
pub struct Server {
    child: Option<Child>,
    /// Dropped first of what matters to others: threads go back where they were.
    _moved: Option<Moved>,
    pid: Option<i32>,
    log: Option<PathBuf>,
    /// Where the load goes.
    pub url: String,
}

impl Server {
    /// Starts `words` on `cpus` and waits until it answers: at `url`, or, if none is given, at a port
    /// that it listens on. None if the user wants to stop.
    pub fn start(
        words: &[String],
        url: Option<&str>,
        cpus: &[usize],
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Option<Server>> {
        let program = words
            .first()
            .ok_or_else(|| anyhow!("--start has no command"))?;
        if let Some(address) = url.map(address).transpose()?
            && answers(address).is_some()
        {
            bail!(Refused(format!(
                "something answers at {address} before the server was started: end it, or measure it with --url alone"
            )));
        }
        let output =
            File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(program);
        command
            .args(&words[1..])
            .stdout(output.try_clone()?)
            .stderr(output);
        let child = Child::start(command, cpus)
            .map_err(|e| anyhow!(Refused(format!("--start: {program} cannot be run: {e}"))))?;
        let mut server = Server {
            pid: Some(child.pid()),
            child: Some(child),
            _moved: None,
            log: Some(log.into()),
            url: String::new(),
        };
        let until = Instant::now() + PATIENCE;
        while !stop.load(Ordering::Relaxed) {
            server.check()?;
            if let Some((found, port)) = server.find(url)? {
                server.url = found;
                server.pid = server.listener(port).or(server.pid);
                return Ok(Some(server));
            }
            if Instant::now() > until {
                let tried = match url {
                    Some(url) => format!("{url} never answered"),
                    None => format!(
                        "no port of it ({:?}) speaks TLS or HTTP",
                        proc::listening_ports(&server.processes())
                    ),
                };
                bail!(
                    "{tried} within {} s of the server's start{}",
                    PATIENCE.as_secs(),
                    server.tail()
                );
            }
            std::thread::sleep(2 * TICK);
        }
        Ok(None)
    }

    /// One that runs: at `url`, perhaps as process `pid`, which is moved to `cpus` unless they are empty.
    pub fn running(url: &str, pid: Option<i32>, cpus: &[usize]) -> Result<Server> {
        let address = address(url)?;
        if answers(address).is_none() {
            bail!("nothing answers at {url}: is the server up, and is this its port?");
        }
        let moved = match pid {
            Some(pid) if !cpus.is_empty() => Some(Moved::to(pid, cpus).with_context(|| {
                format!(
                    "process {pid} cannot be moved to CPUs {}",
                    super::layout::list(cpus)
                )
            })?),
            _ => None,
        };
        Ok(Server {
            child: None,
            _moved: moved,
            pid,
            log: None,
            url: url.to_owned(),
        })
    }

    /// An error with the end of its log if it has died.
    pub fn check(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child {
            if let Some(status) = child.status()? {
                bail!("the server ended with {}{}", how(status), self.tail());
            }
        } else if let Some(pid) = self.pid
            && !proc::exists(pid)
        {
            bail!("the server, process {pid}, has ended");
        }
        Ok(())
    }

    /// Ends it, if it was started by us.
    pub fn end(mut self) {
        if let Some(child) = &mut self.child {
            child.end();
        }
    }

    /// The process to record: the one that listens.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }

    /// CPU seconds of all its processes; none if they are not known.
    pub fn cpu_seconds(&self) -> Option<f64> {
        self.pid?;
        Some(self.processes().into_iter().map(proc::cpu_seconds).sum())
    }

    fn processes(&self) -> Vec<i32> {
        match (&self.child, self.pid) {
            (Some(child), _) => proc::group(child.pid()),
            (None, pid) => pid.into_iter().collect(),
        }
    }

    fn listener(&self, port: u16) -> Option<i32> {
        self.processes()
            .into_iter()
            .find(|pid| proc::listening_ports(&[*pid]).contains(&port))
    }

    /// Its URL and port, once it answers.
    fn find(&self, url: Option<&str>) -> Result<Option<(String, u16)>> {
        if let Some(url) = url {
            let address = address(url)?;
            return Ok(answers(address).map(|_| (url.to_owned(), address.port())));
        }
        let spoken: Vec<(u16, Speaks)> = proc::listening_ports(&self.processes())
            .into_iter()
            .filter_map(|port| Some((port, answers(SocketAddr::from(([127, 0, 0, 1], port)))?)))
            .collect();
        let find = |wanted: Speaks| {
            spoken
                .iter()
                .find(|(_, s)| *s == wanted)
                .map(|(port, _)| *port)
        };
        Ok(find(Speaks::Tls)
            .map(|port| (format!("https://127.0.0.1:{port}"), port))
            .or_else(|| find(Speaks::Http).map(|port| (format!("http://127.0.0.1:{port}"), port))))
    }

    /// The end of its log, for an error.
    fn tail(&self) -> String {
        let Some(log) = &self.log else {
            return String::new();
        };
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(TAIL)..];
        if last.is_empty() {
            ", without a word".into()
        } else {
            format!(
                "; the end of {}:\n    {}",
                log.display(),
                last.join("\n    ")
            )
        }
    }
}

fn address(url: &str) -> Result<SocketAddr> {
    let target = loadline_load::Target::parse(url).map_err(|e| anyhow!(Refused(e.to_string())))?;
    // Whether the target may be loaded was decided before anything was started.
    target
        .resolve(Some(&target.host))
        .map_err(|e| anyhow!(Refused(e.to_string())))
}

/// What a port speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Tls,
    Http,
}

/// A TLS 1.2 ClientHello that offers one cipher suite and nothing else: every TLS server answers
/// with a record, a refusal at the least, and a plain HTTP server with an error or by closing.
const CLIENT_HELLO: [u8; 52] = {
    let mut hello = [0x5a; 52]; // what is not set below is the client's random
    let head = [22, 3, 1, 0, 47, 1, 0, 0, 43, 3, 3];
    let mut i = 0;
    while i < head.len() {
        hello[i] = head[i];
        i += 1;
    }
    let tail = [0, 0, 2, 0xc0, 0x2f, 1, 0, 0, 0];
    let mut i = 0;
    while i < tail.len() {
        hello[43 + i] = tail[i];
        i += 1;
    }
    hello
};

/// What it speaks, if it answers.
fn answers(address: SocketAddr) -> Option<Speaks> {
    let ask = |bytes: &[u8]| -> Option<u8> {
        let mut stream = TcpStream::connect_timeout(&address, PROBE).ok()?;
        stream.set_read_timeout(Some(PROBE)).ok()?;
        stream.write_all(bytes).ok()?;
        let mut first = [0u8; 1];
        (stream.read(&mut first).ok()? == 1).then_some(first[0])
    };
    const ALERT: u8 = 21;
    const HANDSHAKE: u8 = 22;
    if matches!(ask(&CLIENT_HELLO), Some(ALERT | HANDSHAKE)) {
        return Some(Speaks::Tls);
    }
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    (ask(request) == Some(b'H')).then_some(Speaks::Http)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Answers each connection with `bytes`.
    fn fake(bytes: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut asked = [0u8; 256];
                let _asked = stream.read(&mut asked);
                let _answered = stream.write_all(bytes);
            }
        });
        address
    }

    #[test]
    fn what_a_port_speaks_is_heard() {
        assert_eq!(answers(fake(&[21, 3, 3, 0, 2, 2, 40])), Some(Speaks::Tls));
        assert_eq!(
            answers(fake(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
            Some(Speaks::Http)
        );
        assert_eq!(answers(fake(b"220 smtp ready\r\n")), None);
        assert_eq!(answers(SocketAddr::from(([127, 0, 0, 1], 1))), None);
    }

    #[test]
    fn the_client_hello_has_the_lengths_that_it_says() {
        let record = u16::from_be_bytes([CLIENT_HELLO[3], CLIENT_HELLO[4]]) as usize;
        assert_eq!(record, CLIENT_HELLO.len() - 5);
        let message = u16::from_be_bytes([CLIENT_HELLO[7], CLIENT_HELLO[8]]) as usize;
        assert_eq!(message, record - 4);
        // version 2, random 32, session id 1, suites 2 + 2, compression 1 + 1, extensions 2
        assert_eq!(message, 2 + 32 + 1 + 4 + 2 + 2);
    }

    #[test]
    fn a_server_that_dies_is_quoted() {
        let dir = tempfile::tempdir().expect("a directory");
        let words: Vec<String> = ["sh", "-c", "echo out of memory >&2; exit 3"]
            .map(String::from)
            .to_vec();
        let error = Server::start(
            &words,
            None,
            &[],
            &dir.path().join("server.log"),
            &AtomicBool::new(false),
        )
        .err()
        .expect("it ended")
        .to_string();
        assert!(
            error.contains("exit status 3") && error.contains("out of memory"),
            "{error}"
        );
    }

    #[test]
    fn a_command_that_is_not_there_is_wrong_usage() {
        let dir = tempfile::tempdir().expect("a directory");
        let words = vec!["no-such-command-anywhere".to_owned()];
        let error = Server::start(
            &words,
            None,
            &[],
            &dir.path().join("server.log"),
            &AtomicBool::new(false),
        )
        .err()
        .expect("it cannot start");
        assert!(error.is::<Refused>(), "{error}");
    }
}
