//! A small HTTPS server in this process, whose behaviour and knowledge the tests choose and read.

#![allow(dead_code)] // each test binary uses its own part

use loadline_load::{Arrivals, Options, Scenario, Summary, Target, Trust, run};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache};
use rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned, version};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How the server behaves.
#[derive(Clone)]
pub struct Behaviour {
    pub tls12_only: bool,
    /// Whether it remembers sessions.
    pub resumes: bool,
    /// Gives tickets, whether or not it remembers sessions.
    pub tickets: bool,
    /// Speaks TLS, and its target says so.
    pub tls: bool,
    /// Speaks plain HTTP, whatever the client believes.
    pub plain: bool,
    /// Slept before each reply.
    pub delay: Duration,
    /// Closes the connection after so many replies, without saying so.
    pub closes_after: usize,
    /// The whole reply.
    pub reply: &'static str,
}

pub const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n<p>PAGE</p>";

impl Default for Behaviour {
    fn default() -> Behaviour {
        Behaviour {
            tls12_only: false,
            resumes: true,
            tickets: false,
            tls: true,
            plain: false,
            delay: Duration::ZERO,
            closes_after: usize::MAX,
            reply: PAGE,
        }
    }
}

/// What the server saw.
#[derive(Default)]
pub struct Seen {
    /// Path of each request, in order.
    pub paths: Vec<String>,
    /// Addresses that connections came from.
    pub sources: BTreeSet<IpAddr>,
    /// By the client's port, whether the handshake was resumed: last one wins.
    pub resumed_by_port: HashMap<u16, bool>,
}

pub struct Server {
    pub address: SocketAddr,
    pub seen: Arc<Mutex<Seen>>,
    /// While held by a test, no reply is written.
    pub gate: Arc<Mutex<()>>,
    tls: bool,
    certificate_pem: String,
    ended: Arc<AtomicBool>,
}

impl Server {
    pub fn start(behaviour: Behaviour) -> Server {
        let tls = behaviour.tls;
        let (config, certificate_pem) = config(&behaviour);
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let (seen, gate, ended) = (
            Arc::<Mutex<Seen>>::default(),
            Arc::<Mutex<()>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let (shared, door, over) = (seen.clone(), gate.clone(), ended.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    break; // drops the listener: the port refuses from now on
                }
                let (behaviour, config) = (behaviour.clone(), config.clone());
                let (seen, gate, over) = (shared.clone(), door.clone(), over.clone());
                std::thread::spawn(move || {
                    let stream = stream.expect("accepted");
                    // A client that leaves in the middle ends its thread with an error; that is its right.
                    let _ = serve(stream, config, &behaviour, &seen, &gate, &over);
                });
            }
        });
        Server {
            address,
            seen,
            gate,
            tls,
            certificate_pem,
            ended,
        }
    }

    /// Speaks HTTP/2 over TLS and nothing else; every page has three pictures.
    pub fn start_http2() -> Server {
        let (mut config, certificate_pem) = config(&Behaviour::default());
        config.alpn_protocols = vec![b"h2".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener
            .set_nonblocking(true)
            .expect("a runtime's listener");
        let address = listener.local_addr().expect("bound");
        let ended = Arc::<AtomicBool>::default();
        let over = ended.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("listening");
                let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
                while let Ok((tcp, _)) = listener.accept().await {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let acceptor = acceptor.clone();
                    tokio::spawn(async move {
                        // A client that leaves in the middle ends its task; that is its right.
                        let Ok(tls) = acceptor.accept(tcp).await else {
                            return;
                        };
                        let Ok(mut h2) = h2::server::handshake(tls).await else {
                            return;
                        };
                        while let Some(Ok((request, mut answer))) = h2.accept().await {
                            let page = request.uri().path().starts_with("/page");
                            let body = if page {
                                "PAGE <img src=/1.png><img src=/2.png><img src=/3.png>"
                            } else {
                                "picture"
                            };
                            let head = http::Response::new(());
                            if let Ok(mut stream) = answer.send_response(head, false) {
                                let _left = stream.send_data(body.into(), true);
                            }
                        }
                    });
                }
            });
        });
        Server {
            address,
            seen: Arc::default(),
            gate: Arc::default(),
            tls: true,
            certificate_pem,
            ended,
        }
    }

    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    pub fn target(&self) -> Target {
        Target::parse(&format!(
            "{}://{}",
            if self.tls { "https" } else { "http" },
            self.address
        ))
        .expect("valid")
    }

    pub fn stop(&self) {
        self.ended.store(true, Ordering::Relaxed);
        let _wake = TcpStream::connect(self.address);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn config(behaviour: &Behaviour) -> (ServerConfig, String) {
    let key =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions: &[_] = if behaviour.tls12_only {
        &[&version::TLS12]
    } else {
        &[&version::TLS12, &version::TLS13]
    };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], secret)
        .expect("a key");
    config.session_storage = if behaviour.resumes {
        ServerSessionMemoryCache::new(10_000)
    } else {
        Arc::new(NoServerSessionStorage {})
    };
    if behaviour.tickets {
        config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().expect("a ticketer");
    }
    (config, key.cert.pem())
}

