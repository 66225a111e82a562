//! Which certificates of the server are accepted.
//!
//! By default those that this machine's own authorities vouch for, with `--ca` those of a file, with
//! `--insecure` any. The signature over the handshake is checked in every case: it is part of what a
//! handshake costs a client, and keeps the exchange honest.
//!
//! A certificate that was found good once is not looked at again while the server shows the same
//! one: a run makes thousands of handshakes with one server.

use crate::Error;
use crate::scenario::Keys;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where distributions keep the authorities that they trust.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Which certificates are accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// What this machine trusts.
    #[default]
    System,
    /// What the certificates of this PEM file vouch for, and those themselves.
    File(PathBuf),
    /// Any: a test server's self-signed one, too.
    Any,
}

#[derive(Debug)]
pub(crate) struct Verifier {
    /// None accepts any certificate.
    roots: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that are trusted themselves.
    named: Vec<CertificateDer<'static>>,
    /// The last one that was found good.
    good: Mutex<Option<CertificateDer<'static>>>,
    provider: Arc<CryptoProvider>,
    schemes: Vec<SignatureScheme>,
}

impl Verifier {
    pub(crate) fn new(
        trust: &Trust,
        keys: Keys,
        provider: Arc<CryptoProvider>,
    ) -> Result<Verifier, Error> {
        let named = match trust {
            Trust::Any => Vec::new(),
            Trust::File(path) => certificates(path)?,
            Trust::System => system(),
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(named.iter().cloned());
        let schemes = provider
            .signature_verification_algorithms
            .supported_schemes()
            .into_iter()
            .filter(|scheme| allowed(*scheme, keys))
            .collect();
        let verifier = if *trust == Trust::Any || roots.is_empty() {
            None
        } else {
            Some(
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                    .build()
                    .map_err(|e| Error::Setup(format!("trusted certificates: {e}")))?,
            )
        };
        if verifier.is_none() && *trust == Trust::System {
            return Err(Error::Setup(
                "this machine has no list of trusted authorities; name one with --ca, or give --insecure".into(),
            ));
        }
        Ok(Verifier {
            roots: verifier,
            // A system's authorities are never themselves servers.
            named: if *trust == Trust::System {
                Vec::new()
            } else {
                named
            },
            good: Mutex::new(None),
            provider,
            schemes,
        })
    }
}

fn system() -> Vec<CertificateDer<'static>> {
    let own = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    own.into_iter()
        .chain(SYSTEM.iter().map(PathBuf::from))
        .find_map(|path| certificates(&path).ok())
        .unwrap_or_default()
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(Error::Option(format!(
            "--ca {}: it has no certificate in PEM form (-----BEGIN CERTIFICATE-----)",
            path.display()
        ))),
    }
}

fn allowed(scheme: SignatureScheme, keys: Keys) -> bool {
    use SignatureScheme as S;
    let ecdsa = matches!(
        scheme,
        S::ECDSA_NISTP256_SHA256 | S::ECDSA_NISTP384_SHA384 | S::ECDSA_NISTP521_SHA512
    );
    match keys {
        Keys::Any => true,
        Keys::Ecdsa => ecdsa,
        Keys::Rsa => !ecdsa && !matches!(scheme, S::ED25519 | S::ED448),
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(roots) = &self.roots else {
            return Ok(ServerCertVerified::assertion());
        };
        let mut good = self.good.lock().unwrap_or_else(PoisonError::into_inner);
        if good.as_ref().is_some_and(|known| known == certificate) {
            return Ok(ServerCertVerified::assertion());
        }
        if self.named.iter().any(|known| known == certificate) {
            // The file has the server's own certificate, as it does when that is self-signed.
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        } else {
            roots.verify_server_cert(certificate, chain, name, ocsp, now)?;
        }
        *good = Some(certificate.clone().into_owned());
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
