//! The client's TLS: versions as the scenario says, any certificate accepted.
//!
//! The server's certificate is not verified. The target is this machine, or a test server whose
//! owner said so; its certificate is usually self-signed; and nothing secret is sent. Its signature
//! over the handshake is still checked, because that is part of what a handshake costs a client
//! and keeps the exchange honest.

use crate::Error;
use crate::scenario::Versions;
use crate::tickets::{ConnectionTickets, SharedShelf};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, Tls12Resumption};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme, version};
use std::sync::Arc;

/// What every connection's configuration is copied from.
pub(crate) fn config(versions: Versions) -> Result<ClientConfig, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let versions = match versions {
        Versions::Tls12 => &[&version::TLS12][..],
        Versions::Tls13 => &[&version::TLS13],
        Versions::Both => &[&version::TLS12, &version::TLS13],
    };
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|e| Error::Setup(format!("TLS: {e}")))?;
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate { provider }))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// The configuration of one connection: the common one, with this visitor's tickets.
///
/// rustls resumes only when verifier and credentials are the same objects as when the ticket was
/// given: a clone keeps them.
pub(crate) fn with_tickets(
    common: &ClientConfig,
    shelf: &SharedShelf,
    offer: bool,
) -> Arc<ClientConfig> {
    let mut config = common.clone();
    let tickets = ConnectionTickets {
        shelf: shelf.clone(),
        offer,
    };
    config.resumption =
        Resumption::store(Arc::new(tickets)).tls12_resumption(Tls12Resumption::SessionIdOrTickets);
    Arc::new(config)
}

#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
