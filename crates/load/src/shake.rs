//! A connection's TLS handshake: done, and counted once however it ends.

use crate::clock::now_ns;
use crate::handshakes::{Handshake, Kind};
use crate::stats::{Failure, Stats, lock};
use crate::stream::{Counted, Stream};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, HandshakeKind, ProtocolVersion};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio_rustls::TlsConnector;

/// What TLS a connection speaks.
pub(crate) struct Tls {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
    pub(crate) offered: Arc<AtomicBool>,
    pub(crate) forged: bool,
}

/// Shakes hands on a connection that was made at `begin_ns`.
pub(crate) async fn shake_hands(
    tcp: Counted,
    tls: Tls,
    begin_ns: u64,
    stats: &Mutex<Stats>,
) -> Result<Stream, Failure> {
    let mut record = HandshakeGuard {
        stats,
        forged: tls.forged,
        offered: tls.offered,
        handshake: Handshake {
            local_port: tcp.local_port().map_err(|_| Failure::Connect)?,
            kind: None,
            version: "",
            begin_ns,
            end_ns: 0,
            offered: false,
            bytes_sent: 0,
            bytes_received: 0,
        },
    };
    let stream = TlsConnector::from(tls.config)
        .connect(tls.name, tcp)
        .await
        .map_err(|_| Failure::Tls)?;
    let (tcp, session) = stream.get_ref();
    record.handshake.kind = session.handshake_kind().map(kind);
    record.handshake.version = match session.protocol_version() {
        Some(ProtocolVersion::TLSv1_2) => "1.2",
        Some(ProtocolVersion::TLSv1_3) => "1.3",
        _ => "",
    };
    record.handshake.bytes_sent = tcp.sent;
    record.handshake.bytes_received = tcp.received;
    drop(record);
    Ok(Stream::Tls(Box::new(stream)))
}

/// Counts the handshake however it ends: done, failed, or dropped because the visitor left.
struct HandshakeGuard<'a> {
    stats: &'a Mutex<Stats>,
    forged: bool,
    offered: Arc<AtomicBool>,
    handshake: Handshake,
}

impl Drop for HandshakeGuard<'_> {
    fn drop(&mut self) {
        self.handshake.end_ns = now_ns();
        self.handshake.offered = self.offered.load(Ordering::Relaxed);
        let mut stats = lock(self.stats);
        stats.tickets_forged += u64::from(self.forged && self.handshake.offered);
        stats.shook_hands(self.handshake);
    }
}

fn kind(kind: HandshakeKind) -> Kind {
    match kind {
        HandshakeKind::Resumed => Kind::Resumed,
        HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest => Kind::Full,
    }
}