trait Stream: Read + Write {
    fn say_goodbye(&mut self) -> std::io::Result<()>;
}

impl Stream for TcpStream {
    fn say_goodbye(&mut self) -> std::io::Result<()> {
        self.shutdown(std::net::Shutdown::Write)
    }
}

impl Stream for StreamOwned<ServerConnection, TcpStream> {
    fn say_goodbye(&mut self) -> std::io::Result<()> {
        self.conn.send_close_notify();
        self.flush()
    }
}

fn shake_hands(
    mut tcp: TcpStream,
    config: Arc<ServerConfig>,
    seen: &Mutex<Seen>,
) -> std::io::Result<StreamOwned<ServerConnection, TcpStream>> {
    let port = tcp.peer_addr()?.port();
    let mut tls = ServerConnection::new(config).expect("a connection");
    while tls.is_handshaking() {
        tls.complete_io(&mut tcp)?;
    }
    let resumed = matches!(tls.handshake_kind(), Some(HandshakeKind::Resumed));
    seen.lock()
        .expect("seen")
        .resumed_by_port
        .insert(port, resumed);
    Ok(StreamOwned::new(tls, tcp))
}

fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    behaviour: &Behaviour,
    seen: &Mutex<Seen>,
    gate: &Mutex<()>,
    over: &AtomicBool,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let source = stream.peer_addr()?.ip();
    seen.lock().expect("seen").sources.insert(source);
    if behaviour.plain {
        return (&stream).write_all(b"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n");
    }
    let mut stream: BufReader<Box<dyn Stream>> = BufReader::new(if behaviour.tls {
        Box::new(shake_hands(stream, config, seen)?)
    } else {
        Box::new(stream)
    });
    for _ in 0..behaviour.closes_after {
        let mut first = String::new();
        if stream.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut line = String::new();
        while stream.read_line(&mut line)? > 0 && line != "\r\n" {
            line.clear();
        }
        if over.load(Ordering::Relaxed) {
            return Ok(());
        }
        seen.lock()
            .expect("seen")
            .paths
            .push(first.split(' ').nth(1).unwrap_or_default().to_owned());
        std::thread::sleep(behaviour.delay);
        drop(gate.lock().expect("gate"));
        stream.get_mut().write_all(behaviour.reply.as_bytes())?;
    }
    stream.get_mut().say_goodbye()?;
    // Reads until the client has gone, so that no reset destroys what it has not read.
    let _rest = stream.read_to_end(&mut Vec::new());
    Ok(())
}

/// Three pages a session on average, no think time, one user, TLS 1.3 or 1.2.
pub fn scenario() -> Scenario {
    let text = r#"
        name = "test"
        start = "page"
        [arrivals]
        users = 1
        [think]
        mean = "0s"
        [client]
        timeout = "5s"
        [ranges]
        n = [1, 1000000]
        [[interaction]]
        name = "page"
        path = "/page?{n}"
        marker = "PAGE"
        next = { page = 2, end = 1 }
    "#;
    Scenario::from_toml(text, "test").expect("valid")
}

pub fn options(server: &Server, change: impl FnOnce(&mut Scenario)) -> Options {
    let mut scenario = scenario();
    change(&mut scenario);
    let mut options = Options::new(server.target(), scenario);
    options.duration = Duration::from_millis(800);
    options.trust = Trust::Any;
    options
}

pub fn go(options: &Options) -> Summary {
    run(options, &AtomicBool::new(false), &mut |_| {}).expect("it runs")
}

pub fn rate(per_s: f64) -> Arrivals {
    Arrivals::PartlyOpen { rate: per_s }
}
