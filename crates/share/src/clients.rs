//! Connections: bytes in, whole lines out of them, and bytes out. Nobody can make the daemon wait or hoard memory.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use crate::message::LONGEST;
use crate::sys::{self, Peer};

/// What one that does not read may owe: the status of 1,000 applications is a tenth of it.
const MOST_OWED: usize = 4 << 20;

pub(crate) struct Connection {
    pub stream: UnixStream,
    pub peer: Peer,
    /// The application that it speaks for.
    pub app: Option<u32>,
    read: Vec<u8>,
    owed: Vec<u8>,
    pub closed: bool,
}

impl Connection {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Connection> {
        use std::os::fd::AsRawFd;
        stream.set_nonblocking(true)?;
        let peer = sys::peer(stream.as_raw_fd())?;
        Ok(Connection {
            stream,
            peer,
            app: None,
            read: Vec::new(),
            owed: Vec::new(),
            closed: false,
        })
    }

    pub(crate) fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// The lines that have come; `closed` says whether that was all.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        let mut buffer = [0u8; LONGEST];
        // One buffer a turn: the others have their turn too.
        match self.stream.read(&mut buffer) {
            Ok(0) => self.closed = true,
            Ok(n) => self.read.extend_from_slice(&buffer[..n]),
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(_) => self.closed = true,
        }
        let mut lines = Vec::new();
        while let Some(at) = self.read.iter().position(|&b| b == b'\n') {
            let line: Vec<u8> = self.read.drain(..=at).collect();
            lines.push(String::from_utf8_lossy(&line[..at]).into_owned());
        }
        if self.read.len() >= LONGEST {
            self.say(&format!("error a message has at most {LONGEST} bytes"));
            self.closed = true;
        }
        lines
    }

    /// Sends a line, now or when the other side reads.
    pub(crate) fn say(&mut self, line: &str) {
        self.owed.extend_from_slice(line.as_bytes());
        self.owed.push(b'\n');
        self.flush();
    }

    pub(crate) fn flush(&mut self) {
        while !self.owed.is_empty() {
            match self.stream.write(&self.owed) {
                Ok(0) => self.closed = true,
                Ok(n) => {
                    self.owed.drain(..n);
                    continue;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.closed = true,
            }
            break;
        }
        if self.owed.len() > MOST_OWED {
            self.closed = true;
        }
    }
}
