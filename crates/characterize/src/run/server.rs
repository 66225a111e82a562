//! The server under test: started by us on its CPUs, or one that runs already.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::child::{Child, TICK, how};
use super::proc::{self, Moved};
use super::start::Words;
use super::store::Refused;

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(120);
/// Lines of a log that are shown.
const TAIL: usize = 12;
const PROBE: Duration = Duration::from_secs(5);

/// A server that answers.
pub struct Server {
    child: Option<Child>,
    /// Dropped first of what matters to others: threads go back where they were.
    _moved: Option<Moved>,
    pid: Option<i32>,
    log: Option<PathBuf>,
    /// Where the load goes; empty if it is not ours.
    pub url: String,
    /// The port that it listens on, if we looked for it.
    pub port: Option<u16>,
}

/// When a server that was started is ready.
#[derive(Debug, Clone, Copy)]
pub enum Ready<'a> {
    /// It answers HTTP or TLS: here, or at a port that it listens on.
    Answers(Option<&'a str>),
    /// It listens; the user's own driver knows what to say to it.
    Listens,
}

impl Server {
    /// Starts `words` on `cpus` and waits until it is ready. None if the user wants to stop.
    pub fn start(
        words: &Words,
        ready: Ready,
        cpus: &[usize],
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Option<Server>> {
        let program = words.program();
        if let Ready::Answers(Some(url)) = ready
            && let address = address(url)?
            && answers(address).is_some()
        {
            bail!(Refused(format!(
                "something answers at {address} before the server was started: end it, or measure it with --url alone"
            )));
        }
        let output =
            File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = words.command();
        command.stdout(output.try_clone()?).stderr(output);
        let child = Child::start(command, cpus)
            .map_err(|e| anyhow!(Refused(format!("--start: {program} cannot be run: {e}"))))?;
        let mut server = Server {
            pid: Some(child.pid()),
            child: Some(child),
            _moved: None,
            log: Some(log.into()),
            url: String::new(),
            port: None,
        };
        let until = Instant::now() + PATIENCE;
        while !stop.load(Ordering::Relaxed) {
            server.check()?;
            if let Some((found, port)) = server.find(ready)? {
                (server.url, server.port) = (found, Some(port));
                server.pid = server.listener(port).or(server.pid);
                return Ok(Some(server));
            }
            if Instant::now() > until {
                let tried = match ready {
                    Ready::Answers(Some(url)) => format!("{url} never answered"),
                    Ready::Listens => "it listened on no port".into(),
                    Ready::Answers(None) => format!(
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
        let moved = pid.map(|pid| moved(pid, cpus)).transpose()?.flatten();
        Ok(Server {
            child: None,
            _moved: moved,
            pid,
            log: None,
            url: url.to_owned(),
            port: None,
        })
    }

    /// A process that runs and that the user's own driver loads; moved to `cpus` unless they are empty.
    pub fn process(pid: i32, cpus: &[usize]) -> Result<Server> {
        Ok(Server {
            child: None,
            _moved: moved(pid, cpus)?,
            pid: Some(pid),
            log: None,
            url: String::new(),
            port: None,
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

    /// CPU seconds of the server's own process; none if it is not known.
    pub fn cpu_seconds(&self) -> Option<f64> {
        self.pid.map(proc::cpu_seconds)
    }

    /// CPU seconds of what it started beside itself, by name: a database of its own, for example.
    pub fn others(&self) -> BTreeMap<String, f64> {
        let mut out = BTreeMap::new();
        for pid in self
            .processes()
            .into_iter()
            .filter(|p| Some(*p) != self.pid)
        {
            *out.entry(proc::name(pid)).or_default() += proc::cpu_seconds(pid);
        }
        out
    }

    fn processes(&self) -> Vec<i32> {
        match (&self.child, self.pid) {
            (Some(child), _) => proc::family(child.pid()),
            (None, pid) => pid.into_iter().collect(),
        }
    }

    fn listener(&self, port: u16) -> Option<i32> {
        self.processes()
            .into_iter()
            .find(|pid| proc::listening_ports(&[*pid]).contains(&port))
    }

    /// Its URL and port, once it is ready.
    fn find(&self, ready: Ready) -> Result<Option<(String, u16)>> {
        match ready {
            Ready::Listens => {
                let port = proc::listening_ports(&self.processes()).into_iter().min();
                return Ok(port.map(|port| (String::new(), port)));
            }
            Ready::Answers(Some(url)) => {
                let address = address(url)?;
                return Ok(answers(address).map(|_| (url.to_owned(), address.port())));
            }
            Ready::Answers(None) => {}
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
        self.log.as_deref().map(tail).unwrap_or_default()
    }
}

/// The end of a log, for an error.
pub fn tail(log: &Path) -> String {
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

fn moved(pid: i32, cpus: &[usize]) -> Result<Option<Moved>> {
    if cpus.is_empty() {
        return Ok(None);
    }
    let list = || super::layout::list(cpus);
    let moved = Moved::to(pid, cpus);
    moved
        .map(Some)
        .with_context(|| format!("process {pid} cannot be moved to CPUs {}", list()))
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

/// A ClientHello that TLS 1.2 and 1.3 servers take: some answer a poorer one by just closing.
fn client_hello() -> Vec<u8> {
    const SUITES: [u16; 6] = [0x1301, 0x1302, 0xc02f, 0xc02b, 0xc030, 0x009c];
    const GROUPS: [u16; 2] = [0x001d, 0x0017]; // x25519, secp256r1
    const SIGNATURES: [u16; 6] = [0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501];
    const VERSIONS: [u16; 2] = [0x0304, 0x0303];
    const ANY: [u8; 32] = [0x5a; 32]; // a random, and a key whose secret nobody needs
    let words = |list: &[u16]| -> Vec<u8> { list.iter().flat_map(|w| w.to_be_bytes()).collect() };
    let mut share = GROUPS[0].to_be_bytes().to_vec();
    share.extend(with_length::<2>(&ANY));
    let extensions: [(u16, Vec<u8>); 5] = [
        (10, with_length::<2>(&words(&GROUPS))),
        (11, with_length::<1>(&[0])), // uncompressed points
        (13, with_length::<2>(&words(&SIGNATURES))),
        (43, with_length::<1>(&words(&VERSIONS))),
        (51, with_length::<2>(&share)),
    ];
    let mut all = Vec::new();
    for (kind, body) in extensions {
        all.extend(kind.to_be_bytes());
        all.extend(with_length::<2>(&body));
    }
    let mut body = vec![3, 3];
    body.extend(ANY);
    body.push(0); // no session
    body.extend(with_length::<2>(&words(&SUITES)));
    body.extend(with_length::<1>(&[0])); // no compression
    body.extend(with_length::<2>(&all));
    let mut message = vec![1];
    message.extend(with_length::<3>(&body));
    let mut record = vec![22, 3, 1];
    record.extend(with_length::<2>(&message));
    record
}

/// Bytes behind their length in `N` bytes.
fn with_length<const N: usize>(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_be_bytes();
    let mut out = length[length.len() - N..].to_vec();
    out.extend(bytes);
    out
}

/// What it speaks, if it answers. One that is too busy to answer a ClientHello yet is asked again
/// later, and not taken for a plain one: Tomcat answers plain HTTP on its TLS port.
fn answers(address: SocketAddr) -> Option<Speaks> {
    const ALERT: u8 = 21;
    const HANDSHAKE: u8 = 22;
    match ask(address, &client_hello()).ok()? {
        Some(ALERT | HANDSHAKE) => Some(Speaks::Tls),
        Some(b'H') => Some(Speaks::Http),
        Some(_) => None,
        None => {
            let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            (ask(address, request).ok()? == Some(b'H')).then_some(Speaks::Http)
        }
    }
}

/// The first byte of the answer; none if the connection was closed instead.
fn ask(address: SocketAddr, bytes: &[u8]) -> std::io::Result<Option<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, PROBE)?;
    stream.set_read_timeout(Some(PROBE))?;
    stream.write_all(bytes)?;
    let mut first = [0u8; 1];
    match stream.read(&mut first) {
        Ok(n) => Ok((n == 1).then_some(first[0])),
        Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => Ok(None),
        Err(e) => Err(e),
    }
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
        let hello = client_hello();
        let record = usize::from(u16::from_be_bytes([hello[3], hello[4]]));
        assert_eq!(record, hello.len() - 5);
        assert_eq!(
            u32::from_be_bytes([0, hello[6], hello[7], hello[8]]) as usize,
            record - 4
        );
        assert_eq!(with_length::<3>(&[7; 300])[..3], [0, 1, 44]);
    }

    #[test]
    fn a_server_that_dies_is_quoted() {
        let dir = tempfile::tempdir().expect("a directory");
        let words: Vec<String> = ["sh", "-c", "echo out of memory >&2; exit 3"]
            .map(String::from)
            .to_vec();
        let error = Server::start(
            &Words::of(&words, None),
            Ready::Answers(None),
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
            &Words::of(&words, None),
            Ready::Answers(None),
            &[],
            &dir.path().join("server.log"),
            &AtomicBool::new(false),
        )
        .err()
        .expect("it cannot start");
        assert!(error.is::<Refused>(), "{error}");
    }
}
