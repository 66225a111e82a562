//! Forged tickets: well-formed ones of a server of our own, whose keys the target does not have.
//!
//! The target has to try them, fail, and do a full handshake: what an attacker, or a client that
//! comes back after the server's keys were changed, makes it do.
//!
//! A ticket is bound to the client's secrets, so it cannot be garbled on the wire: the handshake
//! would break. It is therefore made by shaking hands in memory with a server that is thrown away.

use crate::Error;
use crate::tickets::{Forged, Offer, SharedShelf, lock};
use crate::tls;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection, version};
use std::sync::{Arc, Mutex};

/// Makes forged tickets, several TLS 1.3 ones at a time.
pub(crate) struct Forger {
    server: Arc<ServerConfig>,
    client: ClientConfig,
    name: ServerName<'static>,
    ready: Forgeries,
}

#[derive(Default)]
struct Forgeries {
    tls12: Option<rustls::client::Tls12ClientSessionValue>,
    tls13: Vec<rustls::client::Tls13ClientSessionValue>,
}

const AT_ONCE: usize = 8;

impl Forger {
    /// `client` must trust the forger's certificate: [`crate::trust::Trust::Any`]. The tickets can be
    /// offered only by connections whose configuration is a clone of it.
    pub(crate) fn new(client: &ClientConfig, name: &ServerName<'static>) -> Result<Forger, Error> {
        let setup = |e: String| Error::Setup(format!("forged tickets: {e}"));
        let key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])
            .map_err(|e| setup(e.to_string()))?;
        let certificate: CertificateDer<'static> = key.cert.der().clone();
        let secret =
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.signing_key.serialize_der()));
        let mut server =
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_protocol_versions(&[&version::TLS12, &version::TLS13])
                .map_err(|e| setup(e.to_string()))?
                .with_no_client_auth()
                .with_single_cert(vec![certificate], secret)
                .map_err(|e| setup(e.to_string()))?;
        server.ticketer = aws_lc_rs::Ticketer::new().map_err(|e| setup(e.to_string()))?;
        server.send_tls13_tickets = AT_ONCE;
        server.alpn_protocols = client.alpn_protocols.clone();
        Ok(Forger {
            server: Arc::new(server),
            client: client.clone(),
            name: name.clone(),
            ready: Forgeries::default(),
        })
    }

    /// A forged ticket of the versions that the client speaks.
    pub(crate) fn forge(&mut self) -> Offer {
        if self.ready.tls13.is_empty() && self.ready.tls12.is_none() {
            self.make();
        }
        let forged = Forged {
            tls12: self.ready.tls12.clone(),
            tls13: self.ready.tls13.pop(),
        };
        Offer::Forged(Box::new(Mutex::new(forged)))
    }

    /// Shakes hands in memory. A failure leaves nothing to offer: the tests see that it does not.
    fn make(&mut self) {
        let shelf = SharedShelf::default();
        let (config, _) = tls::with_tickets(&self.client, &shelf, Offer::Nothing);
        let (Ok(mut client), Ok(mut server)) = (
            ClientConnection::new(config, self.name.clone()),
            ServerConnection::new(self.server.clone()),
        ) else {
            return;
        };
        // Two flights each way, and the tickets.
        for _ in 0..4 {
            let mut wire = Vec::new();
            while client.wants_write() {
                if client.write_tls(&mut wire).is_err() {
                    return;
                }
            }
            let mut bytes = wire.as_slice();
            while !bytes.is_empty() {
                if server.read_tls(&mut bytes).is_err() || server.process_new_packets().is_err() {
                    return;
                }
            }
            let mut wire = Vec::new();
            while server.wants_write() {
                if server.write_tls(&mut wire).is_err() {
                    return;
                }
            }
            let mut bytes = wire.as_slice();
            while !bytes.is_empty() {
                if client.read_tls(&mut bytes).is_err() || client.process_new_packets().is_err() {
                    return;
                }
            }
        }
        let (tls12, tls13) = {
            let mut shelf = lock(&shelf);
            let (tls12, tls13) = shelf.take_all();
            (tls12, tls13.collect())
        };
        self.ready = Forgeries { tls12, tls13 };
    }
}
