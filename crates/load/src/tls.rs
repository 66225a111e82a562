//! The client's TLS: versions, keys and tickets as the scenario says, certificates as the user says.

use crate::Error;
use crate::scenario::{Http, Scenario, Versions};
use crate::tickets::{ConnectionTickets, Offer, SharedShelf};
use crate::trust::{Trust, Verifier};
use rustls::client::{Resumption, Tls12Resumption};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{CipherSuite, ClientConfig, version};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What every connection's configuration is copied from.
pub(crate) fn config(scenario: &Scenario, trust: &Trust) -> Result<ClientConfig, Error> {
    let provider = Arc::new(provider());
    let versions = match scenario.versions {
        Versions::Tls12 => &[&version::TLS12][..],
        Versions::Tls13 => &[&version::TLS13],
        Versions::Both => &[&version::TLS12, &version::TLS13],
    };
    let verifier = Verifier::new(trust, scenario.keys, provider.clone())?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(|e| Error::Setup(format!("TLS: {e}")))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    if scenario.http == Http::Two {
        config.alpn_protocols = vec![b"h2".to_vec()];
    }
    Ok(config)
}

fn provider() -> CryptoProvider {
    let mut provider = aws_lc_rs::default_provider();
    provider
        .cipher_suites
        .sort_by_key(|suite| rank(suite.suite()));
    provider
}

/// Browsers put AES-128 with SHA-256 first. A server that follows the client then spends less, and so
/// does the client: few processors have instructions for SHA-384.
fn rank(suite: CipherSuite) -> u8 {
    use CipherSuite as C;
    match suite {
        C::TLS13_AES_128_GCM_SHA256
        | C::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
        | C::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => 0,
        _ => 1,
    }
}

/// The configuration of one connection: the common one, with this visitor's tickets. The flag tells
/// afterwards whether a ticket was offered.
///
/// rustls resumes only when verifier and credentials are the same objects as when the ticket was
/// given: a clone keeps them.
pub(crate) fn with_tickets(
    common: &ClientConfig,
    shelf: &SharedShelf,
    offer: Offer,
) -> (Arc<ClientConfig>, Arc<AtomicBool>) {
    let mut config = common.clone();
    let offered = Arc::new(AtomicBool::new(false));
    let tickets = ConnectionTickets {
        shelf: shelf.clone(),
        offer,
        offered: offered.clone(),
    };
    config.resumption =
        Resumption::store(Arc::new(tickets)).tls12_resumption(Tls12Resumption::SessionIdOrTickets);
    (Arc::new(config), offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_offers_aes_128_with_sha_256_first() {
        let suites = provider().cipher_suites;
        let first = |tls13: bool| {
            let mut of_version = suites
                .iter()
                .filter(|suite| suite.tls13().is_some() == tls13);
            of_version.next().map(|suite| suite.suite())
        };
        assert_eq!(first(true), Some(CipherSuite::TLS13_AES_128_GCM_SHA256));
        assert!(matches!(
            first(false),
            Some(
                CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
                    | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
            )
        ));
        assert_eq!(
            suites.len(),
            aws_lc_rs::default_provider().cipher_suites.len(),
            "none is left out"
        );
    }
}
