//! One server over one synthetic trace for the tests of a file, and the plainest of HTTP clients.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loadline_viewer::{Options, Show, serve};
use serde_json::Value;

use crate::support::{Size, write};

const TINY: Size = Size {
    seconds: 3,
    cpus: 2,
    workers: 8,
    connections_per_second: 38.0,
};

pub struct Site {
    pub port: u16,
    pub dir: PathBuf,
}

/// One server for all tests; it ends with the process.
pub fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| {
        // Within target/, where what a test run leaves is found and replaced by the next.
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("viewer-{}", env!("CARGO_CRATE_NAME")));
        let _ = std::fs::remove_dir_all(&dir);
        let web = dir.join("web");
        std::fs::create_dir_all(web.join("assets")).expect("a folder");
        std::fs::write(web.join("index.html"), "<!doctype html><title>page</title>")
            .expect("a file");
        std::fs::write(web.join("assets/a.js"), "1").expect("a file");
        std::fs::write(dir.join("secret.txt"), "secret").expect("a file");
        let trace = dir.join("t.trace");
        write(&trace, TINY, 1).expect("a trace");
        let server = serve(Options {
            show: Show::One(trace),
            web,
            port: 0,
        })
        .expect("a server");
        let port = server
            .url()
            .trim_end_matches('/')
            .rsplit(':')
            .next()
            .and_then(|p| p.parse().ok())
            .expect("a port");
        std::thread::spawn(move || server.run_until(&AtomicBool::new(false)));
        Site { port, dir }
    })
}

#[allow(dead_code, reason = "not every file of tests reads all of a reply")]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub fn message(&self) -> String {
        self.json()["message"]
            .as_str()
            .expect("a message")
            .to_string()
    }
}

/// Sends exactly these lines.
pub fn send(port: u16, lines: &str) -> Reply {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .expect("a limit");
    stream
        .write_all(format!("{lines}\r\nConnection: close\r\n\r\n").as_bytes())
        .expect("sent");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("a reply");
    let split = bytes
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .expect("a head");
    let head = String::from_utf8_lossy(&bytes[..split]).to_lowercase();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .expect("a status");
    Reply {
        status,
        head,
        body: bytes[split + 4..].to_vec(),
    }
}

pub fn get(path: &str) -> Reply {
    let port = site().port;
    send(
        port,
        &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}"),
    )
}
