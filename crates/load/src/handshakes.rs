//! What the client knows of each of its TLS handshakes, and the file that keeps it.

use crate::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Whether the handshake used what an earlier connection had agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Certificate and key exchange.
    Full,
    /// By a ticket or session id.
    Resumed,
}

/// One handshake. Times are CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy)]
pub struct Handshake {
    /// The client's port: with the time it names the connection.
    pub local_port: u16,
    /// What it was; none if it failed.
    pub kind: Option<Kind>,
    /// `1.2` or `1.3`; empty if it failed.
    pub version: &'static str,
    /// Before the ClientHello was written.
    pub begin_ns: u64,
    /// When the client's side was complete, or gave up.
    pub end_ns: u64,
    /// A ticket was offered.
    pub offered: bool,
    /// On the TCP connection until `end_ns`.
    pub bytes_sent: u64,
    /// On the TCP connection until `end_ns`.
    pub bytes_received: u64,
}

/// The CSV of `--handshakes`: `local_port,kind,version,begin_ns,end_ns,ok`.
pub(crate) struct HandshakeFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl HandshakeFile {
    pub(crate) fn create(path: &Path) -> Result<HandshakeFile, Error> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let mut out = BufWriter::new(File::create(path).map_err(io)?);
        writeln!(out, "local_port,kind,version,begin_ns,end_ns,ok").map_err(io)?;
        Ok(HandshakeFile {
            path: path.to_owned(),
            out,
        })
    }

    pub(crate) fn write(&mut self, handshakes: &[Handshake]) -> Result<(), Error> {
        for h in handshakes {
            let kind = match h.kind {
                Some(Kind::Full) => "full",
                Some(Kind::Resumed) => "resumed",
                None => "none",
            };
            writeln!(
                self.out,
                "{},{kind},{},{},{},{}",
                h.local_port,
                h.version,
                h.begin_ns,
                h.end_ns,
                h.kind.is_some()
            )
            .map_err(|source| Error::Io {
                path: self.path.clone(),
                source,
            })?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.out.flush().map_err(|source| Error::Io {
            path: self.path.clone(),
            source,
        })
    }
}
