//! A plain HTTP/1.1 site whose pages a test writes as a function of the request.

#![allow(dead_code)] // each test binary uses its own part

use loadline_load::{Options, Scenario, Target};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One request as the site saw it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Which connection, from 0.
    pub connection: usize,
    pub method: String,
    pub path: String,
    pub cookies: String,
    pub body: String,
}

type Pages = dyn Fn(&Request) -> String + Send + Sync;

pub struct Site {
    pub address: SocketAddr,
    pub seen: Arc<Mutex<Vec<Request>>>,
    /// Connections that ended with a reset.
    pub resets: Arc<Mutex<usize>>,
    ended: Arc<AtomicBool>,
}

/// A reply with this status, further header lines and body.
pub fn reply(status: &str, fields: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub fn ok(body: &str) -> String {
    reply("200 OK", "", body)
}

impl Site {
    pub fn start(pages: impl Fn(&Request) -> String + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let site = Site {
            address: listener.local_addr().expect("bound"),
            seen: Arc::default(),
            resets: Arc::default(),
            ended: Arc::default(),
        };
        let (seen, resets, ended) = (site.seen.clone(), site.resets.clone(), site.ended.clone());
        let pages: Arc<Pages> = Arc::new(pages);
        std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                if ended.load(Ordering::Relaxed) {
                    break; // drops the listener: the port refuses from now on
                }
                let (seen, pages, resets) = (seen.clone(), pages.clone(), resets.clone());
                let ended = ended.clone();
                std::thread::spawn(move || {
                    let stream = stream.expect("accepted");
                    let served = serve(stream, connection, &seen, &*pages, &ended);
                    if served.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset) {
                        *resets.lock().expect("resets") += 1;
                    }
                });
            }
        });
        site
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().expect("seen").clone()
    }

    pub fn options(&self, scenario: &str) -> Options {
        let scenario = Scenario::from_toml(scenario, "test").expect("a valid scenario");
        let target = Target::parse(&format!("http://{}", self.address)).expect("valid");
        let mut options = Options::new(target, scenario);
        options.duration = Duration::from_millis(800);
        options
    }

    pub fn stop(&self) {
        self.ended.store(true, Ordering::Relaxed);
        let _wake = TcpStream::connect(self.address);
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(
    stream: TcpStream,
    connection: usize,
    seen: &Mutex<Vec<Request>>,
    pages: &Pages,
    ended: &AtomicBool,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if stream.read_line(&mut first)? == 0 || ended.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut words = first.split(' ');
        let mut request = Request {
            connection,
            method: words.next().unwrap_or_default().to_owned(),
            path: words.next().unwrap_or_default().to_owned(),
            ..Request::default()
        };
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some(cookies) = line.strip_prefix("Cookie: ") {
                request.cookies = cookies.to_owned();
            }
            if let Some(n) = line.strip_prefix("Content-Length: ") {
                length = n.parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        request.body = String::from_utf8(body).expect("UTF-8");
        seen.lock().expect("seen").push(request.clone());
        out.write_all(pages(&request).as_bytes())?;
    }
}
