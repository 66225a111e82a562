//! One connection of a visitor: opening it, asking, reading the reply.

use crate::clock::now_ns;
use crate::handshakes::{Handshake, Kind};
use crate::http::{Progress, Reply};
use crate::stats::{Failure, Stats, lock};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, HandshakeKind, ProtocolVersion};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Room for a whole TLS record.
const READ_BYTES: usize = 16 * 1024 + 256;

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// An open connection.
pub(crate) struct Connection {
    stream: Stream,
    /// Requests sent on it.
    pub(crate) requests: u32,
}

/// Why a request got no reply, and whether asking again on a new connection is right.
pub(crate) struct Broken {
    pub(crate) why: Failure,
    /// The server closed an idle connection before a byte of the reply: not a failure of the server.
    pub(crate) was_idle_close: bool,
}

impl Connection {
    /// Connects and, with `tls`, shakes hands; both are timed into `stats`.
    pub(crate) async fn open(
        address: SocketAddr,
        tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
        stats: &Mutex<Stats>,
    ) -> Result<Connection, Failure> {
        let begin_ns = now_ns();
        let tcp = TcpStream::connect(address)
            .await
            .map_err(|e| connect_failure(&e))?;
        // Without this, Nagle's algorithm would hold back the second small write of a handshake.
        tcp.set_nodelay(true).map_err(|_| Failure::Connect)?;
        let connected_ns = now_ns();
        lock(stats).tcp.add(connected_ns - begin_ns);
        let Some((config, name)) = tls else {
            return Ok(Connection {
                stream: Stream::Plain(tcp),
                requests: 0,
            });
        };
        let mut record = HandshakeGuard {
            stats,
            handshake: Handshake {
                local_port: tcp.local_addr().map_err(|_| Failure::Connect)?.port(),
                kind: None,
                version: "",
                begin_ns: connected_ns,
                end_ns: 0,
            },
        };
        let stream = TlsConnector::from(config)
            .connect(name, tcp)
            .await
            .map_err(|_| Failure::Tls)?;
        let session = stream.get_ref().1;
        record.handshake.kind = session.handshake_kind().map(kind);
        record.handshake.version = match session.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "1.2",
            Some(ProtocolVersion::TLSv1_3) => "1.3",
            _ => "",
        };
        drop(record);
        Ok(Connection {
            stream: Stream::Tls(Box::new(stream)),
            requests: 0,
        })
    }

    /// Sends a request and reads its reply; wait and transfer are timed into `stats`.
    pub(crate) async fn ask(
        &mut self,
        request: &[u8],
        reply: &mut Reply,
        buffer: &mut Vec<u8>,
        stats: &Mutex<Stats>,
    ) -> Result<(), Broken> {
        reply.reset();
        buffer.resize(READ_BYTES, 0);
        let reused = self.requests > 0;
        self.requests += 1;
        let closed = |reply: &Reply| Broken {
            why: Failure::Closed,
            was_idle_close: reused && reply.is_untouched(),
        };
        let sent_ns = now_ns();
        self.write(request).await.map_err(|_| closed(reply))?;
        let mut first_ns = 0;
        loop {
            let n = self.read(buffer).await.map_err(|_| closed(reply))?;
            if n == 0 {
                if reply.is_untouched() {
                    return Err(closed(reply));
                }
                reply.end().map_err(|_| Broken {
                    why: Failure::Closed,
                    was_idle_close: false,
                })?;
                break;
            }
            if first_ns == 0 {
                first_ns = now_ns();
            }
            lock(stats).bytes_received += n as u64;
            match reply.push(&buffer[..n]) {
                Ok(Progress::Whole) => break,
                Ok(Progress::Partial) => {}
                Err(_) => {
                    return Err(Broken {
                        why: Failure::BadReply,
                        was_idle_close: false,
                    });
                }
            }
        }
        let mut stats = lock(stats);
        stats.wait.add(first_ns.saturating_sub(sent_ns));
        stats.transfer.add(now_ns().saturating_sub(first_ns));
        Ok(())
    }

    /// Says goodbye (close_notify, FIN). The server may have gone first; nobody minds.
    pub(crate) async fn close(self) {
        let _gone_first = match self.stream {
            Stream::Plain(mut s) => s.shutdown().await,
            Stream::Tls(mut s) => s.shutdown().await,
        };
    }

    async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.stream {
            Stream::Plain(s) => s.write_all(bytes).await,
            Stream::Tls(s) => {
                s.write_all(bytes).await?;
                s.flush().await
            }
        }
    }

    async fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match &mut self.stream {
            Stream::Plain(s) => s.read(buffer).await,
            Stream::Tls(s) => s.read(buffer).await,
        }
    }
}

/// Counts the handshake however it ends: done, failed, or dropped because the visitor left.
struct HandshakeGuard<'a> {
    stats: &'a Mutex<Stats>,
    handshake: Handshake,
}

impl Drop for HandshakeGuard<'_> {
    fn drop(&mut self) {
        self.handshake.end_ns = now_ns();
        lock(self.stats).shook_hands(self.handshake);
    }
}

fn kind(kind: HandshakeKind) -> Kind {
    match kind {
        HandshakeKind::Resumed => Kind::Resumed,
        HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest => Kind::Full,
    }
}

fn connect_failure(error: &std::io::Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::EADDRNOTAVAIL | libc::ENOBUFS | libc::ENOMEM) => {
            Failure::NoResource
        }
        _ => Failure::Connect,
    }
}
